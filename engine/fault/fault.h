// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

/// Mistakes that decoders are known for and that a lane can be told to make; `fault_catalogue` describes
/// them.
enum class Fault : std::uint8_t {
    position_restart,
    position_plus_one,
    position_frozen,
    position_jump,
    query_offset,
    rotary_base_by_length,
    mask_upper_left,
    mask_none_on_append,
    mask_self_hidden,
    spare_slots_visible,
    pad_slot_positions,
    pad_slot_positions_decode,
    pad_mask_dropped,
    pad_mask_none,
    pad_last_column,
    cache_kept,
    counter_kept,
    blocks_freed_early,
    token_twice,
    token_missing,
    prefix_fed_again,
    window_ignored,
    window_too_wide,
    window_too_narrow,
    window_position,
    overflow_last_slot,
    ring_without_window,
    naive_crop,
    drafts_kept,
    rollback_position_only,
    rollback_short,
    rollback_long,
    draft_cache_trim,
    prefix_mutated,
    stale_weights,
    dropout_on,
    heads_tiled,
    heads_tiled_decode,
    heads_not_transposed,
    length_from_heads,
    concat_wrong_axis,
    rows_not_reindexed,
    beams_not_reordered,
    positions_bf16,
    scales_dropped,
    prompt_reprocessed,
    blocks_never_freed,
};
inline constexpr int n_fault = static_cast<int>(Fault::blocks_never_freed) + 1;

/// Faults that are switched on together. Empty = the rules are kept.
class FaultSet {
public:
    bool has(Fault fault) const { return (bits_ & bit(fault)) != 0; }
    bool any() const { return bits_ != 0; }
    void add(Fault fault) { bits_ |= bit(fault); }

private:
    static std::uint64_t bit(Fault fault) { return std::uint64_t{1} << static_cast<unsigned>(fault); }
    std::uint64_t bits_ = 0;
};
static_assert(n_fault <= 64);

}  // namespace decodescope
