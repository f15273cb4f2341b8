// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "engine/backend/cuda/cuda_memory.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/model/weights.h"

namespace decodescope::cuda {

/// A model's tensors in device memory. `Linear::weight` of a model that points into it are of the type that
/// `Weights::type` names, whatever the pointer says; everything else is f32.
struct DeviceModel {
    Buffer storage;
    const double* frequencies = nullptr;  ///< [head_dim / 2], null without rotary positions
    std::uint64_t number = 0;             ///< no other model of the same backend has it
};

/// Models that lie on a GPU, as long as somebody uses them.
class DeviceModels {
public:
    explicit DeviceModels(std::shared_ptr<CudaMemory> memory) : memory_(std::move(memory)) {}

    /// See Backend::prepare: uploads every tensor once, as `type` (f32, f16 or bf16) where it is a matrix.
    /// `ledger` must be one of this GPU's memory.
    Result<std::shared_ptr<const Weights>> get(std::shared_ptr<const Weights> weights, WeightType type,
                                               const std::shared_ptr<MemoryLedger>& ledger,
                                               std::stop_token stop);
    /// Where the tensors of `weights` lie; null when they are not on this GPU.
    const DeviceModel* find(const Weights& weights) const;

private:
    struct Entry {
        const Weights* from = nullptr;
        WeightType type = WeightType::f32;
        std::weak_ptr<const Weights> uploaded;  // keeps `from` alive
        std::weak_ptr<const DeviceModel> model;
    };
    std::shared_ptr<CudaMemory> memory_;
    std::vector<Entry> entries_;
    std::uint64_t last_number_ = 0;
};

}  // namespace decodescope::cuda
