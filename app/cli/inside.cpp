// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "app/cli/commands.h"
#include "app/cli/inside_text.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "engine/core/quote.h"
#include "engine/experiment/inspect_step.h"

namespace decodescope::cli {

namespace {

struct InsideRequest {
    std::string record;
    std::string lane;
    StepQuery query;
    bool times = false;
};

/// The lane of that name; without one the first that is not the reference.
Result<std::size_t> laneOf(const Record& record, const std::string& name) {
    std::string known;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const std::string& own = record.lanes[i].spec.name;
        if (own == name || (name.empty() && (i != record.reference_index() || record.lanes.size() == 1)))
            return i;
        known += (known.empty() ? "" : ", ") + own;
    }
    return Error{ErrorKind::bad_input,
                 fmt::format("--lane: the record has no lane {}, expected one of {}.", quote(name), known)};
}

Result<std::string> textOf(const InsideRequest& request, Format format, const std::stop_token& stop) {
    std::vector<std::string> warnings;
    auto loaded = load_record(request.record, &warnings);
    for (const std::string& warning : warnings) reportNote(request.record + ": " + warning);
    if (!loaded) return loaded.error();
    const auto record = std::make_shared<const Record>(*std::move(loaded));
    const auto lane = laneOf(*record, request.lane);
    if (!lane) return lane.error();
    const auto ledger = std::make_shared<MemoryLedger>();
    auto model = loadModel(record->experiment.model, ledger, stop);
    if (!model) return model.error();
    ProgressLine line;
    const auto shared = std::make_shared<const LoadedModel>(*std::move(model));
    line.show("Serving the lane once more ...");
    const auto inspector = StepInspector::make(record, *lane, shared, ledger, stop);
    if (!inspector) return inspector.error();
    StepQuery query = request.query;
    query.all_heads = query.all_heads && (format == Format::json || format == Format::jsonl);
    const auto view = (*inspector)->look(query, stop);
    if (!view) return view.error();
    std::optional<TimeSplit> times;
    if (request.times) {
        const ProfileOptions options{.first_step = query.step, .last_step = query.step, .plain_pass = false};
        const auto profile = profile_lane(*record, *lane, *shared, ledger, options, stop);
        if (!profile) return profile.error();
        if (!profile->steps.empty() && profile->steps.back().step == query.step)
            times = time_split(profile->steps.back(), record->model.n_layer);
    }
    line.clear();
    return insideText(*record, *view, times ? &*times : nullptr, format);
}

}  // namespace

void addInsideCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "inside", "Look at one step of a lane again: who sees whom and how much, positions, cache cells");
    auto request = std::make_shared<InsideRequest>();
    auto output = std::make_shared<Output>();
    command->add_option("RECORD", request->record, "What \"run --format json\" wrote, or the window saved")
        ->option_text(" ")
        ->required();
    command->add_option("--lane", request->lane, "The lane; without it, the first that is not the reference")
        ->option_text("NAME");
    command->add_option("--step", request->query.step, "The step, counted from 0 (the prefill)")
        ->option_text("N [0]")
        ->check(wholeNumber(0, 1'000'000'000));
    command->add_option("--call", request->query.call, "Of the step's forward calls; without it, the last")
        ->option_text("N")
        ->check(wholeNumber(0, 1'000'000'000));
    command->add_option("--layer", request->query.layer, "The layer whose attention weights are shown")
        ->option_text("N [0]")
        ->check(wholeNumber(0, 1'000'000));
    command->add_option("--head", request->query.head, "The head whose attention weights are shown")
        ->option_text("N [0]")
        ->check(wholeNumber(0, 1'000'000));
    command->add_flag(
        "--all-heads", request->query.all_heads,
        "With --format json: the weights of every head of the layer too, reduced to 64 cells a side");
    command->add_flag("--times", request->times,
                      "Where the time went, by layer: from one more pass, with time stamps inside");
    addOutputOptions(*command, *output);
    command->footer(
        "The lane serves its requests once more, fed the recorded tokens, with the same faults; nothing else "
        "of the\n"
        "record is used. json has everything, csv one line per query and key.\n\n"
        "Example:\n"
        "  decodescope-cli run --lanes naive,static --format json --output record.json\n"
        "  decodescope-cli inside record.json --lane static --step 9 --layer 3 --head 5\n\n"
        "Exit status: 0 done, 2 bad arguments or input, 3 could not run, 130 interrupted.");
    command->callback([request, output, &session] {
        const auto text = textOf(*request, output->format(), session.stop);
        session.exitCode = text ? writeResult(*output, *text) : reportError(text.error());
    });
}

}  // namespace decodescope::cli
