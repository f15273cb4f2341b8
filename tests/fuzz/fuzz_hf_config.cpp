// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the text of a config.json; the same text is then read as a generation_config.json, and planned.
#include <algorithm>
#include <string_view>

#include "engine/formats/hf_config.h"
#include "engine/plan/shape_reader.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

namespace {

/// The same text as something to plan, of any type of model.
void plan(std::string_view text) {
    const auto shape = shape_from_config(text, "f");
    if (!shape) return fuzz::require_sentence(shape.error());
    fuzz::require(shape->kv_elements() > 0, "every layer keeps something");
    fuzz::require(shape->n_parameter() >= 0, "parameters can be counted");
    fuzz::require(shape->n_window_layer >= 0 && shape->n_window_layer <= shape->n_layer,
                  "windows are of layers");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::vector<std::string> notes;
    plan(text);
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
