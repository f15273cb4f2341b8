// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/cli/output.h"
#include "engine/plan/known_models.h"
#include "engine/plan/plan_report.h"

namespace decodescope::cli {

/// What `plan` prints.
std::string planText(const PlanReport& report, Format format);
/// What `plan --list` prints.
std::string knownModelsText(const std::vector<KnownModel>& models, Format format);

}  // namespace decodescope::cli
