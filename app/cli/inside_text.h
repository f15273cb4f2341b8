// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "app/cli/output.h"
#include "engine/experiment/inspect_step.h"

namespace decodescope::cli {

/// What was seen of a step, as text: `json` (schema `decodescope.inside/1`) has all of it, `csv` one line per
/// query and key, the others one line per query. `times`: null where they were not asked for.
std::string insideText(const Record& record, const StepView& step, const TimeSplit* times, Format format);

}  // namespace decodescope::cli
