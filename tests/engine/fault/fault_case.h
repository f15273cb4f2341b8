// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/fault/fault_catalogue.h"
#include "engine/verify/trace_recorder.h"
#include "tests/engine/decode/lane_fixture.h"
#include "tests/engine/verify/trace_truth.h"

namespace decodescope::test {

/// A run that shows a fault: a lane, its requests and the tokens they are fed.
struct FaultCase {
    LaneSpec spec;
    Workload workload;
    std::vector<Ids> fed;  ///< [requests, new tokens]; empty = each follows its own choices
    int n_positions = 64;

    Result<Trace> record(LaneFixture& fixture) const {
        GivenTokens given(fed);
        return record_trace(spec, workload, {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger},
                            fed.empty() ? nullptr : &given);
    }
};

inline const Ids fed_after{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

inline FaultCase case_of(const LaneSpec& spec, const std::vector<Ids>& prompts, int new_tokens) {
    FaultCase made{spec, work_of(prompts, new_tokens), {}, 64};
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        Ids ids = fed_after;
        for (std::int32_t& id : ids) id += static_cast<std::int32_t>(13 * (i % 2));
        made.fed.push_back(std::move(ids));
    }
    return made;
}

/// Drafts that never hold: the text repeats itself, what it is fed does not.
inline FaultCase speculation(const LaneSpec& spec) {
    FaultCase made = case_of(spec, {{1, 2, 3, 1, 2, 3}}, 6);
    made.fed = {{1, 9, 2, 8, 3, 7}};
    return made;
}

/// The run that shows `fault`; without the fault when `healthy`.
inline FaultCase fault_case(Fault fault, bool healthy = false) {
    LaneSpec spec = named("static");
    FaultCase made;
    switch (fault) {
        case Fault::mask_none_on_append:
            spec.prefill_chunk = 4;
            made = case_of(spec, {prompt_of_7}, 4);
            break;
        case Fault::spare_slots_visible:
            spec.cache.capacity = 24;
            made = case_of(spec, {prompt_of_7}, 4);
            break;
        case Fault::pad_slot_positions:
        case Fault::pad_slot_positions_decode:
        case Fault::pad_mask_dropped:
        case Fault::pad_mask_none: made = case_of(named("batch"), {prompt_of_3, prompt_of_7}, 4); break;
        case Fault::pad_last_column:
            made = case_of(named("batch-right"), {prompt_of_3, prompt_of_7}, 4);
            made.fed.clear();
            break;
        case Fault::cache_kept:
        case Fault::counter_kept: made = case_of(spec, {prompt_of_7, prompt_of_3, prompt_of_7}, 3); break;
        case Fault::blocks_freed_early:
            spec = named("continuous");
            spec.cache.block = 4;
            made = case_of(spec, {prompt_of_7, {5, 17, 8, 30, 40, 2}}, 8);
            break;
        case Fault::window_ignored:
        case Fault::window_too_wide:
        case Fault::window_too_narrow:
            spec.window = {6, 0};
            made = case_of(spec, {{3, 1, 4, 15}}, 9);
            break;
        case Fault::window_position:
            spec = named("window");
            spec.window = {6, 0};
            made = case_of(spec, {{3, 1, 4, 15}}, 9);
            break;
        case Fault::overflow_last_slot:
        case Fault::ring_without_window: made = case_of(spec, {prompt_of_7}, 8); break;
        case Fault::naive_crop: made = case_of(named("naive"), {prompt_of_7}, 6); break;
        case Fault::drafts_kept:
        case Fault::rollback_position_only:
        case Fault::rollback_short:
        case Fault::rollback_long:
            spec = named("speculative");
            spec.draft.tokens = 3;
            made = speculation(spec);
            break;
        case Fault::draft_cache_trim:
            made = case_of(named("speculative-layers"), {prompt_of_7}, 10);
            made.fed.clear();
            break;
        case Fault::prefix_mutated: {
            spec = named("continuous");
            spec.cache.block = 4;
            spec.cache.share_prefixes = true;
            spec.max_rows = 1;
            const Ids other{3, 1, 4, 15, 9, 33, 34, 35};
            made = case_of(spec, {prompt_of_7, other, {3, 1, 4, 15, 9, 2, 6, 41, 42}}, 3);
            break;
        }
        case Fault::dropout_on: made = case_of(spec, {prompt_of_7, prompt_of_7}, 3); break;
        case Fault::heads_tiled:
        case Fault::heads_not_transposed: made = case_of(spec, {prompt_of_7}, 3); break;
        case Fault::concat_wrong_axis: made = case_of(named("concat"), {prompt_of_7}, 3); break;
        case Fault::rows_not_reindexed:
            made = case_of(named("batch"), {prompt_of_7, {5, 17, 8, 30, 40}, prompt_of_3}, 6);
            made.workload.requests[1].new_tokens = 3;
            break;
        case Fault::beams_not_reordered:
            made = case_of(named("beam"), {prompt_of_7}, 6);
            made.fed.clear();
            break;
        case Fault::positions_bf16: {
            Ids longer;
            for (int i = 0; i < 255; ++i) longer.push_back(1 + i * 7 % 60);
            made = case_of(spec, {longer}, 5);
            made.n_positions = 300;
            break;
        }
        case Fault::scales_dropped: made = case_of(named("int8"), {prompt_of_7}, 3); break;
        case Fault::blocks_never_freed:
            spec = named("continuous");
            spec.cache.block = 4;
            spec.cache.blocks = 8;
            spec.max_rows = 1;
            made = case_of(spec, {prompt_of_7, prompt_of_3, {5, 17, 8, 30}, prompt_of_7}, 3);
            break;
        default: made = case_of(spec, {prompt_of_7}, 6); break;
    }
    made.spec.name = "lane";
    if (!healthy) made.spec.faults = {fault_info(fault).id};
    return made;
}

/// The same run with other tokens and prompts that are `longer`; `variant` 0 has the tokens as they are.
inline FaultCase with_tokens(FaultCase run, int variant, int longer) {
    // Another token for every one, so that what repeats itself still does.
    const auto other = [&](std::int32_t id) { return (id * (2 * (variant % 13) + 1) + 11 * variant) % 64; };
    for (Request& request : run.workload.requests) {
        for (int i = 0; i < longer; ++i) request.prompt.insert(request.prompt.begin(), 50 + 3 * i);
        for (std::int32_t& id : request.prompt) id = other(id);
    }
    for (Ids& ids : run.fed) {
        for (std::int32_t& id : ids) id = other(id);
    }
    return run;
}

/// The same run with other tokens, longer prompts and another cache, where the fault still bites: `variant` 0
/// is the run as it is.
inline FaultCase varied(FaultCase run, Fault fault, int variant) {
    if (variant == 0) return run;
    const bool by_blocks = fault == Fault::prefix_mutated || fault == Fault::blocks_freed_early ||
                           fault == Fault::blocks_never_freed;
    const bool by_length = by_blocks || fault == Fault::positions_bf16;
    const int longer = by_length ? 0 : variant % 4;
    run = with_tokens(std::move(run), variant, longer);
    LaneSpec& spec = run.spec;
    if (spec.mode == LaneMode::cached && spec.batching == Batching::single &&
        spec.cache.kind == CacheKind::static_ && spec.cache.capacity == 0) {
        constexpr CacheKind kinds[] = {CacheKind::static_, CacheKind::concat, CacheKind::paged};
        LaneSpec changed = spec;
        changed.cache.kind = kinds[variant % 3];
        if (fault_fits_lane(fault, changed)) spec = changed;
    }
    return run;
}

/// A trace as text: for every request, by call, "." for a real token whose logits are right and "x" for one
/// whose are wrong; "!" for a failed call.
inline std::string pattern_of(const Trace& trace, TraceTruth& truth, const Window& window,
                              double limit = f32_error_limit) {
    std::map<std::string, std::string> patterns;
    for (int c = 0; c < static_cast<int>(trace.calls.size()); ++c) {
        const TraceCall& call = trace.calls[static_cast<std::size_t>(c)];
        for (int b = 0; b < call.batch; ++b) {
            const std::string& request = call.requests[static_cast<std::size_t>(b)];
            std::string marks;
            if (request.empty()) continue;
            if (!call.error.empty()) {
                marks = "!";
            } else {
                for (const double error : truth.errors(trace, c, b, window))
                    marks += error <= limit ? '.' : 'x';
            }
            if (!marks.empty()) patterns[request] += (patterns[request].empty() ? "" : " ") + marks;
        }
    }
    std::string all;
    for (const auto& [request, pattern] : patterns)
        all += (all.empty() ? "" : "; ") + request + ": " + pattern;
    return all;
}

}  // namespace decodescope::test
