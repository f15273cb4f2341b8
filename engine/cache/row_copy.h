// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/memory.h"

namespace decodescope {

/// Row i of `buffer` from byte `base` on ([parents.size(), row_bytes]) becomes what row parents[i] was.
/// `scratch` has room for all rows. Returns the bytes of the rows that changed.
inline std::uint64_t permute_rows(Buffer& buffer, std::size_t base, std::size_t row_bytes,
                                  std::span<const int> parents, Buffer& scratch) {
    // A tensor that nothing was stored in yet has no memory at all.
    if (row_bytes == 0) return 0;
    std::uint64_t moved = 0;
    const auto changes = [&](std::size_t i) { return static_cast<std::size_t>(parents[i]) != i; };
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (changes(i))
            scratch.copy(i * row_bytes, buffer, base + static_cast<std::size_t>(parents[i]) * row_bytes,
                         row_bytes);
    }
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (!changes(i)) continue;
        buffer.copy(base + i * row_bytes, scratch, i * row_bytes, row_bytes);
        moved += row_bytes;
    }
    return moved;
}

}  // namespace decodescope
