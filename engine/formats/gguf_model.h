// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/formats/gguf_header.h"
#include "engine/model/model_config.h"

namespace decodescope {

/// What the metadata of a GGUF file says about its model.
struct GgufModel {
    std::string architecture;  ///< "gpt2", "llama", ...: short printable ASCII
    /// The numbers that the file states; 0 = not stated.
    ModelConfig config;
    /// Why the model cannot be run. Nothing: `config` is valid and describes it wholly, except for
    /// `Rotary::divisors`, which are a tensor. Otherwise its family, activation and the like mean nothing.
    std::optional<Error> obstacle;
    std::optional<bool> tied_head;  ///< known for gpt2, llama and qwen2
    std::uint64_t n_parameter = 0;
    std::vector<std::string> notes;  ///< what is unusual; each begins with `label`
};

/// Reads what `header` says about the model. Wrong types and numbers out of range are errors, one sentence
/// that begins with `label` (the file's path) and names the key.
Result<GgufModel> read_gguf_model(const GgufHeader& header, const std::string& label);

}  // namespace decodescope
