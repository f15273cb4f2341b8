// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/workload.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace decodescope {

Workload workload_of(const Experiment& experiment, const std::vector<PromptRecord>& prompts,
                     const ModelConfig& model, int new_tokens) {
    Workload workload;
    workload.sampling = experiment.sampling;
    workload.stop_ids = experiment.stop_ids;
    if (experiment.stop_at_eos)
        workload.stop_ids.insert(workload.stop_ids.end(), model.eos_ids.begin(), model.eos_ids.end());
    std::vector<std::string> groups;
    for (std::size_t i = 0; i < experiment.prompts.size(); ++i) {
        const PromptSpec& spec = experiment.prompts[i];
        const auto known = std::find(groups.begin(), groups.end(), spec.isolation);
        const auto group = static_cast<std::uint64_t>(known - groups.begin());
        if (known == groups.end()) groups.push_back(spec.isolation);
        workload.requests.push_back(
            {prompts[i].ids, new_tokens, group, spec.arrival_step, spec.cancel_after});
    }
    return workload;
}

}  // namespace decodescope
