// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a model.safetensors beside the config.json of tests/data/gpt2/plain-f32.
#include <filesystem>

#include "engine/formats/hf_folder.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::Folder folder = [] {
        fuzz::Folder made;
        std::filesystem::copy_file(DECODESCOPE_TEST_DATA "/gpt2/plain-f32/config.json",
                                   made.path() / "config.json");
        return made;
    }();
    folder.write("model.safetensors", {reinterpret_cast<const char*>(data), size});
    const auto opened = open_hf_folder(folder.path());
    if (!opened) {
        fuzz::require_sentence(opened.error());
        return 0;
    }
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = load_hf_weights(*opened, ledger);
    fuzz::require(weights.ok(), "a folder that was checked can be loaded");
    fuzz::require(ledger->live(Owner::weights) < (std::uint64_t{1} << 20), "memory follows the config");
    return 0;
}
