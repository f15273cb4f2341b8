// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace decodescope {

namespace {

Result<void> check_input(const ModelConfig& config, const CallTokens& call, const WantedLogits& wanted) {
    if (call.n_token() < 1) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Forward: got no tokens in {} rows, expected at least one.", call.batch())};
    }
    for (const std::int32_t token : call.tokens()) {
        if (token >= 0 && token < config.vocab) continue;
        return Error{
            ErrorKind::bad_input,
            fmt::format("Forward: token id {} is outside the vocabulary of {}.", token, config.vocab)};
    }
    for (const std::int32_t row : wanted.rows) {
        if (row >= 0 && row < call.n_token()) continue;
        return Error{ErrorKind::internal,
                     fmt::format("Forward: logits of token {} of {} were asked for.", row, call.n_token())};
    }
    if (!wanted.draws.empty() && wanted.draws.size() != wanted.rows.size()) {
        return Error{ErrorKind::internal,
                     fmt::format("Forward: {} draws from {} rows of logits were asked for.",
                                 wanted.draws.size(), wanted.rows.size())};
    }
    return {};
}

/// The positions that a call embeds and turns by, its own (`pads` marked) or those of a hook, must be the
/// model's.
Result<void> check_positions(const ModelConfig& config, std::span<const std::int32_t> positions, bool pads) {
    for (const std::int32_t position : positions) {
        if ((pads && position == slot_padding) || (position >= 0 && position < config.n_positions)) continue;
        return Error{ErrorKind::capacity,
                     fmt::format("Forward: position {} is beyond the {} positions of the model.", position,
                                 config.n_positions)};
    }
    return {};
}

/// Position ids that a call's queries and keys are embedded and turned by.
struct UsedPositions {
    std::vector<std::int32_t> query;
    std::vector<std::int32_t> key;
};

/// The call's own positions after the hook has seen them. The ids must stay inside the model's positions.
Result<UsedPositions> used_positions(const ModelConfig& config, const CallTokens& call, const KvCache* cache,
                                     ForwardHook& hook) {
    UsedPositions used;
    used.query.assign(call.positions().begin(), call.positions().end());
    for (std::int32_t& position : used.query) position = std::max(position, 0);
    used.key = used.query;
    hook.positions(call, cache, used.query, used.key);
    DS_TRY(check_positions(config, used.query, false));
    DS_TRY(check_positions(config, used.key, false));
    return used;
}

/// Scratch that the products of one call of `rows` tokens need. Not every layer need be prepared: replays
/// change a matrix of one.
std::int64_t products_floats(const Weights& weights, const Backend& backend, std::int64_t rows,
                             std::size_t logit_rows) {
    std::int64_t floats = 0;
    const auto need = [&](const Linear& w, std::int64_t n, const Linear* gate = nullptr) {
        if (n > 0) floats = std::max(floats, backend.product_floats(w, n, gate));
    };
    for (const LayerWeights& layer : weights.layers) {
        need(layer.attn_qkv, rows);
        need(layer.attn_out, rows);
        need(layer.ff_up, rows, weights.config.gated_ff ? &layer.ff_gate : nullptr);
        need(layer.ff_down, rows);
    }
    need(weights.head, static_cast<std::int64_t>(logit_rows));
    return floats;
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

/// Ends a backend's call however the forward pass is left.
class CallGuard {
public:
    explicit CallGuard(Backend& backend) : backend_(&backend) {}
    ~CallGuard() {
        if (backend_ != nullptr) (void)backend_->end_call();
    }
    CallGuard(const CallGuard&) = delete;
    CallGuard& operator=(const CallGuard&) = delete;
    Result<void> end() { return std::exchange(backend_, nullptr)->end_call(); }

private:
    Backend* backend_;
};

}  // namespace

const char* to_string(ForwardTensor tensor) {
    switch (tensor) {
        case ForwardTensor::embedding: return "embedding";
        case ForwardTensor::qkv: return "queries, keys and values";
        case ForwardTensor::mixed: return "attention output";
        case ForwardTensor::attended: return "residual after attention";
        case ForwardTensor::residual: return "residual after the feed-forward block";
        case ForwardTensor::logits: return "logits";
    }
    return "logits";
}

Result<void> reserve_room(Workspace& workspace, const Weights& weights, const Backend& backend,
                          const CallRoom& room) {
    const std::int64_t draws = room.draws ? backend.draw_floats(room.logit_rows, weights.config.vocab) : 0;
    return workspace.reserve(
        weights.config, room.batch, room.rows, room.logit_rows,
        std::max(backend.scores_floats(weights.config, room.rows, room.n_slot), draws),
        products_floats(weights, backend, room.rows, static_cast<std::size_t>(room.logit_rows)), room.n_slot);
}

Result<ForwardOutput> forward(const Weights& given, const CallTokens& call, const WantedLogits& wanted,
                              KvCache* cache, Window window, Workspace& workspace, Backend& backend,
                              std::stop_token stop, ForwardHook* hook) {
    const Weights& weights = hook == nullptr ? given : hook->weights(given);
    const ModelConfig& config = weights.config;
    if (hook != nullptr && backend.memory() != nullptr) {
        return Error{ErrorKind::unsupported,
                     fmt::format("Forward: what {} computes cannot be watched or changed on the way.",
                                 backend.memory()->name())};
    }
    DS_TRY(check_input(config, call, wanted));
    std::optional<UsedPositions> used;
    if (hook == nullptr) {
        DS_TRY(check_positions(config, call.positions(), true));
    } else {
        auto ids = used_positions(config, call, cache, *hook);
        if (!ids) return ids.error();
        used = *std::move(ids);
    }
    if (cache != nullptr) DS_TRY(cache->begin(call));
    AppendGuard append(cache);
    AttentionPlan& plan = workspace.plan();
    if (cache != nullptr)
        plan_of_append(*cache, call, window, plan);
    else
        plan_without_cache(call, window, plan);
    if (hook != nullptr) hook->plan(call, cache, plan);
    const std::span<const std::int32_t> logit_rows = wanted.rows;
    // What a hook changes in the logits nobody has looked at.
    const std::int64_t draw_floats = hook == nullptr && !wanted.draws.empty()
                                         ? backend.draw_floats(std::ssize(logit_rows), config.vocab)
                                         : 0;
    ForwardCall given_to_backend;
    given_to_backend.weights = &weights;
    given_to_backend.tokens = &call;
    given_to_backend.positions = used ? std::span<const std::int32_t>(used->query) : call.positions();
    given_to_backend.plan = &plan;
    given_to_backend.cache = cache;
    given_to_backend.logit_rows = logit_rows;
    if (draw_floats > 0) given_to_backend.draws = wanted.draws;
    given_to_backend.workspace = &workspace;
    DS_TRY(backend.begin_call(given_to_backend));
    CallGuard open_call(backend);
    const auto computed = [&](ForwardTensor tensor, int layer, float* values, std::int64_t n) {
        if (hook != nullptr) hook->computed(tensor, layer, {values, static_cast<std::size_t>(n)});
    };

    const int rows = call.n_token();
    const std::int64_t d = config.d_model;
    const std::int64_t q_width = config.q_width();
    const std::int64_t kv_width = config.kv_width();
    const std::int64_t qkv_width = config.qkv_width();
    const auto residual = workspace.take(Temporary::residual, rows * d);
    if (!residual) return residual.error();
    float* x = *residual;
    backend.embed(given_to_backend, x);
    computed(ForwardTensor::embedding, -1, x, rows * d);
    // Every layer turns its queries and keys by the same angles.
    const float* turns = nullptr;
    const float* key_turns = nullptr;  // where they differ from those of the queries
    if (config.rotary) {
        const std::int64_t n = std::int64_t{rows} * config.head_dim;
        const bool apart = used && used->query != used->key;
        const auto taken = workspace.take(Temporary::turns, apart ? 2 * n : n);
        if (!taken) return taken.error();
        backend.turns(given_to_backend, given_to_backend.positions, *taken);
        turns = *taken;
        if (apart) {
            backend.turns(given_to_backend, used->key, *taken + n);
            key_turns = *taken + n;
        }
    }
    const auto scratch =
        workspace.take(Temporary::products, products_floats(weights, backend, rows, logit_rows.size()));
    if (!scratch) return scratch.error();
    const auto product = [&](const float* from, const Linear& w, float* to) {
        ProductCall made;
        made.x = from;
        made.rows = rows;
        made.w = &w;
        made.y = to;
        made.scratch = *scratch;
        made.norm_kind = config.norm;
        made.eps = config.norm_eps;
        return made;
    };
    const auto add_to_residual = [&](const float* from, const Linear& w) {
        ProductCall made = product(from, w, x);
        made.accumulate = true;
        backend.product(made);
    };

    ForwardOutput output;
    output.score_cells_allowed = plan.n_allowed();
    const std::int64_t scores_floats = backend.scores_floats(config, rows, given_to_backend.most_slots());
    for (int l = 0; l < config.n_layer; ++l) {
        if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
        if (hook != nullptr) hook->begin_layer(l);
        const LayerWeights& layer = weights.layers[static_cast<std::size_t>(l)];

        const auto qkv = workspace.take(Temporary::qkv, rows * qkv_width);
        if (!qkv) return qkv.error();
        const auto mixed = workspace.take(Temporary::mixed, rows * q_width);
        if (!mixed) return mixed.error();
        const auto scores = workspace.take(Temporary::scores, scores_floats);
        if (!scores) return scores.error();
        AttentionBlock block;
        block.projection = product(x, layer.attn_qkv, *qkv);
        block.projection.norm = &layer.attn_norm;
        block.stored = {*qkv + q_width, *qkv + q_width + kv_width, qkv_width};
        AttentionCall& attention = block.attention;
        attention.plan = &plan;
        attention.cache = cache;
        attention.layer = l;
        attention.q = *qkv;
        attention.q_stride = qkv_width;
        attention.out = *mixed;
        attention.scores = *scores;
        attention.n_head = config.n_head;
        attention.n_kv_head = config.n_kv_head;
        attention.head_dim = config.head_dim;
        attention.scale =
            config.scale_attention ? 1.0f / std::sqrt(static_cast<float>(config.head_dim)) : 1.0f;
        if (config.scale_attention_by_layer) attention.scale /= static_cast<float>(l + 1);

        bool done = false;
        if (cache != nullptr && hook == nullptr) {
            block.turns = turns;
            if (config.rotary) block.pairs = config.rotary->pairs;
            const auto computed_cells = backend.attention_block(block);
            if (!computed_cells) return computed_cells.error();
            done = *computed_cells >= 0;
            if (done) output.score_cells_computed = *computed_cells;
        }
        if (!done) {
            backend.product(block.projection);
            if (turns != nullptr) {
                // Keys lie behind the queries. They are stored turned, as their positions never change.
                HeadRows heads{*qkv, qkv_width, rows, config.n_head + config.n_kv_head, config.head_dim};
                if (key_turns != nullptr) {
                    heads.n_head = config.n_head;
                    backend.rotate({*qkv + q_width, qkv_width, rows, config.n_kv_head, config.head_dim},
                                   key_turns, config.rotary->pairs);
                }
                backend.rotate(heads, turns, config.rotary->pairs);
            }
            computed(ForwardTensor::qkv, l, *qkv, rows * qkv_width);
            if (cache != nullptr) {
                DS_TRY(backend.append(*cache, l, block.stored));
                attention.kv = cache->view(l);
            } else {
                attention.kv.k = block.stored.k;
                attention.kv.v = block.stored.v;
                attention.kv.head_stride = config.head_dim;
                attention.kv.slot_stride = qkv_width;
                attention.kv.by_token = true;
            }
            if (hook != nullptr) attention.head_order = hook->head_order(call, cache);
            // Every layer computes the same cells.
            output.score_cells_computed = backend.attention(attention);
            if (hook != nullptr) hook->attention(l, attention);
        }
        computed(ForwardTensor::mixed, l, *mixed, rows * q_width);
        add_to_residual(*mixed, layer.attn_out);
        computed(ForwardTensor::attended, l, x, rows * d);

        const auto ff = workspace.take(Temporary::ff, rows * std::int64_t{config.d_ff});
        if (!ff) return ff.error();
        ProductCall expansion = product(x, layer.ff_up, *ff);
        expansion.norm = &layer.ff_norm;
        expansion.activation = config.activation;
        if (config.gated_ff) expansion.gate = &layer.ff_gate;
        backend.product(expansion);
        add_to_residual(*ff, layer.ff_down);
        computed(ForwardTensor::residual, l, x, rows * d);
    }

    const auto n_logits = static_cast<std::int64_t>(logit_rows.size());
    if (n_logits > 0) {
        const auto picked = workspace.take(Temporary::picked, n_logits * d);
        if (!picked) return picked.error();
        const auto logits = workspace.take(Temporary::logits, n_logits * config.vocab);
        if (!logits) return logits.error();
        backend.pick_rows(given_to_backend, x, d, *picked);
        ProductCall head = product(*picked, weights.head, *logits);
        head.rows = static_cast<int>(n_logits);
        head.norm = &weights.final_norm;
        if (hook == nullptr) {
            workspace.largest().assign(logit_rows.size(), -1);
            head.largest = workspace.largest().data();
            output.largest = workspace.largest();
        }
        backend.product(head);
        if (draw_floats > 0) {
            const auto weighed = workspace.take(Temporary::scores, draw_floats);
            if (!weighed) return weighed.error();
            workspace.drawn().assign(logit_rows.size(), -1);
            backend.draw(given_to_backend, *logits, *weighed, workspace.drawn().data());
            output.drawn = workspace.drawn();
        }
        computed(ForwardTensor::logits, config.n_layer, *logits, n_logits * config.vocab);
        output.logits = {backend.read(*logits, n_logits * config.vocab),
                         static_cast<std::size_t>(n_logits * config.vocab)};
    }
    DS_TRY(open_call.end());
    DS_TRY(given.check_files());  // what was read of a file that changed means nothing
    DS_TRY(append.commit());
    return output;
}

std::vector<std::int32_t> all_rows(const CallTokens& call) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>(call.n_token()));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

std::vector<std::int32_t> last_rows(const CallTokens& call) {
    std::vector<std::int32_t> rows;
    for (int b = 0; b < call.batch(); ++b) {
        if (call.end(b) > call.begin(b)) rows.push_back(call.end(b) - 1);
    }
    return rows;
}

}  // namespace decodescope
