// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "engine/backend/backend.h"

namespace decodescope {

/// Queries that share one score product; more would compute more cells that causality then throws away.
inline constexpr int query_block = 32;

/// Work memory of one worker of an attention call.
struct AttendScratch {
    std::vector<SlotRange> segments;  ///< slots that any query of the block sees
    std::vector<SlotRange> columns;   ///< of one query: the same slots as columns of the block's scores
};

/// Scratch floats that one worker needs for calls of up to `n_query` queries per row over `n_slot` slots.
std::int64_t attend_floats(int n_query, int n_slot, int head_dim);

/// Attention of up to `query_block` queries of row `b` from its query `first` on, for one head. `floats` is
/// scratch of `attend_floats` floats. Returns the query-key pairs computed, masked ones included. Slots that
/// no query of the block sees are not read.
std::int64_t attend(const AttentionCall& call, int b, int head, int first, float* floats,
                    AttendScratch& scratch);

}  // namespace decodescope
