// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/decode/lane.h"
#include "engine/verify/trace.h"

namespace decodescope {

struct RecordOptions {
    LogitRows logits = LogitRows::all;  ///< which ones are kept
    std::optional<ModelRef> model{};    ///< for the trace
};

/// Writes down the calls of one of our lanes as a trace, in memory:
///  - requests are "A", "B", ... in their order; the beams of A "A.1", "A.2", ..., which have no `texts`
///    because what they consist of is only known in the end
///  - a row that is given fewer tokens than others is filled up with pads on the right, which take no slots
///  - `attention_mask` has a column per slot of the row: 1 where a token is, or where some token of the call
///    looked at a pad or an empty slot. Causality and window are not in it
///  - `cache_length_*` count slots that hold something, pads included; `cache_seen_*` the tokens and pads
///    appended so far
///  - `cache_positions` are the position ids that the keys were made with; `slot_padding`, `slot_empty`
///  - `cache_bytes` is unknown while rows share entries
class TraceRecorder final : public CallObserver {
public:
    explicit TraceRecorder(RecordOptions options = {}) : options_(std::move(options)) {}

    void called(const SeenCall& call) override;
    void reordered(std::span<const int> parents) override;
    void verified(int row, int n_accepted) override;

    /// What was recorded of `lane`, with the texts of its requests as they are now; forgets it.
    Trace take(const Lane& lane);

private:
    struct Row {
        std::int64_t pads = 0;          // appended so far
        std::vector<std::int32_t> ids;  // [seen] the position id that each entry's key was made with
    };
    struct CallLogits {
        std::vector<float> values;       // [kept, vocab]
        std::vector<std::int32_t> kept;  // [batch, width or 1] row of `values`; -1 = none
        int width = 0;
    };
    class Logits;

    void add_rows(const SeenCall& seen, TraceCall& call);
    void add_mask(const SeenCall& seen, TraceCall& call) const;
    void add_cache(const SeenCall& seen, TraceCall& call);
    void add_logits(const SeenCall& seen, TraceCall& call);

    RecordOptions options_;
    std::vector<Row> rows_;              // [batch]
    std::vector<std::int32_t> parents_;  // since the call before
    std::vector<TraceCall> calls_;
    std::vector<std::vector<std::int32_t>> requests_;  // [calls, batch]
    std::vector<CallLogits> logits_;                   // [calls]
    int vocab_ = 0;
};

/// Serves `workload` by the lane that `spec` describes and records its calls. A lane that fails in a call has
/// a trace that ends with this call and its error; an `Error` means that it could not be started.
Result<Trace> record_trace(const LaneSpec& spec, Workload workload, LaneContext context,
                           TokenFeed* feed = nullptr, RecordOptions options = {}, std::stop_token stop = {});

}  // namespace decodescope
