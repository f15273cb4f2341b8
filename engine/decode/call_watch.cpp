// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/call_watch.h"

#include <algorithm>

#include "engine/core/clock.h"

namespace decodescope {

namespace {

void count(const CallTokens& call, std::span<const CallRow> rows, const KvCache* cache,
           std::vector<CacheCounts>& counts) {
    counts.assign(static_cast<std::size_t>(call.batch()), {});
    if (cache == nullptr) return;
    for (int b = 0; b < call.batch(); ++b) {
        const auto held = cache->slot_positions(b);
        counts[static_cast<std::size_t>(b)] = {
            static_cast<std::int64_t>(held.size()) - std::count(held.begin(), held.end(), slot_empty),
            cache->next_position(b) + rows[static_cast<std::size_t>(b)].counter};
    }
}

}  // namespace

void CallWatch::begin(const CallTokens& call, std::span<const CallRow> rows, const KvCache* cache,
                      ForwardHook* hook) {
    hook_ = hook;
    planned_ = false;
    query_.assign(call.positions().begin(), call.positions().end());
    for (std::int32_t& position : query_) position = std::max(position, 0);
    key_ = query_;
    count(call, rows, cache, before_);
    start_ns_ = now_ns();
}

void CallWatch::end(const CallTokens& call, std::span<const CallRow> rows, const KvCache* cache,
                    const AttentionPlan& plan, std::span<const float> logits, const Error* error) {
    const std::int64_t duration = now_ns() - start_ns_;
    count(call, rows, cache, after_);
    observer_.called({call, rows, query_, key_, cache, before_, after_, planned_ ? &plan : nullptr, logits,
                      duration, error});
}

const Weights& CallWatch::weights(const Weights& given) {
    return hook_ != nullptr ? hook_->weights(given) : given;
}

void CallWatch::positions(const CallTokens& call, const KvCache* cache, std::span<std::int32_t> query,
                          std::span<std::int32_t> key) {
    if (hook_ != nullptr) hook_->positions(call, cache, query, key);
    query_.assign(query.begin(), query.end());
    key_.assign(key.begin(), key.end());
}

void CallWatch::plan(const CallTokens& call, const KvCache* cache, AttentionPlan& plan) {
    if (hook_ != nullptr) hook_->plan(call, cache, plan);
    planned_ = true;
}

void CallWatch::begin_layer(int layer) {
    if (hook_ != nullptr) hook_->begin_layer(layer);
}

HeadOrder CallWatch::head_order(const CallTokens& call, const KvCache* cache) {
    return hook_ != nullptr ? hook_->head_order(call, cache) : HeadOrder::grouped;
}

void CallWatch::attention(int layer, const AttentionCall& call) {
    if (hook_ != nullptr) hook_->attention(layer, call);
    observer_.attention(layer, call);
}

void CallWatch::computed(ForwardTensor tensor, int layer, std::span<float> values) {
    if (hook_ != nullptr) hook_->computed(tensor, layer, values);
}

}  // namespace decodescope
