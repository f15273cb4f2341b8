// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/formats/ggml_types.h"
#include "engine/formats/gguf_value.h"

namespace decodescope {

/// One tensor of a GGUF file.
struct GgufTensor {
    std::string name;
    const GgmlTypeInfo* type = nullptr;  ///< never null
    std::vector<std::uint64_t> shape;    ///< 1 to 4 dimensions, the innermost last (the file has it first)
    std::uint64_t offset = 0;            ///< from the start of the data section
    std::uint64_t bytes = 0;
};

/// What a GGUF header says, checked. Move-only: values point into `buffer`.
struct GgufHeader {
    GgufHeader() = default;
    GgufHeader(GgufHeader&&) = default;
    GgufHeader& operator=(GgufHeader&&) = default;

    std::uint32_t version = 0;
    std::uint64_t alignment = 32;
    std::uint64_t data_start = 0;  ///< of the data section in the file
    std::map<std::string, GgufValue, std::less<>> metadata;
    std::vector<GgufTensor> tensors;  ///< in the order of their data
    std::vector<std::string> notes;   ///< what is unusual, to be read after the file's name
    std::vector<char> buffer;         ///< the bytes of the metadata

    /// The value of that key, or null.
    const GgufValue* find(std::string_view key) const;
    /// Sets `out` to the text under that key, valid as long as the header; leaves it alone when there is
    /// none. Another type is an error that begins with `label`.
    Result<void> read_text(std::string_view key, const std::string& label, std::string_view& out) const;
};

/// Fills `out` with the bytes of a file from `offset`.
using GgufRead = std::function<Result<void>(std::uint64_t offset, std::span<std::byte> out)>;

/// Parses the header of a GGUF file of `file_bytes` bytes, version 2 or 3, and checks it: every count and
/// length against the bytes that are left before anything is allocated, no key or tensor twice, known types,
/// aligned tensors that lie inside the file and do not overlap. The program's own limits: 64 MiB of header,
/// 65,536 keys, 100,000 tensors, arrays in arrays 4 deep. Split files are refused. Errors are one sentence
/// that begins with `label` (the file's path).
Result<GgufHeader> parse_gguf_header(std::uint64_t file_bytes, const GgufRead& read,
                                     const std::string& label);

}  // namespace decodescope
