// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

/// C++ allocations (operator new) that the calling thread has made so far. Counted by replacements of the
/// global operators that do nothing else. -1 in builds for a sanitizer, which brings its own.
std::int64_t read_allocation_count();

}  // namespace decodescope
