// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/attention/call_tokens.h"
#include "engine/attention/window.h"

namespace decodescope {

/// What a cell of the query x key matrix is. Exactly one applies, in this order of precedence.
enum class CellState : std::uint8_t { visible, future, padding, outside_window, empty };
const char* to_string(CellState state);

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
/// tensor's allocated length. Rows may have different numbers of queries and slots. Kept and rebuilt between
/// calls, so that a decode step allocates nothing.
class AttentionPlan {
public:
    /// Forgets all rows and keeps the memory.
    void clear(Window window = {});
    /// Makes room, so that plans up to this size allocate nothing.
    void reserve(int n_row, int n_query, int n_slot);
    /// Adds a row: the positions of its queries (padding queries are `slot_padding` and see nothing) and the
    /// positions its slots hold after this call's append, with `slot_empty` / `slot_padding` where they
    /// apply.
    void add_row(std::span<const std::int32_t> query_positions, std::span<const std::int32_t> slot_positions);

    /// Replaces what queries may see, which then no longer follows from positions: `see(b, q, visible)` is
    /// called for every query with the slots it may read (ascending, disjoint) and changes them. Slots up to
    /// `n_slot` of a row may be named; those that the row did not have count as empty.
    using See = std::function<void(int b, int q, std::vector<SlotRange>& visible)>;
    void amend(int n_slot, const See& see);

    int batch() const { return static_cast<int>(rows_.size()); }
    /// Queries of all rows; those of row `b` are `first_query(b)` .. + `n_query(b)`.
    int n_query() const { return static_cast<int>(query_positions_.size()); }
    int n_query(int b) const { return row(b).n_query; }
    int first_query(int b) const { return row(b).first_query; }
    int n_slot(int b) const { return row(b).n_slot; }
    /// Most queries and most slots of any row.
    int max_query() const { return max_query_; }
    int max_slot() const { return max_slot_; }
    /// Position ids of row `b`, [n_query(b)].
    std::span<const std::int32_t> query_positions(int b) const;
    /// Positions held by the key slots of row `b`, [n_slot(b)].
    std::span<const std::int32_t> slot_positions(int b) const;
    /// Slots that query `q` of row `b` may read, ascending and disjoint.
    std::span<const SlotRange> visible(int b, int q) const;
    /// What the rule says about a cell, and whether the query may read it: the same unless amended.
    CellState cell(int b, int q, int slot) const;
    bool sees(int b, int q, int slot) const;
    /// Query-key pairs allowed (per head and layer), all rows together.
    std::int64_t n_allowed() const { return n_allowed_; }
    const Window& window() const { return window_; }

private:
    struct Row {
        std::int32_t first_query = 0;
        std::int32_t n_query = 0;
        std::int32_t first_slot = 0;
        std::int32_t n_slot = 0;
    };
    /// Slots that hold consecutive positions.
    struct Run {
        std::int32_t slot = 0;
        std::int32_t position = 0;
        std::int32_t length = 0;
    };

    const Row& row(int b) const { return rows_[static_cast<std::size_t>(b)]; }
    void add_visible(std::int32_t query_position);

    Window window_;
    std::vector<Row> rows_;
    std::vector<Run> runs_;  // of the row that is being added
    std::vector<std::int32_t> query_positions_;
    std::vector<std::int32_t> slot_positions_;
    std::vector<SlotRange> ranges_;
    std::vector<std::int32_t> first_range_{0};  // [n_query + 1]: where each query's ranges begin
    std::int64_t n_allowed_ = 0;
    int max_query_ = 0;
    int max_slot_ = 0;
};

/// The plan of a call without a cache: every row sees its own tokens.
void plan_without_cache(const CallTokens& call, Window window, AttentionPlan& plan);

/// The plan of an unpadded batch of one: `n_query` tokens after `n_stored` others, into a store that has
/// `n_slot` >= n_stored + n_query slots of which the rest is empty.
AttentionPlan plan_single(int n_stored, int n_query, int n_slot, Window window = {});

/// The plan that step `step` of a lane with one request uses: rebuilt from lengths alone, for views that look
/// at a finished step. `cached`: whether the lane keeps a cache; step 0 is the last prefill call of
/// `last_chunk` tokens.
AttentionPlan plan_of_step(bool cached, int prompt_length, int last_chunk, int step, Window window = {});

}  // namespace decodescope
