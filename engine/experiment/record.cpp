// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/record.h"

#include <algorithm>
#include <cmath>

namespace decodescope {

namespace {

bool is_decode(const StepEvent& step) {
    return step.phase == Phase::decode;
}

std::int64_t duration_of(const StepEvent& step) {
    return step.end_ns - step.start_ns;
}

/// `value(repetition)` of every repetition for which it is positive.
template <class Value>
Summary over_repetitions(const std::vector<RepetitionRecord>& repetitions, Value value) {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        if (const double sample = value(repetition); sample > 0) samples.push_back(sample);
    }
    return summarize(samples);
}

}  // namespace

std::int64_t RepetitionRecord::ttft_ns() const {
    const auto last = std::find_if(steps.begin(), steps.end(), is_decode);
    return last == steps.begin() ? 0 : std::prev(last)->end_ns - steps.front().start_ns;
}

std::int64_t RepetitionRecord::decode_ns() const {
    std::int64_t sum = 0;
    for (const StepEvent& step : steps) {
        if (is_decode(step)) sum += duration_of(step);
    }
    return sum;
}

std::int64_t RepetitionRecord::n_decode() const {
    return std::count_if(steps.begin(), steps.end(), is_decode);
}

std::vector<std::int32_t> RepetitionRecord::tokens() const {
    std::vector<std::int32_t> tokens;
    for (const StepEvent& step : steps) {
        if (step.token >= 0) tokens.push_back(step.token);
    }
    return tokens;
}

Summary LaneRecord::ttft_ns() const {
    return over_repetitions(repetitions, [](const auto& r) { return static_cast<double>(r.ttft_ns()); });
}

Summary LaneRecord::step_ns() const {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (is_decode(step)) samples.push_back(static_cast<double>(duration_of(step)));
        }
    }
    return summarize(samples);
}

Summary LaneRecord::tpot_ns() const {
    return over_repetitions(repetitions, [](const auto& r) {
        return r.n_decode() == 0 ? 0 : static_cast<double>(r.decode_ns()) / static_cast<double>(r.n_decode());
    });
}

double LaneRecord::decode_tok_s() const {
    std::int64_t steps = 0;
    std::int64_t time = 0;
    for (const RepetitionRecord& repetition : repetitions) {
        steps += repetition.n_decode();
        time += repetition.decode_ns();
    }
    return time <= 0 ? 0 : static_cast<double>(steps) * 1e9 / static_cast<double>(time);
}

double LaneRecord::max_relative_error() const {
    double largest = -1;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (!step.comparison.compared) continue;
            // Not a number must win: std::max would drop it.
            if (std::isnan(step.comparison.relative_error)) return step.comparison.relative_error;
            largest = std::max(largest, step.comparison.relative_error);
        }
    }
    return largest;
}

int LaneRecord::first_different_token(const LaneRecord& reference) const {
    int first = -1;
    const std::size_t n = std::min(repetitions.size(), reference.repetitions.size());
    for (std::size_t i = 0; i < n; ++i) {
        const auto mine = repetitions[i].tokens();
        const auto theirs = reference.repetitions[i].tokens();
        const std::size_t n_token = std::min(mine.size(), theirs.size());
        const auto pair =
            std::mismatch(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(n_token), theirs.begin());
        const auto at = static_cast<std::size_t>(pair.first - mine.begin());
        if (at < n_token && (first < 0 || static_cast<int>(at) < first)) first = static_cast<int>(at);
    }
    return first;
}

bool LaneRecord::agrees_with(const LaneRecord& reference) const {
    const bool something = !repetitions.empty() && !reference.repetitions.empty() &&
                           !repetitions.front().steps.empty() && !reference.repetitions.front().steps.empty();
    // Negative: nothing was compared, the tokens alone decide. Written so that NaN does not agree.
    return something && first_different_token(reference) < 0 && max_relative_error() <= f32_error_limit;
}

FinishReason LaneRecord::finish() const {
    return repetitions.empty() ? FinishReason::failed : repetitions.back().finish;
}

double LaneRecord::read_gb_s() const {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (!is_decode(step) || step.bytes_moved <= 0 || duration_of(step) <= 0) continue;
            samples.push_back(static_cast<double>(step.bytes_moved) / static_cast<double>(duration_of(step)));
        }
    }
    return summarize(samples).median;
}

SpeedUp speed_up(const Record& record, std::size_t lane) {
    const LaneRecord& mine = record.lanes.at(lane);
    const LaneRecord& reference = record.reference();
    if (&mine == &reference) return {0, "the reference"};
    const auto n_decode = [](const LaneRecord& r) {
        std::int64_t n = 0;
        for (const RepetitionRecord& repetition : r.repetitions) n += repetition.n_decode();
        return n;
    };
    if (n_decode(mine) == 0 || n_decode(reference) == 0) return {0, "not shown: no decode steps"};
    if (!mine.agrees_with(reference)) return {0, "not shown: output differs"};
    const double own = mine.tpot_ns().median;
    if (n_decode(mine) != n_decode(reference)) return {0, "not shown: not the same steps"};
    if (!(own > 0)) return {0, "not measured"};
    return {reference.tpot_ns().median / own, ""};
}

}  // namespace decodescope
