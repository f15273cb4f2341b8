// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/attention/attention_plan.h"
#include "engine/attention/call_tokens.h"
#include "engine/backend/backend.h"
#include "engine/cache/kv_cache.h"
#include "engine/core/result.h"

namespace decodescope {

/// Whom a row of a call serves, as its lane wanted it.
struct CallRow {
    std::int32_t request = -1;     ///< -1 = nobody
    std::int32_t text_start = 0;   ///< index in the request's tokens of the first one fed
    std::int32_t counter = 0;      ///< by how much the lane miscounts what the row has seen
    std::int32_t masked = -1;      ///< leading slots that its lane masks; -1 = those that hold pads
    std::int32_t read_token = -1;  ///< token of the row whose logits the next one is chosen from; -1 = none
};

/// What a cache says about a row. 0 without a cache.
struct CacheCounts {
    std::int64_t length = 0;  ///< slots that hold something, pads included
    std::int64_t seen = 0;    ///< tokens appended so far, pads not counted: where the row goes on
};

/// One forward call of a lane's target model. Everything is valid during `CallObserver::called` only.
struct SeenCall {
    const CallTokens& call;
    std::span<const CallRow> rows;                  ///< [batch]
    std::span<const std::int32_t> query_positions;  ///< [n_token] ids that were used, pads 0
    std::span<const std::int32_t> key_positions;    ///< [n_token]
    const KvCache* cache = nullptr;                 ///< as it is after the call; null = none
    std::span<const CacheCounts> before;            ///< [batch]
    std::span<const CacheCounts> after;             ///< [batch]
    const AttentionPlan* plan = nullptr;            ///< who saw whom; null when the call failed before that
    std::span<const float>
        logits;  ///< [n_token, vocab], of all tokens; empty when it failed or none are wanted
    std::int64_t duration_ns = 0;
    const Error* error = nullptr;
};

/// Sees every forward call of a lane's target model; see `Lane::observe`. On the lane's thread.
class CallObserver {
public:
    virtual ~CallObserver() = default;
    virtual void called(const SeenCall& call) = 0;
    /// Whether the logits of all tokens are to be computed.
    virtual bool wants_logits() const { return true; }
    /// Within a call: a layer's attention has been computed, from this; valid during this function only.
    virtual void attention(int /*layer*/, const AttentionCall& /*call*/) {}
    /// Before the next call, row i goes on from what row parents[i] was.
    virtual void reordered(std::span<const int> /*parents*/) {}
    /// Of the last call, `n_accepted` drafts of `row` were kept.
    virtual void verified(int /*row*/, int /*n_accepted*/) {}
};

}  // namespace decodescope
