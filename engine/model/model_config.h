// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/dtype.h"
#include "engine/core/result.h"

namespace decodescope {

/// Which forward pass a model uses.
enum class Family { gpt2 };
const char* to_string(Family family);

/// Activation of the feed-forward block, named exactly as model files name them.
enum class Activation {
    gelu_tanh,  ///< "gelu_new", "gelu_pytorch_tanh": 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    gelu_erf,   ///< "gelu": 0.5 x (1 + erf(x / sqrt 2))
    relu,       ///< "relu"
};
const char* to_string(Activation activation);

/// Shape and rules of a decoder model. Plain value; `validate` says whether it can be run.
struct ModelConfig {
    Family family = Family::gpt2;
    std::string name;     ///< what to call it on screen, e.g. the folder or preset name
    int vocab = 0;        ///< rows of the token embedding
    int n_positions = 0;  ///< rows of the position table: the longest context
    int d_model = 0;
    int n_layer = 0;
    int n_head = 0;
    int n_kv_head = 0;  ///< equals n_head for the gpt2 family
    int head_dim = 0;
    int d_ff = 0;  ///< width of the feed-forward block
    float norm_eps = 1e-5f;
    Activation activation = Activation::gelu_tanh;
    bool scale_attention = true;            ///< divide scores by sqrt(head_dim)
    bool scale_attention_by_layer = false;  ///< and by (layer + 1): scale_attn_by_inverse_layer_idx
    int window =
        0;  ///< sliding window the model was trained with: tokens a query sees, itself included; 0 = all
    bool tied_head = true;              ///< the output projection is the token embedding
    DType stored_dtype = DType::f32;    ///< of the weights in the file; computing is in f32
    std::vector<std::int32_t> eos_ids;  ///< union of all end-of-text ids the files name

    /// Number of parameters, the tied head counted once.
    std::int64_t n_parameter() const;
    /// Bytes of K and V that one token adds: 2 x n_layer x n_kv_head x head_dim x size_of(dtype).
    std::int64_t kv_bytes_per_token(DType dtype) const;
    /// Checks ranges, divisibility and products (hostile files); the sentence names the field.
    Result<void> validate() const;
};

}  // namespace decodescope
