// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/diagnose.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/verdict_text.h"
#include "engine/formats/model_source.h"
#include "engine/measure/environment.h"
#include "engine/verify/trace_file.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

struct DiagnoseRequest {
    std::string trace;
    std::string other;  ///< a second trace to compare with
    std::string model;  ///< empty = the one that the trace names
    int threads = 0;
};

Json jsonOf(const DiagnoseRequest& request, const std::string& model, const Verdict& verdict) {
    Json json = {{"schema", "decodescope.verdict/1"}, {"trace", request.trace}, {"model", model}};
    json.update(verdictJson(verdict));
    if (!request.other.empty()) json["other"] = request.other;
    return json;
}

std::string textOf(const DiagnoseRequest& request, const std::string& model, const Verdict& verdict,
                   Format format) {
    if (format != Format::json && format != Format::jsonl) return verdictText(verdict, format);
    const Json json = jsonOf(request, model, verdict);
    return json.dump(format == Format::json ? 2 : -1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ModelRef> modelOf(const DiagnoseRequest& request, const Trace& trace) {
    if (!request.model.empty()) return parse_model_ref(request.model);
    if (trace.model) return *trace.model;
    return Error{ErrorKind::bad_input,
                 fmt::format("{}: names no model, expected one in the trace or as --model.", request.trace)};
}

Result<Trace> readTrace(const std::string& path) {
    std::vector<std::string> warnings;
    auto trace = load_trace(path, &warnings);
    for (const std::string& warning : warnings) reportNote(path + ": " + warning);
    return trace;
}

int diagnose(const DiagnoseRequest& request, const Output& output, const std::stop_token& stop) {
    const auto trace = readTrace(request.trace);
    if (!trace) return reportError(trace.error());
    const auto other = request.other.empty() ? Result<Trace>(Trace{}) : readTrace(request.other);
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
    const auto weights = backend->prepare(model->weights, WeightType::f32, ledger, stop);
    if (!weights) {
        line.clear();
        return reportError(weights.error());
    }
    const auto verdict = request.other.empty()
                             ? decodescope::diagnose(*trace, *weights, *backend, ledger, stop)
                             : compare(*trace, *other, *weights, *backend, ledger, stop);
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
    auto request = std::make_shared<DiagnoseRequest>();
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
