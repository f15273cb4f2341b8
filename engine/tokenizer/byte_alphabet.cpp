// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/byte_alphabet.h"

#include <cstddef>

#include "engine/core/utf8.h"

namespace decodescope {

ByteAlphabet::ByteAlphabet() {
    bytes_.fill(-1);
    char32_t next_free = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        const char32_t code_point = printable ? static_cast<char32_t>(byte) : next_free++;
        append_utf8(symbols_[static_cast<std::size_t>(byte)], code_point);
        bytes_[code_point] = byte;
    }
}

std::optional<std::string> ByteAlphabet::bytes_of(std::string_view spelling) const {
    std::string bytes;
    for (std::size_t at = 0; at < spelling.size();) {
        const Utf8Step step = utf8_at(spelling, at);
        if (step.kind != Utf8Step::Kind::character || step.code_point >= bytes_.size() ||
            bytes_[step.code_point] < 0) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(static_cast<unsigned char>(bytes_[step.code_point])));
        at += step.length;
    }
    return bytes;
}

}  // namespace decodescope
