// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/utf8.h"

namespace decodescope {

namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

}  // namespace

Utf8Step utf8_at(std::string_view text, std::size_t at) {
    const unsigned char first = byte_at(text, at);
    if (first < 0x80) return {Utf8Step::Kind::character, 1, first};
    if (first < 0xC2 || first > 0xF4) return {Utf8Step::Kind::invalid, 1, 0};

    const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    // The second byte's range excludes overlong forms, surrogates and values above U+10FFFF.
    const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    char32_t code_point = first & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (at + i == text.size()) return {Utf8Step::Kind::unfinished, i, 0};
        const unsigned char next = byte_at(text, at + i);
        if (next < (i == 1 ? low : 0x80) || next > (i == 1 ? high : 0xBF)) {
            return {Utf8Step::Kind::invalid, i, 0};
        }
        code_point = (code_point << 6) | (next & 0x3Fu);
    }
    return {Utf8Step::Kind::character, length, code_point};
}

void append_utf8(std::string& out, char32_t code_point) {
    const auto put = [&](char32_t byte) {
        out.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
    };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0 | (code_point >> 6));
        put(0x80 | (code_point & 0x3F));
    } else if (code_point < 0x10000) {
        put(0xE0 | (code_point >> 12));
        put(0x80 | ((code_point >> 6) & 0x3F));
        put(0x80 | (code_point & 0x3F));
    } else {
        put(0xF0 | (code_point >> 18));
        put(0x80 | ((code_point >> 12) & 0x3F));
        put(0x80 | ((code_point >> 6) & 0x3F));
        put(0x80 | (code_point & 0x3F));
    }
}

}  // namespace decodescope
