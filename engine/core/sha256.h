// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace decodescope {

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces. Names model files in records; not used for secrets.
class Sha256 {
public:
    void update(std::span<const std::byte> bytes);
    /// 64 lower-case hex digits of everything so far. Ends the computation: call once.
    std::string finish();

private:
    void compress(const std::byte* block);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> pending_{};
    std::size_t n_pending_ = 0;
    std::uint64_t n_byte_ = 0;
};

}  // namespace decodescope
