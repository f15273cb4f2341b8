// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/logit_comparison.h"

#include <algorithm>
#include <cmath>

#include "engine/decode/sampler.h"

namespace decodescope {

namespace {

/// log(sum of exp(x)) - largest, and the largest.
struct LogSum {
    double largest = 0;
    double log_sum = 0;

    explicit LogSum(std::span<const float> x) {
        largest = *std::max_element(x.begin(), x.end());
        double sum = 0;
        for (const float value : x) sum += std::exp(double{value} - largest);
        log_sum = std::log(sum);
    }
    double log_probability(float x) const { return double{x} - largest - log_sum; }
};

}  // namespace

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

    const LogSum mine(logits);
    const LogSum theirs(reference);
    double divergence = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double log_p = theirs.log_probability(reference[i]);
        divergence += std::exp(log_p) * (log_p - mine.log_probability(logits[i]));
    }
    // Rounding can bring the sum of equal rows just below 0; NaN stays NaN.
    comparison.kl_divergence = divergence < 0 ? 0 : divergence;
    const auto right = static_cast<std::size_t>(right_token >= 0 ? right_token : top);
    comparison.reference_probability = std::exp(theirs.log_probability(reference[right]));
    comparison.lane_probability = std::exp(mine.log_probability(logits[right]));
    return comparison;
}

}  // namespace decodescope
