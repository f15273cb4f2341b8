// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace decodescope::test {

/// The models of tests/data/make_goldens.py, as folders below tests/data: "gpt2/plain-f32", "llama/yarn-f32".
inline std::vector<std::string> golden_models() {
    std::vector<std::string> models;
    for (const char* family : {"gpt2", "llama"}) {
        const std::filesystem::path folder = std::filesystem::path(DECODESCOPE_TEST_DATA) / family;
        for (const auto& model : std::filesystem::directory_iterator(folder)) {
            models.push_back(std::string(family) + "/" + model.path().filename().string());
        }
    }
    std::sort(models.begin(), models.end());
    return models;
}

}  // namespace decodescope::test
