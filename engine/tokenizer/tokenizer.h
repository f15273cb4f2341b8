// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace decodescope {

/// Text to token ids and back. Immutable after loading; safe from any thread.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    /// Ids of `text` taken as plain text: special tokens in it ("<|endoftext|>") are ordinary characters.
    /// Bytes that are not UTF-8 are kept as bytes.
    virtual std::vector<std::int32_t> encode_text(std::string_view text) const = 0;
    /// Ids of a prompt in which special tokens are recognised as such, with those that the model expects
    /// around it.
    virtual std::vector<std::int32_t> encode_prompt(std::string_view text) const = 0;
    /// Ids that the model expects in front of a prompt (a beginning of text) and behind it; often none.
    virtual std::span<const std::int32_t> ids_before() const = 0;
    virtual std::span<const std::int32_t> ids_after() const = 0;

    /// What a model is given to go on from: `ids_before`, then the text, with special tokens recognised if
    /// `control`. Nothing behind it.
    std::vector<std::int32_t> encode_to_continue(std::string_view text, bool control) const;

    /// The bytes of one token (may be part of a UTF-8 character). Empty for ids without a spelling.
    virtual std::string_view token_bytes(std::int32_t id) const = 0;
    /// True for control tokens such as the end of text.
    virtual bool is_special(std::int32_t id) const = 0;
    /// One more than the largest id.
    virtual std::int32_t n_token() const = 0;

    /// Bytes of all tokens, decoded as one UTF-8 string; invalid sequences become U+FFFD.
    std::string decode(std::span<const std::int32_t> ids) const;
};

/// Turns a stream of token bytes into whole UTF-8 characters: an unfinished tail is held back until the next
/// token or `finish`. Not shared between threads.
class Utf8Stream {
public:
    /// Adds bytes; returns the characters that are now complete (invalid bytes as U+FFFD).
    std::string push(std::string_view bytes);
    /// Returns what is left, an unfinished tail as U+FFFD.
    std::string finish();

private:
    std::string pending_;
};

/// Byte-level BPE from `vocab.json` and `merges.txt` of a folder (or `encoder.json` and `vocab.bpe`), GPT-2's
/// split rule. Errors name the file, the line or key, and what was expected.
Result<std::shared_ptr<const Tokenizer>> load_byte_level_bpe(const std::filesystem::path& folder);

}  // namespace decodescope
