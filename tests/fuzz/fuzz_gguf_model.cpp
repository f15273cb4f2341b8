// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a GGUF file, opened and run as a model.
#include "engine/formats/gguf_weights.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::Folder folder;
    folder.write("m.gguf", {reinterpret_cast<const char*>(data), size});
    const auto source = open_gguf(folder.path() / "m.gguf");
    if (!source) {
        fuzz::require_sentence(source.error());
        return 0;
    }
    fuzz::require(source->tensors.size() == source->file->header().tensors.size(), "every tensor is listed");
    for (const GgufTensorUse& one : source->tensors)
        fuzz::require(!one.use.empty(), "every tensor has a use");
    if (source->model.obstacle) {
        fuzz::require_sentence(*source->model.obstacle);
        return 0;
    }
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = load_gguf_weights(*source, ledger);
    fuzz::require(weights.ok(), "a model that was checked can be loaded");
    // Two bits at least for each weight, and a cache line for each tensor.
    fuzz::require(ledger->live(Owner::weights) <= 16 * size + 64 * source->tensors.size(),
                  "memory follows the file");
    return 0;
}
