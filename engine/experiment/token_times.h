// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "engine/experiment/record.h"

namespace decodescope {

/// `token_ns`: what a request waits for one token of a step, which is the step's time x requests served /
/// tokens chosen. None for a step that only prefills or chooses nothing.
std::optional<double> token_ns(const StepEvent& step);
/// Over all decode steps of all repetitions.
Summary token_ns(const LaneRecord& lane);
/// The part of it that the lane's device worked, by its own clock, over the steps that were measured.
Summary device_token_ns(const LaneRecord& lane);

/// Whether the newest decode step shares one reading of the weights among so many rows (16 or more) that
/// computing, not reading, is taken to be its limit.
bool compute_bound(const LaneRecord& lane);

}  // namespace decodescope
