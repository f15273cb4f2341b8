// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device.h"
#include "engine/core/dtype.h"

struct alignas(2) __half {
    std::uint16_t bits;
};

inline __half __ushort_as_half(unsigned short bits) {
    return {bits};
}
inline unsigned short __half_as_ushort(__half value) {
    return value.bits;
}
inline float __half2float(__half value) {
    return decodescope::f16_to_f32(value.bits);
}
/// To nearest even; too large becomes infinite; a NaN becomes the device's NaN.
inline __half __float2half_rn(float value) {
    const unsigned bits = __float_as_uint(value);
    const unsigned sign = bits >> 16 & 0x8000u;
    const unsigned magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {0x7fff};
    unsigned result = 0x7c00;
    if (magnitude < 0x38800000u) {
        // Below 2^-14, where an f16 counts 2^-24: rounded by the processor's own rule.
        result = static_cast<unsigned>(nearbyintf(__uint_as_float(magnitude) * 0x1p24f));
    } else if (magnitude < 0x477ff000u) {
        const unsigned rest = magnitude & 0x1fffu;
        result = (magnitude >> 13) - (112u << 10);
        if (rest > 0x1000u || (rest == 0x1000u && (result & 1u) != 0)) ++result;
    }
    return {static_cast<std::uint16_t>(sign | result)};
}
