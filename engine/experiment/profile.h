// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/decode/phase.h"
#include "engine/experiment/record.h"
#include "engine/formats/model_source.h"

namespace decodescope {

/// What a span of a step covers. Indented: what it lies in. What no child covers is "other".
enum class SpanKind : std::int8_t {
    step,           ///< from the first forward call to the last chosen token
    draft,          ///<   a speculative lane's drafting, before its target model is called
    call,           ///<   a forward call of the target model
    setup,          ///<     checks, positions, who sees whom
    embedding,      ///<     looking up the embeddings
    rotary,         ///<     angles of rotary positions; absent without them
    layer,          ///<     one layer
    attention,      ///<       norm to output projection
    qkv,            ///<         norm, queries, keys and values, turned
    append,         ///<         storing keys and values; next to nothing without a cache
    mix,            ///<         scores, softmax, weighted values
    attention_out,  ///<         output projection, added to the residual stream
    feed_forward,   ///<       norm, feed-forward block, added to the residual stream
    head,           ///<     final norm and output head; absent where no logits were asked for
    commit,         ///<     closing the append
    choose,         ///<   after the last call: choosing tokens, rolling drafts back
};
const char* to_string(SpanKind kind);

/// Monotonic ns.
struct ProfileSpan {
    SpanKind kind = SpanKind::step;
    std::int8_t depth = 0;    ///< 0 = the step
    std::int32_t layer = -1;  ///< of a layer and what lies in it
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;

    std::int64_t ns() const { return end_ns - start_ns; }
};

/// One step of the instrumented pass.
struct StepProfile {
    std::int32_t step = 0;  ///< as in the record
    Phase phase = Phase::decode;
    std::int64_t positions_forwarded = 0;
    std::int64_t start_ns = 0;     ///< monotonic, of this pass
    std::int64_t profiled_ns = 0;  ///< what the step took with time stamps taken inside
    std::int64_t plain_ns = 0;     ///< what it took without, in the pass before; 0 = not made
    double recorded_ns = 0;        ///< median over the record's repetitions; 0 = the record has no such step
    /// Parents before children, in order of time; children lie in their parent and do not overlap. Empty for
    /// steps that were not asked for, or that there was no room for.
    std::vector<ProfileSpan> spans;

    /// Time of all spans of a kind together.
    std::int64_t ns_of(SpanKind kind) const;
    /// Time that no span of the innermost level covers.
    std::int64_t other_ns() const;
};

/// What the time stamps cost: medians over the same steps (decode steps, or all where there are none).
struct ProfileCost {
    std::size_t n_step = 0;  ///< 0 = nothing to compare
    double recorded_ns = 0;  ///< in the record; 0 = not there
    double plain_ns = 0;     ///< without stamps, in this process; 0 = not measured
    double profiled_ns = 0;
    double share = 0;  ///< median over steps of profiled / plain - 1; may be below 0 by noise
};

/// The instrumented pass of one lane.
struct LaneProfile {
    std::size_t lane = 0;
    std::vector<StepProfile> steps;
    std::int64_t n_step_without_room = 0;  ///< steps whose spans did not fit `ProfileOptions::max_spans`
    std::string differs;                   ///< one sentence where a step did other work than in the record
    std::string reason;                    ///< one sentence when the lane failed before its end

    ProfileCost cost() const;
};

struct ProfileOptions {
    int first_step = 0;
    int last_step = -1;                  ///< what comes after is not served; -1 = all
    bool plain_pass = true;              ///< serve the lane without stamps first, to say what these cost
    std::int64_t max_spans = 1'000'000;  ///< of all steps together, 24 bytes each
};

/// Serves one lane of a finished record once more (fed the same tokens), taking time stamps inside the
/// forward calls: an instrumented pass, apart from the timed ones, whose times are not theirs. A short
/// warm-up comes first. Nothing but time stamps is kept. `model` is the record's; another one is an error. A
/// lane that fails in the middle, as a faulty one may, is no error. On the calling thread and the backend's.
Result<LaneProfile> profile_lane(const Record& record, std::size_t lane, const LoadedModel& model,
                                 std::shared_ptr<MemoryLedger> ledger, const ProfileOptions& options = {},
                                 std::stop_token stop = {});

}  // namespace decodescope
