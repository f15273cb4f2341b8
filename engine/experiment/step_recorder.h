// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/decode/attention_inputs.h"
#include "engine/decode/call_observer.h"
#include "engine/decode/lane.h"

namespace decodescope {

/// What a cell of the query x key matrix is: what the rule says of it (see `CellState`), unless the call did
/// not keep to the rule.
enum class MaskCell : std::uint8_t {
    visible,
    future,
    padding,
    outside_window,
    empty,
    wrongly_seen,    ///< read, although the rule hides it
    wrongly_hidden,  ///< not read, although the rule shows it
};
inline constexpr int n_mask_cell = 7;
const char* to_string(MaskCell cell);

/// One token that a call computed.
struct QueryView {
    std::int32_t token = -1;
    std::int32_t expected = slot_padding;  ///< its place in its text: the position id it should have
    std::int32_t used = -1;                ///< the one it had; -1 of pads
};

/// One slot of a row, as the call's attention read it. A call without a cache has one per token.
struct SlotView {
    std::int32_t position = slot_empty;  ///< that the cache says it holds; `slot_empty`, `slot_padding`
    std::int32_t expected = -1;          ///< place of its token in its text; -1 = holds none, or not known
    std::int32_t used = -1;              ///< position id its key was made with; -1 = not known
    std::int32_t token = -1;
    std::int32_t request = -1;  ///< whose token it is; -1 = nobody's
    std::int32_t step = -1;     ///< of the lane in which it was stored; -1 = taken over from another request
    std::int32_t block = -1;    ///< kind paged: that it lies in
    std::int8_t bits = 0;       ///< quantised to so many bits; 0 = kept as numbers of the cache's dtype
    bool from_call = false;     ///< stored by this call
    bool evicted = false;       ///< forgotten when the call ended
};

/// One row of a call.
struct RowView {
    std::int32_t request = -1;  ///< -1 = serves nobody
    std::vector<QueryView> queries;
    std::vector<SlotView> keys;
    std::int64_t forgotten = 0;  ///< entries a window has let go so far
};

/// One block of a paged cache after a call.
struct BlockView {
    int references = 0;     ///< rows that use it; more than one: shared
    std::vector<int> rows;  ///< which
};

/// One forward call of a step.
struct CallView {
    std::vector<RowView> rows;
    AttentionPlan plan;  ///< who saw whom; without rows when the call failed before that
    bool cached = false;
    CacheSpec cache;
    int capacity = 0;               ///< slots a row can hold; 0 = no limit of its own, or no cache
    KvBytes bytes;                  ///< of the cache, after the call
    std::vector<BlockView> blocks;  ///< kind paged: the pool
    int n_accepted = -1;            ///< speculation: drafts kept; -1 = nothing was verified
    std::string error;              ///< why it failed; empty = it did not

    MaskCell cell(int b, int q, int slot) const;
    /// Slots that query `q` of row `b` read.
    std::int64_t n_seen(int b, int q) const;
    /// Queries, and slots of rows, whose position id is not the expected one.
    int n_wrong_positions() const;
};

/// Sees every call of a lane and keeps those of one step. Knows of every entry of the cache when and for whom
/// it was made.
class StepRecorder final : public CallObserver {
public:
    /// `lane` and `config`, its model's, must live as long as this. At most about `most_bytes` of attention
    /// inputs are kept: all layers of a step, or else only `layer`.
    StepRecorder(const Lane& lane, const ModelConfig& config, std::size_t most_bytes)
        : lane_(lane), config_(config), most_bytes_(most_bytes) {}

    /// Forgets everything: the lane starts anew.
    void restart();
    /// The next calls are those of this step; they are kept if `keep`. `request`: whom the lane's only
    /// request stands for; -1 = its requests are the record's.
    void begin_step(int step, bool keep, int layer, int request = -1);
    const std::vector<CallView>& calls() const { return calls_; }
    /// The inputs of a layer's attention in one of them; null when there are none.
    const AttentionInputs* inputs(int call, int layer) const;

    bool wants_logits() const override { return false; }
    void attention(int layer, const AttentionCall& call) override;
    void called(const SeenCall& call) override;
    void reordered(std::span<const int> parents) override;
    void verified(int row, int n_accepted) override;

private:
    struct Entry {
        std::int32_t expected = -1;
        std::int32_t used = -1;
        std::int32_t token = -1;
        std::int32_t request = -1;
        std::int32_t step = -1;
        std::int32_t call = -1;  // of the step
    };
    struct Row {
        std::int32_t request = -1;
        std::vector<Entry> entries;  // [seen]
    };

    std::int32_t request_of(const CallRow& row) const {
        return row.request >= 0 && request_ >= 0 ? request_ : row.request;
    }
    std::vector<Entry> entries_of(const SeenCall& seen, int b, bool pads) const;
    void keep_entries(const SeenCall& seen);
    CallView view_of(const SeenCall& seen) const;
    RowView row_of(const SeenCall& seen, int b) const;
    void add_storage(const SeenCall& seen, CallView& view) const;

    const Lane& lane_;
    const ModelConfig& config_;
    std::size_t most_bytes_;
    int step_ = 0;
    int n_call_ = 0;  // of the step
    bool keep_ = false;
    int layer_ = 0;
    int request_ = -1;
    std::size_t bytes_ = 0;  // of attention inputs kept
    std::vector<Row> rows_;  // [batch]
    std::vector<CallView> calls_;
    std::vector<std::vector<AttentionInputs>> inputs_;  // [calls of the step], of the layers that are kept
};

}  // namespace decodescope
