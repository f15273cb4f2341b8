// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/record_charts.h"

#include <QtNumeric>

#include <algorithm>
#include <cmath>

#include "engine/experiment/token_times.h"
#include "engine/measure/statistics.h"
#include "ui/report/definitions.h"
#include "ui/report/memory_charts.h"
#include "ui/text.h"

namespace decodescope {

namespace {

/// Tokens of one request, or of all of them.
ChartAxis tokenAxis(const Experiment& experiment, bool all_requests) {
    const auto n_request = static_cast<int>(experiment.prompts.size());
    const bool several = all_requests && n_request > 1;
    ChartAxis axis;
    axis.name = several ? tr("token, all requests") : tr("token");
    axis.unit = Unit::count;
    axis.whole = true;
    if (!experiment.lanes.empty()) axis.expected_max = experiment.new_tokens * (several ? n_request : 1);
    axis.show_name = true;
    return axis;
}

ChartAxis valueAxis(const QString& name, Unit unit) {
    ChartAxis axis;
    axis.name = name;
    axis.unit = unit;
    return axis;
}

double seconds(std::int64_t ns) {
    return static_cast<double>(ns) * 1e-9;
}

/// What one step of a lane is drawn as, over all repetitions.
struct StepSamples {
    double x = 0;  // tokens chosen by the end of the step, in the first repetition that has it
    std::vector<double> values;
};

/// Samples of all repetitions, by step: `value(repetition, index in its steps)`, NaN = none.
template <class Value>
std::vector<StepSamples> samplesByStep(const LaneRecord& lane, Value value) {
    std::vector<StepSamples> samples;
    for (const RepetitionRecord& repetition : lane.repetitions) {
        double chosen = 0;
        for (std::size_t i = 0; i < repetition.steps.size(); ++i) {
            chosen += repetition.steps[i].n_token;
            const double sample = value(repetition, i);
            if (std::isnan(sample)) continue;
            if (samples.size() <= i) samples.resize(i + 1);
            if (samples[i].values.empty()) samples[i].x = chosen;
            samples[i].values.push_back(sample);
        }
    }
    return samples;
}

QString laneName(const LaneRecord& lane) {
    return QString::fromStdString(lane.spec.name);
}

std::size_t mostRepetitions(const Record& record) {
    std::size_t n = 0;
    for (const LaneRecord& lane : record.lanes) n = std::max(n, lane.repetitions.size());
    return n;
}

/// A value per step: the median over repetitions.
struct Curve {
    std::vector<double> x;
    std::vector<double> y;
};

Curve mediansOf(const std::vector<StepSamples>& samples) {
    Curve curve;
    for (const StepSamples& step : samples) {
        if (step.values.empty()) continue;
        curve.x.push_back(step.x);
        curve.y.push_back(median_of(step.values));
    }
    return curve;
}

Curve latencies(const LaneRecord& lane) {
    return mediansOf(samplesByStep(
        lane, [](const RepetitionRecord& r, std::size_t at) { return latencyOf(r.steps[at]); }));
}

Curve totalTimes(const LaneRecord& lane) {
    double sum = 0;
    return mediansOf(samplesByStep(lane, [&](const RepetitionRecord& r, std::size_t at) {
        const StepEvent& step = r.steps[at];
        if (at == 0) sum = 0;
        sum += seconds(step.end_ns - step.start_ns);
        return sum;
    }));
}

Curve liveBytes(const LaneRecord& lane) {
    Curve curve;
    if (lane.spec.mode == LaneMode::naive || lane.repetitions.empty()) return curve;
    double chosen = 0;
    for (const StepEvent& step : lane.repetitions.back().steps) {
        chosen += step.n_token;
        curve.x.push_back(chosen);
        curve.y.push_back(static_cast<double>(step.kv_bytes_live));
    }
    return curve;
}

/// The largest error of each token of a request, over requests and repetitions.
Curve worstErrors(const LaneRecord& lane) {
    std::vector<double> worst;  // by token of a request
    for (const RepetitionRecord& repetition : lane.repetitions) {
        for (const TokenEvent& token : repetition.chosen) {
            if (!token.comparison.compared || token.index < 0) continue;
            const auto at = static_cast<std::size_t>(token.index);
            if (worst.size() <= at) worst.resize(at + 1, qQNaN());
            if (!(worst[at] > token.comparison.relative_error)) worst[at] = token.comparison.relative_error;
        }
    }
    Curve curve;
    for (std::size_t at = 0; at < worst.size(); ++at) {
        if (std::isnan(worst[at])) continue;
        curve.x.push_back(static_cast<double>(at) + 1);
        curve.y.push_back(worst[at]);
    }
    return curve;
}

void overlay(LineChart& chart, const Record& shown, const Record& compared, const QString& name,
             Curve (*curveOf)(const LaneRecord&)) {
    for (std::size_t i = 0; i < shown.lanes.size(); ++i) {
        for (const LaneRecord& lane : compared.lanes) {
            if (lane.spec.name != shown.lanes[i].spec.name) continue;
            const Curve curve = curveOf(lane);
            if (curve.x.empty()) continue;
            chart.setData(chart.addSeries(QStringLiteral("%1 · %2").arg(laneName(lane), name),
                                          ColorRef::lane(static_cast<int>(i)), SeriesKind::dashed_line),
                          curve.x, curve.y);
        }
    }
}

}  // namespace

double latencyOf(const StepEvent& step) {
    return token_ns(step).value_or(qQNaN()) * 1e-6;
}

void setUpLatencyChart(LineChart& chart, const Experiment& experiment) {
    chart.removeAllSeries();
    chart.setTitle(tr("Latency per token"));
    const bool several = experiment.prompts.size() > 1;
    chart.setSubtitle(several ? tr("ms · what a request waits for one token")
                              : tr("ms · one decode forward call + sampling"));
    chart.setDefinition(definitionOf("step_ns"));
    chart.setExportName(QStringLiteral("latency"));
    chart.setXAxis(tokenAxis(experiment, true));
    chart.setYAxis(valueAxis(tr("latency"), Unit::milliseconds));
}

void setUpTotalTimeChart(LineChart& chart, const Experiment& experiment) {
    chart.removeAllSeries();
    chart.setTitle(tr("Total time"));
    chart.setSubtitle(tr("s · prefill included"));
    chart.setDefinition(definitionOf("e2e_ns"));
    chart.setExportName(QStringLiteral("total_time"));
    chart.setXAxis(tokenAxis(experiment, true));
    chart.setYAxis(valueAxis(tr("total time"), Unit::seconds));
}

void setUpKvChart(LineChart& chart, const Experiment& experiment) {
    chart.removeAllSeries();
    chart.setTitle(tr("KV cache"));
    chart.setSubtitle(tr("bytes per lane · dotted: reserved"));
    chart.setDefinition(definitionOf("kv_bytes_live") + QLatin1Char('\n') +
                        definitionOf("kv_bytes_reserved"));
    chart.setExportName(QStringLiteral("kv_cache"));
    chart.setXAxis(tokenAxis(experiment, true));
    chart.setYAxis(valueAxis(tr("KV cache"), Unit::bytes));
}

void setUpLogitErrorChart(LineChart& chart, const Experiment& experiment) {
    chart.removeAllSeries();
    chart.setTitle(tr("Logit error against the reference"));
    chart.setSubtitle(tr("largest difference / standard deviation of the reference's logits · log scale"));
    chart.setDefinition(definitionOf("relative_error"));
    chart.setExportName(QStringLiteral("logit_error"));
    chart.setXAxis(tokenAxis(experiment, false));
    ChartAxis error = valueAxis(tr("logit error"), Unit::error);
    error.log = true;
    chart.setYAxis(error);
}

void showLatency(LineChart& chart, const Record& record) {
    setUpLatencyChart(chart, record.experiment);
    const std::size_t repetitions = mostRepetitions(record);
    if (repetitions > 1) {
        chart.setSubtitle(tr("ms · median of %1 repetitions, band from fastest to slowest").arg(repetitions));
    }
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const auto samples = samplesByStep(record.lanes[i], [](const RepetitionRecord& r, std::size_t at) {
            return latencyOf(r.steps[at]);
        });
        std::vector<double> x, median, low, high;
        for (const StepSamples& step : samples) {
            if (step.values.empty()) continue;
            const Summary summary = summarize(step.values);
            x.push_back(step.x);
            median.push_back(summary.median);
            low.push_back(summary.min);
            high.push_back(summary.max);
        }
        const ColorRef color = ColorRef::lane(static_cast<int>(i));
        if (repetitions > 1) chart.setRange(chart.addSeries({}, color, SeriesKind::range), x, low, high);
        chart.setData(chart.addSeries(laneName(record.lanes[i]), color), x, median);
    }
}

void showTotalTime(LineChart& chart, const Record& record) {
    setUpTotalTimeChart(chart, record.experiment);
    const std::size_t repetitions = mostRepetitions(record);
    if (repetitions > 1)
        chart.setSubtitle(tr("s · prefill included, median of %1 repetitions").arg(repetitions));
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const Curve curve = totalTimes(record.lanes[i]);
        chart.setData(chart.addSeries(laneName(record.lanes[i]), ColorRef::lane(static_cast<int>(i))),
                      curve.x, curve.y);
    }
}

void overlayLatency(LineChart& chart, const Record& shown, const Record& compared, const QString& name) {
    overlay(chart, shown, compared, name, latencies);
}

void overlayTotalTime(LineChart& chart, const Record& shown, const Record& compared, const QString& name) {
    overlay(chart, shown, compared, name, totalTimes);
}

void overlayKv(LineChart& chart, const Record& shown, const Record& compared, const QString& name) {
    overlay(chart, shown, compared, name, liveBytes);
}

void overlayLogitError(LineChart& chart, const Record& shown, const Record& compared, const QString& name) {
    overlay(chart, shown, compared, name, worstErrors);
}

void showKv(LineChart& chart, const Record& record) {
    setUpKvChart(chart, record.experiment);
    const auto n_cached = std::count_if(record.lanes.begin(), record.lanes.end(), [](const LaneRecord& lane) {
        return lane.spec.mode != LaneMode::naive;
    });
    bool first = n_cached > 1;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const LaneRecord& lane = record.lanes[i];
        const Curve live = liveBytes(lane);
        if (live.x.empty()) continue;
        std::vector<double> reserved;
        bool differs = false;
        for (const StepEvent& step : lane.repetitions.back().steps) {
            reserved.push_back(static_cast<double>(step.kv_bytes_reserved));
            differs = differs || step.kv_bytes_reserved != step.kv_bytes_live;
        }
        const ColorRef color = ColorRef::lane(static_cast<int>(i));
        // Two caches of the same length hold the same bytes: the first is drawn so that it shows below the
        // other.
        const SeriesKind kind = first ? SeriesKind::wide_line : SeriesKind::line;
        first = false;
        chart.setData(chart.addSeries(laneName(lane), color, kind), live.x, live.y);
        if (!differs) continue;
        chart.setData(chart.addSeries(tr("%1, reserved").arg(laneName(lane)), color, SeriesKind::dotted_line),
                      live.x, reserved);
    }
}

void showLogitError(LineChart& chart, const Record& record) {
    setUpLogitErrorChart(chart, record.experiment);
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        if (i == record.reference_index()) continue;
        const LaneRecord& lane = record.lanes[i];
        const Curve errors = worstErrors(lane);
        if (errors.x.empty()) continue;
        chart.setData(
            chart.addSeries(laneName(lane), ColorRef::lane(static_cast<int>(i)), SeriesKind::points),
            errors.x, errors.y);
    }
}

void showTop2Margin(LineChart& chart, const Record& record, std::size_t lane) {
    chart.removeAllSeries();
    chart.setTitle(tr("Margin of the top token"));
    chart.setSubtitle(tr("reference: distance to the runner-up, in logits"));
    chart.setDefinition(definitionOf("top2_margin"));
    chart.setExportName(QStringLiteral("top2_margin"));
    chart.setXAxis(tokenAxis(record.experiment, false));
    chart.setYAxis(valueAxis(tr("margin"), Unit::none));
    if (lane >= record.lanes.size()) return;
    std::vector<double> margins, flips;  // by token of a request
    for (const RepetitionRecord& repetition : record.lanes[lane].repetitions) {
        for (const TokenEvent& token : repetition.chosen) {
            const LogitComparison& compared = token.comparison;
            if (!compared.compared || token.index < 0) continue;
            const auto at = static_cast<std::size_t>(token.index);
            if (margins.size() <= at) {
                margins.resize(at + 1, qQNaN());
                flips.resize(at + 1, qQNaN());
            }
            if (!(margins[at] <= compared.top2_margin)) margins[at] = compared.top2_margin;
            if (!compared.same_argmax) flips[at] = compared.top2_margin;
        }
    }
    if (margins.empty()) return;
    std::vector<double> x;
    for (std::size_t at = 0; at < margins.size(); ++at) x.push_back(static_cast<double>(at) + 1);
    chart.setData(chart.addSeries(tr("margin"), {ColorRef::Role::muted, 0}, SeriesKind::points), x, margins);
    std::vector<double> flippedX, flippedY;
    for (std::size_t at = 0; at < flips.size(); ++at) {
        if (std::isnan(flips[at])) continue;
        flippedX.push_back(x[at]);
        flippedY.push_back(flips[at]);
    }
    if (!flippedX.empty())
        chart.setData(chart.addSeries(tr("another token on top in %1").arg(laneName(record.lanes[lane])),
                                      {ColorRef::Role::bad, 0}, SeriesKind::points),
                      flippedX, flippedY);
}

std::vector<RecordChart> makeRecordCharts(const Record& record, const Record* compared,
                                          const QString& comparedName) {
    using Show = void (*)(LineChart&, const Record&);
    using Overlay = void (*)(LineChart&, const Record&, const Record&, const QString&);
    static constexpr std::pair<Show, Overlay> kinds[] = {
        {showLatency, overlayLatency}, {showTotalTime, overlayTotalTime},  {showMemory, nullptr},
        {showAllocator, nullptr},      {showPageFaults, nullptr},          {showCopiedBytes, nullptr},
        {showKv, overlayKv},           {showLogitError, overlayLogitError}};
    std::vector<RecordChart> charts;
    for (const auto& [show, addDashed] : kinds) {
        auto chart = std::make_unique<LineChart>();
        show(*chart, record);
        if (compared != nullptr && addDashed != nullptr) addDashed(*chart, record, *compared, comparedName);
        if (!chart->isEmpty()) charts.push_back({chart->exportName(), std::move(chart)});
    }
    return charts;
}

}  // namespace decodescope
