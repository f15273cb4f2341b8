// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <span>

#include "app/cli/cells_text.h"
#include "app/cli/commands.h"
#include "app/cli/document_text.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/record_output.h"
#include "app/cli/verdict_text.h"
#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/experiment/json_fields.h"
#include "engine/sweep/cell_json.h"

namespace decodescope::cli {

namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::uint64_t maxShownBytes = std::uint64_t{4} << 30;

/// What is shown of a file.
struct File {
    std::string path;
    std::string text;
    Ordered document;            ///< of a file of one document
    std::vector<Ordered> lines;  ///< of a file of one document per line
};

Result<std::string> traceEvents(const Record& record, bool instrument, const std::stop_token& stop) {
    const auto ledger = std::make_shared<MemoryLedger>();
    if (!instrument) return traceEventsOf(record, nullptr, ledger, stop);
    const auto model = loadModel(record.experiment.model, ledger, stop);
    if (!model) return model.error();
    return traceEventsOf(record, &*model, ledger, stop);
}

Result<std::string> showExperiment(const File& file, Format format) {
    std::vector<std::string> warnings;
    const auto experiment = parse_experiment(file.text, &warnings);
    for (const std::string& warning : warnings) reportNote("Warning: " + warning);
    if (!experiment) return experiment.error();
    return documentText(Ordered::parse(to_json(*experiment)), format);
}

Result<std::string> showRecord(const File& file, Format format) {
    if (format == Format::json) return documentText(file.document, format);
    std::vector<std::string> warnings;
    const auto record = parse_record(file.text, &warnings);
    for (const std::string& warning : warnings) reportNote("Warning: " + warning);
    if (!record) return record.error();
    std::string text = recordText(*record, format);
    const auto verdicts = file.document.find("verdicts");
    if (verdicts == file.document.end() || (format != Format::table && format != Format::md)) return text;
    for (const auto& [lane, json] : verdicts->items()) {
        const auto verdict = verdictFromJson(json, "verdicts." + lane);
        if (!verdict) return verdict.error();
        text += verdictSection(lane, *verdict, format);
    }
    return text;
}

Result<std::string> showVerdict(const File& file, Format format) {
    if (format == Format::json || format == Format::jsonl) return documentText(file.document, format);
    const auto verdict = verdictFromJson(file.document, "");
    if (!verdict) return verdict.error();
    return verdictText(*verdict, format);
}

Result<std::string> showDocument(const File& file, Format format) {
    return documentText(file.document, format);
}

Result<std::string> showLanes(const File& file, Format format) {
    static const std::vector<std::string> columns = {
        "lane",      "mode",           "cache",          "model",        "n_prompt", "n_gen", "n_batch",
        "n_threads", "ttft_ns.median", "tpot_ns.median", "decode_tok_s", "speed_up", "status"};
    return rowsText(file.lines, columns, format);
}

/// One row per lane and number.
Result<std::string> showComparison(const File& file, Format format) {
    if (format == Format::json)
        return documentText(file.lines.size() == 1 ? file.document : Ordered(file.lines), format);
    if (format == Format::jsonl) return rowsText(file.lines, {}, format);
    std::vector<Ordered> rows;
    std::string notes;
    const auto addLane = [&](const Ordered& lane) {
        for (const Ordered& metric : lane.value("metrics", Ordered::array())) {
            Ordered row = {{"lane_a", lane.value("lane_a", "")}, {"lane_b", lane.value("lane_b", "")}};
            row.update(metric);
            rows.push_back(std::move(row));
        }
        if (lane.contains("why_not") && lane["why_not"].is_string())
            notes += fmt::format("\n{}: not held against each other: {}.\n", lane.value("lane_a", ""),
                                 lane.value("why_not", ""));
    };
    for (const Ordered& document : file.lines) {
        addLane(document);
        for (const Ordered& lane : document.value("lanes", Ordered::array())) addLane(lane);
        for (const Ordered& note : document.value("notes", Ordered::array()))
            notes += fmt::format("\n{}\n", note.get<std::string>());
    }
    static const std::vector<std::string> columns = {"lane_a",   "lane_b", "metric",   "unit",  "a.median",
                                                     "b.median", "ratio",  "interval", "result"};
    return rowsText(rows, columns, format) + (format == Format::csv ? "" : notes);
}

/// Cells of a bench or a sweep, one per line or in one document.
Result<std::string> showCells(const File& file, Format format) {
    std::vector<Cell> cells;
    const bool together = file.lines.size() == 1 && file.document.contains("cells");
    const Ordered list = together ? file.document["cells"] : Ordered(file.lines);
    for (const Ordered& json : list) {
        auto cell = parse_cell(json.dump(-1, ' ', false, Ordered::error_handler_t::replace));
        if (!cell) return cell.error();
        cells.push_back(*std::move(cell));
    }
    if (format == Format::json && together) return documentText(file.document, format);
    return sweepText(cells, format);
}

/// One kind of file. A kind of which this command knows no better is shown member by member.
struct Kind {
    const char* schema;
    bool lines;  ///< one document per line
    Result<std::string> (*show)(const File&, Format);
};
constexpr Kind kinds[] = {
    {"decodescope.experiment/1", false, showExperiment},
    {"decodescope.record/1", false, showRecord},
    {"decodescope.verdict/1", false, showVerdict},
    {"decodescope.trace/1", false, showDocument},
    {"decodescope.plan/1", false, showDocument},
    {"decodescope.plan-models/1", false, showDocument},
    {"decodescope.account/1", false, showDocument},
    {"decodescope.model/1", false, showDocument},
    {"decodescope.verify/1", false, showDocument},
    {"decodescope.comparison/1", false, showComparison},
    {"decodescope.compared_lane/1", true, showComparison},
    {"decodescope.inside/1", false, showDocument},
    {"decodescope.lane/1", true, showLanes},
    {"decodescope.cell/1", true, showCells},
    {"decodescope.bench/1", false, showCells},
    {"decodescope.sweep/1", false, showCells},
    {"decodescope.sweep_estimate/1", false, showDocument},
    {"decodescope.self_test/1", false, showDocument},
};

Error notOurs(const std::string& path, std::string_view what) {
    return {ErrorKind::bad_input, fmt::format("{}: {}.", path, what)};
}

/// Reads the document, or the documents line by line, and says which kind it is.
Result<const Kind*> readKind(File& file) {
    auto checked = parse_json(file.text);  // says where it is broken, and refuses repeated names
    const std::size_t end = file.text.find('\n');
    const bool lines = !checked && parse_json(std::string_view(file.text).substr(0, end)).ok();
    if (!checked && !lines) return Error{checked.error().kind, file.path + ": " + checked.error().message};
    if (!lines) {
        file.document = Ordered::parse(file.text);
        file.lines = {file.document};
    } else {
        std::string_view rest = file.text;
        for (int number = 1; !rest.empty(); ++number) {
            const std::size_t length = std::min(rest.find('\n'), rest.size());
            const std::string_view line = rest.substr(0, length);
            rest.remove_prefix(std::min(length + 1, rest.size()));
            if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
            if (!parse_json(line))
                return notOurs(file.path, fmt::format("line {} is not a JSON document", number));
            file.lines.push_back(Ordered::parse(line));
        }
    }
    std::string schema;
    for (const Ordered& document : file.lines) {
        const bool named =
            document.is_object() && document.contains("schema") && document["schema"].is_string();
        const std::string found = named ? document["schema"].get<std::string>() : std::string();
        if (document.is_object() && document.contains("traceEvents"))
            return notOurs(file.path, "is a Chrome trace, which ui.perfetto.dev opens");
        if (found.empty()) return notOurs(file.path, "has no schema, so it is no file of DecodeScope's");
        if (!schema.empty() && found != schema)
            return notOurs(file.path, fmt::format("holds both {} and {}", quote(schema), quote(found)));
        schema = found;
    }
    std::string expected;
    for (const Kind& kind : kinds) {
        if (schema == kind.schema && (kind.lines || !lines)) return &kind;
        expected += fmt::format("{}{}", expected.empty() ? "" : ", ", kind.schema);
    }
    return notOurs(file.path, fmt::format("schema is {}, which this version cannot show, expected one of {}",
                                          quote(schema), expected));
}

struct ShowRequest {
    std::string path;
    bool instrument = false;
};

Result<std::string> show(const ShowRequest& request, const Output& output, const std::stop_token& stop) {
    File file;
    file.path = request.path;
    std::error_code code;
    if (std::filesystem::is_directory(file.path, code)) file.path += "/trace.json";
    auto text = read_text_file(file.path, maxShownBytes);
    if (!text) return text.error();
    file.text = *std::move(text);
    const auto kind = readKind(file);
    if (!kind) return kind.error();
    const auto named = [&](const Error& error) {
        return Error{error.kind, file.path + ": " + error.message};
    };
    if (output.formatName != "trace") {
        if (request.instrument) return Error{ErrorKind::bad_input, "--instrument: needs --format trace."};
        try {
            auto shown = (*kind)->show(file, output.format());
            if (!shown) return named(shown.error());
            return shown;
        } catch (const Ordered::exception&) {
            return notOurs(file.path, "holds a value of another type than this program writes");
        }
    }
    if ((*kind)->show != showRecord)
        return notOurs(file.path, fmt::format("is a {}, expected a decodescope.record/1 to make a trace of",
                                              (*kind)->schema));
    const auto record = parse_record(file.text);
    if (!record) return named(record.error());
    file = {};
    return traceEvents(*record, request.instrument, stop);
}

}  // namespace

void addShowCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "show", "Print a saved file: a record, an experiment, a verdict, or what another command wrote");
    auto request = std::make_shared<ShowRequest>();
    auto output = std::make_shared<Output>();
    command->add_option("FILE", request->path, "The file, or the folder of a trace")
        ->option_text(" ")
        ->required();
    command->add_flag("--instrument", request->instrument,
                      "With --format trace: load the record's model and serve every lane once more, to show "
                      "layers, attention and MLP too");
    addOutputOptions(*command, *output, {"trace"});
    command->footer(
        "The format trace makes a Chrome trace of a record, which ui.perfetto.dev opens.\n\n"
        "Examples:\n"
        "  decodescope-cli show record.json --format md\n"
        "  decodescope-cli show record.json --format trace --output trace.json\n\n"
        "Exit status: 0 done, 2 bad arguments or a file that is none of DecodeScope's, 130 interrupted.");
    command->callback([request, output, &session] {
        const auto text = show(*request, *output, session.stop);
        session.exitCode = text ? writeResult(*output, *text) : reportError(text.error());
    });
}

}  // namespace decodescope::cli
