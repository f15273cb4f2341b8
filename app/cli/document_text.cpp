// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/document_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "engine/core/quote.h"
#include "engine/experiment/text_table.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t mostCellBytes = 60;

bool isList(const Json& value) {
    return value.is_array() && !value.empty() &&
           std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_object(); });
}

/// A value as the cell of a table. Texts of a file must not reach a terminal as they are.
std::string cellOf(const Json& value, Format format) {
    if (value.is_null()) return format == Format::csv ? "" : "not known";
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        const bool harmless = std::none_of(text.begin(), text.end(), [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte < 0x20 || byte == 0x7F;
        });
        return harmless ? text : quote(text, text.size());
    }
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > mostCellBytes && value.is_structured()) {
        text = value.is_array() ? fmt::format("[{} values]", value.size()) : "{...}";
    }
    return text;
}

/// Members of nested objects under "outer.inner".
void flatten(const Json& object, const std::string& prefix, Format format,
             std::map<std::string, std::string>& cells, std::vector<std::string>& order) {
    for (const auto& [name, value] : object.items()) {
        const std::string key = prefix.empty() ? name : prefix + "." + name;
        if (value.is_object() && !value.empty()) {
            flatten(value, key, format, cells, order);
            continue;
        }
        cells[key] = cellOf(value, format);
        order.push_back(key);
    }
}

TextTable tableOf(const std::vector<Json>& rows, const std::vector<std::string>& wanted, Format format) {
    std::vector<std::map<std::string, std::string>> cells(rows.size());
    std::vector<std::string> columns = wanted;
    std::set<std::string> known;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<std::string> order;
        flatten(rows[i], "", format, cells[i], order);
        for (const std::string& key : order) {
            if (wanted.empty() && known.insert(key).second) columns.push_back(key);
        }
    }
    TextTable table;
    table.header = columns;
    for (const auto& row : cells) {
        auto& out = table.rows.emplace_back();
        for (const std::string& column : columns) {
            const auto found = row.find(column);
            out.push_back(found == row.end() ? "" : found->second);
        }
    }
    return table;
}

TextTable propertiesOf(const Json& document, Format format) {
    TextTable table;
    table.header = {"property", "value"};
    std::map<std::string, std::string> cells;
    std::vector<std::string> order;
    Json plain = Json::object();
    for (const auto& [name, value] : document.items()) {
        if (!isList(value) && !name.starts_with('_')) plain[name] = value;
    }
    flatten(plain, "", format, cells, order);
    for (const std::string& key : order) table.rows.push_back({key, cells[key]});
    return table;
}

std::string print(const TextTable& table, Format format) {
    switch (format) {
        case Format::md: return table.markdown();
        case Format::csv: return table.csv();
        default: return table.plain();
    }
}

}  // namespace

std::string documentText(const Json& document, Format format) {
    if (format == Format::json) return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (format == Format::jsonl) return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    std::string text;
    if (format != Format::csv) text = print(propertiesOf(document, format), format);
    for (const auto& [name, value] : document.items()) {
        if (!isList(value)) continue;
        const std::vector<Json> rows(value.begin(), value.end());
        if (format == Format::csv) return print(tableOf(rows, {}, format), format);
        text += format == Format::md ? fmt::format("\n### {}\n\n", name) : fmt::format("\n{}:\n", name);
        text += print(tableOf(rows, {}, format), format);
    }
    return format == Format::csv ? print(propertiesOf(document, format), format) : text;
}

std::string rowsText(const std::vector<Json>& rows, const std::vector<std::string>& columns, Format format) {
    if (format == Format::json) return Json(rows).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (format == Format::jsonl) {
        std::string lines;
        for (const Json& row : rows) lines += row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
        return lines;
    }
    return print(tableOf(rows, columns, format), format);
}

}  // namespace decodescope::cli
