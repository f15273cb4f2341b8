// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

#include "engine/attention/attention_plan.h"
#include "engine/attention/call_tokens.h"
#include "engine/backend/backend.h"
#include "engine/model/weights.h"

namespace decodescope {

class KvCache;

/// What a forward pass computes, in order; all but the first and last once per layer. Rows are the tokens of
/// the call.
enum class ForwardTensor {
    embedding,  // [n_token, d_model]; layer -1
    qkv,        // [n_token, (n_head + 2 n_kv_head) * head_dim], rotated, before it is stored
    mixed,      // [n_token, n_head * head_dim], the heads' outputs side by side
    attended,   // [n_token, d_model], the residual stream after attention
    residual,   // [n_token, d_model], the residual stream after the feed-forward block
    logits,     // [logit_rows, vocab]; layer n_layer
};
const char* to_string(ForwardTensor tensor);

/// Watches a forward call, and may make it leave the rules: deliberate faults do, and replays of what another
/// program may have done. Every function does nothing by default. Called on the thread of the call, in the
/// order of the declarations. A call without a hook pays one comparison with null per place.
class ForwardHook {
public:
    virtual ~ForwardHook() = default;

    /// The weights to use instead of `given`; must live until the call is over, and have the same config.
    virtual const Weights& weights(const Weights& given) { return given; }
    /// Position ids for embedding and rotation, [n_token] each, preset to those of the call (pads 0). What is
    /// stored where and who sees whom does not follow from them. Position embeddings take `query`.
    virtual void positions(const CallTokens& /*call*/, const KvCache* /*cache*/,
                           std::span<std::int32_t> /*query*/, std::span<std::int32_t> /*key*/) {}
    /// Who sees whom; `plan` follows the rules when it comes, see `AttentionPlan::amend`.
    virtual void plan(const CallTokens& /*call*/, const KvCache* /*cache*/, AttentionPlan& /*plan*/) {}
    /// A layer begins; what comes before its first one is over.
    virtual void begin_layer(int /*layer*/) {}
    /// Which key-value head a query head reads. Asked in every layer, when its keys and values are stored.
    virtual HeadOrder head_order(const CallTokens& /*call*/, const KvCache* /*cache*/) {
        return HeadOrder::grouped;
    }
    /// A layer's attention has been computed, from this; what it points to lives as long as this call.
    virtual void attention(int /*layer*/, const AttentionCall& /*call*/) {}
    /// A tensor has been computed; what is changed in it is what the call goes on with.
    virtual void computed(ForwardTensor /*tensor*/, int /*layer*/, std::span<float> /*values*/) {}
};

}  // namespace decodescope
