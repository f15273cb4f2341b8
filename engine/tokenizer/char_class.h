// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace decodescope {

/// What the split rules tell apart: Unicode's L* (letter), N* (number), White_Space, and all else, marks and
/// bytes that are not UTF-8 included.
enum class CharClass { letter, number, space, other };

/// One character of a text, or one stretch of bytes that is not UTF-8.
struct Char {
    CharClass type = CharClass::other;
    std::size_t length = 1;  ///< in bytes
};

/// The character at `text[at]`, `at < text.size()`. A byte that is not UTF-8 is one "other" character.
Char char_at(std::string_view text, std::size_t at);
/// The last character of `text`, which is not empty.
Char last_char(std::string_view text);

/// Whether the character at the start or end of `text` belongs to a word, as regular expressions mean it with
/// `\w`: letters, marks, decimal digits, connectors. False for an empty text.
bool starts_with_word(std::string_view text);
bool ends_with_word(std::string_view text);

}  // namespace decodescope
