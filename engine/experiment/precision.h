// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/experiment/json_fields.h"
#include "engine/experiment/record.h"

namespace decodescope {

/// How well a run knows its times.
struct AchievedPrecision {
    std::string lane;      ///< the one whose interval is the widest
    double interval = -1;  ///< half of its 95 % interval as a share of its median; -1 = not known
    bool reached = true;   ///< what the experiment asked for, if it did
    std::string sentence;  ///< what was asked for and not reached; empty otherwise
};
/// Of the lanes' times per token (`LaneRecord::time_per_token_ns`).
AchievedPrecision achieved_precision(const Record& record);
OrderedJson precision_json(const AchievedPrecision& precision);

}  // namespace decodescope
