// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "engine/decode/drafts.h"
#include "engine/decode/sequential_lane.h"

namespace decodescope {

/// Speculative decoding: drafts are guessed, verified together in one cached call, and kept up to the first
/// that does not hold; the entries of the others are cut off again in both caches. Requests are served one
/// after another.
///
/// `match`: a draft holds when it is what the request goes on with anyway, so the output is that of plain
/// decoding, token for token. `rejection`: a draft x drawn from q holds with probability min(1, p(x) / q(x)),
/// else its place is drawn from max(0, p - q), so the output is distributed as plain decoding's (Leviathan,
/// Kalman and Matias 2023).
class SpeculativeLane final : public SequentialLane {
public:
    static Result<std::unique_ptr<Lane>> make(const LaneSpec& spec, LaneContext context);

    const KvCache* draft_cache() const override { return draft_ ? draft_->cache() : nullptr; }

private:
    SpeculativeLane(const LaneSpec& spec, LaneContext context) : SequentialLane(spec, std::move(context)) {}

    Result<void> open_request() override;
    void settle() override;
    Result<void> on_step(LaneStep& step, std::stop_token stop) override;
    void on_finish() override;

    Result<void> step_prefill(LaneStep& step, std::stop_token stop);
    Result<void> make_drafts(std::stop_token stop);
    Result<void> accept_matches(const ForwardOutput& output, LaneStep& step);
    Result<void> accept_by_rejection(const ForwardOutput& output, LaneStep& step);
    Result<void> roll_back(int n_rejected);
    bool goes_on(std::int32_t token) const;

    std::optional<DraftModel> draft_;
    std::vector<std::int32_t> drafts_;
    std::vector<double> draft_distributions_;  // [drafts, vocab]; rejection only
    std::vector<double> target_distribution_;  // [vocab]; rejection only
};

}  // namespace decodescope
