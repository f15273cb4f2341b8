// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/lane_table.h"

#include <utility>

#include "ui/chart/format.h"
#include "ui/theme/theme.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

namespace {

QString nothing() {
    return QStringLiteral("–");
}

QString duration(double ns) {
    return ns < 0 ? nothing() : formatDuration(ns);
}

}  // namespace

std::vector<double> LaneTableModel::columnWeights() {
    return {1.5, 1.0, 1.3, 1.0, 1.1, 2.0, 1.0, 1.7};
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
            return tip ? tr("From the start of the first forward call to the first token; loading and "
                            "tokenizing excluded. Median over repetitions")
                       : tr("First token");
        case perToken:
            return tip ? tr("One decode forward call and sampling. Median over all decode steps")
                       : tr("Per token (median)");
        case tokensPerSecond:
            return tip ? tr("Decode steps / the sum of their times; the first token is not one of them")
                       : tr("Tokens / s");
        case against:
            if (tip)
                return tr(
                    "Time of the reference's decode steps / time of the same steps here. Not shown for a "
                    "lane whose output differs");
            return m_reference.isEmpty() ? tr("Against reference") : tr("Against %1").arg(m_reference);
        case readRate:
            return tip ? tr("Weights and cached keys and values that a step must read / its time, and the "
                            "share of the memory's read rate measured before the run")
                       : tr("Read rate, share of limit");
        case kvLive:
            return tip ? tr("Bytes of keys and values the lane holds after its newest step") : tr("KV live");
        case exact:
            return tip ? tr("Whether every token is the reference's, and the largest logit difference as a "
                            "share of the standard deviation of the reference's logits; up to %1 is f32 "
                            "rounding")
                             .arg(formatError(f32RoundingLimit))
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
            return index.column() == tokensPerSecond ||
                   (index.column() == against && summary.agreement != Agreement::reference);
        case figureRole:
            if (index.column() == exact &&
                (summary.agreement == Agreement::exact || summary.agreement == Agreement::close))
                return formatError(summary.maxError);
            return {};
        case swatchRole:
            return index.column() == lane || index.column() == readRate ? index.row() : QVariant();
        case shareRole:
            if (index.column() == readRate && !summary.computeBound && summary.readShare >= 0)
                return summary.readShare;
            return {};
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
    if (column == against && s.agreement == Agreement::differs)
        return tr(
            "Not shown: this lane's output differs from the reference's, and a wrong answer has no speed-up");
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
