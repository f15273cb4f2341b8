// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/core/thread_pool.h"

namespace decodescope {

/// The most single-precision arithmetic this machine does.
struct FmaPeak {
    double gflop_s = 0;        ///< 1e9 additions and multiplications per second, all threads together
    std::string instructions;  ///< "AVX-512", "AVX2" or "baseline": the widest this machine has
};

/// Multiplies and adds in registers alone, with all threads of `pool`: the best of several passes. Takes
/// about 30 ms.
FmaPeak measure_fma_peak(ThreadPool& pool);

}  // namespace decodescope
