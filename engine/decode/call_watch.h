// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/decode/call_observer.h"
#include "engine/model/forward_hook.h"

namespace decodescope {

/// Collects what an observer is told about a call. Stands between the call and the hook it may have, so that
/// it sees the positions that were used in the end.
class CallWatch final : public ForwardHook {
public:
    explicit CallWatch(CallObserver& observer) : observer_(observer) {}

    CallObserver& observer() { return observer_; }
    /// Before a call; `hook` may be null.
    void begin(const CallTokens& call, std::span<const CallRow> rows, const KvCache* cache,
               ForwardHook* hook);
    /// After it; `plan` is that of the call, `logits` those of all its tokens.
    void end(const CallTokens& call, std::span<const CallRow> rows, const KvCache* cache,
             const AttentionPlan& plan, std::span<const float> logits, const Error* error);

    const Weights& weights(const Weights& given) override;
    void positions(const CallTokens& call, const KvCache* cache, std::span<std::int32_t> query,
                   std::span<std::int32_t> key) override;
    void plan(const CallTokens& call, const KvCache* cache, AttentionPlan& plan) override;
    void begin_layer(int layer) override;
    HeadOrder head_order(const CallTokens& call, const KvCache* cache) override;
    void attention(int layer, const AttentionCall& call) override;
    void computed(ForwardTensor tensor, int layer, std::span<float> values) override;

private:
    CallObserver& observer_;
    ForwardHook* hook_ = nullptr;
    std::int64_t start_ns_ = 0;
    bool planned_ = false;
    std::vector<std::int32_t> query_;  // [n_token]
    std::vector<std::int32_t> key_;    // [n_token]
    std::vector<CacheCounts> before_;  // [batch]
    std::vector<CacheCounts> after_;   // [batch]
};

}  // namespace decodescope
