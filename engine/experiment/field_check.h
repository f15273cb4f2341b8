// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/experiment/experiment.h"

namespace decodescope {

/// Most tokens that a prompt, a cache, a chunk or a budget is given as.
inline constexpr int max_tokens = 1 << 24;

/// "FIELD WHAT." as an error.
Error field_error(const std::string& field, std::string_view what);
Result<void> check_range(const std::string& field, int value, int lowest, int highest);
/// Token ids that are not negative, and not too many.
Result<void> check_ids(const std::string& field, const std::vector<std::int32_t>& ids);
/// Exactly one of path and preset is named.
Result<void> check_model(const std::string& field, const ModelRef& model);
/// A text of at most 64 printable bytes.
Result<void> check_name(const std::string& field, const std::string& name);
/// Tokens of the prompt where they are known without a tokenizer; -1 otherwise.
std::int64_t known_prompt_length(const PromptSpec& prompt);

/// Checks `lane`, called `path` in sentences, as a part of `experiment`.
Result<void> check_lane(const std::string& path, const LaneSpec& lane, const Experiment& experiment);

}  // namespace decodescope
