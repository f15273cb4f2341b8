// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/experiment/record.h"

namespace decodescope {

/// Whether a lane's output is the reference's.
enum class Agreement {
    unknown,    ///< nothing has been compared yet
    reference,  ///< it is the reference
    exact,      ///< the same tokens, logits within f32 rounding
    close,      ///< the same tokens, but logits further apart than f32 rounding explains
    differs,    ///< another token somewhere
};

/// One lane's numbers as the strip above the race shows them. Negative = not there (yet).
struct LaneSummary {
    std::string name;
    double firstTokenNs = -1;  ///< median over repetitions
    double perTokenNs = -1;    ///< median over all decode steps
    double tokensPerSecond = -1;
    double againstReference = -1;  ///< speed-up, see `speed_up` of records
    std::string whyNoRatio;        ///< why there is none
    double readGbS = -1;
    double readShare = -1;      ///< of the measured read bandwidth; may exceed 1 when caches hold the weights
    bool computeBound = false;  ///< many rows share one reading of the weights, so reading is not the limit
    std::int64_t kvBytesLive = -1;
    Agreement agreement = Agreement::unknown;
    double maxError = -1;     ///< largest relative logit error
    int firstDifferent = -1;  ///< number of the first differing token, counted from 1 as the text shows them
};

/// Numbers of every lane of a finished or growing record.
std::vector<LaneSummary> summarizeLanes(const Record& record);

}  // namespace decodescope
