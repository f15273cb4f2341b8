// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/core/random.h"

namespace decodescope {

namespace {

constexpr std::uint64_t sampling_stream = 0x73616d706c65;  // apart from the streams of weights and prompts

Result<void> check_finite(std::span<const float> logits) {
    if (logits.empty()) return Error{ErrorKind::bad_input, "There are no logits to choose from."};
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (std::isfinite(logits[i])) continue;
        return Error{ErrorKind::non_finite,
                     fmt::format("the logit of token {} is {}, expected a finite number.", i, logits[i])};
    }
    return {};
}

}  // namespace

std::int32_t argmax(std::span<const float> values) {
    return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

void Sampler::reserve(int vocab) {
    const auto size = static_cast<std::size_t>(vocab);
    if (sampling_.repetition_penalty != 1) {
        penalised_.reserve(size);
        seen_.reserve(size);
    }
    if (sampling_.kind == SamplingKind::sample) order_.reserve(size);
}

double Sampler::uniform(std::int64_t index, std::uint64_t use) const {
    const std::uint64_t key = (use << 32) | static_cast<std::uint32_t>(request_);
    // The first request draws from the plain stream: texts made with one request stay what they were.
    const std::uint64_t stream = key == 0 ? sampling_stream : mix64(sampling_stream ^ mix64(key));
    return random_uniform(sampling_.seed, stream, static_cast<std::uint64_t>(index));
}

Result<std::int32_t> Sampler::choose(std::span<const float> logits, std::int64_t index,
                                     std::span<const std::int32_t> history, FoundTokens found) {
    const std::int32_t chosen = sampling_.kind == SamplingKind::greedy ? found.largest : found.drawn;
    if (chosen >= 0 && sampling_.repetition_penalty == 1) return chosen;
    const auto scores = penalised(logits, history);
    if (!scores) {
        return Error{scores.error().kind, fmt::format("Step {}: {}", index, scores.error().message)};
    }
    if (sampling_.kind == SamplingKind::greedy) return argmax(*scores);
    const Kept kept = filter(*scores);
    double left = uniform(index) * kept.sum;
    for (std::size_t rank = 0;; ++rank) {
        sort_past(*scores, rank, kept.count);
        left -= weight(*scores, rank, kept.largest);
        if (left < 0 || rank + 1 == kept.count) return order_[rank];
    }
}

std::optional<TokenDraw> Sampler::draw(std::int64_t index) const {
    if (sampling_.kind == SamplingKind::greedy || sampling_.repetition_penalty != 1) return std::nullopt;
    return TokenDraw{.temperature = sampling_.temperature,
                     .top_p = sampling_.top_p,
                     .min_p = sampling_.min_p,
                     .uniform = uniform(index),
                     .top_k = sampling_.top_k};
}

Result<void> Sampler::distribution(std::span<const float> logits, std::span<const std::int32_t> history,
                                   std::span<double> out) {
    const auto scores = penalised(logits, history);
    if (!scores) return scores.error();
    std::fill(out.begin(), out.end(), 0.0);
    if (sampling_.kind == SamplingKind::greedy) {
        out[static_cast<std::size_t>(argmax(*scores))] = 1;
        return {};
    }
    const Kept kept = filter(*scores);
    for (std::size_t rank = 0; rank < kept.count; ++rank) {
        out[static_cast<std::size_t>(order_[rank])] = weight(*scores, rank, kept.largest) / kept.sum;
    }
    return {};
}

Result<std::span<const float>> Sampler::penalised(std::span<const float> logits,
                                                  std::span<const std::int32_t> history) {
    DS_TRY(check_finite(logits));
    const double penalty = sampling_.repetition_penalty;
    if (penalty == 1) return logits;
    for (const std::int32_t id : history) {
        if (id >= 0 && static_cast<std::size_t>(id) < logits.size()) continue;
        return Error{ErrorKind::bad_input,
                     fmt::format("token {} of the text is outside the vocabulary of {}.", id, logits.size())};
    }
    penalised_.assign(logits.begin(), logits.end());
    seen_.resize(logits.size(), 0);
    for (const std::int32_t id : history) {
        const auto i = static_cast<std::size_t>(id);
        if (seen_[i] != 0) continue;
        seen_[i] = 1;
        const double score = penalised_[i] < 0 ? penalised_[i] * penalty : penalised_[i] / penalty;
        constexpr double most = std::numeric_limits<float>::max();
        penalised_[i] = static_cast<float>(std::clamp(score, -most, most));
    }
    for (const std::int32_t id : history) seen_[static_cast<std::size_t>(id)] = 0;
    return std::span<const float>(penalised_);
}

// Every filter keeps the first so many tokens in falling order, so that only as much as is kept or walked
// through is ever sorted.
Sampler::Kept Sampler::filter(std::span<const float> logits) {
    order_.resize(logits.size());
    std::iota(order_.begin(), order_.end(), 0);
    sorted_ = 0;
    Kept kept{.count = logits.size(), .sum = 0, .largest = *std::max_element(logits.begin(), logits.end())};
    const auto sum = [&] {
        double total = 0;
        for (std::size_t rank = 0; rank < kept.count; ++rank) total += weight(logits, rank, kept.largest);
        return total;
    };
    if (sampling_.top_k > 0 && static_cast<std::size_t>(sampling_.top_k) < kept.count) {
        const auto k = static_cast<std::size_t>(sampling_.top_k);
        sort_to(logits, k, kept.count);
        kept.count = k;
    }
    kept.sum = sum();
    const std::size_t before = kept.count;
    if (sampling_.top_p < 1) {
        const double enough = sampling_.top_p * kept.sum;
        double reached = 0;
        for (std::size_t rank = 0; rank < kept.count; ++rank) {
            sort_past(logits, rank, kept.count);
            reached += weight(logits, rank, kept.largest);
            if (reached >= enough) kept.count = rank + 1;
        }
    }
    if (sampling_.min_p > 0) {
        // The largest weight is 1. Either all that is kept is sorted, or nothing is.
        const auto likely = [&](std::int32_t id) {
            return token_weight(logits, id, kept.largest) >= sampling_.min_p;
        };
        const auto end = order_.begin() + static_cast<std::ptrdiff_t>(kept.count);
        const auto cut = sorted_ == 0 ? std::partition(order_.begin(), end, likely)
                                      : std::partition_point(order_.begin(), end, likely);
        kept.count = static_cast<std::size_t>(cut - order_.begin());
    }
    if (kept.count != before) kept.sum = sum();
    return kept;
}

void Sampler::sort_to(std::span<const float> logits, std::size_t count, std::size_t end) {
    const auto falling = [&](std::int32_t a, std::int32_t b) {
        const float x = logits[static_cast<std::size_t>(a)];
        const float y = logits[static_cast<std::size_t>(b)];
        return x != y ? x > y : a < b;
    };
    const auto at = [&](std::size_t rank) { return order_.begin() + static_cast<std::ptrdiff_t>(rank); };
    if (count - sorted_ < (end - sorted_) / 64) {
        std::partial_sort(at(sorted_), at(count), at(end), falling);
    } else {
        if (count < end) std::nth_element(at(sorted_), at(count), at(end), falling);
        std::sort(at(sorted_), at(count), falling);
    }
    sorted_ = count;
}

void Sampler::sort_past(std::span<const float> logits, std::size_t rank, std::size_t end) {
    constexpr std::size_t first = 64;
    if (rank >= sorted_) sort_to(logits, std::min(end, std::max(first, 4 * rank)), end);
}

double Sampler::token_weight(std::span<const float> logits, std::int32_t id, float largest) const {
    return std::exp((logits[static_cast<std::size_t>(id)] - static_cast<double>(largest)) /
                    sampling_.temperature);
}

}  // namespace decodescope
