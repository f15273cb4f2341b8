// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/result.h"

namespace decodescope {

/// One entry of a safetensors header.
struct SafetensorsEntry {
    std::string name;
    std::string dtype;                 ///< as written: "F32", "F16", "BF16", "U8", ...
    std::vector<std::uint64_t> shape;  ///< row-major; empty = scalar
    std::uint64_t begin = 0;           ///< byte range relative to the data section
    std::uint64_t end = 0;
};

/// A safetensors file whose header has been checked strictly: sizes, coverage without hole or overlap, no
/// duplicate names, known dtypes. The file is mapped read-only; the mapping lives as long as this object.
class SafetensorsFile {
public:
    /// Opens and checks `path`. Every failure is one sentence that names the file and the rule.
    static Result<std::shared_ptr<const SafetensorsFile>> open(const std::filesystem::path& path);

    virtual ~SafetensorsFile() = default;
    /// Entries in the order of their data.
    virtual const std::vector<SafetensorsEntry>& entries() const = 0;
    virtual const SafetensorsEntry* find(const std::string& name) const = 0;
    virtual const std::map<std::string, std::string>& metadata() const = 0;
    /// Raw bytes of an entry; not aligned.
    virtual std::span<const std::byte> bytes(const SafetensorsEntry& entry) const = 0;
    virtual std::uint64_t file_size() const = 0;
    /// "sha256:<hex>" of the whole file; computed when first asked for.
    virtual std::string sha256() const = 0;
};

}  // namespace decodescope
