// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/memory.h"
#include "engine/core/result.h"

namespace decodescope {

enum class Phase { prefill, decode };

/// Process memory at one moment, in bytes. Fields that the system does not tell are `not_measured`.
struct ProcessMemory {
    static constexpr std::int64_t not_measured = -1;
    std::int64_t rss = not_measured;
    std::int64_t heap_in_use = not_measured;   ///< allocator: bytes handed out
    std::int64_t heap_free = not_measured;     ///< allocator: bytes kept for later
    std::int64_t heap_mapped = not_measured;   ///< allocator: bytes in blocks mapped one by one
    std::int64_t minor_faults = not_measured;  ///< page faults of the process so far (a count)
};

/// Largest logit error / standard deviation of the reference logits that counts as equal in f32.
inline constexpr double f32_error_limit = 1e-4;

/// How far one lane's logits of a step are from the reference lane's, same row.
struct LogitComparison {
    bool compared = false;
    double max_abs_error = 0;
    double relative_error = 0;  ///< max_abs_error / standard deviation of the reference logits
    bool same_argmax = true;
    double top2_margin = 0;  ///< reference: largest minus second largest logit
};

/// One finished step of one lane. Plain data: crosses the ring by copy.
struct StepEvent {
    std::int32_t lane = 0;
    std::int32_t repetition = 0;
    std::int32_t step = 0;  ///< 0 = prefill; k = the k-th decode step
    Phase phase = Phase::prefill;
    std::int32_t token = -1;                ///< the token this lane chose from this step's logits
    std::int32_t fed_first = -1;            ///< first token fed in this step
    std::int64_t start_ns = 0;              ///< monotonic; from the start of the forward call ...
    std::int64_t end_ns = 0;                ///< ... to the chosen token. Comparison and probes are outside
    std::int64_t positions_forwarded = 0;   ///< token rows pushed through the blocks in this step
    std::int64_t score_cells_allowed = 0;   ///< query-key pairs visible under causality, per head and layer
    std::int64_t score_cells_computed = 0;  ///< query-key pairs actually computed, per head and layer
    std::int64_t cache_length = 0;          ///< entries stored after the step; 0 without a cache
    std::int64_t kv_bytes_live = 0;
    std::int64_t kv_bytes_reserved = 0;
    std::int64_t kv_bytes_meta = 0;
    std::int64_t kv_bytes_copied = 0;  ///< moved by growing, since the start of the request
    std::int64_t bytes_moved = 0;      ///< weights + KV this step must read at least
    OwnerBytes tensor_bytes{};         ///< live tensor bytes of all lanes, by owner
    ProcessMemory memory;
    std::int64_t minor_faults_step = ProcessMemory::not_measured;  ///< page faults during the timed region
    LogitComparison comparison;
};

/// Why a lane stopped.
enum class FinishReason { length, stop_token, capacity, cancelled, failed };
const char* to_string(FinishReason reason);
const char* to_string(Phase phase);

/// What an experiment announces before its first step.
struct RunStarted {
    std::int32_t n_lane = 0;
    std::int32_t repetitions = 0;
    std::int32_t prompt_length = 0;
    std::int32_t new_tokens = 0;
    std::int32_t threads = 0;
    double read_bandwidth_gb_s = 0;  ///< measured before the run with its threads; 0 = not measured
};

/// Receives what happens during a run, on the engine thread. Must return quickly and must not throw.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void run_started(const RunStarted&) {}
    virtual void step_done(const StepEvent&) {}
    /// A lane has finished one repetition; its cache has been freed already.
    virtual void repetition_done(std::int32_t /*lane*/, std::int32_t /*repetition*/, FinishReason) {}
    virtual void run_finished(FinishReason) {}
};

}  // namespace decodescope
