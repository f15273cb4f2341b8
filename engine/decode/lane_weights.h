// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <stop_token>

#include "engine/core/result.h"
#include "engine/decode/lane.h"

namespace decodescope {

/// `weights` in the form that a lane of `spec` computes with: prepared by `backend` in the lane's type, or
/// with kernels openblas as they are. What another lane holds already is shared. Fails as `Backend::prepare`
/// does, with the lane named.
Result<std::shared_ptr<const Weights>> lane_weights(const LaneSpec& spec,
                                                    std::shared_ptr<const Weights> weights, Backend& backend,
                                                    const std::shared_ptr<MemoryLedger>& ledger,
                                                    std::stop_token stop = {});

/// `context` with its weights, and those of its draft model, in the form that a lane of `spec` computes with.
Result<LaneContext> prepared_context(const LaneSpec& spec, LaneContext context, std::stop_token stop = {});

}  // namespace decodescope
