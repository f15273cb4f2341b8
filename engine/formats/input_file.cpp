// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/core/sha256.h"

namespace decodescope {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

std::string system_message(int error) {
    return std::system_category().message(error);
}

Error cannot_open(const std::filesystem::path& path, int error) {
    if (error != ENOENT) {
        return {ErrorKind::io,
                fmt::format("{}: cannot be opened ({}).", path.string(), system_message(error))};
    }
    std::error_code ignored;
    const std::filesystem::path target = std::filesystem::read_symlink(path, ignored);
    if (target.empty()) return {ErrorKind::io, fmt::format("{}: there is no such file.", path.string())};
    return {ErrorKind::io, fmt::format("{}: links to {}, which does not exist; the download is incomplete.",
                                       path.string(), target.string())};
}

bool is_unfinished_download(const std::filesystem::path& path) {
    if (path.extension() == ".incomplete") return true;
    std::error_code ignored;
    return std::filesystem::read_symlink(path, ignored).extension() == ".incomplete";
}

}  // namespace

Result<InputFile> InputFile::open(const std::filesystem::path& path) {
    // Without O_NONBLOCK a named pipe in the file's place would wait for a writer for ever.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return cannot_open(path, errno);
    InputFile file(path, descriptor, 0);
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return cannot_open(path, errno);
    if (S_ISDIR(status.st_mode)) {
        return Error{ErrorKind::bad_input, fmt::format("{}: is a folder, expected a file.", path.string())};
    }
    if (!S_ISREG(status.st_mode)) {
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: is a device or pipe, expected a regular file.", path.string())};
    }
    if (is_unfinished_download(path)) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("{}: is an unfinished download (.incomplete); fetch it again.", path.string())};
    }
    if (status.st_size <= 0) {
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: is empty (0 bytes); the download did not finish.", path.string())};
    }
    file.size_ = static_cast<std::uint64_t>(status.st_size);
    return file;
}

InputFile::~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
    while (!out.empty()) {
        const ssize_t n = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            return Error{ErrorKind::io,
                         fmt::format("{}: cannot be read ({}).", path_.string(), system_message(errno))};
        }
        if (n == 0) {
            return Error{ErrorKind::io,
                         fmt::format("{}: became shorter while it was read: {} bytes when opened, {} now.",
                                     path_.string(), size_, offset)};
        }
        offset += static_cast<std::uint64_t>(n);
        out = out.subspan(static_cast<std::size_t>(n));
    }
    return {};
}

Result<std::string> InputFile::sha256() const {
    Sha256 hash;
    std::vector<std::byte> piece(static_cast<std::size_t>(std::min<std::uint64_t>(size_, piece_bytes)));
    for (std::uint64_t offset = 0; offset < size_; offset += piece.size()) {
        const auto out = std::span(piece).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(size_ - offset, piece.size())));
        DS_TRY(read_at(offset, out));
        hash.update(out);
    }
    return "sha256:" + hash.finish();
}

bool is_there(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

Result<void> refuse_impostor(const std::filesystem::path& path, std::span<const std::byte> first_bytes) {
    const std::string_view head(reinterpret_cast<const char*>(first_bytes.data()),
                                std::min<std::size_t>(first_bytes.size(), 64));
    std::string page;  // lower case, without leading blanks
    for (const char c : head) {
        if (!page.empty() || std::isspace(static_cast<unsigned char>(c)) == 0) {
            page += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    const char* what = nullptr;
    ErrorKind kind = ErrorKind::bad_input;
    if (head.starts_with("version https://git-lfs")) {
        what = "is a Git LFS pointer, not the file itself; fetch it with \"git lfs pull\"";
    } else if (page.starts_with("<!doctype html") || page.starts_with("<html")) {
        what = "is a web page (HTML), not the file itself; download it again";
    } else if (head.starts_with("PK\x03\x04")) {
        what = "is a zip archive (PyTorch's own format?), expected safetensors";
        kind = ErrorKind::unsupported;
    } else if (head.starts_with("GGUF")) {
        what = "is a GGUF file, expected safetensors";
        kind = ErrorKind::unsupported;
    }
    if (what == nullptr) return {};
    return Error{kind, fmt::format("{}: {}.", path.string(), what)};
}

Result<void> refuse_impostor(const std::filesystem::path& path) {
    const auto file = InputFile::open(path);
    if (!file) return file.error();
    std::array<std::byte, 64> head{};
    const auto start =
        std::span(head).first(static_cast<std::size_t>(std::min<std::uint64_t>(file->size(), head.size())));
    DS_TRY(file->read_at(0, start));
    return refuse_impostor(path, start);
}

}  // namespace decodescope
