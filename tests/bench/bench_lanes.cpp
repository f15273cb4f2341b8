// SPDX-License-Identifier: GPL-3.0-or-later
// What each way of storing and batching costs against a static cache of the same run, as ratios measured
// repetition by repetition in one process. Prints tables; judges nothing.
#include <fmt/format.h>

#include <memory>

#include "engine/experiment/runner.h"
#include "engine/model/preset.h"

using namespace decodescope;

namespace {

constexpr int prompt_length = 384;

PromptSpec prompt(std::uint64_t seed) {
    PromptSpec spec;
    spec.kind = PromptSpec::Kind::random;
    spec.length = prompt_length;
    spec.seed = seed;
    return spec;
}

int report(const Experiment& experiment, const LoadedModel& model,
           const std::shared_ptr<MemoryLedger>& ledger) {
    EventSink sink;
    const auto record = run_experiment(experiment, model, ledger, sink);
    if (!record) {
        fmt::print(stderr, "{}\n", record.error().message);
        return 3;
    }
    const double reference = record->reference().decode_tok_s();
    for (const LaneRecord& lane : record->lanes) {
        const StepEvent& last = lane.repetitions.back().steps.back();
        fmt::print(
            "{:14} step {:7.3f} ms (iqr {:.3f})  tok/s against {} {:5.2f}  prefill {:7.2f} ms  KV {} bytes\n",
            lane.spec.name, lane.step_ns().median / 1e6, lane.step_ns().iqr() / 1e6,
            record->reference().spec.name, lane.decode_tok_s() / reference, lane.ttft_ns().median / 1e6,
            last.kv_bytes_live);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto config = preset_config(argc > 1 ? argv[1] : "gpt2-small");
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
    const LoadedModel model{*weights, nullptr};
    Experiment experiment;
    experiment.prompts = {prompt(1)};
    experiment.new_tokens = 32;
    experiment.repetitions = 3;
    experiment.interleave = Interleave::repetition;
    fmt::print("{}, prompt {}, {} new tokens, {} repetitions\n", config->name, prompt_length,
               experiment.new_tokens, experiment.repetitions);
    for (const char* name : {"static", "concat", "paged", "f16", "bf16", "int8", "kivi4", "kivi2", "window"})
        experiment.lanes.push_back(*lane_from_name(name));
    if (const int code = report(experiment, model, ledger); code != 0) return code;

    for (std::uint64_t i = 2; i <= 4; ++i) experiment.prompts.push_back(prompt(i));
    experiment.lanes.clear();
    for (const char* name : {"static", "batch", "continuous"})
        experiment.lanes.push_back(*lane_from_name(name));
    fmt::print("the same with {} requests\n", experiment.prompts.size());
    return report(experiment, model, ledger);
}
