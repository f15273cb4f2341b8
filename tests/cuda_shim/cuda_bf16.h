// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device.h"

struct alignas(2) __nv_bfloat16 {
    std::uint16_t bits;
};

inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    return {bits};
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) {
    return value.bits;
}
inline float __bfloat162float(__nv_bfloat16 value) {
    return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}
/// To nearest even; a NaN becomes the device's NaN.
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
    const unsigned bits = __float_as_uint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
    const unsigned rest = bits & 0xffffu;
    unsigned result = bits >> 16;
    if (rest > 0x8000u || (rest == 0x8000u && (result & 1u) != 0)) ++result;
    return {static_cast<std::uint16_t>(result)};
}
