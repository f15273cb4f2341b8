// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/result.h"

namespace decodescope {

/// JSON that is read, and JSON that is written (members in the order they were added).
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// Parses one JSON document of at most 64 levels without repeated names. The sentence says where it is
/// broken.
Result<Json> parse_json(std::string_view text);

/// JSON text, two-space indented, with a line end; bytes that are not UTF-8 become U+FFFD.
std::string dump_json(const OrderedJson& json);
/// The same on one line, without a line end.
std::string dump_json_line(const OrderedJson& json);
/// Null for an empty text.
inline OrderedJson text_or_null(const std::string& text) {
    return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}
/// Null for the number that stands for "not known".
template <class Number>
OrderedJson number_or_null(Number value, Number unknown) {
    return value == unknown ? OrderedJson(nullptr) : OrderedJson(value);
}
/// A value for a sentence: texts in quotes and cut when long, "an object", "an array", or as in JSON.
std::string brief(const Json& value);

/// What reading a document has come upon: the first error (later reads do nothing), and the warnings.
struct JsonReport {
    std::optional<Error> error;
    std::vector<std::string>* warnings = nullptr;
    bool null_is_absent = false;  ///< a record writes null for what is not known

    void fail(const std::string& path, std::string_view what, ErrorKind kind = ErrorKind::bad_input);
    /// Adds a warning; a long list ends in a sentence that says so.
    void warn(std::string sentence);
};

/// Reads the members of one JSON object. Every getter leaves its target alone when the member is absent, and
/// reports a wrong type with the JSON path. Members that nobody asked for become warnings in `finish`, names
/// that start with `_` are comments.
class JsonFields {
public:
    /// `path` is empty for the document itself.
    JsonFields(const Json& value, std::string path, JsonReport& report);

    bool has(const char* name) { return find(name) != nullptr; }
    void require(const char* name);

    template <class Integer>
    void integer(const char* name, Integer& out) {
        if (const Json* value = find(name)) read_integer(*value, path_of(name), out);
    }
    void real(const char* name, double& out);
    void reals(const char* name, std::vector<float>& out);
    void reals(const char* name, std::vector<double>& out);
    /// An array of arrays of numbers.
    void real_rows(const char* name, std::vector<std::vector<double>>& out);
    void boolean(const char* name, bool& out);
    void text(const char* name, std::string& out);
    void texts(const char* name, std::vector<std::string>& out);
    template <class Integer>
    void integers(const char* name, std::vector<Integer>& out) {
        const Json* value = find_array(name);
        if (value == nullptr) return;
        out.clear();
        for (std::size_t i = 0; i < value->size() && !report_.error; ++i) {
            Integer item{};
            read_integer((*value)[i], fmt::format("{}[{}]", path_of(name), i), item);
            out.push_back(item);
        }
    }
    /// One word of a list.
    template <class Enum>
    void choice(const char* name, Enum& out, std::initializer_list<std::pair<const char*, Enum>> words) {
        const Json* value = find(name);
        if (value == nullptr) return;
        for (const auto& [word, meaning] : words) {
            if (*value == word) {
                out = meaning;
                return;
            }
        }
        std::string expected;
        for (const auto& entry : words) {
            expected += fmt::format("{}\"{}\"", expected.empty() ? "" : " or ", entry.first);
        }
        report_.fail(path_of(name), fmt::format("is {}, expected {}", brief(*value), expected));
    }
    /// Reads an object member with `read(JsonFields&)`.
    template <class Read>
    void object(const char* name, Read read) {
        if (const Json* value = find(name)) {
            JsonFields fields(*value, path_of(name), report_);
            read(fields);
            fields.finish();
        }
    }
    /// Reads every object of an array member with `read(JsonFields&)`.
    template <class Read>
    void objects(const char* name, Read read) {
        const Json* value = find_array(name);
        if (value == nullptr) return;
        for (std::size_t i = 0; i < value->size() && !report_.error; ++i) {
            JsonFields fields((*value)[i], fmt::format("{}[{}]", path_of(name), i), report_);
            read(fields);
            fields.finish();
        }
    }
    /// Members that are written for readers but follow from others.
    void ignore(std::initializer_list<const char*> names);

    void fail(const char* name, std::string_view what, ErrorKind kind = ErrorKind::bad_input) {
        report_.fail(path_of(name), what, kind);
    }
    std::string path_of(const char* name) const;
    bool failed() const { return report_.error.has_value(); }
    /// Warns about members nobody asked for.
    void finish();

private:
    const Json* find(const char* name);
    const Json* find_array(const char* name);

    template <class Integer>
    void read_integer(const Json& value, const std::string& path, Integer& out) {
        if (value.is_number_unsigned()) {
            if (const auto number = value.get<std::uint64_t>(); std::in_range<Integer>(number)) {
                out = static_cast<Integer>(number);
                return;
            }
        } else if (value.is_number_integer()) {
            if (const auto number = value.get<std::int64_t>(); std::in_range<Integer>(number)) {
                out = static_cast<Integer>(number);
                return;
            }
        }
        const std::string range = value.is_number_integer()
                                      ? fmt::format(" from {} to {}", std::numeric_limits<Integer>::min(),
                                                    std::numeric_limits<Integer>::max())
                                      : std::string();
        report_.fail(path, fmt::format("is {}, expected a whole number{}", brief(value), range));
    }

    template <class Real>
    void read_reals(const Json& value, const std::string& path, std::vector<Real>& out);

    const Json& value_;
    std::string path_;
    JsonReport& report_;
    std::set<std::string, std::less<>> known_;
};

}  // namespace decodescope
