// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace decodescope {

namespace {

std::string system_text(int code) {
    return std::generic_category().message(code);
}

Error io_error(const std::filesystem::path& path, const char* what, int code) {
    return Error{ErrorKind::io, fmt::format("{}: {}: {}.", path.string(), what, system_text(code))};
}

/// Closes the descriptor at the end of the scope unless it was closed (and checked) before.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }

    int get() const { return fd_; }
    int close() {
        const int fd = fd_;
        fd_ = -1;
        return fd < 0 ? 0 : ::close(fd);
    }

private:
    int fd_;
};

/// Writes everything; returns 0 or the error number.
int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        content.remove_prefix(static_cast<std::size_t>(n));
    }
    return 0;
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
    // O_NONBLOCK: opening a named pipe must not wait for a writer.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return io_error(path, "cannot be opened", errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return io_error(path, "cannot be examined", errno);
    if (!S_ISREG(status.st_mode)) {
        return Error{ErrorKind::io, fmt::format("{}: is not a regular file.", path.string())};
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > max_bytes) {
        return Error{ErrorKind::bad_input, fmt::format("{}: holds {} bytes, more than the {} accepted here.",
                                                       path.string(), size, max_bytes)};
    }
    std::string content(size, '\0');
    std::size_t filled = 0;
    while (filled < content.size()) {
        const ssize_t n = ::read(file.get(), content.data() + filled, content.size() - filled);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return io_error(path, "cannot be read", errno);
        if (n == 0) break;
        filled += static_cast<std::size_t>(n);
    }
    content.resize(filled);
    if (content.starts_with("\xEF\xBB\xBF")) content.erase(0, 3);
    return content;
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content) {
    std::error_code code;
    const auto type = std::filesystem::status(path, code).type();
    if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular) {
        // Renaming over a device or a pipe would replace it.
        Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        if (file.get() < 0) return io_error(path, "cannot be written", errno);
        if (const int failed = write_all(file.get(), content))
            return io_error(path, "cannot be written", failed);
        return {};
    }
    const std::filesystem::path target =
        std::filesystem::is_symlink(path, code) ? std::filesystem::weakly_canonical(path, code) : path;

    std::string temporary;
    int fd = -1;
    for (int attempt = 0; fd < 0 && attempt < 100; ++attempt) {
        temporary = fmt::format("{}.{}-{}.tmp", target.string(), ::getpid(), attempt);
        fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd < 0) return io_error(path, "cannot be written", errno);
    Descriptor file(fd);
    const auto fail = [&](int failed) -> Result<void> {
        ::unlink(temporary.c_str());
        return io_error(path, "cannot be written", failed);
    };
    if (const int failed = write_all(file.get(), content)) return fail(failed);
    if (::fsync(file.get()) != 0) return fail(errno);
    if (file.close() != 0) return fail(errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0) return fail(errno);
    return {};
}

}  // namespace decodescope
