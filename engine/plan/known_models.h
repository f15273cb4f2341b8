// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/plan/plan_shape.h"

namespace decodescope {

/// A published configuration.
struct KnownModel {
    std::string name;   ///< as typed
    std::string title;  ///< as shown
    std::string source;
    std::int64_t parameters = 0;  ///< as published
    PlanShape shape;
};

/// Parses the text of a file of known models (schema `decodescope.models/1`); errors begin with `label` and
/// name the entry.
Result<std::vector<KnownModel>> parse_known_models(std::string_view text, const std::string& label);
/// Those of the bundled `known_models.json`.
Result<std::vector<KnownModel>> load_known_models();

}  // namespace decodescope
