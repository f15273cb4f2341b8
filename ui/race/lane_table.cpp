// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/lane_table.h"

#include <algorithm>
#include <utility>

#include "ui/chart/format.h"
#include "ui/help/fault_kinds.h"
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

QString rate(double tokensPerSecond) {
    return tokensPerSecond < 0 ? nothing() : formatNumber(tokensPerSecond);
}

double share(const LaneRecord::DraftCount& count) {
    return count.drafted == 0 ? 0 : static_cast<double>(count.accepted) / static_cast<double>(count.drafted);
}

/// "90 76 66 %": how often each position of a draft was kept; at most the first four.
QString keptText(const LaneSummary& lane) {
    constexpr std::size_t most = 4;
    QStringList shares;
    for (std::size_t i = 0; i < std::min(most, lane.drafts.size()); ++i)
        shares << QString::number(100 * share(lane.drafts[i]), 'f', 0);
    if (shares.isEmpty()) return {};
    return shares.join(QLatin1Char(' ')) +
           (lane.drafts.size() > most ? QStringLiteral(" … %") : QStringLiteral(" %"));
}

/// Columns that these lanes fill.
std::vector<LaneTableModel::Column> columnsFor(const Record& record) {
    using Table = LaneTableModel;
    const auto any = [&](auto&& wanted) {
        return std::any_of(record.lanes.begin(), record.lanes.end(), wanted);
    };
    using Lane = const LaneRecord&;
    std::vector<Table::Column> columns{Table::lane};
    if (any([&](Lane lane) {
            return weights_words(record.experiment, lane.spec) != to_string(WeightType::f32);
        }))
        columns.push_back(Table::weights);
    if (any([](Lane lane) { return lane.spec.batching == Batching::continuous; }))
        columns.push_back(Table::queue);
    columns.insert(columns.end(), {Table::firstToken, Table::perToken, Table::tokensPerSecond});
    if (record.experiment.prompts.size() > 1) columns.push_back(Table::totalPerSecond);
    columns.push_back(Table::against);
    if (any([](Lane lane) { return lane.spec.mode == LaneMode::speculative; }))
        columns.push_back(Table::drafts);
    columns.insert(columns.end(), {Table::readRate, Table::kvLive});
    const bool reference = record.reference_index() < record.lanes.size();
    if (reference && any_approximation(record)) columns.push_back(Table::quality);
    columns.push_back(Table::exact);
    return columns;
}

}  // namespace

std::vector<PlainTable::Column> LaneTableModel::columns() const {
    std::vector<PlainTable::Column> columns;
    const bool crowded = isCrowded();
    const bool anyFault = std::any_of(m_lanes.begin(), m_lanes.end(),
                                      [](const LaneSummary& each) { return !each.faults.empty(); });
    for (const Column column : m_columns) {
        switch (column) {
            case lane:
                columns.push_back({1.6, anyFault ? QStringLiteral("■ speculative ⚠ faulty")
                                                 : QStringLiteral("■ speculative")});
                break;
            case weights: columns.push_back({1.0, QStringLiteral("f32, OpenBLAS")}); break;
            case queue:
            case firstToken:
            case perToken: columns.push_back({1.0, QStringLiteral("88.8 ms")}); break;
            case tokensPerSecond:
            case totalPerSecond: columns.push_back({1.0, QStringLiteral("88,888")}); break;
            case against: columns.push_back({1.0, QStringLiteral("88.8×")}); break;
            case drafts: columns.push_back({1.2, QStringLiteral("8.88 / step 88 88 88 88 %")}); break;
            case readRate:
                columns.push_back({crowded ? 1.0 : 1.4, crowded ? QStringLiteral("88.8 GB/s")
                                                                : QStringLiteral("88.8 GB/s ■■■■■")});
                break;
            case kvLive: columns.push_back({1.0, QStringLiteral("88.8 MiB")}); break;
            case quality: columns.push_back({1.2, QStringLiteral("KL 8.8e-8 top-1 88.8 %")}); break;
            case exact: columns.push_back({1.6, tr("exact ✓") + QStringLiteral(" 8.8e-8")}); break;
        }
    }
    return columns;
}

void LaneTableModel::setRecord(const Record& record) {
    const std::size_t reference = record.reference_index();
    setLanes(summarizeLanes(record),
             reference < record.lanes.size() ? QString::fromStdString(record.lanes[reference].spec.name)
                                             : QString(),
             columnsFor(record));
}

void LaneTableModel::setLanes(std::vector<LaneSummary> lanes, const QString& referenceName,
                              std::vector<Column> columns) {
    const auto faulty = [](const std::vector<LaneSummary>& all) {
        return std::any_of(all.begin(), all.end(), [](const LaneSummary& s) { return !s.faults.empty(); });
    };
    const bool others = columns != m_columns || faulty(lanes) != faulty(m_lanes);
    if (others || lanes.size() != m_lanes.size() || referenceName != m_reference) {
        beginResetModel();
        m_lanes = std::move(lanes);
        m_reference = referenceName;
        m_columns = std::move(columns);
        endResetModel();
        if (others) emit columnsChanged();
        emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
        return;
    }
    m_lanes = std::move(lanes);
    if (!m_lanes.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int LaneTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_lanes.size());
}

int LaneTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
}

QVariant LaneTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    if (role == Qt::DisplayRole) return headerText(columnAt(section));
    if (role == Qt::ToolTipRole) return headerToolTip(columnAt(section));
    return {};
}

QString LaneTableModel::headerText(Column column) const {
    switch (column) {
        case lane: return tr("Lane");
        case weights: return tr("Weights");
        case queue:
            return tr(
                "Queue wait\u009c"
                "Queue");
        case firstToken: return tr("First token");
        case perToken:
            return tr(
                "Per token (median)\u009c"
                "Per token");
        case tokensPerSecond: return tr("Tokens / s");
        case totalPerSecond: return tr("With prefill");
        case against:
            return m_reference.isEmpty() ? tr("Against reference")
                                         : tr("Against %1\u009c"
                                              "Speed-up")
                                               .arg(m_reference);
        case drafts: return tr("Drafts kept");
        case readRate:
            return tr(
                "Read rate, share of limit\u009c"
                "Read rate");
        case kvLive: return tr("KV live");
        case quality:
            return tr(
                "Distance from reference\u009c"
                "Distance");
        case exact: return tr("Exact?");
    }
    return {};
}

QString LaneTableModel::headerToolTip(Column column) {
    switch (column) {
        case lane: return tr("One way of decoding");
        case weights: return tr("What the matrices are computed with, and who multiplies by them where");
        case queue: return definitionOf("queue_ns");
        case firstToken:
            return definitionOf("ttft_ns") + QLatin1Char(' ') + tr("Median over requests and repetitions.");
        case perToken:
            return definitionOf("step_ns") + QLatin1Char(' ') + tr("Median over all decode steps.");
        case tokensPerSecond: return definitionOf("decode_tok_s");
        case totalPerSecond: return definitionOf("total_tok_s");
        case against: return definitionOf("speed_up");
        case drafts: return definitionOf("drafts");
        case readRate: return definitionOf("gb_s");
        case kvLive:
            return definitionOf("kv_bytes_live") + QLatin1Char(' ') + tr("At the repetition's fullest step.");
        case quality: return definitionOf("quality");
        case exact:
            return tr("Whether every token is the reference's; behind it the largest logit error.\n") +
                   definitionOf("relative_error") +
                   tr(" Up to %1 is f32 rounding.").arg(formatError(f32_error_limit)) +
                   tr(" Between lanes with the same bf16 weights up to %1 is rounding, with int8 or int4 %2.")
                       .arg(formatError(error_limit(WeightType::bf16)),
                            formatError(error_limit(WeightType::int8))) +
                   tr(" Where a GPU takes f16 weights, or f32 as TF32, it is up to %1.")
                       .arg(formatError(error_limit(ProductRounding{.gpu = true, .tf32 = true})));
    }
    return {};
}

QVariant LaneTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    const LaneSummary& summary = m_lanes[static_cast<std::size_t>(index.row())];
    const Column column = columnAt(index.column());
    switch (role) {
        case Qt::DisplayRole: return text(summary, column);
        case Qt::ToolTipRole: return toolTip(summary, column);
        case toneRole: return tone(summary, column);
        case strongRole:
            if (column == tokensPerSecond) return 2;
            if (column == against && summary.agreement != Agreement::reference) return 2;
            return column == exact && summary.agreement > Agreement::reference &&
                           summary.agreement != Agreement::approximate
                       ? 1
                       : 0;
        case figureRole: {
            const QString small = figure(summary, column);
            return small.isEmpty() ? QVariant() : QVariant(small);
        }
        case swatchRole:
            return column == lane || (column == readRate && hasBar(summary) && !isCrowded()) ? index.row()
                                                                                             : QVariant();
        case shareRole:
            return column == readRate && hasBar(summary) && !isCrowded() ? summary.readShare : QVariant();
        default: return {};
    }
}

QString LaneTableModel::figure(const LaneSummary& s, Column column) {
    if (column == lane && !s.faults.empty()) return tr("⚠ faulty");
    if (column == exact && (s.agreement == Agreement::exact || s.agreement == Agreement::close))
        return formatError(s.maxError);
    if (column == drafts) return keptText(s);
    if (column == quality && s.agreement == Agreement::approximate && s.quality.n > 0)
        return tr("top-1 %1").arg(formatPercent(s.quality.top1_agreement));
    return {};
}

QVariant LaneTableModel::tone(const LaneSummary& s, Column column) {
    using Role = ColorRef::Role;
    Role role = Role::text;
    if (text(s, column) == nothing()) role = Role::muted;
    if (column == against && s.agreement == Agreement::reference) role = Role::muted;
    if (column == readRate && s.computeBound) role = Role::muted;
    if (column == exact) {
        role = s.agreement == Agreement::exact         ? Role::good
               : s.agreement == Agreement::close       ? Role::warn
               : s.agreement == Agreement::differs     ? Role::bad
               : s.agreement == Agreement::approximate ? Role::text
                                                       : Role::muted;
    }
    return static_cast<int>(role);
}

QString LaneTableModel::text(const LaneSummary& s, Column column) {
    switch (column) {
        case lane: return QString::fromStdString(s.name);
        case weights: return QString::fromStdString(s.weights);
        case queue: return duration(s.queueNs);
        case firstToken: return duration(s.firstTokenNs);
        case perToken: return duration(s.perTokenNs);
        case tokensPerSecond: return rate(s.tokensPerSecond);
        case totalPerSecond: return rate(s.totalTokensPerSecond);
        case against:
            if (s.againstReference < 0) return nothing();
            return s.agreement == Agreement::reference ? QStringLiteral("1×")
                                                       : formatRatio(s.againstReference);
        case drafts:
            return s.tokensPerCheck < 0 ? nothing() : tr("%1 / step").arg(formatNumber(s.tokensPerCheck));
        case readRate:
            if (s.readGbS < 0) return nothing();
            if (s.computeBound) return tr("compute-bound");
            return formatValue(s.readGbS, Unit::gigabytes_per_second);
        case kvLive: return s.kvBytesLive < 0 ? nothing() : formatBytes(static_cast<double>(s.kvBytesLive));
        case quality:
            return s.agreement != Agreement::approximate || s.quality.n == 0
                       ? nothing()
                       : tr("KL %1").arg(formatError(s.quality.mean_kl));
        case exact:
            switch (s.agreement) {
                case Agreement::unknown: return nothing();
                case Agreement::reference: return tr("reference");
                case Agreement::exact: return tr("exact ✓");
                case Agreement::approximate: return QString::fromStdString(s.approximation);
                case Agreement::close: return tr("same text");
                case Agreement::differs: return tr("differs at token %1").arg(s.firstDifferent);
            }
            return {};
    }
    return {};
}

QString LaneTableModel::toolTip(const LaneSummary& s, Column column) {
    if (column == lane && !s.faults.empty())
        return tr("Makes mistakes on purpose: %1").arg(faultTitles(s.faults));
    if (column == weights && s.weightBytes > 0)
        return tr("Matrices and head: %1").arg(formatBytes(static_cast<double>(s.weightBytes)));
    if (column == against && s.agreement != Agreement::reference) {
        if (!s.whyNoRatio.empty()) return QString::fromStdString(s.whyNoRatio);
        if (!s.approximation.empty() && s.againstReference >= 0)
            return tr("Not the same computation: %1").arg(QString::fromStdString(s.approximation));
    }
    if (column == perToken && s.devicePerTokenNs >= 0)
        return headerToolTip(column) + QLatin1Char('\n') +
               tr("By its own clock the GPU worked %1 of %2.")
                   .arg(duration(s.devicePerTokenNs), duration(s.perTokenNs));
    if (column == readRate && s.readGbS >= 0) {
        if (s.computeBound)
            return tr("Every step pushes many positions through the weights it reads, so that arithmetic is "
                      "the limit and not reading: %1")
                .arg(formatValue(s.readGbS, Unit::gigabytes_per_second));
        if (s.limitStated) {
            if (s.readShare < 0) return tr("What this GPU reads at most is not known");
            return tr("%1 of what the GPU's memory reads at most, as its driver states it")
                .arg(formatPercent(s.readShare));
        }
        if (s.readShare < 0) return tr("The read rate of this machine was not measured");
        if (s.readShare > 1)
            return tr("%1 of the memory's read rate: the weights fit into the processor's caches, which are "
                      "faster than memory")
                .arg(formatPercent(s.readShare));
        return tr("%1 of the read rate measured before the run").arg(formatPercent(s.readShare));
    }
    if (column == kvLive && s.kvBytesLive >= 0) return formatBytesExactly(s.kvBytesLive);
    if (column == drafts && !s.drafts.empty()) {
        QStringList lines;
        for (std::size_t i = 0; i < s.drafts.size(); ++i)
            lines << tr("draft %1: %2 of %3 kept, %4")
                         .arg(QString::number(i + 1), formatCount(s.drafts[i].accepted),
                              formatCount(s.drafts[i].drafted), formatPercent(share(s.drafts[i])));
        return lines.join(QLatin1Char('\n'));
    }
    if ((column == quality || column == exact) && s.agreement == Agreement::approximate) {
        QStringList lines{tr("Not meant to be equal: %1.").arg(QString::fromStdString(s.approximation))};
        if (s.firstDifferent > 0) lines << tr("First other token: %1.").arg(s.firstDifferent);
        if (s.quality.n > 0)
            lines << tr("Over %1 tokens: KL divergence %2 nats, same likeliest token %3, probability of the "
                        "right token changed by %4 (RMS).")
                         .arg(formatCount(s.quality.n), formatError(s.quality.mean_kl),
                              formatPercent(s.quality.top1_agreement),
                              formatError(s.quality.rms_probability_change));
        return lines.join(QLatin1Char('\n'));
    }
    return headerToolTip(column);
}

}  // namespace decodescope
