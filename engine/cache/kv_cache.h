// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/attention/attention_plan.h"
#include "engine/core/dtype.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/experiment/experiment.h"

namespace decodescope {

/// What a cache is made for. Everything that is appended must fit it.
struct KvShape {
    int n_layer = 0;
    int batch = 0;
    int n_kv_head = 0;
    int head_dim = 0;

    /// Bytes of K and V of one token of one row in all layers, f32.
    std::uint64_t bytes_per_token() const {
        return std::uint64_t{2} * static_cast<std::uint64_t>(n_layer) *
               static_cast<std::uint64_t>(n_kv_head) * static_cast<std::uint64_t>(head_dim) * sizeof(float);
    }
};

/// Keys and values of one layer as attention reads them. Element (row b, kv head h, slot s, i) lies at
/// `b * batch_stride + h * head_stride + s * slot_stride + i`, i < head_dim.
struct KeyValueView {
    const float* k = nullptr;
    const float* v = nullptr;
    std::int64_t batch_stride = 0;
    std::int64_t head_stride = 0;
    std::int64_t slot_stride = 0;
};

/// New keys and values of one layer: [batch, n_new, n_kv_head, head_dim] with `token_stride` floats between
/// tokens.
struct KeyValueBlock {
    const float* k = nullptr;
    const float* v = nullptr;
    std::int64_t token_stride = 0;
};

/// Storage for the keys and values of one request. Owned by the request and passed explicitly; never part of
/// a model.
///
/// One forward call appends in three moves: `begin` checks everything and reserves room before anything is
/// written, `append` stores one layer after the other, `commit` makes the new entries count. `rollback` drops
/// an append that was begun and not finished; the stored entries are then what they were before. Not shared
/// between threads.
class KvCache {
public:
    virtual ~KvCache() = default;
    KvCache(const KvCache&) = delete;
    KvCache& operator=(const KvCache&) = delete;

    const KvShape& shape() const { return shape_; }
    /// Valid entries per row (every row and layer holds the same number).
    int length() const { return length_; }
    /// Positions held by the slots of every row, [slots()], with `slot_empty` for spare slots; committed
    /// entries only.
    const std::vector<std::int32_t>& slot_positions() const { return slot_positions_; }
    /// Most entries a row can ever hold; 0 = no limit of its own.
    virtual int capacity() const = 0;
    /// Slots per row that `view` will show once `n_new` more entries have been begun.
    virtual int slots_after(int n_new) const = 0;

    /// Opens an append of `n_new` tokens per row at `positions` [n_new]. Refuses, writing nothing, when the
    /// batch differs, a position is not the next one, an append is open already or the capacity would be
    /// exceeded.
    Result<void> begin(int batch, int n_new, std::span<const std::int32_t> positions);
    /// Stores layer `layer` of the open append; layers come in order 0 .. n_layer - 1.
    Result<void> append(int layer, const KeyValueBlock& block);
    /// Keys and values of `layer`, those of the open append included once it has been appended.
    virtual KeyValueView view(int layer) const = 0;
    /// Closes the open append; an internal error unless every layer was appended.
    Result<void> commit();
    void rollback();

    /// Bytes of valid entries: 2 x n_layer x n_kv_head x head_dim x length x batch x 4, counted from the
    /// slots in use.
    std::uint64_t live_bytes() const;
    /// Bytes allocated for entries.
    virtual std::uint64_t reserved_bytes() const = 0;
    /// Bytes of bookkeeping (block tables, scales); these kinds have none.
    virtual std::uint64_t meta_bytes() const { return 0; }
    /// Bytes of old entries moved so far because storage grew.
    std::uint64_t copied_bytes() const { return copied_bytes_; }

protected:
    explicit KvCache(const KvShape& shape) : shape_(shape) {}
    /// Makes room for `n_new` more entries (all layers), before anything is written.
    virtual Result<void> reserve(int n_new) = 0;
    /// Writes `pending()` new entries of `layer` behind the `length()` old ones.
    virtual Result<void> write(int layer, const KeyValueBlock& block) = 0;
    /// Entries of `layer` that are stored right now, valid or pending; counted by the kind from its own
    /// storage.
    virtual int stored(int layer) const = 0;
    int pending() const { return pending_; }

    std::uint64_t copied_bytes_ = 0;

private:
    KvShape shape_;
    int length_ = 0;
    int pending_ = 0;     // tokens of the open append, 0 = none is open
    int next_layer_ = 0;  // layers appended so far
    std::vector<std::int32_t> slot_positions_;
    std::vector<std::int32_t> pending_positions_;
};

/// Who sees whom when `n_new` tokens per row are appended to `cache` at the positions after its entries.
AttentionPlan plan_append(const KvCache& cache, int n_new, Window window = {});

/// A cache of the asked-for kind. `capacity` is what a static cache reserves (>= 1); `concat` has none and
/// grows by allocating a new tensor for old and new entries on every append, as most tutorials do.
Result<std::unique_ptr<KvCache>> make_cache(CacheKind kind, const KvShape& shape, int capacity,
                                            std::shared_ptr<MemoryLedger> ledger);

}  // namespace decodescope
