// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "engine/verify/verify_context.h"

namespace decodescope {

/// Speculation gives what plain decoding gives, greedy and sampled, and one seed gives one text in every
/// lane.
Result<void> check_speculation(VerifyContext& context) {
    CacheSpec fixed;
    fixed.kind = CacheKind::static_;
    CacheSpec paged;
    paged.kind = CacheKind::paged;
    CacheSpec forgets;
    forgets.kind = CacheKind::window;
    // A text that repeats itself, so that n-grams find something.
    Ids prompt = context.random_ids(5, std::max(1, context.prompt_length() / 3));
    const Ids once = prompt;
    while (static_cast<int>(prompt.size() + once.size()) <= context.prompt_length())
        prompt.insert(prompt.end(), once.begin(), once.end());

    for (const SamplingKind kind : {SamplingKind::greedy, SamplingKind::sample}) {
        Workload workload;
        workload.sampling.kind = kind;
        workload.sampling.temperature = 0.8;
        workload.sampling.seed = context.seed();
        workload.requests.push_back({prompt, context.steps() + 1, 0, 0, 0});
        const char* how = kind == SamplingKind::greedy ? "greedy" : "one seed";
        const auto reference = context.serve(lane_of("naive", LaneMode::naive), workload);
        if (!reference) return reference.error();

        const auto compare = [&](const std::string& name, const LaneSpec& lane) -> Result<void> {
            const auto served = context.serve(lane, workload);
            if (!served) return served.error();
            const bool same = served->tokens == reference->tokens;
            context.add(
                fmt::format("{}, {}", name, how), "the tokens of plain decoding",
                same ? fmt::format("equal in {} steps, {} drafts kept", served->steps, served->n_accepted)
                     : "different",
                same);
            return {};
        };
        DS_TRY(compare("cached", lane_of("cached", LaneMode::cached, fixed)));
        LaneSpec batch = lane_of("batch", LaneMode::cached, fixed);
        batch.batching = Batching::static_;
        DS_TRY(compare("batched", batch));
        LaneSpec continuous = lane_of("continuous", LaneMode::cached, paged);
        continuous.batching = Batching::continuous;
        DS_TRY(compare("continuous", continuous));
        for (const CacheSpec& cache : {fixed, paged}) {
            LaneSpec lane = lane_of("speculative", LaneMode::speculative, cache);
            DS_TRY(compare(fmt::format("n-gram drafts, {}", to_string(cache.kind)), lane));
            lane.draft.kind = DraftKind::layers;
            if (context.config().n_layer > 1)
                DS_TRY(compare(fmt::format("drafts of the first layer, {}", to_string(cache.kind)), lane));
        }
    }

    // With a window that forgets: the same tokens as with a window that masks.
    const Window window{std::max(2, context.prompt_length() / 2), 1};
    LaneSpec masked = lane_of("masked", LaneMode::cached, fixed);
    masked.window = window;
    LaneSpec lane = lane_of("speculative", LaneMode::speculative, forgets);
    lane.window = window;
    const auto reference = context.serve_one(masked, prompt, context.steps() + 1);
    if (!reference) return reference.error();
    const auto served = context.serve_one(lane, prompt, context.steps() + 1);
    if (!served) return served.error();
    const bool same = served->tokens == reference->tokens;
    context.add("n-gram drafts in a window that forgets", "the tokens of a masked window",
                same ? "equal" : "different", same);
    return {};
}

}  // namespace decodescope
