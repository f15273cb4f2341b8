// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/attention/attention_plan.h"

#include <algorithm>
#include <numeric>

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

void AttentionPlan::clear(Window window) {
    window_ = window;
    rows_.clear();
    query_positions_.clear();
    slot_positions_.clear();
    ranges_.clear();
    first_range_.assign(1, 0);
    n_allowed_ = 0;
    max_query_ = 0;
    max_slot_ = 0;
}

void AttentionPlan::reserve(int n_row, int n_query, int n_slot) {
    const auto rows = static_cast<std::size_t>(n_row);
    const auto queries = static_cast<std::size_t>(n_query);
    rows_.reserve(rows);
    query_positions_.reserve(queries);
    slot_positions_.reserve(rows * static_cast<std::size_t>(n_slot));
    first_range_.reserve(queries + 1);
    // A sliding window whose slots are reused has its entries in three runs at most, and the sinks.
    constexpr std::size_t usual_runs = 4;
    runs_.reserve(usual_runs);
    ranges_.reserve(queries * usual_runs);
}

void AttentionPlan::add_row(std::span<const std::int32_t> query_positions,
                            std::span<const std::int32_t> slot_positions) {
    const auto first_query = static_cast<std::int32_t>(query_positions_.size());
    const auto first_slot = static_cast<std::int32_t>(slot_positions_.size());
    const auto n_query = static_cast<std::int32_t>(query_positions.size());
    const auto n_slot = static_cast<std::int32_t>(slot_positions.size());
    rows_.push_back({first_query, n_query, first_slot, n_slot});
    max_query_ = std::max(max_query_, n_query);
    max_slot_ = std::max(max_slot_, n_slot);
    query_positions_.insert(query_positions_.end(), query_positions.begin(), query_positions.end());
    slot_positions_.insert(slot_positions_.end(), slot_positions.begin(), slot_positions.end());

    runs_.clear();
    for (std::int32_t s = 0; s < n_slot; ++s) {
        const std::int32_t position = slot_positions[static_cast<std::size_t>(s)];
        if (position < 0) continue;
        if (!runs_.empty() && runs_.back().slot + runs_.back().length == s &&
            runs_.back().position + runs_.back().length == position) {
            ++runs_.back().length;
        } else {
            runs_.push_back({s, position, 1});
        }
    }
    for (const std::int32_t position : query_positions) add_visible(position);
}

/// Appends the ranges of one query: of every run, what lies in [0, sinks) or in the window that ends at
/// `query_position`.
void AttentionPlan::add_visible(std::int32_t query_position) {
    const std::size_t first = ranges_.size();
    const std::int32_t end = query_position + 1;
    const std::int32_t begin = window_.size > 0 ? std::max(0, end - window_.size) : 0;
    const std::int32_t sinks = window_.size > 0 ? std::min(window_.sinks, begin) : 0;
    const auto add = [&](const Run& run, std::int32_t from, std::int32_t to) {
        const std::int32_t a = std::max(from, run.position) - run.position + run.slot;
        const std::int32_t b = std::min(to, run.position + run.length) - run.position + run.slot;
        if (a >= b) return;
        n_allowed_ += b - a;
        if (ranges_.size() > first && ranges_.back().end == a) {
            ranges_.back().end = b;
        } else {
            ranges_.push_back({a, b});
        }
    };
    if (query_position >= 0) {
        for (const Run& run : runs_) {
            add(run, 0, sinks);
            add(run, begin, end);
        }
    }
    first_range_.push_back(static_cast<std::int32_t>(ranges_.size()));
}

std::span<const std::int32_t> AttentionPlan::query_positions(int b) const {
    return std::span(query_positions_)
        .subspan(static_cast<std::size_t>(row(b).first_query), static_cast<std::size_t>(row(b).n_query));
}

std::span<const std::int32_t> AttentionPlan::slot_positions(int b) const {
    return std::span(slot_positions_)
        .subspan(static_cast<std::size_t>(row(b).first_slot), static_cast<std::size_t>(row(b).n_slot));
}

std::span<const SlotRange> AttentionPlan::visible(int b, int q) const {
    const auto i = static_cast<std::size_t>(row(b).first_query + q);
    const auto begin = static_cast<std::size_t>(first_range_[i]);
    const auto end = static_cast<std::size_t>(first_range_[i + 1]);
    return std::span(ranges_).subspan(begin, end - begin);
}

CellState AttentionPlan::cell(int b, int q, int slot) const {
    return cell_state(query_positions(b)[static_cast<std::size_t>(q)],
                      slot_positions(b)[static_cast<std::size_t>(slot)], window_);
}

bool AttentionPlan::sees(int b, int q, int slot) const {
    const auto ranges = visible(b, q);
    return std::any_of(ranges.begin(), ranges.end(),
                       [slot](const SlotRange& r) { return slot >= r.begin && slot < r.end; });
}

void AttentionPlan::amend(int n_slot, const See& see) {
    std::vector<SlotRange> ranges;
    std::vector<std::int32_t> first_range{0};
    std::vector<std::int32_t> slots;
    std::vector<SlotRange> mine;
    n_allowed_ = 0;
    for (int b = 0; b < batch(); ++b) {
        Row& here = rows_[static_cast<std::size_t>(b)];
        const auto held = slot_positions(b);
        const auto first_slot = static_cast<std::int32_t>(slots.size());
        slots.insert(slots.end(), held.begin(), held.end());
        for (int q = 0; q < here.n_query; ++q) {
            const auto given = visible(b, q);
            mine.assign(given.begin(), given.end());
            see(b, q, mine);
            for (const SlotRange& range : mine) n_allowed_ += range.end - range.begin;
            ranges.insert(ranges.end(), mine.begin(), mine.end());
            first_range.push_back(static_cast<std::int32_t>(ranges.size()));
        }
        if (here.n_query > 0 && here.n_slot < n_slot) {
            slots.resize(static_cast<std::size_t>(first_slot + n_slot), slot_empty);
            here.n_slot = n_slot;
            max_slot_ = std::max(max_slot_, n_slot);
        }
        here.first_slot = first_slot;
    }
    slot_positions_ = std::move(slots);
    ranges_ = std::move(ranges);
    first_range_ = std::move(first_range);
}

void plan_without_cache(const CallTokens& call, Window window, AttentionPlan& plan) {
    plan.clear(window);
    for (int b = 0; b < call.batch(); ++b) plan.add_row(call.positions(b), call.positions(b));
}

AttentionPlan plan_single(int n_stored, int n_query, int n_slot, Window window) {
    std::vector<std::int32_t> queries(static_cast<std::size_t>(n_query));
    std::iota(queries.begin(), queries.end(), n_stored);
    std::vector<std::int32_t> slots(static_cast<std::size_t>(n_slot), slot_empty);
    std::iota(slots.begin(), slots.begin() + n_stored + n_query, 0);
    AttentionPlan plan;
    plan.clear(window);
    plan.add_row(queries, slots);
    return plan;
}

AttentionPlan plan_of_step(bool cached, int prompt_length, int last_chunk, int step, Window window) {
    const int length = prompt_length + step;
    if (!cached) return plan_single(0, length, length, window);
    const int n_query = step == 0 ? last_chunk : 1;
    return plan_single(length - n_query, n_query, length, window);
}

}  // namespace decodescope
