// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace decodescope::test {

/// The models of tests/data/make_goldens.py and make_gguf_models.py, as folders and files below tests/data:
/// "gpt2/plain-f32", "llama/yarn-f32", "gguf/llama.yarn-f32.gguf".
inline std::vector<std::string> golden_models() {
    std::vector<std::string> models;
    for (const char* family : {"gpt2", "llama", "gguf"}) {
        const std::filesystem::path folder = std::filesystem::path(DECODESCOPE_TEST_DATA) / family;
        for (const auto& model : std::filesystem::directory_iterator(folder)) {
            if (model.path().extension() == ".safetensors") continue;
            models.push_back(std::string(family) + "/" + model.path().filename().string());
        }
    }
    std::sort(models.begin(), models.end());
    return models;
}

/// The file with the reference's logits for one of `golden_models`.
inline std::filesystem::path golden_logits(const std::string& model) {
    const std::filesystem::path data(DECODESCOPE_TEST_DATA);
    std::filesystem::path file = data / model;
    if (file.extension() != ".gguf") return file / "golden.safetensors";
    if (std::filesystem::exists(file.replace_extension(".safetensors"))) return file;
    const std::string origin = file.stem().string();  // "llama.yarn-f32": of the folder it was made from
    const std::size_t dot = origin.find('.');
    return data / origin.substr(0, dot) / origin.substr(dot + 1) / "golden.safetensors";
}

}  // namespace decodescope::test
