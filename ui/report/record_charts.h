// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

#include <memory>
#include <vector>

#include "engine/experiment/record.h"
#include "ui/chart/line_chart.h"

namespace decodescope {

// What each chart of a run is: title, unit, definition and axes in `setUp...`, the content of a finished
// record in `show...`. Screens that draw a run as it happens set their charts up here too, so that a chart
// says the same on screen and in a report. Those over time: `memory_charts.h`. The x axis reaches to the
// tokens that `experiment` asks for.

/// x = tokens chosen so far, of all requests (the first comes from the prefill), y in ms.
void setUpLatencyChart(LineChart& chart, const Experiment& experiment);
/// x = tokens chosen so far, of all requests, y in s.
void setUpTotalTimeChart(LineChart& chart, const Experiment& experiment);
/// x = tokens chosen so far, of all requests, y in bytes.
void setUpKvChart(LineChart& chart, const Experiment& experiment);
/// x = number of the new token of a request, y = logit error on a log axis.
void setUpLogitErrorChart(LineChart& chart, const Experiment& experiment);

/// The point that a step adds to the latency chart: the time that a request waits for one token of it, ms.
/// NaN for a step that only prefills or chooses nothing.
double latencyOf(const StepEvent& step);

/// Median over repetitions of each decode step of each lane (time per token), with a band from the fastest to
/// the slowest.
void showLatency(LineChart& chart, const Record& record);
/// Median over repetitions of the time from the start of the prefill to each token.
void showTotalTime(LineChart& chart, const Record& record);
/// Live (and, where it differs, reserved) bytes of each lane's cache, of the last repetition.
void showKv(LineChart& chart, const Record& record);
/// Largest logit error of each token over requests and repetitions, against the reference lane.
void showLogitError(LineChart& chart, const Record& record);
/// The reference's distance from the likeliest to the second token, by token of a request (of several
/// requests the smallest), and where `lane` has another one on top.
void showTop2Margin(LineChart& chart, const Record& record, std::size_t lane);

/// Draws `compared`, another run of the same work, dashed over the chart of `shown`: each lane in the colour
/// of the lane of the same name; lanes without one are left out. `name` is what the legend calls the run.
void overlayLatency(LineChart& chart, const Record& shown, const Record& compared, const QString& name);
void overlayTotalTime(LineChart& chart, const Record& shown, const Record& compared, const QString& name);
/// Live bytes.
void overlayKv(LineChart& chart, const Record& shown, const Record& compared, const QString& name);
void overlayLogitError(LineChart& chart, const Record& shown, const Record& compared, const QString& name);

/// One chart of a record, ready to be exported.
struct RecordChart {
    QString name;  ///< stem of its files
    std::unique_ptr<LineChart> chart;
    QByteArray svg = {};  ///< as reports draw it, if it was drawn already
};
/// Every chart that has something to show, with `compared` dashed where it is given.
std::vector<RecordChart> makeRecordCharts(const Record& record, const Record* compared = nullptr,
                                          const QString& comparedName = {});

}  // namespace decodescope
