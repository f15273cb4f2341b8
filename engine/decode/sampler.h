// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/result.h"
#include "engine/experiment/experiment.h"

namespace decodescope {

/// Chooses tokens for one request. The random number of step `i` depends on the seed and on `i` alone, so
/// equal logits give the same token in every lane, whatever the order of lanes or the batch. Not shared
/// between threads.
class Sampler {
public:
    explicit Sampler(const Sampling& sampling) : sampling_(sampling) {}

    /// Token of step `step` from one row of logits [vocab]. Ties go to the lower id. Fails with `non_finite`
    /// when a logit is NaN or infinite.
    Result<std::int32_t> choose(std::span<const float> logits, std::int64_t step) const;

private:
    Sampling sampling_;
};

/// Index of the largest value, the first of equals. `values` is not empty and holds no NaN.
std::int32_t argmax(std::span<const float> values);

}  // namespace decodescope
