// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/logit_comparison.h"

#include <algorithm>
#include <cmath>

#include "engine/decode/sampler.h"
#include "engine/verify/softmax_sums.h"

namespace decodescope {

LogitComparison compare_logits(std::span<const float> logits, std::span<const float> reference,
                               std::int32_t right_token) {
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
        const double difference = std::abs(double{logits[i]} - double{reference[i]});
        // A NaN, once met, stays.
        if (!(difference <= worst) && !std::isnan(worst)) worst = difference;
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

    const float largest = reference[static_cast<std::size_t>(top)];
    const float own_largest = *std::max_element(logits.begin(), logits.end());
    const SoftmaxSums sums = softmax_sums(reference.data(), logits.data(),
                                          static_cast<std::int64_t>(reference.size()), largest, own_largest);
    // sum p (log p - log q), with log p = x - largest - log(sum).
    const double divergence = sums.moment / sums.x - (double{largest} + std::log(sums.x)) +
                              (double{own_largest} + std::log(sums.y));
    // Rounding can bring that of equal rows just below 0; NaN stays NaN.
    comparison.kl_divergence = divergence < 0 ? 0 : divergence;
    const auto right = static_cast<std::size_t>(right_token >= 0 ? right_token : top);
    comparison.reference_probability = std::exp(double{reference[right]} - double{largest}) / sums.x;
    comparison.lane_probability = std::exp(double{logits[right]} - double{own_largest}) / sums.y;
    return comparison;
}

bool is_nearly_tied(const LogitComparison& comparison, double limit) {
    if (!comparison.compared || !(comparison.relative_error > 0)) return false;
    const double deviation = comparison.max_abs_error / comparison.relative_error;
    return comparison.top2_margin <= 2 * limit * deviation;
}

}  // namespace decodescope
