// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/cache/concat_cache.h"
#include "engine/cache/static_cache.h"

namespace decodescope {

Result<void> KvCache::begin(int batch, int n_new, std::span<const std::int32_t> positions) {
    if (pending_ != 0)
        return Error{ErrorKind::internal, "KV cache: an append was begun while another is open."};
    if (batch != shape_.batch) {
        return Error{ErrorKind::bad_input,
                     fmt::format("KV cache: got a batch of {}, expected {}.", batch, shape_.batch)};
    }
    if (n_new < 1 || positions.size() != static_cast<std::size_t>(n_new)) {
        return Error{ErrorKind::bad_input,
                     fmt::format("KV cache: got {} tokens with {} positions, expected one each.", n_new,
                                 positions.size())};
    }
    for (int i = 0; i < n_new; ++i) {
        if (positions[static_cast<std::size_t>(i)] == length_ + i) continue;
        return Error{ErrorKind::bad_input, fmt::format("KV cache: token {} has position {}, expected {}.", i,
                                                       positions[static_cast<std::size_t>(i)], length_ + i)};
    }
    if (capacity() != 0 && n_new > capacity() - length_) {
        return Error{ErrorKind::capacity,
                     fmt::format("KV cache: {} entries are stored and {} more were asked for, but "
                                 "its capacity is {}.",
                                 length_, n_new, capacity())};
    }
    DS_TRY(reserve(n_new));
    pending_ = n_new;
    next_layer_ = 0;
    pending_positions_.assign(positions.begin(), positions.end());
    return {};
}

Result<void> KvCache::append(int layer, const KeyValueBlock& block) {
    if (pending_ == 0 || layer != next_layer_ || layer >= shape_.n_layer) {
        return Error{ErrorKind::internal, fmt::format("KV cache: layer {} was appended out of turn.", layer)};
    }
    DS_TRY(write(layer, block));
    ++next_layer_;
    return {};
}

Result<void> KvCache::commit() {
    if (pending_ == 0 || next_layer_ != shape_.n_layer) {
        return Error{ErrorKind::internal, fmt::format("KV cache: an append was closed after {} of {} layers.",
                                                      next_layer_, shape_.n_layer)};
    }
    const int length = length_ + pending_;
    for (int layer = 0; layer < shape_.n_layer; ++layer) {
        if (stored(layer) == length) continue;
        return Error{ErrorKind::internal, fmt::format("KV cache: layer {} holds {} entries, expected {}.",
                                                      layer, stored(layer), length)};
    }
    slot_positions_.resize(static_cast<std::size_t>(length_));
    slot_positions_.insert(slot_positions_.end(), pending_positions_.begin(), pending_positions_.end());
    length_ = length;
    pending_ = 0;
    slot_positions_.resize(static_cast<std::size_t>(slots_after(0)), slot_empty);
    return {};
}

void KvCache::rollback() {
    pending_ = 0;
    next_layer_ = 0;
}

std::uint64_t KvCache::live_bytes() const {
    const std::uint64_t per_layer_token = shape_.bytes_per_token() /
                                          static_cast<std::uint64_t>(shape_.n_layer) *
                                          static_cast<std::uint64_t>(shape_.batch);
    std::uint64_t bytes = 0;
    for (int layer = 0; layer < shape_.n_layer; ++layer) {
        // What an append that was rolled back left behind does not count.
        bytes += per_layer_token * static_cast<std::uint64_t>(std::min(stored(layer), length_ + pending_));
    }
    return bytes;
}

AttentionPlan plan_append(const KvCache& cache, int n_new, Window window) {
    const int batch = cache.shape().batch;
    // An append that will not fit still gets a plan; `begin` is what refuses it.
    const int n_slot = std::max(cache.slots_after(n_new), cache.length() + n_new);
    std::vector<std::int32_t> row(cache.slot_positions());
    row.resize(static_cast<std::size_t>(n_slot), slot_empty);
    std::iota(row.begin() + cache.length(), row.begin() + cache.length() + n_new, cache.length());
    std::vector<std::int32_t> queries;
    std::vector<std::int32_t> slots;
    for (int b = 0; b < batch; ++b) {
        queries.insert(queries.end(), row.begin() + cache.length(), row.begin() + cache.length() + n_new);
        slots.insert(slots.end(), row.begin(), row.end());
    }
    return {batch, n_new, std::move(queries), n_slot, std::move(slots), window};
}

Result<std::unique_ptr<KvCache>> make_cache(CacheKind kind, const KvShape& shape, int capacity,
                                            std::shared_ptr<MemoryLedger> ledger) {
    switch (kind) {
        case CacheKind::concat: return ConcatCache::make(shape, std::move(ledger));
        case CacheKind::static_: return StaticCache::make(shape, capacity, std::move(ledger));
        case CacheKind::none: break;
    }
    return Error{ErrorKind::internal, "A cache of kind none was asked for."};
}

}  // namespace decodescope
