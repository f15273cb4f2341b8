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

/// Bytes of a value that the engine computes with.
inline constexpr std::int64_t float_bytes = sizeof(float);

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
    // Without branches, so that loops of it become vectors. Subnormals gain the implicit bit they lack here
    // and lose it by the subtraction.
    constexpr std::uint32_t bias = 112u << 23;  // of the exponent: 127 - 15
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t shifted = (bits & 0x7fffu) << 13;
    const std::uint32_t exponent = bits & 0x7c00u;
    const std::uint32_t normal = shifted + bias + (exponent == 0x7c00u ? bias : 0);
    const float small =
        std::bit_cast<float>(shifted + bias + (1u << 23)) - std::bit_cast<float>(bias + (1u << 23));
    return std::bit_cast<float>((exponent == 0 ? std::bit_cast<std::uint32_t>(small) : normal) | sign);
}

/// Converts `out.size()` little-endian elements at `bytes` (no alignment assumed) to float.
void convert_to_f32(DType dtype, const std::byte* bytes, std::span<float> out);

}  // namespace decodescope
