// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace decodescope {

namespace {

/// Keeps what turns fast, slows down what turns slowly, and blends in between.
double llama3(const Rotary& rotary, double frequency) {
    const double wavelength = 2 * std::numbers::pi / frequency;
    const double turns = rotary.original_positions / wavelength;
    if (turns > rotary.high_freq_factor) return frequency;
    if (turns < rotary.low_freq_factor) return frequency / rotary.factor;
    const double keep = (turns - rotary.low_freq_factor) / (rotary.high_freq_factor - rotary.low_freq_factor);
    return (1 - keep) * frequency / rotary.factor + keep * frequency;
}

/// The same idea with a ramp over the pairs' numbers.
class YarnRamp {
public:
    YarnRamp(const Rotary& rotary, int head_dim) : factor_(rotary.factor) {
        const auto pair_of = [&](double turns) {
            return head_dim * std::log(rotary.original_positions / (turns * 2 * std::numbers::pi)) /
                   (2 * std::log(rotary.theta));
        };
        begin_ = pair_of(rotary.beta_fast);
        end_ = pair_of(rotary.beta_slow);
        if (rotary.truncate) {
            begin_ = std::floor(begin_);
            end_ = std::ceil(end_);
        }
        begin_ = std::max(begin_, 0.0);
        end_ = std::min(end_, head_dim - 1.0);
        if (begin_ == end_) end_ += 0.001;  // as the reference does
    }
    double scale(int pair, double frequency) const {
        const double slow = std::clamp((pair - begin_) / (end_ - begin_), 0.0, 1.0);
        return frequency / factor_ * slow + frequency * (1 - slow);
    }

private:
    double factor_;
    double begin_ = 0;
    double end_ = 0;
};

}  // namespace

std::vector<double> rotary_frequencies(const Rotary& rotary, int head_dim) {
    std::vector<double> frequencies(static_cast<std::size_t>(head_dim) / 2);
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        frequencies[i] = std::pow(rotary.theta, -2.0 * static_cast<double>(i) / head_dim);
    }
    switch (rotary.scaling) {
        case RotaryScaling::none: break;
        case RotaryScaling::linear:
            for (double& frequency : frequencies) frequency /= rotary.factor;
            break;
        case RotaryScaling::llama3:
            for (double& frequency : frequencies) frequency = llama3(rotary, frequency);
            break;
        case RotaryScaling::yarn: {
            const YarnRamp ramp(rotary, head_dim);
            for (std::size_t i = 0; i < frequencies.size(); ++i) {
                frequencies[i] = ramp.scale(static_cast<int>(i), frequencies[i]);
            }
            break;
        }
    }
    for (std::size_t i = 0; i < rotary.divisors.size(); ++i) frequencies[i] /= double{rotary.divisors[i]};
    return frequencies;
}

void rotary_turns(std::span<const double> frequencies, double amplitude,
                  std::span<const std::int32_t> positions, float* out) {
    const std::size_t half = frequencies.size();
    for (const std::int32_t position : positions) {
        const double place = std::max(position, 0);
        for (std::size_t i = 0; i < half; ++i) {
            // In double: a float would be off by a thousandth of a turn at position 10,000.
            const double angle = place * frequencies[i];
            out[i] = static_cast<float>(amplitude * std::cos(angle));
            out[half + i] = static_cast<float>(amplitude * std::sin(angle));
        }
        out += 2 * half;
    }
}

}  // namespace decodescope
