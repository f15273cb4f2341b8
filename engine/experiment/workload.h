// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/decode/lane.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/record.h"
#include "engine/model/model_config.h"

namespace decodescope {

/// What every lane of an experiment is to do, with `new_tokens` for each of its requests.
Workload workload_of(const Experiment& experiment, const std::vector<PromptRecord>& prompts,
                     const ModelConfig& model, int new_tokens);

}  // namespace decodescope
