// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/core/mapped_file.h"
#include "engine/core/result.h"

namespace decodescope {

/// A regular file open for reading. `read_at` copies: a file that another program cuts short while it is open
/// becomes an error, where a mapping needs care. Move-only; reading is safe from any thread.
class InputFile {
public:
    /// Opens `path`. Missing files, dangling links, directories, empty files and unfinished downloads each
    /// fail with their own sentence.
    static Result<InputFile> open(const std::filesystem::path& path);

    InputFile(InputFile&& other) noexcept
        : path_(std::move(other.path_)),
          descriptor_(std::exchange(other.descriptor_, -1)),
          size_(other.size_) {}
    InputFile& operator=(InputFile&& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(descriptor_, other.descriptor_);
        std::swap(size_, other.size_);
        return *this;
    }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    const std::filesystem::path& path() const { return path_; }
    /// Bytes of the file when it was opened; at least 1.
    std::uint64_t size() const { return size_; }
    /// Fills `out` from `offset`; fewer bytes than that is an error.
    Result<void> read_at(std::uint64_t offset, std::span<std::byte> out) const;
    /// All `size()` bytes, mapped; see `MappedFile::map`.
    Result<MappedFile> map() const { return MappedFile::map(path_, descriptor_, size_); }
    /// "sha256:<hex>" of all `size()` bytes.
    Result<std::string> sha256() const;

private:
    InputFile(std::filesystem::path path, int descriptor, std::uint64_t size)
        : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

/// The hash of a file, computed when it is first asked for. Safe from any thread.
class FileHash {
public:
    Result<std::string> of(const InputFile& file) const {
        const std::lock_guard lock(mutex_);
        if (!hash_) hash_ = file.sha256();
        return *hash_;
    }

private:
    mutable std::mutex mutex_;
    mutable std::optional<Result<std::string>> hash_;
};

/// Whether a file, folder or link has this name. A dangling link counts: what is there must be right.
bool is_there(const std::filesystem::path& path);

/// Says what a file is that was saved in a model file's place: a Git LFS pointer, a web page, a zip archive
/// (PyTorch) or GGUF, judged by its first bytes (64 are enough). Success when it is none of these.
Result<void> refuse_impostor(const std::filesystem::path& path, std::span<const std::byte> first_bytes);
/// The same for a file on disk, which must be there and not empty.
Result<void> refuse_impostor(const std::filesystem::path& path);

}  // namespace decodescope
