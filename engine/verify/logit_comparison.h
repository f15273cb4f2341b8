// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "engine/experiment/events.h"

namespace decodescope {

/// Compares one row of logits [vocab] with the reference's. relative_error is the largest absolute difference
/// over the (population) standard deviation of the reference row.
LogitComparison compare_logits(std::span<const float> logits, std::span<const float> reference);

}  // namespace decodescope
