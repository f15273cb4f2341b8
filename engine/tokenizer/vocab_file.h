// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/core/result.h"

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

/// Spelling to id, as in the file.
using Vocab = std::unordered_map<std::string, std::int32_t>;

/// Reads a vocabulary: one JSON object of spelling -> id. Ids are unique, 0 to 4194303; holes are legal.
Result<Vocab> load_vocab(const std::filesystem::path& path);

/// One merge as written, in order of priority.
struct MergeLine {
    std::size_t line = 0;  ///< counted from 1
    std::string left;
    std::string right;
};

/// Reads a list of merges: an optional first line starting with "#version", then "left right" per line.
/// Lines end at LF (a CR before it is dropped), never elsewhere.
Result<std::vector<MergeLine>> load_merges(const std::filesystem::path& path);

}  // namespace decodescope
