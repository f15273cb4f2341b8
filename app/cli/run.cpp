// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/record_output.h"
#include "app/cli/run_options.h"
#include "app/cli/verdict_text.h"
#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/experiment/judge_lane.h"
#include "engine/experiment/lane_engines.h"
#include "engine/experiment/runner.h"
#include "engine/experiment/serve_again.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Why a lane with deliberate faults did not come to its end; empty when it did.
std::string whyItFailed(const LaneRecord& lane) {
    if (lane.spec.faults.empty()) return {};
    for (const RepetitionRecord& repetition : lane.repetitions) {
        if (repetition.finish == FinishReason::failed || repetition.finish == FinishReason::capacity)
            return repetition.reason;
    }
    return {};
}

/// 0 = every lane ran to its end and agrees with the reference. The reasons go to standard error, because the
/// result may be a file for machines.
int judge(const Record& record) {
    switch (record.status) {
        case FinishReason::length:
        case FinishReason::stop_token: break;
        case FinishReason::cancelled: return exit_code(ErrorKind::cancelled);
        case FinishReason::capacity: return reportError({ErrorKind::capacity, record.reason});
        case FinishReason::failed: return reportError({ErrorKind::internal, record.reason});
    }
    int code = 0;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const LaneRecord& lane = record.lanes[i];
        if (const std::string why = whyItFailed(lane); !why.empty()) {
            reportNote(fmt::format("Lane {} failed, as a faulty lane may: {}", quote(lane.spec.name), why));
            code = 1;
            continue;
        }
        if (lane.agrees_with(record.reference())) continue;
        // Not meant to agree: its distance is in the table, and no failure.
        if (!approximation(record, i).empty()) continue;
        code = 1;
        const int step = lane.first_different_token(record.reference());
        reportNote(fmt::format("The output of lane {} differs from that of {}: {}.", quote(lane.spec.name),
                               quote(record.reference().spec.name),
                               step >= 0 ? fmt::format("first other token is number {}", step)
                                         : fmt::format("largest logit error {:.1e} of the standard deviation",
                                                       lane.max_relative_error())));
    }
    return code;
}

/// The verdict on every lane, with the result where its format has room for it, else on standard error.
struct Verdicts {
    std::string appended;
    Json json;
    bool fault = false;
};

Result<Verdicts> judgeLanes(const Record& record, const LoadedModel& model,
                            const std::shared_ptr<MemoryLedger>& ledger, Format format,
                            const std::stop_token& stop) {
    Verdicts verdicts;
    ProgressLine line;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const std::string& name = record.lanes[i].spec.name;
        line.show(fmt::format("Judging lane {} ...", name));
        const auto judgement = judge_lane(record, i, model, ledger, stop);
        line.clear();
        if (!judgement) return judgement.error();
        const Verdict& verdict = judgement->verdict;
        verdicts.fault = verdicts.fault || verdict.word == VerdictWord::fault;
        if (format == Format::json)
            verdicts.json[name] = verdictJson(verdict);
        else if (format == Format::md || format == Format::table)
            verdicts.appended += verdictSection(name, verdict, format);
        else
            reportNote(fmt::format("Verdict on {}: {}. {}", name, to_string(verdict.word), verdict.summary));
    }
    return verdicts;
}

struct Extras {
    bool verdict = false;
    std::string traceEvents;  ///< file; empty = none
};

/// What would only show once the model is loaded and run: devices that are not there, and lanes that cannot
/// be looked into.
Result<void> check(const Experiment& experiment, const Extras& extras) {
    if (extras.verdict || !extras.traceEvents.empty()) {
        for (const LaneSpec& lane : experiment.lanes) DS_TRY(can_serve_again(experiment, lane));
    }
    return check_devices(experiment);
}

int run(const RunOptions& options, const Extras& extras, const Output& output, const std::stop_token& stop) {
    std::vector<std::string> warnings;
    const auto experiment = options.experiment(warnings);
    for (const std::string& warning : warnings) reportNote("Warning: " + warning);
    if (!experiment) return reportError(experiment.error());
    if (const auto possible = check(*experiment, extras); !possible) return reportError(possible.error());

    const auto ledger = std::make_shared<MemoryLedger>();
    const auto model = loadModel(experiment->model, ledger, stop);
    if (!model) return reportError(model.error());

    Result<Record> record = [&] {
        RunProgress progress(*experiment);
        return run_experiment(*experiment, *model, ledger, progress, stop);
    }();
    if (!record) return reportError(record.error());
    std::string text = recordText(*record, output.format());
    bool fault = false;
    if (extras.verdict && record->status != FinishReason::cancelled) {
        const auto verdicts = judgeLanes(*record, *model, ledger, output.format(), stop);
        if (!verdicts) return reportError(verdicts.error());
        fault = verdicts->fault;
        text += verdicts->appended;
        if (output.format() == Format::json) {
            Json json = Json::parse(text);
            json["verdicts"] = verdicts->json;
            text = json.dump(2) + "\n";
        }
    }
    if (const int written = writeResult(output, text); written != 0) return written;
    if (!extras.traceEvents.empty()) {
        const auto trace = traceEventsOf(*record, &*model, ledger, stop);
        const auto written =
            trace ? write_file_atomically(extras.traceEvents, *trace) : Result<void>(trace.error());
        if (!written) return reportError(written.error());
    }
    const int code = judge(*record);
    return code == 0 && fault ? 1 : code;
}

}  // namespace

void addRunCommand(CLI::App& app, Session& session) {
    CLI::App* command =
        app.add_subcommand("run", "Run lanes side by side and print what they cost and whether they agree");
    auto options = std::make_shared<RunOptions>(*command);
    auto output = std::make_shared<Output>();
    auto extras = std::make_shared<Extras>();
    command->add_flag(
        "--verdict", extras->verdict,
        "Serve every lane once more, untimed, and say whether it is right; if not, which fault it "
        "has");
    command
        ->add_option(
            "--trace-events", extras->traceEvents,
            "Also write the run as a Chrome trace, which ui.perfetto.dev opens: steps and memory of "
            "the timed passes, and layers, attention and MLP of another pass with time stamps inside")
        ->option_text("FILE");
    addOutputOptions(*command, *output);
    command->footer(
        "Lanes:\n"
        "  naive, naive-batch               no cache: every step forwards the whole text again\n"
        "  concat                           a cache that is copied on every append\n"
        "  static (also cached), f16, bf16  a cache allocated once, with entries of 32 or 16 bits\n"
        "  paged, window                    blocks of a pool; a sliding window that forgets the rest\n"
        "  int8, kivi4 (also kivi), kivi2   caches of 8, 4 and 2 bits\n"
        "  batch, batch-right, batch-packed all prompts in one batch, padded in front, behind, or not at "
        "all\n"
        "  continuous                       prompts join and leave a batch\n"
        "  speculative, speculative-layers  drafts from n-grams or the model's first layers, verified "
        "together\n"
        "  beam                             beam search (needs --drive free)\n"
        "  LANE+weights-TYPE                the same with its matrices as f32, f16, bf16, int8 or int4\n"
        "  LANE+openblas                    the same with products by OpenBLAS, the reference\n"
        "  LANE+cpu, LANE+cuda:N            the same on this device, whatever --device says\n"
        "  LANE+graph                       on a GPU: decode steps captured once and replayed (static)\n"
        "  LANE+tf32                        on a GPU: products with f32 weights by tensor cores, in TF32\n"
        "  LANE+FAULT                       a lane that makes a mistake on purpose, see decodescope-cli "
        "faults\n\n"
        "Examples:\n"
        "  decodescope-cli run --model demo --prompt \"It is a truth universally acknowledged, that\" \\\n"
        "      --tokens 200 --lanes naive,concat,static --format json\n"
        "  decodescope-cli run --prompt \"She was\" --prompt \"It is a truth\" --lanes "
        "static,batch,continuous\n"
        "  decodescope-cli run --prompt \"She was\" --lanes naive,static+position-restart --verdict\n"
        "  decodescope-cli run --lanes static,static+weights-int8,static+openblas --tokens 50\n"
        "  decodescope-cli run --lanes naive,static --tokens 50 --trace-events trace.json\n"
        "  decodescope-cli run --device cuda:0 --lanes naive+cpu,static,static+graph --tokens 50\n\n"
        "Exit status: 0 every lane agrees with the reference, 1 one does not, 2 bad arguments or input,\n"
        "3 could not run (capacity, memory, device), 130 interrupted (what was measured is kept and "
        "marked).");
    command->callback([options, extras, output, &session] {
        session.exitCode = run(*options, *extras, *output, session.stop);
    });
}

}  // namespace decodescope::cli
