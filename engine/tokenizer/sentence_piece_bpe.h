// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenizer/added_tokens.h"
#include "engine/tokenizer/token_table.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// What a token of a SentencePiece vocabulary is, with the numbers of GGUF's `tokenizer.ggml.token_type`.
enum class PieceType : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

/// The byte of a token spelt `<0xHH>` with two hexadecimal digits, or nothing.
std::optional<unsigned char> byte_token_value(std::string_view text);

/// How SentencePiece writes a space.
inline constexpr std::string_view space_mark = "\u2581";

/// What makes a BPE tokenizer of SentencePiece's kind (Llama 2, TinyLlama): spaces are U+2581, merging starts
/// at characters, and a character without a token becomes its bytes. Comes from GGUF files with
/// `tokenizer.ggml.model` = "llama" (scores) and from tokenizer.json files with `byte_fallback` (merges).
struct SentencePieceSpec {
    TokenTable tokens;
    /// By id, as many as `tokens.n_token()`. Tokens of type byte are spelt `<0xHH>`. Only normal tokens come
    /// out of merging; user-defined ones are found in every text, control and unknown ones in prompts.
    std::vector<PieceType> types;
    /// By id. The pair whose token has the highest score is merged first. Empty: `merges` count.
    std::vector<float> scores;
    MergeList merges;  ///< in order of rank; used when `scores` is empty
    /// Where a space is put in front of text.
    enum class Prefix {
        none,
        first,          ///< before text at the start
        every,          ///< before each stretch between added tokens
        every_missing,  ///< the same, unless it starts with a space
    };
    Prefix prefix = Prefix::every;
    /// Further tokens to look for, or flags of those in `tokens`.
    std::vector<AddedToken> added;
    std::vector<std::int32_t> before;  ///< ids put before a prompt: the BOS token
    std::vector<std::int32_t> after;   ///< ids put behind a prompt
    std::string label;                 ///< begins messages: the file's path
};

/// Checks `spec` and makes the tokenizer. Errors are one sentence that names the token or merge. `notes`
/// receives what is unusual (a text that two ids share).
///
/// `token_bytes` has a space for each U+2581, so the space that encoding puts in front of a text is kept when
/// its tokens are decoded: what a stream of tokens shows is what `decode` gives, for a continuation as for a
/// whole text. (The reference strips one leading space of a whole text.)
Result<std::shared_ptr<const Tokenizer>> make_sentence_piece_bpe(SentencePieceSpec spec,
                                                                 std::vector<std::string>* notes = nullptr);

}  // namespace decodescope
