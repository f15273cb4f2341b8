// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "engine/experiment/record.h"

namespace decodescope::test {

inline constexpr int newTokens = 20;
inline constexpr int repetitions = 3;
inline constexpr std::int64_t ms = 1'000'000;

/// Step times that make every number easy to tell: the prefill takes 30 ms; a naive step k takes 10 + k ms, a
/// cached one 2 ms; repetition r adds r ms to each of them.
inline std::int64_t stepTime(bool naive, int repetition, int step) {
    return ((step == 0 ? 30 : naive ? 10 + step : 2) + repetition) * ms;
}

inline LaneRecord makeLane(const char* name, bool naive, int lane) {
    LaneRecord result;
    result.spec.name = name;
    result.spec.mode = naive ? LaneMode::naive : LaneMode::cached;
    result.spec.cache.kind = naive ? CacheKind::none : CacheKind::static_;
    result.texts = {" a single man in possession of a good fortune"};
    std::int64_t now = lane * 1000;
    for (int r = 0; r < repetitions; ++r) {
        RepetitionRecord repetition;
        for (int s = 0; s < newTokens; ++s) {
            StepEvent step;
            step.lane = lane;
            step.repetition = r;
            step.step = s;
            step.phase = s == 0 ? Phase::prefill : Phase::decode;
            step.token = 100 + s;
            step.start_ns = now;
            step.end_ns = now + stepTime(naive, r, s);
            now = step.end_ns + ms;
            step.n_token = step.n_row = 1;
            step.positions_forwarded = s == 0 ? 7 : naive ? 7 + s : 1;
            step.cache_length = naive ? 0 : 7 + s;
            step.kv_bytes_live = naive ? 0 : (7 + s) * 1024;
            step.kv_bytes_reserved = naive ? 0 : 32 * 1024;
            step.bytes_moved = 10'000'000;
            step.tensor_bytes = {12'000'000, naive ? 0u : 32'768u, 500'000, 8'000, 4'000};
            step.memory.rss = 40'000'000;
            if (!naive) step.comparison = {true, 1e-6, s == 3 ? 0 : 2.5e-6, true, 1.0};
            repetition.steps.push_back(step);
            TokenEvent token;
            token.lane = lane;
            token.repetition = r;
            token.step = token.index = s;
            token.token = 100 + s;
            token.comparison = step.comparison;
            repetition.chosen.push_back(token);
        }
        result.repetitions.push_back(repetition);
    }
    return result;
}

inline Record makeRecord() {
    Record record;
    record.model.name = "demo";
    record.model.n_layer = 6;
    record.model.n_head = record.model.n_kv_head = 8;
    record.model.vocab = 1000;
    record.model.n_positions = 512;
    record.model.d_model = 256;
    record.model.d_ff = 1024;
    record.model.head_dim = 32;
    record.started_at = "2026-01-02T03:04:05Z";
    record.prompts = {{{1, 2, 3, 4, 5, 6, 7}, "It is a truth universally acknowledged, that"}};
    record.experiment.prompts[0].kind = PromptSpec::Kind::ids;
    record.experiment.prompts[0].ids = record.prompts[0].ids;
    record.experiment.new_tokens = newTokens;
    record.experiment.repetitions = repetitions;
    record.environment.cpu_model = "Test CPU";
    record.environment.read_bandwidth_gb_s = 20;
    record.lanes = {makeLane("naive", true, 0), makeLane("cached", false, 1)};
    for (const LaneRecord& lane : record.lanes) record.experiment.lanes.push_back(lane.spec);
    return record;
}

}  // namespace decodescope::test
