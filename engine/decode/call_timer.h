// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/forward_hook.h"

namespace decodescope {

/// Places that a forward call comes by, in order; those from `layer_begin` to `feed_forward` once per layer.
enum class CallPlace : std::int8_t {
    call_begin,
    planned,       ///< input checked, the cache's append begun, and decided who sees whom
    embedded,      ///< token (and position) embeddings looked up
    layer_begin,   ///< before the first one: rotary angles computed
    projected,     ///< norm, queries, keys and values, turned
    appended,      ///< keys and values stored in the cache; at once without one
    mixed,         ///< scores, softmax, weighted values
    attended,      ///< output projection added to the residual stream
    feed_forward,  ///< norm and feed-forward block, added to the residual stream
    logits,        ///< final norm and output head
    call_end,      ///< the append committed
};

/// One place with the monotonic time at which a call came by it.
struct CallStamp {
    CallPlace place = CallPlace::call_begin;
    std::int32_t layer = -1;
    std::int64_t ns = 0;
};

/// Takes the time at every place of forward calls, and nothing else. Stands between the call and the hook it
/// may have, whose work counts to what it is done for. A call that fails ends early.
class CallTimer final : public ForwardHook {
public:
    /// Makes room for calls of a model of `n_layer` layers, so that taking the time allocates nothing.
    CallTimer(int n_layer, int n_call);

    /// The stamps of all calls since `clear`.
    std::span<const CallStamp> stamps() const { return stamps_; }
    void clear() { stamps_.clear(); }

    /// Before a call; `inner` may be null.
    void begin_call(ForwardHook* inner);
    /// After it.
    void end_call() { stamp(CallPlace::call_end, -1); }

    const Weights& weights(const Weights& given) override;
    void positions(const CallTokens& call, const KvCache* cache, std::span<std::int32_t> query,
                   std::span<std::int32_t> key) override;
    void plan(const CallTokens& call, const KvCache* cache, AttentionPlan& plan) override;
    void begin_layer(int layer) override;
    HeadOrder head_order(const CallTokens& call, const KvCache* cache) override;
    void attention(int layer, const AttentionCall& call) override;
    void computed(ForwardTensor tensor, int layer, std::span<float> values) override;

private:
    void stamp(CallPlace place, std::int32_t layer);

    ForwardHook* inner_ = nullptr;
    std::int32_t layer_ = -1;
    std::vector<CallStamp> stamps_;
};

}  // namespace decodescope
