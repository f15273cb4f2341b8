// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/decode/finish_reason.h"
#include "engine/decode/phase.h"
#include "engine/model/weight_type.h"

namespace decodescope {

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

/// The same between two lanes whose weights are of one type: both compute with the same rounded weights, but
/// they round the inputs of a product each in their own way, where sums come out in another order or calls of
/// many rows use other instructions than calls of few. Measured on the shape of GPT-2 124M, such rounding
/// moves a logit by at most 0.05 (bf16) and 0.13 (int8 per group of 32, for int8 and int4 weights) where the
/// logits' deviation is 1.1; two lanes that round on their own are sqrt(2) times that apart: 0.064 and 0.167
/// of the deviation, rounded up here. Inputs of f16 weights stay f32 on the CPU.
constexpr double error_limit(WeightType type) {
    switch (type) {
        case WeightType::f32:
        case WeightType::f16: break;
        case WeightType::bf16: return 0.07;
        case WeightType::int8:
        case WeightType::int4: return 0.2;
    }
    return f32_error_limit;
}

/// How a lane's products with weights round.
struct ProductRounding {
    WeightType weights = WeightType::f32;
    bool gpu = false;   ///< they are computed on one
    bool tf32 = false;  ///< f32 weights: by its tensor cores
};

/// The same for lanes on any device; between two of them, the larger limit counts. A GPU rounds the inputs of
/// f16 weights to f16, and with TF32 inputs and weights to as many bits: 10 of fraction where bf16 has 7,
/// which is an eighth of the rounding. By bf16's 0.05 of above that moves a logit by 0.006 of the deviation,
/// and by sqrt(2) times that where two lanes round on their own, or weights are rounded too: 0.008. The small
/// models of the tests, whose sums are of few numbers, go up to 0.01, and twice that is the limit. bf16 is
/// rounded alike on both.
constexpr double error_limit(const ProductRounding& rounding) {
    const bool ten_bits = rounding.tf32 || (rounding.gpu && rounding.weights == WeightType::f16);
    return ten_bits ? 0.02 : error_limit(rounding.weights);
}

/// How far one lane's logits for a token are from the reference lane's. The right token is the one that the
/// reference chose.
struct LogitComparison {
    bool compared = false;
    double max_abs_error = 0;
    double relative_error = 0;  ///< max_abs_error / standard deviation of the reference logits
    bool same_argmax = true;
    double top2_margin = 0;            ///< reference: largest minus second largest logit
    double kl_divergence = 0;          ///< KL(reference || lane) of the softmaxes, nats
    double reference_probability = 0;  ///< of the right token, softmax of the reference's logits
    double lane_probability = 0;       ///< of the right token, softmax of the lane's
};

/// One token that a lane chose. Plain data: crosses the ring by copy.
struct TokenEvent {
    std::int32_t lane = 0;
    std::int32_t repetition = 0;
    std::int32_t step = 0;  ///< of the lane in which it was chosen
    std::int32_t request = 0;
    std::int32_t index = 0;  ///< among the request's new tokens
    std::int32_t token = -1;
    bool drafted = false;  ///< speculation had guessed it, and the guess was kept
    LogitComparison comparison;
};

/// One finished step of one lane. Plain data: crosses the ring by copy.
struct StepEvent {
    std::int32_t lane = 0;
    std::int32_t repetition = 0;
    std::int32_t step = 0;  ///< 0 = the lane's first
    Phase phase = Phase::prefill;
    std::int32_t request = 0;               ///< of `token`, or the first that is served
    std::int32_t token = -1;                ///< the first token this lane chose in this step
    std::int32_t n_token = 0;               ///< tokens it chose in this step
    std::int32_t n_row = 0;                 ///< requests that were given tokens
    std::int32_t n_waiting = 0;             ///< requests that have come and are not yet served
    std::int32_t fed_first = -1;            ///< first token fed in this step
    std::int64_t start_ns = 0;              ///< monotonic; from the start of the first forward call ...
    std::int64_t end_ns = 0;                ///< ... to the chosen tokens. Comparison and probes are outside
    std::int64_t first_call_end_ns = 0;     ///< when the first of the step's forward calls was done
    std::int64_t positions_forwarded = 0;   ///< token rows pushed through the blocks, pads included
    std::int64_t padding_forwarded = 0;     ///< of these: pads
    std::int64_t score_cells_allowed = 0;   ///< query-key pairs visible, per head and layer
    std::int64_t score_cells_computed = 0;  ///< query-key pairs actually computed, per head and layer
    std::int64_t draft_positions_forwarded = 0;  ///< token rows pushed through the draft model
    std::int32_t n_drafted = 0;                  ///< drafts verified
    std::int32_t n_accepted = 0;                 ///< of these: kept
    std::int32_t n_adopted = 0;        ///< prompt tokens taken from shared blocks instead of being forwarded
    std::int64_t cache_length = 0;     ///< valid entries stored after the step, all rows; 0 without a cache
    std::int64_t cache_forgotten = 0;  ///< entries a window has let go for good, all rows
    std::int64_t kv_bytes_live = 0;    ///< of valid entries, scales and residual included
    std::int64_t kv_bytes_scales = 0;  ///< of these: scales of quantised entries
    std::int64_t kv_bytes_residual = 0;  ///< of these: entries a quantising cache still holds in f32
    std::int64_t kv_bytes_padding = 0;   ///< slots that hold pads
    std::int64_t kv_bytes_slack = 0;     ///< given to rows, but empty
    std::int64_t kv_bytes_kept = 0;      ///< blocks of nobody, kept for a request with the same prefix
    std::int64_t kv_bytes_shared = 0;    ///< what rows would need more if they shared nothing
    std::int64_t kv_bytes_reserved = 0;
    std::int64_t kv_bytes_meta = 0;
    std::int64_t kv_bytes_copied = 0;  ///< moved by growing, copying on write and reordering, since the start
    std::int64_t kv_bytes_draft = 0;   ///< live bytes of the draft model's cache
    std::int64_t bytes_moved = 0;      ///< weights + KV this step must read at least
    OwnerBytes tensor_bytes{};         ///< live tensor bytes of all lanes, by owner
    ProcessMemory memory;
    std::int64_t device_ns = ProcessMemory::not_measured;  ///< its GPU worked on the calls, by its own clock
    std::int64_t minor_faults_step = ProcessMemory::not_measured;  ///< page faults during the timed region
    std::int64_t tensor_allocations = 0;  ///< tensor buffers allocated during the timed region
    std::int64_t heap_allocations =
        ProcessMemory::not_measured;  ///< C++ allocations of the engine thread in it
    LogitComparison comparison;       ///< the worst of the step's tokens
};

/// What an experiment announces before its first step.
struct RunStarted {
    std::int32_t n_lane = 0;
    std::int32_t repetitions = 0;
    std::vector<std::int32_t> prompt_lengths;  ///< [requests]
    std::int32_t new_tokens = 0;
    std::int32_t threads = 0;
    double read_bandwidth_gb_s = 0;  ///< measured before the run with its threads; 0 = not measured
};

/// Receives what happens during a run, on the engine thread. Must return quickly and must not throw.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void run_started(const RunStarted&) {}
    /// A step is done; its tokens follow in `token_done` calls.
    virtual void step_done(const StepEvent&) {}
    virtual void token_done(const TokenEvent&) {}
    /// A lane has finished one repetition; its cache has been freed already.
    virtual void repetition_done(std::int32_t /*lane*/, std::int32_t /*repetition*/, FinishReason) {}
    virtual void run_finished(FinishReason) {}
};

}  // namespace decodescope
