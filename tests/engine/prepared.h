// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "engine/backend/backend.h"

namespace decodescope::test {

/// `weights` as lanes compute with them: packed for our kernels.
inline std::shared_ptr<const Weights> prepared(std::shared_ptr<const Weights> weights, Backend& backend,
                                               WeightType type = WeightType::f32) {
    auto made = backend.prepare(std::move(weights), type, std::make_shared<MemoryLedger>());
    return made ? *std::move(made) : nullptr;
}

}  // namespace decodescope::test
