// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/char_class.h"

#include <utf8proc.h>

#include <algorithm>

#include "engine/core/utf8.h"

namespace decodescope {

namespace {

/// Unicode's White_Space property. Stable by Unicode's policy, and not a general category, so it is spelt
/// out.
bool is_white_space(char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

CharClass class_of(char32_t c) {
    if (is_white_space(c)) return CharClass::space;
    if (c < 0x80) {
        if (c >= '0' && c <= '9') return CharClass::number;
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? CharClass::letter : CharClass::other;
    }
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

bool is_word(char32_t c) {
    if (c == 0x200C || c == 0x200D) return true;  // joiners
    // The circled and squared letters: symbols by category, alphabetic by property.
    if ((c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
        (c >= 0x1F170 && c <= 0x1F189)) {
        return true;
    }
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_PC: return true;
        default: return false;
    }
}

/// Where the last character of `text` starts.
std::size_t last_start(std::string_view text) {
    const std::size_t least = text.size() - std::min<std::size_t>(4, text.size());
    for (std::size_t at = text.size(); at-- > least;) {
        const Utf8Step step = utf8_at(text, at);
        if (step.kind == Utf8Step::Kind::character) {
            return at + step.length == text.size() ? at : text.size() - 1;
        }
    }
    return text.size() - 1;
}

}  // namespace

Char char_at(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) return {class_of(byte), 1};
    const Utf8Step step = utf8_at(text, at);
    if (step.kind != Utf8Step::Kind::character) return {};
    return {class_of(step.code_point), step.length};
}

Char last_char(std::string_view text) {
    return char_at(text, last_start(text));
}

bool starts_with_word(std::string_view text) {
    if (text.empty()) return false;
    const Utf8Step step = utf8_at(text, 0);
    return step.kind == Utf8Step::Kind::character && is_word(step.code_point);
}

bool ends_with_word(std::string_view text) {
    return !text.empty() && starts_with_word(text.substr(last_start(text)));
}

}  // namespace decodescope
