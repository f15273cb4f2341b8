// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/formats/gguf_file.h"
#include "engine/formats/gguf_model.h"
#include "engine/formats/load_watch.h"
#include "engine/model/weights.h"

namespace decodescope {

/// One tensor of a GGUF file and what becomes of it.
struct GgufTensorUse {
    const GgufTensor* tensor = nullptr;
    std::string slot;  ///< the model's name for it ("h.0.ln_1.weight"); empty when it is not loaded
    std::string use;   ///< "used", "used in place", "skipped: rope buffer", ...
};

/// A GGUF file whose metadata and tensors have been checked against each other. Nothing of the weights' size
/// has been read or allocated yet.
struct GgufSource {
    std::shared_ptr<const GgufFile> file;
    GgufModel model;  ///< without an `obstacle` every tensor the model needs is there and every tensor that
                      ///< is there has a use
    std::vector<GgufTensorUse> tensors;  ///< in the order of their data
};

/// Opens a GGUF file. Models that cannot be run open too, with an obstacle; what breaks the format is an
/// error.
Result<GgufSource> open_gguf(const std::filesystem::path& path);

/// Makes the weights in the engine's layout (f32, output-major); what is stored so is used in the mapped
/// file. Fails with the obstacle when there is one.
/// `Weights::hash` is filled for small files only, see `weights_hash`.
Result<std::shared_ptr<const Weights>> load_gguf_weights(const GgufSource& source,
                                                         std::shared_ptr<MemoryLedger> ledger,
                                                         const LoadWatch& watch = {});

}  // namespace decodescope
