// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/statistics.h"

#include <algorithm>
#include <vector>

namespace decodescope {

namespace {

double quantile(std::span<const double> sorted, double q) {
    const double rank = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double fraction = rank - static_cast<double>(below);
    return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

}  // namespace

Summary summarize(std::span<const double> samples) {
    if (samples.empty()) return {};
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    return {.n = sorted.size(),
            .median = quantile(sorted, 0.5),
            .min = sorted.front(),
            .max = sorted.back(),
            .q1 = quantile(sorted, 0.25),
            .q3 = quantile(sorted, 0.75)};
}

}  // namespace decodescope
