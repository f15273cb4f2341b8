// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/grid_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "engine/formats/model_source.h"
#include "engine/measure/environment.h"
#include "engine/plan/memory_plan.h"

namespace decodescope::cli {

namespace {

constexpr int maxTokens = 1 << 24;
constexpr double gib = 1024.0 * 1024.0 * 1024.0;
constexpr double usableShare = 0.9;  // of the memory there is, so that the system is left something

}  // namespace

GridOptions::GridOptions(CLI::App& command, Defaults defaults)
    : command_(command),
      prompts_(std::move(defaults.prompts)),
      generations_(std::move(defaults.generations)),
      laneOptions_(command, std::move(defaults.lanes)) {
    addModelOption(command, model_);
    command.add_option("-p,--n-prompt", prompts_, "Prompt tokens to prefill; 0 = none")
        ->option_text(fmt::format("N,... [{}]", prompts_));
    command.add_option("-n,--n-gen", generations_, "Decode steps to make; 0 = none")
        ->option_text(fmt::format("N,... [{}]", generations_));
    command
        .add_option("-d,--n-depth", depths_,
                    "Tokens that are there before what is measured begins; their prefill is not in the time")
        ->option_text("N,... [0]");
    command
        .add_option("--n-parallel", parallel_,
                    "Requests; lanes named batch and continuous share steps, others serve one after another")
        ->option_text("N,... [1]");
    command.add_option("-t,--threads", threads_, "Compute threads")
        ->option_text("N,... [all physical cores]");
    command.add_option("-r,--repetitions", repetitions_, "Timed repetitions, at least")
        ->option_text("N [5]")
        ->check(wholeNumber(1, 10'000));
    command
        .add_option(
            "--interval", interval_,
            "Repeat until the 95 % interval of every median is at most +- this many percent; 0 = do not")
        ->option_text("PERCENT [2]")
        ->check(numberFrom(0, 99));
    command
        .add_option("--seconds", seconds_,
                    "No test is repeated for longer than this; 0 = only as often as -r says")
        ->option_text("S [30]")
        ->check(numberFrom(0, 1e6));
    command.add_option("--warmup", warmup_, "Untimed passes of each lane before the timed ones")
        ->option_text("N [1]")
        ->check(wholeNumber(0, 10'000));
    command.add_option("--seed", seed_, "Seed of the random prompts")
        ->option_text("N [1]")
        ->check(seedNumber());
    command
        .add_option("--memory", memory_,
                    "GiB that weights, caches and buffers may take; lanes that need more are refused")
        ->option_text("GIB [what is available]")
        ->check(numberFrom(0, 1e6));
    command.add_flag("--no-drift-check", noDriftCheck_, "Do not repeat the first test at the end");
}

Result<Grid> GridOptions::grid() const {
    Grid grid;
    const std::string threads = threads_.empty() ? std::to_string(physical_core_count()) : threads_;
    struct List {
        const char* option;
        const std::string& text;
        std::vector<int>& into;
        int lowest;
        int highest;
    };
    for (const List& list : {List{"--n-prompt", prompts_, grid.n_prompt, 0, maxTokens},
                             List{"--n-gen", generations_, grid.n_gen, 0, maxTokens},
                             List{"--n-depth", depths_, grid.n_depth, 0, maxTokens},
                             List{"--n-parallel", parallel_, grid.n_parallel, 1, 256},
                             List{"--threads", threads, grid.n_threads, 1, 1024}}) {
        auto numbers = numbersFromText(list.option, list.text, list.lowest, list.highest);
        if (!numbers) return numbers.error();
        list.into = *std::move(numbers);
    }
    DS_TRY(grid.validate());
    return grid;
}

Result<CellSettings> GridOptions::settings() const {
    Experiment experiment;
    DS_TRY(laneOptions_.apply(experiment, true));
    auto model = parse_model_ref(model_);
    if (!model) return model.error();
    CellSettings settings;
    settings.model = *std::move(model);
    settings.lanes = experiment.lanes;
    settings.reference = experiment.reference;
    settings.seed = seed_;
    settings.warmup = warmup_;
    settings.repetitions = repetitions_;
    if (seconds_ > 0) settings.precision = {interval_ / 100, interval_ > 0 ? seconds_ : 0};
    const std::int64_t available = available_memory();
    if (memory_ > 0) {
        settings.memory = static_cast<std::uint64_t>(memory_ * gib);
    } else if (available > 0) {
        settings.memory = static_cast<std::uint64_t>(usableShare * static_cast<double>(available));
    }
    return settings;
}

int exitCodeOf(const std::vector<Cell>& cells, const std::stop_token& stop) {
    if (stop.stop_requested()) return exit_code(ErrorKind::cancelled);
    const auto any = [&](auto&& is) { return std::any_of(cells.begin(), cells.end(), is); };
    if (!any([](const Cell& cell) { return cell.status == CellStatus::ok; })) {
        reportNote("No test ran to its end.");
        return exit_code(ErrorKind::capacity);
    }
    if (any([](const Cell& cell) { return cell.speed_up.why_not == "not shown: output differs"; })) {
        reportNote("The output of a lane differs from that of its reference; its speed-up is not shown.");
        return 1;
    }
    return 0;
}

}  // namespace decodescope::cli
