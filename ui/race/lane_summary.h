// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/experiment/record.h"

namespace decodescope {

/// Whether a lane's output is the reference's.
enum class Agreement {
    unknown,      ///< nothing has been compared yet
    reference,    ///< it is the reference
    exact,        ///< the same tokens, logits within the rounding of f32 or of the weights that both have
    approximate,  ///< not the same, and not meant to be: smaller entries, another window, other draws
    close,        ///< the same tokens, but logits further apart than rounding explains
    differs,      ///< another token somewhere
};

/// One lane's numbers as the strip above the race shows them. Negative = not there (yet).
struct LaneSummary {
    std::string name;
    std::vector<std::string> faults;  ///< ids of the mistakes it makes on purpose
    std::string weights;              ///< what it computes with, see `weights_words`
    std::uint64_t weightBytes = 0;    ///< of its matrices; 0 = not known
    double queueNs = -1;              ///< median over requests and repetitions of waiting to be served
    double firstTokenNs = -1;         ///< median over repetitions and requests
    double perTokenNs = -1;           ///< median over all decode steps
    double devicePerTokenNs = -1;     ///< of it, the GPU worked, by its own clock
    double tokensPerSecond = -1;
    double totalTokensPerSecond = -1;  ///< prefill included
    double againstReference = -1;      ///< speed-up, see `speed_up` of records
    std::string whyNoRatio;            ///< why there is none
    double readGbS = -1;
    double readShare = -1;  ///< of what its device reads at most; may exceed 1 when caches hold the weights
    bool limitStated = false;   ///< what that device reads is what a driver says, not measured
    bool computeBound = false;  ///< many rows share one reading of the weights, so reading is not the limit
    std::int64_t kvBytesLive = -1;               ///< at the fullest step of the newest repetition
    double tokensPerCheck = -1;                  ///< speculation: tokens per decode step
    std::vector<LaneRecord::DraftCount> drafts;  ///< speculation: by position of a draft
    Agreement agreement = Agreement::unknown;
    std::string approximation;  ///< why it is not meant to be equal; empty when it should be
    Quality quality;            ///< how far an approximate lane is away
    double maxError = -1;       ///< largest relative logit error
    int firstDifferent = -1;  ///< number of the first differing token, counted from 1 as the text shows them
};

/// Numbers of every lane of a finished or growing record.
std::vector<LaneSummary> summarizeLanes(const Record& record);

}  // namespace decodescope
