// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/attend_kernels.h"

namespace decodescope {

/// Queries of a row that are computed together, with all heads that read the same keys and values: as many as
/// fill a tile's rows. Each computes every pair that any of them sees.
int query_block(int n_head, int n_kv_head);

/// Work memory of one worker of an attention call.
struct AttendScratch {
    std::vector<SlotRange> segments;  ///< slots that any query of the block sees
    std::array<attend_kernels::Seen, attend_kernels::most_rows> seen;         ///< of each query, in the tile
    std::array<std::span<const SlotRange>, attend_kernels::most_rows> ahead;  ///< its ranges not passed yet
};

/// Scratch floats that one worker needs.
std::int64_t attend_floats(int head_dim);

/// Attention of the `query_block` queries (or as many as there are) of row `b` from its query `first` on, for
/// the heads that read `kv_head`. `floats` is scratch of `attend_floats` floats. Returns the query-key pairs
/// computed per head, masked ones included. Slots that no query of the block sees are not read; a query that
/// sees none gets zeros. May be called from several threads, each with scratch of its own; who computes what
/// changes no result.
std::int64_t attend(const AttentionCall& call, int b, int kv_head, int first, float* floats,
                    AttendScratch& scratch);

}  // namespace decodescope
