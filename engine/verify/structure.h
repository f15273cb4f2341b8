// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/verify/evidence.h"
#include "engine/verify/stated.h"

namespace decodescope {

/// Above this a difference is not taken for a narrower type without a replay that shows it.
inline constexpr double most_precision = 0.05;

/// When the errors of a run begin, where, and how they go on: what decides besides replays. Errors are
/// largest differences over the standard deviation.
struct Structure {
    double limit = f32_error_limit;  ///< what rounding alone may do: `error_limit` of the weights
    double worst = 0;
    double floor = 0;      ///< the run's own noise: its largest error before things go wrong
    int first_wrong = -1;  ///< index of the first cell above the noise
    bool not_finite = false;
    double first_tokens = 0;                 ///< worst of rows that begin a text
    double appended = 0;                     ///< worst of rows that go on from a cache
    double appended_least = 0;               ///< per call, the smallest of their worst errors
    double from_nothing = 0;                 ///< worst of tokens that see only themselves
    bool repeats = false;                    ///< the trace makes some call twice
    double unrepeatable = 0;                 ///< largest difference between the two
    std::optional<double> other_neighbours;  ///< the same between batches of different sizes
    std::optional<double> other_capacity;    ///< and between caches of different capacities
    bool chance = false;                     ///< they differ, and both are wrong
    bool flat = false;  ///< from the first wrong call on, neither growing nor falling much
    bool grows = false;
    bool guessed = false;  ///< nothing says what the first wrong row goes on from
    bool only_padded_rows = false;
    bool only_later_requests = false;
    int first_place = -1;  ///< of the first wrong token in its text
    std::vector<VerdictEvidence> evidence;

    /// Whether weights are of a type that rounds: small errors are then what is expected.
    bool rounds() const { return limit > f32_error_limit; }
};

/// `weights`: the type that the truth was recomputed with.
Structure structure_of(const Trace& trace, const TraceReading& reading, const ModelConfig& config,
                       const std::vector<LogitCell>& cells, const std::vector<Repetition>& repeated,
                       WeightType weights = WeightType::f32);

/// The verdict from structure alone, where no replay gives the run's numbers.
void judge_structure(const Structure& structure, const Trace& trace, const TraceReading& reading,
                     const ModelConfig& config, const std::vector<StatedFault>& stated, Verdict& verdict);

/// Why an exact run proves less than it seems: an input on which a common fault cannot show.
struct BlindSpot {
    std::string summary;  ///< empty = none
    std::string next;
};
BlindSpot blind_spot(const Trace& trace, const TraceReading& reading, const ModelConfig& config);

}  // namespace decodescope
