// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/tokenizer/token_table.h"

namespace decodescope {

/// What a tokenizer.json holds: the vocabulary and the merges in compact form, all else as a document tree.
struct TokenizerJsonText {
    nlohmann::json rest;  ///< an object, without model.vocab and model.merges
    TokenTable vocab;
    MergeList merges;
    bool has_vocab = false;  ///< model.vocab is there and an object
};

/// Parses the text of a tokenizer.json: valid JSON nested at most 64 deep, no key twice, strings of at most
/// 16 MiB, at most 500,000 values outside the vocabulary and the merges (which bounds memory). Ids are unique
/// and below `max_token_ids`. Errors are one sentence that begins with `label`. Only for .cpp files: it
/// brings the whole of nlohmann-json.
Result<TokenizerJsonText> parse_tokenizer_json(std::string_view text, const std::string& label);

}  // namespace decodescope
