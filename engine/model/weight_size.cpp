// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/weight_size.h"

namespace decodescope {

std::uint64_t matrix_bytes(const Weights& weights) {
    std::uint64_t bytes = weights.head.weight_bytes();
    for (const LayerWeights& layer : weights.layers)
        for_each_product(layer, [&](const Linear& linear) { bytes += linear.weight_bytes(); });
    return bytes;
}

std::uint64_t prepared_bytes(const ModelConfig& config, WeightType type, bool gpu) {
    const auto bytes = [&](int n_in, int n_out) { return matrix_bytes(type, n_in, n_out, gpu); };
    const std::uint64_t layer =
        bytes(config.d_model, config.qkv_width()) + bytes(config.q_width(), config.d_model) +
        bytes(config.d_model, config.d_ff) * (config.gated_ff ? 2 : 1) + bytes(config.d_ff, config.d_model);
    return static_cast<std::uint64_t>(config.n_layer) * layer + bytes(config.d_model, config.vocab);
}

}  // namespace decodescope
