// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "engine/experiment/record.h"

namespace decodescope::test {

inline ModelConfig tiny_model() {
    ModelConfig model;
    model.name = "tiny";
    model.vocab = 64;
    model.n_positions = 32;
    model.d_model = 16;
    model.n_layer = 2;
    model.n_head = 2;
    model.n_kv_head = 2;
    model.head_dim = 8;
    model.d_ff = 64;
    model.eos_ids = {63};
    return model;
}

inline StepEvent step_of(int lane, int repetition, int step, std::int64_t start, std::int64_t duration,
                         int token) {
    StepEvent event;
    event.lane = lane;
    event.repetition = repetition;
    event.step = step;
    event.phase = step == 0 ? Phase::prefill : Phase::decode;
    event.start_ns = start;
    event.end_ns = start + duration;
    event.token = token;
    event.n_token = 1;
    event.n_row = 1;
    event.bytes_moved = 3000;
    return event;
}

/// The tokens of steps that chose one each, as the runner notes them.
inline void note_tokens(RepetitionRecord& repetition) {
    repetition.chosen.clear();
    for (const StepEvent& step : repetition.steps) {
        TokenEvent token;
        token.lane = step.lane;
        token.repetition = step.repetition;
        token.step = step.step;
        token.index = step.step;
        token.token = step.token;
        token.comparison = step.comparison;
        repetition.chosen.push_back(token);
    }
    RequestRecord request;
    request.arrived_ns = 50;
    request.started_ns = repetition.steps.front().start_ns;
    request.first_token_ns = repetition.steps.front().end_ns;
    request.finished_ns = repetition.steps.back().end_ns;
    repetition.requests = {request};
}

/// Two lanes, two repetitions of three tokens. The cached lane's decode steps take a fifth of the naive
/// lane's.
inline Record sample_record() {
    Record record;
    record.model = tiny_model();
    record.model_source = "preset:tiny,seed=0";
    record.model_hash = "sha256:00";
    record.weight_bytes = 123456;
    record.started_at = "2024-05-06T07:08:09Z";
    record.experiment.model = {.path = {}, .preset = "tiny", .seed = 0};
    record.experiment.prompts[0].kind = PromptSpec::Kind::ids;
    record.experiment.prompts[0].ids = {1, 2, 3};
    record.experiment.new_tokens = 3;
    record.experiment.repetitions = 2;
    record.experiment.lanes = {*lane_from_name("naive"), *lane_from_name("static")};
    record.experiment.reference = "naive";
    record.prompts = {{{1, 2, 3}, "It is"}};
    record.environment.cpu_model = "Some CPU";
    record.environment.threads = 2;
    record.environment.read_bandwidth_gb_s = 10;
    for (int lane = 0; lane < 2; ++lane) {
        LaneRecord& out = record.lanes.emplace_back();
        out.spec = record.experiment.lanes[static_cast<std::size_t>(lane)];
        out.texts = {"a b c"};
        for (int r = 0; r < 2; ++r) {
            RepetitionRecord& repetition = out.repetitions.emplace_back();
            const std::int64_t unit = lane == 0 ? 5000 : 1000;
            repetition.steps = {step_of(lane, r, 0, 100, 7000 + r, 10), step_of(lane, r, 1, 9000, unit, 11),
                                step_of(lane, r, 2, 20000, 3 * unit, 12)};
            note_tokens(repetition);
            if (lane == 0) continue;
            for (StepEvent& step : repetition.steps) {
                step.comparison = {.compared = true,
                                   .max_abs_error = 1e-6,
                                   .relative_error = 2e-6 * (step.step + 1),
                                   .same_argmax = true,
                                   .top2_margin = 0.5,
                                   .kl_divergence = 1e-9,
                                   .reference_probability = 0.25,
                                   .lane_probability = 0.25};
                step.cache_length = 3 + step.step;
                step.kv_bytes_live = 256 * step.cache_length;
                step.kv_bytes_reserved = 256 * 5;
            }
            note_tokens(repetition);
        }
    }
    return record;
}

}  // namespace decodescope::test
