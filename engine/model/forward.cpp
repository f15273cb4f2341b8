// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace decodescope {

namespace {

Result<void> check_input(const ModelConfig& config, std::span<const std::int32_t> tokens,
                         const AttentionPlan& plan) {
    const std::int64_t rows = std::int64_t{plan.batch()} * plan.n_query();
    if (rows < 1 || tokens.size() != static_cast<std::size_t>(rows)) {
        return Error{ErrorKind::bad_input, fmt::format("Forward: got {} tokens for {} rows of {}.",
                                                       tokens.size(), plan.batch(), plan.n_query())};
    }
    for (const std::int32_t token : tokens) {
        if (token >= 0 && token < config.vocab) continue;
        return Error{
            ErrorKind::bad_input,
            fmt::format("Forward: token id {} is outside the vocabulary of {}.", token, config.vocab)};
    }
    for (int b = 0; b < plan.batch(); ++b) {
        for (const std::int32_t position : plan.query_positions(b)) {
            if (position == slot_padding || (position >= 0 && position < config.n_positions)) continue;
            return Error{ErrorKind::capacity,
                         fmt::format("Forward: position {} is beyond the {} positions of the model.",
                                     position, config.n_positions)};
        }
    }
    return {};
}

/// residual[row] = token embedding + position embedding.
void embed(const Weights& weights, std::span<const std::int32_t> tokens, const AttentionPlan& plan,
           float* out) {
    const std::int64_t d = weights.config.d_model;
    std::size_t row = 0;
    for (int b = 0; b < plan.batch(); ++b) {
        for (const std::int32_t position : plan.query_positions(b)) {
            const float* token = weights.token_embedding + tokens[row] * d;
            // A padding row is never read by a real one; it takes position 0 so that it stays finite.
            const float* place = weights.position_embedding + std::max(position, 0) * d;
            for (std::int64_t i = 0; i < d; ++i) out[i] = token[i] + place[i];
            out += d;
            ++row;
        }
    }
}

/// Rolls an open append back unless it was committed.
class AppendGuard {
public:
    explicit AppendGuard(KvCache* cache) : cache_(cache) {}
    ~AppendGuard() {
        if (cache_ != nullptr) cache_->rollback();
    }
    AppendGuard(const AppendGuard&) = delete;
    AppendGuard& operator=(const AppendGuard&) = delete;
    Result<void> commit() {
        if (cache_ == nullptr) return {};
        DS_TRY(cache_->commit());
        cache_ = nullptr;
        return {};
    }

private:
    KvCache* cache_;
};

}  // namespace

Result<ForwardOutput> forward(const Weights& weights, std::span<const std::int32_t> tokens,
                              const AttentionPlan& plan, LogitsRows logits_rows, KvCache* cache,
                              Workspace& workspace, Backend& backend, std::stop_token stop) {
    const ModelConfig& config = weights.config;
    DS_TRY(check_input(config, tokens, plan));
    const int rows = plan.batch() * plan.n_query();
    const int n_logits = logits_rows == LogitsRows::all ? rows : plan.batch();
    DS_TRY(workspace.ensure(config, rows, n_logits, backend.scores_floats(plan.n_query(), plan.n_slot())));
    if (cache != nullptr) DS_TRY(cache->begin(plan.batch(), plan.n_query(), plan.query_positions(0)));
    AppendGuard append(cache);

    const std::int64_t q_width = std::int64_t{config.n_head} * config.head_dim;
    const std::int64_t kv_width = std::int64_t{config.n_kv_head} * config.head_dim;
    const std::int64_t qkv_width = q_width + 2 * kv_width;
    float* x = workspace.residual();
    float* normed = workspace.normed();
    float* qkv = workspace.qkv();
    embed(weights, tokens, plan, x);

    ForwardOutput output;
    for (int l = 0; l < config.n_layer; ++l) {
        if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
        const LayerWeights& layer = weights.layers[static_cast<std::size_t>(l)];

        backend.layer_norm(x, rows, config.d_model, layer.attn_norm, config.norm_eps, normed);
        backend.linear(normed, rows, layer.attn_qkv, qkv, false);
        AttentionCall call;
        const KeyValueBlock block{qkv + q_width, qkv + q_width + kv_width, qkv_width};
        if (cache != nullptr) {
            DS_TRY(cache->append(l, block));
            call.kv = cache->view(l);
        } else {
            call.kv = {block.k, block.v, plan.n_query() * qkv_width, config.head_dim, qkv_width};
        }
        call.plan = &plan;
        call.q = qkv;
        call.q_stride = qkv_width;
        call.out = workspace.mixed();
        call.scores = workspace.scores();
        call.n_head = config.n_head;
        call.n_kv_head = config.n_kv_head;
        call.head_dim = config.head_dim;
        call.scale = config.scale_attention ? 1.0f / std::sqrt(static_cast<float>(config.head_dim)) : 1.0f;
        if (config.scale_attention_by_layer) call.scale /= static_cast<float>(l + 1);
        // Every layer computes the same cells.
        output.score_cells_computed = backend.attention(call);
        backend.linear(workspace.mixed(), rows, layer.attn_out, x, true);

        backend.layer_norm(x, rows, config.d_model, layer.ff_norm, config.norm_eps, normed);
        backend.linear(normed, rows, layer.ff_up, workspace.ff(), false);
        backend.activation(workspace.ff(), std::int64_t{rows} * config.d_ff, config.activation);
        backend.linear(workspace.ff(), rows, layer.ff_down, x, true);
    }
    DS_TRY(append.commit());

    if (logits_rows == LogitsRows::last) {
        const std::int64_t d = config.d_model;
        for (std::int64_t b = 0; b < plan.batch(); ++b) {
            const float* last = x + ((b + 1) * plan.n_query() - 1) * d;
            std::copy_n(last, d, normed + b * d);
        }
        backend.layer_norm(normed, n_logits, config.d_model, weights.final_norm, config.norm_eps, normed);
    } else {
        backend.layer_norm(x, n_logits, config.d_model, weights.final_norm, config.norm_eps, normed);
    }
    backend.linear(normed, n_logits, weights.head, workspace.logits(), false);
    output.logits = {workspace.logits(),
                     static_cast<std::size_t>(n_logits) * static_cast<std::size_t>(config.vocab)};
    return output;
}

}  // namespace decodescope
