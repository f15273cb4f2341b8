// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/split_gpt2.h"

#include <utf8proc.h>

#include <array>
#include <cstddef>

#include "engine/core/utf8.h"

namespace decodescope {

namespace {

enum class CharClass { letter, number, space, other };

/// Unicode's White_Space property. Stable by Unicode's policy, and not a general category, so it is spelt
/// out.
bool is_white_space(char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

CharClass class_of(char32_t c) {
    if (is_white_space(c)) return CharClass::space;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO: return CharClass::letter;
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_NO: return CharClass::number;
        default: return CharClass::other;
    }
}

struct Char {
    CharClass type = CharClass::other;
    std::size_t length = 1;
};

Char char_at(std::string_view text, std::size_t at) {
    const Utf8Step step = utf8_at(text, at);
    if (step.kind != Utf8Step::Kind::character) return {};
    return {class_of(step.code_point), step.length};
}

/// End of the run of characters of `type` that starts at `at`, and the place of its last character.
struct Run {
    std::size_t end = 0;
    std::size_t last = 0;
};

Run run_at(std::string_view text, std::size_t at, CharClass type) {
    Run run{at, at};
    while (run.end < text.size()) {
        const Char next = char_at(text, run.end);
        if (next.type != type) break;
        run.last = run.end;
        run.end += next.length;
    }
    return run;
}

}  // namespace

std::size_t first_piece_gpt2(std::string_view text) {
    constexpr std::array<std::string_view, 7> contractions = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (const std::string_view contraction : contractions) {
        if (text.starts_with(contraction)) return contraction.size();
    }

    const std::size_t word = text[0] == ' ' && text.size() > 1 ? 1 : 0;
    const CharClass type = char_at(text, word).type;
    if (type != CharClass::space) return run_at(text, word, type).end;

    const Run spaces = run_at(text, 0, CharClass::space);
    if (spaces.end == text.size() || spaces.last == 0) return spaces.end;
    return spaces.last;
}

}  // namespace decodescope
