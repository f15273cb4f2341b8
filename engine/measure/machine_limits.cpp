// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/machine_limits.h"

#include <utility>

#include "engine/measure/bandwidth.h"
#include "engine/measure/fma_peak.h"

namespace decodescope {

MachineLimits measure_machine_limits(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger) {
    const FmaPeak peak = measure_fma_peak(pool);
    const auto read = measure_read_bandwidth(pool, std::move(ledger));
    return {read ? *read : 0, peak.gflop_s, peak.instructions};
}

}  // namespace decodescope
