// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "engine/core/text_file.h"
#include "engine/experiment/json_fields.h"
#include "engine/experiment/text_table.h"
#include "engine/formats/model_source.h"

namespace decodescope::cli {

namespace {

struct Mistake {
    std::string id;
    std::string mistake;
    std::string prevented;
    std::string test;
};

Result<std::vector<Mistake>> loadMistakes() {
    constexpr std::uint64_t maxBytes = 1 << 20;
    const auto path = bundled_file("help/mistakes.json");
    if (!path) return path.error();
    const auto text = read_text_file(*path, maxBytes);
    if (!text) return text.error();
    const auto document = parse_json(*text);
    if (!document) return Error{document.error().kind, path->string() + ": " + document.error().message};
    JsonReport report;
    JsonFields fields(*document, "", report);
    std::vector<Mistake> mistakes;
    fields.objects("mistakes", [&](JsonFields& one) {
        Mistake& mistake = mistakes.emplace_back();
        one.text("id", mistake.id);
        one.text("mistake", mistake.mistake);
        one.text("prevented", mistake.prevented);
        one.text("test", mistake.test);
    });
    if (report.error) return Error{report.error->kind, path->string() + ": " + report.error->message};
    return mistakes;
}

std::string textOf(const std::vector<Mistake>& mistakes, Format format) {
    if (format == Format::json || format == Format::jsonl) {
        OrderedJson list = OrderedJson::array();
        std::string lines;
        for (const Mistake& m : mistakes) {
            const OrderedJson json = {
                {"id", m.id}, {"mistake", m.mistake}, {"prevented", m.prevented}, {"test", m.test}};
            lines += dump_json_line(json) + "\n";
            list.push_back(json);
        }
        if (format == Format::jsonl) return lines;
        return dump_json({{"schema", "decodescope.mistakes/1"}, {"mistakes", list}});
    }
    TextTable table;
    table.header = {"id", "mistake", "how it is prevented here", "test"};
    std::string text;
    for (const Mistake& m : mistakes) {
        table.rows.push_back({m.id, m.mistake, m.prevented, m.test});
        text += fmt::format("{}{}  {}\n    {}\n", text.empty() ? "" : "\n", m.id, m.mistake, m.prevented);
    }
    if (format == Format::csv) return table.csv();
    return format == Format::md ? table.markdown() : text;
}

}  // namespace

void addMistakesCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "mistakes",
        "List mistakes that measurements of decoders are known for, and how each is prevented here");
    auto output = std::make_shared<Output>();
    addOutputOptions(*command, *output);
    command->footer("Example:\n  decodescope-cli mistakes --format md");
    command->callback([output, &session] {
        const auto mistakes = loadMistakes();
        session.exitCode = mistakes ? writeResult(*output, textOf(*mistakes, output->format()))
                                    : reportError(mistakes.error());
    });
}

}  // namespace decodescope::cli
