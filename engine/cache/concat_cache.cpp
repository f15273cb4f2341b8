// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/concat_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/cache/entry_codec.h"
#include "engine/cache/row_copy.h"

namespace decodescope {

ConcatCache::ConcatCache(const KvShape& shape, DType dtype, std::shared_ptr<MemoryLedger> ledger)
    : KvCache(shape), dtype_(dtype), ledger_(std::move(ledger)), layers_(index(shape.n_layer)) {}

Result<std::unique_ptr<KvCache>> ConcatCache::make(const CacheSpec& spec, const KvShape& shape,
                                                   std::shared_ptr<MemoryLedger> ledger) {
    return std::unique_ptr<KvCache>(new ConcatCache(shape, spec.dtype, std::move(ledger)));
}

/// Bytes in front of one slot in a tensor of `slots` slots per row and head.
std::size_t ConcatCache::offset(int slots, int row, int kv_head, int slot) const {
    const std::size_t head = index(row) * index(shape().n_kv_head) + index(kv_head);
    return (head * index(slots) + index(slot)) * index(shape().head_dim) * size_of(dtype_);
}

KeyValueView ConcatCache::view(int layer) const {
    const Layer& here = layer_at(layer);
    return view_in_place(layer, dtype_, here.keys.data(), here.values.data(), here.n_slot);
}

std::optional<KvLayout> ConcatCache::layout(int layer) {
    Layer& here = layers_[index(layer)];
    KvLayout layout = layout_in_place(here.keys.data(), here.values.data(), here.n_slot);
    layout.dtype = dtype_;
    return layout;
}

void ConcatCache::read(int layer, int row, int kv_head, SlotRange slots, float* k, float* v) const {
    const Layer& here = layer_at(layer);
    const std::size_t from = offset(here.n_slot, row, kv_head, slots.begin);
    const std::int64_t n = std::int64_t{slots.end - slots.begin} * shape().head_dim;
    if (k != nullptr) decode_entries(dtype_, here.keys.data() + from, n, k);
    if (v != nullptr) decode_entries(dtype_, here.values.data() + from, n, v);
}

/// What joining old and new keys along the axis of the heads comes to.
Error ConcatCache::join_heads(int n_old) const {
    const KvShape& s = shape();
    int n_new = 0;
    for (int b = 0; b < batch(); ++b) n_new = std::max(n_new, open_call().end(b) - open_call().begin(b));
    const auto tensor = [&](int heads, int tokens) {
        return fmt::format("[{}, {}, {}, {}]", s.batch, heads, tokens, s.head_dim);
    };
    if (n_old != n_new) {
        return {
            ErrorKind::bad_input,
            fmt::format("Concat cache: keys {} and {} cannot be joined along axis 1, because axis 2 is {} "
                        "and {}.",
                        tensor(s.n_kv_head, n_old), tensor(s.n_kv_head, n_new), n_old, n_new)};
    }
    return {ErrorKind::bad_input, fmt::format("Concat cache: keys {} have {} heads, expected {}.",
                                              tensor(2 * s.n_kv_head, n_new), 2 * s.n_kv_head, s.n_kv_head)};
}

Result<void> ConcatCache::grow(int layer) {
    Layer& old = layers_[index(layer)];
    int slots = 0;
    for (int b = 0; b < batch(); ++b) slots = std::max(slots, static_cast<int>(slot_positions(b).size()));
    if (faults().has(Fault::concat_wrong_axis) && old.n_slot > 0) return join_heads(old.n_slot);
    const std::size_t bytes = offset(slots, batch(), 0, 0);
    auto keys = Buffer::allocate(ledger_, Owner::kv, bytes);
    if (!keys) return keys.error();
    auto values = Buffer::allocate(ledger_, Owner::kv, bytes);
    if (!values) return values.error();
    held_bytes_ += keys->size_bytes() + values->size_bytes();
    peak_bytes_ = std::max(peak_bytes_, held_bytes_);
    for (int b = 0; b < batch(); ++b) {
        // An append that was rolled back or cut may have left more than this behind.
        const int n_new = open_call().end(b) - open_call().begin(b);
        const int kept = static_cast<int>(slot_positions(b).size()) - n_new;
        const std::size_t kept_bytes = index(kept) * index(shape().head_dim) * size_of(dtype_);
        if (kept == 0) continue;
        const auto copy = [&](Buffer& to, const Buffer& from) {
            to.copy_pieces(offset(slots, b, 0, 0), offset(slots, 0, 1, 0), from, offset(old.n_slot, b, 0, 0),
                           offset(old.n_slot, 0, 1, 0), kept_bytes, index(shape().n_kv_head));
        };
        copy(*keys, old.keys);
        copy(*values, old.values);
        copied_bytes_ += 2 * kept_bytes * index(shape().n_kv_head);
    }
    held_bytes_ -= old.keys.size_bytes() + old.values.size_bytes();
    old.keys = *std::move(keys);
    old.values = *std::move(values);
    old.n_slot = slots;
    return {};
}

void ConcatCache::store(int layer, int row, int slot, const float* k, const float* v) {
    Layer& here = layers_[index(layer)];
    const int d = shape().head_dim;
    for (int h = 0; h < shape().n_kv_head; ++h) {
        const std::size_t to = offset(here.n_slot, row, h, slot);
        encode_entries(dtype_, k + std::int64_t{h} * d, d, here.keys.data() + to);
        encode_entries(dtype_, v + std::int64_t{h} * d, d, here.values.data() + to);
    }
}

KvBytes ConcatCache::bytes() const {
    std::uint64_t reserved = 0;
    for (const Layer& layer : layers_) reserved += layer.keys.size_bytes() + layer.values.size_bytes();
    return bytes_of_slots(shape().elements_per_token() * size_of(dtype_), reserved);
}

Result<void> ConcatCache::reorder_storage(std::span<const int> parents) {
    std::size_t largest = 0;
    for (const Layer& layer : layers_) largest = std::max(largest, layer.keys.size_bytes());
    auto scratch = Buffer::allocate(ledger_, Owner::workspace, largest);
    if (!scratch) return scratch.error();
    for (Layer& layer : layers_) {
        for (Buffer* buffer : {&layer.keys, &layer.values}) {
            copied_bytes_ += permute_rows(*buffer, 0, offset(layer.n_slot, 1, 0, 0), parents, *scratch);
        }
    }
    return {};
}

}  // namespace decodescope
