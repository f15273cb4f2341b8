// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/lane_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/options.h"
#include "engine/core/quote.h"
#include "engine/experiment/field_check.h"
#include "engine/formats/model_source.h"

namespace decodescope::cli {

namespace {

/// Changes every lane that `has` it; refused when there is none.
template <class Has, class Change>
Result<void> changeLanes(Experiment& experiment, const char* option, const char* owner, Has has,
                         Change change) {
    bool any = false;
    for (LaneSpec& lane : experiment.lanes) {
        if (!has(lane)) continue;
        change(lane);
        any = true;
    }
    if (any) return {};
    return Error{ErrorKind::bad_input, fmt::format("{}: there is no {} to apply it to.", option, owner)};
}

bool isNaive(const LaneSpec& lane) {
    return lane.mode == LaneMode::naive;
}
bool isSpeculative(const LaneSpec& lane) {
    return lane.mode == LaneMode::speculative;
}
bool isPaged(const LaneSpec& lane) {
    return lane.cache.kind == CacheKind::paged;
}
bool isContinuous(const LaneSpec& lane) {
    return lane.batching == Batching::continuous;
}

}  // namespace

LaneOptions::LaneOptions(CLI::App& command, std::string lanes) : command_(command), lanes_(std::move(lanes)) {
    const auto range = [](std::int64_t lowest, std::int64_t highest) { return wholeNumber(lowest, highest); };
    const auto group = [&](CLI::Option* option) { return option->group("Lanes"); };
    group(command.add_option("-l,--lanes", lanes_, "Lanes to run, see below"))
        ->option_text(fmt::format("LANE,... [{}]", lanes_));
    group(command.add_option("--reference", reference_, "Lane that the others are compared with"))
        ->option_text("LANE [the first]");
    group(command.add_option("--prefill-chunk", prefillChunk_,
                             "Prompt tokens per call of lanes with a cache; 0 = all at once"))
        ->option_text("N [0]")
        ->check(range(0, max_tokens));
    group(command.add_option("--window", window_,
                             "Sliding window of every lane, and first tokens that stay visible"))
        ->option_text("SIZE[,sinks=N]");
    group(
        command.add_option("--capacity", capacity_,
                           "Tokens a cache holds per request (all but concat); 0 = as many as the run needs"))
        ->option_text("N [0]")
        ->check(range(0, max_tokens));
    group(command.add_option("--block", block_, "Tokens per block of paged caches"))
        ->option_text("N [16]")
        ->check(range(1, 4096));
    group(command.add_flag("--share-prefixes", sharePrefixes_,
                           "Continuous batches share the blocks of equal prefixes"));
    group(command.add_option("--residual", residual_, "Newest tokens that kivi caches keep in f32, at least"))
        ->option_text("N [32]")
        ->check(range(0, max_tokens));
    group(command.add_option("--batch-rows", batchRows_,
                             "Rows of continuous batches; 0 = as many as there are prompts"))
        ->option_text("N [0]")
        ->check(range(0, 256));
    group(command.add_option("--kv-budget", budget_,
                             "Tokens that the rows of continuous batches may retain together; 0 = no limit"))
        ->option_text("N [0]")
        ->check(range(0, max_tokens));
    group(command.add_option("--draft-tokens", draftTokens_, "Most drafts per verify call"))
        ->option_text("N [4]")
        ->check(range(1, 64));
    group(command.add_option("--draft-layers", draftLayers_,
                             "Layers of the model that speculative-layers lanes draft with"))
        ->option_text("N [1]")
        ->check(range(1, 10'000));
    group(command.add_option("--draft-model", draftModel_,
                             "Model that speculative lanes draft with, instead of n-grams"))
        ->option_text("MODEL");
    group(command.add_option(
              "--acceptance", acceptance_,
              "When drafts are kept: they are what plain decoding chooses (match), or by rejection "
              "sampling"))
        ->option_text("RULE [match]")
        ->check(oneOf({"match", "rejection"}));
    group(command.add_option("--beams", beams_, "Beams of beam lanes"))
        ->option_text("N [4]")
        ->check(range(2, 64));
    group(
        command.add_option("--allocation", allocation_,
                           "Buffers are kept for the whole run (reused) or made anew for every use (fresh)"))
        ->option_text("POLICY [reused]")
        ->check(oneOf({"reused", "fresh"}));
    group(command.add_option("--weights", weights_,
                             "Type that the matrices are computed with: f32, f16, bf16, int8 or int4"))
        ->option_text("TYPE [f32]")
        ->check(oneOf({"f32", "f16", "bf16", "int8", "int4"}));
    group(command.add_option("--kernels", kernels_,
                             "Who multiplies by weights: kernels of this program on weights packed for them, "
                             "or OpenBLAS"))
        ->option_text("KERNELS [packed]")
        ->check(oneOf({"packed", "openblas"}));
}

Result<void> LaneOptions::apply(Experiment& experiment, bool replace) const {
    if (replace || given("--lanes")) DS_TRY(replaceLanes(experiment));
    DS_TRY(applyCaches(experiment));
    DS_TRY(applyWindow(experiment));
    DS_TRY(applyBatching(experiment));
    DS_TRY(applyDrafts(experiment));
    if (given("--allocation")) {
        for (LaneSpec& lane : experiment.lanes) {
            lane.allocation = allocation_ == "fresh" ? AllocationPolicy::fresh : AllocationPolicy::reused;
        }
    }
    for (LaneSpec& lane : experiment.lanes) {
        if (given("--weights")) lane.weights = weight_type(weights_).value_or(WeightType::f32);
        if (given("--kernels"))
            lane.kernels = kernels_ == to_string(Kernels::openblas) ? Kernels::openblas : Kernels::packed;
    }
    return applyReference(experiment);
}

Result<void> LaneOptions::replaceLanes(Experiment& experiment) const {
    const auto names = listFromText("--lanes", lanes_);
    if (!names) return names.error();
    experiment.lanes.clear();
    for (const std::string& name : *names) {
        auto lane = lane_from_name(name);
        if (!lane) return Error{lane.error().kind, "--lanes: " + lane.error().message};
        experiment.lanes.push_back(*std::move(lane));
    }
    const auto named = [&](const LaneSpec& lane) { return lane.name == experiment.reference; };
    if (std::none_of(experiment.lanes.begin(), experiment.lanes.end(), named)) experiment.reference.clear();
    return {};
}

Result<void> LaneOptions::applyCaches(Experiment& experiment) const {
    if (given("--prefill-chunk")) {
        DS_TRY(changeLanes(
            experiment, "--prefill-chunk", "cached lane", [](const LaneSpec& lane) { return !isNaive(lane); },
            [&](LaneSpec& lane) {
                lane.prefill_chunk = prefillChunk_;
                lane.prefill_partition.clear();
            }));
    }
    if (given("--capacity")) {
        DS_TRY(changeLanes(
            experiment, "--capacity", "lane with a static, paged, window, int8 or kivi cache",
            [](const LaneSpec& lane) {
                return lane.cache.kind != CacheKind::none && lane.cache.kind != CacheKind::concat;
            },
            [&](LaneSpec& lane) { lane.cache.capacity = capacity_; }));
    }
    if (given("--block")) {
        DS_TRY(changeLanes(experiment, "--block", "lane with a paged cache", isPaged,
                           [&](LaneSpec& lane) { lane.cache.block = block_; }));
    }
    if (given("--share-prefixes")) {
        DS_TRY(changeLanes(
            experiment, "--share-prefixes", "continuous lane with a paged cache",
            [](const LaneSpec& lane) { return isPaged(lane) && isContinuous(lane); },
            [&](LaneSpec& lane) { lane.cache.share_prefixes = sharePrefixes_; }));
    }
    if (given("--residual")) {
        DS_TRY(changeLanes(
            experiment, "--residual", "lane with a kivi cache",
            [](const LaneSpec& lane) { return lane.cache.kind == CacheKind::kivi; },
            [&](LaneSpec& lane) { lane.cache.residual = residual_; }));
    }
    return {};
}

Result<void> LaneOptions::applyBatching(Experiment& experiment) const {
    if (given("--batch-rows")) {
        DS_TRY(changeLanes(experiment, "--batch-rows", "lane with a continuous batch", isContinuous,
                           [&](LaneSpec& lane) { lane.max_rows = batchRows_; }));
    }
    if (given("--kv-budget")) {
        DS_TRY(changeLanes(experiment, "--kv-budget", "lane with a continuous batch", isContinuous,
                           [&](LaneSpec& lane) { lane.budget = budget_; }));
    }
    if (given("--beams")) {
        DS_TRY(changeLanes(
            experiment, "--beams", "beam lane",
            [](const LaneSpec& lane) { return lane.mode == LaneMode::beam; },
            [&](LaneSpec& lane) { lane.beams = beams_; }));
    }
    return {};
}

Result<void> LaneOptions::applyDrafts(Experiment& experiment) const {
    if (given("--draft-tokens")) {
        DS_TRY(changeLanes(experiment, "--draft-tokens", "speculative lane", isSpeculative,
                           [&](LaneSpec& lane) { lane.draft.tokens = draftTokens_; }));
    }
    if (given("--acceptance")) {
        const Acceptance acceptance = acceptance_ == "rejection" ? Acceptance::rejection : Acceptance::match;
        DS_TRY(changeLanes(experiment, "--acceptance", "speculative lane", isSpeculative,
                           [&](LaneSpec& lane) { lane.draft.acceptance = acceptance; }));
    }
    const auto draftsFromLayers = [](const LaneSpec& lane) {
        return isSpeculative(lane) && lane.draft.kind == DraftKind::layers;
    };
    if (given("--draft-layers")) {
        DS_TRY(changeLanes(experiment, "--draft-layers", "speculative-layers lane", draftsFromLayers,
                           [&](LaneSpec& lane) { lane.draft.layers = draftLayers_; }));
    }
    if (given("--draft-model")) {
        const auto model = parse_model_ref(draftModel_);
        if (!model) return Error{model.error().kind, "--draft-model: " + model.error().message};
        DS_TRY(changeLanes(
            experiment, "--draft-model", "speculative lane without draft layers",
            [&](const LaneSpec& lane) { return isSpeculative(lane) && !draftsFromLayers(lane); },
            [&](LaneSpec& lane) {
                lane.draft.kind = DraftKind::model;
                lane.draft.model = *model;
                lane.draft.ngram = DraftSpec{}.ngram;
            }));
    }
    return {};
}

Result<void> LaneOptions::applyWindow(Experiment& experiment) const {
    if (!given("--window")) return {};
    const auto window = windowFromText("--window", window_);
    if (!window) return window.error();
    for (LaneSpec& lane : experiment.lanes) lane.window = *window;
    return {};
}

Result<void> LaneOptions::applyReference(Experiment& experiment) const {
    if (!given("--reference")) return {};
    const auto named = [&](const LaneSpec& lane) { return lane.name == reference_; };
    if (std::none_of(experiment.lanes.begin(), experiment.lanes.end(), named)) {
        return Error{ErrorKind::bad_input,
                     fmt::format("--reference: there is no lane {}.", quote(reference_))};
    }
    experiment.reference = reference_;
    return {};
}

}  // namespace decodescope::cli
