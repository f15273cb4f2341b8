// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cache/kv_cache.h"
#include "engine/decode/device_time.h"
#include "engine/decode/lane_spec.h"
#include "engine/decode/sampler.h"
#include "engine/model/forward.h"
#include "engine/model/workspace.h"

namespace decodescope {

/// Up to `n` tokens that followed the newest earlier occurrence of the last `ngram` tokens of `text`, put at
/// the end of `drafts` (prompt lookup: Saxena 2023). Nothing when there is none.
void lookup_drafts(std::span<const std::int32_t> text, int ngram, int n, std::vector<std::int32_t>& drafts);

/// A model that guesses what another will say, with a cache of its own.
class DraftModel {
public:
    /// `tf32`: see `Workspace::set_tf32`.
    DraftModel(std::shared_ptr<const Weights> weights, Backend& backend, std::shared_ptr<MemoryLedger> ledger,
               bool tf32 = false)
        : weights_(std::move(weights)), backend_(backend), ledger_(ledger), workspace_(std::move(ledger)) {
        workspace_.set_tf32(tf32);
    }

    /// Allocates for texts of up to `entries` tokens and calls of up to `max_call`.
    Result<void> open(int entries, int max_call);
    void close();

    /// Forwards what it has not seen of `text`.
    Result<void> catch_up(std::span<const std::int32_t> text, std::stop_token stop);
    /// Guesses up to `n` tokens that follow `text`, whose next token is number `index` of the answer.
    /// `distributions`, where wanted: what each guess was drawn from, [n, vocab]; the guesses are then drawn
    /// with random numbers of their own, else with those that the target's choice will use.
    Result<void> draft(std::span<const std::int32_t> text, int n, std::int64_t index, Sampler& sampler,
                       std::vector<std::int32_t>& drafts, std::vector<double>* distributions,
                       std::stop_token stop);
    /// Forgets what lies behind the first `n_token` tokens.
    Result<void> keep(int n_token);
    /// Drops the newest `n_entry` entries and goes on as if it still had them: a deliberate mistake.
    Result<void> lose(int n_entry);

    const KvCache* cache() const { return cache_.get(); }
    /// Forward calls and token rows since the last `take_counts`.
    struct Counts {
        int calls = 0;
        std::int64_t positions = 0;
        DeviceTime device_time;
    };
    Counts take_counts() { return std::exchange(counts_, {}); }

private:
    /// Tokens of the text that need not be forwarded again.
    std::size_t seen() const { return static_cast<std::size_t>(cache_->next_position() + n_lost_); }
    Result<std::span<const float>> feed(std::span<const std::int32_t> tokens, bool logits,
                                        std::stop_token stop);

    std::shared_ptr<const Weights> weights_;
    Backend& backend_;
    std::shared_ptr<MemoryLedger> ledger_;
    Workspace workspace_;
    std::unique_ptr<KvCache> cache_;
    CallTokens call_;
    std::vector<std::int32_t> history_;
    int max_call_ = 0;
    int n_lost_ = 0;  // tokens that were forwarded and whose entries are gone, by mistake
    Counts counts_;
};

/// Index of the first entry of `weights` whose running sum exceeds `u` x their sum, u in [0, 1); entries of
/// weight 0 are never taken. -1 when all are 0.
std::int32_t draw(std::span<const double> weights, double u);

}  // namespace decodescope
