// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/call_timer.h"

#include "engine/core/clock.h"

namespace decodescope {

namespace {

CallPlace place_after(ForwardTensor tensor) {
    switch (tensor) {
        case ForwardTensor::embedding: return CallPlace::embedded;
        case ForwardTensor::qkv: return CallPlace::projected;
        case ForwardTensor::mixed: return CallPlace::mixed;
        case ForwardTensor::attended: return CallPlace::attended;
        case ForwardTensor::residual: return CallPlace::feed_forward;
        case ForwardTensor::logits: return CallPlace::logits;
    }
    return CallPlace::logits;
}

}  // namespace

CallTimer::CallTimer(int n_layer, int n_call) {
    constexpr std::size_t per_layer = 6;
    constexpr std::size_t per_call = 5;
    stamps_.reserve((static_cast<std::size_t>(n_layer) * per_layer + per_call) *
                    static_cast<std::size_t>(n_call));
}

void CallTimer::stamp(CallPlace place, std::int32_t layer) {
    stamps_.push_back({place, layer, now_ns()});
}

void CallTimer::begin_call(ForwardHook* inner) {
    inner_ = inner;
    layer_ = -1;
    stamp(CallPlace::call_begin, -1);
}

const Weights& CallTimer::weights(const Weights& given) {
    return inner_ != nullptr ? inner_->weights(given) : given;
}

void CallTimer::positions(const CallTokens& call, const KvCache* cache, std::span<std::int32_t> query,
                          std::span<std::int32_t> key) {
    if (inner_ != nullptr) inner_->positions(call, cache, query, key);
}

void CallTimer::plan(const CallTokens& call, const KvCache* cache, AttentionPlan& plan) {
    if (inner_ != nullptr) inner_->plan(call, cache, plan);
    stamp(CallPlace::planned, -1);
}

void CallTimer::begin_layer(int layer) {
    if (inner_ != nullptr) inner_->begin_layer(layer);
    layer_ = layer;
    stamp(CallPlace::layer_begin, layer);
}

HeadOrder CallTimer::head_order(const CallTokens& call, const KvCache* cache) {
    const HeadOrder order = inner_ != nullptr ? inner_->head_order(call, cache) : HeadOrder::grouped;
    stamp(CallPlace::appended, layer_);
    return order;
}

void CallTimer::attention(int layer, const AttentionCall& call) {
    if (inner_ != nullptr) inner_->attention(layer, call);
}

void CallTimer::computed(ForwardTensor tensor, int layer, std::span<float> values) {
    if (inner_ != nullptr) inner_->computed(tensor, layer, values);
    stamp(place_after(tensor), layer);
}

}  // namespace decodescope
