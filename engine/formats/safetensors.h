// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/mapped_file.h"
#include "engine/core/result.h"

namespace decodescope {

/// One entry of a safetensors header.
struct SafetensorsEntry {
    std::string name;
    std::string dtype;                 ///< as written: "F32", "F16", "BF16", "U8", ...
    std::vector<std::uint64_t> shape;  ///< row-major; empty = scalar
    std::uint64_t begin = 0;           ///< byte range relative to the data section
    std::uint64_t end = 0;

    std::uint64_t size() const { return end - begin; }
};

/// What a safetensors header says, checked.
struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries;  ///< in the order of their data
    std::map<std::string, std::string> metadata;
};

/// Parses the JSON of a header and checks it strictly against `data_bytes`, the bytes that follow it: sizes
/// without overflow, coverage without hole or overlap, no duplicate names, known dtypes. The program's own
/// limits: 8 dimensions, 100,000 tensors, 16 MiB of names and metadata together, 4 MiB for one of them.
/// Errors are one sentence that begins with `label` (the file's path).
Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                   const std::string& label);

/// A safetensors file whose header has been checked by `parse_safetensors_header`. The file stays open as
/// long as this object lives. Safe from any thread.
class SafetensorsFile {
public:
    /// Opens and checks `path`. Every failure is one sentence that names the file and the rule.
    static Result<std::shared_ptr<const SafetensorsFile>> open(const std::filesystem::path& path);

    virtual ~SafetensorsFile() = default;
    virtual const std::filesystem::path& path() const = 0;
    /// Entries in the order of their data.
    virtual const std::vector<SafetensorsEntry>& entries() const = 0;
    /// The entry of that name, or null.
    virtual const SafetensorsEntry* find(std::string_view name) const = 0;
    virtual const std::map<std::string, std::string>& metadata() const = 0;
    /// Copies raw bytes of an entry, from `offset` in it; the range must lie inside the entry. Fails when the
    /// file has become shorter since it was opened.
    virtual Result<void> read(const SafetensorsEntry& entry, std::uint64_t offset,
                              std::span<std::byte> out) const = 0;
    /// Where the bytes of an entry begin in the file.
    virtual std::uint64_t offset_in_file(const SafetensorsEntry& entry) const = 0;
    /// The whole file, mapped; see `MappedFile::map`.
    virtual Result<MappedFile> map() const = 0;
    virtual std::uint64_t file_size() const = 0;
    /// "sha256:<hex>" of the whole file; computed when first asked for.
    virtual Result<std::string> sha256() const = 0;
};

}  // namespace decodescope
