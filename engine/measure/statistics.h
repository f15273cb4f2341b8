// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>

namespace decodescope {

/// Order statistics of a sample; quartiles by linear interpolation between closest ranks. All 0 when `n` is
/// 0.
struct Summary {
    std::size_t n = 0;
    double median = 0;
    double min = 0;
    double max = 0;
    double q1 = 0;
    double q3 = 0;
    double iqr() const { return q3 - q1; }
};
Summary summarize(std::span<const double> samples);

}  // namespace decodescope
