// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace decodescope {

/// Sliding window of a model or lane: a query sees itself and the `size - 1` positions before it, plus the
/// first `sinks` positions for ever. size 0 = no window.
struct Window {
    int size = 0;
    int sinks = 0;
};

/// What a cell of the query x key matrix is. Exactly one applies, in this order of precedence.
enum class CellState : std::uint8_t { visible, future, padding, outside_window, empty };
const char* to_string(CellState state);

/// Position stored in a slot that holds nothing, and in one that holds a padding token.
inline constexpr std::int32_t slot_empty = -1;
inline constexpr std::int32_t slot_padding = -2;

/// The rule itself: a query at position p sees the key at position k when k <= p, the key is neither padding
/// nor an empty slot, and it is inside the window or a sink.
CellState cell_state(std::int32_t query_position, std::int32_t key_position, const Window& window);

/// Half-open range of key slots.
struct SlotRange {
    std::int32_t begin = 0;
    std::int32_t end = 0;
};

/// Who sees whom in one forward call: the position of every query, the position held by every key slot, and
/// for every query the ranges of slots it may read. Computed from absolute positions alone, never from a
/// tensor's allocated length.
class AttentionPlan {
public:
    /// `query_positions` [batch, n_query] (padding queries are `slot_padding` and see nothing);
    /// `slot_positions` [batch, n_slot] after this call's append, with `slot_empty` / `slot_padding` where
    /// they apply.
    AttentionPlan(int batch, int n_query, std::vector<std::int32_t> query_positions, int n_slot,
                  std::vector<std::int32_t> slot_positions, Window window = {});

    int batch() const { return batch_; }
    int n_query() const { return n_query_; }
    int n_slot() const { return n_slot_; }
    /// Position ids of row `b`, [n_query].
    std::span<const std::int32_t> query_positions(int b) const;
    /// Positions held by the key slots of row `b`, [n_slot].
    std::span<const std::int32_t> slot_positions(int b) const;
    /// Slots that query `q` of row `b` may read, ascending and disjoint.
    std::span<const SlotRange> visible(int b, int q) const;
    CellState cell(int b, int q, int slot) const;
    /// Query-key pairs allowed (per head and layer), all rows together.
    std::int64_t n_allowed() const { return n_allowed_; }
    const Window& window() const { return window_; }

private:
    int batch_;
    int n_query_;
    int n_slot_;
    Window window_;
    std::vector<std::int32_t> query_positions_;
    std::vector<std::int32_t> slot_positions_;
    std::vector<SlotRange> ranges_;
    std::vector<std::int32_t> first_range_;  // [batch * n_query + 1]: where each query's ranges begin
    std::int64_t n_allowed_ = 0;
};

/// The plan of one call of an unpadded batch of one: `n_query` tokens after `n_stored` others, into a store
/// that has `n_slot` >= n_stored + n_query slots of which the rest is empty.
AttentionPlan plan_single(int n_stored, int n_query, int n_slot, Window window = {});

/// The plan that step `step` of a lane uses: rebuilt from lengths alone, for views that look at a finished
/// step. `cached`: whether the lane keeps a cache; step 0 is the last prefill call of `last_chunk` tokens.
AttentionPlan plan_of_step(bool cached, int prompt_length, int last_chunk, int step);

}  // namespace decodescope
