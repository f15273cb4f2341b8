// SPDX-License-Identifier: GPL-3.0-or-later
// Ratios between lanes and thread counts, measured interleaved in one process. Prints a table; judges
// nothing.
#include <fmt/format.h>

#include <memory>

#include "engine/experiment/runner.h"
#include "engine/model/preset.h"

using namespace decodescope;

namespace {

/// The demo model's shape, or a preset named on the command line.
Result<ModelConfig> shape(int argc, char** argv) {
    if (argc > 1) return preset_config(argv[1]);
    ModelConfig config = *preset_config("tiny");
    config.name = "demo-shape";
    config.vocab = 2048;
    config.n_positions = 1024;
    config.d_model = 256;
    config.n_layer = 6;
    config.n_head = config.n_kv_head = 8;
    config.head_dim = 32;
    config.d_ff = 1024;
    return config;
}

}  // namespace

int main(int argc, char** argv) {
    const auto config = shape(argc, argv);
    if (!config) {
        fmt::print(stderr, "{}\n", config.error().message);
        return 2;
    }
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = random_weights(*config, 0, ledger);
    if (!weights) {
        fmt::print(stderr, "{}\n", weights.error().message);
        return 3;
    }
    Experiment experiment;
    experiment.prompts[0].kind = PromptSpec::Kind::random;
    experiment.prompts[0].length = 128;
    experiment.new_tokens = 64;
    experiment.repetitions = 5;
    for (const char* name : {"naive", "static", "concat"}) experiment.lanes.push_back(*lane_from_name(name));
    EventSink sink;
    fmt::print("{}, prompt {}, {} new tokens, medians of {} repetitions\n", config->name,
               experiment.prompts[0].length, experiment.new_tokens, experiment.repetitions);
    for (const int threads : {1, 2}) {
        experiment.threads = threads;
        const auto record = run_experiment(experiment, {*weights, nullptr}, ledger, sink);
        if (!record) {
            fmt::print(stderr, "{}\n", record.error().message);
            return 3;
        }
        const double naive = record->lanes[0].step_ns().median;
        for (const LaneRecord& lane : record->lanes) {
            const Summary step = lane.step_ns();
            const double share = record->environment.read_bandwidth_gb_s > 0
                                     ? lane.read_gb_s() / record->environment.read_bandwidth_gb_s
                                     : 0;
            fmt::print(
                "{} threads  {:8} step {:7.3f} ms (iqr {:.3f})  naive/lane {:6.2f}  prefill {:7.2f} ms  "
                "read {:5.1f} GB/s = {:.2f} of {:.1f}\n",
                threads, lane.spec.name, step.median / 1e6, step.iqr() / 1e6, naive / step.median,
                lane.ttft_ns().median / 1e6, lane.read_gb_s(), share,
                record->environment.read_bandwidth_gb_s);
        }
    }
    return 0;
}
