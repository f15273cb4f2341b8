// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace decodescope {

/// A count, slot or position, which have a sign here, as what containers are indexed by. Must not be
/// negative.
constexpr std::size_t as_index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace decodescope
