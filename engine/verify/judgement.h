// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cache/cache_spec.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/model/weights.h"
#include "engine/verify/trace.h"
#include "engine/verify/verdict.h"

namespace decodescope {

/// How far the logits of one call are from what its tokens give when they are recomputed.
struct CallError {
    int call = 0;
    std::string request;  ///< of the worst row; "" = unknown
    int row = 0;          ///< of the largest error
    int column = 0;       ///< of the row's tokens
    double error = 0;     ///< largest / standard deviation; infinite when the logits are not finite
    /// Largest minus second largest logit of the truth where the next token is chosen; of several rows the
    /// smallest.
    double top2_margin = 0;
    bool same_argmax = true;  ///< in all rows and columns
};

/// A verdict with the numbers that it rests on.
struct Judgement {
    Verdict verdict;
    std::vector<CallError> calls;          ///< those that have logits, in order
    WeightType weights = WeightType::f32;  ///< that the truth was recomputed with
};

/// `diagnose`, and the error of every call.
Result<Judgement> judge_trace(const Trace& trace, std::shared_ptr<const Weights> weights, Backend& backend,
                              std::shared_ptr<MemoryLedger> ledger, std::stop_token stop = {});

/// The largest logit error / standard deviation that entries of a cache usually cause, flat over the steps:
/// measured on small models with learned and rotary positions. Orientation only, size alone proves nothing.
struct NoiseFloor {
    const char* name;  ///< "f16 entries"
    double error;
};
/// Nothing for entries in f32 and for those that nothing is known of.
std::optional<NoiseFloor> noise_floor(const CacheSpec& cache);

}  // namespace decodescope
