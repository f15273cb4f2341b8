// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/beam_lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace decodescope {

Result<std::unique_ptr<Lane>> BeamLane::make(const LaneSpec& spec, LaneContext context) {
    return std::unique_ptr<Lane>(new BeamLane(spec, std::move(context)));
}

Result<void> BeamLane::open_request() {
    DS_TRY(allocate(spec_.beams, longest_chunk(), 0, std::max(longest_chunk(), spec_.beams), spec_.beams));
    beams_.assign(1, {});
    ended_.clear();
    answered_ = false;
    return {};
}

void BeamLane::on_finish() {
    SequentialLane::on_finish();
    beams_.clear();
    ended_.clear();
    answered_ = false;
}

void BeamLane::settle() {
    const RequestState& mine = state(current_);
    if (!answered_ || mine.finished) return;
    if (is_stop(mine.chosen)) {
        end(current_, FinishReason::stop_token, fmt::format("The stop token {} was chosen.", mine.chosen));
    } else if (mine.n_chosen >= request(current_).new_tokens) {
        end(current_, FinishReason::length, {});
    } else {
        end_for_room();
    }
}

/// Puts what may follow one beam among the candidates, of which the best 2 x beams are kept.
void BeamLane::add_candidates(int beam, std::span<const float> logits) {
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
    const double norm = largest + std::log(sum);
    const auto better = [](const Candidate& x, const Candidate& y) {
        if (x.score != y.score) return x.score > y.score;
        return x.beam != y.beam ? x.beam < y.beam : x.token < y.token;
    };
    const auto most = static_cast<std::size_t>(2 * spec_.beams);
    for (std::size_t token = 0; token < logits.size(); ++token) {
        const Candidate candidate{
            beam, static_cast<std::int32_t>(token),
            beams_[static_cast<std::size_t>(beam)].score + static_cast<double>(logits[token]) - norm};
        if (candidates_.size() == most && !better(candidate, candidates_.back())) continue;
        candidates_.insert(std::upper_bound(candidates_.begin(), candidates_.end(), candidate, better),
                           candidate);
        if (candidates_.size() > most) candidates_.pop_back();
    }
}

/// Replaces the beams by their best continuations and makes the cache's rows follow.
Result<void> BeamLane::rank(std::span<const float> logits, int n_row) {
    const auto vocab = static_cast<std::size_t>(config().vocab);
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (std::isfinite(logits[i])) continue;
        return refused(
            ErrorKind::non_finite,
            fmt::format("the logit of token {} is {}, expected a finite number", i % vocab, logits[i]));
    }
    candidates_.clear();
    for (int row = 0; row < n_row; ++row)
        add_candidates(row, logits.subspan(static_cast<std::size_t>(row) * vocab, vocab));
    const auto width = static_cast<std::size_t>(spec_.beams);
    std::vector<Beam> next;
    std::vector<int> parents;
    for (std::size_t i = 0; i < candidates_.size() && next.size() < width; ++i) {
        const Candidate& candidate = candidates_[i];
        Beam beam = beams_[static_cast<std::size_t>(candidate.beam)];
        beam.tokens.push_back(candidate.token);
        beam.score = candidate.score;
        if (is_stop(candidate.token)) {
            if (i < width) ended_.push_back(std::move(beam));
            continue;
        }
        next.push_back(std::move(beam));
        parents.push_back(candidate.beam);
    }
    if (next.empty()) {  // every continuation has ended
        beams_.clear();
        return {};
    }
    // Fewer candidates than beams only happens with tiny vocabularies; the spare rows follow the first.
    while (parents.size() < width) parents.push_back(parents.front());
    beams_ = std::move(next);
    return reorder(parents);
}

void BeamLane::answer() {
    const auto worse = [](const Beam& x, const Beam& y) { return x.score < y.score; };
    std::vector<Beam> all = ended_;
    all.insert(all.end(), beams_.begin(), beams_.end());
    const Beam& best = *std::max_element(all.begin(), all.end(), worse);
    best_score_ = best.score;
    for (const std::int32_t token : best.tokens) {
        note(current_, token, -1, false);
        if (state(current_).n_chosen < static_cast<int>(best.tokens.size()))
            state(current_).tokens.push_back(token);
    }
    answered_ = true;
}

Result<void> BeamLane::on_step(LaneStep& step, std::stop_token stop) {
    RequestState& mine = state(current_);
    mine.started = true;
    step.n_row = 1;
    step.phase = prefilled_ ? Phase::decode : Phase::prefill;
    std::span<const float> logits;
    int n_row = 1;
    if (!prefilled_) {
        const auto output = prefill(step, spec_.beams - 1, std::move(stop));
        if (!output) return output.error();
        logits = output->logits;
    } else {
        begin_call();
        n_row = static_cast<int>(beams_.size());
        for (int row = 0; row < spec_.beams; ++row) {
            if (row < n_row) {
                const Beam& beam = beams_[static_cast<std::size_t>(row)];
                const auto newest = mine.prompt_length + static_cast<std::int32_t>(beam.tokens.size()) - 1;
                call_.add(beam.tokens.back(), newest);
                read_here();
                end_row(current_, newest);
            } else {
                end_row();
            }
        }
        const auto output = call_model(step, logit_rows_, std::move(stop));
        if (!output) return output.error();
        logits = output->logits;
    }
    DS_TRY(rank(logits, n_row));
    const int length = beams_.empty() ? 0 : static_cast<int>(beams_.front().tokens.size());
    const bool full = mine.prompt_length + length > most_entries();
    if (beams_.empty() || length >= request(current_).new_tokens || full) answer();
    return {};
}

}  // namespace decodescope
