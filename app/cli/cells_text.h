// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/cli/output.h"
#include "engine/sweep/cell.h"

namespace decodescope::cli {

/// What a sweep says: its cells, the fits through them, and what makes the numbers doubtful.
std::string sweepText(const std::vector<Cell>& cells, Format format);

}  // namespace decodescope::cli
