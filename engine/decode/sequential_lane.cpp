// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/sequential_lane.h"

#include <fmt/format.h>

#include <algorithm>

namespace decodescope {

Result<void> SequentialLane::on_start() {
    current_ = 0;
    for (int i = 0; i < n_request(); ++i) DS_TRY(check_fits(static_cast<int>(request(i).prompt.size())));
    return open();
}

Result<void> SequentialLane::open() {
    auto chunks = prefill_chunks_of(spec_, static_cast<int>(request(current_).prompt.size()));
    if (!chunks) return chunks.error();
    chunks_ = *std::move(chunks);
    prefilled_ = false;
    return open_request();
}

Result<bool> SequentialLane::on_ready() {
    while (true) {
        settle();
        if (!state(current_).finished) return true;
        if (current_ + 1 >= n_request()) return false;
        ++current_;
        DS_TRY(open());
    }
}

void SequentialLane::on_finish() {
    chunks_.clear();
    prefilled_ = false;
}

int SequentialLane::entries() const {
    const Request& one = request(current_);
    return std::min(most_entries(), static_cast<int>(one.prompt.size()) + one.new_tokens - 1);
}

int SequentialLane::longest_chunk() const {
    return *std::max_element(chunks_.begin(), chunks_.end());
}

Result<void> SequentialLane::allocate(int batch, int max_call, int rollback, int rows, int n_logits) {
    const bool keeps = faults_.has(Fault::drafts_kept) || faults_.has(Fault::rollback_position_only) ||
                       faults_.has(Fault::rollback_short);
    const int spare = keeps ? request(current_).new_tokens * spec_.draft.tokens : 0;
    const int capacity = spec_.cache.capacity > 0 ? spec_.cache.capacity : entries() + spare;
    cache_.reset();
    DS_TRY(make_cache(batch, {capacity, max_call, rollback, window()}));
    const int slots = std::max(entries(), cache_->capacity());
    DS_TRY(reserve_room(workspace_, *context_.weights, *context_.backend, {batch, rows, n_logits, slots}));
    reserve_call(batch, rows, n_logits);
    return {};
}

Result<ForwardOutput> SequentialLane::prefill(LaneStep& step, int n_spare_row, std::stop_token stop) {
    const auto& tokens = state(current_).tokens;
    ForwardOutput last;
    std::size_t begin = 0;
    for (const int n : chunks_) {
        begin_call();
        const auto start = static_cast<std::int32_t>(begin);
        for (int i = 0; i < n; ++i, ++begin) call_.add(tokens[begin], static_cast<std::int32_t>(begin));
        if (begin == tokens.size()) read_here();
        end_row(current_, start);
        for (int row = 0; row < n_spare_row; ++row) end_row();
        const auto output = call_model(step, logit_rows_, stop);
        if (!output) return output.error();
        last = *output;
    }
    prefilled_ = true;
    return last;
}

void SequentialLane::end_for_room() {
    end(current_, FinishReason::capacity,
        refused(ErrorKind::capacity, fmt::format("entry {} is beyond the {} there is room for",
                                                 most_entries() + 1, most_entries()))
            .message);
}

}  // namespace decodescope
