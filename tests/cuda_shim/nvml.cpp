// SPDX-License-Identifier: GPL-3.0-or-later
#include "nvml.h"

#include <mutex>

#include "driver.h"

using cuda_shim::Driver;
using decodescope::cuda::NvmlLibrary;

namespace {

// As the library numbers them.
constexpr int not_initialised = 1;
constexpr int invalid_argument = 2;
constexpr int driver_not_loaded = 9;

}  // namespace

int nvmlInit_v2() {
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    if (driver.settings.driver_version == 0 || !driver.settings.nvml) return driver_not_loaded;
    ++driver.live.nvml;
    return 0;
}

int nvmlShutdown() {
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    if (driver.live.nvml == 0) return not_initialised;
    --driver.live.nvml;
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, NvmlLibrary::Device* device) {
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    if (driver.live.nvml == 0) return not_initialised;
    for (int i = 0; i < driver.settings.devices; ++i) {
        if (cuda_shim::bus_id_of(i) != bus_id) continue;
        *device = reinterpret_cast<NvmlLibrary::Device>(&driver.device(i));
        return 0;
    }
    return invalid_argument;
}

int nvmlDeviceGetMemoryInfo(NvmlLibrary::Device device, NvmlLibrary::Memory* memory) {
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    if (driver.live.nvml == 0) return not_initialised;
    const auto& asked = *reinterpret_cast<const cuda_shim::Device*>(device);
    memory->total = driver.settings.memory_bytes;
    memory->used = driver.memory_in_use(asked);
    memory->free = memory->total - memory->used;
    return 0;
}
