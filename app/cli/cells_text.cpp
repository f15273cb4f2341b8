// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cells_text.h"

#include <fmt/format.h>

#include "engine/sweep/cell_json.h"
#include "engine/sweep/cell_text.h"
#include "engine/sweep/fits.h"

namespace decodescope::cli {

namespace {

void addTable(std::string& text, const char* title, const TextTable& table, bool markdown) {
    if (table.rows.empty()) return;
    text += markdown ? fmt::format("\n### {}\n\n", title) : fmt::format("\n{}\n", title);
    text += markdown ? table.markdown() : table.plain();
}

}  // namespace

std::string sweepText(const std::vector<Cell>& cells, Format format) {
    switch (format) {
        case Format::jsonl: return cells_jsonl(cells);
        case Format::csv: return cells_csv(cells);
        case Format::json: {
            OrderedJson json = {{"schema", "decodescope.sweep/1"}};
            json["remarks"] = doubts_of(cells);
            json["fits"] = fits_json(cells);
            json["cells"] = OrderedJson::array();
            for (const Cell& cell : cells) json["cells"].push_back(cell_json(cell));
            return dump_json(json);
        }
        case Format::table:
        case Format::md: break;
    }
    const bool markdown = format == Format::md;
    const TextTable table = cell_table(cells);
    std::string text = markdown ? table.markdown() : table.plain();
    addTable(text, "Growth of the time with the decode steps n (prompt taken off)",
             growth_table(fit_growth(cells)), markdown);
    addTable(text, "Cost of the context", depth_table(fit_depth(cells)), markdown);
    addTable(text, "When caching pays", break_even_table(find_break_even(cells)), markdown);
    const auto doubts = doubts_of(cells);
    if (!doubts.empty()) text += "\n";
    for (const std::string& doubt : doubts) text += fmt::format("{}{}\n", markdown ? "- " : "", doubt);
    return text;
}

}  // namespace decodescope::cli
