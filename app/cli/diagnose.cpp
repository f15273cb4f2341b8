// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/diagnose.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "engine/experiment/text_table.h"
#include "engine/formats/model_source.h"
#include "engine/measure/environment.h"
#include "engine/verify/trace_file.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Request {
    std::string trace;
    std::string other;  ///< a second trace to compare with
    std::string model;  ///< empty = the one that the trace names
    int threads = 0;
};

Json orNull(int number) {
    return number < 0 ? Json(nullptr) : Json(number);
}

Json orNull(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json jsonOf(const Request& request, const std::string& model, const Verdict& verdict) {
    const VerdictPlace& first = verdict.first;
    Json json = {{"schema", "decodescope.verdict/1"},
                 {"trace", request.trace},
                 {"model", model},
                 {"verdict", to_string(verdict.word)},
                 {"kind", verdict.kind ? Json(to_string(*verdict.kind)) : Json(nullptr)},
                 {"certainty", to_string(verdict.certainty)},
                 {"summary", verdict.summary}};
    if (!request.other.empty()) json["other"] = request.other;
    json["first"] = {{"call", orNull(first.call)},   {"request", orNull(first.request)},
                     {"row", orNull(first.row)},     {"column", orNull(first.column)},
                     {"layer", orNull(first.layer)}, {"tensor", orNull(first.tensor)}};
    json["expected"] = orNull(verdict.expected);
    json["found"] = orNull(verdict.found);
    json["evidence"] = Json::array();
    for (const VerdictEvidence& item : verdict.evidence)
        json["evidence"].push_back({{"claim", item.claim}, {"text", item.text}, {"held", item.held}});
    json["next"] = orNull(verdict.next);
    return json;
}

std::string placeOf(const VerdictPlace& first) {
    std::string text;
    const auto add = [&](const char* what, int number) {
        if (number >= 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, number);
    };
    add("call", first.call);
    if (!first.request.empty()) text += fmt::format("{}request {}", text.empty() ? "" : ", ", first.request);
    add("row", first.row);
    add("column", first.column);
    add("layer", first.layer);
    if (!first.tensor.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", first.tensor);
    return text;
}

std::vector<std::pair<std::string, std::string>> factsOf(const Verdict& verdict) {
    std::vector<std::pair<std::string, std::string>> facts;
    facts.emplace_back("verdict", verdict.kind && verdict.word == VerdictWord::fault
                                      ? fmt::format("fault: {}", to_string(*verdict.kind))
                                      : to_string(verdict.word));
    facts.emplace_back("certainty", to_string(verdict.certainty));
    for (const auto& [name, value] :
         {std::pair("first", placeOf(verdict.first)), std::pair("expected", verdict.expected),
          std::pair("found", verdict.found), std::pair("next", verdict.next)}) {
        if (!value.empty()) facts.emplace_back(name, value);
    }
    return facts;
}

TextTable evidenceOf(const Verdict& verdict) {
    TextTable table;
    table.header = {"", "claim", "evidence"};
    for (const VerdictEvidence& item : verdict.evidence)
        table.rows.push_back({item.held ? "ok" : "!!", item.claim, item.text});
    return table;
}

TextTable factTable(const Verdict& verdict) {
    TextTable table;
    table.header = {"property", "value"};
    for (const auto& [name, value] : factsOf(verdict)) table.rows.push_back({name, value});
    return table;
}

std::string textOf(const Request& request, const std::string& model, const Verdict& verdict, Format format) {
    switch (format) {
        case Format::json:
            return jsonOf(request, model, verdict).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
        case Format::jsonl:
            return jsonOf(request, model, verdict).dump(-1, ' ', false, Json::error_handler_t::replace) +
                   "\n";
        case Format::csv: return evidenceOf(verdict).csv();
        case Format::md:
            return fmt::format("**{}**\n\n{}\n{}", verdict.summary, factTable(verdict).markdown(),
                               evidenceOf(verdict).markdown());
        case Format::table: break;
    }
    return fmt::format("{}\n\n{}\n{}", verdict.summary, factTable(verdict).plain(),
                       evidenceOf(verdict).plain());
}

Result<ModelRef> modelOf(const Request& request, const Trace& trace) {
    if (!request.model.empty()) return parse_model_ref(request.model);
    if (trace.model) return *trace.model;
    return Error{ErrorKind::bad_input,
                 fmt::format("{}: names no model, expected one in the trace or as --model.", request.trace)};
}

Result<Trace> read(const std::string& path) {
    std::vector<std::string> warnings;
    auto trace = load_trace(path, &warnings);
    for (const std::string& warning : warnings) reportNote(path + ": " + warning);
    return trace;
}

int diagnose(const Request& request, const Output& output, const std::stop_token& stop) {
    const auto trace = read(request.trace);
    if (!trace) return reportError(trace.error());
    const auto other = request.other.empty() ? Result<Trace>(Trace{}) : read(request.other);
    if (!other) return reportError(other.error());
    const auto ref = modelOf(request, *trace);
    if (!ref) return reportError(ref.error());
    const auto ledger = std::make_shared<MemoryLedger>();
    ProgressLine line;
    line.show("Loading the model ...");
    const auto model = load_model(*ref, ledger, {stop, {}});
    if (!model) {
        line.clear();
        return reportError(model.error());
    }
    line.show("Recomputing the run ...");
    const auto backend = make_cpu_backend(request.threads > 0 ? request.threads : physical_core_count());
    const auto verdict = request.other.empty()
                             ? decodescope::diagnose(*trace, model->weights, *backend, ledger, stop)
                             : compare(*trace, *other, model->weights, *backend, ledger, stop);
    line.clear();
    if (!verdict) return reportError(verdict.error());
    const int written =
        writeResult(output, textOf(request, model->weights->source, *verdict, output.format()));
    return written != 0 ? written : verdict->word == VerdictWord::fault ? 1 : 0;
}

}  // namespace

void addDiagnoseCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "diagnose", "Say whether a run of another program is right, and if not which fault it has");
    auto request = std::make_shared<Request>();
    auto output = std::make_shared<Output>();
    command->add_option("trace", request->trace, "The run: a folder with trace.json, or that file")
        ->option_text("TRACE")
        ->required();
    command
        ->add_option("--against", request->other,
                     "A second run of the same requests: says which of the two departs from the truth")
        ->option_text("TRACE");
    command->add_option("-m,--model", request->model, "The model, instead of the one that the trace names")
        ->option_text("MODEL");
    command->add_option("-t,--threads", request->threads, "Compute threads; 0 = all physical cores")
        ->option_text("N [0]")
        ->check(wholeNumber(0, 1024));
    addOutputOptions(*command, *output);
    command->footer(
        "Example:\n"
        "  decodescope-cli diagnose my_run --model my_model --format md\n\n"
        "A trace is recorded with decodescope_trace.py, which is installed with this program:\n"
        "  with record(model, \"my_run\") as trace: model.generate(...)\n\n"
        "Exit status: 0 no fault found (equal, precision, harmless, or cannot tell, which the result says),\n"
        "1 a fault, 2 bad arguments or input, 3 could not run, 130 interrupted.");
    command->callback(
        [request, output, &session] { session.exitCode = diagnose(*request, *output, session.stop); });
}

}  // namespace decodescope::cli
