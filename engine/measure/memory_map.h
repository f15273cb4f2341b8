// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace decodescope {

/// Where the resident bytes of a process are, by what its mappings are for. The parts are disjoint: their sum
/// is `rss`, to the byte.
struct MemoryMap {
    std::int64_t rss = 0;
    std::int64_t heap = 0;         ///< the C library's main heap ([heap])
    std::int64_t stack = 0;        ///< of the first thread
    std::int64_t anonymous = 0;    ///< other memory of no file: large blocks, other threads' stacks and heaps
    std::int64_t model_files = 0;  ///< mapped model files
    std::int64_t program = 0;      ///< the program and its libraries: code and constants as in their files
    std::int64_t program_data = 0;  ///< the same: pages of them that were written to
    std::int64_t other_files = 0;
    std::int64_t kernel = 0;  ///< vdso and the like

    std::int64_t huge_pages = 0;  ///< of all this: on huge pages
    std::int64_t swapped = 0;     ///< not resident, but in the swap

    /// Memory that this process alone holds because it wrote to it, and mapped model files.
    std::int64_t own() const { return heap + stack + anonymous + program_data + model_files; }
};

/// Reads the text of a `/proc/PID/smaps`; `model_files` are the absolute paths of mapped model files. Fails
/// with a sentence that names the line.
Result<MemoryMap> parse_memory_map(std::string_view smaps, const std::vector<std::string>& model_files);
/// Of this process, now. Costs about a millisecond.
Result<MemoryMap> read_memory_map(const std::vector<std::string>& model_files = {});

/// Most bytes that were ever resident (VmHWM), since `reset_peak_rss` if that succeeded; -1 where the system
/// does not tell.
std::int64_t read_peak_rss();
/// Forgets the peak so far: false where the system does not allow it.
bool reset_peak_rss();

}  // namespace decodescope
