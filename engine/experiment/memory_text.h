// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/experiment/record.h"
#include "engine/experiment/text_table.h"

namespace decodescope {

/// What a run did to the memory of the process, as names and values: resident and tensor bytes at the end
/// with their peaks, the allocator's figures, what is unaccounted, page faults. Empty without a step.
std::vector<std::pair<std::string, std::string>> memory_lines(const Record& record);

/// What each lane on a GPU took of its memory; no rows where there is none.
TextTable gpu_memory_table(const Record& record);

/// Each lane's cache: bytes by formula beside the measured ones at its fullest step, reserved and copied
/// bytes, and what a decode step costs the allocator. One row per lane.
TextTable memory_table(const Record& record);

}  // namespace decodescope
