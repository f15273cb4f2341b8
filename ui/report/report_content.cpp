// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/report_content.h"

#include <utility>

#include "engine/core/quote.h"
#include "engine/experiment/compare.h"
#include "ui/text.h"

namespace decodescope {

namespace {

/// How the run on screen (B) differs from the earlier one (A), lane by lane, in one sentence each.
QString words(const RecordComparison& comparison, const Record& earlier) {
    QStringList sentences;
    for (const ComparedLane& lane : comparison.lanes) {
        const QString name = QString::fromStdString(earlier.lanes[lane.a].spec.name);
        for (const ComparedMetric& metric : lane.metrics) {
            if (std::string_view(metric.key) != "tpot_ns") continue;
            if (metric.ratio <= 0) continue;
            const QString text =
                tr("%1: %2 × %3")
                    .arg(name, QString::fromLatin1(metric.name), QString::number(metric.ratio, 'f', 2));
            const Interval& interval = metric.interval;
            if (!interval.known)
                sentences << tr("%1 (one repetition: may be chance).").arg(text);
            else if (interval.contains(1))
                sentences << tr("%1 (no difference).").arg(text);
            else
                sentences << tr("%1 (%2 to %3).")
                                 .arg(text, QString::number(interval.low, 'f', 2),
                                      QString::number(interval.high, 'f', 2));
        }
        if (!lane.why_not.empty())
            sentences << name + QStringLiteral(": ") + QString::fromStdString(lane.why_not);
    }
    for (const std::string& sentence : comparison.unmatched) sentences << QString::fromStdString(sentence);
    return sentences.join(QLatin1Char(' '));
}

}  // namespace

const QList<ReportPart>& reportParts() {
    static const QList<ReportPart> parts = {
        ReportPart::lanes, ReportPart::cache,       ReportPart::verdicts,   ReportPart::texts,
        ReportPart::run,   ReportPart::environment, ReportPart::definitions};
    return parts;
}

QString titleOf(ReportPart part) {
    switch (part) {
        case ReportPart::lanes: return tr("Lanes");
        case ReportPart::cache: return tr("Cache");
        case ReportPart::charts: return tr("Charts");
        case ReportPart::verdicts: return tr("Verdicts");
        case ReportPart::texts: return tr("Text");
        case ReportPart::run: return tr("What was run");
        case ReportPart::environment: return tr("Where");
        case ReportPart::definitions: return tr("What the numbers mean");
    }
    return {};
}

Result<ComparedRun> compareRuns(std::shared_ptr<const Record> earlier, const Record& shown,
                                const QString& name) {
    const Result<RecordComparison> comparison = compare_records(*earlier, shown);
    if (!comparison) return comparison.error();
    const QString sentence = tr("Against %1 (dashed). %2").arg(name, words(*comparison, *earlier));
    return ComparedRun{std::move(earlier), name, sentence};
}

ReportContent contentOf(const Record& record) {
    ReportContent content;
    content.notes = record.notes;
    return content;
}

QString titleOf(const Record& record, const ReportContent& content) {
    const QString title = QString::fromStdString(content.notes.title).simplified();
    return title.isEmpty() ? tr("Decoding %1").arg(QString::fromStdString(record.model.name)) : title;
}

std::vector<const RecordChart*> pickedCharts(const std::vector<RecordChart>& charts,
                                             const ReportContent& content) {
    std::vector<const RecordChart*> picked;
    if (!content.charts)
        for (const RecordChart& chart : charts) picked.push_back(&chart);
    for (const QString& name : content.charts.value_or(QStringList())) {
        for (const RecordChart& chart : charts)
            if (chart.name == name) picked.push_back(&chart);
    }
    return picked;
}

std::vector<RecordChart> makeReportCharts(const Record& record, const ReportContent& content) {
    std::vector<RecordChart> charts =
        makeRecordCharts(record, content.compared.record.get(), content.compared.name);
    std::vector<RecordChart> picked;
    for (const RecordChart* chart : pickedCharts(charts, content))
        picked.push_back(std::move(charts[static_cast<std::size_t>(chart - charts.data())]));
    return picked;
}

Result<void> checkCharts(const Record& record, const QStringList& names) {
    QStringList known;
    for (const RecordChart& chart : makeRecordCharts(record)) known << chart.name;
    for (qsizetype i = 0; i < names.size(); ++i) {
        const std::string name = quote(names[i].toStdString());
        if (names.indexOf(names[i]) < i)
            return Error{ErrorKind::bad_input, "charts: " + name + " is there twice."};
        if (known.contains(names[i])) continue;
        const std::string expected =
            known.isEmpty() ? "but this record has no charts."
                            : "expected some of " + known.join(QStringLiteral(", ")).toStdString() + ".";
        return Error{ErrorKind::bad_input, "charts: there is no " + name + ", " + expected};
    }
    return {};
}

}  // namespace decodescope
