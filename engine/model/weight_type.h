// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace decodescope {

/// How the matrices of a model are stored to compute with. Norms, biases and embeddings stay f32.
///  - `f32`: as they are
///  - `f16`, `bf16`: 16 bits each, rounded to nearest even
///  - `int8`: groups of 32 along n_in, w = scale * q with q in -127 .. 127 and an f16 scale (GGUF's Q8_0)
///  - `int4`: groups of 32 along n_in, w = scale * q with q in -8 .. 7 and an f16 scale (GGUF's Q4_0)
enum class WeightType { f32, f16, bf16, int8, int4 };
inline constexpr std::array all_weight_types{WeightType::f32, WeightType::f16, WeightType::bf16,
                                             WeightType::int8, WeightType::int4};

/// Weights that share one scale in `int8` and `int4`.
inline constexpr int weight_group = 32;

/// Lower-case name as used on screen and in files ("f32", "f16", "bf16", "int8", "int4").
constexpr const char* to_string(WeightType type) {
    switch (type) {
        case WeightType::f32: return "f32";
        case WeightType::f16: return "f16";
        case WeightType::bf16: return "bf16";
        case WeightType::int8: return "int8";
        case WeightType::int4: return "int4";
    }
    return "f32";
}
constexpr std::optional<WeightType> weight_type(std::string_view name) {
    for (const WeightType type : all_weight_types) {
        if (name == to_string(type)) return type;
    }
    return std::nullopt;
}

/// Whether `weight_group` weights along n_in share a scale, so that n_in must be a multiple of it.
constexpr bool has_groups(WeightType type) {
    return type == WeightType::int8 || type == WeightType::int4;
}

/// Bytes of a matrix [n_out, n_in] as a GPU stores it: its values in this type, f32, f16 or bf16.
constexpr std::uint64_t gpu_matrix_bytes(WeightType type, std::int64_t n_in, std::int64_t n_out) {
    return static_cast<std::uint64_t>(n_in) * static_cast<std::uint64_t>(n_out) *
           (type == WeightType::f32 ? 4 : 2);
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

}  // namespace decodescope
