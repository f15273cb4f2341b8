// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/attention_inputs.h"

#include <algorithm>
#include <cmath>

#include "engine/core/as_index.h"

namespace decodescope {

namespace {

/// Keys of all slots of a row that some query may read, [n_kv_head, n_slot, head_dim].
std::vector<float> keys_of_row(const AttentionCall& call, int b) {
    const AttentionPlan& plan = *call.plan;
    const int n_slot = plan.n_slot(b);
    const std::int64_t width = call.head_dim;
    std::vector<float> keys(as_index(std::int64_t{call.n_kv_head} * n_slot * width));
    if (plan.n_query(b) == 0 || n_slot == 0) return keys;
    const std::int64_t row =
        call.kv.by_token ? plan.first_query(b) * call.kv.slot_stride : b * call.kv.batch_stride;
    for (int head = 0; head < call.n_kv_head; ++head) {
        float* out = keys.data() + head * n_slot * width;
        if (call.kv.source != nullptr) {
            call.kv.source->read(call.kv.layer, b, head, {0, n_slot}, out, nullptr);
            continue;
        }
        const float* from = call.kv.k + row + head * call.kv.head_stride;
        for (int slot = 0; slot < n_slot; ++slot)
            std::copy_n(from + slot * call.kv.slot_stride, width, out + slot * width);
    }
    return keys;
}

}  // namespace

AttentionInputs copy_inputs(int layer, const AttentionCall& call) {
    AttentionInputs inputs{layer, call.n_head, call.n_kv_head, call.head_dim, call.scale, call.head_order,
                           {},    {}};
    const std::int64_t width = std::int64_t{call.n_head} * call.head_dim;
    inputs.q.resize(as_index(call.plan->n_query() * width));
    for (int q = 0; q < call.plan->n_query(); ++q)
        std::copy_n(call.q + q * call.q_stride, width, inputs.q.data() + q * width);
    for (int b = 0; b < call.plan->batch(); ++b) inputs.k.push_back(keys_of_row(call, b));
    return inputs;
}

std::size_t input_bytes(const AttentionCall& call) {
    std::int64_t floats = std::int64_t{call.plan->n_query()} * call.n_head;
    for (int b = 0; b < call.plan->batch(); ++b)
        floats += std::int64_t{call.plan->n_slot(b)} * call.n_kv_head;
    return as_index(floats * call.head_dim) * sizeof(float);
}

void attention_weights(const AttentionInputs& inputs, const AttentionPlan& plan, int b, int q, int head,
                       std::span<float> out) {
    std::fill(out.begin(), out.end(), 0.0f);
    const auto query = inputs.query(plan.first_query(b) + q, head);
    double largest = -INFINITY;
    std::vector<double> scores;
    for (const SlotRange& range : plan.visible(b, q)) {
        for (std::int32_t slot = range.begin; slot < range.end; ++slot) {
            const auto key = inputs.key(b, head, slot, plan.n_slot(b));
            double dot = 0;
            for (std::size_t i = 0; i < query.size(); ++i) dot += double{query[i]} * double{key[i]};
            scores.push_back(dot * double{inputs.scale});
            largest = std::max(largest, scores.back());
        }
    }
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - largest);
    std::size_t i = 0;
    for (const SlotRange& range : plan.visible(b, q)) {
        for (std::int32_t slot = range.begin; slot < range.end; ++slot)
            out[as_index(slot)] = static_cast<float>(scores[i++] / sum);
    }
}

}  // namespace decodescope
