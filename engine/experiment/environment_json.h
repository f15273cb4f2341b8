// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/json_fields.h"
#include "engine/measure/environment.h"

namespace decodescope {

/// The environment record as every file holds it: null where something is not known.
OrderedJson environment_json(const Environment& environment);
void read_environment(JsonFields& fields, Environment& environment);

}  // namespace decodescope
