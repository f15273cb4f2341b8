// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace decodescope {

/// Byte-pair merging of the symbols of one piece of text. Symbols are numbers of the caller, not below 0.
/// Immutable once filled; safe from any thread.
class BpeMerges {
public:
    /// Adds a merge of rank `size()`, so the first that is added goes first. A pair that is listed again
    /// takes the later place, as in the programs that wrote such files.
    void add(std::int32_t left, std::int32_t right, std::int32_t merged) {
        add(left, right, merged, n_added_);
    }
    /// The same with a rank, not below 0 and below 2 * max_token_ids; equal ranks are merged from the left.
    void add(std::int32_t left, std::int32_t right, std::int32_t merged, std::int32_t rank);

    /// Replaces `symbols` by what is left of them after merging: the pair of lowest rank first, the leftmost
    /// of equals, until none applies. Symbols below 0 never merge. O(n log n).
    void merge(std::vector<std::int32_t>& symbols) const;

private:
    struct Slot {
        std::uint64_t key = free_key;
        std::int32_t rank = 0;
        std::int32_t merged = 0;
    };
    static constexpr std::uint64_t free_key = ~std::uint64_t{0};
    std::size_t slot_of(std::uint64_t key) const;
    const Slot* find(std::int32_t left, std::int32_t right) const;
    void grow();
    void merge_short(std::vector<std::int32_t>& symbols) const;
    void merge_long(std::vector<std::int32_t>& symbols) const;

    std::vector<Slot> slots_;  // a hash table
    std::size_t n_used_ = 0;
    std::int32_t n_added_ = 0;
};

}  // namespace decodescope
