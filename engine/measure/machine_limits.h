// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "engine/core/memory.h"
#include "engine/core/thread_pool.h"

namespace decodescope {

/// What a number of threads can do at most on this machine; 0 = not measured.
struct MachineLimits {
    double read_gb_s = 0;           ///< reading from main memory, 1e9 bytes per second
    double peak_gflop_s = 0;        ///< f32 additions and multiplications, 1e9 per second
    std::string peak_instructions;  ///< the instruction set `peak_gflop_s` was measured with
};

/// Measures both with the threads of `pool`, within about 0.2 s. What cannot be measured stays 0.
MachineLimits measure_machine_limits(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger);

}  // namespace decodescope
