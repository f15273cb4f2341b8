// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/speculative_lane.h"

#include <fmt/format.h>

#include <algorithm>

namespace decodescope {

Result<std::unique_ptr<Lane>> SpeculativeLane::make(const LaneSpec& spec, LaneContext context) {
    std::unique_ptr<SpeculativeLane> lane(new SpeculativeLane(spec, std::move(context)));
    LaneContext& parts = lane->context_;
    if (spec.draft.kind == DraftKind::layers) {
        if (spec.draft.layers < 1 || spec.draft.layers >= lane->config().n_layer) {
            return lane->refused(
                ErrorKind::bad_input,
                fmt::format("draft.layers is {}, expected 1 to {}, fewer than the model's {}",
                            spec.draft.layers, lane->config().n_layer - 1, lane->config().n_layer));
        }
        parts.draft_weights = first_layers(parts.weights, spec.draft.layers);
    }
    if (spec.draft.kind == DraftKind::model && parts.draft_weights == nullptr)
        return Error{ErrorKind::internal, "A lane with a draft model was made without one."};
    if (spec.draft.kind != DraftKind::ngram) {
        if (parts.draft_weights->config.vocab != lane->config().vocab) {
            return lane->refused(
                ErrorKind::bad_input,
                fmt::format("the draft model's vocabulary has {} tokens, expected the model's {}",
                            parts.draft_weights->config.vocab, lane->config().vocab));
        }
        lane->draft_.emplace(parts.draft_weights, *parts.backend, parts.ledger, spec.tf32);
    }
    return std::unique_ptr<Lane>(std::move(lane));
}

Result<void> SpeculativeLane::open_request() {
    const int verify = spec_.draft.tokens + 1;
    const int max_call = std::max(longest_chunk(), verify);
    DS_TRY(allocate(1, max_call, spec_.draft.tokens, max_call, verify));
    drafts_.reserve(static_cast<std::size_t>(verify));
    if (draft_) DS_TRY(draft_->open(entries(), max_call));
    const auto vocab = static_cast<std::size_t>(config().vocab);
    if (spec_.draft.acceptance == Acceptance::rejection) {
        draft_distributions_.reserve(vocab * static_cast<std::size_t>(spec_.draft.tokens));
        target_distribution_.resize(vocab);
    }
    return {};
}

void SpeculativeLane::on_finish() {
    SequentialLane::on_finish();
    if (draft_) draft_->close();
}

void SpeculativeLane::settle() {
    RequestState& mine = state(current_);
    if (!prefilled_ || !feed_chosen(current_) || static_cast<int>(mine.tokens.size()) <= most_entries())
        return;
    mine.tokens.pop_back();
    end_for_room();
}

Result<void> SpeculativeLane::step_prefill(LaneStep& step, std::stop_token stop) {
    const auto output = prefill(step, 0, stop);
    if (!output) return output.error();
    step.logits = output->logits;
    if (draft_) DS_TRY(draft_->catch_up(state(current_).tokens, std::move(stop)));
    return choose(current_, 0, *output, 0);
}

Result<void> SpeculativeLane::make_drafts(std::stop_token stop) {
    const RequestState& mine = state(current_);
    drafts_.clear();
    draft_distributions_.clear();
    // Every draft that holds is one more new token, and takes one more entry, than a plain step.
    const int left = request(current_).new_tokens - mine.n_chosen - 1;
    const int room = most_entries() - static_cast<int>(mine.tokens.size());
    const int n = std::min({spec_.draft.tokens, left, room});
    if (n < 1) return {};
    if (!draft_) {
        lookup_drafts(mine.tokens, spec_.draft.ngram, n, drafts_);
        return {};
    }
    const bool rejection = spec_.draft.acceptance == Acceptance::rejection;
    return draft_->draft(mine.tokens, n, mine.n_chosen, samplers_[static_cast<std::size_t>(current_)],
                         drafts_, rejection ? &draft_distributions_ : nullptr, std::move(stop));
}

/// Whether a request that has just been given `token` wants another one in this step.
bool SpeculativeLane::goes_on(std::int32_t token) const {
    const RequestState& mine = requests()[static_cast<std::size_t>(current_)];
    const Request& one = request(current_);
    return mine.n_chosen < one.new_tokens && (one.cancel_after == 0 || mine.n_chosen < one.cancel_after) &&
           !is_stop(token);
}

Result<void> SpeculativeLane::accept_matches(const ForwardOutput& output, LaneStep& step) {
    RequestState& mine = state(current_);
    for (std::size_t row = 0; row <= drafts_.size(); ++row) {
        const std::int32_t guess = row < drafts_.size() ? drafts_[row] : -1;
        DS_TRY(choose(current_, static_cast<int>(row), output, row, guess));
        if (row == drafts_.size() || !goes_on(mine.chosen)) break;
        const auto fed = feed_->next(current_, mine.n_chosen - 1, mine.chosen);
        if (!fed || *fed != guess) break;
        mine.tokens.push_back(*fed);
        mine.chosen = -1;
        ++step.n_accepted;
    }
    return {};
}

Result<void> SpeculativeLane::accept_by_rejection(const ForwardOutput& output, LaneStep& step) {
    const auto vocab = static_cast<std::size_t>(config().vocab);
    RequestState& mine = state(current_);
    Sampler& sampler = samplers_[static_cast<std::size_t>(current_)];
    const std::span p(target_distribution_);
    for (std::size_t row = 0; row < drafts_.size(); ++row) {
        const auto logits = output.logits.subspan(row * vocab, vocab);
        DS_TRY(sampler.distribution(logits, mine.tokens, p));
        const std::int32_t guess = drafts_[row];
        const auto at = static_cast<std::size_t>(guess);
        // A looked-up draft is certain: q is 1 at the guess.
        const double q = draft_ ? draft_distributions_[row * vocab + at] : 1.0;
        const std::int64_t index = mine.n_chosen;
        if (sampler.uniform(index, 2) * q < p[at]) {
            note(current_, guess, static_cast<int>(row), true);
            if (!goes_on(guess)) return {};
            mine.tokens.push_back(guess);
            mine.chosen = -1;
            ++step.n_accepted;
            continue;
        }
        for (std::size_t i = 0; i < vocab; ++i) {
            const double qi = draft_ ? draft_distributions_[row * vocab + i] : i == at ? 1.0 : 0.0;
            p[i] = std::max(0.0, p[i] - qi);
        }
        std::int32_t token = draw(p, sampler.uniform(index, 3));
        if (token < 0) token = guess;  // p = q up to rounding: the draft was as good as any
        note(current_, token, static_cast<int>(row), false);
        return {};
    }
    return choose(current_, static_cast<int>(drafts_.size()), output, drafts_.size());
}

/// Drops the entries of drafts that did not hold; what was chosen last has none yet.
Result<void> SpeculativeLane::roll_back(int n_rejected) {
    int dropped = n_rejected;
    if (n_rejected > 0) {
        if (faults_.has(Fault::drafts_kept) || faults_.has(Fault::rollback_position_only)) dropped = 0;
        if (faults_.has(Fault::rollback_short)) dropped -= 1;
        if (faults_.has(Fault::rollback_long)) dropped += 1;
    }
    DS_TRY(cache_->truncate(0, cache_->next_position() - dropped));
    if (!draft_) return {};
    DS_TRY(draft_->keep(static_cast<int>(state(current_).tokens.size())));
    return n_rejected > 0 && faults_.has(Fault::draft_cache_trim) ? draft_->lose(2) : Result<void>();
}

Result<void> SpeculativeLane::on_step(LaneStep& step, std::stop_token stop) {
    RequestState& mine = state(current_);
    mine.started = true;
    step.n_row = 1;
    step.phase = prefilled_ ? Phase::decode : Phase::prefill;
    if (!prefilled_) {
        DS_TRY(step_prefill(step, stop));
    } else {
        DS_TRY(make_drafts(stop));
        begin_call();
        const auto newest = static_cast<std::int32_t>(mine.tokens.size()) - 1;
        const auto position = static_cast<std::int32_t>(cache_->next_position());
        call_.add(mine.tokens.back(), position);
        for (std::size_t i = 0; i < drafts_.size(); ++i)
            call_.add(drafts_[i], position + 1 + static_cast<std::int32_t>(i));
        for (std::int32_t i = 0; i < call_.n_token(); ++i) logit_rows_.push_back(i);
        end_row(current_, newest);
        const auto output = call_model(step, logit_rows_, stop);
        if (!output) return output.error();
        step.logits = output->logits;
        step.n_drafted = static_cast<std::int32_t>(drafts_.size());
        DS_TRY(spec_.draft.acceptance == Acceptance::rejection ? accept_by_rejection(*output, step)
                                                               : accept_matches(*output, step));
        if (watch_) watch_->observer().verified(0, step.n_accepted);
        DS_TRY(roll_back(step.n_drafted - step.n_accepted));
    }
    if (draft_) {
        const DraftModel::Counts counts = draft_->take_counts();
        step.n_draft_call = counts.calls;
        step.draft_positions_forwarded = counts.positions;
        step.device_time.add(counts.device_time);
    }
    return {};
}

}  // namespace decodescope
