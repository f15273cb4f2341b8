// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/grid_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "engine/experiment/lane_engines.h"
#include "engine/formats/model_source.h"
#include "engine/measure/environment.h"
#include "engine/plan/memory_plan.h"

namespace decodescope::cli {

GridOptions::GridOptions(CLI::App& command, Defaults defaults)
    : command_(command), laneOptions_(command, std::move(defaults.lanes)) {
    choices_.prompts = std::move(defaults.prompts);
    choices_.generations = std::move(defaults.generations);
    choices_.prefix = "--";
    addModelOption(command, model_);
    command.add_option("-p,--n-prompt", choices_.prompts, "Prompt tokens to prefill; 0 = none")
        ->option_text(fmt::format("N,... [{}]", choices_.prompts));
    command.add_option("-n,--n-gen", choices_.generations, "Decode steps to make; 0 = none")
        ->option_text(fmt::format("N,... [{}]", choices_.generations));
    command
        .add_option("-d,--n-depth", choices_.depths,
                    "Tokens that are there before what is measured begins; their prefill is not in the time")
        ->option_text("N,... [0]");
    command
        .add_option("--n-parallel", choices_.parallel,
                    "Requests; lanes named batch and continuous share steps, others serve one after another")
        ->option_text("N,... [1]");
    addDeviceOption(command, device_);
    command.add_option("-t,--threads", choices_.threads, "Compute threads")
        ->option_text("N,... [all physical cores]");
    command.add_option("-r,--repetitions", choices_.repetitions, "Timed repetitions, at least")
        ->option_text("N [5]")
        ->check(wholeNumber(1, 10'000));
    command
        .add_option(
            "--interval", choices_.interval,
            "Repeat until the 95 % interval of every median is at most +- this many percent; 0 = do not")
        ->option_text("PERCENT [2]")
        ->check(numberFrom(0, 99));
    command
        .add_option("--seconds", choices_.seconds,
                    "No test is repeated for longer than this; 0 = only as often as -r says")
        ->option_text("S [30]")
        ->check(numberFrom(0, 1e6));
    command.add_option("--warmup", choices_.warmup, "Untimed passes of each lane before the timed ones")
        ->option_text("N [1]")
        ->check(wholeNumber(0, 10'000));
    command.add_option("--seed", choices_.seed, "Seed of the random prompts")
        ->option_text("N [1]")
        ->check(seedNumber());
    command
        .add_option("--memory", choices_.memory,
                    "GiB that weights, caches and buffers may take; lanes that need more are refused")
        ->option_text("GIB [what is available]")
        ->check(numberFrom(0, 1e6));
    command.add_flag("--no-drift-check", noDriftCheck_, "Do not repeat the first test at the end");
}

Result<Grid> GridOptions::grid() const {
    return grid_of(choices_);
}

Result<CellSettings> GridOptions::settings() const {
    Experiment experiment;
    const auto device = deviceFromText(device_);
    if (!device) return device.error();
    experiment.device = *device;
    DS_TRY(laneOptions_.apply(experiment, true));
    DS_TRY(check_devices(experiment));
    auto model = parse_model_ref(model_);
    if (!model) return model.error();
    CellSettings settings = cell_settings_of(choices_);
    settings.model = *std::move(model);
    settings.lanes = experiment.placed_lanes();
    settings.reference = experiment.reference;
    return settings;
}

int exitCodeOf(const std::vector<Cell>& cells, const std::stop_token& stop) {
    if (stop.stop_requested()) return exit_code(ErrorKind::cancelled);
    const auto any = [&](auto&& is) { return std::any_of(cells.begin(), cells.end(), is); };
    if (!any([](const Cell& cell) { return cell.status == CellStatus::ok; })) {
        reportNote("No test ran to its end.");
        return exit_code(ErrorKind::capacity);
    }
    if (any([](const Cell& cell) { return cell.speed_up.why_not == output_differs; })) {
        reportNote("The output of a lane differs from that of its reference; its speed-up is not shown.");
        return 1;
    }
    return 0;
}

}  // namespace decodescope::cli
