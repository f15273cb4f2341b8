// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/cache/static_cache.h"

namespace decodescope {

/// Keeps what a sliding window can still show and forgets the rest, pads too: slots of forgotten entries are
/// reused, so nothing moves. Sinks (the first `sinks` positions) stay. Between calls a row holds at most
/// `size` + sinks entries, and as many more as `rollback` asks for; a call of T tokens needs size - 1 + T.
///
/// What it forgets is gone: a later query with a wider window, or a row cut back by more than `rollback`
/// tokens, cannot be served, and `truncate` says so.
class WindowCache final : public StaticCache {
public:
    static Result<std::unique_ptr<KvCache>> make(const CacheSpec& spec, const KvShape& shape,
                                                 const KvRoom& room, std::shared_ptr<MemoryLedger> ledger);

    /// Tokens can be appended for ever, as long as a call is not larger than what was asked for.
    int capacity() const override { return 0; }

protected:
    Result<void> reserve(const CallTokens& call) override;
    void place(int row, std::span<const std::int32_t> positions, std::vector<std::int32_t>& placed) override;
    void committed() override;
    Result<void> can_truncate(int row, int n_token) const override;

private:
    WindowCache(const KvShape& shape, DType dtype, const KvRoom& room, int n_slot)
        : StaticCache(shape, dtype, n_slot),
          window_(room.window),
          rollback_(room.rollback),
          n_slot_(n_slot) {}
    void forget_before(int row, int first_kept);

    Window window_;
    int rollback_;
    int n_slot_;
};

}  // namespace decodescope
