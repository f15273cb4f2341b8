// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/field_check.h"

#include <algorithm>

#include "engine/core/quote.h"

namespace decodescope {

Error field_error(const std::string& field, std::string_view what) {
    return Error{ErrorKind::bad_input, fmt::format("{} {}.", field, what)};
}

Result<void> check_range(const std::string& field, int value, int lowest, int highest) {
    if (value >= lowest && value <= highest) return {};
    return field_error(field, fmt::format("is {}, expected {} to {}", value, lowest, highest));
}

Result<void> check_ids(const std::string& field, const std::vector<std::int32_t>& ids) {
    if (ids.size() > max_tokens) {
        return field_error(field, fmt::format("holds {} ids, expected at most {}", ids.size(), max_tokens));
    }
    const auto negative = std::find_if(ids.begin(), ids.end(), [](std::int32_t id) { return id < 0; });
    if (negative == ids.end()) return {};
    return field_error(fmt::format("{}[{}]", field, negative - ids.begin()),
                       fmt::format("is {}, expected a token id (0 or more)", *negative));
}

Result<void> check_model(const std::string& field, const ModelRef& model) {
    if (model.path.empty() && model.preset.empty()) {
        return field_error(field, "names neither a path nor a preset");
    }
    if (!model.path.empty() && !model.preset.empty()) {
        return field_error(field, "names a path and a preset, expected one of them");
    }
    return {};
}

Result<void> check_name(const std::string& field, const std::string& name) {
    constexpr std::size_t most = 64;
    if (name.size() > most) {
        return field_error(field, fmt::format("has {} bytes, expected at most {}", name.size(), most));
    }
    if (std::any_of(name.begin(), name.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
        return field_error(field, fmt::format("is {}, expected printable characters", quote(name)));
    }
    return {};
}

std::int64_t known_prompt_length(const PromptSpec& prompt) {
    switch (prompt.kind) {
        case PromptSpec::Kind::text: return -1;
        case PromptSpec::Kind::ids: return static_cast<std::int64_t>(prompt.ids.size());
        case PromptSpec::Kind::random: return prompt.length;
    }
    return -1;
}

}  // namespace decodescope
