// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>

struct dim3 {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace cuda_shim {
/// Runs every thread of every block.
void run_grid(dim3 grid, dim3 block, std::size_t shared, const std::function<void()>& body);
}  // namespace cuda_shim
