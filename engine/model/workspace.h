// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/model/model_config.h"

namespace decodescope {

/// The work buffers of one lane's forward calls, tracked by owner. Grows when a call needs more and keeps
/// what it has until `release`. Not shared between lanes.
class Workspace {
public:
    explicit Workspace(std::shared_ptr<MemoryLedger> ledger) : ledger_(std::move(ledger)) {}

    /// Makes room for `rows` token rows, `logit_rows` rows of logits and `scores` floats of attention
    /// scratch.
    Result<void> ensure(const ModelConfig& config, std::int64_t rows, std::int64_t logit_rows,
                        std::int64_t scores);
    /// Frees everything.
    void release();

    float* residual() { return residual_.f32(); }  // [rows, d_model]
    float* normed() { return normed_.f32(); }      // [rows, d_model]
    float* qkv() { return qkv_.f32(); }            // [rows, (n_head + 2 n_kv_head) * head_dim]
    float* mixed() { return mixed_.f32(); }        // [rows, n_head * head_dim]
    float* ff() { return ff_.f32(); }              // [rows, d_ff]
    float* logits() { return logits_.f32(); }      // [logit_rows, vocab]
    float* scores() { return scores_.f32(); }

private:
    std::shared_ptr<MemoryLedger> ledger_;
    Buffer residual_, normed_, qkv_, mixed_, ff_, logits_, scores_;
};

}  // namespace decodescope
