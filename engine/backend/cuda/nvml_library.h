// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/core/result.h"

namespace decodescope::cuda {

/// The functions that are used of NVIDIA's management library, which comes with the driver (its header does
/// not come with every toolkit). It answers without a context on the GPU, which takes time and hundreds of
/// megabytes of its memory.
struct NvmlLibrary {
    using Device = struct nvmlDevice_st*;
    struct Memory {
        unsigned long long total = 0;
        unsigned long long free = 0;
        unsigned long long used = 0;
    };
    // All of them answer 0 when they have done it.
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*device_by_bus_id)(const char* bus_id, Device* device) = nullptr;
    int (*memory_info)(Device device, Memory* memory) = nullptr;

    /// Fails with `device` where it is not there.
    static Result<NvmlLibrary> load();
};

}  // namespace decodescope::cuda
