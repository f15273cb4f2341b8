// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "engine/verify/verify_context.h"

namespace decodescope {

namespace {

/// Requests of different lengths, the longest as long as the context allows.
Workload ragged(const VerifyContext& context) {
    Workload workload;
    const int p = context.prompt_length();
    for (const int length : {std::max(1, p / 8), std::max(1, p / 2), p, std::max(1, p - 1)}) {
        const Ids ids = context.random_ids(static_cast<std::uint64_t>(10 + length), length);
        workload.requests.push_back({ids, context.steps() + 1, 0, 0, 0});
    }
    return workload;
}

CacheSpec cache_of(CacheKind kind) {
    CacheSpec spec;
    spec.kind = kind;
    return spec;
}

}  // namespace

/// Batches: what a request gets does not depend on who is served with it.
Result<void> check_batches(VerifyContext& context) {
    const Workload workload = ragged(context);
    const auto reference = context.serve(lane_of("naive", LaneMode::naive), workload);
    if (!reference) return reference.error();
    GivenTokens feed(reference->tokens);
    const auto compare = [&](const std::string& name, const LaneSpec& lane,
                             const Workload& work) -> Result<void> {
        const auto served = context.serve(lane, work, &feed);
        if (!served) return served.error();
        context.add_equal(name + " = single runs", worst_error(served->rows, reference->rows));
        const bool same = served->tokens == reference->tokens;
        context.add(name + ", same tokens", "all equal", same ? "all equal" : "different", same);
        return {};
    };
    for (const Padding padding : {Padding::left, Padding::right, Padding::none}) {
        LaneSpec lane = lane_of("batch", LaneMode::cached, cache_of(CacheKind::static_));
        lane.batching = Batching::static_;
        lane.padding = padding;
        const char* pads = padding == Padding::none ? "unpadded" : to_string(padding);
        DS_TRY(compare(fmt::format("ragged batch of {}, {}{}", workload.requests.size(), pads,
                                   padding == Padding::none ? "" : "-padded"),
                       lane, workload));
        lane.prefill_chunk = 5;
        lane.cache = cache_of(CacheKind::paged);
        DS_TRY(compare(fmt::format("the same in paged chunks of 5, {}", pads), lane, workload));
        lane.mode = LaneMode::naive;
        lane.prefill_chunk = 0;
        lane.cache = {};
        DS_TRY(compare(fmt::format("the same without a cache, {}", pads), lane, workload));
    }

    Workload staggered = workload;
    for (std::size_t i = 0; i < staggered.requests.size(); ++i)
        staggered.requests[i].arrival_step = static_cast<int>(2 * i);
    for (const CacheKind kind : {CacheKind::static_, CacheKind::paged}) {
        LaneSpec lane = lane_of("continuous", LaneMode::cached, cache_of(kind));
        lane.batching = Batching::continuous;
        DS_TRY(compare(fmt::format("continuous batch, {}", to_string(kind)), lane, workload));
        lane.prefill_chunk = 5;
        lane.max_rows = 3;
        DS_TRY(
            compare(fmt::format("joining and leaving in chunks of 5, {}", to_string(kind)), lane, staggered));
    }

    // One request is cancelled: the others go on unchanged, and its blocks are free at once.
    Workload cancelled = staggered;
    cancelled.requests[1].cancel_after = std::max(1, context.steps() / 2);
    LaneSpec lane = lane_of("cancelled", LaneMode::cached, cache_of(CacheKind::paged));
    lane.batching = Batching::continuous;
    bool freed = true;
    std::uint64_t left = 0;
    const auto served = context.serve(lane, cancelled, &feed, [&](Lane& at_work, const LaneStep&) {
        std::uint64_t held = 0;
        for (int row = 0; row < at_work.cache()->batch(); ++row)
            held += static_cast<std::uint64_t>(at_work.cache()->length(row));
        std::uint64_t needed = 0;
        for (const RequestState& state : at_work.requests()) {
            if (state.started && !state.finished) needed += state.tokens.size();
        }
        freed = freed && held == needed;
        left = at_work.cache()->bytes().live;
    });
    if (!served) return served.error();
    double worst = 0;
    for (std::size_t i = 0; i < served->rows.size(); ++i) {
        Rows expected = reference->rows[i];
        if (i == 1) expected.resize(served->rows[i].size());
        worst = std::max(worst, worst_error(served->rows[i], expected));
    }
    context.add_equal("a request is cancelled, the others go on", worst);
    context.add("a cancelled request's entries", "gone with the next step", freed ? "gone" : "still held",
                freed && served->states[1].finish == FinishReason::cancelled);
    return {};
}

}  // namespace decodescope
