// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace decodescope {

/// Byte-pair merging of one piece of text. Immutable once filled; safe from any thread.
class BpeMerges {
public:
    /// The token of each single byte.
    std::array<std::int32_t, 256> byte_token{};

    /// Adds the next merge in order of priority. A pair that is listed again takes the later place, as in the
    /// programs that wrote such files.
    void add(std::int32_t left, std::int32_t right, std::int32_t merged);
    std::size_t size() const { return merges_.size(); }

    /// Appends the tokens of `piece`: merges the pair of lowest rank first, the leftmost of equals, until
    /// none applies. O(n log n) in the length of the piece.
    void encode(std::string_view piece, std::vector<std::int32_t>& out) const;

private:
    struct Merge {
        std::int32_t rank = 0;
        std::int32_t merged = 0;
    };
    const Merge* find(std::int32_t left, std::int32_t right) const;

    std::unordered_map<std::uint64_t, Merge> merges_;
    std::int32_t n_added_ = 0;
};

}  // namespace decodescope
