// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the text of an experiment file.
#include <string_view>

#include "engine/experiment/experiment_json.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> warnings;
    const auto experiment =
        parse_experiment(std::string_view(reinterpret_cast<const char*>(data), size), &warnings);
    if (!experiment) {
        fuzz::require_sentence(experiment.error());
        return 0;
    }
    fuzz::require(experiment->validate().ok(), "an experiment that was read is valid");
    const std::string written = to_json(*experiment);
    const auto again = parse_experiment(written, &warnings);
    fuzz::require(again.ok(), "what was written can be read");
    fuzz::require(to_json(*again) == written, "and is the same");
    return 0;
}
