// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/nvml_library.h"

#include <dlfcn.h>

#include <type_traits>

#ifdef DECODESCOPE_LIBRARIES_LINKED
#include <nvml.h>
#endif

namespace decodescope::cuda {

#ifdef DECODESCOPE_LIBRARIES_LINKED

// What stands in for it in tests is part of the program.
Result<NvmlLibrary> NvmlLibrary::load() {
    return NvmlLibrary{nvmlInit_v2, nvmlShutdown, nvmlDeviceGetHandleByPciBusId_v2, nvmlDeviceGetMemoryInfo};
}

#else

Result<NvmlLibrary> NvmlLibrary::load() {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    NvmlLibrary found;
    const auto find = [library](auto& function, const char* name) {
        if (library != nullptr)
            function = reinterpret_cast<std::remove_reference_t<decltype(function)> >(dlsym(library, name));
        return function != nullptr;
    };
    // The names with the form of their arguments that is declared here.
    if (find(found.init, "nvmlInit_v2") && find(found.shutdown, "nvmlShutdown") &&
        find(found.device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2") &&
        find(found.memory_info, "nvmlDeviceGetMemoryInfo"))
        return found;
    return Error{ErrorKind::device, "NVIDIA's management library cannot be used."};
}

#endif

}  // namespace decodescope::cuda
