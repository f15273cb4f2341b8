// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/packed_matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cache/entry_codec.h"
#include "engine/core/as_index.h"
#include "engine/core/dtype.h"

namespace decodescope {

namespace {

/// A scale as f16 bits, and as the kernels read it.
struct Scale {
    std::uint16_t bits = 0;
    float value = 0;

    explicit Scale(float scale) {
        std::array<std::byte, 2> bytes{};
        encode_entries(DType::f16, &scale, 1, bytes.data());
        std::memcpy(&bits, bytes.data(), sizeof bits);
        value = f16_to_f32(bits);
    }
};

/// The scale of one group of weights.
Scale scale_of(WeightType type, const float* x) {
    float extreme = 0;  // the value of the largest magnitude
    bool finite = true;
    for (int i = 0; i < weight_group; ++i) {
        if (std::abs(x[i]) > std::abs(extreme)) extreme = x[i];
        finite = finite && std::isfinite(x[i]);
    }
    if (!finite) return Scale(std::numeric_limits<float>::quiet_NaN());
    // 4 bits reach further below zero than above: the extreme value takes the lowest code.
    return Scale(type == WeightType::int8 ? std::abs(extreme) / 127.0f : extreme / -8.0f);
}

std::uint8_t code_of(WeightType type, float x, float inverse) {
    const int least = type == WeightType::int8 ? -127 : -8;
    const int most = type == WeightType::int8 ? 127 : 7;
    const float scaled = x * inverse;
    // Not a number compares false: such a group has no scale anyway.
    const int q = scaled >= static_cast<float>(most)   ? most
                  : scaled > static_cast<float>(least) ? static_cast<int>(std::lrint(scaled))
                                                       : least;
    const int offset =
        type == WeightType::int8 ? PackedMatrix::code_offset_int8 : PackedMatrix::code_offset_int4;
    return static_cast<std::uint8_t>(q + offset);
}

/// Byte of the codes of a group that holds row j at k, and how far up in it.
std::size_t code_byte(WeightType type, int j, int k) {
    return type == WeightType::int8 ? as_index(k / 4 * 64 + j * 4 + k % 4)
                                    : as_index(k / 8 * 64 + j * 4 + k % 4);
}
int code_shift(WeightType type, int k) {
    return type == WeightType::int4 && k % 8 >= 4 ? 4 : 0;
}

void pack_group(WeightType type, const float* x, int j, std::byte* panel, int g) {
    const Scale scale = scale_of(type, x);
    std::memcpy(panel + PackedMatrix::scales_at(type, g) + as_index(j) * sizeof scale.bits, &scale.bits,
                sizeof scale.bits);
    const float inverse = scale.value != 0 ? 1.0f / scale.value : 0.0f;
    std::byte* codes = panel + PackedMatrix::codes_at(type, g);
    for (int k = 0; k < weight_group; ++k) {
        std::byte& byte = codes[code_byte(type, j, k)];
        const auto code = std::byte{code_of(type, x[k], inverse)};
        byte = code_shift(type, k) == 0 ? code : byte | code << 4;
    }
}

}  // namespace

void PackedMatrix::pack(const float* weight, int panel) {
    std::byte* to = data_ + as_index(panel) * panel_bytes_;
    const int first = panel * panel_rows;
    const int n_row = std::min(panel_rows, n_out_ - first);
    const float* rows = weight + std::int64_t{first} * n_in_;
    if (n_row < panel_rows || (type_ == WeightType::bf16 && n_in_ % 2 != 0)) std::memset(to, 0, panel_bytes_);
    if (has_groups(type_)) {
        for (int g = 0; g < n_in_ / weight_group; ++g) {
            for (int j = 0; j < n_row; ++j) {
                pack_group(type_, rows + std::int64_t{j} * n_in_ + g * weight_group, j, to, g);
            }
        }
        return;
    }
    // Pieces of k that lie in the nearest cache for all rows.
    constexpr int piece = 64;
    for (int k = 0; k < n_in_; k += piece) {
        const int n = std::min(piece, n_in_ - k);
        for (int j = 0; j < n_row; ++j) {
            const float* from = rows + std::int64_t{j} * n_in_ + k;
            if (type_ == WeightType::f32) {
                auto* out = reinterpret_cast<float*>(to) + as_index(k) * panel_rows + j;
                for (int i = 0; i < n; ++i) out[i * panel_rows] = from[i];
                continue;
            }
            std::array<std::uint16_t, piece> half;
            auto* out = reinterpret_cast<std::uint16_t*>(to) + as_index(k) * panel_rows;
            if (type_ == WeightType::f16) {
                encode_entries(DType::f16, from, n, reinterpret_cast<std::byte*>(half.data()));
                for (int i = 0; i < n; ++i) out[i * panel_rows + j] = half[as_index(i)];
            } else {
                encode_entries(DType::bf16, from, n, reinterpret_cast<std::byte*>(half.data()));
                for (int i = 0; i < n; ++i) out[i / 2 * 2 * panel_rows + 2 * j + i % 2] = half[as_index(i)];
            }
        }
    }
}

void PackedMatrix::unpack(int row, float* out) const {
    const std::byte* from = panel(row / panel_rows);
    const int j = row % panel_rows;
    const auto* halves = reinterpret_cast<const std::uint16_t*>(from);
    for (int k = 0; k < n_in_; ++k) {
        switch (type_) {
            case WeightType::f32: out[k] = reinterpret_cast<const float*>(from)[k * panel_rows + j]; continue;
            case WeightType::f16: out[k] = f16_to_f32(halves[k * panel_rows + j]); continue;
            case WeightType::bf16:
                out[k] = bf16_to_f32(halves[k / 2 * 2 * panel_rows + 2 * j + k % 2]);
                continue;
            case WeightType::int8:
            case WeightType::int4: break;
        }
        const int g = k / weight_group;
        std::uint16_t bits = 0;
        std::memcpy(&bits, from + scales_at(type_, g) + as_index(j) * sizeof bits, sizeof bits);
        const int in_group = k % weight_group;
        const int byte = std::to_integer<int>(from[codes_at(type_, g) + code_byte(type_, j, in_group)]);
        const int code = type_ == WeightType::int8 ? byte : byte >> code_shift(type_, in_group) & 15;
        const int offset = type_ == WeightType::int8 ? code_offset_int8 : code_offset_int4;
        out[k] = f16_to_f32(bits) * static_cast<float>(code - offset);
    }
}

}  // namespace decodescope
