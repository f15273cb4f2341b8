// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/cli/output.h"
#include "engine/plan/known_models.h"
#include "engine/plan/memory_plan.h"
#include "engine/plan/plan_check.h"

namespace decodescope::cli {

/// A plan with what it was made from.
struct PlanReport {
    PlanShape shape;
    PlanRequest request;
    MemoryPlan plan;
    std::optional<PlanCheck> check;
};

/// What `plan` prints.
std::string planText(const PlanReport& report, Format format);
/// What `plan --list` prints.
std::string knownModelsText(const std::vector<KnownModel>& models, Format format);

}  // namespace decodescope::cli
