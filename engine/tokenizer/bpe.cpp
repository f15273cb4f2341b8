// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/bpe.h"

#include <queue>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

#include "engine/tokenizer/token_table.h"

namespace decodescope {

namespace {

/// Up to this many symbols a search for the lowest rank is faster than a heap.
constexpr std::size_t max_short = 32;
constexpr std::int32_t no_rank = std::numeric_limits<std::int32_t>::max();

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

/// A pair that could be merged, as one number that orders by rank, then by place: the heap of a long piece is
/// most of the work. It is stale when the pair at that place has another rank by now.
constexpr int place_bits = 40;
static_assert(2 * max_token_ids <= std::size_t{1} << (64 - place_bits), "every rank fits");

std::uint64_t candidate(std::int32_t rank, std::size_t place) {
    return (static_cast<std::uint64_t>(rank) << place_bits) | place;
}

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

}  // namespace

void BpeMerges::add(std::int32_t left, std::int32_t right, std::int32_t merged, std::int32_t rank) {
    if (2 * (n_used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[slot_of(key_of(left, right))];
    if (slot.key == free_key) ++n_used_;
    slot = {key_of(left, right), rank, merged};
    ++n_added_;
}

std::size_t BpeMerges::slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t mixed = key * 0x9E3779B97F4A7C15u;
    std::size_t slot = static_cast<std::size_t>(mixed ^ (mixed >> 32)) & mask;
    while (slots_[slot].key != key && slots_[slot].key != free_key) slot = (slot + 1) & mask;
    return slot;
}

const BpeMerges::Slot* BpeMerges::find(std::int32_t left, std::int32_t right) const {
    if (left < 0 || right < 0 || slots_.empty()) return nullptr;
    const Slot& slot = slots_[slot_of(key_of(left, right))];
    return slot.key == free_key ? nullptr : &slot;
}

void BpeMerges::grow() {
    const std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(64, 2 * slots_.size())));
    for (const Slot& slot : old) {
        if (slot.key != free_key) slots_[slot_of(slot.key)] = slot;
    }
}

void BpeMerges::merge(std::vector<std::int32_t>& symbols) const {
    if (symbols.size() <= max_short) {
        merge_short(symbols);
    } else {
        merge_long(symbols);
    }
}

void BpeMerges::merge_short(std::vector<std::int32_t>& symbols) const {
    std::size_t n = symbols.size();
    if (n < 2) return;
    std::array<std::int32_t, max_short> ranks{};   // of the pair that starts at each symbol
    std::array<std::int32_t, max_short> merged{};  // and what it becomes
    const auto look = [&](std::size_t i) {
        const Slot* slot = find(symbols[i], symbols[i + 1]);
        ranks[i] = slot == nullptr ? no_rank : slot->rank;
        merged[i] = slot == nullptr ? -1 : slot->merged;
    };
    for (std::size_t i = 0; i + 1 < n; ++i) look(i);
    while (n > 1) {
        const auto first = ranks.begin();
        const auto best = std::min_element(first, first + static_cast<std::ptrdiff_t>(n - 1));
        if (*best == no_rank) break;
        const auto at = static_cast<std::size_t>(best - first);
        symbols[at] = merged[at];
        for (std::size_t i = at + 1; i + 1 < n; ++i) {
            symbols[i] = symbols[i + 1];
            ranks[i] = ranks[i + 1];
            merged[i] = merged[i + 1];
        }
        --n;
        if (at > 0) look(at - 1);
        if (at + 1 < n) look(at);
    }
    symbols.resize(n);
}

void BpeMerges::merge_long(std::vector<std::int32_t>& tokens) const {
    const std::size_t n = tokens.size();
    std::vector<Symbol> symbols(n);
    for (std::size_t i = 0; i < n; ++i) {
        symbols[i] = {tokens[i], i == 0 ? nowhere : i - 1, i + 1 == n ? nowhere : i + 1};
    }

    const auto pair_at = [&](std::size_t place) -> const Slot* {
        const std::size_t next = symbols[place].next;
        return next == nowhere ? nullptr : find(symbols[place].token, symbols[next].token);
    };
    std::vector<std::uint64_t> first;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        if (const Slot* slot = pair_at(i)) first.push_back(candidate(slot->rank, i));
    }
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> candidates(
        std::greater<>(), std::move(first));
    const auto offer = [&](std::size_t place) {
        if (place == nowhere) return;
        if (const Slot* slot = pair_at(place)) candidates.push(candidate(slot->rank, place));
    };

    while (!candidates.empty()) {
        const std::uint64_t best = candidates.top();
        candidates.pop();
        const auto place = static_cast<std::size_t>(best & ((std::uint64_t{1} << place_bits) - 1));
        Symbol& left = symbols[place];
        const Slot* slot = pair_at(place);  // null for a swallowed symbol, too: nothing merges with -1
        if (slot == nullptr || static_cast<std::uint64_t>(slot->rank) != best >> place_bits) continue;
        Symbol& right = symbols[left.next];
        left.token = slot->merged;
        left.next = right.next;
        if (right.next != nowhere) symbols[right.next].previous = place;
        right.token = -1;
        offer(left.previous);
        offer(place);
    }

    tokens.clear();
    for (std::size_t i = 0; i < n; i = symbols[i].next) {
        tokens.push_back(symbols[i].token);
        if (symbols[i].next == nowhere) break;
    }
}

}  // namespace decodescope
