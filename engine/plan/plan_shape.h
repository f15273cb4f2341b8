// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/model_config.h"

namespace decodescope {

/// What the heads of a model keep for every token.
///  - `mha`: keys and values of every query head
///  - `gqa`: of groups of query heads
///  - `mqa`: of one head for all
///  - `mla`: a latent that keys and values are made from again, and one rotary key
enum class AttentionKind { mha, gqa, mqa, mla };
const char* to_string(AttentionKind kind);

/// Vectors of the same width that a layer keeps for every token.
struct KvVectors {
    std::int64_t count = 0;
    std::int64_t width = 0;
};

/// Tensors of the same shape.
struct TensorGroup {
    std::int64_t count = 0;
    std::int64_t rows = 1;  ///< 1: a vector, which quantised files keep in F32
    std::int64_t columns = 0;

    std::int64_t elements() const { return count * rows * columns; }
};

/// What decides how much memory a decoder model needs, of models that this program runs and others. Plain
/// value; every number is read from the model's files, and `notes` says where one had to be concluded.
struct PlanShape {
    std::string name;
    std::string architecture;  ///< as the files name it
    std::string source;        ///< where the numbers were read

    int n_layer = 0;
    int d_model = 0;
    int n_head = 0;
    int n_kv_head = 0;
    int key_dim = 0;     ///< width of one key; of a query too
    int value_dim = 0;   ///< width of one value
    int latent = 0;      ///< MLA (kv_lora_rank): values of the latent; 0 = keys and values are kept
    int rope_dim = 0;    ///< MLA: width of the rotary key that all heads share
    int query_rank = 0;  ///< MLA (q_lora_rank): of the queries' own latent, which is not kept; 0 = none
    int window = 0;      ///< tokens a query sees in the layers that have a window; 0 = none has
    int n_window_layer = 0;

    int vocab = 0;
    int n_positions = 0;  ///< the longest context; 0 = not stated
    int d_ff = 0;         ///< of layers without experts
    bool gated = false;
    bool tied = false;
    bool learned_positions = false;
    bool norm_bias = false;
    bool qkv_bias = false;
    bool out_bias = false;
    bool ff_bias = false;
    bool query_key_norm = false;
    int norms_per_layer = 2;

    int n_expert = 0;         ///< experts of a layer, of which a token takes a few; 0 = none
    int n_shared_expert = 0;  ///< that every token takes
    int d_expert = 0;         ///< width of one expert
    int n_dense_layer = 0;    ///< first layers that have no experts
    bool expert_bias = false;

    std::string stored_as;                ///< type of the weights in the file; empty = not stated
    std::uint64_t file_tensor_bytes = 0;  ///< bytes of the tensors in the file, where they were counted
    bool tensors_known = true;            ///< false: the numbers above do not tell what tensors the model has
    std::int64_t stated_parameters = 0;   ///< then: how many parameters it has; 0 = not known
    std::optional<ModelConfig> config;    ///< set when this program runs the model
    bool loadable = false;                ///< this program has the weights too, or makes them
    std::vector<std::string> notes;       ///< one sentence each

    AttentionKind attention() const;
    /// What each layer keeps of a token: keys and values, or the latent and the rotary key.
    std::vector<KvVectors> kv_vectors() const;
    /// Values that all layers keep of a token, as long as no window has passed it.
    std::int64_t kv_elements() const;
    /// The model's tensors. Empty when they are not known.
    std::vector<TensorGroup> tensors() const;
    /// Parameters, the tied head counted once; 0 = not known.
    std::int64_t n_parameter() const;
    /// The same model with another kind of attention: `kv_heads` for gqa, DeepSeek's 512 + 64 for an mla that
    /// is not the model's own.
    PlanShape with_attention(AttentionKind kind, int kv_heads = 0) const;
};

/// The shape of a model that this program runs.
PlanShape plan_shape(const ModelConfig& config, std::string source);

}  // namespace decodescope
