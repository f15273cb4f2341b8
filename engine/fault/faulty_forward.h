// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include "engine/decode/call_observer.h"
#include "engine/fault/fault.h"
#include "engine/model/forward_hook.h"

namespace decodescope {

/// The faults that bite inside a forward call: positions, masks, head order, weights, what a layer computes.
/// A lane has one only while its spec names faults.
class FaultyForward final : public ForwardHook {
public:
    /// Parts of `weights` are used as long as this lives. `window`: the lane's, where it has one.
    FaultyForward(FaultSet faults, std::shared_ptr<const Weights> weights, Window window);

    /// Before every call: what it is for. Both must stay as they are until it is over.
    void begin_call(const CallTokens& call, std::span<const CallRow> rows, const KvCache* cache);

    const Weights& weights(const Weights& given) override;
    void positions(const CallTokens& call, const KvCache* cache, std::span<std::int32_t> query,
                   std::span<std::int32_t> key) override;
    void plan(const CallTokens& call, const KvCache* cache, AttentionPlan& plan) override;
    HeadOrder head_order(const CallTokens& call, const KvCache* cache) override;
    void computed(ForwardTensor tensor, int layer, std::span<float> values) override;

private:
    /// What is known of a row besides what the cache says.
    struct Row {
        int request = -1;
        int first_length = 0;  // tokens of the text after its first call, or when it was taken over
        int n_append = 0;      // calls since, this one included
        int n_slot = 0;        // slots in use before the call; 0 = the call starts a text
    };

    std::int32_t position(const CallTokens& call, const KvCache* cache, int b, int token,
                          std::int32_t index) const;
    void see(const AttentionPlan& plan, const KvCache* cache, int b, int q,
             std::vector<SlotRange>& visible) const;
    void make_changed_weights();
    void drop_out(std::span<float> values);
    void join_heads_as_they_lie(std::span<float> mixed) const;

    FaultSet faults_;
    std::shared_ptr<const Weights> weights_;
    Window window_;
    std::vector<Row> rows_;  // [batch]
    const CallTokens* call_ = nullptr;
    std::span<const CallRow> call_rows_;
    bool appends_ = false;            // some row of the call continues a text
    std::vector<float> changed_;      // the matrix of `stale_weights`
    std::shared_ptr<Weights> other_;  // weights of `stale_weights` and `rotary_base_by_length`
    const Weights* used_ = nullptr;   // by the call; null = those that are given
    std::uint64_t n_dropped_ = 0;     // calls of `drop_out` so far
};

}  // namespace decodescope
