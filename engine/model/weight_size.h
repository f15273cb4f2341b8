// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "engine/model/weight_type.h"
#include "engine/model/weights.h"

namespace decodescope {

/// Bytes of all matrices and the head as they are computed with: as prepared, or f32 where they lie.
std::uint64_t matrix_bytes(const Weights& weights);

/// Bytes of the matrices and the head of this model, as `Backend::prepare` makes them in this type.
std::uint64_t prepared_bytes(const ModelConfig& config, WeightType type);

}  // namespace decodescope
