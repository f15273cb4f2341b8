// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/attention/attention_plan.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/model/model_config.h"

namespace decodescope {

/// The temporaries of a forward pass.
enum class Temporary {
    residual,  // [rows, d_model]
    picked,    // [logit_rows, d_model], the rows of `residual` whose logits are wanted
    qkv,       // [rows, (n_head + 2 n_kv_head) * head_dim]
    mixed,     // [rows, n_head * head_dim]
    ff,        // [rows, d_ff]
    products,  // scratch of products with weights
    turns,     // [rows, head_dim], the angles of rotary positions
    logits,    // [logit_rows, vocab]
    scores,    // scratch of attention, and of drawing tokens once that is done
};
inline constexpr std::size_t n_temporary = 9;

/// The work buffers of one lane's forward calls, tracked by owner. With the policy `reused` they grow when a
/// call needs more and are kept until `release`; with `fresh` every temporary is a heap allocation of its
/// own, made when it is needed, and the one before it is freed then. Not shared between lanes.
class Workspace {
public:
    explicit Workspace(std::shared_ptr<MemoryLedger> ledger,
                       AllocationPolicy policy = AllocationPolicy::reused)
        : ledger_(std::move(ledger)), policy_(policy) {}

    /// Makes room for calls of `rows` tokens in `batch` rows of at most `n_slot` slots, `logit_rows` rows of
    /// logits, `scores` floats of scratch for attention and draws and `products` floats of scratch for
    /// products, so that such calls allocate nothing. Does nothing with the policy `fresh`. See
    /// `reserve_room` in forward.h.
    Result<void> reserve(const ModelConfig& config, int batch, std::int64_t rows, std::int64_t logit_rows,
                         std::int64_t scores, std::int64_t products, int n_slot);
    /// `floats` floats for the next contents of a temporary; what it held before is lost.
    Result<float*> take(Temporary temporary, std::int64_t floats);
    /// Where the temporaries lie, null those that there are none of: calls of one shape use the same memory
    /// as long as this stays as it is.
    std::array<const float*, n_temporary> places() const;
    /// A GPU may capture a step of decoding as a graph and launch that for later steps of the same shape, as
    /// long as neither these temporaries nor the cache's storage move.
    void set_graph(bool on) { graph_ = on; }
    bool graph() const { return graph_; }
    /// A GPU may round what enters its products with f32 weights to TF32, 10 bits of fraction.
    void set_tf32(bool on) { tf32_ = on; }
    bool tf32() const { return tf32_; }
    /// Frees everything.
    void release();

    /// Who sees whom in the call that is being made, or was made last.
    AttentionPlan& plan() { return plan_; }
    const AttentionPlan& plan() const { return plan_; }
    /// Where the rows of logits are largest, and what was drawn from them.
    std::vector<std::int32_t>& largest() { return largest_; }
    std::vector<std::int32_t>& drawn() { return drawn_; }

private:
    std::shared_ptr<MemoryLedger> ledger_;
    AllocationPolicy policy_;
    bool graph_ = false;
    bool tf32_ = false;
    std::array<Buffer, n_temporary> buffers_;
    AttentionPlan plan_;
    std::vector<std::int32_t> largest_;
    std::vector<std::int32_t> drawn_;
};

}  // namespace decodescope
