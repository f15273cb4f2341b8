// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/model_config.h"

#include <fmt/format.h>

namespace decodescope {

namespace {

// Far above every published model, far below anything whose products could overflow 64 bits.
constexpr int max_layers = 1'000;
constexpr int max_width = 1 << 20;
constexpr int max_vocab = 1 << 24;
constexpr int max_positions = 1 << 24;

Result<void> check_range(const char* field, int value, int largest) {
    if (value >= 1 && value <= largest) return {};
    return Error{ErrorKind::bad_input, fmt::format("Model config: {} is {}, expected a number from 1 to {}.",
                                                   field, value, largest)};
}

}  // namespace

const char* to_string(Family family) {
    switch (family) {
        case Family::gpt2: return "gpt2";
    }
    return "gpt2";
}

const char* to_string(Activation activation) {
    switch (activation) {
        case Activation::gelu_tanh: return "gelu_new";
        case Activation::gelu_erf: return "gelu";
        case Activation::relu: return "relu";
    }
    return "gelu_new";
}

std::int64_t ModelConfig::n_parameter() const {
    const std::int64_t d = d_model;
    const std::int64_t qkv = std::int64_t{n_head + 2 * n_kv_head} * head_dim;
    const std::int64_t per_layer = 4 * d + qkv * d + qkv + d * d + d + 2 * d * d_ff + d_ff + d;
    const std::int64_t embeddings = d * vocab + d * n_positions;
    return embeddings + n_layer * per_layer + 2 * d + (tied_head ? 0 : d * vocab);
}

std::int64_t ModelConfig::kv_bytes_per_token(DType dtype) const {
    return std::int64_t{2} * n_layer * n_kv_head * head_dim * static_cast<std::int64_t>(size_of(dtype));
}

Result<void> ModelConfig::validate() const {
    DS_TRY(check_range("vocab_size", vocab, max_vocab));
    DS_TRY(check_range("n_positions", n_positions, max_positions));
    DS_TRY(check_range("n_embd", d_model, max_width));
    DS_TRY(check_range("n_layer", n_layer, max_layers));
    DS_TRY(check_range("n_head", n_head, max_width));
    DS_TRY(check_range("n_kv_head", n_kv_head, n_head));
    DS_TRY(check_range("head_dim", head_dim, max_width));
    DS_TRY(check_range("n_inner", d_ff, max_width));
    if (std::int64_t{n_head} * head_dim != d_model) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Model config: n_embd is {}, which n_head = {} does not divide.", d_model, n_head)};
    }
    if (n_head % n_kv_head != 0) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Model config: n_kv_head = {} does not divide n_head = {}.", n_kv_head, n_head)};
    }
    if (window < 0 || window > max_positions) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Model config: sliding_window is {}, expected a number from 0 to {}.",
                                 window, max_positions)};
    }
    if (!(norm_eps > 1e-12f && norm_eps < 1e-2f)) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Model config: layer_norm_epsilon is {}, expected a value from 1e-12 to 1e-2.",
                        norm_eps)};
    }
    return {};
}

}  // namespace decodescope
