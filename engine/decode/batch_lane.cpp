// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/batch_lane.h"

#include <fmt/format.h>

#include <algorithm>

namespace decodescope {

Result<std::unique_ptr<Lane>> BatchLane::make(const LaneSpec& spec, LaneContext context) {
    std::unique_ptr<BatchLane> lane(new BatchLane(spec, std::move(context)));
    const auto& eos = lane->config().eos_ids;
    lane->pad_ = eos.empty() ? 0 : eos.front();
    return std::unique_ptr<Lane>(std::move(lane));
}

/// Columns of the rectangle that the prompts of a group make.
int BatchLane::width_of_group(int first, int last) const {
    int width = 0;
    for (int i = first; i < last; ++i) width = std::max(width, static_cast<int>(request(i).prompt.size()));
    return width;
}

Result<void> BatchLane::on_start() {
    group_ = 0;
    counter_ = 0;
    prefilled_ = false;
    for (int i = 0; i < n_request(); ++i) {
        const int length = static_cast<int>(request(i).prompt.size());
        DS_TRY(check_fits(spec_.batching == Batching::static_ ? width_of_group(0, n_request()) : length));
        const auto chunks = prefill_chunks_of(spec_, length);
        if (!chunks) return chunks.error();
    }
    return open_group();
}

Result<void> BatchLane::open_group() {
    width_ = width_of_group(first(), last());
    auto chunks = prefill_chunks_of(spec_, width_);
    if (!chunks) return chunks.error();
    chunks_ = *std::move(chunks);
    // The last new token is never forwarded. Pads take slots, but no positions.
    int entries = 0;
    for (int i = first(); i < last(); ++i) {
        const int length = static_cast<int>(request(i).prompt.size());
        const int pads = spec_.padding == Padding::none ? 0 : width_ - length;
        entries =
            std::max(entries, pads + std::min(config().n_positions, length + request(i).new_tokens - 1));
    }
    int max_call = *std::max_element(chunks_.begin(), chunks_.end());
    if (faults_.has(Fault::prompt_reprocessed) || faults_.has(Fault::prefix_fed_again)) max_call = entries;
    if (faults_.has(Fault::token_twice)) max_call = std::max(max_call, 2);
    entries = extra_entries(entries);
    if (cache_ != nullptr && faults_.has(Fault::counter_kept)) counter_ += cache_->next_position();
    const bool kept = cache_ != nullptr && faults_.has(Fault::cache_kept);
    if (!kept) cache_.reset();
    if (cached() && !kept) {
        const int capacity = spec_.cache.capacity > 0 ? spec_.cache.capacity : entries;
        DS_TRY(make_cache(n_row(), {capacity, max_call, 0, window()}));
    }
    const std::int64_t rows = std::int64_t{n_row()} * (cached() ? max_call : entries);
    // A cache's rows may have more slots than entries, but never more than this.
    const int slots = std::max(entries, cached() ? cache_->capacity() : 0);
    DS_TRY(reserve_room(workspace_, *context_.weights, *context_.backend,
                        {n_row(), rows, n_row(), slots, asks_for_draws()}));
    reserve_call(n_row(), static_cast<int>(rows), n_row());
    ends_.reserve(static_cast<std::size_t>(n_row()));
    kept_logits_.release();
    prefilled_ = false;
    return {};
}

/// Entries that a cache of `entries` is made for. More where a lane is to store too much, fewer where it is
/// to run out of room.
int BatchLane::extra_entries(int entries) const {
    constexpr int room = 3;  // tokens after the prompt
    if (faults_.has(Fault::overflow_last_slot) || faults_.has(Fault::ring_without_window))
        return std::min(entries, width_ + room);
    const int new_tokens = request(group_).new_tokens;
    if (faults_.has(Fault::prefix_fed_again)) return entries * new_tokens;
    if (faults_.has(Fault::token_twice)) return entries + 1;
    if (faults_.has(Fault::rows_not_reindexed)) return entries + width_;
    if (!faults_.has(Fault::cache_kept)) return entries;
    int all = 0;
    for (int i = 0; i < n_request(); ++i)
        all += static_cast<int>(request(i).prompt.size()) + request(i).new_tokens;
    return all;
}

void BatchLane::on_finish() {
    chunks_.clear();
    kept_logits_.release();
    prefilled_ = false;
}

bool BatchLane::group_is_done() const {
    for (int i = first(); i < last(); ++i) {
        if (!requests()[static_cast<std::size_t>(i)].finished) return false;
    }
    return true;
}

/// Whether one more token of `request` has a place.
bool BatchLane::has_room(int request) const {
    const auto& mine = requests()[static_cast<std::size_t>(request)];
    const int pads = spec_.padding == Padding::none ? 0 : width_ - mine.prompt_length;
    const int slots = static_cast<int>(mine.tokens.size()) + (cached() ? pads : 0);
    const bool wraps = faults_.has(Fault::overflow_last_slot) || faults_.has(Fault::ring_without_window);
    const bool slot = !cached() || spec_.cache.capacity == 0 || slots <= spec_.cache.capacity || wraps;
    return slot && static_cast<int>(mine.tokens.size()) <= config().n_positions;
}

Result<bool> BatchLane::on_ready() {
    if (prefilled_) {
        for (int i = first(); i < last(); ++i) {
            if (!feed_chosen(i) || has_room(i)) continue;
            state(i).tokens.pop_back();
            const int most = most_entries();
            end(i, FinishReason::capacity,
                refused(
                    ErrorKind::capacity,
                    fmt::format(
                        "entry {} is beyond {} of {}", most + 1,
                        most < config().n_positions ? "the cache's capacity" : "the model's positions", most))
                    .message);
        }
    }
    while (group_is_done()) {
        if (last() >= n_request()) return false;
        group_ = last();
        // The next request's memory is only asked for when the one before has given back its own.
        DS_TRY(open_group());
    }
    return true;
}

/// Index of the first token of a text that a call without a cache shows.
int BatchLane::first_shown(const RequestState& request) const {
    constexpr int room = 3;  // tokens after the prompt
    if (!faults_.has(Fault::naive_crop)) return 0;
    return std::max(0, static_cast<int>(request.tokens.size()) - request.prompt_length - room);
}

/// Adds columns [begin, end) of the prefill rectangle of `request`, or for rows that are not padded its
/// tokens from `begin` on; notes the row if its last token is among them.
void BatchLane::add_columns(int request, int begin, int end) {
    const RequestState& mine = state(request);
    const int shown = first_shown(mine);
    const int length = static_cast<int>(mine.tokens.size()) - shown;
    const int stored = cached() ? cache_->next_position(request - first()) : 0;
    int text_start = 0;
    if (!mine.finished) {
        const int first_column = spec_.padding == Padding::left ? width_ - length : 0;
        const int last_column = spec_.padding == Padding::none ? std::min(end, length) : end;
        const int read = faults_.has(Fault::pad_last_column) ? width_ - 1 : length - 1;
        text_start = std::clamp(begin - first_column, 0, length);
        for (int column = begin; column < last_column; ++column) {
            const int position = column - first_column;
            const bool real = position >= 0 && position < length;
            call_.add(real ? mine.tokens[static_cast<std::size_t>(shown + position)] : pad_,
                      real ? stored + position - text_start : slot_padding);
            if (position == read) {
                choose_here(request);
                ends_.push_back(request);
            }
        }
    }
    end_row(request, shown + text_start, counter_);
}

/// Chooses for every row of `ends_`. `keep`: other calls of this step will overwrite the logits.
Result<void> BatchLane::choose_ends(const ForwardOutput& output, LaneStep& step, bool keep) {
    const auto vocab = static_cast<std::size_t>(config().vocab);
    const std::size_t before = step.logits.size() / vocab;
    if (keep && !ends_.empty()) {
        if (kept_logits_.empty()) {
            auto kept =
                Buffer::floats(context_.host(), Owner::logits, vocab * static_cast<std::size_t>(n_row()));
            if (!kept) return kept.error();
            kept_logits_ = *std::move(kept);
        }
        std::copy(output.logits.begin(), output.logits.end(), kept_logits_.f32() + before * vocab);
        step.logits = {kept_logits_.f32(), (before + ends_.size()) * vocab};
    } else if (!keep) {
        step.logits = output.logits;
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
        DS_TRY(choose(ends_[i], static_cast<int>(before + i), output, i));
    }
    return {};
}

Result<void> BatchLane::on_step(LaneStep& step, std::stop_token stop) {
    for (int i = first(); i < last(); ++i) step.n_row += !state(i).finished;
    step.phase = prefilled_ ? Phase::decode : Phase::prefill;
    for (int i = first(); i < last(); ++i) {
        RequestState& mine = state(i);
        if (!mine.finished && step.fed_first < 0)
            step.fed_first = prefilled_ ? mine.tokens.back() : mine.tokens.front();
        mine.started = true;
    }
    if (!cached()) return step_whole(step, std::move(stop));
    return prefilled_ ? step_decode(step, std::move(stop)) : step_prefill(step, std::move(stop));
}

Result<void> BatchLane::step_prefill(LaneStep& step, std::stop_token stop) {
    const bool ends_apart = chunks_.size() > 1 && n_row() > 1 && spec_.padding != Padding::left;
    int begin = 0;
    for (const int n : chunks_) {
        begin_call();
        ends_.clear();
        for (int i = first(); i < last(); ++i) add_columns(i, begin, begin + n);
        begin += n;
        const auto output = call_model(step, wanted_here(), stop);
        if (!output) return output.error();
        DS_TRY(choose_ends(*output, step, ends_apart));
    }
    prefilled_ = true;
    for (int row = 0; row < n_row() && faults_.has(Fault::token_missing); ++row)
        DS_TRY(cache_->truncate(row, cache_->next_position(row) - 1));
    return {};
}

/// A naive step: every row's whole text, as a rectangle again.
Result<void> BatchLane::step_whole(LaneStep& step, std::stop_token stop) {
    width_ = 0;
    for (int i = first(); i < last(); ++i) {
        if (!state(i).finished) width_ = std::max(width_, static_cast<int>(state(i).tokens.size()));
    }
    begin_call();
    ends_.clear();
    for (int i = first(); i < last(); ++i) add_columns(i, 0, width_);
    const auto output = call_model(step, wanted_here(), std::move(stop));
    if (!output) return output.error();
    prefilled_ = true;
    return choose_ends(*output, step, false);
}

/// Adds a row with the tokens of `request` that row `row` of the cache does not hold yet.
void BatchLane::add_newest(int request, int row) {
    const RequestState& mine = state(request);
    const auto n = static_cast<int>(mine.tokens.size());
    int first_fed = n - 1;
    if (faults_.has(Fault::token_twice) && mine.n_chosen == 1) first_fed = n - 2;
    if (faults_.has(Fault::prefix_fed_again) || faults_.has(Fault::prompt_reprocessed)) first_fed = 0;
    if (faults_.has(Fault::prompt_reprocessed)) cache_->clear_row(row);
    std::int32_t position = cache_->next_position(row);
    if (!mine.finished) {
        for (int k = first_fed; k < n; ++k) call_.add(mine.tokens[static_cast<std::size_t>(k)], position++);
        choose_here(request);
        ends_.push_back(request);
    }
    end_row(request, first_fed, counter_);
    // The inputs move, masks with them; the cache does not.
    if (faults_.has(Fault::rows_not_reindexed) && spec_.padding == Padding::left)
        call_rows_.back().masked = width_ - mine.prompt_length;
}

Result<void> BatchLane::step_decode(LaneStep& step, std::stop_token stop) {
    begin_call();
    ends_.clear();
    for (int i = first(); i < last(); ++i) {
        if (state(i).finished && faults_.has(Fault::rows_not_reindexed)) continue;
        add_newest(i, call_.batch());
    }
    while (call_.batch() < n_row()) end_row();
    const auto output = call_model(step, wanted_here(), std::move(stop));
    if (!output) return output.error();
    return choose_ends(*output, step, false);
}

}  // namespace decodescope
