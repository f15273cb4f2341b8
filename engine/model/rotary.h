// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model_config.h"

namespace decodescope {

/// The frequency w_i of every pair, [head_dim / 2], scaled as `rotary` says.
std::vector<double> rotary_frequencies(const Rotary& rotary, int head_dim);

/// Cosines and sines of every token's angles: out[t, i] = amplitude * cos(position_t * w_i) for the first
/// half of a row, the sines in the second; out is [positions.size(), 2 * frequencies.size()]. Pads count as
/// position 0, so that what they compute stays finite. Allocates nothing.
void rotary_turns(std::span<const double> frequencies, double amplitude,
                  std::span<const std::int32_t> positions, float* out);

}  // namespace decodescope
