// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/measure/statistics.h"
#include "speed_rig.h"

namespace decodescope::bench {

/// A case and what each repetition found.
struct CaseResult {
    SpeedCase one;
    std::vector<SpeedSample> samples;  // [repetitions]
};

/// A figure of one case over the repetitions.
struct Figure {
    std::string name;
    Summary over;  ///< of the values that each repetition gives by itself
};

/// One line of a table: a case, and its figures in a fixed order for its kind of work.
///  - decode: tok_s, tok_s_of_all, gb_s and share_of_read (weights alone), against_batch_1 (tok/s, batches),
///    kept (tok/s over that at depth 0), passes (see `depth_passes`), faults, allocations
///  - prefill: tok_s, tok_s_of_all, gflop_s, share_of_peak (f32), against_openblas
///  - busy: tok_s of 1 and 2 threads alone and beside a busy process, and ratios to 1 thread
/// A figure that was not measured has `over.n` 0.
struct SpeedRow {
    SpeedCase one;
    std::vector<Figure> figures;

    Summary figure(std::string_view name) const;
};

std::vector<SpeedRow> speed_rows(const SpeedRig& rig, const std::vector<CaseResult>& results);

/// How many times attention reads the cache, seen from what a step takes longer behind `entries` cached
/// tokens: extra time x bandwidth / bytes of their keys and values.
double depth_passes(double extra_seconds, double read_gb_s, int entries, const ModelConfig& config, DType kv);

void print_table(const SpeedRig& rig, const std::vector<CaseResult>& results);
void print_json(const SpeedRig& rig, const std::vector<CaseResult>& results);

}  // namespace decodescope::bench
