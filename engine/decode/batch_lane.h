// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/decode/lane.h"

namespace decodescope {

/// Naive or cached decoding of requests one after another (batching `single`), or of all of them in one batch
/// that stays together until its last row is done (`static_`). Rows of different lengths become a rectangle
/// by pads in front or behind, which are forwarded and stored like tokens, or stay as they are. The pad is
/// the model's end-of-text token, as is the custom for models without a pad token of their own.
class BatchLane final : public Lane {
public:
    static Result<std::unique_ptr<Lane>> make(const LaneSpec& spec, LaneContext context);

    std::vector<int> prefill_chunks() const override { return chunks_; }

private:
    BatchLane(const LaneSpec& spec, LaneContext context) : Lane(spec, std::move(context)) {}

    Result<void> on_start() override;
    Result<bool> on_ready() override;
    Result<void> on_step(LaneStep& step, std::stop_token stop) override;
    void on_finish() override;

    bool cached() const { return spec_.mode == LaneMode::cached; }
    /// Requests of the group that is being served: [first, last).
    int first() const { return group_; }
    int last() const { return spec_.batching == Batching::static_ ? n_request() : group_ + 1; }
    int n_row() const { return last() - first(); }
    int width_of_group(int first, int last) const;
    bool group_is_done() const;
    Result<void> open_group();
    bool has_room(int request) const;
    int first_shown(const RequestState& request) const;
    int extra_entries(int entries) const;
    void add_newest(int request, int row);
    std::string room_of() const;
    void add_columns(int request, int begin, int end);
    Result<void> step_prefill(LaneStep& step, std::stop_token stop);
    Result<void> step_whole(LaneStep& step, std::stop_token stop);
    Result<void> step_decode(LaneStep& step, std::stop_token stop);
    Result<void> choose_ends(const ForwardOutput& output, LaneStep& step, bool keep);

    int group_ = 0;    // first request of the group
    int counter_ = 0;  // what is left of it from the groups before, by mistake
    bool prefilled_ = false;
    int width_ = 0;  // columns of the group's prefill rectangle
    std::int32_t pad_ = 0;
    std::vector<int> chunks_;
    std::vector<int> ends_;  // requests whose logits are asked for in the call that is being made
    Buffer kept_logits_;     // [rows, vocab], where a prefill in chunks ends at different calls
};

}  // namespace decodescope
