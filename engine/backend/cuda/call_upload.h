// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_memory.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/core/result.h"

namespace decodescope::cuda {

/// What the kernels of a forward call need to know of it, in device memory: one block, copied at once. Calls
/// of one shape use the same places in it.
class CallUpload {
public:
    explicit CallUpload(std::shared_ptr<CudaMemory> memory) : block_(memory), memory_(std::move(memory)) {}

    /// Queues the upload. The call before it must be over.
    Result<void> upload(const ForwardCall& call);
    /// Gives the device memory back until the next call.
    void release() { block_.release(); }
    const CallArrays& arrays() const { return arrays_; }
    const std::int32_t* logit_rows() const { return logit_rows_; }
    /// How tokens are drawn, per wanted row of logits; null when none are.
    const TokenDraw* draws() const { return draws_; }
    /// Room for one number per wanted row of logits.
    std::int32_t* largest() const { return largest_; }
    std::int32_t* drawn() const { return drawn_; }
    /// What decides about the places: equal for two calls when a kernel of the one reads what it needs for
    /// the other.
    const std::vector<std::uintptr_t>& shape() const { return shape_; }

private:
    DeviceBlock block_;
    PinnedBlock host_;
    std::shared_ptr<CudaMemory> memory_;
    CallArrays arrays_;
    const std::int32_t* logit_rows_ = nullptr;
    const TokenDraw* draws_ = nullptr;
    std::int32_t* largest_ = nullptr;
    std::int32_t* drawn_ = nullptr;
    std::int64_t range_room_ = 0;  // grows in steps, so that a mask with one more gap is no other shape
    std::vector<std::uintptr_t> shape_;
};

}  // namespace decodescope::cuda
