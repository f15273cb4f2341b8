// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "app/cli/commands.h"
#include "app/cli/grid_options.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "engine/sweep/calibration.h"
#include "engine/sweep/cell_json.h"
#include "engine/sweep/cell_text.h"
#include "engine/sweep/grid.h"
#include "engine/sweep/self_test.h"

namespace decodescope::cli {

namespace {

constexpr const char* defaultBenchPrompt = "512";
constexpr const char* defaultGeneration = "128";

struct BenchOptions {
    explicit BenchOptions(CLI::App& command)
        : grid(command, {"naive,static", defaultBenchPrompt, defaultGeneration}) {}
    GridOptions grid;
    Output output;
    bool calibrateAfresh = false;
    bool selfTest = false;
};

/// What a bench says.
struct BenchResult {
    std::vector<Calibration> calibrations;  // one per number of threads
    std::vector<Cell> cells;
    std::vector<std::string> remarks;
};

Calibration calibrationFor(int threads, bool afresh, const std::shared_ptr<MemoryLedger>& ledger) {
    ThreadPool pool(threads);
    const auto path = calibration_path();
    Calibration calibration = calibrate(pool, ledger, path ? *path : std::filesystem::path(), afresh);
    if (!path) calibration.note = "It is not kept: " + path.error().message;
    return calibration;
}

/// The memory may read slower now than when it was calibrated.
std::string slowerThanCalibrated(const BenchResult& result) {
    constexpr double noticeable = 0.8;
    for (const Calibration& calibration : result.calibrations) {
        double least = 0;
        for (const Cell& cell : result.cells) {
            const double now = cell.environment.read_bandwidth_gb_s;
            if (cell.shape.n_threads == calibration.threads && now > 0 && (least == 0 || now < least))
                least = now;
        }
        if (least > 0 && least < noticeable * calibration.limits.read_gb_s) {
            return fmt::format(
                "Before a test the memory was read at {:.1f} GB/s; {:.1f} GB/s when it was calibrated. "
                "Shares are of what was measured before each test.",
                least, calibration.limits.read_gb_s);
        }
    }
    return {};
}

std::string jsonOf(const BenchResult& result) {
    OrderedJson json = {{"schema", "decodescope.bench/1"}};
    json["calibrations"] = OrderedJson::array();
    for (const Calibration& calibration : result.calibrations)
        json["calibrations"].push_back(calibration_json(calibration));
    json["remarks"] = result.remarks;
    json["cells"] = OrderedJson::array();
    for (const Cell& cell : result.cells) json["cells"].push_back(cell_json(cell));
    return dump_json(json);
}

std::string textOf(const BenchResult& result, bool markdown) {
    const char* const item = markdown ? "- " : "";
    std::string text;
    const Cell& first = result.cells.front();
    text += fmt::format("{}Model: {} ({} parameters, {} weights, {})\n", item, first.model,
                        first.model_parameters, human_bytes(static_cast<double>(first.model_bytes)),
                        first.model_type);
    text +=
        fmt::format("{}Machine: {}, {}\n", item,
                    first.environment.cpu_model.empty() ? "unknown CPU" : first.environment.cpu_model,
                    first.environment.kernels.empty() ? first.environment.blas : first.environment.kernels);
    for (const Calibration& calibration : result.calibrations) {
        text += fmt::format("{}Limits: {}{}\n", item, to_text(calibration),
                            calibration.note.empty() ? "" : ". " + calibration.note);
    }
    const TextTable table = cell_table(result.cells);
    text += "\n" + (markdown ? table.markdown() : table.plain());
    if (!result.remarks.empty()) text += "\n";
    for (const std::string& remark : result.remarks) text += fmt::format("{}{}\n", item, remark);
    return text;
}

std::string textOf(const BenchResult& result, Format format) {
    switch (format) {
        case Format::json: return jsonOf(result);
        case Format::jsonl: return cells_jsonl(result.cells);
        case Format::csv: return cells_csv(result.cells);
        case Format::md: return textOf(result, true);
        case Format::table: break;
    }
    return textOf(result, false);
}

/// The usual tests, made shorter where the model is too small for them.
void fitDefaults(Grid& grid, const ModelConfig& model) {
    const int most = model.n_positions - *std::max_element(grid.n_depth.begin(), grid.n_depth.end());
    for (auto* values : {&grid.n_prompt, &grid.n_gen}) {
        for (int& value : *values) {
            if (value < most) continue;
            value = std::max(1, most / 2);
            reportNote(fmt::format("The usual length was cut to {} tokens: the model has {} positions.",
                                   value, model.n_positions));
        }
    }
}

int selfTest(const BenchOptions& options, const LoadedModel& model,
             const std::shared_ptr<MemoryLedger>& ledger, int threads, const std::stop_token& stop) {
    const auto test = run_self_test(model, ledger, threads, stop);
    if (!test) return reportError(test.error());
    TextTable table;
    table.header = {"way", "step [us]", "to bare (95 %)", "what"};
    table.right = {false, true, true, false};
    OrderedJson json = {
        {"schema", "decodescope.self_test/1"}, {"threads", test->threads}, {"steps", test->steps}};
    json["ways"] = OrderedJson::array();
    for (const SelfTest::Way& way : test->ways) {
        table.rows.push_back(
            {way.name, fmt::format("{:.1f}", way.step_ns / 1e3),
             fmt::format("{:.4f} ({:.4f}..{:.4f})", way.ratio, way.interval.low, way.interval.high),
             way.meaning});
        json["ways"].push_back({{"name", way.name},
                                {"meaning", way.meaning},
                                {"step_ns", way.step_ns},
                                {"ratio", way.ratio},
                                {"interval", {way.interval.low, way.interval.high}}});
    }
    const bool holds = test->holds();
    json["between_steps_ns"] = test->events_ns;
    json["limit"] = SelfTest::limit;
    json["holds"] = holds;
    const std::string verdict = fmt::format(
        "Measuring costs {:.2f} % of a decode step, {} than the {:.0f} % allowed; {:.1f} us per step are "
        "spent between steps, outside what is timed.",
        100 * (test->ways.back().ratio - 1), holds ? "less" : "not less", 100 * SelfTest::limit,
        test->events_ns / 1e3);
    std::string text;
    switch (options.output.format()) {
        case Format::json: text = dump_json(json); break;
        case Format::jsonl: text = dump_json_line(json) + "\n"; break;
        case Format::csv: text = table.csv(); break;
        case Format::md: text = table.markdown() + "\n" + verdict + "\n"; break;
        case Format::table: text = table.plain() + "\n" + verdict + "\n"; break;
    }
    if (const int written = writeResult(options.output, text); written != 0) return written;
    return holds ? 0 : 1;
}

int bench(const BenchOptions& options, const std::stop_token& stop) {
    auto grid = options.grid.grid();
    if (!grid) return reportError(grid.error());
    auto settings = options.grid.settings();
    if (!settings) return reportError(settings.error());

    const auto ledger = std::make_shared<MemoryLedger>();
    const auto model = loadModel(settings->model, ledger, stop);
    if (!model) return reportError(model.error());
    ProgressLine line;
    if (options.selfTest) return selfTest(options, *model, ledger, grid->n_threads.front(), stop);
    if (!options.grid.givesShapes()) fitDefaults(*grid, model->weights->config);

    const auto points = grid->separate();
    if (points.empty())
        return reportError(
            {ErrorKind::bad_input, "There is nothing to measure: every --n-prompt and --n-gen is 0."});
    BenchResult result;
    for (const int threads : std::set<int>(grid->n_threads.begin(), grid->n_threads.end())) {
        line.show("Measuring what the machine can do ...");
        result.calibrations.push_back(calibrationFor(threads, options.calibrateAfresh, ledger));
    }
    line.clear();
    GridProgress progress(*settings);
    result.cells = run_points(points, *settings, *model, ledger, progress, stop, options.grid.repeatsFirst());
    if (result.cells.empty())
        return reportError({ErrorKind::cancelled, "Stopped before anything was measured."});
    result.remarks = doubts_of(result.cells);
    if (std::string slower = slowerThanCalibrated(result); !slower.empty())
        result.remarks.push_back(std::move(slower));
    if (stop.stop_requested())
        result.remarks.emplace_back("The bench was stopped; tests that were not begun are missing.");
    if (const int written = writeResult(options.output, textOf(result, options.output.format()));
        written != 0)
        return written;
    return exitCodeOf(result.cells, stop);
}

}  // namespace

void addBenchCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "bench", "Measure prefill (pp) and decoding (tg) of lanes, at depths and for several requests");
    auto options = std::make_shared<BenchOptions>(*command);
    command->add_flag("--calibrate", options->calibrateAfresh,
                      "Measure again what the machine can do, which is otherwise kept between runs");
    command->add_flag("--self-test", options->selfTest,
                      "Show what measuring itself costs: decode steps with and without it, side by side");
    addOutputOptions(*command, options->output);
    command->footer(
        "A test is written as llama-bench writes it: pp512 = 512 prompt tokens in one prefill, tg128 = 128 "
        "decode\n"
        "steps, @ d1024 = on top of 1024 tokens, x4 = for four requests. The token that a prompt itself "
        "gives is\n"
        "part of the prefill: N new tokens are N - 1 decode steps. All lanes take turns and are fed the "
        "reference's\n"
        "tokens; a speed-up is shown only for a lane whose output agrees. Rates are medians with their 95 %\n"
        "interval (bootstrap over repetitions); percentages are of what the machine was measured to do "
        "right\n"
        "before the test. Every sample is in the json, jsonl and csv output.\n\n"
        "Lanes: as for \"decodescope-cli run --help\".\n\n"
        "Examples:\n"
        "  decodescope-cli bench --lanes naive,concat,static -p 128 -n 64\n"
        "  decodescope-cli bench --lanes static,int8 -p 0 -n 64 -d 0,256 --format md\n"
        "  decodescope-cli bench --self-test\n\n"
        "Exit status: 0 done, 1 the output of a lane differs from the reference's, 2 bad arguments or "
        "input,\n"
        "3 nothing could be run, 130 interrupted (what was measured is kept and marked).");
    command->callback([options, &session] { session.exitCode = bench(*options, session.stop); });
}

}  // namespace decodescope::cli
