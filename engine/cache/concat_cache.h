// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/cache/kv_cache.h"

namespace decodescope {

/// Grows like `torch.cat`: every append allocates one tensor for old and new entries of a layer and copies
/// the old ones over. K and V of a layer each [batch, n_kv_head, slots, head_dim].
class ConcatCache final : public KvCache {
public:
    static Result<std::unique_ptr<KvCache>> make(const KvShape& shape, std::shared_ptr<MemoryLedger> ledger);

    int capacity() const override { return 0; }
    int slots_after(int n_new) const override { return length() + n_new; }
    KeyValueView view(int layer) const override;
    std::uint64_t reserved_bytes() const override;

protected:
    Result<void> reserve(int) override { return {}; }
    Result<void> write(int layer, const KeyValueBlock& block) override;
    int stored(int layer) const override { return layers_[static_cast<std::size_t>(layer)].slots; }

private:
    struct Layer {
        Buffer keys;
        Buffer values;
        int slots = 0;
    };

    ConcatCache(const KvShape& shape, std::shared_ptr<MemoryLedger> ledger);

    std::shared_ptr<MemoryLedger> ledger_;
    std::vector<Layer> layers_;  // [n_layer]
};

}  // namespace decodescope
