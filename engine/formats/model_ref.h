// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace decodescope {

/// What an experiment names as its model: a folder, a GGUF file, a bundled name, or a preset with a seed.
struct ModelRef {
    std::string path{};    ///< folder, GGUF file or bundled name such as "demo"; empty when a preset is meant
    std::string preset{};  ///< e.g. "gpt2-small"
    std::uint64_t seed = 0;

    friend bool operator==(const ModelRef&, const ModelRef&) = default;
};

}  // namespace decodescope
