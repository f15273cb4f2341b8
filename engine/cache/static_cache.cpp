// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/static_cache.h"

#include <fmt/format.h>

#include "engine/cache/entry_codec.h"
#include "engine/cache/row_copy.h"

namespace decodescope {

Result<std::unique_ptr<KvCache>> StaticCache::make(const CacheSpec& spec, const KvShape& shape,
                                                   const KvRoom& room, std::shared_ptr<MemoryLedger> ledger) {
    if (room.capacity < 1) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Static cache: capacity is {}, expected at least 1.", room.capacity)};
    }
    std::unique_ptr<StaticCache> cache(new StaticCache(shape, spec.dtype, room.capacity));
    DS_TRY(cache->allocate(room.max_call, ledger));
    return std::unique_ptr<KvCache>(std::move(cache));
}

Result<void> StaticCache::allocate(int max_call, const std::shared_ptr<MemoryLedger>& ledger) {
    const std::size_t bytes = static_cast<std::size_t>(shape().elements_per_token()) / 2 * size_of(dtype_) *
                              index(shape().batch) * index(capacity_);
    auto keys = Buffer::allocate(ledger, Owner::kv, bytes);
    if (!keys) return keys.error();
    auto values = Buffer::allocate(ledger, Owner::kv, bytes);
    if (!values) return values.error();
    keys_ = *std::move(keys);
    values_ = *std::move(values);
    ledger_ = ledger;
    reserve_slots(capacity_, max_call);
    return {};
}

std::size_t StaticCache::offset(int layer, int row, int kv_head, int slot) const {
    const std::size_t head =
        (index(layer) * index(shape().batch) + index(row)) * index(shape().n_kv_head) + index(kv_head);
    return (head * index(capacity_) + index(slot)) * index(shape().head_dim) * size_of(dtype_);
}

KeyValueView StaticCache::view(int layer) const {
    const std::size_t first = offset(layer, 0, 0, 0);
    return view_in_place(layer, dtype_, keys_.data() + first, values_.data() + first, capacity_);
}

std::optional<KvLayout> StaticCache::layout(int layer) {
    const std::size_t first = offset(layer, 0, 0, 0);
    KvLayout layout = layout_in_place(keys_.data() + first, values_.data() + first, capacity_);
    layout.dtype = dtype_;
    return layout;
}

void StaticCache::read(int layer, int row, int kv_head, SlotRange slots, float* k, float* v) const {
    const std::size_t from = offset(layer, row, kv_head, slots.begin);
    const std::int64_t n = std::int64_t{slots.end - slots.begin} * shape().head_dim;
    if (k != nullptr) decode_entries(dtype_, keys_.data() + from, n, k);
    if (v != nullptr) decode_entries(dtype_, values_.data() + from, n, v);
}

void StaticCache::place(int row, std::span<const std::int32_t> positions, std::vector<std::int32_t>& placed) {
    if (!faults().has(Fault::overflow_last_slot) && !faults().has(Fault::ring_without_window))
        return KvCache::place(row, positions, placed);
    std::vector<std::int32_t>& mine = row_slots(row);
    for (const std::int32_t position : positions) {
        auto slot = static_cast<std::int32_t>(mine.size());
        if (slot < capacity_) {
            mine.push_back(position);
        } else {
            slot = faults().has(Fault::overflow_last_slot) ? capacity_ - 1 : position % capacity_;
            forget(row, slot);
            mine[index(slot)] = position;
        }
        placed.push_back(slot);
    }
}

void StaticCache::store(int layer, int row, int slot, const float* k, const float* v) {
    store_part(layer, row, slot, 0, shape().n_kv_head, k, v);
}

void StaticCache::store_part(int layer, int row, int slot, int first, int last, const float* k,
                             const float* v) {
    const int d = shape().head_dim;
    for (int h = first; h < last; ++h) {
        const std::size_t to = offset(layer, row, h, slot);
        encode_entries(dtype_, k + std::int64_t{h} * d, d, keys_.data() + to);
        encode_entries(dtype_, v + std::int64_t{h} * d, d, values_.data() + to);
    }
}

KvBytes StaticCache::bytes() const {
    return bytes_of_slots(shape().elements_per_token() * size_of(dtype_),
                          keys_.size_bytes() + values_.size_bytes());
}

Result<void> StaticCache::reorder_storage(std::span<const int> parents) {
    const std::size_t row_bytes = offset(0, 1, 0, 0);
    auto scratch = Buffer::allocate(ledger_, Owner::workspace, row_bytes * parents.size());
    if (!scratch) return scratch.error();
    for (int layer = 0; layer < shape().n_layer; ++layer) {
        for (Buffer* buffer : {&keys_, &values_}) {
            copied_bytes_ += permute_rows(*buffer, offset(layer, 0, 0, 0), row_bytes, parents, *scratch);
        }
    }
    return {};
}

}  // namespace decodescope
