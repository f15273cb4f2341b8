// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace decodescope {

KvCache::KvCache(const KvShape& shape) : shape_(shape), rows_(index(shape.batch)) {}

Result<void> KvCache::begin(const CallTokens& call) {
    if (open_) return Error{ErrorKind::internal, "KV cache: an append was begun while another is open."};
    if (call.batch() != shape_.batch) {
        return Error{ErrorKind::bad_input,
                     fmt::format("KV cache: got a batch of {}, expected {}.", call.batch(), shape_.batch)};
    }
    if (call.n_token() < 1)
        return Error{ErrorKind::bad_input, "KV cache: got no tokens, expected at least one."};
    for (int b = 0; b < call.batch(); ++b) {
        std::int32_t expected = rows_[index(b)].next_position;
        for (const std::int32_t position : call.positions(b)) {
            if (position == slot_padding) continue;
            if (position != expected) {
                return Error{ErrorKind::bad_input,
                             fmt::format("KV cache: row {} got a token at position {}, expected {}.", b,
                                         position, expected)};
            }
            ++expected;
        }
        const int n_new = call.end(b) - call.begin(b);
        const int stored = rows_[index(b)].n_valid + rows_[index(b)].n_padding;
        const bool wraps = faults_.has(Fault::overflow_last_slot) || faults_.has(Fault::ring_without_window);
        if (capacity() != 0 && n_new > capacity() - stored && !wraps) {
            return Error{ErrorKind::capacity,
                         fmt::format("KV cache: {} entries are stored and {} more were asked for, but "
                                     "its capacity is {}.",
                                     stored, n_new, capacity())};
        }
    }
    DS_TRY(reserve(call));
    pending_slots_.clear();
    for (int b = 0; b < call.batch(); ++b) {
        rows_[index(b)].committed_slots = rows_[index(b)].positions.size();
        if (call.end(b) > call.begin(b)) place(b, call.positions(b), pending_slots_);
    }
    assert(pending_slots_.size() == index(call.n_token()));
    call_ = call;
    open_ = true;
    next_layer_ = 0;
    return {};
}

void KvCache::place(int row, std::span<const std::int32_t> positions, std::vector<std::int32_t>& slots) {
    std::vector<std::int32_t>& mine = rows_[index(row)].positions;
    for (const std::int32_t position : positions) {
        slots.push_back(static_cast<std::int32_t>(mine.size()));
        mine.push_back(position);
    }
}

Result<void> KvCache::reserve(const CallTokens&) {
    return {};
}

Result<void> KvCache::begin_layer(int layer) {
    if (!open_ || layer != next_layer_ || layer >= shape_.n_layer) {
        return Error{ErrorKind::internal, fmt::format("KV cache: layer {} was appended out of turn.", layer)};
    }
    DS_TRY(grow(layer));
    ++next_layer_;
    return {};
}

void KvCache::store_heads(int layer, const KeyValueBlock& block, int first, int last) {
    for (int b = 0; b < shape_.batch; ++b) {
        for (int i = call_.begin(b); i < call_.end(b); ++i) {
            store_part(layer, b, pending_slots_[index(i)], first, last, block.k + i * block.token_stride,
                       block.v + i * block.token_stride);
        }
    }
}

Result<void> KvCache::append(int layer, const KeyValueBlock& block) {
    DS_TRY(begin_layer(layer));
    for (int b = 0; b < shape_.batch; ++b) {
        for (int i = call_.begin(b); i < call_.end(b); ++i) {
            store(layer, b, pending_slots_[index(i)], block.k + i * block.token_stride,
                  block.v + i * block.token_stride);
        }
    }
    return {};
}

KeyValueView KvCache::view(int layer) const {
    KeyValueView view;
    view.source = this;
    view.layer = layer;
    return view;
}

KeyValueView KvCache::view_in_place(int layer, DType dtype, const std::byte* k, const std::byte* v,
                                    int n_slot) const {
    KeyValueView view = KvCache::view(layer);
    if (dtype == DType::f32) {
        view.source = nullptr;
        view.k = reinterpret_cast<const float*>(k);
        view.v = reinterpret_cast<const float*>(v);
    } else {
        view.half = dtype;
        view.k16 = reinterpret_cast<const std::uint16_t*>(k);
        view.v16 = reinterpret_cast<const std::uint16_t*>(v);
    }
    view.slot_stride = shape_.head_dim;
    view.head_stride = std::int64_t{n_slot} * shape_.head_dim;
    view.batch_stride = view.head_stride * shape_.n_kv_head;
    return view;
}

KvLayout KvCache::layout_in_place(std::byte* k, std::byte* v, int n_slot) const {
    KvLayout layout;
    layout.k = k;
    layout.v = v;
    layout.slot_stride = shape_.head_dim;
    layout.head_stride = std::int64_t{n_slot} * shape_.head_dim;
    layout.row_stride = layout.head_stride * shape_.n_kv_head;
    return layout;
}

void KvCache::read(int, int, int, SlotRange, float*, float*) const {
    assert(false && "this kind of cache is read in place");
}

Result<void> KvCache::commit() {
    if (!open_ || next_layer_ != shape_.n_layer) {
        return Error{ErrorKind::internal, fmt::format("KV cache: an append was closed after {} of {} layers.",
                                                      next_layer_, shape_.n_layer)};
    }
    for (int b = 0; b < shape_.batch; ++b) {
        Row& row = rows_[index(b)];
        for (const std::int32_t position : call_.positions(b)) {
            if (position == slot_padding) {
                ++row.n_padding;
            } else {
                ++row.n_valid;
                row.next_position = position + 1;
            }
        }
    }
    committed();
    open_ = false;
    return {};
}

void KvCache::rollback() {
    if (!open_) return;
    for (int b = 0; b < shape_.batch; ++b) {
        Row& row = rows_[index(b)];
        // Slots that were reused lie in front of `committed_slots`: they are empty again.
        for (int i = call_.begin(b); i < call_.end(b); ++i) {
            row.positions[index(pending_slots_[index(i)])] = slot_empty;
        }
        row.positions.resize(row.committed_slots);
    }
    open_ = false;
    next_layer_ = 0;
    rolled_back();
}

Result<void> KvCache::can_truncate(int, int) const {
    return {};
}

Result<void> KvCache::truncate(int row, int n_token) {
    Row& here = rows_[index(row)];
    if (open_ || n_token < 0 || n_token > here.next_position) {
        return Error{ErrorKind::internal, fmt::format("KV cache: cannot cut row {} from {} to {} tokens.",
                                                      row, here.next_position, n_token)};
    }
    if (n_token == here.next_position) return {};
    DS_TRY(can_truncate(row, n_token));
    bool dropped = false;
    for (std::int32_t& position : here.positions) {
        if (position >= n_token) {
            --here.n_valid;
            dropped = true;
        } else if (dropped && position == slot_padding) {
            // Behind what is dropped, a pad would leave a hole that is never filled.
            --here.n_padding;
        } else {
            continue;
        }
        position = slot_empty;
    }
    while (!here.positions.empty() && here.positions.back() == slot_empty) here.positions.pop_back();
    here.next_position = n_token;
    truncated(row);
    return {};
}

Result<void> KvCache::reorder(std::span<const int> parents) {
    if (open_ || parents.size() != rows_.size() ||
        std::any_of(parents.begin(), parents.end(), [&](int p) { return p < 0 || p >= shape_.batch; })) {
        return Error{ErrorKind::internal, "KV cache: rows cannot be reordered this way."};
    }
    bool identity = true;
    for (std::size_t i = 0; i < parents.size(); ++i) identity = identity && index(parents[i]) == i;
    if (identity) return {};
    DS_TRY(reorder_storage(parents));
    std::vector<Row> rows;
    rows.reserve(rows_.size());
    for (const int parent : parents) {
        rows.push_back(rows_[index(parent)]);
        rows.back().positions.reserve(rows_[index(parent)].positions.capacity());
    }
    rows_ = std::move(rows);
    return {};
}

void KvCache::clear_row(int row) {
    Row& here = rows_[index(row)];
    here.positions.clear();
    here.n_valid = here.n_padding = here.next_position = 0;
    cleared(row);
}

Result<int> KvCache::adopt_prefix(int, std::span<const std::int32_t>, std::uint64_t) {
    return 0;
}

void KvCache::adopt(int row, int n_token) {
    Row& here = rows_[index(row)];
    assert(here.positions.empty());
    for (int i = 0; i < n_token; ++i) here.positions.push_back(i);
    here.n_valid = here.next_position = n_token;
}

void KvCache::forget(int row, int slot) {
    Row& here = rows_[index(row)];
    std::int32_t& position = here.positions[index(slot)];
    assert(position != slot_empty);
    --(position == slot_padding ? here.n_padding : here.n_valid);
    position = slot_empty;
}

void KvCache::reserve_slots(int capacity, int max_call) {
    for (Row& row : rows_) row.positions.reserve(index(capacity));
    pending_slots_.reserve(index(max_call) * rows_.size());
    call_.reserve(shape_.batch, max_call * shape_.batch);
}

KvBytes KvCache::bytes_of_slots(std::uint64_t slot, std::uint64_t reserved) const {
    KvBytes bytes;
    for (const Row& row : rows_) {
        bytes.payload += slot * index(row.n_valid);
        bytes.padding += slot * index(row.n_padding);
    }
    bytes.live = bytes.payload;
    bytes.reserved = reserved;
    bytes.slack = bytes.reserved - bytes.live - bytes.padding;
    bytes.meta = slot_map_bytes();
    return bytes;
}

std::uint64_t KvCache::slot_map_bytes() const {
    std::uint64_t bytes = 0;
    for (const Row& row : rows_) bytes += row.positions.capacity() * sizeof(std::int32_t);
    return bytes;
}

void plan_of_append(const KvCache& cache, const CallTokens& call, Window window, AttentionPlan& plan) {
    plan.clear(window);
    for (int b = 0; b < call.batch(); ++b) {
        const auto queries = call.positions(b);
        plan.add_row(queries, queries.empty() ? queries : cache.slot_positions(b));
    }
}

}  // namespace decodescope
