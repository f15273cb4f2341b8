// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "engine/model/weight_type.h"
#include "engine/model/weights.h"

namespace decodescope {

/// Bytes of all matrices and the head as they are computed with: as prepared, or f32 where they lie.
std::uint64_t matrix_bytes(const Weights& weights);

/// Bytes of one matrix [n_out, n_in] as `Backend::prepare` makes it in this type, on the CPU or on a GPU.
constexpr std::uint64_t matrix_bytes(WeightType type, std::int64_t n_in, std::int64_t n_out, bool gpu) {
    return gpu ? gpu_matrix_bytes(type, n_in, n_out) : prepared_matrix_bytes(type, n_in, n_out);
}

/// Bytes of the matrices and the head of this model, made likewise.
std::uint64_t prepared_bytes(const ModelConfig& config, WeightType type, bool gpu = false);

}  // namespace decodescope
