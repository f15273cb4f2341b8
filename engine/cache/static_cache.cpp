// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/static_cache.h"

#include <fmt/format.h>

#include "engine/cache/block_copy.h"

namespace decodescope {

StaticCache::StaticCache(const KvShape& shape, int capacity)
    : KvCache(shape), capacity_(capacity), stored_(static_cast<std::size_t>(shape.n_layer), 0) {}

Result<std::unique_ptr<KvCache>> StaticCache::make(const KvShape& shape, int capacity,
                                                   std::shared_ptr<MemoryLedger> ledger) {
    if (capacity < 1) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Static cache: capacity is {}, expected at least 1.", capacity)};
    }
    std::unique_ptr<StaticCache> cache(new StaticCache(shape, capacity));
    const std::size_t floats = static_cast<std::size_t>(shape.bytes_per_token()) / (2 * sizeof(float)) *
                               static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(capacity);
    auto keys = Buffer::floats(ledger, Owner::kv, floats);
    if (!keys) return keys.error();
    auto values = Buffer::floats(std::move(ledger), Owner::kv, floats);
    if (!values) return values.error();
    cache->keys_ = *std::move(keys);
    cache->values_ = *std::move(values);
    return std::unique_ptr<KvCache>(std::move(cache));
}

KeyValueView StaticCache::view(int layer) const {
    const std::int64_t head = std::int64_t{capacity_} * shape().head_dim;
    const std::int64_t batch = head * shape().n_kv_head;
    const std::int64_t offset = batch * shape().batch * layer;
    return {keys_.f32() + offset, values_.f32() + offset, batch, head, shape().head_dim};
}

Result<void> StaticCache::write(int layer, const KeyValueBlock& block) {
    const KeyValueView here = view(layer);
    const std::int64_t offset = here.k - keys_.f32();
    copy_block(shape(), block, pending(), length(), keys_.f32() + offset, values_.f32() + offset, here);
    stored_[static_cast<std::size_t>(layer)] = length() + pending();
    return {};
}

}  // namespace decodescope
