// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace decodescope {

/// Row i of `base` ([parents.size(), row_bytes]) becomes what row parents[i] was. `scratch` is as large as
/// `base`. Returns the bytes of the rows that changed.
inline std::uint64_t permute_rows(std::byte* base, std::size_t row_bytes, std::span<const int> parents,
                                  std::byte* scratch) {
    // A tensor that nothing was stored in yet has no memory at all.
    if (row_bytes == 0) return 0;
    std::uint64_t moved = 0;
    const auto changes = [&](std::size_t i) { return static_cast<std::size_t>(parents[i]) != i; };
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (!changes(i)) continue;
        std::memcpy(scratch + i * row_bytes, base + static_cast<std::size_t>(parents[i]) * row_bytes,
                    row_bytes);
    }
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (!changes(i)) continue;
        std::memcpy(base + i * row_bytes, scratch + i * row_bytes, row_bytes);
        moved += row_bytes;
    }
    return moved;
}

}  // namespace decodescope
