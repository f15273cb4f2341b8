// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "engine/core/result.h"

namespace decodescope {

/// Parses the text of a small settings file as people's programs write it: a UTF-8 byte order mark is
/// skipped, and the literals NaN, Infinity and -Infinity that Python writes become strings, so that they pass
/// in fields nobody reads and fail in fields that need a number. The value must be an object nested at most
/// 64 deep, with at most 500,000 values (which bounds memory). Errors are one sentence that begins with
/// `label`. Only for .cpp files: it brings the whole of nlohmann-json.
Result<nlohmann::json> parse_json_object(std::string_view text, const std::string& label);

}  // namespace decodescope
