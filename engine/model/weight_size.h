// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "engine/model/weight_type.h"
#include "engine/model/weights.h"

namespace decodescope {

/// Whether `weight_group` weights along n_in share a scale, so that n_in must be a multiple of it.
constexpr bool has_groups(WeightType type) {
    return type == WeightType::int8 || type == WeightType::int4;
}

/// Outputs of a matrix that are prepared side by side: n_out is rounded up to whole panels of them.
inline constexpr int weight_panel = 16;

/// Bytes of a matrix [n_out, n_in] as prepared in this type: values, scales (f16, one per group), the rows
/// that fill the last panel, and what makes pairs of 16-bit values and of groups whole.
constexpr std::uint64_t prepared_matrix_bytes(WeightType type, std::int64_t n_in, std::int64_t n_out) {
    const auto whole = [](std::int64_t n, std::int64_t of) {
        return static_cast<std::uint64_t>((n + of - 1) / of * of);
    };
    const std::uint64_t rows = whole(n_out, weight_panel);
    switch (type) {
        case WeightType::f32: break;
        case WeightType::f16:
        case WeightType::bf16: return rows * whole(n_in, 2) * 2;
        case WeightType::int8: return rows * whole(n_in / weight_group, 2) * (weight_group + 2);
        case WeightType::int4: return rows * whole(n_in / weight_group, 2) * (weight_group / 2 + 2);
    }
    return rows * static_cast<std::uint64_t>(n_in) * 4;
}

/// Bytes of all matrices and the head as they are computed with: as prepared, or f32 where they lie.
std::uint64_t matrix_bytes(const Weights& weights);

/// Bytes of the matrices and the head of this model, as `Backend::prepare` makes them in this type.
std::uint64_t prepared_bytes(const ModelConfig& config, WeightType type);

}  // namespace decodescope
