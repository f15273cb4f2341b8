// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "engine/core/result.h"

namespace decodescope {

/// A regular file mapped read-only. Deleting or renaming the file changes nothing. Pages of a file that
/// another program cuts short are gone, and touching them ends the process (but see
/// `survive_shrinking_files`): `check` before and after reading. Move-only; safe from any thread.
class MappedFile {
public:
    /// Maps the `size` >= 1 bytes of the file that `descriptor` is open on, which may be closed afterwards.
    /// `path` is for messages. Fails with `io` when the file has become shorter, with `unsupported` when the
    /// system does not map it: then read it.
    static Result<MappedFile> map(const std::filesystem::path& path, int descriptor, std::uint64_t size);

    MappedFile(MappedFile&& other) noexcept { swap(other); }
    MappedFile& operator=(MappedFile&& other) noexcept {
        swap(other);
        return *this;
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    /// The whole file; begins on a page.
    std::span<const std::byte> bytes() const { return {data_, size_}; }
    /// Whether the file still is as it was: as long, and not written to since. One system call.
    Result<void> check() const;
    /// The same, and brings [offset, offset + n) into memory at once rather than page by page.
    Result<void> populate(std::uint64_t offset, std::uint64_t n) const;

private:
    MappedFile() = default;
    void swap(MappedFile& other) noexcept;

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::int64_t modified_s_ = 0;
    std::int64_t modified_ns_ = 0;
};

/// From now on, reading a mapped page that its file no longer has gives zeros instead of ending the process;
/// `check` tells. Takes over the process's SIGBUS: for a program's main function, not for libraries.
void survive_shrinking_files();

}  // namespace decodescope
