// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/verify/replay.h"

namespace decodescope {

/// Explanations with one number in them that has to be found: another rotary base, one matrix of the weights
/// scaled. `replay` gives the logits of all cells of the wrong row, one after the other, as an explanation
/// has them; empty when it does not apply. `found`: the run's own. Returns the explanations whose best number
/// comes near.
using ReplayOnce = std::function<Result<std::vector<float>>(const Explanation&)>;
Result<std::vector<Explanation>> fitted_explanations(const std::shared_ptr<const Weights>& weights,
                                                     const std::vector<float>& found,
                                                     const ReplayOnce& replay);

}  // namespace decodescope
