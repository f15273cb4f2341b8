// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/verify/trace_reading.h"
#include "engine/verify/verdict.h"

namespace decodescope {

/// Something that a trace states and that is not as it should be.
struct StatedFault {
    FaultKind kind = FaultKind::position;
    VerdictPlace place;
    std::string expected;  ///< "position 3"
    std::string found;
    bool harmless = false;  ///< no logit can show it
    /// "position ids of row 0: expected 3, found 7"
    std::string sentence() const;
};

/// Judges what a trace states besides logits: tokens against the texts, position ids, cache lengths, masks,
/// bytes, capacity, the column that was read, errors, and how many tokens were forwarded. In the order of the
/// calls; at most one of a kind of statement and row.
std::vector<StatedFault> stated_faults(const Trace& trace, const TraceReading& reading,
                                       const ModelConfig& config);

/// What was stated and found right, for the evidence: "position ids of all 12 calls are right".
std::vector<VerdictEvidence> stated_rights(const Trace& trace, const std::vector<StatedFault>& faults);

/// Bytes per element of K and V that `cache_bytes` amounts to after the last call that states it with the
/// lengths; 0 = unknown.
double cache_bytes_per_element(const Trace& trace, const ModelConfig& config);

}  // namespace decodescope
