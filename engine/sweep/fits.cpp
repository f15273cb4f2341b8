// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/experiment/record_json.h"
#include "engine/sweep/cell_text.h"

namespace decodescope {

namespace {

bool usable(const Cell& cell) {
    return !cell.repeat && cell.status == CellStatus::ok && !cell.samples_ns.empty();
}

/// Median over repetitions of each decode step of a cell; as long as the shortest repetition.
std::vector<double> step_medians(const Cell& cell) {
    std::size_t n = cell.step_ns.empty() ? 0 : cell.step_ns.front().size();
    for (const auto& steps : cell.step_ns) n = std::min(n, steps.size());
    std::vector<double> medians;
    std::vector<double> column;
    for (std::size_t i = 0; i < n; ++i) {
        column.clear();
        for (const auto& steps : cell.step_ns) column.push_back(steps[i]);
        medians.push_back(median_of(column));
    }
    return medians;
}

auto order_of(const TestShape& shape) {
    return std::tuple(shape.n_prompt, shape.n_gen, shape.n_depth, shape.n_parallel, shape.n_threads);
}

/// Whether each decode step made one token of each request, so that steps can be counted as tokens.
bool steps_are_tokens(const Cell& cell) {
    return std::all_of(cell.step_ns.begin(), cell.step_ns.end(), [&](const auto& steps) {
        return steps.size() == static_cast<std::size_t>(cell.shape.n_gen);
    });
}

bool is_comparable(const Cell& cell) {
    return cell.speed_up.why_not != output_differs && cell.speed_up.why_not != other_tokens;
}

OrderedJson fit_json(const LineFit& fit) {
    return {{"points", fit.n},
            {"slope", fit.slope},
            {"slope_error", fit.slope_error},
            {"intercept", fit.intercept},
            {"r_squared", fit.r_squared}};
}

OrderedJson shape_json(const TestShape& shape) {
    return {{"n_prompt", shape.n_prompt},
            {"n_gen", shape.n_gen},
            {"n_depth", shape.n_depth},
            {"n_parallel", shape.n_parallel},
            {"n_threads", shape.n_threads}};
}

}  // namespace

std::vector<Growth> fit_growth(const std::vector<Cell>& cells, std::size_t least) {
    using Key = std::tuple<std::string, int, int, int, int>;
    std::map<Key, std::map<int, double>> times;  // by n_gen
    for (const Cell& cell : cells) {
        if (!usable(cell) || cell.shape.n_gen == 0 || !is_comparable(cell)) continue;
        const TestShape& s = cell.shape;
        const double prompt = s.n_prompt > 0 ? median_of(cell.ttft_ns) : 0;
        times[{cell.lane.name, s.n_threads, s.n_parallel, s.n_depth, s.n_prompt}][s.n_gen] =
            median_of(cell.samples_ns) - prompt;
    }
    std::vector<Growth> found;
    for (const auto& [key, by_gen] : times) {
        if (by_gen.size() < least) continue;
        std::vector<double> n;
        std::vector<double> ns;
        for (const auto& [gen, time] : by_gen) {
            n.push_back(gen);
            ns.push_back(time);
        }
        const auto& [lane, threads, parallel, depth, prompt] = key;
        found.push_back(
            {lane, {prompt, by_gen.rbegin()->first, depth, parallel, threads}, fit_power(n, ns), n, ns});
    }
    return found;
}

std::vector<DepthCost> fit_depth(const std::vector<Cell>& cells) {
    struct Points {
        std::vector<double> context;
        std::vector<double> ns;
        std::vector<double> read_gb_s;
        double kv_per_token = 0;
    };
    std::map<std::tuple<std::string, int, int>, Points> groups;
    for (const Cell& cell : cells) {
        if (!usable(cell) || !steps_are_tokens(cell) || !is_comparable(cell)) continue;
        const auto medians = step_medians(cell);
        if (medians.empty()) continue;
        Points& points = groups[{cell.lane.name, cell.shape.n_parallel, cell.shape.n_threads}];
        for (std::size_t i = 0; i < medians.size(); ++i) {
            points.context.push_back(static_cast<double>(cell.shape.prompt_length()) +
                                     static_cast<double>(i));
            points.ns.push_back(medians[i]);
        }
        if (cell.read_limit_gb_s() > 0) points.read_gb_s.push_back(cell.read_limit_gb_s());
        points.kv_per_token = static_cast<double>(cell.kv_bytes_per_token) * cell.shape.n_parallel;
    }
    constexpr double least_span = 16;
    std::vector<DepthCost> found;
    for (const auto& [key, points] : groups) {
        const auto [low, high] = std::minmax_element(points.context.begin(), points.context.end());
        if (*high - *low < least_span) continue;
        const auto& [lane, parallel, threads] = key;
        DepthCost cost{lane, parallel, threads, fit_line(points.context, points.ns), 0, 0, {}, {}};
        const double read = median_of(points.read_gb_s);
        if (points.kv_per_token > 0 && read > 0) {
            cost.passes = cost.fit.slope * read / points.kv_per_token;
            cost.passes_error = cost.fit.slope_error * read / points.kv_per_token;
        }
        std::vector<std::pair<double, double>> sorted;
        for (std::size_t i = 0; i < points.ns.size(); ++i)
            sorted.emplace_back(points.context[i], points.ns[i]);
        std::sort(sorted.begin(), sorted.end());
        for (const auto& [tokens, ns] : sorted) {
            cost.context.push_back(tokens);
            cost.ns.push_back(ns);
        }
        found.push_back(std::move(cost));
    }
    return found;
}

std::vector<BreakEven> find_break_even(const std::vector<Cell>& cells) {
    std::vector<BreakEven> found;
    for (const Cell& naive : cells) {
        if (naive.lane.mode != LaneMode::naive || !usable(naive) || !steps_are_tokens(naive)) continue;
        const auto slow = step_medians(naive);
        if (slow.empty()) continue;
        for (const Cell& cell : cells) {
            const bool beside = cell.point == naive.point && order_of(cell.shape) == order_of(naive.shape);
            if (!beside || cell.lane.mode == LaneMode::naive || !usable(cell) || !steps_are_tokens(cell))
                continue;
            if (!is_comparable(cell)) continue;
            const auto fast = step_medians(cell);
            double naive_sum = median_of(naive.ttft_ns);
            double sum = median_of(cell.ttft_ns);
            // The first token comes with the prefill, which is the same work for both; then one with every
            // step.
            int pays_from = 0;
            for (std::size_t i = 0; i < std::min(slow.size(), fast.size()); ++i) {
                naive_sum += slow[i];
                sum += fast[i];
                if (sum > naive_sum) {
                    pays_from = 0;
                } else if (pays_from == 0) {
                    pays_from = static_cast<int>(i) + 2;
                }
            }
            found.push_back({cell.lane.name, naive.lane.name, cell.shape, pays_from});
        }
    }
    return found;
}

TextTable growth_table(const std::vector<Growth>& growth) {
    TextTable table;
    table.header = {"lane",        "prompt",        "depth",  "requests", "threads",
                    "steps up to", "time ~ n^k: k", "points", "r2"};
    table.right = {false, true, true, true, true, true, true, true, true};
    for (const Growth& g : growth) {
        const std::string error = g.fit.slope_error > 0 ? fmt::format(" +- {:.2f}", g.fit.slope_error) : "";
        table.rows.push_back({g.lane, std::to_string(g.shape.n_prompt), std::to_string(g.shape.n_depth),
                              std::to_string(g.shape.n_parallel), std::to_string(g.shape.n_threads),
                              std::to_string(g.shape.n_gen), fmt::format("{:.2f}{}", g.fit.slope, error),
                              std::to_string(g.fit.n), fmt::format("{:.3f}", g.fit.r_squared)});
    }
    return table;
}

TextTable depth_table(const std::vector<DepthCost>& depth) {
    TextTable table;
    table.header = {"lane",
                    "requests",
                    "threads",
                    "ns per token of context",
                    "step at depth 0 [ms]",
                    "passes over the cache",
                    "points"};
    table.right = {false, true, true, true, true, true, true};
    for (const DepthCost& d : depth) {
        table.rows.push_back(
            {d.lane, std::to_string(d.n_parallel), std::to_string(d.n_threads),
             fmt::format("{} +- {}", short_number(d.fit.slope), short_number(d.fit.slope_error)),
             short_number(d.fit.intercept / 1e6),
             d.passes == 0 ? "-" : fmt::format("{:.2f} +- {:.2f}", d.passes, d.passes_error),
             std::to_string(d.fit.n)});
    }
    return table;
}

TextTable break_even_table(const std::vector<BreakEven>& found) {
    TextTable table;
    table.header = {"test", "lane", "against", "pays from new token"};
    table.right = {false, false, false, true};
    for (const BreakEven& b : found) {
        table.rows.push_back({b.shape.label(), b.lane, b.naive,
                              b.new_tokens > 0 ? std::to_string(b.new_tokens)
                                               : fmt::format("not within {}", b.shape.new_tokens())});
    }
    return table;
}

OrderedJson fits_json(const std::vector<Cell>& cells) {
    OrderedJson json = {{"growth", OrderedJson::array()},
                        {"depth", OrderedJson::array()},
                        {"break_even", OrderedJson::array()}};
    for (const Growth& g : fit_growth(cells))
        json["growth"].push_back(
            {{"lane", g.lane}, {"shape", shape_json(g.shape)}, {"fit", fit_json(g.fit)}});
    for (const DepthCost& d : fit_depth(cells)) {
        json["depth"].push_back({{"lane", d.lane},
                                 {"n_parallel", d.n_parallel},
                                 {"n_threads", d.n_threads},
                                 {"fit", fit_json(d.fit)},
                                 {"passes", number_or_null(d.passes, 0.0)},
                                 {"passes_error", number_or_null(d.passes_error, 0.0)}});
    }
    for (const BreakEven& b : find_break_even(cells)) {
        json["break_even"].push_back({{"lane", b.lane},
                                      {"naive", b.naive},
                                      {"shape", shape_json(b.shape)},
                                      {"new_tokens", number_or_null(b.new_tokens, 0)}});
    }
    return json;
}

}  // namespace decodescope
