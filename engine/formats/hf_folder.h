// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/dtype.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/formats/ggml_types.h"
#include "engine/formats/load_watch.h"
#include "engine/formats/safetensors.h"
#include "engine/model/weights.h"

namespace decodescope {

/// One tensor of a folder's weight files and what becomes of it.
struct HfTensor {
    const SafetensorsFile* file = nullptr;
    const SafetensorsEntry* entry = nullptr;
    std::string slot;  ///< the model's name for it ("h.0.ln_1.weight"); empty when it is not loaded
    std::string use;   ///< "used", "used in place", "skipped: mask buffer", ...
};

/// A Hugging Face folder of a supported model whose files have been checked against each other: every tensor
/// the config asks for is there with its shape, and every tensor that is there has a use. Nothing of the
/// weights' size has been read or allocated yet.
struct HfFolder {
    std::filesystem::path path;
    ModelConfig config;
    std::vector<std::shared_ptr<const SafetensorsFile>> files;  ///< one, or the shards
    std::vector<HfTensor> tensors;                              ///< of all files, in the order of their data
    std::vector<std::string> notes;

    std::uint64_t weight_file_bytes() const;
};

/// The text of a settings file (`config.json` and the like) of at most 1 MiB.
Result<std::string> read_settings(const std::filesystem::path& path);

/// Opens `config.json`, `generation_config.json` (optional) and `model.safetensors` (or the shards that
/// `model.safetensors.index.json` lists) and checks them.
Result<HfFolder> open_hf_folder(const std::filesystem::path& path);

/// The dtype of weights that are stored as "F32", "F16" or "BF16"; nothing for every other name.
std::optional<DType> weight_dtype(std::string_view name);
/// A dtype as the type of GGUF files that stores the same.
const GgmlTypeInfo* stored_type(DType dtype);

/// Makes the weights in the engine's layout (f32, output-major); what is stored so is used in the mapped
/// files. `Weights::hash` is filled for weight files of at most 16 MiB; for larger ones `weights_hash`
/// computes it on demand.
Result<std::shared_ptr<const Weights>> load_hf_weights(const HfFolder& folder,
                                                       std::shared_ptr<MemoryLedger> ledger,
                                                       const LoadWatch& watch = {});

}  // namespace decodescope
