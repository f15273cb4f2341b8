// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>

#include "engine/experiment/profile.h"
#include "engine/experiment/record.h"

namespace decodescope {

/// A record as Chrome trace JSON, which Perfetto opens (ui.perfetto.dev, or chrome://tracing). Times are in
/// microseconds with three decimals, from the first step on; events are in order of time, spans nest.
///
/// Process "Timed passes": one track per lane with its repetitions and in them its steps, named by phase;
/// counters of every lane's live and reserved KV bytes after each step (0 when a repetition has freed its
/// cache), and of the process's resident bytes.
/// Process "Instrumented pass": the steps of `profiles` with their forward calls, layers, and attention and
/// MLP blocks, one track per lane, after the end of the timed ones. The times are not those of the timed
/// passes, which the steps name beside their own; what the stamps cost is told in `otherData`.
std::string to_chrome_trace(const Record& record, std::span<const LaneProfile> profiles = {});

}  // namespace decodescope
