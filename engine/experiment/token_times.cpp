// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/token_times.h"

namespace decodescope {

namespace {

constexpr std::int64_t many_rows = 16;

}  // namespace

std::optional<double> token_ns(const StepEvent& step) {
    if (step.phase == Phase::prefill || step.n_token == 0) return std::nullopt;
    return static_cast<double>(step.end_ns - step.start_ns) * step.n_row / step.n_token;
}

Summary token_ns(const LaneRecord& lane) {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : lane.repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (const auto sample = token_ns(step)) samples.push_back(*sample);
        }
    }
    return summarize(samples);
}

bool compute_bound(const LaneRecord& lane) {
    return !lane.repetitions.empty() && !lane.repetitions.back().steps.empty() &&
           lane.repetitions.back().steps.back().positions_forwarded >= many_rows;
}

}  // namespace decodescope
