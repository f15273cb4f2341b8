// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/process_memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace decodescope {

namespace {

/// Plain system calls and no buffer on the heap: this runs after every step and must not disturb what it
/// reads.
std::int64_t read_rss() {
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return ProcessMemory::not_measured;
    std::array<char, 128> text{};
    const ssize_t n = read(file, text.data(), text.size());
    close(file);
    if (n <= 0) return ProcessMemory::not_measured;
    // "size resident shared ...", in pages.
    const std::string_view line(text.data(), static_cast<std::size_t>(n));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return ProcessMemory::not_measured;
    std::int64_t pages = 0;
    const auto [end, error] = std::from_chars(line.data() + space + 1, line.data() + line.size(), pages);
    if (error != std::errc{}) return ProcessMemory::not_measured;
    return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

std::int64_t read_minor_faults() {
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) != 0) return ProcessMemory::not_measured;
    return usage.ru_minflt;
}

ProcessMemory read_process_memory() {
    ProcessMemory memory;
    memory.rss = read_rss();
    memory.minor_faults = read_minor_faults();
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    // Replaced allocators (sanitizers among them) leave glibc's own figures at zero: not measured, then.
    if (const auto heap = mallinfo2(); heap.uordblks != 0 || heap.hblkhd != 0) {
        memory.heap_in_use = static_cast<std::int64_t>(heap.uordblks);
        memory.heap_free = static_cast<std::int64_t>(heap.fordblks);
        memory.heap_mapped = static_cast<std::int64_t>(heap.hblkhd);
    }
#endif
    return memory;
}

}  // namespace decodescope
