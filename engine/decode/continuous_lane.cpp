// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/continuous_lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/core/clock.h"

namespace decodescope {

Result<std::unique_ptr<Lane>> ContinuousLane::make(const LaneSpec& spec, LaneContext context) {
    return std::unique_ptr<Lane>(new ContinuousLane(spec, std::move(context)));
}

/// Entries that a request makes at most: its last new token is never forwarded.
int ContinuousLane::entries(int i) const {
    const Request& one = request(i);
    return static_cast<int>(std::min<std::int64_t>(
        most_entries(), static_cast<std::int64_t>(one.prompt.size()) + one.new_tokens - 1));
}

/// Those that it keeps at most: a window forgets the others.
int ContinuousLane::retained(int i) const {
    if (spec_.cache.kind != CacheKind::window) return entries(i);
    return static_cast<int>(std::min<std::int64_t>(entries(i), std::int64_t{window().size} + window().sinks));
}

Result<void> ContinuousLane::on_start() {
    int longest = 0;
    int longest_prompt = 0;
    int prompt_tokens = 0;
    for (int i = 0; i < n_request(); ++i) {
        const int length = static_cast<int>(request(i).prompt.size());
        DS_TRY(check_fits(length));
        longest = std::max(longest, entries(i));
        longest_prompt = std::max(longest_prompt, length);
        prompt_tokens += length;
    }
    const int n_row = spec_.max_rows > 0 ? std::min(spec_.max_rows, n_request()) : n_request();
    const bool paged = spec_.cache.kind == CacheKind::paged;
    const int block = paged ? spec_.cache.block : 1;
    std::int64_t budget = spec_.budget;
    if (paged && spec_.cache.blocks > 0) {
        const std::int64_t pool = std::int64_t{spec_.cache.blocks} * block;
        budget = budget == 0 ? pool : std::min(budget, pool);
    }
    scheduler_ = Scheduler(n_row, budget, block);
    for (int i = 0; i < n_request(); ++i) {
        if (scheduler_.can_ever_fit(retained(i))) continue;
        return refused(ErrorKind::capacity,
                       fmt::format("request {} may come to {} tokens, but the budget is {}", i + 1,
                                   retained(i), budget));
    }
    queued_.assign(static_cast<std::size_t>(n_request()), 0);
    n_adopted_ = 0;

    const int chunk = spec_.prefill_chunk > 0 ? std::min(spec_.prefill_chunk, prompt_tokens) : prompt_tokens;
    const int max_call = std::min(chunk, longest_prompt);
    // A pool that only has to hold what the budget lets in, for this workload.
    const int asked_blocks = spec_.cache.blocks;
    if (paged && spec_.cache.blocks == 0 && budget > 0) {
        spec_.cache.blocks = static_cast<int>(
            std::min<std::int64_t>(budget / block, std::int64_t{n_row} * ((longest + block - 1) / block)));
    }
    const int capacity = spec_.cache.capacity > 0 ? spec_.cache.capacity : longest;
    const auto made = make_cache(n_row, {capacity, max_call, 0, window()});
    spec_.cache.blocks = asked_blocks;
    if (!made) return made.error();
    const int rows = n_row + chunk;
    const int slots = std::max(longest, cache_->capacity());
    DS_TRY(reserve_room(workspace_, *context_.weights, *context_.backend,
                        {n_row, rows, n_row, slots, asks_for_draws()}));
    reserve_call(n_row, rows, n_row);
    ends_.reserve(static_cast<std::size_t>(n_row));
    fresh_.reserve(static_cast<std::size_t>(n_row));
    return {};
}

void ContinuousLane::on_end(int request) {
    const int row = scheduler_.release(request);
    if (row >= 0 && cache_ != nullptr) cache_->clear_row(row);
}

bool ContinuousLane::in_prefill(int row) const {
    const int request = scheduler_.rows()[static_cast<std::size_t>(row)];
    return request >= 0 && requests()[static_cast<std::size_t>(request)].n_chosen == 0;
}

Result<void> ContinuousLane::admit() {
    for (int i = 0; i < n_request(); ++i) {
        RequestState& mine = state(i);
        char& queued = queued_[static_cast<std::size_t>(i)];
        if (!mine.arrived || mine.finished || queued != 0) continue;
        queued = 1;
        scheduler_.add(i, retained(i));
    }
    const auto n_row = static_cast<int>(scheduler_.rows().size());
    while (true) {
        if (spec_.cache.share_prefixes) {
            bool prefilling = false;
            for (int row = 0; row < n_row; ++row) prefilling = prefilling || in_prefill(row);
            if (prefilling) return {};
        }
        const auto row = scheduler_.admit();
        if (!row) return {};
        const int i = scheduler_.rows()[static_cast<std::size_t>(*row)];
        const auto adopted = cache_->adopt_prefix(*row, request(i).prompt, request(i).isolation);
        if (!adopted) return adopted.error();
        state(i).n_adopted = *adopted;
        n_adopted_ += *adopted;
    }
}

/// Nothing is left to do before the next request comes: it comes now.
void ContinuousLane::wait_for_the_next() {
    int next = std::numeric_limits<int>::max();
    for (int i = 0; i < n_request(); ++i) {
        if (!state(i).arrived && !state(i).finished) next = std::min(next, request(i).arrival_step);
    }
    for (int i = 0; i < n_request(); ++i) {
        if (state(i).arrived || request(i).arrival_step != next) continue;
        state(i).arrived = true;
        state(i).arrived_ns = now_ns();
    }
}

Result<bool> ContinuousLane::on_ready() {
    for (int i = 0; i < n_request(); ++i) {
        RequestState& mine = state(i);
        if (mine.finished || mine.n_chosen == 0 || !feed_chosen(i)) continue;
        if (static_cast<int>(mine.tokens.size()) <= most_entries()) continue;
        mine.tokens.pop_back();
        end(i, FinishReason::capacity,
            refused(ErrorKind::capacity, fmt::format("request {} needs entry {}, but there is room for {}",
                                                     i + 1, most_entries() + 1, most_entries()))
                .message);
    }
    const auto idle = [&] {
        const auto& rows = scheduler_.rows();
        return std::all_of(rows.begin(), rows.end(), [](int request) { return request < 0; });
    };
    DS_TRY(admit());
    if (idle()) {
        wait_for_the_next();
        DS_TRY(admit());
    }
    return !idle();
}

Result<void> ContinuousLane::on_step(LaneStep& step, std::stop_token stop) {
    begin_call();
    ends_.clear();
    fresh_.assign(scheduler_.rows().size(), 0);
    int left = spec_.prefill_chunk > 0 ? spec_.prefill_chunk : std::numeric_limits<int>::max();
    bool any_prefill = false;
    bool any_decode = false;
    const auto missing = [&](int i, int row) {
        return static_cast<int>(state(i).tokens.size()) - cache_->next_position(row);
    };
    // Whoever was let in first has its prompt forwarded first, in whatever row it sits.
    for (const Scheduler::Served& one : scheduler_.served()) {
        const bool prefill = in_prefill(one.row);
        const int n = std::min(missing(one.request, one.row), prefill ? left : 1);
        fresh_[static_cast<std::size_t>(one.row)] = n;
        if (prefill) left -= n;
        if (n > 0) (prefill ? any_prefill : any_decode) = true;
    }
    const auto n_row = static_cast<int>(scheduler_.rows().size());
    for (int row = 0; row < n_row; ++row) {
        const int n = fresh_[static_cast<std::size_t>(row)];
        const int i = scheduler_.rows()[static_cast<std::size_t>(row)];
        const int begin = cache_->next_position(row);
        if (n > 0) {
            RequestState& mine = state(i);
            for (int k = begin; k < begin + n; ++k) call_.add(mine.tokens[static_cast<std::size_t>(k)], k);
            mine.started = true;
            ++step.n_row;
            if (n == missing(i, row)) {
                choose_here(i);
                ends_.push_back(i);
            }
        }
        end_row(i, begin);
    }
    step.phase = !any_decode ? Phase::prefill : any_prefill ? Phase::mixed : Phase::decode;
    step.n_waiting = scheduler_.n_waiting();
    const auto output = call_model(step, wanted_here(), std::move(stop));
    if (!output) return output.error();
    step.n_adopted = n_adopted_;
    n_adopted_ = 0;
    step.logits = output->logits;
    for (std::size_t i = 0; i < ends_.size(); ++i) DS_TRY(choose(ends_[i], static_cast<int>(i), *output, i));
    return {};
}

}  // namespace decodescope
