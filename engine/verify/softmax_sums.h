// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

/// Sums over two rows of logits x and y, in double: what their softmaxes and the divergence of them need.
struct SoftmaxSums {
    double x = 0;       ///< sum of exp(x - largest x)
    double y = 0;       ///< sum of exp(y - largest y)
    double moment = 0;  ///< sum of exp(x - largest x) * (x - y)
};
SoftmaxSums softmax_sums(const float* x, const float* y, std::int64_t n, float largest_x, float largest_y);

}  // namespace decodescope
