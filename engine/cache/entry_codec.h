// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/core/dtype.h"

namespace decodescope {

/// Writes `n` floats as elements of `dtype` (rounded to nearest even; too large for f16 becomes infinite).
void encode_entries(DType dtype, const float* from, std::int64_t n, std::byte* to);
/// Reads them back.
void decode_entries(DType dtype, const std::byte* from, std::int64_t n, float* to);

/// Symmetric 8-bit codes of `n` floats: code = round(x / scale), scale = largest magnitude / 127. Returns the
/// scale; NaN when a value is not finite, so that the fault is not hidden; 0 when it would be below the
/// smallest normal float.
float encode_int8(const float* from, std::int64_t n, std::int8_t* codes);
/// code x scale.
void decode_int8(const std::int8_t* codes, std::int64_t n, float scale, float* to);

/// Scale and zero point of an asymmetric group: value = zero + code x scale, 0 <= code < 2^bits.
struct GroupScale {
    float scale = 0;
    float zero = 0;
};
/// Of `n` floats, `stride` apart: zero = smallest value, scale = (largest - smallest) / (2^bits - 1). NaN
/// when a value is not finite.
GroupScale group_scale(const float* from, std::int64_t n, std::int64_t stride, int bits);
/// The nearest code of a value, 0 .. 2^bits - 1.
std::uint8_t group_code(float value, GroupScale group, int bits);
/// Values of `n` codes of 2 or 4 bits, packed from the low bits of each byte up (n x bits a multiple of 8):
/// of one group, or each of a group of its own.
void decode_group(const std::uint8_t* codes, int bits, std::int64_t n, GroupScale group, float* to);
void decode_groups(const std::uint8_t* codes, int bits, std::int64_t n, const GroupScale* groups, float* to);

}  // namespace decodescope
