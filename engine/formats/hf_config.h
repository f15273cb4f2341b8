// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/model/model_config.h"

namespace decodescope {

/// Reads the text of a Hugging Face `config.json` (`model_type` gpt2, llama, mistral or qwen2) into a valid
/// `ModelConfig` (`name` and `stored_as` are left to the caller). Other families are refused by name;
/// unusual values that are tolerated are told in `notes`. Errors are one sentence that begins with `label`
/// (the file's path).
Result<ModelConfig> parse_hf_config(std::string_view text, const std::string& label,
                                    std::vector<std::string>* notes);

/// Adds the end-of-text ids of a `generation_config.json` to `config.eos_ids`, each once; ids outside the
/// vocabulary are left out and told in `notes`.
Result<void> add_generation_config(std::string_view text, const std::string& label, ModelConfig& config,
                                   std::vector<std::string>* notes);

}  // namespace decodescope
