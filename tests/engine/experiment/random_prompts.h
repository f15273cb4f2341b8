// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/experiment/experiment.h"

namespace decodescope::test {

/// Prompts of random tokens: 7, 10, 13, ... long.
inline std::vector<PromptSpec> random_prompts(int n) {
    std::vector<PromptSpec> prompts;
    for (int i = 0; i < n; ++i) {
        PromptSpec prompt;
        prompt.kind = PromptSpec::Kind::random;
        prompt.length = 7 + 3 * i;
        prompt.seed = static_cast<std::uint64_t>(i) + 1;
        prompts.push_back(prompt);
    }
    return prompts;
}

}  // namespace decodescope::test
