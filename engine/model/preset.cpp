// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/preset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "engine/core/random.h"

namespace decodescope {

namespace {

struct Preset {
    std::string_view name;
    int vocab, n_positions, d_model, n_layer, n_head, window;
};

constexpr Preset presets[] = {
    {"tiny", 64, 64, 32, 2, 4, 0},
    {"one-block", 64, 64, 32, 1, 4, 0},
    {"tiny-window", 64, 64, 32, 2, 4, 6},
    {"tiny-llama", 64, 64, 32, 2, 4, 0},
    {"gpt2-small", 50257, 1024, 768, 12, 12, 0},
    {"gpt2-medium", 50257, 1024, 1024, 24, 16, 0},
    {"gpt2-large", 50257, 1024, 1280, 36, 20, 0},
    {"gpt2-xl", 50257, 1024, 1600, 48, 25, 0},
};

}  // namespace

std::vector<std::string_view> preset_names() {
    std::vector<std::string_view> names;
    for (const Preset& preset : presets) names.push_back(preset.name);
    return names;
}

Result<ModelConfig> preset_config(std::string_view name) {
    for (const Preset& preset : presets) {
        if (preset.name != name) continue;
        ModelConfig config;
        config.name = preset.name;
        config.vocab = preset.vocab;
        config.n_positions = preset.n_positions;
        config.d_model = preset.d_model;
        config.n_layer = preset.n_layer;
        config.n_head = config.n_kv_head = preset.n_head;
        config.head_dim = preset.d_model / preset.n_head;
        config.d_ff = 4 * preset.d_model;
        config.window = preset.window;
        if (preset.name == "tiny-llama") {
            config.family = Family::llama;
            config.n_kv_head = 2;
            config.d_ff = 80;
            config.norm = NormKind::rms_norm;
            config.activation = Activation::silu;
            config.gated_ff = true;
            config.qkv_bias = config.attn_out_bias = config.ff_bias = false;
            config.rotary.emplace();
        }
        return config;
    }
    return Error{ErrorKind::bad_input, fmt::format("Unknown preset \"{}\", expected one of {}.", name,
                                                   fmt::join(preset_names(), ", "))};
}

Result<std::shared_ptr<const Weights>> random_weights(const ModelConfig& config, std::uint64_t seed,
                                                      std::shared_ptr<MemoryLedger> ledger) {
    auto allocated = allocate_weights(config, std::move(ledger));
    if (!allocated) return allocated.error();
    const std::shared_ptr<Weights> weights = *std::move(allocated);
    const float residual_scale = 0.02f / std::sqrt(2.0f * static_cast<float>(config.n_layer));
    std::uint64_t stream = 0;
    for (const TensorSlot& slot : tensor_slots(*weights)) {
        const std::int64_t count = slot.rows * slot.columns;
        const bool norm_weight = slot.role == TensorRole::norm_weight;
        const float scale = slot.role == TensorRole::residual_matrix ? residual_scale : 0.02f;
        for (std::int64_t i = 0; i < count; ++i) {
            const float draw = scale * random_normal(seed, stream, static_cast<std::uint64_t>(i));
            slot.data[i] = norm_weight ? 1.0f : draw;
        }
        ++stream;
    }
    weights->source = fmt::format("preset:{},seed={}", config.name, seed);
    weights->hash = weights->source;
    return std::shared_ptr<const Weights>(weights);
}

}  // namespace decodescope
