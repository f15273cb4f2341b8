// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/model/weights.h"

namespace decodescope {

/// Shape of a preset: "tiny", "one-block" (tiny with one layer), "tiny-window" (tiny
/// with a sliding window of 6), "tiny-llama" (two query heads to a KV head, rotary positions), "gpt2-small",
/// "gpt2-medium", "gpt2-large", "gpt2-xl". Unknown names are refused with the list.
Result<ModelConfig> preset_config(std::string_view name);
std::vector<std::string_view> preset_names();

/// Random weights for `config`; the same `seed` gives the same bits on every machine (integer arithmetic
/// only, see `engine/core/random.h`). Matrices and embeddings have standard deviation 0.02 (GPT-2's
/// initialisation), scaled by 1/sqrt(2 n_layer) on the two residual projections; norms are 1 and 0; biases
/// are drawn too (0.02), so that a forgotten bias shows.
Result<std::shared_ptr<const Weights>> random_weights(const ModelConfig& config, std::uint64_t seed,
                                                      std::shared_ptr<MemoryLedger> ledger);

}  // namespace decodescope
