// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/core/thread_pool.h"
#include "engine/model/weights.h"

namespace decodescope {

/// Models whose matrices have been packed, as long as somebody uses them.
class PackedModels {
public:
    /// See Backend::prepare. The panels are filled by the threads of `pool`.
    Result<std::shared_ptr<const Weights>> get(std::shared_ptr<const Weights> weights, WeightType type,
                                               const std::shared_ptr<MemoryLedger>& ledger, ThreadPool& pool,
                                               std::stop_token stop);

private:
    struct Entry {
        const Weights* from = nullptr;
        WeightType type = WeightType::f32;
        std::weak_ptr<const Weights> packed;  // keeps `from` alive
    };
    std::vector<Entry> entries_;
};

}  // namespace decodescope
