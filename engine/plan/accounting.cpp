// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/backend/cpu/attend.h"
#include "engine/backend/cuda/query_block.h"
#include "engine/cache/kv_cache.h"
#include "engine/core/dtype.h"
#include "engine/model/weight_size.h"
#include "engine/plan/kv_arithmetic.h"

namespace decodescope {

namespace {

/// Weights of the matrices that every row is multiplied with; the head is apart.
std::int64_t block_weights(const ModelConfig& m) {
    const std::int64_t d = m.d_model;
    return m.n_layer *
           (d * m.qkv_width() + std::int64_t{m.q_width()} * d + (m.gated_ff ? 3 : 2) * d * m.d_ff);
}

/// Bytes of weights that a call reads: matrices, biases and norms, and the head where logits are wanted.
std::int64_t bytes_of_call(const ModelConfig& m, const WorkRequest& request, bool logits) {
    const std::int64_t d = m.d_model;
    const auto signed_bytes = [](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes); };
    const std::int64_t head = request.prepared
                                  ? signed_bytes(matrix_bytes(*request.prepared, d, m.vocab, request.gpu))
                                  : d * m.vocab * float_bytes;
    const std::int64_t blocks = request.prepared
                                    ? signed_bytes(prepared_bytes(m, *request.prepared, request.gpu)) - head
                                    : block_weights(m) * float_bytes;
    const std::int64_t norm = m.norm == NormKind::layer_norm ? 2 * d : d;
    std::int64_t biases = 0;
    if (m.qkv_bias) biases += m.qkv_width();
    if (m.attn_out_bias) biases += d;
    if (m.ff_bias) biases += (m.gated_ff ? 2 : 1) * std::int64_t{m.d_ff} + d;
    const std::int64_t floats = m.n_layer * (2 * norm + biases) + (logits ? norm : 0);
    return blocks + (logits ? head : 0) + floats * float_bytes;
}

/// Queries that are computed together in a call of `n_query`.
std::int64_t queries_together(const ModelConfig& m, const WorkRequest& request, std::int64_t n_query) {
    return request.gpu ? cuda::query_block(n_query, m.n_head, m.n_kv_head, m.head_dim)
                       : query_block(m.n_head, m.n_kv_head);
}

void add_flops(const ModelConfig& m, std::int64_t steps, WorkCount& work) {
    work.product_flops = product_flops(m, work.positions, steps);
    work.attention_flops = attention_flops(m, work.computed_cells);
}

}  // namespace

std::int64_t product_flops(const ModelConfig& model, std::int64_t rows, std::int64_t logit_rows) {
    return 2 * block_weights(model) * rows + 2 * std::int64_t{model.d_model} * model.vocab * logit_rows;
}

std::int64_t attention_flops(const ModelConfig& model, std::int64_t cells) {
    return 4 * std::int64_t{model.head_dim} * model.n_head * model.n_layer * cells;
}

std::int64_t sum_to(std::int64_t n) {
    return n * (n + 1) / 2;
}

std::int64_t sum_of_squares_to(std::int64_t n) {
    return n * (n + 1) * (2 * n + 1) / 6;
}

std::int64_t causal_cells(std::int64_t n, std::int64_t window) {
    if (window == 0 || n <= window) return sum_to(n);
    return sum_to(window) + (n - window) * window;
}

std::int64_t block_cells(std::int64_t n_stored, std::int64_t n_query, std::int64_t block,
                         std::int64_t window) {
    std::int64_t cells = 0;
    for (std::int64_t first = 0; first < n_query; first += block) {
        const std::int64_t n = std::min(block, n_query - first);
        const std::int64_t oldest =
            window == 0 ? 0 : std::max<std::int64_t>(0, n_stored + first - window + 1);
        cells += n * (n_stored + first + n - oldest);
    }
    return cells;
}

Result<void> check_countable(const ModelConfig& model, const WorkRequest& request) {
    const double last = static_cast<double>(request.prompt) + static_cast<double>(request.new_tokens);
    const double steps = static_cast<double>(request.new_tokens);
    const double weights = static_cast<double>(block_weights(model));
    const double head = static_cast<double>(model.d_model) * model.vocab;
    const double cell = 4.0 * model.head_dim * model.n_head * model.n_layer;
    // Every step at most as long as the last one.
    const double flops = steps * (2 * weights * last + 2 * head + cell * last * last);
    const double bytes = steps * (weights + head) * static_cast<double>(float_bytes);
    if (std::max(flops, bytes) < 9e18 && last < 1e6) return {};
    return Error{ErrorKind::bad_input,
                 fmt::format("The work of {} prompt tokens and {} new ones does not fit 64 bits.",
                             request.prompt, request.new_tokens)};
}

WorkCount naive_work(const ModelConfig& model, const WorkRequest& request) {
    const std::int64_t before = request.prompt - 1;
    const std::int64_t last = before + request.new_tokens;
    WorkCount work;
    work.calls = request.new_tokens;
    work.positions = sum_to(last) - sum_to(before);
    work.rectangle_cells = sum_of_squares_to(last) - sum_of_squares_to(before);
    for (std::int64_t t = request.prompt; t <= last; ++t) {
        work.allowed_cells += causal_cells(t, model.window);
        work.computed_cells += block_cells(0, t, queries_together(model, request, t), model.window);
    }
    work.weight_bytes = work.calls * bytes_of_call(model, request, true);
    add_flops(model, request.new_tokens, work);
    return work;
}

WorkCount cached_work(const ModelConfig& model, const WorkRequest& request, const CacheSpec& cache) {
    const std::int64_t chunk = request.chunk > 0 ? std::min(request.chunk, request.prompt) : request.prompt;
    const std::int64_t steps = request.new_tokens - 1;
    const std::int64_t last = request.prompt + steps;
    const KvShape one_row{model.n_layer, 1, model.n_kv_head, model.head_dim};
    const auto held = [&](std::int64_t tokens) {
        const auto length = static_cast<int>(tokens);
        return static_cast<std::int64_t>(kv_live_formula(cache, one_row, std::span(&length, 1)));
    };
    WorkCount work;
    for (std::int64_t stored = 0; stored < request.prompt; stored += chunk) {
        const std::int64_t n = std::min(chunk, request.prompt - stored);
        ++work.calls;
        work.kv_bytes += held(stored + n);
        work.rectangle_cells += n * (stored + n);
        work.computed_cells += block_cells(stored, n, queries_together(model, request, n), model.window);
    }
    const std::int64_t decoded = sum_to(last) - sum_to(request.prompt);
    const std::int64_t prefill_calls = work.calls;
    work.calls += steps;
    work.positions = last;
    work.rectangle_cells += decoded;
    work.allowed_cells = causal_cells(last, model.window);
    work.computed_cells += causal_cells(last, model.window) - causal_cells(request.prompt, model.window);
    work.weight_bytes = (prefill_calls - 1) * bytes_of_call(model, request, false) +
                        (steps + 1) * bytes_of_call(model, request, true);
    for (std::int64_t t = request.prompt + 1; t <= last; ++t) work.kv_bytes += held(t);
    if (cache.kind == CacheKind::concat)
        work.copied_bytes = held(1) * concat_copied_tokens(request.prompt, steps, request.chunk);
    add_flops(model, request.new_tokens, work);
    return work;
}

std::vector<WorkLine> work_lines(bool cached, bool gpu) {
    const std::string together = gpu ? "queries in blocks of 64 (heads of up to 64 values), 32 (of up to "
                                       "128) or 16 / (heads / KV heads), "
                                       "each for itself in calls of up to 4"
                                     : "queries in blocks of 64 / (heads / KV heads)";
    const auto either = [&](const char* with_cache, const char* naive) {
        return std::string(cached ? with_cache : naive);
    };
    return {
        {"forward calls", "calls", either("prefill calls + N - 1", "N"), &WorkCount::calls},
        {"positions forwarded", "tokens", either("P + N - 1", "sum of t, t = P .. P + N - 1"),
         &WorkCount::positions},
        {"score cells, every query x every key", "cells",
         either("P^2 + sum of t, t = P + 1 .. P + N - 1 (prompt in one call)",
                "sum of t^2, t = P .. P + N - 1"),
         &WorkCount::rectangle_cells},
        {"score cells allowed", "cells",
         either("T (T + 1) / 2, T = P + N - 1", "sum of t (t + 1) / 2, t = P .. P + N - 1"),
         &WorkCount::allowed_cells},
        {"score cells computed", "cells",
         either((together + ", each over all keys up to its last query").c_str(),
                "the same of every step's whole text"),
         &WorkCount::computed_cells},
        {"FLOPs of products", "FLOP", "2 x block weights x positions + 2 x d_model x vocab x N",
         &WorkCount::product_flops},
        {"FLOPs of attention", "FLOP", "4 x head_dim x n_head x n_layer x cells computed",
         &WorkCount::attention_flops},
        {"weight bytes read", "B", "calls x weights, embedding rows apart", &WorkCount::weight_bytes},
        {"KV bytes read", "B", either("sum of the cache's live bytes after each call", "0"),
         &WorkCount::kv_bytes},
        {"KV bytes copied by growing", "B",
         either("concat: KV bytes of a token x ((N - 1) P + (N - 1) (N - 2) / 2); else 0", "0"),
         &WorkCount::copied_bytes},
    };
}

}  // namespace decodescope
