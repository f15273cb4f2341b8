// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/concat_cache.h"

#include <algorithm>
#include <utility>

#include "engine/cache/block_copy.h"

namespace decodescope {

ConcatCache::ConcatCache(const KvShape& shape, std::shared_ptr<MemoryLedger> ledger)
    : KvCache(shape), ledger_(std::move(ledger)), layers_(static_cast<std::size_t>(shape.n_layer)) {}

Result<std::unique_ptr<KvCache>> ConcatCache::make(const KvShape& shape,
                                                   std::shared_ptr<MemoryLedger> ledger) {
    return std::unique_ptr<KvCache>(new ConcatCache(shape, std::move(ledger)));
}

KeyValueView ConcatCache::view(int layer) const {
    const Layer& here = layers_[static_cast<std::size_t>(layer)];
    const std::int64_t head = std::int64_t{here.slots} * shape().head_dim;
    return {here.keys.f32(), here.values.f32(), head * shape().n_kv_head, head, shape().head_dim};
}

std::uint64_t ConcatCache::reserved_bytes() const {
    std::uint64_t bytes = 0;
    for (const Layer& layer : layers_) bytes += layer.keys.size_bytes() + layer.values.size_bytes();
    return bytes;
}

Result<void> ConcatCache::write(int layer, const KeyValueBlock& block) {
    Layer& old = layers_[static_cast<std::size_t>(layer)];
    const int slots = length() + pending();
    const std::int64_t n_head_row = std::int64_t{shape().batch} * shape().n_kv_head;
    const auto floats = static_cast<std::size_t>(n_head_row * slots * shape().head_dim);
    auto keys = Buffer::floats(ledger_, Owner::kv, floats);
    if (!keys) return keys.error();
    auto values = Buffer::floats(ledger_, Owner::kv, floats);
    if (!values) return values.error();

    // Only `length()` slots of the old tensor are valid: an append that was rolled back may have left more
    // behind.
    const std::int64_t kept = std::int64_t{length()} * shape().head_dim;
    for (std::int64_t h = 0; h < n_head_row; ++h) {
        const std::int64_t from = h * old.slots * shape().head_dim;
        const std::int64_t to = h * slots * shape().head_dim;
        std::copy_n(old.keys.f32() + from, kept, keys->f32() + to);
        std::copy_n(old.values.f32() + from, kept, values->f32() + to);
    }
    copied_bytes_ += 2 * static_cast<std::uint64_t>(n_head_row * kept) * sizeof(float);
    old.keys = *std::move(keys);
    old.values = *std::move(values);
    old.slots = slots;
    copy_block(shape(), block, pending(), length(), old.keys.f32(), old.values.f32(), view(layer));
    return {};
}

}  // namespace decodescope
