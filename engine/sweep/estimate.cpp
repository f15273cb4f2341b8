// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "engine/experiment/experiment.h"
#include "engine/plan/accounting.h"

namespace decodescope {

namespace {

constexpr int probe_prompt = 64;
constexpr int probe_steps = 8;

double sum_of(const std::vector<SweepEstimate::Point>& points, double SweepEstimate::Point::*member) {
    double sum = 0;
    for (const auto& point : points) sum += point.*member;
    return sum;
}

double flop_of(const WorkCount& work) {
    return static_cast<double>(work.product_flops + work.attention_flops);
}

double over(double amount, double speed) {
    return speed > 0 ? amount / speed : 0;
}

}  // namespace

SpeedProbe probe_speed(const CellSettings& settings, const LoadedModel& model,
                       const std::shared_ptr<MemoryLedger>& ledger, int threads, const Device& device,
                       std::stop_token stop) {
    CellSettings quick = settings;
    auto lane = lane_from_name("static");
    if (!lane) return {};
    lane->device = device;
    quick.lanes = {*lane};
    quick.reference.clear();
    quick.repetitions = 2;
    quick.precision = {};
    EventSink nobody;
    const int most = std::max(1, model.weights->config.n_positions - probe_steps - 1);
    const auto median = [&](const TestShape& shape, double Cell::*amount) {
        const auto cells = measure_cells(shape, quick, model, ledger, nobody, stop);
        if (cells.empty() || cells.front().samples_ns.empty()) return 0.0;
        return cells.front().*amount / summarize(cells.front().samples_ns).median;
    };
    return {median({std::min(probe_prompt, most), 0, 0, 1, threads}, &Cell::flop),
            median({0, probe_steps, 0, 1, threads}, &Cell::bytes_moved)};
}

double estimate_ns(const TestShape& shape, const LaneSpec& lane, const ModelConfig& model,
                   const SpeedProbe& probe) {
    const bool gpu = lane.device && lane.device->is_gpu();
    const WorkRequest whole{shape.prompt_length(), shape.new_tokens(), 0, prepared_type(lane), gpu};
    const auto requests = static_cast<double>(shape.n_parallel);
    if (lane.mode == LaneMode::naive)
        return requests * over(flop_of(naive_work(model, whole)), probe.flop_per_ns);
    const WorkCount prompt = cached_work(model, {whole.prompt, 1, 0, whole.prepared, gpu}, lane.cache);
    const WorkCount all = cached_work(model, whole, lane.cache);
    const auto weights = static_cast<double>(all.weight_bytes - prompt.weight_bytes);
    const auto entries = static_cast<double>(all.kv_bytes - prompt.kv_bytes);
    const double weight_passes = lane.batching == Batching::single ? requests : 1.0;
    return requests * over(flop_of(prompt), probe.flop_per_ns) +
           over(weights * weight_passes + entries * requests, probe.byte_per_ns);
}

double SweepEstimate::least_s() const {
    return sum_of(points, &Point::least_s);
}

double SweepEstimate::most_s() const {
    return sum_of(points, &Point::most_s);
}

SweepEstimate estimate_sweep(const Sweep& sweep, const LoadedModel& model,
                             const std::shared_ptr<MemoryLedger>& ledger, std::stop_token stop) {
    SweepEstimate estimate;
    const CellSettings& settings = sweep.settings;
    std::map<std::pair<int, std::string>, SpeedProbe> probes;
    const auto probe_of = [&](const LaneSpec& lane, int threads) -> const SpeedProbe& {
        const Device device = lane.device.value_or(Device{});
        const auto [found, added] = probes.try_emplace({threads, device.name()});
        if (added) found->second = probe_speed(settings, model, ledger, threads, device, stop);
        return found->second;
    };
    auto numbers = sweep.own_points();
    if (sweep.repeat_first && numbers.size() > 1) numbers.push_back(numbers.front());
    for (const std::size_t number : numbers) {
        SweepEstimate::Point point;
        point.number = number;
        point.shape = sweep.points[number];
        const ModelConfig& config = model.weights->config;
        const Experiment experiment = experiment_of(point.shape, settings, config, &point.refused);
        point.n_lane = experiment.lanes.size();
        TestShape warm = point.shape;
        warm.n_gen = std::min(warm.n_gen, warmup_steps);
        for (const LaneSpec& lane : experiment.lanes) {
            const SpeedProbe& probe = probe_of(lane, point.shape.n_threads);
            const double once = estimate_ns(point.shape, lane, config, probe) / 1e9;
            const double warmup = settings.warmup * estimate_ns(warm, lane, config, probe) / 1e9;
            point.least_s += warmup + settings.repetitions * once;
        }
        point.most_s =
            std::max(point.least_s, settings.precision.seconds + point.least_s / settings.repetitions);
        if (settings.precision.seconds <= 0 || point.n_lane == 0) point.most_s = point.least_s;
        estimate.points.push_back(std::move(point));
    }
    return estimate;
}

double time_left_s(std::int64_t elapsed_ns, std::size_t done, std::size_t all) {
    if (done == 0) return -1;
    return static_cast<double>(elapsed_ns) / static_cast<double>(done) * static_cast<double>(all - done) /
           1e9;
}

std::string duration_text(double seconds) {
    constexpr double minute = 60;
    constexpr double hour = 3600;
    if (seconds < 1) return "less than 1 s";
    if (seconds < 2 * minute) return fmt::format("{:.0f} s", seconds);
    if (seconds < 2 * hour) return fmt::format("{:.0f} min", seconds / minute);
    return fmt::format("{:.1f} h", seconds / hour);
}

}  // namespace decodescope
