// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/window_cache.h"

#include <fmt/format.h>

#include <algorithm>

namespace decodescope {

Result<std::unique_ptr<KvCache>> WindowCache::make(const CacheSpec& spec, const KvShape& shape,
                                                   const KvRoom& room, std::shared_ptr<MemoryLedger> ledger) {
    if (room.window.size < 1 || room.max_call < 1) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Window cache: got a window of {} and calls of {} tokens, expected at least 1.",
                        room.window.size, room.max_call)};
    }
    // Never more than a cache that forgets nothing.
    const std::int64_t needed =
        std::int64_t{room.window.sinks} + room.window.size - 1 + room.rollback + room.max_call;
    const int n_slot =
        static_cast<int>(room.capacity > 0 ? std::min<std::int64_t>(needed, room.capacity) : needed);
    std::unique_ptr<WindowCache> cache(new WindowCache(shape, spec.dtype, room, n_slot));
    DS_TRY(cache->allocate(room.max_call, ledger));
    return std::unique_ptr<KvCache>(std::move(cache));
}

void WindowCache::forget_before(int row, int first_kept) {
    std::vector<std::int32_t>& mine = row_slots(row);
    for (std::size_t s = 0; s < mine.size(); ++s) {
        // Nobody ever sees a pad.
        const bool old = mine[s] >= window_.sinks && mine[s] < first_kept;
        if (old || mine[s] == slot_padding) forget(row, static_cast<int>(s));
    }
}

Result<void> WindowCache::reserve(const CallTokens& call) {
    for (int b = 0; b < call.batch(); ++b) {
        const int n_new = call.end(b) - call.begin(b);
        if (n_new == 0) continue;
        // No query of this or a later call sees further back; so this loses nothing if the call fails.
        forget_before(b, next_position(b) - window_.size + 1 - rollback_);
        const int stored = length(b) + n_padding(b);
        if (n_new > n_slot_ - stored) {
            return Error{
                ErrorKind::capacity,
                fmt::format("Window cache: {} entries are kept and {} more came in one call, but there "
                            "are {} slots.",
                            stored, n_new, n_slot_)};
        }
    }
    return {};
}

void WindowCache::place(int row, std::span<const std::int32_t> positions,
                        std::vector<std::int32_t>& slots_out) {
    std::vector<std::int32_t>& mine = row_slots(row);
    std::size_t next = 0;
    for (const std::int32_t position : positions) {
        while (next < mine.size() && mine[next] != slot_empty) ++next;
        if (next == mine.size()) mine.push_back(slot_empty);
        mine[next] = position;
        slots_out.push_back(static_cast<std::int32_t>(next));
    }
}

void WindowCache::committed() {
    for (int b = 0; b < batch(); ++b) forget_before(b, next_position(b) - window_.size - rollback_);
}

Result<void> WindowCache::can_truncate(int row, int n_token) const {
    // A query at position n_token needs everything from n_token - size + 1 on.
    const int first_needed = std::max(window_.sinks, n_token - window_.size + 1);
    const auto held = slot_positions(row);
    for (int position = first_needed; position < n_token; ++position) {
        if (std::find(held.begin(), held.end(), position) != held.end()) continue;
        return Error{
            ErrorKind::capacity,
            fmt::format("Window cache: row {} cannot go back from {} to {} tokens, because position {} is "
                        "forgotten.",
                        row, next_position(row), n_token, position)};
    }
    return {};
}

}  // namespace decodescope
