// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// What a Hugging Face folder says about its tokenizer.
struct HfTokenizer {
    /// Null when the folder has none that this program reads; `notes` says why.
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<std::int32_t> eos_id;  ///< the special token that `tokenizer_config.json` names
    /// The model's chat template, as it is in the files: text to show, never to be executed. May be empty.
    std::string chat_template;
    std::vector<std::string> notes;  ///< what is unusual; each begins with a path
};

/// Reads `tokenizer.json`; without one `vocab.json` and `merges.txt` (or `encoder.json` and `vocab.bpe`),
/// whose special tokens come from `tokenizer_config.json`, `special_tokens_map.json` and `added_tokens.json`,
/// and whose split rule follows `model_type` in `config.json`. Broken files are errors; a well-formed
/// tokenizer of another kind is a note.
Result<HfTokenizer> load_hf_tokenizer(const std::filesystem::path& folder);

}  // namespace decodescope
