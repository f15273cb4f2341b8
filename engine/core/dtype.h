// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace decodescope {

/// Element type of a stored tensor that the engine computes with.
enum class DType { f32, f16, bf16 };

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
    return dtype == DType::f32 ? 4 : 2;
}

/// Lower-case name as used on screen and in files ("f32", "f16", "bf16").
constexpr const char* to_string(DType dtype) {
    return dtype == DType::f32 ? "f32" : dtype == DType::f16 ? "f16" : "bf16";
}

/// bfloat16 bits to float; exact, subnormals and NaN payloads kept.
constexpr float bf16_to_f32(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// IEEE half bits to float; exact for subnormals (down to 2^-24), zeros, infinities and NaN payloads.
constexpr float f16_to_f32(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    const std::uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
}

/// Converts `out.size()` little-endian elements at `bytes` (no alignment assumed) to float.
void convert_to_f32(DType dtype, const std::byte* bytes, std::span<float> out);

}  // namespace decodescope
