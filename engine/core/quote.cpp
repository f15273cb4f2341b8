// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "engine/core/utf8.h"

namespace decodescope {

std::string quote(std::string_view text, std::size_t limit) {
    std::string out = "\"";
    std::size_t at = 0;
    while (at < text.size()) {
        const Utf8Step step = utf8_at(text, at);
        if (at + step.length > limit) break;
        const std::string_view bytes = text.substr(at, step.length);
        if (step.kind != Utf8Step::Kind::character || step.code_point < 0x20 || step.code_point == 0x7f) {
            for (const char byte : bytes) {
                fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
            }
        } else {
            if (bytes == "\"" || bytes == "\\") out += '\\';
            out += bytes;
        }
        at += step.length;
    }
    out += at < text.size() ? "...\"" : "\"";
    return out;
}

std::string quote_list(const std::vector<std::string>& names) {
    constexpr std::size_t max_listed = 3;
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(names.size(), max_listed); ++i) shown.push_back(quote(names[i]));
    std::string text = fmt::format("{}", fmt::join(shown, ", "));
    if (names.size() > max_listed) text += fmt::format(" and {} more", names.size() - max_listed);
    return text;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Step step = utf8_at(text, at);
        if (step.kind != Utf8Step::Kind::character) return at;
        at += step.length;
    }
    return std::nullopt;
}

}  // namespace decodescope
