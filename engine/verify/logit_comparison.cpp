// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/logit_comparison.h"

#include <algorithm>
#include <cmath>

#include "engine/decode/sampler.h"

namespace decodescope {

LogitComparison compare_logits(std::span<const float> logits, std::span<const float> reference) {
    LogitComparison comparison;
    if (logits.empty() || logits.size() != reference.size()) return comparison;
    const auto n = static_cast<double>(reference.size());
    double sum = 0;
    for (const float x : reference) sum += x;
    const double mean = sum / n;
    double squares = 0;
    double worst = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        squares += (reference[i] - mean) * (reference[i] - mean);
        worst = std::max(worst, std::abs(double{logits[i]} - double{reference[i]}));
    }
    comparison.compared = true;
    comparison.max_abs_error = worst;
    const double deviation = std::sqrt(squares / n);
    comparison.relative_error = deviation > 0 ? worst / deviation : worst;
    const std::int32_t top = argmax(reference);
    comparison.same_argmax = argmax(logits) == top;
    double second = -INFINITY;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        if (static_cast<std::int32_t>(i) != top) second = std::max(second, double{reference[i]});
    }
    comparison.top2_margin =
        reference.size() > 1 ? double{reference[static_cast<std::size_t>(top)]} - second : 0;
    return comparison;
}

}  // namespace decodescope
