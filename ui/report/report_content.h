// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "engine/core/result.h"
#include "engine/experiment/record.h"
#include "engine/verify/verdict.h"
#include "ui/report/record_charts.h"

namespace decodescope {

/// The parts of a report that can be left out, in its order. The charts are chosen one by one.
enum class ReportPart { lanes, cache, charts, verdicts, texts, run, environment, definitions };
/// Those that are left out as a whole: all but the charts.
const QList<ReportPart>& reportParts();
/// The heading of a part.
QString titleOf(ReportPart part);

/// A run that is drawn dashed beside the reported one.
struct ComparedRun {
    std::shared_ptr<const Record> record;  ///< null = none
    QString name;                          ///< what legends call it
    QString sentence;                      ///< by how much they differ

    bool operator==(const ComparedRun&) const = default;
};
/// Holds `earlier` against `shown`; fails with one sentence when they are not the same work.
Result<ComparedRun> compareRuns(std::shared_ptr<const Record> earlier, const Record& shown,
                                const QString& name);

/// What a report says besides what its record measured, and what of that it leaves out.
struct ReportContent {
    RecordNotes notes;                  ///< in place of the record's own
    std::optional<QStringList> charts;  ///< names, in the order of the report; not set = all of them
    std::set<ReportPart> leftOut;
    ComparedRun compared;
    std::map<int, Verdict> verdicts;  ///< by lane

    bool has(ReportPart part) const { return !leftOut.contains(part); }
};
/// Everything, with the record's own notes.
ReportContent contentOf(const Record& record);
/// The title of a report: the given one, or what was run.
QString titleOf(const Record& record, const ReportContent& content);

/// Those of `charts` that `content` wants, in its order; names that none has are left out.
std::vector<const RecordChart*> pickedCharts(const std::vector<RecordChart>& charts,
                                             const ReportContent& content);
/// The charts of a report, in its order.
std::vector<RecordChart> makeReportCharts(const Record& record, const ReportContent& content);
/// Fails with one sentence that lists what there is when a name is no chart of `record`, or comes twice.
Result<void> checkCharts(const Record& record, const QStringList& names);

}  // namespace decodescope
