// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/plan/plan_shape.h"

namespace decodescope {

/// The shape that the text of a Hugging Face `config.json` describes, of any decoder: for types this program
/// does not know, the cache is read and the weights are left unknown. What the file leaves to the reference
/// program is told in `notes`; what it must say and does not is an error. `label` begins every sentence.
Result<PlanShape> shape_from_config(std::string_view text, const std::string& label);

/// The shape that the header of a GGUF file describes, of any architecture, with the bytes of its tensors.
Result<PlanShape> shape_from_gguf(const std::filesystem::path& path);

/// What a user typed: "preset:NAME", a folder or a `config.json`, a GGUF file, the name of a bundled or
/// fetched model, or of a known configuration ("known:NAME" means only these).
Result<PlanShape> read_shape(const std::string& text);

}  // namespace decodescope
