// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/cache/kv_cache.h"

namespace decodescope {

/// All slots allocated once, before the first token: nothing ever moves.
/// K and V each [n_layer, batch, n_kv_head, capacity, head_dim].
class StaticCache final : public KvCache {
public:
    static Result<std::unique_ptr<KvCache>> make(const KvShape& shape, int capacity,
                                                 std::shared_ptr<MemoryLedger> ledger);

    int capacity() const override { return capacity_; }
    int slots_after(int) const override { return capacity_; }
    KeyValueView view(int layer) const override;
    std::uint64_t reserved_bytes() const override { return keys_.size_bytes() + values_.size_bytes(); }

protected:
    Result<void> reserve(int) override { return {}; }
    Result<void> write(int layer, const KeyValueBlock& block) override;
    int stored(int layer) const override { return stored_[static_cast<std::size_t>(layer)]; }

private:
    StaticCache(const KvShape& shape, int capacity);

    int capacity_;
    Buffer keys_;
    Buffer values_;
    std::vector<int> stored_;  // [n_layer]
};

}  // namespace decodescope
