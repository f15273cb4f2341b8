// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace decodescope {

/// The spelling of byte-level BPE files: every byte is written as one printable character.
class ByteAlphabet {
public:
    ByteAlphabet();
    /// The character that stands for `byte`, as UTF-8.
    const std::string& symbol(unsigned char byte) const { return symbols_[byte]; }
    /// The bytes a token's spelling stands for; nothing when a character is not of the alphabet.
    std::optional<std::string> bytes_of(std::string_view spelling) const;

private:
    std::array<std::string, 256> symbols_;
    std::array<int, 0x144> bytes_{};  // code point -> byte, or -1
};

}  // namespace decodescope
