// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/experiment/text_table.h"
#include "engine/sweep/cell.h"

namespace decodescope {

/// About three significant digits, without an exponent.
std::string short_number(double value);

/// One row per cell for people: rates as medians with their 95 % interval, shares of what the machine can do,
/// the speed-up against the reference lane or why there is none, and what did not run with its reason.
TextTable cell_table(const std::vector<Cell>& cells);
/// One row per cell for programs, plain numbers with the unit in the column's name; what is not known is
/// empty.
std::string cells_csv(const std::vector<Cell>& cells);
/// One JSON object per cell and line.
std::string cells_jsonl(const std::vector<Cell>& cells);

/// What makes the cells' numbers doubtful, every sentence once: a busy machine, precision that was not
/// reached, outliers, drift.
std::vector<std::string> doubts_of(const std::vector<Cell>& cells);

}  // namespace decodescope
