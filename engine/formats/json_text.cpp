// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "engine/core/quote.h"

namespace decodescope {

namespace {

constexpr int max_depth = 64;
constexpr std::size_t max_values = 500'000;

/// `text` with Python's number literals in quotes. Fails on nesting that is too deep and on too many values.
Result<std::string> quote_python_literals(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool in_string = false;
    int depth = 0;
    std::size_t n_value = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        std::size_t length = 1;
        if (in_string) {
            if (c == '\\') length = std::min<std::size_t>(2, text.size() - at);
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_depth) {
                return Error{ErrorKind::bad_input, fmt::format("is nested deeper than {} levels", max_depth)};
            }
            ++n_value;
        } else if (c == ']' || c == '}') {
            --depth;
        } else if (c == ',') {
            ++n_value;
        } else if (c == 'N' || c == 'I' || c == '-') {
            for (const std::string_view literal : {"NaN", "Infinity", "-Infinity"}) {
                if (!text.substr(at).starts_with(literal)) continue;
                length = literal.size();
                out += fmt::format("\"{}\"", literal);
            }
            if (length > 1) {
                at += length;
                continue;
            }
        }
        out += text.substr(at, length);
        at += length;
    }
    if (n_value > max_values) {
        return Error{ErrorKind::bad_input, fmt::format("holds more than {} values", max_values)};
    }
    return out;
}

Result<nlohmann::json> parse(std::string_view text) {
    const auto refuse = [](std::string what) { return Error{ErrorKind::bad_input, std::move(what)}; };
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        return refuse("is UTF-16 text, expected UTF-8");
    }
    if (text.find_first_not_of(" \t\r\n") == text.npos) return refuse("is empty, expected a JSON object");
    if (const auto bad = find_invalid_utf8(text)) {
        return refuse(fmt::format("is not valid UTF-8 at byte {}", *bad));
    }
    // The parser would take a NUL byte for the end of the text.
    if (text.find('\0') != text.npos) return refuse("is not valid JSON (it holds a NUL byte)");
    const auto plain = quote_python_literals(text);
    if (!plain) return plain.error();
    try {
        auto value = nlohmann::json::parse(*plain);
        if (!value.is_object()) return refuse(fmt::format("holds {}, expected an object", value.type_name()));
        return value;
    } catch (const nlohmann::json::parse_error& error) {
        const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, plain->size());
        return refuse(fmt::format(
            "is not valid JSON in line {}",
            1 + std::count(plain->begin(), plain->begin() + static_cast<std::ptrdiff_t>(at), '\n')));
    } catch (const nlohmann::json::exception&) {
        return refuse("holds a number that is too large");
    }
}

}  // namespace

Result<nlohmann::json> parse_json_object(std::string_view text, const std::string& label) {
    try {
        auto value = parse(text);
        if (value) return value;
        return Error{value.error().kind, fmt::format("{}: {}.", label, value.error().message)};
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::out_of_memory, fmt::format("{}: no memory to read it.", label)};
    }
}

}  // namespace decodescope
