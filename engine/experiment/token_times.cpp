// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/token_times.h"

namespace decodescope {

namespace {

constexpr std::int64_t many_rows = 16;

/// What a request waits for one token of a step of which `ns` count; none where it chooses none by decoding.
std::optional<double> per_token(const StepEvent& step, std::int64_t ns) {
    if (step.phase == Phase::prefill || step.n_token == 0) return std::nullopt;
    return static_cast<double>(ns) * step.n_row / step.n_token;
}

/// `sample(step)` of every step for which there is one.
template <class Sample>
Summary over_steps(const LaneRecord& lane, Sample sample) {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : lane.repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (const std::optional<double> one = sample(step)) samples.push_back(*one);
        }
    }
    return summarize(samples);
}

}  // namespace

std::optional<double> token_ns(const StepEvent& step) {
    return per_token(step, step.end_ns - step.start_ns);
}

Summary token_ns(const LaneRecord& lane) {
    return over_steps(lane, [](const StepEvent& step) { return token_ns(step); });
}

Summary device_token_ns(const LaneRecord& lane) {
    return over_steps(lane, [](const StepEvent& step) {
        return step.device_ns < 0 ? std::nullopt : per_token(step, step.device_ns);
    });
}

bool compute_bound(const LaneRecord& lane) {
    return !lane.repetitions.empty() && !lane.repetitions.back().steps.empty() &&
           lane.repetitions.back().steps.back().positions_forwarded >= many_rows;
}

}  // namespace decodescope
