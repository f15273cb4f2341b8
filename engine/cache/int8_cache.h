// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/cache/kv_cache.h"

namespace decodescope {

/// 8-bit codes, one f32 scale per token, head and K or V; slots allocated once.
/// Codes of K and V each [n_layer, batch, n_kv_head, capacity, head_dim], scales the same without head_dim.
class Int8Cache final : public KvCache {
public:
    static Result<std::unique_ptr<KvCache>> make(const KvShape& shape, const KvRoom& room,
                                                 std::shared_ptr<MemoryLedger> ledger);

    int capacity() const override { return capacity_; }
    std::optional<KvLayout> layout(int layer) override;
    void read(int layer, int row, int kv_head, SlotRange range, float* k, float* v) const override;
    KvBytes bytes() const override;

protected:
    void store(int layer, int row, int slot, const float* k, const float* v) override;
    Result<void> reorder_storage(std::span<const int> parents) override;

private:
    struct Side {
        Buffer codes;
        Buffer scales;
        std::int8_t* code(std::size_t slot, int head_dim) {
            return reinterpret_cast<std::int8_t*>(codes.data()) + slot * static_cast<std::size_t>(head_dim);
        }
        const std::int8_t* code(std::size_t slot, int head_dim) const {
            return reinterpret_cast<const std::int8_t*>(codes.data()) +
                   slot * static_cast<std::size_t>(head_dim);
        }
    };

    Int8Cache(const KvShape& shape, int capacity) : KvCache(shape), capacity_(capacity) {}
    /// Number of the slot among all slots of one side.
    std::size_t slot_index(int layer, int row, int kv_head, int slot) const;

    int capacity_;
    std::shared_ptr<MemoryLedger> ledger_;
    Side keys_;
    Side values_;
};

}  // namespace decodescope
