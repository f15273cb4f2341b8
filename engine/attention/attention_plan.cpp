// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/attention/attention_plan.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace decodescope {

const char* to_string(CellState state) {
    switch (state) {
        case CellState::visible: return "visible";
        case CellState::future: return "future";
        case CellState::padding: return "padding";
        case CellState::outside_window: return "outside the window";
        case CellState::empty: return "empty slot";
    }
    return "empty slot";
}

CellState cell_state(std::int32_t query_position, std::int32_t key_position, const Window& window) {
    if (key_position == slot_empty) return CellState::empty;
    if (key_position == slot_padding || query_position == slot_padding) return CellState::padding;
    if (key_position > query_position) return CellState::future;
    if (window.size > 0 && key_position < window.sinks) return CellState::visible;
    if (window.size > 0 && key_position <= query_position - window.size) return CellState::outside_window;
    return CellState::visible;
}

AttentionPlan::AttentionPlan(int batch, int n_query, std::vector<std::int32_t> query_positions, int n_slot,
                             std::vector<std::int32_t> slot_positions, Window window)
    : batch_(batch),
      n_query_(n_query),
      n_slot_(n_slot),
      window_(window),
      query_positions_(std::move(query_positions)),
      slot_positions_(std::move(slot_positions)) {
    assert(query_positions_.size() == static_cast<std::size_t>(batch) * static_cast<std::size_t>(n_query));
    assert(slot_positions_.size() == static_cast<std::size_t>(batch) * static_cast<std::size_t>(n_slot));
    first_range_.reserve(query_positions_.size() + 1);
    for (int b = 0; b < batch_; ++b) {
        const auto slots = this->slot_positions(b);
        // Slots that hold 0, 1, 2, ... in order are the common case: one range per query, no scan of its own.
        std::int32_t n_ordered = 0;
        while (n_ordered < n_slot_ && slots[static_cast<std::size_t>(n_ordered)] == n_ordered) ++n_ordered;
        const bool ordered = window_.size == 0 && std::all_of(slots.begin() + n_ordered, slots.end(),
                                                              [](std::int32_t p) { return p == slot_empty; });
        for (const std::int32_t position : this->query_positions(b)) {
            first_range_.push_back(static_cast<std::int32_t>(ranges_.size()));
            if (ordered && position >= 0) {
                const std::int32_t end = std::min(position + 1, n_ordered);
                if (end > 0) ranges_.push_back({0, end});
                n_allowed_ += end;
                continue;
            }
            bool open = false;
            for (std::int32_t s = 0; s < n_slot_; ++s) {
                const bool visible =
                    cell_state(position, slots[static_cast<std::size_t>(s)], window_) == CellState::visible;
                if (visible && !open) ranges_.push_back({s, s});
                if (visible) {
                    ranges_.back().end = s + 1;
                    ++n_allowed_;
                }
                open = visible;
            }
        }
    }
    first_range_.push_back(static_cast<std::int32_t>(ranges_.size()));
}

std::span<const std::int32_t> AttentionPlan::query_positions(int b) const {
    return std::span(query_positions_)
        .subspan(static_cast<std::size_t>(b) * static_cast<std::size_t>(n_query_),
                 static_cast<std::size_t>(n_query_));
}

std::span<const std::int32_t> AttentionPlan::slot_positions(int b) const {
    return std::span(slot_positions_)
        .subspan(static_cast<std::size_t>(b) * static_cast<std::size_t>(n_slot_),
                 static_cast<std::size_t>(n_slot_));
}

std::span<const SlotRange> AttentionPlan::visible(int b, int q) const {
    const auto i =
        static_cast<std::size_t>(b) * static_cast<std::size_t>(n_query_) + static_cast<std::size_t>(q);
    const auto begin = static_cast<std::size_t>(first_range_[i]);
    const auto end = static_cast<std::size_t>(first_range_[i + 1]);
    return std::span(ranges_).subspan(begin, end - begin);
}

CellState AttentionPlan::cell(int b, int q, int slot) const {
    return cell_state(query_positions(b)[static_cast<std::size_t>(q)],
                      slot_positions(b)[static_cast<std::size_t>(slot)], window_);
}

AttentionPlan plan_single(int n_stored, int n_query, int n_slot, Window window) {
    std::vector<std::int32_t> queries(static_cast<std::size_t>(n_query));
    std::iota(queries.begin(), queries.end(), n_stored);
    std::vector<std::int32_t> slots(static_cast<std::size_t>(n_slot), slot_empty);
    std::iota(slots.begin(), slots.begin() + n_stored + n_query, 0);
    return {1, n_query, std::move(queries), n_slot, std::move(slots), window};
}

AttentionPlan plan_of_step(bool cached, int prompt_length, int last_chunk, int step) {
    const int length = prompt_length + step;
    if (!cached) return plan_single(0, length, length);
    const int n_query = step == 0 ? last_chunk : 1;
    return plan_single(length - n_query, n_query, length);
}

}  // namespace decodescope
