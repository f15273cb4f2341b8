// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/int8_cache.h"

#include <fmt/format.h>

#include "engine/cache/entry_codec.h"
#include "engine/cache/row_copy.h"

namespace decodescope {

Result<std::unique_ptr<KvCache>> Int8Cache::make(const KvShape& shape, const KvRoom& room,
                                                 std::shared_ptr<MemoryLedger> ledger) {
    if (room.capacity < 1) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Int8 cache: capacity is {}, expected at least 1.", room.capacity)};
    }
    std::unique_ptr<Int8Cache> cache(new Int8Cache(shape, room.capacity));
    const std::size_t n_slot = cache->slot_index(shape.n_layer, 0, 0, 0);
    for (Side* side : {&cache->keys_, &cache->values_}) {
        auto codes = Buffer::allocate(ledger, Owner::kv, n_slot * index(shape.head_dim));
        if (!codes) return codes.error();
        auto scales = Buffer::floats(ledger, Owner::kv, n_slot);
        if (!scales) return scales.error();
        side->codes = *std::move(codes);
        side->scales = *std::move(scales);
    }
    cache->ledger_ = std::move(ledger);
    cache->reserve_slots(room.capacity, room.max_call);
    return std::unique_ptr<KvCache>(std::move(cache));
}

std::size_t Int8Cache::slot_index(int layer, int row, int kv_head, int slot) const {
    const std::size_t head =
        (index(layer) * index(shape().batch) + index(row)) * index(shape().n_kv_head) + index(kv_head);
    return head * index(capacity_) + index(slot);
}

std::optional<KvLayout> Int8Cache::layout(int layer) {
    const std::size_t first = slot_index(layer, 0, 0, 0);
    const std::size_t codes = first * index(shape().head_dim);
    KvLayout layout = layout_in_place(keys_.codes.data() + codes, values_.codes.data() + codes, capacity_);
    layout.k_scales = keys_.scales.f32() + first;
    layout.v_scales = values_.scales.f32() + first;
    return layout;
}

void Int8Cache::read(int layer, int row, int kv_head, SlotRange slots, float* k, float* v) const {
    const int d = shape().head_dim;
    const std::size_t first = slot_index(layer, row, kv_head, slots.begin);
    const auto n = index(slots.end - slots.begin);
    const bool unscaled = faults().has(Fault::scales_dropped);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at = first + i;
        const auto read = [&](const Side& side, float* to) {
            decode_int8(side.code(at, d), d, unscaled ? 1.0f : side.scales.f32()[at], to + i * index(d));
        };
        if (k != nullptr) read(keys_, k);
        if (v != nullptr) read(values_, v);
    }
}

void Int8Cache::store(int layer, int row, int slot, const float* k, const float* v) {
    const int d = shape().head_dim;
    for (int h = 0; h < shape().n_kv_head; ++h) {
        const std::size_t at = slot_index(layer, row, h, slot);
        keys_.scales.f32()[at] = encode_int8(k + std::int64_t{h} * d, d, keys_.code(at, d));
        values_.scales.f32()[at] = encode_int8(v + std::int64_t{h} * d, d, values_.code(at, d));
    }
}

KvBytes Int8Cache::bytes() const {
    std::uint64_t reserved = 0;
    for (const Side* side : {&keys_, &values_})
        reserved += side->codes.size_bytes() + side->scales.size_bytes();
    const std::uint64_t codes = shape().elements_per_token();
    const std::uint64_t scales = codes / index(shape().head_dim) * sizeof(float);
    KvBytes bytes = bytes_of_slots(codes + scales, reserved);
    bytes.payload = bytes.live / (codes + scales) * codes;
    bytes.scales = bytes.live - bytes.payload;
    return bytes;
}

Result<void> Int8Cache::reorder_storage(std::span<const int> parents) {
    const std::size_t row_slots = slot_index(0, 1, 0, 0);
    auto scratch =
        Buffer::allocate(ledger_, Owner::workspace,
                         row_slots * parents.size() * std::max(index(shape().head_dim), sizeof(float)));
    if (!scratch) return scratch.error();
    for (int layer = 0; layer < shape().n_layer; ++layer) {
        const std::size_t first = slot_index(layer, 0, 0, 0);
        for (Side* side : {&keys_, &values_}) {
            const std::size_t d = index(shape().head_dim);
            copied_bytes_ += permute_rows(side->codes, first * d, row_slots * d, parents, *scratch);
            copied_bytes_ += permute_rows(side->scales, first * sizeof(float), row_slots * sizeof(float),
                                          parents, *scratch);
        }
    }
    return {};
}

}  // namespace decodescope
