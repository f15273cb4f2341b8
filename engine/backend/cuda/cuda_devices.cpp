// SPDX-License-Identifier: GPL-3.0-or-later
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/nvml_library.h"

namespace decodescope {

namespace {

/// "13.0" of 13000.
std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// A number that the driver may not know or not tell.
std::int64_t attribute(cudaDeviceAttr which, int index) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, index) == cudaSuccess && value > 0) return value;
    (void)cudaGetLastError();
    return -1;
}

/// Bytes that are free on a device, 0 where it is not known. The runtime would first make a context there,
/// which takes time and memory of its own.
std::uint64_t free_bytes(const cuda::NvmlLibrary& nvml, int index) {
    // "0000:3b:00.0": the library counts GPUs in an order of its own.
    char bus_id[32] = {};
    if (cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), index) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    cuda::NvmlLibrary::Device device = nullptr;
    cuda::NvmlLibrary::Memory memory;
    const bool told = nvml.device_by_bus_id(bus_id, &device) == 0 && nvml.memory_info(device, &memory) == 0;
    return told ? memory.free : 0;
}

}  // namespace

CudaDevices find_cuda_devices() {
    CudaDevices found;
    int runtime = 0;
    int driver = 0;
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) found.runtime = version_text(runtime);
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) found.driver = version_text(driver);
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        if (found.driver.empty()) {
            found.why_none = "no CUDA driver";
        } else if (error == cudaErrorNoDevice) {
            found.why_none = "no NVIDIA GPU";
        } else if (error == cudaErrorInsufficientDriver) {
            found.why_none =
                fmt::format("the driver does CUDA {}, this program needs {}", found.driver, found.runtime);
        } else {
            found.why_none = cudaGetErrorString(error);
        }
        return found;
    }
    for (int index = 0; index < count; ++index) {
        cudaDeviceProp properties{};
        if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) {
            (void)cudaGetLastError();
            continue;
        }
        CudaDevice& device = found.devices.emplace_back();
        device.index = index;
        device.name = properties.name;
        device.compute_major = properties.major;
        device.compute_minor = properties.minor;
        device.n_multiprocessor = properties.multiProcessorCount;
        device.memory_bytes = properties.totalGlobalMem;
        device.core_clock_khz = attribute(cudaDevAttrClockRate, index);
        device.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, index);
        const std::int64_t bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, index);
        if (bus_bits > 0 && device.memory_clock_khz > 0) {
            device.memory_gb_s = 2.0 * 1e3 * static_cast<double>(device.memory_clock_khz) *
                                 static_cast<double>(bus_bits) / 8.0 / 1e9;
        }
    }
    if (found.devices.empty()) found.why_none = "no NVIDIA GPU";
    return found;
}

CudaDevices find_cuda_devices_and_free_memory() {
    CudaDevices found = find_cuda_devices();
    if (found.devices.empty()) return found;
    const auto nvml = cuda::NvmlLibrary::load();
    if (!nvml || nvml->init() != 0) return found;
    for (CudaDevice& device : found.devices) device.free_bytes = free_bytes(*nvml, device.index);
    (void)nvml->shutdown();
    return found;
}

}  // namespace decodescope
