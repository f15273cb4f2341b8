// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace decodescope {

/// What stands at one place of a byte string that should be UTF-8.
struct Utf8Step {
    enum class Kind {
        character,   ///< a well-formed sequence: `length` bytes hold `code_point`
        invalid,     ///< `length` bytes that no well-formed sequence starts with: one replacement character
        unfinished,  ///< the text ends inside a sequence that more bytes could complete
    };
    Kind kind = Kind::invalid;
    std::size_t length = 1;
    char32_t code_point = 0;
};

/// Looks at `text[at]`, `at < text.size()`. An invalid or unfinished stretch is as long as Unicode's "maximal
/// subpart" rule says (Unicode Standard, section 3.9), so that everybody counts the same replacement
/// characters.
Utf8Step utf8_at(std::string_view text, std::size_t at);

/// Appends `code_point` as UTF-8.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace decodescope
