// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/lane_table.h"

#include <utility>

#include "ui/chart/format.h"
#include "ui/report/definitions.h"
#include "ui/theme/theme.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

namespace {

QString nothing() {
    return QStringLiteral("–");
}

bool hasBar(const LaneSummary& lane) {
    return !lane.computeBound && lane.readShare >= 0;
}

QString duration(double ns) {
    return ns < 0 ? nothing() : formatDuration(ns);
}

}  // namespace

std::vector<PlainTable::Column> LaneTableModel::columns() {
    return {{1.6, QStringLiteral("■ speculative")}, {1.0, QStringLiteral("88.8 ms")},
            {1.0, QStringLiteral("88.8 ms")},       {1.0, QStringLiteral("88,888")},
            {1.0, QStringLiteral("88.8×")},         {1.4, QStringLiteral("88.8 GB/s ■■■■■")},
            {1.0, QStringLiteral("88.8 MiB")},      {1.6, tr("exact ✓") + QStringLiteral(" 8.8e-8")}};
}

void LaneTableModel::setRecord(const Record& record) {
    const std::size_t reference = record.reference_index();
    setLanes(summarizeLanes(record), reference < record.lanes.size()
                                         ? QString::fromStdString(record.lanes[reference].spec.name)
                                         : QString());
}

void LaneTableModel::setLanes(std::vector<LaneSummary> lanes, const QString& referenceName) {
    if (lanes.size() != m_lanes.size() || referenceName != m_reference) {
        beginResetModel();
        m_lanes = std::move(lanes);
        m_reference = referenceName;
        endResetModel();
        emit headerDataChanged(Qt::Horizontal, 0, n_column - 1);
        return;
    }
    m_lanes = std::move(lanes);
    if (!m_lanes.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, n_column - 1));
}

int LaneTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_lanes.size());
}

int LaneTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : n_column;
}

QVariant LaneTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) return {};
    const bool tip = role == Qt::ToolTipRole;
    switch (section) {
        case lane: return tip ? tr("One way of decoding") : tr("Lane");
        case firstToken:
            return tip ? definitionOf("ttft_ns") + tr(" Median over repetitions.") : tr("First token");
        case perToken:
            return tip ? definitionOf("step_ns") + tr(" Median over all decode steps.")
                       : tr("Per token (median)\u009cPer token");
        case tokensPerSecond: return tip ? definitionOf("decode_tok_s") : tr("Tokens / s");
        case against:
            if (tip) return definitionOf("speed_up");
            return m_reference.isEmpty() ? tr("Against reference") : tr("Against %1").arg(m_reference);
        case readRate: return tip ? definitionOf("gb_s") : tr("Read rate, share of limit");
        case kvLive: return tip ? definitionOf("kv_bytes_live") : tr("KV live");
        case exact:
            return tip ? tr("Whether every token is the reference's; behind it the largest logit error.\n") +
                             definitionOf("relative_error") +
                             tr(" Up to %1 is f32 rounding.").arg(formatError(f32_error_limit))
                       : tr("Exact?");
        default: return {};
    }
}

QVariant LaneTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const LaneSummary& summary = m_lanes[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole: return text(summary, index.column());
        case Qt::ToolTipRole: return toolTip(summary, index.column());
        case toneRole: return tone(summary, index.column());
        case strongRole:
            if (index.column() == tokensPerSecond) return 2;
            if (index.column() == against && summary.agreement != Agreement::reference) return 2;
            return index.column() == exact && summary.agreement > Agreement::reference ? 1 : 0;
        case figureRole:
            if (index.column() == exact &&
                (summary.agreement == Agreement::exact || summary.agreement == Agreement::close))
                return formatError(summary.maxError);
            return {};
        case swatchRole:
            return index.column() == lane || (index.column() == readRate && hasBar(summary)) ? index.row()
                                                                                             : QVariant();
        case shareRole: return index.column() == readRate && hasBar(summary) ? summary.readShare : QVariant();
        default: return {};
    }
}

QVariant LaneTableModel::tone(const LaneSummary& s, int column) {
    using Role = ColorRef::Role;
    Role role = Role::text;
    if (text(s, column) == nothing()) role = Role::muted;
    if (column == against && s.agreement == Agreement::reference) role = Role::muted;
    if (column == readRate && s.computeBound) role = Role::muted;
    if (column == exact) {
        role = s.agreement == Agreement::exact     ? Role::good
               : s.agreement == Agreement::close   ? Role::warn
               : s.agreement == Agreement::differs ? Role::bad
                                                   : Role::muted;
    }
    return static_cast<int>(role);
}

QString LaneTableModel::text(const LaneSummary& s, int column) {
    switch (column) {
        case lane: return QString::fromStdString(s.name);
        case firstToken: return duration(s.firstTokenNs);
        case perToken: return duration(s.perTokenNs);
        case tokensPerSecond: return s.tokensPerSecond < 0 ? nothing() : formatNumber(s.tokensPerSecond);
        case against:
            if (s.againstReference < 0) return nothing();
            return s.agreement == Agreement::reference ? QStringLiteral("1×")
                                                       : formatRatio(s.againstReference);
        case readRate:
            if (s.readGbS < 0) return nothing();
            if (s.computeBound) return tr("compute-bound");
            return formatValue(s.readGbS, Unit::gigabytes_per_second);
        case kvLive: return s.kvBytesLive < 0 ? nothing() : formatBytes(static_cast<double>(s.kvBytesLive));
        case exact:
            switch (s.agreement) {
                case Agreement::unknown: return nothing();
                case Agreement::reference: return tr("reference");
                case Agreement::exact: return tr("exact ✓");
                case Agreement::close: return tr("same text");
                case Agreement::differs: return tr("differs at token %1").arg(s.firstDifferent);
            }
            return {};
        default: return {};
    }
}

QString LaneTableModel::toolTip(const LaneSummary& s, int column) const {
    if (column == against && !s.whyNoRatio.empty() && s.agreement != Agreement::reference)
        return QString::fromStdString(s.whyNoRatio);
    if (column == readRate && s.readGbS >= 0) {
        if (s.computeBound)
            return tr("Every step pushes many positions through the weights it reads, so that arithmetic is "
                      "the "
                      "limit and not reading: %1")
                .arg(formatValue(s.readGbS, Unit::gigabytes_per_second));
        if (s.readShare < 0) return tr("The read rate of this machine was not measured");
        if (s.readShare > 1)
            return tr("%1 of the memory's read rate: the weights fit into the processor's caches, which are "
                      "faster "
                      "than memory")
                .arg(formatPercent(s.readShare));
        return tr("%1 of the read rate measured before the run").arg(formatPercent(s.readShare));
    }
    if (column == kvLive && s.kvBytesLive >= 0) return formatBytesExactly(s.kvBytesLive);
    return headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString();
}

}  // namespace decodescope
