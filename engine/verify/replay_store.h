// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "engine/cache/kv_cache.h"

namespace decodescope {

/// Keys and values of every token that a replay has fed, in one row of slots. Tokens come as pads, so that
/// their number is not bound to positions; who sees them is up to the plan. Slots that were not written hold
/// zeros.
class ReplayStore final : public KvCache {
public:
    ReplayStore(const KvShape& shape, std::shared_ptr<MemoryLedger> ledger)
        : KvCache(shape), ledger_(std::move(ledger)) {}

    /// Makes room for `n` slots in all.
    Result<void> make_room(int n) {
        if (n <= n_slot_) return {};
        const int n_old = n_slot_;
        n_slot_ = std::max(n, 2 * n_old);
        for (Buffer* buffer : {&keys_, &values_}) {
            auto larger = Buffer::floats(ledger_, Owner::kv, offset(shape().n_layer, 0));
            if (!larger) return larger.error();
            const std::size_t floats = index(n_old) * index(shape().width());
            for (int layer = 0; layer < shape().n_layer; ++layer) {
                float* to = larger->f32() + offset(layer, 0);
                if (floats > 0) std::copy_n(buffer->f32() + index(layer) * floats, floats, to);
                std::fill(to + floats, larger->f32() + offset(layer, n_slot_), 0.0f);
            }
            *buffer = *std::move(larger);
        }
        return {};
    }
    int n_used() const { return static_cast<int>(slot_positions().size()); }
    /// Forgets all slots from `n` on.
    void cut(int n) {
        const int used = n_used();
        row_slots(0).resize(index(n));
        for (int layer = 0; layer < shape().n_layer; ++layer) {
            const std::size_t floats = index(used - n) * index(shape().width());
            std::fill_n(keys_.f32() + offset(layer, n), floats, 0.0f);
            std::fill_n(values_.f32() + offset(layer, n), floats, 0.0f);
        }
    }

    int capacity() const override { return 0; }
    KeyValueView view(int layer) const override {
        KeyValueView view;
        view.layer = layer;
        view.k = keys_.f32() + offset(layer, 0);
        view.v = values_.f32() + offset(layer, 0);
        view.slot_stride = shape().width();
        view.head_stride = shape().head_dim;
        return view;
    }
    KvBytes bytes() const override { return {}; }

protected:
    void store(int layer, int, int slot, const float* k, const float* v) override {
        std::copy_n(k, shape().width(), keys_.f32() + offset(layer, slot));
        std::copy_n(v, shape().width(), values_.f32() + offset(layer, slot));
    }
    Result<void> reorder_storage(std::span<const int>) override { return {}; }

private:
    std::size_t offset(int layer, int slot) const {
        return (index(layer) * index(n_slot_) + index(slot)) * index(shape().width());
    }

    std::shared_ptr<MemoryLedger> ledger_;
    int n_slot_ = 0;
    Buffer keys_;    // [n_layer, n_slot, n_kv_head, head_dim]
    Buffer values_;  // the same
};

}  // namespace decodescope
