// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/memory_charts.h"

#include <QtNumeric>

#include <algorithm>

#include "ui/report/definitions.h"
#include "ui/text.h"

namespace decodescope {

namespace {

constexpr int keptSeries = static_cast<int>(n_owner);
constexpr int unaccountedSeries = keptSeries + 1;
constexpr int rssSeries = keptSeries + 2;

double seconds(const MemorySample& sample) {
    return static_cast<double>(sample.at_ns) * 1e-9;
}

double measured(std::int64_t bytes) {
    return bytes < 0 ? qQNaN() : static_cast<double>(bytes);
}

void setUpAxes(LineChart& chart, const QString& name, Unit unit) {
    ChartAxis time;
    time.name = tr("time");
    time.unit = Unit::seconds;
    chart.setXAxis(time);
    ChartAxis value;
    value.name = name;
    value.unit = unit;
    chart.setYAxis(value);
}

/// What a byte is drawn as: itself, or its share of the resident memory in per cent.
double scaleOf(const MemorySample& sample, MemoryScale scale) {
    if (scale == MemoryScale::bytes) return 1;
    return sample.memory.rss > 0 ? 100 / static_cast<double>(sample.memory.rss) : qQNaN();
}

bool hasCache(const LaneRecord& lane) {
    return lane.spec.cache.kind != CacheKind::none;
}

/// Lanes without a cache have no series.
int copiedSeries(const Record& record, std::int32_t lane) {
    if (lane < 0 || static_cast<std::size_t>(lane) >= record.lanes.size()) return -1;
    const auto at = record.lanes.begin() + lane;
    return hasCache(*at) ? static_cast<int>(std::count_if(record.lanes.begin(), at, hasCache)) : -1;
}

}  // namespace

void setUpMemoryChart(LineChart& chart, MemoryScale scale) {
    chart.removeAllSeries();
    const bool share = scale == MemoryScale::share;
    chart.setTitle(tr("Memory"));
    chart.setSubtitle(share
                          ? tr("share of the resident memory at that moment · over seconds")
                          : tr("tensors by owner, what the allocator keeps, and the rest up to the resident "
                               "memory · over seconds"));
    chart.setDefinition(definitionOf("tensor_bytes") + QLatin1Char('\n') + definitionOf("rss") +
                        QLatin1Char('\n') + definitionOf("unaccounted") + QLatin1Char('\n') +
                        definitionOf("memory_peak") +
                        (share ? QLatin1Char('\n') + definitionOf("memory_share") : QString()));
    chart.setExportName(QStringLiteral("memory"));
    setUpAxes(chart, share ? tr("share of RSS") : tr("memory"), share ? Unit::percent : Unit::bytes);
    for (std::size_t owner = 0; owner < n_owner; ++owner) {
        chart.addSeries(engineWord(to_string(static_cast<Owner>(owner))), ColorRef::owner(owner),
                        SeriesKind::area);
    }
    chart.addSeries(tr("allocator keeps"), {ColorRef::Role::warn_soft, 0}, SeriesKind::area);
    chart.addSeries(tr("unaccounted"), {ColorRef::Role::accent_soft, 0}, SeriesKind::area);
    if (!share) chart.addSeries(tr("resident (RSS)"), ColorRef{});
}

void appendMemory(LineChart& chart, const MemorySample& sample, MemoryScale scale) {
    const double x = seconds(sample);
    const double factor = scaleOf(sample, scale);
    for (std::size_t owner = 0; owner < n_owner; ++owner)
        chart.append(static_cast<int>(owner), x, factor * static_cast<double>(sample.tensors[owner]));
    const auto unaccounted = sample.unaccounted();
    chart.append(keptSeries, x, factor * measured(sample.memory.heap_free));
    chart.append(unaccountedSeries, x, unaccounted ? factor * static_cast<double>(*unaccounted) : qQNaN());
    if (scale == MemoryScale::bytes) chart.append(rssSeries, x, measured(sample.memory.rss));
}

void markPeaks(LineChart& chart, const MemoryPeaks& peaks, MemoryScale scale) {
    std::vector<ChartMark> marks;
    const auto add = [&](const MemorySample& sample, double bytes, const QString& text, ColorRef color) {
        const double y = scaleOf(sample, scale) * bytes;
        const QString amount = formatBytes(bytes);
        if (y == y) marks.push_back({seconds(sample), y, text.arg(amount), color});
    };
    if (peaks.rss) add(*peaks.rss, static_cast<double>(peaks.rss->memory.rss), tr("RSS peak %1"), ColorRef{});
    if (peaks.tensors)
        add(*peaks.tensors, static_cast<double>(peaks.tensors->tensor_total()), tr("tensor peak %1"),
            ColorRef{});
    chart.setMarks(std::move(marks));
}

QString peaksInWords(const MemoryPeaks& peaks, const Record& record) {
    const auto place = [&](const MemorySample& sample) {
        const auto lane = static_cast<std::size_t>(sample.lane);
        const QString name =
            lane < record.lanes.size() ? QString::fromStdString(record.lanes[lane].spec.name) : QString();
        const QString step = sample.step == 0 ? tr("first step") : tr("step %1").arg(sample.step);
        return tr("after %1 in %2, repetition %3, %4")
            .arg(formatDuration(static_cast<double>(sample.at_ns)), name,
                 QString::number(sample.repetition + 1), step);
    };
    QStringList parts;
    if (peaks.rss)
        parts << tr("RSS peak %1 %2")
                     .arg(formatBytes(static_cast<double>(peaks.rss->memory.rss)), place(*peaks.rss));
    if (peaks.tensors)
        parts << tr("tensor peak %1 %2")
                     .arg(formatBytes(static_cast<double>(peaks.tensors->tensor_total())),
                          place(*peaks.tensors));
    return parts.join(QStringLiteral(" · "));
}

void setUpAllocatorChart(LineChart& chart) {
    chart.removeAllSeries();
    chart.setTitle(tr("Allocator"));
    chart.setSubtitle(tr("C library"));
    chart.setDefinition(definitionOf("heap"));
    chart.setExportName(QStringLiteral("allocator"));
    setUpAxes(chart, tr("allocator"), Unit::bytes);
    chart.addSeries(tr("in use"), {ColorRef::Role::accent, 0});
    chart.addSeries(tr("keeps"), {ColorRef::Role::warn, 0});
    chart.addSeries(tr("mapped"), {ColorRef::Role::muted, 0}, SeriesKind::dashed_line);
}

void appendAllocator(LineChart& chart, const MemorySample& sample) {
    const ProcessMemory& memory = sample.memory;
    const std::int64_t values[] = {memory.heap_in_use, memory.heap_free, memory.heap_mapped};
    for (int i = 0; i < 3; ++i)
        if (values[i] >= 0) chart.append(i, seconds(sample), static_cast<double>(values[i]));
}

void setUpPageFaultsChart(LineChart& chart) {
    chart.removeAllSeries();
    chart.setTitle(tr("Page faults"));
    chart.setSubtitle(tr("since the first step"));
    chart.setDefinition(definitionOf("minor_faults_run"));
    chart.setExportName(QStringLiteral("page_faults"));
    setUpAxes(chart, tr("page faults"), Unit::count);
    chart.addSeries(tr("process"), {ColorRef::Role::accent, 0});
}

void appendPageFaults(LineChart& chart, const MemorySample& sample, std::int64_t before) {
    const std::int64_t now = sample.memory.minor_faults;
    if (before >= 0 && now >= 0) chart.append(0, seconds(sample), static_cast<double>(now - before));
}

void setUpCopiedChart(LineChart& chart, const Record& record) {
    chart.removeAllSeries();
    chart.setTitle(tr("Copied by caches"));
    chart.setSubtitle(tr("per repetition"));
    chart.setDefinition(definitionOf("kv_bytes_copied"));
    chart.setExportName(QStringLiteral("kv_copied"));
    setUpAxes(chart, tr("copied"), Unit::bytes);
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        if (hasCache(record.lanes[i]))
            chart.addSeries(QString::fromStdString(record.lanes[i].spec.name),
                            ColorRef::lane(static_cast<int>(i)));
    }
}

void appendCopied(LineChart& chart, const MemorySample& sample, const Record& record) {
    if (const int series = copiedSeries(record, sample.lane); series >= 0)
        chart.append(series, seconds(sample), static_cast<double>(sample.kv_copied));
}

void showMemory(LineChart& chart, const Record& record) {
    setUpMemoryChart(chart);
    MemoryPeaks peaks;
    for (const MemorySample& sample : memory_samples(record)) {
        appendMemory(chart, sample);
        peaks.add(sample);
    }
    markPeaks(chart, peaks);
}

void showAllocator(LineChart& chart, const Record& record) {
    setUpAllocatorChart(chart);
    for (const MemorySample& sample : memory_samples(record)) appendAllocator(chart, sample);
}

void showPageFaults(LineChart& chart, const Record& record) {
    setUpPageFaultsChart(chart);
    const std::vector<MemorySample> samples = memory_samples(record);
    for (const MemorySample& sample : samples)
        appendPageFaults(chart, sample, samples.front().memory.minor_faults);
}

void showCopiedBytes(LineChart& chart, const Record& record) {
    setUpCopiedChart(chart, record);
    const std::vector<MemorySample> samples = memory_samples(record);
    if (std::none_of(samples.begin(), samples.end(),
                     [](const MemorySample& sample) { return sample.kv_copied > 0; }))
        return;
    for (const MemorySample& sample : samples) appendCopied(chart, sample, record);
}

}  // namespace decodescope
