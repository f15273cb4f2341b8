// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/entry_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

// Highway compiles what lies inside HWY_NAMESPACE once per instruction set and picks one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cache/entry_codec.cpp"
#include <hwy/foreach_target.h>
// clang-format off
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace decodescope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;

// Where the instruction set has no conversion of its own, Highway's rounds down and makes numbers of what is
// not finite.
#if HWY_TARGET == HWY_SCALAR || (HWY_ARCH_X86 && (HWY_TARGET > HWY_AVX2 || defined(HWY_DISABLE_F16C)))

std::uint16_t to_f16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and more
    if (magnitude >= 0x38800000u) {                                                   // 2^-14: normal
        const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
        return static_cast<std::uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
    }
    // The last place of 0.5 is the step of the subnormals, so this addition rounds to one.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) & 0x7fffffu));
}

void encode_f16(const float* from, std::int64_t n, std::byte* to) {
    auto* out = reinterpret_cast<std::uint16_t*>(to);
    for (std::int64_t i = 0; i < n; ++i) out[i] = to_f16(from[i]);
}

void decode_f16(const std::byte* from, std::int64_t n, float* to) {
    const auto* in = reinterpret_cast<const std::uint16_t*>(from);
    for (std::int64_t i = 0; i < n; ++i) to[i] = f16_to_f32(in[i]);
}

#else

void encode_f16(const float* from, std::int64_t n, std::byte* to) {
    const D d;
    const hn::Rebind<hwy::float16_t, D> d16;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    auto* out = reinterpret_cast<hwy::float16_t*>(to);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(hn::DemoteTo(d16, hn::LoadU(d, from + i)), d16, out + i);
    if (i < n) {
        HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
        HWY_ALIGN hwy::float16_t half[hn::MaxLanes(d)];
        std::copy(from + i, from + n, rest);
        hn::Store(hn::DemoteTo(d16, hn::Load(d, rest)), d16, half);
        std::memcpy(out + i, half, static_cast<std::size_t>(n - i) * sizeof half[0]);
    }
}

void decode_f16(const std::byte* from, std::int64_t n, float* to) {
    const D d;
    const hn::Rebind<hwy::float16_t, D> d16;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto* in = reinterpret_cast<const hwy::float16_t*>(from);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(hn::PromoteTo(d, hn::LoadU(d16, in + i)), d, to + i);
    if (i < n) {
        HWY_ALIGN float rest[hn::MaxLanes(d)];
        HWY_ALIGN hwy::float16_t half[hn::MaxLanes(d)] = {};
        std::memcpy(half, in + i, static_cast<std::size_t>(n - i) * sizeof half[0]);
        hn::Store(hn::PromoteTo(d, hn::Load(d16, half)), d, rest);
        std::copy(rest, rest + (n - i), to + i);
    }
}

#endif

// The plain loops below are compiled here so that the compiler vectorises them for each instruction set.

void encode_bf16(const float* from, std::int64_t n, std::byte* to) {
    auto* out = reinterpret_cast<std::uint16_t*>(to);
    for (std::int64_t i = 0; i < n; ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, from + i, sizeof bits);
        const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
        // Rounding could carry a NaN into infinity; keep it a NaN.
        const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
        out[i] = static_cast<std::uint16_t>((nan ? bits | 0x400000u : rounded) >> 16);
    }
}

void decode_bf16(const std::byte* from, std::int64_t n, float* to) {
    const auto* in = reinterpret_cast<const std::uint16_t*>(from);
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t bits = std::uint32_t{in[i]} << 16;
        std::memcpy(to + i, &bits, sizeof bits);
    }
}

void decode_int8(const std::int8_t* codes, std::int64_t n, float scale, float* to) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(codes[i]) * scale;
}

/// `group(i)` is the group of value i.
template <int bits, class Group>
HWY_INLINE void decode_packed(const std::uint8_t* codes, std::int64_t n, Group&& group, float* to) {
    constexpr int per_byte = 8 / bits;
    constexpr int mask = (1 << bits) - 1;
    for (std::int64_t i = 0; i < n; i += per_byte) {
        const int byte = codes[i / per_byte];
        for (int k = 0; k < per_byte; ++k) {
            const GroupScale scale = group(i + k);
            to[i + k] = scale.zero + static_cast<float>(byte >> (k * bits) & mask) * scale.scale;
        }
    }
}

void decode_group(const std::uint8_t* codes, int bits, std::int64_t n, GroupScale group, float* to) {
    const auto same = [group](std::int64_t) { return group; };
    bits == 2 ? decode_packed<2>(codes, n, same, to) : decode_packed<4>(codes, n, same, to);
}

void decode_groups(const std::uint8_t* codes, int bits, std::int64_t n, const GroupScale* groups, float* to) {
    const auto own = [groups](std::int64_t i) { return groups[i]; };
    bits == 2 ? decode_packed<2>(codes, n, own, to) : decode_packed<4>(codes, n, own, to);
}

}  // namespace decodescope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace decodescope {

namespace {

HWY_EXPORT(encode_f16);
HWY_EXPORT(decode_f16);
HWY_EXPORT(encode_bf16);
HWY_EXPORT(decode_bf16);
HWY_EXPORT(decode_int8);
HWY_EXPORT(decode_group);
HWY_EXPORT(decode_groups);

}  // namespace

void encode_entries(DType dtype, const float* from, std::int64_t n, std::byte* to) {
    switch (dtype) {
        case DType::f32: std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float)); return;
        case DType::f16: HWY_DYNAMIC_DISPATCH(encode_f16)(from, n, to); return;
        case DType::bf16: HWY_DYNAMIC_DISPATCH(encode_bf16)(from, n, to); return;
    }
}

void decode_entries(DType dtype, const std::byte* from, std::int64_t n, float* to) {
    switch (dtype) {
        case DType::f32: std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float)); return;
        case DType::f16: HWY_DYNAMIC_DISPATCH(decode_f16)(from, n, to); return;
        case DType::bf16: HWY_DYNAMIC_DISPATCH(decode_bf16)(from, n, to); return;
    }
}

float encode_int8(const float* from, std::int64_t n, std::int8_t* codes) {
    float largest = 0;
    bool finite = true;
    for (std::int64_t i = 0; i < n; ++i) {
        finite = finite && std::isfinite(from[i]);
        largest = std::max(largest, std::fabs(from[i]));
    }
    if (!finite) {
        std::fill_n(codes, n, std::int8_t{1});
        return std::numeric_limits<float>::quiet_NaN();
    }
    const float scale = largest / 127.0f;
    // A scale below the smallest normal float has no digits left, and no inverse.
    if (scale < std::numeric_limits<float>::min()) {
        std::fill_n(codes, n, std::int8_t{0});
        return 0;
    }
    const float inverse = 127.0f / largest;
    for (std::int64_t i = 0; i < n; ++i) {
        codes[i] = static_cast<std::int8_t>(std::clamp(std::nearbyint(from[i] * inverse), -127.0f, 127.0f));
    }
    return scale;
}

void decode_int8(const std::int8_t* codes, std::int64_t n, float scale, float* to) {
    HWY_DYNAMIC_DISPATCH(decode_int8)(codes, n, scale, to);
}

GroupScale group_scale(const float* from, std::int64_t n, std::int64_t stride, int bits) {
    float smallest = from[0];
    float largest = from[0];
    bool finite = true;
    for (std::int64_t i = 0; i < n; ++i) {
        const float value = from[i * stride];
        finite = finite && std::isfinite(value);
        smallest = std::min(smallest, value);
        largest = std::max(largest, value);
    }
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    if (!finite) return {nan, nan};
    return {(largest - smallest) / static_cast<float>((1 << bits) - 1), smallest};
}

std::uint8_t group_code(float value, GroupScale group, int bits) {
    if (!(group.scale > 0)) return 0;
    const float code = std::nearbyint((value - group.zero) / group.scale);
    return static_cast<std::uint8_t>(std::clamp(code, 0.0f, static_cast<float>((1 << bits) - 1)));
}

void decode_group(const std::uint8_t* codes, int bits, std::int64_t n, GroupScale group, float* to) {
    HWY_DYNAMIC_DISPATCH(decode_group)(codes, bits, n, group, to);
}

void decode_groups(const std::uint8_t* codes, int bits, std::int64_t n, const GroupScale* groups, float* to) {
    HWY_DYNAMIC_DISPATCH(decode_groups)(codes, bits, n, groups, to);
}

}  // namespace decodescope
#endif
