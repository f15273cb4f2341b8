// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/core/memory.h"
#include "engine/experiment/events.h"
#include "engine/model/weights.h"
#include "engine/verify/trace_reading.h"

namespace decodescope {

/// What recomputing needs.
struct DiagnosisTools {
    std::shared_ptr<const Weights> weights;
    Backend* backend = nullptr;
    std::shared_ptr<MemoryLedger> ledger;
    std::stop_token stop;
};

/// The logits that a trace has for one token, against what they should be.
struct LogitCell {
    int call = 0;
    int row = 0;
    int column = 0;  ///< of the row's tokens
    int stored = 0;  ///< column of the stored logits
    int place = 0;   ///< of the token in its sequence
    LogitComparison comparison;
    bool at_pad = false;  ///< read at a pad column; compared with what the row's last token gives

    /// Largest error / standard deviation; infinite when the logits are not finite.
    double error() const;
};

/// Compares every logit of a trace that a real token (or a row's choice) has with those that the sequence
/// gives when it is recomputed in one call without a cache. In the order of the trace.
Result<std::vector<LogitCell>> compare_with_truth(const Trace& trace, const TraceReading& reading,
                                                  const DiagnosisTools& tools);

/// Two cells that saw the same tokens: how far they are apart, in the units of `error`.
struct Repetition {
    int first = 0;  ///< indices of the cells
    int second = 0;
    double error = 0;
};

/// Cells of calls that fed the same tokens after the same history, in rows of the same shape: what a program
/// without chance and leftovers gives twice. At most a few hundred.
Result<std::vector<Repetition>> repetitions(const Trace& trace, const TraceReading& reading,
                                            const std::vector<LogitCell>& cells);

}  // namespace decodescope
