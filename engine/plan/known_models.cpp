// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/known_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/formats/json_text.h"
#include "engine/formats/model_source.h"
#include "engine/plan/shape_reader.h"

namespace decodescope {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t max_file_bytes = std::uint64_t{4} << 20;
constexpr const char* schema = "decodescope.models/1";

Result<KnownModel> parse_entry(const Json& entry, const std::string& label) {
    const auto text = [&](const char* key) -> std::string {
        const auto found = entry.find(key);
        return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    KnownModel model;
    if (!entry.is_object()) return Error{ErrorKind::bad_input, label + " is not an object."};
    model.name = text("name");
    model.title = text("title");
    model.source = text("source");
    if (model.name.empty() || model.title.empty() || model.source.empty())
        return Error{ErrorKind::bad_input, label + " lacks its name, title or source."};
    const auto parameters = entry.find("parameters");
    if (parameters == entry.end() || !parameters->is_number_integer())
        return Error{ErrorKind::bad_input,
                     fmt::format("{} ({}) lacks its parameters, a whole number.", label, quote(model.name))};
    model.parameters = parameters->get<std::int64_t>();
    const auto config = entry.find("config");
    if (config == entry.end() || !config->is_object())
        return Error{ErrorKind::bad_input,
                     fmt::format("{} ({}) lacks its config, an object.", label, quote(model.name))};
    auto shape = shape_from_config(config->dump(), fmt::format("{} ({})", label, quote(model.name)));
    if (!shape) return shape.error();
    model.shape = *std::move(shape);
    model.shape.name = model.name;
    if (model.shape.config) model.shape.config->name = model.name;
    model.shape.source = model.source;
    return model;
}

}  // namespace

Result<std::vector<KnownModel>> parse_known_models(std::string_view text, const std::string& label) {
    const auto json = parse_json_object(text, label);
    if (!json) return json.error();
    if (!json->contains("schema") || (*json)["schema"] != schema)
        return Error{ErrorKind::bad_input, fmt::format("{}: schema is not \"{}\".", label, schema)};
    const auto list = json->find("models");
    if (list == json->end() || !list->is_array())
        return Error{ErrorKind::bad_input, fmt::format("{}: models is not a list.", label)};
    std::vector<KnownModel> models;
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto model = parse_entry((*list)[i], fmt::format("{}: models[{}]", label, i));
        if (!model) return model.error();
        const auto same = [&](const KnownModel& other) { return other.name == model->name; };
        if (std::any_of(models.begin(), models.end(), same)) {
            return Error{ErrorKind::bad_input, fmt::format("{}: models[{}] has the name {} of another.",
                                                           label, i, quote(model->name))};
        }
        models.push_back(*std::move(model));
    }
    return models;
}

Result<std::vector<KnownModel>> load_known_models() {
    const auto path = bundled_file("known_models.json");
    if (!path) return path.error();
    const auto text = read_text_file(*path, max_file_bytes);
    if (!text) return text.error();
    return parse_known_models(*text, path->string());
}

}  // namespace decodescope
