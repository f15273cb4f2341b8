// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/mapped_file.h"
#include "engine/core/result.h"
#include "engine/formats/gguf_header.h"

namespace decodescope {

/// Whether a file with these first bytes calls itself GGUF.
bool is_gguf(std::span<const std::byte> first_bytes);

/// A GGUF file whose header has been checked by `parse_gguf_header`. The file stays open as long as this
/// object lives. Safe from any thread.
class GgufFile {
public:
    /// Opens and checks `path`. Every failure is one sentence that names the file and the rule.
    static Result<std::shared_ptr<const GgufFile>> open(const std::filesystem::path& path);

    virtual ~GgufFile() = default;
    virtual const std::filesystem::path& path() const = 0;
    virtual const GgufHeader& header() const = 0;
    /// The tensor of that name, or null.
    virtual const GgufTensor* find(std::string_view name) const = 0;
    /// Copies raw bytes of a tensor, from `offset` in it; the range must lie inside the tensor. Fails when
    /// the file has become shorter since it was opened.
    virtual Result<void> read(const GgufTensor& tensor, std::uint64_t offset,
                              std::span<std::byte> out) const = 0;
    /// Where the bytes of a tensor begin in the file.
    virtual std::uint64_t offset_in_file(const GgufTensor& tensor) const = 0;
    /// The whole file, mapped; see `MappedFile::map`.
    virtual Result<MappedFile> map() const = 0;
    virtual std::uint64_t file_size() const = 0;
    /// "sha256:<hex>" of the whole file; computed when first asked for.
    virtual Result<std::string> sha256() const = 0;
};

}  // namespace decodescope
