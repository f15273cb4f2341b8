// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/dtype.h"

#include <cstring>

namespace decodescope {

void convert_to_f32(DType dtype, const std::byte* bytes, std::span<float> out) {
    static_assert(std::endian::native == std::endian::little, "model files are little-endian");
    if (dtype == DType::f32) {
        if (!out.empty()) std::memcpy(out.data(), bytes, out.size_bytes());
        return;
    }
    const auto each = [&](auto convert) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            std::uint16_t bits = 0;
            std::memcpy(&bits, bytes + 2 * i, sizeof bits);
            out[i] = convert(bits);
        }
    };
    if (dtype == DType::f16) return each([](std::uint16_t bits) { return f16_to_f32(bits); });
    each([](std::uint16_t bits) { return bf16_to_f32(bits); });
}

}  // namespace decodescope
