// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/core/thread_pool.h"

namespace decodescope {

/// Read bandwidth of main memory in GB/s (1e9) with all threads of `pool`: the best of several passes over a
/// block larger than the caches, several independent streams per thread. Takes about 0.1 s.
Result<double> measure_read_bandwidth(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger);

}  // namespace decodescope
