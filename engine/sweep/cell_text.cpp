// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/cell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/sweep/cell_json.h"
#include "engine/sweep/grid.h"

namespace decodescope {

namespace {

std::string rate_text(const Cell& cell) {
    const auto rates = cell.samples_ts();
    if (rates.empty()) return "not measured";
    const Interval interval = bootstrap_median(rates);
    const std::string median = short_number(median_of(rates));
    if (!interval.known) return median;
    return fmt::format("{} ({}..{})", median, short_number(interval.low), short_number(interval.high));
}

std::string share_text(double value, double share) {
    if (!(value > 0)) return "not measured";
    if (!(share > 0)) return short_number(value);
    return fmt::format("{} ({:.0f} %)", short_number(value), 100 * share);
}

std::string step_text(const Cell& cell) {
    const Summary steps = summarize(cell.all_steps_ns());
    if (steps.n == 0) return "-";
    return fmt::format("{} ({})", short_number(steps.median / 1e6), short_number(steps.p99 / 1e6));
}

std::string speed_up_text(const Cell& cell) {
    const SpeedUp& speed_up = cell.speed_up;
    if (cell.samples_ns.empty()) return "not measured";
    if (!speed_up.why_not.empty()) return speed_up.why_not;
    std::string text = short_number(speed_up.factor) + "x";
    if (speed_up.interval.known) {
        text += fmt::format(" ({}..{})", short_number(speed_up.interval.low),
                            short_number(speed_up.interval.high));
    }
    return speed_up.approximation.empty() ? text : fmt::format("{}, {}", text, speed_up.approximation);
}

std::string kv_text(const Cell& cell) {
    if (cell.lane.mode == LaneMode::naive) return "-";
    return cell.kv_bytes_live > 0 ? human_bytes(static_cast<double>(cell.kv_bytes_live)) : "not measured";
}

std::string number_or_empty(double value) {
    return value > 0 ? fmt::format("{}", value) : "";
}

/// Median, its interval, smallest, largest, quartiles and percentiles as seven fields.
void add_spread(std::vector<std::string>& row, const std::vector<double>& samples) {
    const Summary summary = summarize(samples);
    const Interval interval = bootstrap_median(samples);
    for (const double value : {summary.median, interval.low, interval.high, summary.min, summary.max,
                               summary.iqr(), summary.p90, summary.p99}) {
        row.push_back(summary.n == 0 ? "" : fmt::format("{}", value));
    }
    if (!interval.known) row[row.size() - 7] = row[row.size() - 6] = "";
}

}  // namespace

std::string short_number(double value) {
    const double size = std::abs(value);
    return fmt::format("{:.{}f}", value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

TextTable cell_table(const std::vector<Cell>& cells) {
    TextTable table;
    table.header = {"test",    "lane",     "tok/s (95 %)", "step ms (p99)", "read GB/s",
                    "GFLOP/s", "speed-up", "KV live",      "status"};
    table.right = {false, false, true, true, true, true, true, true, false};
    const bool several_threads = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
        return cell.shape.n_threads != cells.front().shape.n_threads;
    });
    for (const Cell& cell : cells) {
        std::string label = cell.shape.label();
        if (several_threads) label += fmt::format(" t{}", cell.shape.n_threads);
        if (cell.repeat) label += " (again)";
        std::string status = to_string(cell.status);
        if (!cell.reason.empty()) status += ": " + cell.reason;
        table.rows.push_back({label, cell.lane.name, rate_text(cell), step_text(cell),
                              share_text(cell.read_gb_s(), cell.read_share()),
                              share_text(cell.gflop_s(), cell.peak_share()), speed_up_text(cell),
                              kv_text(cell), status});
    }
    return table;
}

std::string cells_csv(const std::vector<Cell>& cells) {
    TextTable table;
    table.header = {"point",       "repeat",     "test",      "lane",       "mode",     "cache",
                    "status",      "reason",     "model",     "model_hash", "n_prompt", "n_gen",
                    "n_depth",     "n_parallel", "n_threads", "type_k",     "type_v",   "test_time",
                    "repetitions", "type_w",     "kernels",   "device"};
    for (const char* what : {"ns", "tokens_per_s", "ttft_ns", "step_ns"}) {
        for (const char* statistic : {"median", "ci95_low", "ci95_high", "min", "max", "iqr", "p90", "p99"})
            table.header.push_back(fmt::format("{}_{}", statistic, what));
    }
    for (const char* name : {"bytes_moved", "read_gb_per_s", "read_limit_gb_per_s", "flop", "gflop_per_s",
                             "peak_gflop_per_s", "kv_live_bytes", "kv_reserved_bytes", "kv_copied_bytes",
                             "rss_bytes", "speed_up", "speed_up_ci95_low", "speed_up_ci95_high",
                             "speed_up_why_not", "max_relative_error", "approximation"}) {
        table.header.emplace_back(name);
    }
    for (const Cell& cell : cells) {
        const TestShape& shape = cell.shape;
        const std::string type = entry_type(cell.lane);
        std::vector<std::string> row = {std::to_string(cell.point),
                                        cell.repeat ? "1" : "0",
                                        shape.label(),
                                        cell.lane.name,
                                        to_string(cell.lane.mode),
                                        to_string(cell.lane.cache.kind),
                                        to_string(cell.status),
                                        cell.reason,
                                        cell.model,
                                        cell.model_hash,
                                        std::to_string(shape.n_prompt),
                                        std::to_string(shape.n_gen),
                                        std::to_string(shape.n_depth),
                                        std::to_string(shape.n_parallel),
                                        std::to_string(shape.n_threads),
                                        type,
                                        type,
                                        cell.test_time,
                                        std::to_string(cell.samples_ns.size()),
                                        to_string(cell.lane.weights),
                                        to_string(cell.lane.kernels),
                                        cell.device().name()};
        add_spread(row, cell.samples_ns);
        add_spread(row, cell.samples_ts());
        add_spread(row, cell.ttft_ns);
        add_spread(row, cell.all_steps_ns());
        const SpeedUp& speed_up = cell.speed_up;
        for (const double value : {cell.bytes_moved, cell.read_gb_s(), cell.read_limit_gb_s(), cell.flop,
                                   cell.gflop_s(), cell.peak_gflop_s()}) {
            row.push_back(number_or_empty(value));
        }
        for (const std::int64_t bytes : {cell.kv_bytes_live, cell.kv_bytes_reserved, cell.kv_bytes_copied})
            row.push_back(std::to_string(bytes));
        row.push_back(cell.rss_bytes < 0 ? "" : std::to_string(cell.rss_bytes));
        row.push_back(number_or_empty(speed_up.factor));
        row.push_back(speed_up.interval.known ? fmt::format("{}", speed_up.interval.low) : "");
        row.push_back(speed_up.interval.known ? fmt::format("{}", speed_up.interval.high) : "");
        row.push_back(speed_up.why_not);
        row.push_back(cell.max_relative_error < 0 ? "" : fmt::format("{}", cell.max_relative_error));
        row.push_back(cell.approximation);
        table.rows.push_back(std::move(row));
    }
    return table.csv();
}

std::string cells_jsonl(const std::vector<Cell>& cells) {
    std::string out;
    for (const Cell& cell : cells) out += dump_json_line(cell_json(cell)) + '\n';
    return out;
}

std::vector<std::string> doubts_of(const std::vector<Cell>& cells) {
    std::vector<std::string> found;
    const auto add = [&](std::string sentence) {
        if (!sentence.empty() && std::find(found.begin(), found.end(), sentence) == found.end())
            found.push_back(std::move(sentence));
    };
    const auto share = [](double value, const char* who) {
        return fmt::format("{} up to {:.0f} % of the machine's processors during a test.", who, 100 * value);
    };
    double others = 0;
    double stolen = 0;
    std::int64_t reductions = 0;
    std::size_t n_outlier = 0;
    std::size_t n_sample = 0;
    for (const Cell& cell : cells) {
        others = std::max(others, cell.environment.use.others);
        stolen = std::max(stolen, cell.environment.use.stolen);
        reductions += std::max(std::int64_t{0}, cell.environment.thread_reductions);
        n_outlier += outliers(cell.samples_ns).size();
        n_sample += cell.samples_ns.size();
        if (!cell.precision_note.empty()) add(cell.shape.label() + ": " + cell.precision_note);
    }
    if (others > doubtful_others) add(share(others, "Other programs took"));
    if (stolen > doubtful_stolen) add(share(stolen, "The hypervisor took"));
    if (reductions > 0)
        add(fmt::format("Threads were left out {} times because their core was busy.", reductions));
    if (n_outlier > 0) {
        add(fmt::format("{} of {} samples are outliers (beyond 1.5 IQR); they are kept.", n_outlier,
                        n_sample));
    }
    add(drift_of(cells).sentence);
    return found;
}

}  // namespace decodescope
