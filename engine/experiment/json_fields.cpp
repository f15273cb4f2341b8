// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/json_fields.h"

#include <algorithm>

#include "engine/core/quote.h"

namespace decodescope {

namespace {

constexpr int max_depth = 64;

/// Thrown through the parser to stop it, caught in parse_json.
struct Refused {
    std::string what;
};

std::string place_of(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
    std::vector<std::set<std::string>> names;  // of each open object, to see repeated ones
    const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (depth > max_depth) throw Refused{fmt::format("is nested deeper than {} levels", max_depth)};
        if (event == Json::parse_event_t::object_start) names.emplace_back();
        if (event == Json::parse_event_t::object_end) names.pop_back();
        if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second) {
            throw Refused{fmt::format("names {} twice in one object", brief(parsed))};
        }
        return true;
    };
    try {
        return Json::parse(text, watch);
    } catch (const Refused& refused) {
        return Error{ErrorKind::bad_input, "The JSON document " + refused.what + "."};
    } catch (const Json::parse_error& error) {
        return Error{ErrorKind::bad_input, fmt::format("Not valid JSON at {}.", place_of(text, error.byte))};
    } catch (const Json::exception&) {
        return Error{ErrorKind::bad_input, "Not valid JSON: it holds a number that is out of range."};
    }
}

std::string dump_json(const OrderedJson& json) {
    return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string dump_json_line(const OrderedJson& json) {
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string brief(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array";
    return value.is_string() ? quote(value.get_ref<const std::string&>()) : value.dump();
}

void JsonReport::fail(const std::string& path, std::string_view what, ErrorKind kind) {
    if (error) return;
    error = Error{kind, fmt::format("{} {}.", path.empty() ? "The document" : path, what)};
}

void JsonReport::warn(std::string sentence) {
    constexpr std::size_t most = 20;
    if (warnings == nullptr || warnings->size() > most) return;
    warnings->push_back(warnings->size() == most ? "More members are not known and were ignored."
                                                 : std::move(sentence));
}

JsonFields::JsonFields(const Json& value, std::string path, JsonReport& report)
    : value_(value), path_(std::move(path)), report_(report) {
    if (!value.is_object()) report_.fail(path_, fmt::format("is {}, expected an object", brief(value)));
}

const Json* JsonFields::find(const char* name) {
    known_.insert(name);
    if (report_.error || !value_.is_object()) return nullptr;
    const auto found = value_.find(name);
    if (found == value_.end() || (report_.null_is_absent && found->is_null())) return nullptr;
    return &*found;
}

const Json* JsonFields::find_array(const char* name) {
    const Json* value = find(name);
    if (value == nullptr || value->is_array()) return value;
    report_.fail(path_of(name), fmt::format("is {}, expected an array", brief(*value)));
    return nullptr;
}

void JsonFields::require(const char* name) {
    if (!has(name)) report_.fail(path_of(name), "is missing");
}

void JsonFields::real(const char* name, double& out) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_number()) {
        report_.fail(path_of(name), fmt::format("is {}, expected a number", brief(*value)));
        return;
    }
    out = value->get<double>();
}

template <class Real>
void JsonFields::read_reals(const Json& value, const std::string& path, std::vector<Real>& out) {
    out.clear();
    for (const Json& item : value) {
        if (!item.is_number()) {
            return report_.fail(fmt::format("{}[{}]", path, out.size()),
                                fmt::format("is {}, expected a number", brief(item)));
        }
        out.push_back(item.get<Real>());
    }
}

void JsonFields::reals(const char* name, std::vector<float>& out) {
    if (const Json* value = find_array(name)) read_reals(*value, path_of(name), out);
}

void JsonFields::reals(const char* name, std::vector<double>& out) {
    if (const Json* value = find_array(name)) read_reals(*value, path_of(name), out);
}

void JsonFields::real_rows(const char* name, std::vector<std::vector<double>>& out) {
    const Json* value = find_array(name);
    if (value == nullptr) return;
    out.clear();
    for (const Json& row : *value) {
        const std::string path = fmt::format("{}[{}]", path_of(name), out.size());
        if (!row.is_array()) return report_.fail(path, fmt::format("is {}, expected an array", brief(row)));
        read_reals(row, path, out.emplace_back());
    }
}

void JsonFields::boolean(const char* name, bool& out) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) {
        report_.fail(path_of(name), fmt::format("is {}, expected true or false", brief(*value)));
        return;
    }
    out = value->get<bool>();
}

void JsonFields::text(const char* name, std::string& out) {
    const Json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_string()) {
        report_.fail(path_of(name), fmt::format("is {}, expected a text", brief(*value)));
        return;
    }
    out = value->get<std::string>();
}

void JsonFields::texts(const char* name, std::vector<std::string>& out) {
    const Json* value = find_array(name);
    if (value == nullptr) return;
    out.clear();
    for (std::size_t i = 0; i < value->size(); ++i) {
        const Json& item = (*value)[i];
        if (!item.is_string()) {
            report_.fail(fmt::format("{}[{}]", path_of(name), i),
                         fmt::format("is {}, expected a text", brief(item)));
            return;
        }
        out.push_back(item.get<std::string>());
    }
}

void JsonFields::ignore(std::initializer_list<const char*> names) {
    known_.insert(names.begin(), names.end());
}

std::string JsonFields::path_of(const char* name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void JsonFields::finish() {
    if (report_.error || !value_.is_object()) return;
    for (const auto& [name, unused] : value_.items()) {
        if (name.starts_with('_') || known_.contains(name)) continue;
        report_.warn(fmt::format("{} is not known and was ignored.", path_of(name.c_str())));
    }
}

}  // namespace decodescope
