// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/plan_shape.h"

#include <utility>

namespace decodescope {

namespace {

// Of every DeepSeek model since the second.
constexpr int usual_latent = 512;
constexpr int usual_rope_dim = 64;

/// Collects the tensors of a model; those without elements are left out.
class TensorLister {
public:
    explicit TensorLister(const PlanShape& shape) : s_(shape) {}

    std::vector<TensorGroup> list() && {
        matrix(1, s_.vocab, s_.d_model);
        if (s_.learned_positions) matrix(1, s_.n_positions, s_.d_model);
        attention();
        const int sparse = s_.n_expert == 0 ? 0 : s_.n_layer - s_.n_dense_layer;
        feed_forward(s_.n_layer - sparse, s_.d_ff);
        if (sparse > 0) {
            feed_forward(std::int64_t{sparse} * (s_.n_expert + s_.n_shared_expert), s_.d_expert);
            linear(sparse, s_.d_model, s_.n_expert, false);
            if (s_.expert_bias) vector(sparse, s_.n_expert);
        }
        norm(std::int64_t{s_.n_layer} * s_.norms_per_layer + 1, s_.d_model);
        if (!s_.tied) matrix(1, s_.vocab, s_.d_model);
        return std::move(tensors_);
    }

private:
    void attention() {
        const std::int64_t n = s_.n_layer;
        const std::int64_t query = std::int64_t{s_.n_head} * s_.key_dim;
        const std::int64_t values = std::int64_t{s_.n_head} * s_.value_dim;
        linear(n, values, s_.d_model, s_.out_bias);
        if (s_.latent > 0) {
            if (s_.query_rank > 0) {
                linear(n, s_.d_model, s_.query_rank, s_.qkv_bias);
                vector(n, s_.query_rank);  // a norm
            }
            linear(n, s_.query_rank > 0 ? s_.query_rank : s_.d_model, query, false);
            linear(n, s_.d_model, s_.latent + s_.rope_dim, s_.qkv_bias);
            vector(n, s_.latent);  // a norm
            linear(n, s_.latent, query - std::int64_t{s_.n_head} * s_.rope_dim + values, false);
            return;
        }
        linear(n, s_.d_model, query + std::int64_t{s_.n_kv_head} * (s_.key_dim + s_.value_dim), s_.qkv_bias);
        if (s_.query_key_norm) vector(2 * n, s_.key_dim);
    }
    void feed_forward(std::int64_t count, std::int64_t width) {
        linear((s_.gated ? 2 : 1) * count, s_.d_model, width, s_.ff_bias);
        linear(count, width, s_.d_model, s_.ff_bias);
    }
    void norm(std::int64_t count, std::int64_t width) { vector(s_.norm_bias ? 2 * count : count, width); }
    void linear(std::int64_t count, std::int64_t n_in, std::int64_t n_out, bool bias) {
        matrix(count, n_out, n_in);
        if (bias) vector(count, n_out);
    }
    void matrix(std::int64_t count, std::int64_t rows, std::int64_t columns) {
        if (count > 0) tensors_.push_back({count, rows, columns});
    }
    void vector(std::int64_t count, std::int64_t width) { matrix(count, 1, width); }

    const PlanShape& s_;
    std::vector<TensorGroup> tensors_;
};

}  // namespace

const char* to_string(AttentionKind kind) {
    switch (kind) {
        case AttentionKind::mha: return "MHA";
        case AttentionKind::gqa: return "GQA";
        case AttentionKind::mqa: return "MQA";
        case AttentionKind::mla: return "MLA";
    }
    return "MHA";
}

AttentionKind PlanShape::attention() const {
    if (latent > 0) return AttentionKind::mla;
    if (n_kv_head == n_head) return AttentionKind::mha;
    return n_kv_head == 1 ? AttentionKind::mqa : AttentionKind::gqa;
}

std::vector<KvVectors> PlanShape::kv_vectors() const {
    if (latent > 0) return {{1, latent}, {1, rope_dim}};
    return {{n_kv_head, key_dim}, {n_kv_head, value_dim}};
}

std::int64_t PlanShape::kv_elements() const {
    std::int64_t elements = 0;
    for (const KvVectors& vectors : kv_vectors()) elements += vectors.count * vectors.width;
    return elements * n_layer;
}

std::vector<TensorGroup> PlanShape::tensors() const {
    if (!tensors_known) return {};
    return TensorLister(*this).list();
}

std::int64_t PlanShape::n_parameter() const {
    if (!tensors_known) return stated_parameters;
    std::int64_t sum = 0;
    for (const TensorGroup& group : tensors()) sum += group.elements();
    return sum;
}

PlanShape PlanShape::with_attention(AttentionKind kind, int kv_heads) const {
    PlanShape other = *this;
    other.config.reset();
    if (kind == AttentionKind::mla) {
        if (latent > 0) return other;
        other.latent = usual_latent;
        other.rope_dim = usual_rope_dim;
        return other;
    }
    other.latent = other.rope_dim = 0;
    other.n_kv_head = kind == AttentionKind::mha ? n_head : kind == AttentionKind::mqa ? 1 : kv_heads;
    return other;
}

PlanShape plan_shape(const ModelConfig& config, std::string source) {
    PlanShape shape;
    shape.name = config.name;
    shape.architecture = to_string(config.family);
    shape.source = std::move(source);
    shape.n_layer = config.n_layer;
    shape.d_model = config.d_model;
    shape.n_head = config.n_head;
    shape.n_kv_head = config.n_kv_head;
    shape.key_dim = shape.value_dim = config.head_dim;
    shape.window = config.window;
    shape.n_window_layer = config.window > 0 ? config.n_layer : 0;
    shape.vocab = config.vocab;
    shape.n_positions = config.n_positions;
    shape.d_ff = config.d_ff;
    shape.gated = config.gated_ff;
    shape.tied = config.tied_head;
    shape.learned_positions = !config.rotary;
    shape.norm_bias = config.norm == NormKind::layer_norm;
    shape.qkv_bias = config.qkv_bias;
    shape.out_bias = config.attn_out_bias;
    shape.ff_bias = config.ff_bias;
    shape.stored_as = config.stored_as;
    shape.config = config;
    return shape;
}

}  // namespace decodescope
