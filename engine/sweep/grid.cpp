// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/experiment/field_check.h"

namespace decodescope {

namespace {

constexpr std::size_t max_points = 100'000;

Result<void> check_values(const char* name, const std::vector<int>& values, int lowest, int highest) {
    for (const int value : values) DS_TRY(check_range(name, value, lowest, highest));
    return {};
}

}  // namespace

std::vector<TestShape> Grid::product() const {
    std::vector<TestShape> points;
    for (const int threads : n_threads) {
        for (const int parallel : n_parallel) {
            for (const int depth : n_depth) {
                for (const int gen : n_gen) {
                    for (const int prompt : n_prompt) {
                        if (prompt == 0 && gen == 0) continue;
                        points.push_back({prompt, gen, depth, parallel, threads});
                    }
                }
            }
        }
    }
    return points;
}

std::vector<TestShape> Grid::separate() const {
    Grid prompts = *this;
    prompts.n_gen = {0};
    Grid generations = *this;
    generations.n_prompt = {0};
    std::vector<TestShape> points = prompts.product();
    for (TestShape& point : generations.product()) points.push_back(point);
    return points;
}

Result<void> Grid::validate() const {
    constexpr int max_parallel = 256;
    constexpr int max_threads = 1024;
    DS_TRY(check_values("n_prompt", n_prompt, 0, max_tokens));
    DS_TRY(check_values("n_gen", n_gen, 0, max_tokens));
    DS_TRY(check_values("n_depth", n_depth, 0, max_tokens));
    DS_TRY(check_values("n_parallel", n_parallel, 1, max_parallel));
    DS_TRY(check_values("n_threads", n_threads, 1, max_threads));
    double n = 1;
    for (const auto* values : {&n_prompt, &n_gen, &n_depth, &n_parallel, &n_threads})
        n *= static_cast<double>(std::max<std::size_t>(1, values->size()));
    if (n > static_cast<double>(max_points)) {
        return field_error("The grid", fmt::format("has {:.0f} points, expected at most {}", n, max_points));
    }
    return {};
}

Drift drift_of(const std::vector<Cell>& cells) {
    Drift drift;
    for (const Cell& last : cells) {
        if (!last.repeat || last.samples_ns.empty()) continue;
        const auto first = std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) {
            return !cell.repeat && cell.point == last.point && cell.lane.name == last.lane.name &&
                   !cell.samples_ns.empty();
        });
        if (first == cells.end()) continue;
        const double ratio = median_of(last.samples_ns) / median_of(first->samples_ns);
        if (drift.ratio > 0 && std::abs(std::log(ratio)) <= std::abs(std::log(drift.ratio))) continue;
        drift.ratio = ratio;
        drift.interval = bootstrap_ratio(last.samples_ns, first->samples_ns);
        drift.sentence.clear();
        constexpr double noticeable = 0.02;
        if (drift.interval.known && !drift.interval.contains(1) && std::abs(ratio - 1) > noticeable) {
            drift.sentence = fmt::format(
                "The machine has drifted: the first test ({}, lane {}) took {:.2f} times as long at the end "
                "as at "
                "the beginning (95 %: {:.2f} to {:.2f}).",
                last.shape.label(), last.lane.name, ratio, drift.interval.low, drift.interval.high);
        }
    }
    return drift;
}

std::vector<Cell> run_points(const std::vector<TestShape>& points, const CellSettings& settings,
                             const LoadedModel& model, const std::shared_ptr<MemoryLedger>& ledger,
                             GridSink& sink, std::stop_token stop, bool repeat_first) {
    std::vector<Cell> all;
    const std::size_t n = points.size();
    const std::size_t n_test = n + (repeat_first && n > 1 ? 1 : 0);
    for (std::size_t test = 0; test < n_test && !stop.stop_requested(); ++test) {
        const TestShape& shape = points[test % n];
        sink.test_started(test, n, shape);
        auto cells = measure_cells(shape, settings, model, ledger, sink, stop);
        for (Cell& cell : cells) {
            cell.point = test % n;
            cell.repeat = test >= n;
        }
        const bool go_on = sink.test_done(cells);
        std::move(cells.begin(), cells.end(), std::back_inserter(all));
        if (!go_on) break;
    }
    return all;
}

}  // namespace decodescope
