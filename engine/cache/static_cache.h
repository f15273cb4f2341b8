// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/cache/kv_cache.h"

namespace decodescope {

/// All slots allocated once, before the first token: nothing ever moves.
/// K and V each [n_layer, batch, n_kv_head, capacity, head_dim], in f32, f16 or bf16.
class StaticCache : public KvCache {
public:
    static Result<std::unique_ptr<KvCache>> make(const CacheSpec& spec, const KvShape& shape,
                                                 const KvRoom& room, std::shared_ptr<MemoryLedger> ledger);

    int capacity() const override { return capacity_; }
    bool heads_lie_apart() const override { return true; }
    KeyValueView view(int layer) const override;
    std::optional<KvLayout> layout(int layer) override;
    void read(int layer, int row, int kv_head, SlotRange range, float* k, float* v) const override;
    KvBytes bytes() const override;

protected:
    StaticCache(const KvShape& shape, DType dtype, int capacity)
        : KvCache(shape), dtype_(dtype), capacity_(capacity) {}
    Result<void> allocate(int max_call, const std::shared_ptr<MemoryLedger>& ledger);

    void place(int row, std::span<const std::int32_t> positions, std::vector<std::int32_t>& placed) override;
    void store(int layer, int row, int slot, const float* k, const float* v) override;
    void store_part(int layer, int row, int slot, int first, int last, const float* k,
                    const float* v) override;
    Result<void> reorder_storage(std::span<const int> parents) override;

private:
    /// Offset of the bytes of one slot in `keys_` and `values_`.
    std::size_t offset(int layer, int row, int kv_head, int slot) const;

    DType dtype_;
    int capacity_;
    std::shared_ptr<MemoryLedger> ledger_;
    Buffer keys_;
    Buffer values_;
};

}  // namespace decodescope
