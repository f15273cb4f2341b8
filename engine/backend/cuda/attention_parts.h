// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/query_block.h"

/// How the kernels of attention share out their work. For .cu files.
namespace decodescope::cuda {

inline constexpr int attention_threads = 128;
inline constexpr int most_few_heads = 8;      // of a block of one query: whose sums a thread can hold
inline constexpr int fewest_few_slots = 128;  // of a part, or joining costs more than it brings
inline constexpr float log2_of_e = 1.44269504088896340736f;

/// A running softmax (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax") over a part
/// of the slots, one for each query and head; powers of 2 relative to `largest`. A part without a slot has
/// the total 0.
struct Parts {
    int n = 1;                 ///< parts; 1 = the output is written at once
    float* sums = nullptr;     // [n, n_token, n_head, head_dim] of values
    float* largest = nullptr;  // [n, n_token, n_head] score
    float* total = nullptr;    // [n, n_token, n_head] of weights

    Parts(int n_part, int n_token, int n_head, int head_dim, float* scratch) : n(n_part) {
        if (n == 1) return;
        const std::int64_t rows = std::int64_t{n} * n_token * n_head;
        sums = scratch;
        largest = sums + rows * head_dim;
        total = largest + rows;
    }
    static std::int64_t floats(int n_part, int n_token, int n_head, int head_dim) {
        return n_part == 1 ? 0 : std::int64_t{n_part} * n_token * n_head * (head_dim + 2);
    }
};

/// How one call is shared out; from its shape alone.
struct AttentionShape {
    bool few = false;      ///< every query for itself
    int rows = 1;          ///< queries x heads of one block
    int heads = 1;         ///< of one block, all of one kv head
    int queries = 1;       ///< of one block, all of one row
    int head_blocks = 1;   ///< blocks for all heads of a kv head
    int query_blocks = 1;  ///< for all queries; some may be left without
    int parts = 1;         ///< of the slots
};
AttentionShape attention_shape(int n_token, int batch, int most_slots, int n_head, int n_kv_head,
                               int head_dim);

/// Slots of the tiles of a block of `many_rows`.
constexpr int many_slots(int head_dim) {
    return head_dim <= 128 ? 32 : 16;
}

void attend_few(cudaStream_t stream, const CallArrays& call, const Attention& attention,
                const AttentionShape& shape, const Parts& parts);
void attend_many(cudaStream_t stream, const CallArrays& call, const Attention& attention,
                 const AttentionShape& shape, const Parts& parts);

}  // namespace decodescope::cuda
