// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/exactness/exactness_charts.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "ui/chart/line_chart.h"
#include "ui/report/definitions.h"
#include "ui/report/record_charts.h"
#include "ui/text.h"

namespace decodescope {

namespace {

void addLimit(LineChart& chart, const QString& name, ColorRef color, double error, double end) {
    const std::array<double, 2> x{0, end};
    const std::array<double, 2> y{error, error};
    chart.setData(chart.addSeries(name, color, SeriesKind::dotted_line), x, y);
}

void addPoint(LineChart& chart, const QString& name, double x, double y) {
    const std::array<double, 1> at{x};
    const std::array<double, 1> value{y};
    chart.setData(chart.addSeries(name, {ColorRef::Role::bad, 0}, SeriesKind::points), at, value);
}

ChartAxis callAxis(const std::vector<CallError>& calls) {
    ChartAxis axis;
    axis.name = tr("call");
    axis.unit = Unit::count;
    axis.whole = true;
    axis.expected_max = calls.empty() ? 1 : std::max(1, calls.back().call);
    axis.show_name = true;
    return axis;
}

QString roundingName(const ProductRounding& rounding, double limit) {
    return tr("%1 rounding, up to %2")
        .arg(rounding.tf32 ? QStringLiteral("TF32") : QString::fromLatin1(to_string(rounding.weights)),
             formatError(limit));
}

/// What the rounding of all lanes explains, each limit once; the reference's own comes first.
void addRoundingLimits(LineChart& chart, const Record& record, double end) {
    const LaneRecord& reference = record.reference();
    std::set<double> known;
    const auto add = [&](const LaneRecord& lane) {
        const double limit = lane.error_limit_against(reference);
        if (lane.spec.weights != reference.spec.weights || !known.insert(limit).second) return;
        const ProductRounding& rounder =
            error_limit(lane.rounding()) < limit ? reference.rounding() : lane.rounding();
        addLimit(chart, roundingName(rounder, limit), {ColorRef::Role::good, 0}, limit, end);
    };
    add(reference);
    for (const LaneRecord& lane : record.lanes) add(lane);
}

}  // namespace

void showErrors(LineChart& chart, const Record& record, std::size_t lane) {
    showLogitError(chart, record);
    const bool empty = chart.isEmpty();
    if (empty) return;
    const double end = std::max(1, record.experiment.new_tokens);
    addRoundingLimits(chart, record, end);
    std::set<std::string> named;
    for (const LaneRecord& each : record.lanes) {
        const auto floor = noise_floor(each.spec.cache);
        if (!floor || !named.insert(floor->name).second) continue;
        addLimit(chart, tr("%1 usually, %2").arg(QString::fromUtf8(floor->name), formatError(floor->error)),
                 {ColorRef::Role::warn, 0}, floor->error, end);
    }
    if (lane >= record.lanes.size() || lane == record.reference_index()) return;
    if (const auto first = record.lanes[lane].first_divergence(record.reference()))
        addPoint(chart, tr("first divergence: token %1").arg(first->index + 1), first->index + 1,
                 first->comparison.relative_error);
}

void showCallErrors(LineChart& chart, const std::vector<CallError>& calls, const VerdictPlace& first,
                    WeightType weights) {
    chart.removeAllSeries();
    chart.setTitle(tr("Logit error by call"));
    chart.setSubtitle(tr("against its tokens recomputed at once"));
    chart.setDefinition(definitionOf("call_error"));
    chart.setExportName(QStringLiteral("call_error"));
    ChartAxis error;
    error.name = tr("logit error");
    error.unit = Unit::error;
    error.log = true;
    chart.setXAxis(callAxis(calls));
    chart.setYAxis(error);
    if (calls.empty()) return;
    std::vector<double> x, y;
    for (const CallError& call : calls) {
        x.push_back(call.call);
        y.push_back(call.error);
    }
    chart.setData(
        chart.addSeries(tr("largest error of the call"), {ColorRef::Role::accent, 0}, SeriesKind::points), x,
        y);
    const double limit = error_limit(weights);
    addLimit(chart, roundingName({weights}, limit), {ColorRef::Role::good, 0}, limit,
             std::max(1, calls.back().call));
    const auto wrong = std::find_if(calls.begin(), calls.end(), [&](const CallError& call) {
        return call.call == first.call && !(call.error <= limit);
    });
    if (wrong != calls.end())
        addPoint(chart, tr("first divergence: call %1").arg(wrong->call), wrong->call, wrong->error);
}

void showCallMargins(LineChart& chart, const std::vector<CallError>& calls) {
    chart.removeAllSeries();
    chart.setTitle(tr("Margin of the top token"));
    chart.setSubtitle(tr("truth: distance to the runner-up, in logits"));
    chart.setDefinition(definitionOf("top2_margin"));
    chart.setExportName(QStringLiteral("top2_margin"));
    ChartAxis margin;
    margin.name = tr("margin");
    chart.setXAxis(callAxis(calls));
    chart.setYAxis(margin);
    if (calls.empty()) return;
    std::vector<double> x, y, flippedX, flippedY;
    for (const CallError& call : calls) {
        x.push_back(call.call);
        y.push_back(call.top2_margin);
        if (call.same_argmax) continue;
        flippedX.push_back(call.call);
        flippedY.push_back(call.top2_margin);
    }
    chart.setData(chart.addSeries(tr("margin"), {ColorRef::Role::muted, 0}, SeriesKind::points), x, y);
    if (!flippedX.empty())
        chart.setData(
            chart.addSeries(tr("another token on top"), {ColorRef::Role::bad, 0}, SeriesKind::points),
            flippedX, flippedY);
}

}  // namespace decodescope
