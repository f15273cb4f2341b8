// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/core/as_index.h"

namespace decodescope {

namespace {

void find_first_wrong(const std::vector<LogitCell>& cells, Structure& s) {
    // The noise is that of the first call, unless that is wrong already.
    double first_call = 0;
    for (const LogitCell& cell : cells) {
        if (cell.call == cells.front().call && !cell.at_pad) first_call = std::max(first_call, cell.error());
    }
    s.floor = first_call <= most_precision ? first_call : 0;
    const double limit = std::max(s.limit, s.floor <= s.limit ? 0 : 4 * s.floor);
    const auto above = [&](double least) {
        const auto found = std::find_if(cells.begin(), cells.end(),
                                        [&](const LogitCell& cell) { return !(cell.error() <= least); });
        return found == cells.end() ? -1 : static_cast<int>(found - cells.begin());
    };
    s.first_wrong = above(limit);
    if (s.first_wrong < 0) s.first_wrong = above(s.limit);
    if (s.first_wrong < 0) return;
    s.first_place = cells[as_index(s.first_wrong)].place;
    s.floor = 0;
    for (int i = 0; i < s.first_wrong; ++i) s.floor = std::max(s.floor, cells[as_index(i)].error());
}

/// Worst error of every call from the first wrong one on, among the rows that are wrong there.
void judge_course(const std::vector<LogitCell>& cells, Structure& s) {
    std::map<int, double> by_call;
    for (std::size_t i = as_index(s.first_wrong); i < cells.size(); ++i) {
        double& worst = by_call[cells[i].call];
        worst = std::max(worst, cells[i].error());
    }
    double least = INFINITY;
    double most = 0;
    for (const auto& [call, error] : by_call) {
        least = std::min(least, error);
        most = std::max(most, error);
    }
    s.flat = by_call.size() >= 3 && most <= 8 * least;
    const double first = by_call.begin()->second;
    const double last = by_call.rbegin()->second;
    s.grows = by_call.size() >= 3 && last > 3 * first;
}

void judge_rows(const Trace& trace, const TraceReading& reading, const std::vector<LogitCell>& cells,
                Structure& s) {
    const double limit = std::max(s.limit, 4 * s.floor);
    bool padded_wrong = false;
    bool unpadded_wrong = false;
    bool unpadded_right = false;
    std::set<std::string> wrong;
    std::string first_request;
    for (const LogitCell& cell : cells) {
        const ReadRow& row = reading.row(cell.call, cell.row);
        if (first_request.empty()) first_request = row.request;
        const bool padded = row.n_pad + row.pads_before > 0;
        const bool is_wrong = cell.error() > limit;
        padded_wrong = padded_wrong || (padded && is_wrong);
        unpadded_wrong = unpadded_wrong || (!padded && is_wrong);
        unpadded_right = unpadded_right || (!padded && !is_wrong);
        if (is_wrong) wrong.insert(row.request);
    }
    (void)trace;
    s.only_padded_rows = padded_wrong && !unpadded_wrong && unpadded_right;
    s.only_later_requests = !first_request.empty() && !wrong.empty() && !wrong.contains(first_request);
}

void describe(const Trace& trace, const TraceReading& reading, const std::vector<LogitCell>& cells,
              Structure& s) {
    const auto say = [&](const char* claim, std::string text, bool held) {
        s.evidence.push_back({claim, std::move(text), held});
    };
    const LogitCell* worst = &cells.front();
    int n_flip = 0;
    int n_wrong = 0;
    for (const LogitCell& cell : cells) {
        if (cell.error() > worst->error()) worst = &cell;
        n_flip += !cell.comparison.same_argmax;
        n_wrong += cell.error() > s.limit;
    }
    if (n_wrong == 0) {
        const std::string what = s.rounds() ? fmt::format("within what rounding weights allows ({})", s.limit)
                                            : std::string("exact");
        say("logits",
            fmt::format("{} rows of logits are {}; the largest error is {:.1e} of their standard deviation.",
                        cells.size(), what, s.worst),
            true);
    } else {
        say("logits",
            fmt::format(
                "{} of {} rows of logits are off, the worst (call {}, row {}, column {}) by {:.2g} of "
                "their standard deviation, KL {:.2g}; {} top tokens differ.",
                n_wrong, cells.size(), worst->call, worst->row, worst->column, worst->error(),
                worst->comparison.kl_divergence, n_flip),
            false);
        const LogitCell& first = cells[as_index(s.first_wrong)];
        const ReadRow& row = reading.row(first.call, first.row);
        say("onset",
            fmt::format(
                "First off in call {}, row {}, column {} (token {} of its text) by {:.2g}, top-2 margin "
                "{:.2g}{}; {} before it.",
                first.call, first.row, first.column, first.place, first.error(), first.comparison.top2_margin,
                row.start == 0 ? "" : ", in a row that goes on from a cache",
                s.floor == 0 ? std::string("nothing") : fmt::format("at most {:.1e}", s.floor)),
            false);
        if (s.flat) say("course", "The errors are flat from there on.", true);
        if (s.grows) say("course", "The errors grow from there on.", false);
        if (s.only_padded_rows) say("rows", "Only rows with pads are off; the others are exact.", false);
        if (s.only_later_requests) say("requests", "The first request is exact; later ones are off.", false);
    }
    const auto depends = [&](const char* claim, const std::optional<double>& error, const char* what) {
        if (!error) return;
        const bool held = *error <= std::max(s.limit, s.floor);
        say(claim,
            held ? fmt::format("The same tokens give the same numbers with {}.", what)
                 : fmt::format("The same tokens give other numbers with {}, by up to {:.2g}.", what, *error),
            held);
    };
    depends("neighbours", s.other_neighbours, "other rows beside them");
    depends("capacity", s.other_capacity, "another capacity of the cache");
    if (s.repeats) {
        say("repeatability",
            s.unrepeatable <= s.limit
                ? fmt::format("Calls that are made twice give the same numbers (to {:.1e}).", s.unrepeatable)
                : fmt::format("The same tokens give other numbers the second time, by up to {:.2g}.",
                              s.unrepeatable),
            s.unrepeatable <= s.limit);
    }
    (void)trace;
}

}  // namespace

Structure structure_of(const Trace& trace, const TraceReading& reading, const ModelConfig& config,
                       const std::vector<LogitCell>& cells, const std::vector<Repetition>& repeated,
                       WeightType weights) {
    Structure s;
    s.limit = error_limit(weights);
    (void)config;
    if (cells.empty()) return s;
    std::map<int, double> appended;
    for (const LogitCell& cell : cells) {
        const ReadRow& row = reading.row(cell.call, cell.row);
        s.worst = std::max(s.worst, cell.error());
        s.not_finite = s.not_finite || !std::isfinite(cell.error());
        double& where = row.start == 0 ? s.first_tokens : s.appended;
        where = std::max(where, cell.error());
        if (row.start > 0) appended[cell.call] = std::max(appended[cell.call], cell.error());
        if (cell.place == 0) s.from_nothing = std::max(s.from_nothing, cell.error());
    }
    s.appended_least = appended.empty() ? 0 : INFINITY;
    for (const auto& [call, error] : appended) s.appended_least = std::min(s.appended_least, error);
    for (const Repetition& pair : repeated) {
        // Batch mates of the same call share what went wrong; only another call is a repetition.
        if (cells[as_index(pair.first)].call == cells[as_index(pair.second)].call) continue;
        const TraceCall& one = trace.calls[as_index(cells[as_index(pair.first)].call)];
        const TraceCall& other = trace.calls[as_index(cells[as_index(pair.second)].call)];
        if (one.batch != other.batch) {
            s.other_neighbours = std::max(s.other_neighbours.value_or(0), pair.error);
            continue;
        }
        if (one.cache_capacity && other.cache_capacity && *one.cache_capacity != *other.cache_capacity) {
            s.other_capacity = std::max(s.other_capacity.value_or(0), pair.error);
            continue;
        }
        s.repeats = true;
        s.unrepeatable = std::max(s.unrepeatable, pair.error);
        s.chance = s.chance || (pair.error > s.limit && cells[as_index(pair.first)].error() > s.limit &&
                                cells[as_index(pair.second)].error() > s.limit);
    }
    if (s.worst > s.limit) {
        find_first_wrong(cells, s);
        if (s.not_finite) {
            const auto bad = std::find_if(cells.begin(), cells.end(),
                                          [](const LogitCell& cell) { return !std::isfinite(cell.error()); });
            s.first_wrong = static_cast<int>(bad - cells.begin());
        }
        const LogitCell& first = cells[as_index(s.first_wrong)];
        s.guessed = reading.row(first.call, first.row).guessed;
        judge_course(cells, s);
        judge_rows(trace, reading, cells, s);
    }
    describe(trace, reading, cells, s);
    return s;
}

}  // namespace decodescope
