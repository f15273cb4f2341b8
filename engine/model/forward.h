// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "engine/attention/attention_plan.h"
#include "engine/backend/backend.h"
#include "engine/cache/kv_cache.h"
#include "engine/core/result.h"
#include "engine/model/weights.h"
#include "engine/model/workspace.h"

namespace decodescope {

/// Which rows are projected to the vocabulary.
enum class LogitsRows { last, all };

struct ForwardOutput {
    /// [batch, 1 or n_query, vocab]; lies in the workspace and is valid until its next use.
    std::span<const float> logits;
    /// Query-key pairs computed per head and layer, masked ones included.
    std::int64_t score_cells_computed = 0;
};

/// One forward call: `tokens` [batch, n_query] at the positions and with the visibility of `plan`, appended
/// to `cache` when there is one (then the plan must come from `plan_append`), else seeing only each other.
/// Everything is checked before anything is written: token ids, positions against n_positions, the cache's
/// capacity. `stop` is looked at between layers; a cancelled or failed call leaves the cache as it was
/// before.
Result<ForwardOutput> forward(const Weights& weights, std::span<const std::int32_t> tokens,
                              const AttentionPlan& plan, LogitsRows rows, KvCache* cache,
                              Workspace& workspace, Backend& backend, std::stop_token stop = {});

}  // namespace decodescope
