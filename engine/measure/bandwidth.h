// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/core/thread_pool.h"

namespace decodescope {

/// Reads a block of main memory that is larger than the caches, the fastest way known: with the widest
/// vectors of this machine, four independent streams per thread, huge pages where the system grants them.
/// Kept where the bandwidth is measured again and again beside something else.
class ReadProbe {
public:
    /// Allocates the block and lets the threads of `pool` write it. Fails with `out_of_memory`.
    static Result<ReadProbe> make(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger);
    /// GB/s (1e9) of one pass over the block with all threads of `pool`; takes about 10 ms.
    Result<double> pass(ThreadPool& pool) const;

private:
    explicit ReadProbe(Buffer block) : block_(std::move(block)) {}

    Buffer block_;
};

/// Read bandwidth of main memory in GB/s (1e9) with all threads of `pool`: the best of several passes of a
/// probe. Takes about 0.2 s.
Result<double> measure_read_bandwidth(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger);

}  // namespace decodescope
