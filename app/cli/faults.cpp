// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "engine/experiment/text_table.h"
#include "engine/fault/fault_catalogue.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

/// What is said of a fault, under the names that JSON has for it.
std::vector<std::pair<std::string, std::string>> fieldsOf(const FaultInfo& info) {
    return {{"id", info.id},
            {"title", info.title},
            {"kind", to_string(info.kind)},
            {"description", info.description},
            {"applies", info.applies},
            {"place", info.place},
            {"fingerprint", info.fingerprint},
            {"fix", info.fix},
            {"examples", info.examples}};
}

Json jsonOf(const FaultInfo& info) {
    Json json;
    for (const auto& [name, text] : fieldsOf(info)) json[name] = text;
    json["shows_in_logits"] = info.shows;
    return json;
}

TextTable listOf(std::span<const FaultInfo> faults) {
    TextTable table;
    table.header = {"id", "kind", "what"};
    for (const FaultInfo& info : faults) table.rows.push_back({info.id, to_string(info.kind), info.title});
    return table;
}

/// One fault, from beginning to end.
std::string describe(const FaultInfo& info, bool markdown) {
    const std::pair<const char*, const char*> parts[] = {{"What is wrong", info.description},
                                                         {"Applies to", info.applies},
                                                         {"Where it bites", info.place},
                                                         {"What you should see", info.fingerprint},
                                                         {"Fix", info.fix},
                                                         {"Public reports", info.examples}};
    std::string text = fmt::format("{}{} ({})\n\nKind: {}\n", markdown ? "## " : "", info.title, info.id,
                                   to_string(info.kind));
    for (const auto& [name, part] : parts) {
        if (*part == '\0') continue;
        text +=
            markdown ? fmt::format("\n**{}**: {}\n", name, part) : fmt::format("\n{}:\n  {}\n", name, part);
    }
    return text;
}

std::string textOf(std::span<const FaultInfo> faults, bool one, Format format) {
    switch (format) {
        case Format::json: {
            if (one) return jsonOf(faults.front()).dump(2) + "\n";
            Json json = Json::array();
            for (const FaultInfo& info : faults) json.push_back(jsonOf(info));
            return json.dump(2) + "\n";
        }
        case Format::jsonl: {
            std::string lines;
            for (const FaultInfo& info : faults) lines += jsonOf(info).dump() + "\n";
            return lines;
        }
        case Format::csv: {
            TextTable table;
            for (const auto& [name, text] : fieldsOf(faults.front())) table.header.push_back(name);
            for (const FaultInfo& info : faults) {
                auto& row = table.rows.emplace_back();
                for (auto& [name, text] : fieldsOf(info)) row.push_back(std::move(text));
            }
            return table.csv();
        }
        case Format::md: {
            if (one) return describe(faults.front(), true);
            std::string text = listOf(faults).markdown();
            for (const FaultInfo& info : faults) text += "\n" + describe(info, true);
            return text;
        }
        case Format::table: break;
    }
    return one ? describe(faults.front(), false) : listOf(faults).plain();
}

int faults(const std::string& id, const Output& output) {
    if (id.empty()) return writeResult(output, textOf(fault_catalogue(), false, output.format()));
    const auto fault = fault_from_id(id);
    if (!fault) return reportError({fault.error().kind, "ID " + fault.error().message + "."});
    return writeResult(output, textOf(std::span(&fault_info(*fault), 1), true, output.format()));
}

}  // namespace

void addFaultsCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand("faults", "List the mistakes that a lane can make on purpose");
    auto id = std::make_shared<std::string>();
    auto output = std::make_shared<Output>();
    command->add_option("ID", *id, "One of them: what it does, what to see, how to mend it")
        ->option_text("[the list of all]");
    addOutputOptions(*command, *output);
    command->footer(
        "Examples:\n"
        "  decodescope-cli faults position-restart\n"
        "  decodescope-cli run --prompt \"She was\" --lanes naive,static+position-restart\n\n"
        "Exit status: 0 done, 2 bad arguments.");
    command->callback([id, output, &session] { session.exitCode = faults(*id, *output); });
}

}  // namespace decodescope::cli
