// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/core/clock.h"
#include "engine/measure/process_memory.h"
#include "engine/model/forward.h"

namespace decodescope {

Lane::Lane(const LaneSpec& spec, std::shared_ptr<const Weights> weights, Backend& backend,
           std::shared_ptr<MemoryLedger> ledger)
    : spec_(spec),
      weights_(std::move(weights)),
      backend_(backend),
      ledger_(ledger),
      workspace_(std::move(ledger)) {}

Result<void> Lane::plan_chunks() {
    const int length = static_cast<int>(tokens_.size());
    chunks_ = spec_.prefill_partition;
    if (!chunks_.empty()) {
        const bool positive = std::all_of(chunks_.begin(), chunks_.end(), [](int n) { return n >= 1; });
        if (positive && std::accumulate(chunks_.begin(), chunks_.end(), std::int64_t{0}) == length) return {};
        return Error{
            ErrorKind::bad_input,
            fmt::format(
                "Lane \"{}\": the prefill partition must be positive sizes that sum to the prompt's {} "
                "tokens.",
                spec_.name, length)};
    }
    const int chunk = spec_.prefill_chunk > 0 ? spec_.prefill_chunk : length;
    for (int done = 0; done < length; done += chunk) chunks_.push_back(std::min(chunk, length - done));
    return {};
}

Result<void> Lane::start(std::span<const std::int32_t> prompt, int new_tokens, const Sampling& sampling) {
    finish();
    const ModelConfig& config = weights_->config;
    if (prompt.empty() || new_tokens < 1) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Lane \"{}\": got {} prompt tokens and {} new ones, expected at "
                                 "least one of each.",
                                 spec_.name, prompt.size(), new_tokens)};
    }
    const bool cached = spec_.mode == LaneMode::cached;
    std::int64_t most = config.n_positions;
    if (cached && spec_.cache.capacity > 0) most = std::min<std::int64_t>(most, spec_.cache.capacity);
    const auto length = static_cast<std::int64_t>(prompt.size());
    if (length > most) {
        return Error{
            ErrorKind::capacity,
            fmt::format("Lane \"{}\": the prompt has {} tokens, but there is room for {} "
                        "({}).",
                        spec_.name, length, most,
                        most < config.n_positions ? "the cache's capacity" : "the model's positions")};
    }
    // The last new token is never forwarded.
    const std::int64_t entries = std::min(most, length + new_tokens - 1);
    tokens_.assign(prompt.begin(), prompt.end());
    tokens_.reserve(static_cast<std::size_t>(entries));
    DS_TRY(plan_chunks());
    sampler_ = Sampler(sampling);
    if (cached) {
        const KvShape shape{config.n_layer, 1, config.n_kv_head, config.head_dim};
        const std::int64_t capacity = spec_.cache.capacity > 0 ? spec_.cache.capacity : entries;
        auto cache = make_cache(spec_.cache.kind, shape, static_cast<int>(capacity), ledger_);
        if (!cache) return cache.error();
        cache_ = *std::move(cache);
    }
    if (spec_.allocation == AllocationPolicy::reused) {
        const std::int64_t rows = cached ? *std::max_element(chunks_.begin(), chunks_.end()) : entries;
        const std::int64_t slots = cached ? std::max<std::int64_t>(cache_->slots_after(0), entries) : entries;
        const std::int64_t scores =
            std::max(backend_.scores_floats(static_cast<int>(rows), static_cast<int>(slots)),
                     backend_.scores_floats(1, static_cast<int>(slots)));
        DS_TRY(workspace_.ensure(config, rows, 1, scores));
    }
    return {};
}

void Lane::finish() {
    cache_.reset();
    workspace_.release();
    tokens_.clear();
    chunks_.clear();
    step_ = 0;
}

Result<LaneStep> Lane::prefill(std::stop_token stop) {
    if (tokens_.empty() || step_ != 0) {
        return Error{ErrorKind::internal, "A lane's prefill was called out of turn."};
    }
    if (spec_.mode == LaneMode::cached) return advance(chunks_, std::move(stop));
    const int whole = static_cast<int>(tokens_.size());
    return advance({&whole, 1}, std::move(stop));
}

Result<LaneStep> Lane::decode(std::int32_t token, std::stop_token stop) {
    if (step_ == 0) return Error{ErrorKind::internal, "A lane's decode step was called before its prefill."};
    const std::int64_t length = static_cast<std::int64_t>(tokens_.size()) + 1;
    const std::int64_t positions = weights_->config.n_positions;
    const std::int64_t capacity = spec_.cache.capacity > 0 ? spec_.cache.capacity : positions;
    if (length > std::min(positions, capacity)) {
        return Error{ErrorKind::capacity,
                     fmt::format("Lane \"{}\": entry {} is beyond {} of {}.", spec_.name, length,
                                 capacity < positions ? "the cache's capacity" : "the model's positions",
                                 std::min(positions, capacity))};
    }
    tokens_.push_back(token);
    const int n_query = spec_.mode == LaneMode::cached ? 1 : static_cast<int>(length);
    auto step = advance({&n_query, 1}, std::move(stop));
    if (!step) tokens_.pop_back();
    return step;
}

Result<LaneStep> Lane::advance(std::span<const int> chunks, std::stop_token stop) {
    if (spec_.allocation == AllocationPolicy::fresh) workspace_.release();
    LaneStep step;
    const std::int64_t faults = read_minor_faults();
    step.start_ns = now_ns();
    for (const int n_query : chunks) {
        // A cached lane continues behind its entries; a naive one starts over with every token.
        const std::size_t begin = cache_ != nullptr ? static_cast<std::size_t>(cache_->length()) : 0;
        const AttentionPlan plan =
            cache_ != nullptr ? plan_append(*cache_, n_query) : plan_single(0, n_query, n_query);
        const auto fed = std::span(tokens_).subspan(begin, static_cast<std::size_t>(n_query));
        const auto output =
            forward(*weights_, fed, plan, LogitsRows::last, cache_.get(), workspace_, backend_, stop);
        if (!output) return output.error();
        step.positions_forwarded += n_query;
        step.score_cells_allowed += plan.n_allowed();
        step.score_cells_computed += output->score_cells_computed;
        step.logits = output->logits;
    }
    const auto token = sampler_.choose(step.logits, step_);
    step.end_ns = now_ns();
    if (!token) return token.error();
    step.token = *token;
    if (faults >= 0)
        step.minor_faults = read_minor_faults() - faults;
    else
        step.minor_faults = ProcessMemory::not_measured;
    ++step_;
    return step;
}

}  // namespace decodescope
