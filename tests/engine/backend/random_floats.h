// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/random.h"

namespace decodescope::test {

/// `n` normal numbers of stream `stream`, times `scale`: the same in every run.
inline std::vector<float> random_floats(std::uint64_t stream, std::int64_t n, float scale = 1.0f) {
    std::vector<float> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = scale * random_normal(3, stream, i);
    return x;
}

}  // namespace decodescope::test
