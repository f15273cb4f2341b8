// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/bpe.h"

#include <queue>

#include <functional>

namespace decodescope {

namespace {

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
           static_cast<std::uint32_t>(right);
}

/// One symbol of a piece under way; the live ones form a doubly linked list.
struct Symbol {
    std::int32_t token = -1;  // -1: swallowed by its left neighbour
    std::size_t previous = 0;
    std::size_t next = 0;
};

/// A pair that could be merged. It is stale when either symbol has changed since.
struct Candidate {
    std::int32_t rank = 0;
    std::size_t left = 0;
    std::size_t right = 0;
    std::int32_t left_token = 0;
    std::int32_t right_token = 0;
    std::int32_t merged = 0;

    bool operator>(const Candidate& other) const {
        return rank != other.rank ? rank > other.rank : left > other.left;
    }
};

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

}  // namespace

void BpeMerges::add(std::int32_t left, std::int32_t right, std::int32_t merged) {
    merges_.insert_or_assign(key_of(left, right), Merge{n_added_++, merged});
}

const BpeMerges::Merge* BpeMerges::find(std::int32_t left, std::int32_t right) const {
    const auto found = merges_.find(key_of(left, right));
    return found == merges_.end() ? nullptr : &found->second;
}

void BpeMerges::encode(std::string_view piece, std::vector<std::int32_t>& out) const {
    const std::size_t n = piece.size();
    std::vector<Symbol> symbols(n);
    for (std::size_t i = 0; i < n; ++i) {
        symbols[i] = {byte_token[static_cast<unsigned char>(piece[i])], i == 0 ? nowhere : i - 1,
                      i + 1 == n ? nowhere : i + 1};
    }

    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
    const auto offer = [&](std::size_t left, std::size_t right) {
        if (left == nowhere || right == nowhere) return;
        const Merge* merge = find(symbols[left].token, symbols[right].token);
        if (merge == nullptr) return;
        candidates.push({merge->rank, left, right, symbols[left].token, symbols[right].token, merge->merged});
    };
    for (std::size_t i = 0; i + 1 < n; ++i) offer(i, i + 1);

    while (!candidates.empty()) {
        const Candidate best = candidates.top();
        candidates.pop();
        Symbol& left = symbols[best.left];
        Symbol& right = symbols[best.right];
        // A swallowed symbol has token -1, so equal tokens also mean that the two are still neighbours.
        if (left.token != best.left_token || right.token != best.right_token || left.next != best.right) {
            continue;
        }
        left.token = best.merged;
        left.next = right.next;
        if (right.next != nowhere) symbols[right.next].previous = best.left;
        right.token = -1;
        offer(left.previous, best.left);
        offer(best.left, left.next);
    }

    for (std::size_t i = 0; i < n; i = symbols[i].next) {
        out.push_back(symbols[i].token);
        if (symbols[i].next == nowhere) break;
    }
}

}  // namespace decodescope
