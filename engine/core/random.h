// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

/// Mixes 64 bits (the finaliser of SplitMix64, Steele, Lea and Flood 2014). Same bits on every machine.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// Counter-based random numbers: draw `i` of stream (`seed`, `stream`) needs no state, so it does not depend
/// on the order in which lanes or threads ask.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return mix64(mix64(mix64(seed) ^ stream) + i);
}

/// Uniform in [0, 1) with 53 bits.
constexpr double random_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return static_cast<double>(random_bits(seed, stream, i) >> 11) * 0x1p-53;
}

/// Near-normal with mean 0 and standard deviation 1: the sum of four 16-bit uniforms of one draw
/// (Irwin-Hall), so that only integer sums and one exactly rounded product are involved and every machine
/// gets the same float.
constexpr float random_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    const std::uint64_t bits = random_bits(seed, stream, i);
    const std::int32_t sum = static_cast<std::int32_t>((bits & 0xffff) + ((bits >> 16) & 0xffff) +
                                                       ((bits >> 32) & 0xffff) + (bits >> 48)) -
                             2 * 0xffff;
    // A 16-bit uniform has variance (2^32 - 1) / 12; four of them: standard deviation 37837.228.
    return static_cast<float>(sum) * (1.0f / 37837.228f);
}

}  // namespace decodescope
