// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/core/thread_pool.h"

namespace decodescope {

/// The most single-precision arithmetic this machine does.
struct FmaPeak {
    double gflop_s = 0;        ///< 1e9 additions and multiplications per second, all threads together
    std::string instructions;  ///< "AVX-512", "AVX2" or "baseline": what did it
};

/// Multiplies and adds in registers alone, with all threads of `pool`: the best of several passes. Takes
/// about 30 ms. `at_most`: with vectors no wider than these instructions have, by the name that
/// `instructions_in_use` gives them; empty = the widest of this machine.
FmaPeak measure_fma_peak(ThreadPool& pool, std::string_view at_most = {});

}  // namespace decodescope
