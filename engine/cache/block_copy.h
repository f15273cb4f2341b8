// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>

#include "engine/cache/kv_cache.h"

namespace decodescope {

/// Copies `n_new` new tokens of every row and kv head to slots `first_slot`.. of a layer whose strides are
/// `strides`.
inline void copy_block(const KvShape& shape, const KeyValueBlock& block, int n_new, int first_slot,
                       float* keys, float* values, const KeyValueView& strides) {
    for (int b = 0; b < shape.batch; ++b) {
        for (int h = 0; h < shape.n_kv_head; ++h) {
            for (int t = 0; t < n_new; ++t) {
                const std::int64_t from =
                    (std::int64_t{b} * n_new + t) * block.token_stride + std::int64_t{h} * shape.head_dim;
                const std::int64_t to = b * strides.batch_stride + h * strides.head_stride +
                                        (first_slot + t) * strides.slot_stride;
                std::copy_n(block.k + from, shape.head_dim, keys + to);
                std::copy_n(block.v + from, shape.head_dim, values + to);
            }
        }
    }
}

}  // namespace decodescope
