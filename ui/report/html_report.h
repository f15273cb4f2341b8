// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include "engine/experiment/record.h"
#include "ui/report/record_charts.h"
#include "ui/report/report_content.h"

namespace decodescope {

/// A record as one self-contained HTML page (UTF-8) that needs no network and follows the reader's light or
/// dark setting: title, notes, numbers of the lanes, `charts` as inline SVG, texts, what was run and where,
/// and the definition of every number, as far as `content` has them. A run that was not finished says so
/// first, with the reason. GUI thread (draws `charts`).
QByteArray htmlReport(const Record& record, const std::vector<RecordChart>& charts,
                      const ReportContent& content);
inline QByteArray htmlReport(const Record& record, const std::vector<RecordChart>& charts) {
    return htmlReport(record, charts, contentOf(record));
}
/// A chart as reports draw it. Keep it in `RecordChart::svg` where a report is made again and again.
QByteArray reportSvg(LineChart& chart);

}  // namespace decodescope
