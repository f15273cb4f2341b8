// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/decode/lane_spec.h"
#include "engine/model/model_config.h"
#include "engine/model/weight_type.h"

namespace decodescope {

/// What decoding a request costs, summed over all its forward calls. One request, N new tokens: N forward
/// steps, of which the first is the prompt; step i sees P + i tokens.
struct WorkCount {
    std::int64_t calls = 0;            ///< forward calls
    std::int64_t positions = 0;        ///< token rows through the blocks
    std::int64_t rectangle_cells = 0;  ///< query-key pairs per head and layer: every query by every key
    std::int64_t allowed_cells = 0;    ///< of these: those that causality and the window allow
    std::int64_t computed_cells = 0;   ///< those that this program computes: queries in blocks
    std::int64_t product_flops = 0;    ///< 2 x matrix weights x rows, the head for one row per step
    std::int64_t attention_flops = 0;  ///< 4 x head_dim x heads x layers x computed cells
    std::int64_t weight_bytes =
        0;                      ///< read, every call the whole model but the embedding, in its lane's type
    std::int64_t kv_bytes = 0;  ///< read: what the cache holds after each call, in its own form
    std::int64_t copied_bytes = 0;  ///< by caches that grow

    friend bool operator==(const WorkCount&, const WorkCount&) = default;
};

/// Additions and multiplications of `rows` tokens through the blocks' matrices and `logit_rows` through the
/// head: 2 per weight.
std::int64_t product_flops(const ModelConfig& model, std::int64_t rows, std::int64_t logit_rows);
/// Of `cells` query-key pairs, in all heads and layers: 2 x 2 x head_dim each.
std::int64_t attention_flops(const ModelConfig& model, std::int64_t cells);

/// A request to be counted.
struct WorkRequest {
    std::int64_t prompt = 1;
    std::int64_t new_tokens = 1;
    std::int64_t chunk = 0;                ///< prompt tokens per call of a lane with a cache; 0 = all in one
    std::optional<WeightType> prepared{};  ///< type that matrices are read in; none: f32 where they lie
    bool gpu = false;                      ///< on a GPU, whose matrices and blocks of queries are its own
};
/// The type that a lane's matrices are prepared in; none with kernels openblas.
inline std::optional<WeightType> prepared_type(const LaneSpec& lane) {
    return lane.kernels == Kernels::packed ? std::optional(lane.weights) : std::nullopt;
}

/// 1 + 2 + ... + n and 1 + 4 + ... + n^2.
std::int64_t sum_to(std::int64_t n);
std::int64_t sum_of_squares_to(std::int64_t n);

/// Cells that `n` tokens see of each other when each sees the `window` newest (0 = all), itself included.
std::int64_t causal_cells(std::int64_t n, std::int64_t window = 0);
/// Cells that this program computes for `n_query` tokens behind `n_stored` others: `block` queries (see
/// `query_block`) share a product over every key that one of them sees.
std::int64_t block_cells(std::int64_t n_stored, std::int64_t n_query, std::int64_t block,
                         std::int64_t window = 0);

/// Fails with one sentence when the counts of a naive lane (the largest there are) do not fit 64 bits.
Result<void> check_countable(const ModelConfig& model, const WorkRequest& request);

/// What a naive lane costs, and one with a cache in which every token of the request stays. The cache
/// kind concat copies; others do not.
WorkCount naive_work(const ModelConfig& model, const WorkRequest& request);
WorkCount cached_work(const ModelConfig& model, const WorkRequest& request, const CacheSpec& cache);

/// One line of the accounting page.
struct WorkLine {
    std::string what;
    std::string unit;     ///< "cells", "FLOP", "B", "tokens", "calls"
    std::string formula;  ///< in P (prompt tokens), N (new tokens), t (tokens of a step), W (weights)
    std::int64_t WorkCount::*count = nullptr;
};
/// The lines in their order; `cached`: the formulas of lanes with a cache.
std::vector<WorkLine> work_lines(bool cached, bool gpu = false);

}  // namespace decodescope
