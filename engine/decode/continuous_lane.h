// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/decode/lane.h"
#include "engine/decode/scheduler.h"

namespace decodescope {

/// Continuous batching (after Yu et al. 2022, Orca): before every step, requests that have come join when a
/// row is free and the KV budget allows it, and those that are done leave and give back their entries at
/// once. A step forwards one token of every row that decodes together with up to `prefill_chunk` prompt
/// tokens of rows that do not yet, first come, first served. A row's output does not depend on who else is
/// there.
///
/// With shared prefixes, a request is let in only when no other prompt is being forwarded, so that it finds
/// the blocks of the one before it.
class ContinuousLane final : public Lane {
public:
    static Result<std::unique_ptr<Lane>> make(const LaneSpec& spec, LaneContext context);

private:
    ContinuousLane(const LaneSpec& spec, LaneContext context)
        : Lane(spec, std::move(context)), scheduler_(0, 0, 1) {}

    Result<void> on_start() override;
    Result<bool> on_ready() override;
    Result<void> on_step(LaneStep& step, std::stop_token stop) override;
    void on_end(int request) override;

    int entries(int request) const;
    int retained(int request) const;
    bool in_prefill(int row) const;
    void wait_for_the_next();
    Result<void> admit();

    Scheduler scheduler_;
    std::vector<char> queued_;    // [requests]
    std::vector<int> ends_;       // requests whose logits are asked for in the call that is being made
    std::vector<int> fresh_;      // [rows]: tokens of each row in the call that is being made
    std::int32_t n_adopted_ = 0;  // since the last step
};

}  // namespace decodescope
