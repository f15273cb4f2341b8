// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/formats/load_watch.h"
#include "engine/formats/model_ref.h"
#include "engine/model/weights.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// Reads what a user typed: "preset:NAME" or "preset:NAME,seed=N", else a folder, a GGUF file or a bundled
/// name.
Result<ModelRef> parse_model_ref(std::string_view text);

/// A model ready to run. `tokenizer` is null for presets (token ids only).
struct LoadedModel {
    std::shared_ptr<const Weights> weights;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::string chat_template{};  ///< text of an untrusted file, never executed; empty when there is none
};

/// What `inspect` shows of a file or folder without loading the weights.
struct ModelSummary {
    std::string architecture;  ///< as the files name it: "gpt2", "llama", ...
    ModelConfig config;
    /// False: `config` has only the numbers that the file states (0 = not stated), and the rest of it means
    /// nothing.
    bool config_is_complete = true;
    std::optional<bool> tied_head;
    std::uint64_t n_parameter = 0;
    struct Tensor {
        std::string name;
        std::string dtype;
        std::vector<std::uint64_t> shape;
        std::uint64_t bytes = 0;
        std::string use;  ///< "used", "used in place", "skipped: mask buffer", ...
    };
    std::vector<Tensor> tensors;
    std::uint64_t file_bytes = 0;
    std::vector<std::string> notes;  ///< what is unusual
    bool has_tokenizer = false;
    std::string chat_template{};  ///< as in `LoadedModel`
};

/// A file or folder of the bundled resources ("models/demo"), looked for in $DECODESCOPE_DATA, in the install
/// prefix, above a build tree and in the source tree, in this order. Fails with the places that were tried.
Result<std::filesystem::path> bundled_file(const std::string& relative_path);

/// Turns what a user typed into a folder or a GGUF file: an existing path wins over a bundled name, and that
/// over the name of a model in the user's data folder. A folder without config.json stands for the one GGUF
/// file in it.
Result<std::filesystem::path> resolve_model_path(const std::string& path_or_name);

/// Whether the path is a GGUF file by its name or its first bytes.
bool is_gguf_file(const std::filesystem::path& path);

/// Loads a model.
Result<LoadedModel> load_model(const ModelRef& ref, std::shared_ptr<MemoryLedger> ledger,
                               const LoadWatch& watch = {});

/// The tokenizer of a model without its weights. A model that has none this program reads is an error that
/// says why.
Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const ModelRef& ref);

/// Reads headers only: of a folder, a preset, or a GGUF file of any architecture.
Result<ModelSummary> inspect_model(const ModelRef& ref);

}  // namespace decodescope
