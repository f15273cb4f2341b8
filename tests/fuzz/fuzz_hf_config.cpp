// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the text of a config.json; the same text is then read as a generation_config.json.
#include <algorithm>
#include <string_view>

#include "engine/formats/hf_config.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::vector<std::string> notes;
    auto config = parse_hf_config(text, "f", &notes);
    if (!config) {
        fuzz::require_sentence(config.error());
        return 0;
    }
    fuzz::require(config->validate().ok(), "a config that was read is valid");
    fuzz::require(add_generation_config(text, "f", *config, &notes).ok(),
                  "the same end tokens are fine twice");
    for (const std::int32_t id : config->eos_ids) {
        fuzz::require(id >= 0 && id < config->vocab, "end tokens are in the vocabulary");
        fuzz::require(std::count(config->eos_ids.begin(), config->eos_ids.end(), id) == 1, "each once");
    }
    return 0;
}
