// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver.h"
#include "nvtx3/nvToolsExt.h"

int nvtxRangePushA(const char* name) {
    cuda_shim::Driver& driver = cuda_shim::Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    driver.range_names.insert(name);
    ++driver.counts.ranges;
    return driver.counts.open_ranges++;
}

int nvtxRangePop() {
    cuda_shim::Driver& driver = cuda_shim::Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    return --driver.counts.open_ranges;
}
