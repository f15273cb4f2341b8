// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

#include "engine/experiment/events.h"

namespace decodescope {

/// Compares one row of logits [vocab] with the reference's. relative_error is the largest absolute difference
/// over the (population) standard deviation of the reference row. `right_token`: the one whose probability
/// is compared; -1 = the reference's largest logit.
LogitComparison compare_logits(std::span<const float> logits, std::span<const float> reference,
                               std::int32_t right_token = -1);

/// Whether the reference's two largest logits are as near to each other as errors of up to `limit` standard
/// deviations may move them.
bool is_nearly_tied(const LogitComparison& comparison, double limit);

}  // namespace decodescope
