// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/cache/entry_codec.h"
#include "engine/cache/kv_cache.h"

namespace decodescope {

/// 2 or 4 bits per element after Liu et al. 2024 (KIVI): K is quantised per channel over groups of tokens,
/// because a few of its channels are large; V per token over groups of channels. The newest tokens stay in
/// f32: whole groups are quantised when a call is committed, and only while at least `residual` tokens are
/// left. So what is stored depends on the tokens alone, never on how they were cut into calls, and with
/// `residual` >= length everything is exact. A row that is cut back keeps quantised what was quantised
/// before.
class KiviCache final : public KvCache {
public:
    static Result<std::unique_ptr<KvCache>> make(const CacheSpec& spec, const KvShape& shape,
                                                 const KvRoom& room, std::shared_ptr<MemoryLedger> ledger);

    int capacity() const override { return capacity_; }
    void read(int layer, int row, int kv_head, SlotRange range, float* k, float* v) const override;
    KvBytes bytes() const override;
    /// Slots of `row` that are quantised, from the first.
    int n_quantised(int row) const { return quantised_[index(row)]; }

protected:
    Result<void> reserve(const CallTokens& call) override;
    void store(int layer, int row, int slot, const float* k, const float* v) override;
    void committed() override;
    Result<void> can_truncate(int row, int n_token) const override;
    void cleared(int row) override { quantised_[index(row)] = 0; }
    Result<void> reorder_storage(std::span<const int> parents) override;

private:
    KiviCache(const CacheSpec& spec, const KvShape& shape, int capacity, int ring);
    std::size_t head_index(int layer, int row, int kv_head) const;
    void quantise_group(std::size_t head, int group);
    float* recent(const Buffer& buffer, std::size_t head, int slot) const;
    std::size_t code_bytes(int n_slot) const;

    CacheSpec spec_;
    int capacity_;
    int ring_;                            // slots of the f32 ring
    int n_group_;                         // groups of tokens there is room for
    int v_channel_;                       // channels of a V group
    int v_groups_;                        // V groups per token
    Buffer key_codes_, value_codes_;      // [n_layer, batch, n_kv_head, n_group, group, head_dim x bits / 8]
    Buffer key_scales_;                   // [n_layer, batch, n_kv_head, n_group, head_dim] GroupScale
    Buffer value_scales_;                 // [n_layer, batch, n_kv_head, n_group, group, v_groups] GroupScale
    Buffer recent_keys_, recent_values_;  // [n_layer, batch, n_kv_head, ring, head_dim]: slot s at s % ring
    std::vector<int> quantised_;          // [batch]
};

}  // namespace decodescope
