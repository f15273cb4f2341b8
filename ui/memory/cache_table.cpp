// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/memory/cache_table.h"

#include "engine/measure/statistics.h"
#include "ui/chart/format.h"
#include "ui/report/definitions.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

namespace {

QString nothing() {
    return QStringLiteral("–");
}

std::int64_t medianFaults(const RepetitionRecord& repetition) {
    std::vector<double> faults;
    for (const StepEvent& step : repetition.steps) {
        if (step.phase == Phase::decode && step.minor_faults_step >= 0)
            faults.push_back(static_cast<double>(step.minor_faults_step));
    }
    return faults.empty() ? -1 : static_cast<std::int64_t>(summarize(faults).median);
}

}  // namespace

std::vector<CacheRow> cacheRows(const Record& record) {
    std::vector<CacheRow> rows;
    for (const LaneRecord& lane : record.lanes) {
        CacheRow row;
        row.lane = QString::fromStdString(lane.spec.name);
        row.cached = lane.spec.mode == LaneMode::cached;
        if (!lane.repetitions.empty() && !lane.repetitions.back().steps.empty()) {
            const StepEvent& step = lane.repetitions.back().steps.back();
            row.any = true;
            row.length = step.cache_length;
            row.formula = record.model.kv_bytes_per_token(DType::f32) * step.cache_length;
            row.measured = step.kv_bytes_live;
            row.reserved = step.kv_bytes_reserved;
            row.copied = step.kv_bytes_copied;
            row.faultsPerStep = medianFaults(lane.repetitions.back());
        }
        rows.push_back(row);
    }
    return rows;
}

std::vector<PlainTable::Column> CacheTableModel::columns() {
    return {{1.0, QStringLiteral("■ speculative")},
            {2.0, QStringLiteral("2 × 88 × 88 × 88 × 8888 × 4 B = 88,888,888 B")},
            {1.2, QStringLiteral("88,888,888 B ✓")},
            {1.0, QStringLiteral("88.8 MiB")},
            {1.0, QStringLiteral("88.8 MiB")},
            {0.6, QStringLiteral("888")}};
}

void CacheTableModel::setRecord(const Record& record) {
    std::vector<CacheRow> rows = cacheRows(record);
    m_model = record.model;
    if (rows.size() != m_rows.size()) {
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
        return;
    }
    m_rows = std::move(rows);
    if (!m_rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, n_column - 1));
}

int CacheTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int CacheTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : n_column;
}

QVariant CacheTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) return {};
    const bool tip = role == Qt::ToolTipRole;
    switch (section) {
        case lane: return tip ? tr("One way of decoding") : tr("Lane");
        case formula:
            return tip ? tr("2 × layers × KV heads × head_dim × stored tokens × 4 B (f32)")
                       : tr("KV by formula");
        case measured: return tip ? tr("Live bytes of the key and value tensors") : tr("KV measured");
        case reserved: return tip ? definitionOf("kv_bytes_reserved") : tr("Reserved");
        case copied: return tip ? definitionOf("kv_bytes_copied") : tr("Copied");
        case faults:
            return tip ? tr("Page faults during a decode step, median of this repetition")
                       : tr("Page faults / step\u009cFaults / step");
        default: return {};
    }
}

QVariant CacheTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const CacheRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    const bool agrees = row.formula == row.measured;
    switch (role) {
        case Qt::DisplayRole: return text(row, column);
        case swatchRole: return column == lane ? index.row() : QVariant();
        case toneRole: {
            ColorRef::Role tone = ColorRef::Role::text;
            if (column == formula || (!row.cached && column != lane && column != faults))
                tone = ColorRef::Role::muted;
            if (column == measured && row.cached && row.any)
                tone = agrees ? ColorRef::Role::good : ColorRef::Role::bad;
            return static_cast<int>(tone);
        }
        case Qt::ToolTipRole:
            if (column == measured && row.cached && row.any)
                return agrees ? tr("The tensors hold exactly the bytes that the formula gives")
                              : tr("The tensors do not hold the bytes that the formula gives");
            return headerData(column, Qt::Horizontal, Qt::ToolTipRole);
        default: return {};
    }
}

QString CacheTableModel::text(const CacheRow& row, int column) const {
    if (column == lane) return row.lane;
    if (!row.any) return nothing();
    if (column == faults) return row.faultsPerStep < 0 ? notMeasured() : formatCount(row.faultsPerStep);
    if (!row.cached) return column == formula ? tr("no cache") : formatBytesExactly(row.measured);
    switch (column) {
        case formula:
            return QStringLiteral("2 × %1 × %2 × %3 × %4 × 4 B = %5")
                .arg(m_model.n_layer)
                .arg(m_model.n_kv_head)
                .arg(m_model.head_dim)
                .arg(row.length)
                .arg(formatBytesExactly(row.formula));
        case measured:
            return formatBytesExactly(row.measured) +
                   (row.measured == row.formula ? QStringLiteral(" ✓") : QStringLiteral(" ≠"));
        case reserved: return formatBytes(static_cast<double>(row.reserved));
        case copied: return formatBytes(static_cast<double>(row.copied));
        default: return {};
    }
}

}  // namespace decodescope
