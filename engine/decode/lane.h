// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cache/kv_cache.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/decode/sampler.h"
#include "engine/experiment/experiment.h"
#include "engine/model/weights.h"
#include "engine/model/workspace.h"

namespace decodescope {

/// What one step of a lane did. Times are monotonic ns: from before the forward call to the chosen token.
struct LaneStep {
    std::int32_t token = -1;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t positions_forwarded = 0;
    std::int64_t score_cells_allowed = 0;
    std::int64_t score_cells_computed = 0;
    std::int64_t minor_faults = 0;  ///< during the timed region; ProcessMemory::not_measured where unknown
    std::span<const float> logits;  ///< [vocab], the row that was sampled; valid until the lane's next step
};

/// One request being decoded in one way. Holds the request's tokens, its cache and its work buffers; they are
/// freed by `finish` (or the destructor). The weights and the backend are shared with the other lanes.
class Lane {
public:
    Lane(const LaneSpec& spec, std::shared_ptr<const Weights> weights, Backend& backend,
         std::shared_ptr<MemoryLedger> ledger);

    /// Starts a request: reserves its cache and work buffers for `prompt` + `new_tokens` - 1 entries, or as
    /// many as the lane's own capacity and the model's positions allow. A prompt that does not fit is refused
    /// with `capacity`.
    Result<void> start(std::span<const std::int32_t> prompt, int new_tokens, const Sampling& sampling);

    /// The first step: the whole prompt, in the chunks the lane asks for.
    Result<LaneStep> prefill(std::stop_token stop = {});
    /// One decode step that feeds `token`. Fails with `capacity`, writing nothing, when there is no room for
    /// it.
    Result<LaneStep> decode(std::int32_t token, std::stop_token stop = {});

    /// Frees cache and buffers; the next `start` begins afresh.
    void finish();

    const LaneSpec& spec() const { return spec_; }
    /// Null for a naive lane or before `start`.
    const KvCache* cache() const { return cache_.get(); }
    /// Tokens the model has been given so far.
    std::size_t n_token() const { return tokens_.size(); }
    /// Sizes of the prefill calls `start` has planned; sums to the prompt's length.
    const std::vector<int>& prefill_chunks() const { return chunks_; }
    /// Forward calls of the first step: one for a naive lane, one per chunk for a cached one.
    std::size_t n_prefill_call() const { return cache_ != nullptr ? chunks_.size() : 1; }

private:
    Result<LaneStep> advance(std::span<const int> chunks, std::stop_token stop);
    Result<void> plan_chunks();

    LaneSpec spec_;
    std::shared_ptr<const Weights> weights_;
    Backend& backend_;
    std::shared_ptr<MemoryLedger> ledger_;
    Workspace workspace_;
    std::unique_ptr<KvCache> cache_;
    Sampler sampler_{Sampling{}};
    std::vector<std::int32_t> tokens_;  // given so far; the prompt from `start` on
    std::vector<int> chunks_;
    std::int64_t step_ = 0;
};

}  // namespace decodescope
