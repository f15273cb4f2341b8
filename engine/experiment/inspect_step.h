// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/experiment/profile.h"
#include "engine/experiment/record.h"
#include "engine/experiment/serve_again.h"
#include "engine/experiment/step_recorder.h"
#include "engine/formats/model_source.h"

namespace decodescope {

/// What is to be looked at.
struct StepQuery {
    int step = 0;
    int call = -1;  ///< of the step's forward calls; -1 = the last
    int layer = 0;
    int head = 0;
    bool all_heads = false;  ///< of the layer, reduced
    int most_side = 1024;    ///< larger matrices of weights are reduced to this many rows and columns
    int most_head_side = 64;
};

/// Attention weights of one head: rows are the queries of all rows of the call one after another, columns the
/// slots. A matrix that is too large shows the largest weight of `query_bin` x `key_bin` cells in each of
/// its own, so that no weight goes unseen.
struct WeightMatrix {
    int head = 0;
    int n_query = 0;  ///< before they were reduced
    int n_slot = 0;
    int query_bin = 1;
    int key_bin = 1;
    std::vector<float> values;  // [rows(), columns()]; NaN where the row has no such slot

    int rows() const { return (n_query + query_bin - 1) / query_bin; }
    int columns() const { return (n_slot + key_bin - 1) / key_bin; }
};

/// One forward call of one step of a lane, looked at again.
struct StepView {
    std::size_t lane = 0;
    int step = 0;
    Phase phase = Phase::decode;
    int n_call = 0;  ///< forward calls of the step
    int call = 0;    ///< which one this is
    int layer = 0;
    CallView view;
    std::vector<std::uint8_t>
        mask;                    // [n_query, max_slot] `MaskCell`; `n_mask_cell` = the row has no such slot
    std::int64_t n_pair = 0;     ///< query-key pairs
    std::int64_t n_visible = 0;  ///< of them: those that were read
    std::int64_t n_wrong_cell = 0;        ///< of them: against the rule
    std::optional<WeightMatrix> weights;  ///< of the head; none when the call failed
    std::vector<WeightMatrix> heads;      ///< [n_head] of the layer, if asked for
};

/// Looks again at steps of one lane of a record: lets it serve the requests once more, fed the same tokens
/// and with the same faults, up to the step that is asked for, and keeps what that step saw and read. Goes on
/// from where it is when a later step is asked for; the step that it is at costs nothing more, and a step of
/// a naive lane without faults one call, as it depends on nothing but its text. Nothing is timed. One thread
/// at a time, and the backend's.
class StepInspector {
public:
    /// Of a record only the experiment, the prompts, the model's hash and the tokens are used: one that still
    /// grows will do. `model` is the record's; another one is an error.
    static Result<std::unique_ptr<StepInspector>> make(std::shared_ptr<const Record> record, std::size_t lane,
                                                       std::shared_ptr<const LoadedModel> model,
                                                       std::shared_ptr<MemoryLedger> ledger,
                                                       std::stop_token stop = {});

    const Record& record() const { return *record_; }
    std::size_t lane() const { return lane_index_; }
    /// An error when the lane makes no such step, or the call, layer or head does not exist.
    Result<StepView> look(const StepQuery& query, std::stop_token stop = {});
    /// The inputs of a layer's attention in the call that was looked at last; null when there are none.
    const AttentionInputs* inputs(int call, int layer) const {
        return recorder_ ? recorder_->inputs(call, layer) : nullptr;
    }

private:
    StepInspector() = default;
    Result<void> serve_to(const StepQuery& query, const std::stop_token& stop);
    bool can_jump() const;
    Result<bool> jump_to(const StepQuery& query, const std::stop_token& stop);
    Result<void> make_lane_once();
    Result<void> restart();
    bool has_layer(int layer) const;
    WeightMatrix weights(int call, int layer, int head, int most_side) const;

    std::shared_ptr<const Record> record_;
    std::size_t lane_index_ = 0;
    std::shared_ptr<const LoadedModel> model_;
    std::optional<ServeAgain> again_;
    std::unique_ptr<Lane> lane_;
    std::unique_ptr<StepRecorder> recorder_;
    int n_step_ = 0;  // made since the start; 0 = not started
    Phase phase_ = Phase::prefill;
    bool failed_ = false;  // in the last step made: there is none after it
    int layer_ = 0;        // wanted in the last step made
};

/// Where the time of one layer of one step went.
struct LayerTime {
    std::int64_t attention_ns = 0;  ///< norm to output projection
    std::int64_t mlp_ns = 0;        ///< norm and feed-forward block
    std::int64_t other_ns = 0;      ///< of the layer, neither
};

/// Where the time of one step went, in an instrumented pass: layers + head + other = total.
struct TimeSplit {
    int step = 0;
    std::int64_t total_ns = 0;
    std::vector<LayerTime> layers;  // [n_layer], all calls of the step together
    std::int64_t head_ns = 0;       ///< final norm and output head
    std::int64_t other_ns = 0;      ///< embedding, set-up, drafting, choosing

    LayerTime all_layers() const;
};

TimeSplit time_split(const StepProfile& profile, int n_layer);

}  // namespace decodescope
