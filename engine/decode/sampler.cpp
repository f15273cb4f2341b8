// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/core/random.h"

namespace decodescope {

namespace {

constexpr std::uint64_t sampling_stream = 0x73616d706c65;  // apart from the streams of weights and prompts

}  // namespace

std::int32_t argmax(std::span<const float> values) {
    return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

Result<std::int32_t> Sampler::choose(std::span<const float> logits, std::int64_t step) const {
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (std::isfinite(logits[i])) continue;
        return Error{ErrorKind::non_finite,
                     fmt::format("Step {}: the logit of token {} is {}, expected a finite number.", step, i,
                                 logits[i])};
    }
    if (sampling_.kind == SamplingKind::greedy) return argmax(logits);

    std::vector<std::int32_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    const auto before = [&](std::int32_t a, std::int32_t b) {
        const float x = logits[static_cast<std::size_t>(a)];
        const float y = logits[static_cast<std::size_t>(b)];
        return x != y ? x > y : a < b;
    };
    const std::size_t kept = sampling_.top_k > 0
                                 ? std::min(order.size(), static_cast<std::size_t>(sampling_.top_k))
                                 : order.size();
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), before);

    const double largest = logits[static_cast<std::size_t>(order[0])];
    std::vector<double> weight(kept);
    double sum = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        weight[i] = std::exp((logits[static_cast<std::size_t>(order[i])] - largest) / sampling_.temperature);
        sum += weight[i];
    }
    double left = random_uniform(sampling_.seed, sampling_stream, static_cast<std::uint64_t>(step)) * sum;
    for (std::size_t i = 0; i + 1 < kept; ++i) {
        left -= weight[i];
        if (left < 0) return order[i];
    }
    return order[kept - 1];
}

}  // namespace decodescope
