// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/decode/sequential_lane.h"

namespace decodescope {

/// Beam search: the `beams` likeliest continuations side by side, ranked by the sum of their tokens'
/// log-probabilities (no length penalty). After every step the rows of the cache follow the survivors. A
/// continuation that ends with a stop token leaves and competes at the end. The best one is the answer; its
/// tokens are told in the last step, because they are not known before. Requests are served one after
/// another.
class BeamLane final : public SequentialLane {
public:
    static Result<std::unique_ptr<Lane>> make(const LaneSpec& spec, LaneContext context);

    /// Sum of the log-probabilities of the answer to the request served last.
    double best_score() const { return best_score_; }

private:
    struct Beam {
        std::vector<std::int32_t> tokens;  // new ones
        double score = 0;
    };
    struct Candidate {
        int beam = 0;
        std::int32_t token = 0;
        double score = 0;
    };

    BeamLane(const LaneSpec& spec, LaneContext context) : SequentialLane(spec, std::move(context)) {}

    Result<void> open_request() override;
    void settle() override;
    Result<void> on_step(LaneStep& step, std::stop_token stop) override;
    void on_finish() override;

    Result<void> rank(std::span<const float> logits, int n_row);
    void add_candidates(int beam, std::span<const float> logits);
    void answer();

    bool answered_ = false;
    std::vector<Beam> beams_;
    std::vector<Beam> ended_;
    std::vector<Candidate> candidates_;
    double best_score_ = 0;
};

}  // namespace decodescope
