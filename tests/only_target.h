// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace decodescope {

/// Lets the kernels of one instruction set run; all that this machine has again afterwards.
class OnlyTarget {
public:
    explicit OnlyTarget(std::int64_t target) { choose(target); }
    ~OnlyTarget() { choose(0); }
    OnlyTarget(const OnlyTarget&) = delete;
    OnlyTarget& operator=(const OnlyTarget&) = delete;

private:
    static void choose(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().DeInit();
    }
};

/// The instruction sets that kernels are compiled for and this machine has, plain code included, except those
/// that the kernels in question leave out.
inline std::vector<std::int64_t> kernel_targets(std::int64_t left_out = 0) {
    std::vector<std::int64_t> targets;
    for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS & ~left_out; left != 0; left &= left - 1) {
        targets.push_back(left & -left);
    }
    return targets;
}

}  // namespace decodescope
