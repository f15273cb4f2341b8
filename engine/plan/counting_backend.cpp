// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/counting_backend.h"

#include "engine/core/dtype.h"

namespace decodescope {

void CountingBackend::count_norm(int d, const Norm& norm) {
    counts_.weight_bytes += d * (norm.bias != nullptr ? 2 : 1) * float_bytes;
}

void CountingBackend::count_product(const Linear& w, int rows) {
    counts_.product_flops += std::int64_t{2} * w.n_in * w.n_out * rows;
    counts_.weight_bytes += static_cast<std::int64_t>(w.bytes());
}

void CountingBackend::product(const ProductCall& call) {
    if (call.norm != nullptr) count_norm(call.w->n_in, *call.norm);
    count_product(*call.w, call.rows);
    if (call.gate != nullptr) count_product(*call.gate, call.rows);
    inner_.product(call);
}

void CountingBackend::linear(const float* x, int rows, const Linear& w, float* y, bool accumulate) {
    count_product(w, rows);
    inner_.linear(x, rows, w, y, accumulate);
}

void CountingBackend::layer_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) {
    count_norm(d, norm);
    inner_.layer_norm(x, rows, d, norm, eps, y);
}

void CountingBackend::rms_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) {
    count_norm(d, norm);
    inner_.rms_norm(x, rows, d, norm, eps, y);
}

void CountingBackend::rotate(const HeadRows& heads, const float* turns, RotaryPairs pairs) {
    inner_.rotate(heads, turns, pairs);
}

void CountingBackend::activation(float* x, std::int64_t n, Activation activation) {
    inner_.activation(x, n, activation);
}

void CountingBackend::gate(float* x, std::int64_t n, Activation activation, float* y) {
    inner_.gate(x, n, activation, y);
}

std::int64_t CountingBackend::attention(const AttentionCall& call) {
    const std::int64_t cells = inner_.attention(call);
    counts_.attention_flops += 4 * cells * call.n_head * call.head_dim;
    for (int b = 0; b < call.plan->batch(); ++b) {
        const int slots = call.plan->n_slot(b);
        counts_.rectangle_cells += std::int64_t{slots} * call.plan->n_query(b);
        if (!call.kv.by_token) counts_.cached_slots.push_back(slots);
    }
    ++counts_.n_attention;
    return cells;
}

}  // namespace decodescope
