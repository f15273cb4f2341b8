// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace decodescope {

namespace {

std::size_t page_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Puts a page of zeros where the file has none left. Only calls what a signal handler may.
void on_bus_error(int, siginfo_t* info, void*) {
    const int error = errno;
    const std::size_t page = page_bytes();
    auto* here = static_cast<std::byte*>(info->si_addr);
    here -= reinterpret_cast<std::uintptr_t>(here) % page;
    const bool beyond_end = info->si_code == BUS_ADRERR;
    if (!beyond_end ||
        mmap(here, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        signal(SIGBUS, SIG_DFL);  // the access is repeated, and ends the process
    }
    errno = error;
}

}  // namespace

Result<MappedFile> MappedFile::map(const std::filesystem::path& path, int descriptor, std::uint64_t size) {
    const auto not_mapped = [&](int error) {
        return Error{ErrorKind::unsupported, fmt::format("{}: cannot be mapped ({}).", path.string(),
                                                         std::system_category().message(error))};
    };
    if (size == 0 || size > std::numeric_limits<std::size_t>::max()) return not_mapped(ENOMEM);
    MappedFile file;
    file.path_ = path;
    file.descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (file.descriptor_ < 0) return not_mapped(errno);
    struct stat status {};
    if (fstat(file.descriptor_, &status) != 0) return not_mapped(errno);
    file.modified_s_ = status.st_mtim.tv_sec;
    file.modified_ns_ = status.st_mtim.tv_nsec;
    const auto length = static_cast<std::size_t>(size);
    void* data = mmap(nullptr, length, PROT_READ, MAP_SHARED, file.descriptor_, 0);
    if (data == MAP_FAILED) return not_mapped(errno);
    file.data_ = static_cast<std::byte*>(data);
    file.size_ = length;
    DS_TRY(file.check());
    return file;
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) munmap(data_, size_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> MappedFile::check() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) {
        return Error{ErrorKind::io, fmt::format("{}: cannot be read ({}).", path_.string(),
                                                std::system_category().message(errno))};
    }
    if (static_cast<std::uint64_t>(status.st_size) < size_) {
        return Error{ErrorKind::io,
                     fmt::format("{}: became shorter while it was read: {} bytes when opened, {} now.",
                                 path_.string(), size_, status.st_size)};
    }
    if (status.st_mtim.tv_sec != modified_s_ || status.st_mtim.tv_nsec != modified_ns_) {
        return Error{ErrorKind::io,
                     fmt::format("{}: was changed while it was in use; open it again.", path_.string())};
    }
    return {};
}

Result<void> MappedFile::populate(std::uint64_t offset, std::uint64_t n) const {
    DS_TRY(check());
    const std::size_t page = page_bytes();
    const std::size_t begin = static_cast<std::size_t>(offset) / page * page;
    const std::size_t end = std::min(static_cast<std::size_t>(offset + n), size_);
    if (begin >= end) return {};
        // Advice only: where the system does not know it, pages come when they are touched.
#ifdef MADV_POPULATE_READ
    if (madvise(data_ + begin, end - begin, MADV_POPULATE_READ) == 0) return {};
#endif
    madvise(data_ + begin, end - begin, MADV_WILLNEED);
    return {};
}

void MappedFile::swap(MappedFile& other) noexcept {
    path_.swap(other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(modified_s_, other.modified_s_);
    std::swap(modified_ns_, other.modified_ns_);
}

void survive_shrinking_files() {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, nullptr);
}

}  // namespace decodescope
