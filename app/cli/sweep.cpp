// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/cli/cells_text.h"
#include "app/cli/commands.h"
#include "app/cli/grid_options.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "engine/core/quote.h"
#include "engine/experiment/json_fields.h"
#include "engine/experiment/text_table.h"
#include "engine/sweep/estimate.h"
#include "engine/sweep/grid_choices.h"

namespace decodescope::cli {

namespace {

struct SweepOptions {
    explicit SweepOptions(CLI::App& command) : grid(command, {"naive,static", "16,64", "16,32,64"}) {}
    GridOptions grid;
    std::string file;
    std::string formatName = "table";
    std::string shard = "1/1";
    bool resume = false;
    bool dryRun = false;
};

struct MergeOptions {
    std::vector<std::string> files;
    Output output;
    bool allowMixed = false;
};

Result<std::pair<int, int>> shardFromText(const std::string& text) {
    const std::size_t slash = text.find('/');
    constexpr int most = 100'000;
    const auto first = numbers_from_text("--shard", text.substr(0, slash), 1, most);
    const auto second =
        numbers_from_text("--shard", slash == std::string::npos ? "" : text.substr(slash + 1), 1, most);
    if (!first || !second || first->size() != 1 || second->size() != 1 || first->front() > second->front()) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("--shard: {} is not PART/PARTS, such as 2/4 with 1 <= PART <= PARTS.", quote(text))};
    }
    return std::pair(first->front(), second->front());
}

std::string textOf(const SweepEstimate& estimate, Format format) {
    TextTable table;
    table.header = {"point", "test", "threads", "lanes", "time", "will not run"};
    table.right = {true, false, true, true, true, false};
    OrderedJson points = OrderedJson::array();
    for (const auto& point : estimate.points) {
        std::string refused;
        OrderedJson refusedJson = OrderedJson::array();
        for (const Cell& cell : point.refused) {
            refused += fmt::format("{}{}: {}", refused.empty() ? "" : " ", cell.lane.name, cell.reason);
            refusedJson.push_back(
                {{"lane", cell.lane.name}, {"status", to_string(cell.status)}, {"reason", cell.reason}});
        }
        table.rows.push_back(
            {std::to_string(point.number), point.shape.label(), std::to_string(point.shape.n_threads),
             std::to_string(point.n_lane),
             fmt::format("{} to {}", duration_text(point.least_s), duration_text(point.most_s)), refused});
        points.push_back({{"point", point.number},
                          {"label", point.shape.label()},
                          {"n_threads", point.shape.n_threads},
                          {"lanes", point.n_lane},
                          {"least_s", point.least_s},
                          {"most_s", point.most_s},
                          {"refused", refusedJson}});
    }
    const std::string total = fmt::format("In all about {} to {}.", duration_text(estimate.least_s()),
                                          duration_text(estimate.most_s()));
    switch (format) {
        case Format::json:
            return dump_json({{"schema", "decodescope.sweep_estimate/1"},
                              {"least_s", estimate.least_s()},
                              {"most_s", estimate.most_s()},
                              {"points", points}});
        case Format::jsonl: {
            std::string lines;
            for (const auto& point : points) lines += dump_json_line(point) + "\n";
            return lines;
        }
        case Format::csv: return table.csv();
        case Format::md: return table.markdown() + "\n" + total + "\n";
        case Format::table: break;
    }
    return table.plain() + "\n" + total + "\n";
}

int sweepCommand(const SweepOptions& options, const std::stop_token& stop) {
    auto grid = options.grid.grid();
    if (!grid) return reportError(grid.error());
    auto settings = options.grid.settings();
    if (!settings) return reportError(settings.error());
    const auto shard = shardFromText(options.shard);
    if (!shard) return reportError(shard.error());
    if (options.file.empty() && !options.dryRun) {
        return reportError(
            {ErrorKind::bad_input,
             "--output is missing: a sweep is written to a file (JSONL) as it goes, or use --dry-run."});
    }
    Sweep sweep{*std::move(settings), grid->product(), shard->first, shard->second,
                options.grid.repeatsFirst()};
    if (sweep.points.empty())
        return reportError(
            {ErrorKind::bad_input, "There is nothing to measure: every --n-prompt and --n-gen is 0."});

    const auto ledger = std::make_shared<MemoryLedger>();
    const auto model = loadModel(sweep.settings.model, ledger, stop);
    if (!model) return reportError(model.error());
    ProgressLine line;

    const Output output{options.formatName, ""};
    if (options.dryRun) {
        line.show("Looking how fast the model runs ...");
        const SweepEstimate estimate = estimate_sweep(sweep, *model, ledger, stop);
        line.clear();
        if (stop.stop_requested()) return reportError({ErrorKind::cancelled, "Stopped."});
        return writeResult(output, textOf(estimate, output.format()));
    }
    auto file = SweepFile::open(options.file, sweep.id(weights_hash(*model->weights)), sweep.points.size(),
                                options.resume ? SweepFile::Mode::resume : SweepFile::Mode::create);
    if (!file) return reportError(file.error());
    GridProgress progress(sweep.settings);
    const auto done = run_sweep(sweep, *model, ledger, *file, progress, stop);
    if (!done) return reportError(done.error());
    const auto own = sweep.own_points();
    const auto n_done =
        std::count_if(own.begin(), own.end(), [&](std::size_t point) { return file->has(point); });
    if (!file->cells().empty()) {
        if (const int written = writeResult(output, sweepText(file->cells(), output.format())); written != 0)
            return written;
    }
    if (n_done < static_cast<std::ptrdiff_t>(own.size())) {
        return reportError(
            {ErrorKind::cancelled,
             fmt::format("Stopped: {} of {} points are in {}; the same command with --resume goes on.",
                         n_done, own.size(), options.file)});
    }
    return exitCodeOf(file->cells(), stop);
}

int merge(const MergeOptions& options) {
    const std::vector<std::filesystem::path> files(options.files.begin(), options.files.end());
    auto merged = merge_sweeps(files);
    if (!merged) return reportError(merged.error());
    for (const std::string& remark : merged->remarks) reportNote(remark);
    for (const std::string& mixed : merged->mixed) reportNote("Not the same on all machines: " + mixed + ".");
    std::vector<Cell> cells;
    for (const SweepRow& row : merged->rows) cells.push_back(row.cell);
    const bool rows = options.output.format() == Format::jsonl;
    if (const int written = writeResult(
            options.output, rows ? sweep_jsonl(merged->rows) : sweepText(cells, options.output.format()));
        written != 0)
        return written;
    const bool complete = merged->remarks.empty() && (merged->mixed.empty() || options.allowMixed);
    return complete ? 0 : 1;
}

}  // namespace

void addSweepCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "sweep", "Measure lanes over a grid of prompts, steps, depths, requests and threads");
    command->require_subcommand(0, 1);
    auto options = std::make_shared<SweepOptions>(*command);
    command
        ->add_option("-o,--output", options->file,
                     "File that every point is added to when it is done (JSONL)")
        ->option_text("FILE");
    command->add_option("-f,--format", options->formatName, "Format of what is printed in the end")
        ->option_text("FORMAT [table]")
        ->check(oneOf({"table", "json", "jsonl", "csv", "md"}));
    command->add_flag("--resume", options->resume,
                      "Go on with the file: points that it holds are not run again");
    command->add_flag("--dry-run", options->dryRun,
                      "Only say what would run, how long it takes, and what will not fit");
    command
        ->add_option("--shard", options->shard,
                     "Run one part of so many, for several machines: every n-th point")
        ->option_text("PART/PARTS [1/1]");

    CLI::App* mergeCommand =
        command->add_subcommand("merge", "Put the parts of one sweep together and check them");
    auto mergeOptions = std::make_shared<MergeOptions>();
    mergeCommand->add_option("FILES", mergeOptions->files, "Files of the parts")->required();
    mergeCommand->add_flag("--allow-mixed", mergeOptions->allowMixed,
                           "Parts from different machines or builds are meant to be together");
    addOutputOptions(*mergeCommand, mergeOptions->output);
    mergeCommand->footer(
        "Exit status: 0 all points are there and from one kind of machine, 1 merged, but something is "
        "missing, twice\n"
        "or mixed, 2 not parts of one sweep.\n\n"
        "Example:\n  decodescope-cli sweep merge part1.jsonl part2.jsonl --format jsonl --output all.jsonl");
    mergeCommand->callback([mergeOptions, &session] { session.exitCode = merge(*mergeOptions); });

    command->footer(
        "A point is one combination; its lanes take turns. It is written when it is done, one line per lane, "
        "and on\n"
        "disk before the next begins: an interrupted sweep loses the point it was in. What could not run "
        "keeps its\n"
        "line, with status and reason. Ranges: 16..1024*2 doubles, 100..500+100 adds.\n\n"
        "Printed in the end: the cells; how the time of a lane grows with the decode steps (log-log slope, "
        "the\n"
        "prompt's own time taken off); what a token of context costs per step, as passes over the cache; and "
        "from\n"
        "which new token on a cache pays.\n\n"
        "Examples:\n"
        "  decodescope-cli sweep --dry-run -n 16..256*2 --lanes naive,concat,static\n"
        "  decodescope-cli sweep -p 16 -n 16..128*2 --lanes naive,static -o sweep.jsonl\n"
        "  decodescope-cli sweep -n 16..128*2 --shard 2/4 -o part2.jsonl     (e.g. as SLURM_ARRAY_TASK_ID)\n"
        "  decodescope-cli sweep merge part*.jsonl --format jsonl -o all.jsonl\n\n"
        "Exit status: 0 done, 1 the output of a lane differs from the reference's, 2 bad arguments or "
        "input,\n"
        "3 nothing could be run, 130 interrupted (what was done is in the file).");
    command->callback([command, options, &session] {
        if (command->get_subcommands().empty()) session.exitCode = sweepCommand(*options, session.stop);
    });
}

}  // namespace decodescope::cli
