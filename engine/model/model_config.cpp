// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

template <class... Parts>
Error bad_input(fmt::format_string<Parts...> text, Parts&&... parts) {
    return {ErrorKind::bad_input, "Model config: " + fmt::format(text, std::forward<Parts>(parts)...)};
}

/// What the families' files call the fields that are checked here.
struct FieldNames {
    const char *n_positions, *d_model, *n_layer, *n_head, *n_kv_head, *d_ff, *norm_eps;
};

const FieldNames& field_names(Family family) {
    static constexpr FieldNames gpt2{"n_positions", "n_embd",  "n_layer",           "n_head",
                                     "n_kv_head",   "n_inner", "layer_norm_epsilon"};
    static constexpr FieldNames llama{
        "max_position_embeddings", "hidden_size",       "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads",     "intermediate_size", "rms_norm_eps"};
    return family == Family::gpt2 ? gpt2 : llama;
}

Result<void> check_rotary(const Rotary& rotary, int head_dim) {
    const auto check = [](const char* field, double value, double least, double most) -> Result<void> {
        if (value >= least && value <= most) return {};
        return bad_input("{} is {}, expected a value from {} to {}.", field, value, least, most);
    };
    if (head_dim % 2 != 0) {
        return bad_input("head_dim is {}, expected an even number for rotary positions.", head_dim);
    }
    DS_TRY(check("rope_theta", rotary.theta, 1.5, 1e12));
    DS_TRY(check("the rope scaling's factor", rotary.factor, 1e-3, 1e6));
    DS_TRY(check("the rope scaling's attention_factor", rotary.amplitude, 1e-3, 1e3));
    if (rotary.scaling == RotaryScaling::llama3 || rotary.scaling == RotaryScaling::yarn) {
        DS_TRY(check("original_max_position_embeddings", rotary.original_positions, 1, max_positions));
    }
    if (rotary.scaling == RotaryScaling::llama3) {
        DS_TRY(check("low_freq_factor", rotary.low_freq_factor, 1e-3, 1e6));
        DS_TRY(check("high_freq_factor", rotary.high_freq_factor, 1e-3, 1e6));
        if (rotary.high_freq_factor <= rotary.low_freq_factor) {
            return bad_input("high_freq_factor is {}, expected more than low_freq_factor = {}.",
                             rotary.high_freq_factor, rotary.low_freq_factor);
        }
    }
    if (rotary.scaling == RotaryScaling::yarn) {
        DS_TRY(check("beta_fast", rotary.beta_fast, 1e-3, 1e6));
        DS_TRY(check("beta_slow", rotary.beta_slow, 1e-3, 1e6));
        if (rotary.beta_fast <= rotary.beta_slow) {
            return bad_input("beta_fast is {}, expected more than beta_slow = {}.", rotary.beta_fast,
                             rotary.beta_slow);
        }
    }
    if (!rotary.divisors.empty() && rotary.divisors.size() != static_cast<std::size_t>(head_dim) / 2) {
        return bad_input("there are {} divisors of the rope frequencies, expected {}.",
                         rotary.divisors.size(), head_dim / 2);
    }
    const auto usable = [](float divisor) { return std::isfinite(divisor) && divisor > 0; };
    if (!std::all_of(rotary.divisors.begin(), rotary.divisors.end(), usable)) {
        return bad_input("a divisor of the rope frequencies is not a positive number.");
    }
    return {};
}

}  // namespace

const char* to_string(Family family) {
    switch (family) {
        case Family::gpt2: return "gpt2";
        case Family::llama: return "llama";
    }
    return "gpt2";
}

const char* to_string(NormKind kind) {
    switch (kind) {
        case NormKind::layer_norm: return "layer_norm";
        case NormKind::rms_norm: return "rms_norm";
    }
    return "layer_norm";
}

const char* to_string(RotaryPairs pairs) {
    switch (pairs) {
        case RotaryPairs::halves: return "halves";
        case RotaryPairs::neighbours: return "neighbours";
    }
    return "halves";
}

const char* to_string(RotaryScaling scaling) {
    switch (scaling) {
        case RotaryScaling::none: return "none";
        case RotaryScaling::linear: return "linear";
        case RotaryScaling::llama3: return "llama3";
        case RotaryScaling::yarn: return "yarn";
    }
    return "none";
}

const char* to_string(Activation activation) {
    switch (activation) {
        case Activation::gelu_tanh: return "gelu_new";
        case Activation::gelu_erf: return "gelu";
        case Activation::relu: return "relu";
        case Activation::silu: return "silu";
    }
    return "gelu_new";
}

std::int64_t ModelConfig::n_parameter() const {
    const std::int64_t d = d_model;
    const std::int64_t one_norm = norm == NormKind::layer_norm ? 2 * d : d;
    const auto linear = [](std::int64_t n_in, std::int64_t n_out, bool bias) {
        return n_out * (n_in + (bias ? 1 : 0));
    };
    const std::int64_t per_layer = 2 * one_norm + linear(d, qkv_width(), qkv_bias) +
                                   linear(q_width(), d, attn_out_bias) +
                                   (gated_ff ? 2 : 1) * linear(d, d_ff, ff_bias) + linear(d_ff, d, ff_bias);
    const std::int64_t embeddings = d * vocab + (rotary ? 0 : d * n_positions);
    return embeddings + n_layer * per_layer + one_norm + (tied_head ? 0 : d * vocab);
}

std::int64_t ModelConfig::kv_bytes_per_token(DType dtype) const {
    return std::int64_t{2} * n_layer * n_kv_head * head_dim * static_cast<std::int64_t>(size_of(dtype));
}

Result<void> ModelConfig::validate() const {
    const FieldNames& names = field_names(family);
    DS_TRY(check_range("vocab_size", vocab, max_vocab));
    DS_TRY(check_range(names.n_positions, n_positions, max_positions));
    DS_TRY(check_range(names.d_model, d_model, max_width));
    DS_TRY(check_range(names.n_layer, n_layer, max_layers));
    DS_TRY(check_range(names.n_head, n_head, max_width));
    DS_TRY(check_range(names.n_kv_head, n_kv_head, n_head));
    DS_TRY(check_range("head_dim", head_dim, max_width));
    DS_TRY(check_range(names.d_ff, d_ff, max_width));
    // Of the families that do not name head_dim, so that it follows from the width.
    if (family == Family::gpt2 && std::int64_t{n_head} * head_dim != d_model) {
        return bad_input("{} is {}, which {} = {} does not divide.", names.d_model, d_model, names.n_head,
                         n_head);
    }
    if (std::int64_t{n_head} * head_dim > max_width) {
        return bad_input("{} = {} heads of head_dim = {} are wider than {}.", names.n_head, n_head, head_dim,
                         max_width);
    }
    if (n_head % n_kv_head != 0) {
        return bad_input("{} = {} does not divide {} = {}.", names.n_kv_head, n_kv_head, names.n_head,
                         n_head);
    }
    if (window < 0 || window > max_positions) {
        return bad_input("sliding_window is {}, expected a number from 0 to {}.", window, max_positions);
    }
    if (!(norm_eps > 1e-12f && norm_eps < 1e-2f)) {
        return bad_input("{} is {}, expected a value from 1e-12 to 1e-2.", names.norm_eps, norm_eps);
    }
    return rotary ? check_rotary(*rotary, head_dim) : Result<void>();
}

}  // namespace decodescope
