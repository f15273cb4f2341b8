// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/memory/cache_table.h"

#include <algorithm>
#include <utility>

#include "engine/cache/kv_cache.h"
#include "ui/chart/format.h"
#include "ui/report/definitions.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

namespace {

QString nothing() {
    return QStringLiteral("–");
}

std::int64_t valueOf(const CacheRow& row, CacheTableModel::Column column) {
    switch (column) {
        case CacheTableModel::payload: return row.payload();
        case CacheTableModel::scales: return row.step.kv_bytes_scales;
        case CacheTableModel::residual: return row.step.kv_bytes_residual;
        case CacheTableModel::shared: return row.step.kv_bytes_shared;
        case CacheTableModel::padding: return row.step.kv_bytes_padding;
        case CacheTableModel::slack: return row.step.kv_bytes_slack;
        case CacheTableModel::kept: return row.step.kv_bytes_kept;
        case CacheTableModel::free: return row.free();
        case CacheTableModel::reserved: return row.step.kv_bytes_reserved;
        case CacheTableModel::meta: return row.step.kv_bytes_meta;
        case CacheTableModel::draft: return row.step.kv_bytes_draft;
        case CacheTableModel::copied: return row.copied;
        case CacheTableModel::tensorAllocations: return row.tensor_allocations;
        case CacheTableModel::heapAllocations: return row.heap_allocations;
        case CacheTableModel::faults: return row.faults_per_step;
        default: return 0;
    }
}

/// Kinds of bytes that some lane has, between the columns that are always there.
std::vector<CacheTableModel::Column> columnsFor(const std::vector<CacheRow>& rows) {
    using Table = CacheTableModel;
    const auto any = [&](Table::Column column) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](const CacheRow& row) { return row.any && valueOf(row, column) > 0; });
    };
    std::vector<Table::Column> columns{Table::lane, Table::formula, Table::measured};
    if (any(Table::scales) || any(Table::residual))
        columns.insert(columns.end(), {Table::payload, Table::scales, Table::residual});
    for (const Table::Column column : {Table::shared, Table::padding, Table::slack, Table::kept, Table::free})
        if (any(column)) columns.push_back(column);
    columns.push_back(Table::reserved);
    for (const Table::Column column : {Table::meta, Table::draft})
        if (any(column)) columns.push_back(column);
    columns.push_back(Table::copied);
    for (const Table::Column column : {Table::tensorAllocations, Table::heapAllocations})
        if (any(column)) columns.push_back(column);
    columns.push_back(Table::faults);
    return columns;
}

}  // namespace

std::vector<CacheRow> cacheRows(const Record& record) {
    std::vector<CacheRow> rows;
    for (std::size_t i = 0; i < record.lanes.size(); ++i)
        rows.push_back({cache_use(record, i), QString::fromStdString(record.lanes[i].spec.name)});
    return rows;
}

std::vector<PlainTable::Column> CacheTableModel::columns() const {
    std::vector<PlainTable::Column> columns;
    for (const Column column : m_columns) {
        switch (column) {
            case lane: columns.push_back({1.0, QStringLiteral("■ speculative")}); break;
            case formula:
                columns.push_back({isCrowded() ? 1.0 : 2.0,
                                   isCrowded()
                                       ? QStringLiteral("88,888,888 B")
                                       : QStringLiteral("2 × 88 × 88 × 88 × 8888 × 4 B = 88,888,888 B")});
                break;
            case measured: columns.push_back({1.2, QStringLiteral("88,888,888 B ✓")}); break;
            case tensorAllocations:
            case heapAllocations: columns.push_back({0.6, QStringLiteral("888")}); break;
            // Rather of the head than of the numbers.
            case faults: columns.push_back({0.6, QStringLiteral("888,888")}); break;
            default: columns.push_back({1.0, QStringLiteral("88.8 MiB")});
        }
    }
    return columns;
}

void CacheTableModel::setRecord(const Record& record) {
    std::vector<CacheRow> rows = cacheRows(record);
    std::vector<Column> columns = columnsFor(rows);
    m_model = record.model;
    const bool others = columns != m_columns;
    if (others || rows.size() != m_rows.size()) {
        beginResetModel();
        m_rows = std::move(rows);
        m_columns = std::move(columns);
        endResetModel();
        if (others) emit columnsChanged();
        return;
    }
    m_rows = std::move(rows);
    if (!m_rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int CacheTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int CacheTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
}

QVariant CacheTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    if (role == Qt::DisplayRole) return headerText(columnAt(section));
    if (role == Qt::ToolTipRole) return headerToolTip(columnAt(section));
    return {};
}

QString CacheTableModel::headerText(Column column) {
    switch (column) {
        case lane: return tr("Lane");
        case formula: return tr("KV by formula");
        case measured: return tr("KV measured");
        case payload: return tr("Payload");
        case scales: return tr("Scales");
        case residual: return tr("In f32");
        case shared: return tr("Shared");
        case padding: return tr("Padding");
        case slack: return tr("Slack");
        case kept: return tr("Kept");
        case free: return tr("Free");
        case reserved: return tr("Reserved");
        case meta: return tr("Tables");
        case draft: return tr("Draft KV");
        case copied: return tr("Copied");
        case tensorAllocations:
            return tr(
                "Buffers / step\u009c"
                "Buffers");
        case heapAllocations:
            return tr(
                "Allocations / step\u009c"
                "Allocs");
        case faults:
            return tr(
                "Page faults / step\u009c"
                "Faults");
    }
    return {};
}

QString CacheTableModel::headerToolTip(Column column) {
    switch (column) {
        case lane: return tr("One way of decoding");
        case formula: return tr("What the valid entries must take, if no request shared anything");
        case measured:
            return tr(
                "Live bytes of the cache: valid entries with their scales, shared ones once. At the "
                "lane's fullest step");
        case payload: return tr("Of these: keys and values in the cache's own form");
        case scales: return tr("Of these: scales and zero points of quantised entries");
        case residual: return tr("Of these: newest entries that a quantising cache still holds in f32");
        case shared: return tr("Bytes that the requests would need more if they shared nothing");
        case padding: return tr("Slots that hold pads");
        case slack: return tr("Given to requests, but empty: spare slots, the rest of a last block");
        case kept: return tr("Blocks of nobody, kept for a request with the same prefix");
        case free: return tr("Blocks of the pool that nobody uses");
        case reserved: return definitionOf("kv_bytes_reserved");
        case meta: return definitionOf("kv_bytes_meta");
        case draft: return tr("Live bytes of the draft model's cache");
        case copied: return definitionOf("kv_bytes_copied");
        case tensorAllocations:
            return tr("Tensor buffers allocated during a decode step, median of this repetition");
        case heapAllocations:
            return tr("Allocations of the engine thread during a decode step, median of this repetition");
        case faults: return tr("Page faults during a decode step, median of this repetition");
    }
    return {};
}

QVariant CacheTableModel::toolTip(const CacheRow& row, Column column) const {
    if (column == formula && row.any && row.cached())
        return row.formula ? formulaText(row)
                           : tr("The formula needs the length of every row, which a step does not report");
    if (column == measured && row.any && row.cached()) {
        if (!row.formula) return formatBytesExactly(row.step.kv_bytes_live);
        if (!row.agrees()) return tr("The tensors do not hold the bytes that the formula gives");
        return row.step.kv_bytes_shared > 0
                   ? tr("With the %1 that sharing saves, exactly the bytes that the formula gives")
                         .arg(formatBytesExactly(row.step.kv_bytes_shared))
                   : tr("The tensors hold exactly the bytes that the formula gives");
    }
    if (column > measured && column < tensorAllocations && row.any)
        return headerToolTip(column) + QLatin1Char('\n') + formatBytesExactly(valueOf(row, column));
    return headerToolTip(column);
}

QVariant CacheTableModel::tone(const CacheRow& row, Column column) {
    ColorRef::Role tone = ColorRef::Role::text;
    if (column == formula || (!row.cached() && column != lane && column < tensorAllocations))
        tone = ColorRef::Role::muted;
    if (column == measured && row.cached() && row.any && row.formula)
        tone = row.agrees() ? ColorRef::Role::good : ColorRef::Role::bad;
    return static_cast<int>(tone);
}

QVariant CacheTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    const CacheRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const Column column = columnAt(index.column());
    switch (role) {
        case Qt::DisplayRole: return text(row, column);
        case swatchRole: return column == lane ? index.row() : QVariant();
        case toneRole: return tone(row, column);
        case Qt::ToolTipRole: return toolTip(row, column);
        default: return {};
    }
}

QString CacheTableModel::formulaText(const CacheRow& row) const {
    const QString bytes = formatBytesExactly(*row.formula);
    const QString n = QString::number(row.step.cache_length);
    const QString shape = QStringLiteral("2 × %1 × %2").arg(m_model.n_layer).arg(m_model.n_kv_head);
    switch (row.spec.cache.kind) {
        case CacheKind::int8:
            return tr("%1 × %2 × (%3 + 4) B = %4").arg(shape, n, QString::number(m_model.head_dim), bytes);
        case CacheKind::kivi: {
            const int quantised =
                kivi_quantised_tokens(row.spec.cache, static_cast<int>(row.step.cache_length));
            return tr("%1 of %2 tokens in %3 bits = %4")
                .arg(QString::number(quantised), n, QString::number(row.spec.cache.bits), bytes);
        }
        default:
            return tr("%1 × %2 × %3 × %4 B = %5")
                .arg(shape, QString::number(m_model.head_dim), n,
                     QString::number(size_of(row.spec.cache.dtype)), bytes);
    }
}

QString CacheTableModel::text(const CacheRow& row, Column column) const {
    if (column == lane) return row.lane;
    if (!row.any) return nothing();
    if (column >= tensorAllocations) {
        const std::int64_t value = valueOf(row, column);
        return value < 0 ? notMeasured() : formatCount(value);
    }
    if (!row.cached()) return column == formula ? tr("no cache") : nothing();
    if (column == formula) {
        if (!row.formula) return tr("not known");
        return isCrowded() ? formatBytesExactly(*row.formula) : formulaText(row);
    }
    if (column == measured) {
        const QString bytes = formatBytesExactly(row.step.kv_bytes_live);
        if (!row.formula) return bytes;
        return bytes + (row.agrees() ? QStringLiteral(" ✓") : QStringLiteral(" ≠"));
    }
    return formatBytes(static_cast<double>(valueOf(row, column)));
}

}  // namespace decodescope
