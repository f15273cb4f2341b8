// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace decodescope {

namespace {

/// Characters of UTF-8 text (combining and wide ones count as one: our own labels have none).
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string joined_csv(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) {
        if (&cell != &cells.front()) line += ',';
        line += csv_field(cell);
    }
    return line + '\n';
}

}  // namespace

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string human_bytes(double bytes) {
    constexpr std::array<const char*, 4> units = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
    std::size_t unit = 0;
    for (bytes /= 1024; bytes >= 1024 && unit + 1 < units.size(); bytes /= 1024) ++unit;
    return fmt::format("{:.{}f} {}", bytes, bytes < 10 ? 2 : bytes < 100 ? 1 : 0, units[unit]);
}

std::string TextTable::plain() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < header.size(); ++c) {
        std::size_t width = width_of(header[c]);
        for (const auto& row : rows) width = std::max(width, width_of(row[c]));
        widths.push_back(width);
    }
    std::string out;
    const auto add = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const std::string padding(widths[c] - width_of(cells[c]), ' ');
            if (c > 0) line += "  ";
            line += !right.empty() && right[c] ? padding + cells[c] : cells[c] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    };
    add(header);
    for (const auto& row : rows) add(row);
    return out;
}

std::string TextTable::markdown() const {
    std::string out;
    const auto add = [&](const std::vector<std::string>& cells) {
        out += '|';
        for (const std::string& cell : cells) {
            out += ' ';
            for (const char c : cell) {
                if (c == '|') out += '\\';
                out += c == '\n' ? ' ' : c;
            }
            out += " |";
        }
        out += '\n';
    };
    add(header);
    out += '|';
    for (std::size_t c = 0; c < header.size(); ++c) out += !right.empty() && right[c] ? "---:|" : "---|";
    out += '\n';
    for (const auto& row : rows) add(row);
    return out;
}

std::string TextTable::csv() const {
    std::string out = joined_csv(header);
    for (const auto& row : rows) out += joined_csv(row);
    return out;
}

}  // namespace decodescope
