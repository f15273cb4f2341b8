// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/decode/lane.h"
#include "engine/plan/accounting.h"

namespace decodescope {

/// Requests of the same length for a lane: random prompts, and as many new tokens each.
struct MeasuredLoad {
    int batch = 1;
    int prompt = 1;
    int new_tokens = 1;
    std::uint64_t seed = 0;
};

/// Runs one lane in `context`, whose weights are not prepared yet, over `load` and counts what it really did:
/// steps, positions and cells as the lane reports them (the same numbers that records hold), products,
/// attention and bytes as the backend was asked for them. The lane is driven freely and greedily; no token
/// ends it. `at_end` sees the lane after its last step, before it frees anything. A lane that stops before
/// all tokens are made is an error with its reason.
Result<WorkCount> run_counted(const LaneSpec& spec, LaneContext context, const MeasuredLoad& load,
                              std::stop_token stop = {},
                              const std::function<Result<void>(const Lane&)>& at_end = {});

}  // namespace decodescope
