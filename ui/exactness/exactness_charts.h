// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/experiment/record.h"
#include "engine/verify/judgement.h"

namespace decodescope {

class LineChart;

/// The error of every lane against the reference, over what f32 and the lanes' narrower entries explain, and
/// where `lane` first leaves f32 rounding.
void showErrors(LineChart& chart, const Record& record, std::size_t lane);
/// The error of every call of a judged run against what its tokens should give with weights of this type.
void showCallErrors(LineChart& chart, const std::vector<CallError>& calls, const VerdictPlace& first,
                    WeightType weights);
/// The margin of the truth by call, and where the run has another token on top.
void showCallMargins(LineChart& chart, const std::vector<CallError>& calls);

}  // namespace decodescope
