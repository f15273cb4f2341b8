// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/json_fields.h"

namespace decodescope {

/// Checks that the member `schema` is `expected`; reports what was found instead.
void read_schema(JsonFields& fields, const char* expected);

/// The parts of an experiment document, for the documents that contain one.
OrderedJson experiment_json(const Experiment& experiment);
OrderedJson lane_json(const LaneSpec& lane);
void read_experiment(JsonFields& fields, Experiment& experiment);
void read_lane(JsonFields& fields, LaneSpec& lane);

}  // namespace decodescope
