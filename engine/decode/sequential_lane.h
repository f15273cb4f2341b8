// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/decode/lane.h"

namespace decodescope {

/// A lane that serves its requests one after another, each with a cache of its own: what speculation and beam
/// search have in common.
class SequentialLane : public Lane {
public:
    std::vector<int> prefill_chunks() const override { return chunks_; }

protected:
    using Lane::Lane;

    Result<void> on_start() override;
    Result<bool> on_ready() override;
    void on_finish() override;

    /// Allocates what request `current_` needs; `chunks_` are the calls of its prefill.
    virtual Result<void> open_request() = 0;
    /// After a step: feeds request `current_` what was chosen, or ends it.
    virtual void settle() = 0;

    /// Entries that request `current_` comes to at most: its last new token is never forwarded.
    int entries() const;
    int longest_chunk() const;
    /// A cache of `batch` rows for `entries()` entries, of which `rollback` may be cut off again, and buffers
    /// for calls of `max_call` tokens in one row, `rows` in all, and `n_logits` rows of logits.
    Result<void> allocate(int batch, int max_call, int rollback, int rows, int n_logits);
    /// Forwards the prompt of request `current_` as row 0, in its chunks; the other `n_spare_row` rows are
    /// given nothing. The logits are those of its last token.
    Result<ForwardOutput> prefill(LaneStep& step, int n_spare_row, std::stop_token stop);
    /// Ends request `current_`, which has no room for another entry.
    void end_for_room();

    int current_ = 0;         // request that is being served
    bool prefilled_ = false;  // its prompt has been forwarded
    std::vector<int> chunks_;

private:
    Result<void> open();
};

}  // namespace decodescope
