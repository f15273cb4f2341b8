// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace decodescope {

/// A token that is looked for in the text itself, before splitting and merging. The flags have the meaning of
/// Hugging Face's tokenizer.json.
struct AddedToken {
    std::int32_t id = -1;
    std::string content;       ///< an empty one is never found
    bool single_word = false;  ///< only where no word character touches it
    bool lstrip = false;       ///< takes the white space before it
    bool rstrip = false;       ///< takes the white space behind it
    bool normalized = false;   ///< looked for in the normalized text, not in the raw one
    bool special = true;       ///< a control token: plain characters in `encode_text`
};

/// Finds added tokens in a text: leftmost first, the longest of those. Immutable; safe from any thread.
class AddedTokenFinder {
public:
    AddedTokenFinder() = default;
    /// Of two tokens with the same content the first counts.
    explicit AddedTokenFinder(std::vector<AddedToken> tokens);

    /// A stretch of text between tokens (id -1, never empty), or a token with the text it covers.
    struct Part {
        std::string_view text;
        std::int32_t id = -1;
    };
    /// All parts of `text` in order. Without `with_special`, special tokens stay text.
    std::vector<Part> split(std::string_view text, bool with_special) const;
    bool empty() const { return tokens_.empty(); }

private:
    /// The longest token that starts the text, or null.
    const AddedToken* longest_at(std::string_view text) const;

    std::vector<AddedToken> tokens_;  // by content
    std::array<bool, 256> starts_{};  // the first bytes of all contents
};

}  // namespace decodescope
