// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/verify/replay.h"

namespace decodescope {

/// An explanation that gives the run's own numbers.
struct Match {
    Explanation explanation;
    int calls = 0;      ///< wrong calls that it reproduces, from the first on
    int tried = 0;      ///< of these, how many were tried
    double error = 0;   ///< largest, of the run against the replay
    double unlike = 0;  ///< of the run against the truth in the same cells
    std::string expected;
    std::string found;
    std::optional<std::pair<ForwardTensor, int>>
        first;          ///< tensor and layer that first differ from the truth
    std::string rival;  ///< another kind that fits as well
};

/// Replays the run at the first wrong cell with everything that may have gone wrong, simplest first, and
/// returns what reproduces most of it. Nothing when nothing does. `tolerance`: largest error that counts as
/// the same numbers. `n_replay`: counts the replays made.
Result<std::optional<Match>> search_replays(const Trace& trace, const TraceReading& reading,
                                            const DiagnosisTools& tools, const std::vector<LogitCell>& cells,
                                            const LogitCell& first_wrong, double tolerance, int& n_replay);

}  // namespace decodescope
