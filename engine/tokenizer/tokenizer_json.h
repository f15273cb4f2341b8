// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// Reads a `tokenizer.json` of at most 256 MiB whose model is BPE: byte-level with the split rules of
/// `SplitRule`, or of SentencePiece's kind with byte fallback. Errors are one sentence that names the place:
/// `unsupported` for a well-formed file that asks for something else (the model can still run on token ids),
/// `bad_input` for a broken one. `notes` receives what is unusual.
Result<std::shared_ptr<const Tokenizer>> load_tokenizer_json(const std::filesystem::path& path,
                                                             std::vector<std::string>* notes = nullptr);

}  // namespace decodescope
