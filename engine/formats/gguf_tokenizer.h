// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/formats/gguf_header.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// What the metadata of a GGUF file says about its tokenizer.
struct GgufTokenizer {
    /// Null when the file has none that this program reads; `notes` says why.
    std::shared_ptr<const Tokenizer> tokenizer;
    /// As it is in the file: text to show, never to be executed. May be empty.
    std::string chat_template;
    std::vector<std::string> notes;  ///< what is unusual; each begins with `label`
};

/// Makes the tokenizer of the keys `tokenizer.*`: byte-level BPE (kind "gpt2", with the split rule that
/// `tokenizer.ggml.pre` names) or SentencePiece's BPE (kind "llama"). Lists of unequal lengths or wrong types
/// and ids out of range are errors, one sentence that begins with `label` (the file's path); a tokenizer of
/// another kind is a note. `n_row` is how many tokens the model knows, 0 when that is
/// not stated.
Result<GgufTokenizer> read_gguf_tokenizer(const GgufHeader& header, const std::string& label, int n_row);

}  // namespace decodescope
