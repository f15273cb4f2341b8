// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

/// How many queries a GPU's attention computes together. Free of CUDA, for those who count in closed form.
namespace decodescope::cuda {

inline constexpr int few_queries = 4;  ///< of a row, on average: up to there every query is for itself

/// Rows (queries x heads) of a block of many queries: what fits into 48 KiB, and into 32 sums a thread.
constexpr int many_rows(int head_dim) {
    return head_dim <= 64 ? 64 : head_dim <= 128 ? 32 : 16;
}

/// Queries of a row that share a block in a call of `n_query` queries of that row alone.
constexpr int query_block(std::int64_t n_query, int n_head, int n_kv_head, int head_dim) {
    if (n_query <= few_queries) return 1;
    const int rows = many_rows(head_dim);
    return rows / std::min(n_head / n_kv_head, rows);
}

}  // namespace decodescope::cuda
