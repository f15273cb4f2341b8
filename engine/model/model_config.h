// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/dtype.h"
#include "engine/core/result.h"

namespace decodescope {

/// How a model's files name its parts and settings. What the forward pass does follows from the parts below.
enum class Family {
    gpt2,
    llama,  ///< also mistral and qwen2
};
const char* to_string(Family family);

/// How activations are normalised before each part.
enum class NormKind {
    layer_norm,  ///< (x - mean) / sqrt(variance + eps) * weight + bias
    rms_norm,    ///< x / sqrt(mean square + eps) * weight
};
const char* to_string(NormKind kind);

/// Which two values of a head turn together.
enum class RotaryPairs {
    halves,      ///< i and i + head_dim / 2: Hugging Face
    neighbours,  ///< 2 i and 2 i + 1: GGUF of the llama architecture
};
const char* to_string(RotaryPairs pairs);

/// How rotary frequencies are stretched for contexts longer than the model was trained on.
enum class RotaryScaling { none, linear, llama3, yarn };
const char* to_string(RotaryScaling scaling);

/// Rotary position embedding: pair i of a query or key at position p turns by the angle p * w_i, where
/// w_i = theta^(-2 i / head_dim) unless scaled. Keys are stored turned.
struct Rotary {
    double theta = 10000.0;
    RotaryPairs pairs = RotaryPairs::halves;
    RotaryScaling scaling = RotaryScaling::none;
    double factor = 1.0;              ///< all scalings: how many times longer
    double original_positions = 0.0;  ///< llama3, yarn: positions the model was first trained on
    double low_freq_factor = 1.0;     ///< llama3
    double high_freq_factor = 4.0;    ///< llama3
    double beta_fast = 32.0;          ///< yarn
    double beta_slow = 1.0;           ///< yarn
    bool truncate = true;             ///< yarn: the ramp begins and ends at whole pairs
    double amplitude = 1.0;           ///< yarn: what cosine and sine are multiplied with
    std::vector<float> divisors;      ///< [head_dim / 2] or empty: w_i is divided by it (GGUF rope_freqs)

    bool operator==(const Rotary&) const = default;
};

/// Activation of the feed-forward block, named exactly as model files name them.
enum class Activation {
    gelu_tanh,  ///< "gelu_new", "gelu_pytorch_tanh": 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    gelu_erf,   ///< "gelu": 0.5 x (1 + erf(x / sqrt 2))
    relu,       ///< "relu"
    silu,       ///< "silu": x / (1 + exp(-x))
};
const char* to_string(Activation activation);

/// Shape and rules of a decoder model. Plain value; `validate` says whether it can be run.
struct ModelConfig {
    Family family = Family::gpt2;
    std::string name;     ///< what to call it on screen, e.g. the folder or preset name
    int vocab = 0;        ///< rows of the token embedding
    int n_positions = 0;  ///< the longest context; with learned positions the rows of their table
    int d_model = 0;
    int n_layer = 0;
    int n_head = 0;
    int n_kv_head = 0;  ///< divides n_head; several query heads share one
    int head_dim = 0;   ///< n_head * head_dim may differ from d_model
    int d_ff = 0;       ///< width of the feed-forward block
    float norm_eps = 1e-5f;
    Activation activation = Activation::gelu_tanh;
    NormKind norm = NormKind::layer_norm;
    bool gated_ff = false;         ///< down(activation(gate x) * up x) instead of down(activation(up x))
    bool qkv_bias = true;          ///< the projections to queries, keys and values have biases,
    bool attn_out_bias = true;     ///< the one after attention,
    bool ff_bias = true;           ///< and those of the feed-forward block
    std::optional<Rotary> rotary;  ///< none: positions are learned, a table of n_positions rows
    bool scale_attention = true;   ///< divide scores by sqrt(head_dim)
    bool scale_attention_by_layer = false;  ///< and by (layer + 1): scale_attn_by_inverse_layer_idx
    int window =
        0;  ///< sliding window the model was trained with: tokens a query sees, itself included; 0 = all
    bool tied_head = true;              ///< the output projection is the token embedding
    std::string stored_as = "f32";      ///< types of the weights in the file, the most bytes first: "bf16",
                                        ///< "Q8_0, F32"; computing is in f32
    std::vector<std::int32_t> eos_ids;  ///< union of all end-of-text ids the files name

    /// Values of all query heads, and of all key (or value) heads, of one token.
    int q_width() const { return n_head * head_dim; }
    int kv_width() const { return n_kv_head * head_dim; }
    int qkv_width() const { return q_width() + 2 * kv_width(); }

    /// Number of parameters, the tied head counted once.
    std::int64_t n_parameter() const;
    /// Bytes of K and V that one token adds: 2 x n_layer x n_kv_head x head_dim x size_of(dtype).
    std::int64_t kv_bytes_per_token(DType dtype) const;
    /// Checks ranges, divisibility and products (hostile files); the sentence names the field.
    Result<void> validate() const;
};

}  // namespace decodescope
