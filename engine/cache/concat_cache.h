// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/cache/kv_cache.h"

namespace decodescope {

/// Grows like `torch.cat`: every append allocates one tensor for old and new entries of a layer and copies
/// the old ones over. K and V of a layer each [batch, n_kv_head, slots, head_dim], in f32, f16 or bf16.
class ConcatCache final : public KvCache {
public:
    static Result<std::unique_ptr<KvCache>> make(const CacheSpec& spec, const KvShape& shape,
                                                 std::shared_ptr<MemoryLedger> ledger);

    int capacity() const override { return 0; }
    KeyValueView view(int layer) const override;
    std::optional<KvLayout> layout(int layer) override;
    void read(int layer, int row, int kv_head, SlotRange range, float* k, float* v) const override;
    KvBytes bytes() const override;
    /// Most bytes that its tensors ever took: while a layer grows, its old and new ones exist together.
    std::uint64_t peak_bytes() const { return peak_bytes_; }

protected:
    Result<void> grow(int layer) override;
    void store(int layer, int row, int slot, const float* k, const float* v) override;
    Result<void> reorder_storage(std::span<const int> parents) override;

private:
    struct Layer {
        Buffer keys;
        Buffer values;
        int n_slot = 0;
    };

    ConcatCache(const KvShape& shape, DType dtype, std::shared_ptr<MemoryLedger> ledger);
    const Layer& layer_at(int layer) const { return layers_[index(layer)]; }
    Error join_heads(int n_old) const;
    std::size_t offset(int n_slot, int row, int kv_head, int slot) const;

    DType dtype_;
    std::shared_ptr<MemoryLedger> ledger_;
    std::vector<Layer> layers_;     // [n_layer]
    std::uint64_t held_bytes_ = 0;  // by the tensors of all layers, now
    std::uint64_t peak_bytes_ = 0;
};

}  // namespace decodescope
