// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/attention/attention_plan.h"
#include "engine/backend/backend.h"

namespace decodescope {

/// What the attention of one layer of one call read, apart from values: copied, so that it can be looked at
/// after the call.
struct AttentionInputs {
    int layer = -1;
    int n_head = 0;
    int n_kv_head = 0;
    int head_dim = 0;
    float scale = 1.0f;  ///< applied to q . k before the softmax
    HeadOrder head_order = HeadOrder::grouped;
    std::vector<float> q;               // [n_query of all rows, n_head, head_dim]
    std::vector<std::vector<float>> k;  // [rows][n_kv_head, n_slot, head_dim], as the cache hands them out

    /// Key-value head that query head `head` reads.
    int kv_head(int head) const {
        return head_order == HeadOrder::grouped ? head / (n_head / n_kv_head) : head % n_kv_head;
    }
    std::span<const float> query(int query, int head) const {
        return std::span(q).subspan(at(query * n_head + head), static_cast<std::size_t>(head_dim));
    }
    std::span<const float> key(int b, int head, int slot, int n_slot) const {
        return std::span(k[static_cast<std::size_t>(b)])
            .subspan(at(kv_head(head) * n_slot + slot), static_cast<std::size_t>(head_dim));
    }

private:
    std::size_t at(int i) const { return static_cast<std::size_t>(i) * static_cast<std::size_t>(head_dim); }
};

AttentionInputs copy_inputs(int layer, const AttentionCall& call);
/// Bytes of such a copy.
std::size_t input_bytes(const AttentionCall& call);

/// The attention weights of one head for query `q` of row `b`: the softmax over what `plan` lets it see, 0
/// for the rest. `out` [plan.n_slot(b)]; all 0 for a query that sees nothing.
void attention_weights(const AttentionInputs& inputs, const AttentionPlan& plan, int b, int q, int head,
                       std::span<float> out);

}  // namespace decodescope
