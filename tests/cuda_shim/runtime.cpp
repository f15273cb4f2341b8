// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "driver.h"

using cuda_shim::Device;
using cuda_shim::Driver;
using cuda_shim::Work;

namespace {

struct NamedError {
    cudaError_t error;
    const char* name;
    const char* text;
};

constexpr NamedError named_errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "driver too old for the runtime"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "illegal memory access"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted while a stream captures"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "capture was spoiled"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "capture was not begun here"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit", "would wait for a capturing stream"},
};

const NamedError& named(cudaError_t error) {
    for (const NamedError& entry : named_errors) {
        if (entry.error == error) return entry;
    }
    return named_errors[1];
}

template <class Body>
cudaError_t call(Body&& body) {
    Driver& driver = Driver::instance();
    return driver.call([&] { return body(driver); });
}

/// Frees a thing that is counted.
template <class Thing>
cudaError_t destroy(Thing* thing, std::size_t cuda_shim::Live::*count) {
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    delete thing;
    --(driver.live.*count);
    return cudaSuccess;
}

/// What waits for the device, which no capture allows.
cudaError_t wait(Driver& driver, CUstream_st* stream) {
    if (const cudaError_t error = driver.spoil_captures()) return error;
    ++driver.counts.waits;
    if (stream == nullptr) return driver.run_all(driver.current());
    if (const cudaError_t error = driver.run(*stream)) return error;
    Device& device = driver.device(stream->device);
    driver.trim(device, device.pool.threshold);
    return cudaSuccess;
}

/// `body` frees a living allocation. On a GPU that has failed it is counted as freed at once: what a program
/// forgot shows all the same.
template <class Body>
cudaError_t free_memory(void* data, Body&& body) {
    return call([&](Driver& driver) {
        if (data == nullptr) return cudaSuccess;
        const auto* allocation = driver.memory.find(data);
        if (allocation == nullptr || allocation->data != data || driver.freeing.contains(data))
            return cudaErrorInvalidValue;
        if (const cudaError_t broken = driver.device(allocation->device).broken) {
            driver.release(data);
            return broken;
        }
        return body(driver, *allocation);
    });
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
    return named(error).name;
}

const char* cudaGetErrorString(cudaError_t error) {
    return named(error).text;
}

cudaError_t cudaGetLastError() {
    return std::exchange(Driver::last_error(), cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
    return Driver::last_error();
}

cudaError_t cudaDriverGetVersion(int* version) {
    *version = Driver::instance().settings.driver_version;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = Driver::instance().settings.runtime_version;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 0;
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    const cudaError_t error = driver.usable();
    if (error != cudaSuccess)
        Driver::last_error() = error;
    else
        *count = driver.settings.devices;
    return error;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return call([&](Driver& driver) {
        if (device < 0 || device >= driver.settings.devices) return cudaErrorInvalidDevice;
        *properties = {};
        std::strncpy(properties->name, driver.settings.name.c_str(), sizeof(properties->name) - 1);
        properties->totalGlobalMem = driver.settings.memory_bytes;
        properties->major = driver.settings.compute_major;
        properties->minor = driver.settings.compute_minor;
        properties->multiProcessorCount = 4;
        properties->memoryBusWidth = 256;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return call([&](Driver& driver) {
        if (device < 0 || device >= driver.settings.devices) return cudaErrorInvalidDevice;
        switch (attribute) {
            case cudaDevAttrClockRate: *value = driver.settings.clocks ? 1'500'000 : 0; break;
            case cudaDevAttrMultiProcessorCount: *value = 4; break;
            case cudaDevAttrMemoryClockRate: *value = driver.settings.clocks ? 2'000'000 : 0; break;
            case cudaDevAttrGlobalMemoryBusWidth: *value = 256; break;
            case cudaDevAttrComputeCapabilityMajor: *value = driver.settings.compute_major; break;
            case cudaDevAttrComputeCapabilityMinor: *value = driver.settings.compute_minor; break;
            case cudaDevAttrMaxSharedMemoryPerBlockOptin:
                *value = static_cast<int>(driver.settings.shared_bytes);
                break;
            case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
            default: return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaGetDevice(int* device) {
    return call([&](Driver&) {
        *device = Driver::current_index();
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device) {
    return call([&](Driver& driver) {
        if (device < 0 || device >= driver.settings.devices) return cudaErrorInvalidDevice;
        Driver::current_index() = device;
        driver.make_context(device);  // since CUDA 12
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
    return call([&](Driver& driver) {
        if (device < 0 || device >= driver.settings.devices) return cudaErrorInvalidDevice;
        const std::string text = cuda_shim::bus_id_of(device);
        if (length <= static_cast<int>(text.size())) return cudaErrorInvalidValue;
        std::strncpy(id, text.c_str(), static_cast<std::size_t>(length));
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize() {
    return call([&](Driver& driver) { return wait(driver, nullptr); });
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    return call([&](Driver& driver) {
        if (const cudaError_t error = driver.spoil_captures()) return error;
        return driver.allocate(data, bytes, false);
    });
}

cudaError_t cudaFree(void* data) {
    return free_memory(data, [&](Driver& driver, const cuda_shim::DeviceMemory::Allocation& allocation) {
        if (const cudaError_t error = driver.spoil_captures()) return error;
        if (const cudaError_t error = driver.run_all(driver.device(allocation.device))) return error;
        driver.release(data);
        return cudaSuccess;
    });
}

cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t stream) {
    return call([&](Driver& driver) {
        CUstream_st& mine = *driver.stream_of(stream);
        // A GPU's graph could hold an allocation; no graph of ours may.
        if (mine.capture != nullptr) return cudaErrorStreamCaptureUnsupported;
        // What was freed before in this stream is free now.
        if (const cudaError_t error = driver.run(mine)) return error;
        return driver.allocate(data, bytes, true);
    });
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
    return free_memory(data, [&](Driver& driver, const cuda_shim::DeviceMemory::Allocation& allocation) {
        if (!allocation.pooled) return cudaErrorInvalidValue;
        if (driver.stream_of(stream)->capture != nullptr) return cudaErrorStreamCaptureUnsupported;
        driver.freeing.insert(data);
        return driver.enqueue(stream, {[data, &driver] { driver.release(data); }});
    });
}

cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
    return call([&](Driver& driver) {
        if (const cudaError_t error = driver.spoil_captures()) return error;
        *data = std::malloc(bytes);
        if (*data == nullptr) return cudaErrorMemoryAllocation;
        std::memset(*data, 0xFF, bytes);
        driver.pinned.emplace(static_cast<std::byte*>(*data), bytes);
        ++driver.live.pinned;
        return cudaSuccess;
    });
}

cudaError_t cudaFreeHost(void* data) {
    // Pinned memory can be given back after the GPU has failed.
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    if (data == nullptr) return cudaSuccess;
    if (driver.pinned.erase(static_cast<std::byte*>(data)) == 0)
        return Driver::last_error() = cudaErrorInvalidValue;
    for (const auto& device : driver.devices) (void)driver.run_all(*device);
    std::free(data);
    --driver.live.pinned;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return call([&](Driver& driver) {
        driver.make_context(Driver::current_index());
        *total = driver.settings.memory_bytes;
        *free = *total - driver.memory_in_use(driver.current());
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return call([&](Driver& driver) {
        if (device < 0 || device >= driver.settings.devices) return cudaErrorInvalidDevice;
        *pool = &driver.device(device).pool;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return call([&](Driver&) {
        const std::uint64_t wanted = *static_cast<std::uint64_t*>(value);
        switch (attribute) {
            case cudaMemPoolAttrReleaseThreshold: pool->threshold = wanted; return cudaSuccess;
            // The highest values can only be set back.
            case cudaMemPoolAttrReservedMemHigh:
                if (wanted != 0) return cudaErrorInvalidValue;
                pool->reserved_high = pool->reserved;
                return cudaSuccess;
            case cudaMemPoolAttrUsedMemHigh:
                if (wanted != 0) return cudaErrorInvalidValue;
                pool->used_high = pool->used;
                return cudaSuccess;
            default: return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return call([&](Driver&) {
        std::uint64_t& out = *static_cast<std::uint64_t*>(value);
        switch (attribute) {
            case cudaMemPoolAttrReleaseThreshold: out = pool->threshold; break;
            case cudaMemPoolAttrReservedMemCurrent: out = pool->reserved; break;
            case cudaMemPoolAttrReservedMemHigh: out = pool->reserved_high; break;
            case cudaMemPoolAttrUsedMemCurrent: out = pool->used; break;
            case cudaMemPoolAttrUsedMemHigh: out = pool->used_high; break;
            default: return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep) {
    return call([&](Driver& driver) {
        for (const auto& device : driver.devices) {
            if (&device->pool != pool) continue;
            driver.trim(*device, keep);
            return cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return call([&](Driver& driver) { return driver.copy(to, bytes, from, bytes, bytes, 1, kind, stream); });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return call([&](Driver& driver) {
        if (const cudaError_t error = driver.spoil_captures()) return error;
        if (const cudaError_t error = driver.copy(to, bytes, from, bytes, bytes, 1, kind, nullptr))
            return error;
        return wait(driver, nullptr);
    });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return call([&](Driver& driver) {
        return driver.copy(to, to_pitch, from, from_pitch, width, height, kind, stream);
    });
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
    return call([&](Driver& driver) {
        if (bytes == 0) return cudaSuccess;
        const auto* allocation = driver.memory.find(data, bytes);
        if (allocation == nullptr || driver.freeing.contains(allocation->data)) return cudaErrorInvalidValue;
        return driver.enqueue(stream, {[=] { std::memset(data, value, bytes); }});
    });
}

cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
    return cudaMemsetAsync(data, value, bytes, nullptr);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    return call([&](Driver& driver) {
        *stream = new CUstream_st;
        (*stream)->device = Driver::current_index();
        driver.current().streams.insert(*stream);
        ++driver.live.streams;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    Device& device = driver.device(stream->device);
    // A GPU goes on with what was queued.
    const cudaError_t error = driver.run(*stream);
    device.streams.erase(stream);
    delete stream->capture;
    delete stream;
    --driver.live.streams;
    return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return call([&](Driver& driver) { return wait(driver, stream); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return call([&](Driver& driver) {
        *event = new CUevent_st;
        (*event)->timing = (flags & cudaEventDisableTiming) == 0;
        ++driver.live.events;
        return cudaSuccess;
    });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return destroy(event, &cuda_shim::Live::events);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return call([&](Driver& driver) {
        // In a graph an event is an edge, not a time.
        if (driver.stream_of(stream)->capture != nullptr) return cudaErrorStreamCaptureUnsupported;
        const auto state = std::make_shared<CUevent_st::State>();
        event->state = state;
        event->stream = driver.stream_of(stream);
        return driver.enqueue(stream, {[state] {
                                  state->done = true;
                                  state->time = std::chrono::steady_clock::now();
                              }});
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return call([&](Driver& driver) {
        if (event->state == nullptr || event->state->done) return cudaSuccess;
        return wait(driver, event->stream);
    });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    return call([&](Driver&) {
        const bool recorded = from->timing && to->timing && from->state != nullptr && to->state != nullptr;
        if (!recorded) return cudaErrorInvalidResourceHandle;
        if (!from->state->done || !to->state->done) return cudaErrorNotReady;
        *milliseconds = std::chrono::duration<float, std::milli>(to->state->time - from->state->time).count();
        return cudaSuccess;
    });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return call([&](Driver&) {
        if (stream == nullptr) return cudaErrorStreamCaptureUnsupported;
        if (stream->capture != nullptr) return cudaErrorStreamCaptureUnmatched;
        stream->capture = new CUgraph_st;
        stream->capture->device = stream->device;
        stream->mode = mode;
        stream->thread = std::this_thread::get_id();
        stream->invalidated = false;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return call([&](Driver& driver) {
        *graph = nullptr;
        if (stream == nullptr || stream->capture == nullptr) return cudaErrorStreamCaptureUnmatched;
        CUgraph_st* captured = std::exchange(stream->capture, nullptr);
        if (stream->invalidated) {
            delete captured;
            return cudaErrorStreamCaptureInvalidated;
        }
        *graph = captured;
        ++driver.live.graphs;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
    return call([&](Driver&) {
        if (nodes != nullptr) return cudaErrorNotSupported;
        *count = graph->work.size();
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
    return call([&](Driver& driver) {
        *exec = new CUgraphExec_st{graph->device, graph->work};
        ++driver.live.graphs;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    return call([&](Driver& driver) {
        if (driver.stream_of(stream)->device != exec->device) return cudaErrorInvalidResourceHandle;
        ++driver.counts.graph_launches;
        for (const Work& work : exec->work) {
            if (const cudaError_t error = driver.enqueue(stream, work)) return error;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return destroy(graph, &cuda_shim::Live::graphs);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    return destroy(exec, &cuda_shim::Live::graphs);
}

namespace cuda_shim {

void enqueue(cudaStream_t stream, dim3 grid, dim3 block, std::size_t shared, std::function<void()> body) {
    (void)call([&](Driver& driver) {
        const std::size_t threads = std::size_t{block.x} * block.y * block.z;
        const bool fits = grid.x > 0 && grid.x <= 0x7FFFFFFFu && grid.y > 0 && grid.y <= 65535 &&
                          grid.z > 0 && grid.z <= 65535 && threads > 0 && threads <= 1024 && block.z <= 64;
        if (!fits) return cudaErrorInvalidConfiguration;
        if (shared > driver.settings.shared_bytes) return cudaErrorInvalidValue;
        ++driver.counts.launches;
        return driver.enqueue(stream,
                              {[=, body = std::move(body)] { run_grid(grid, block, shared, body); }, true});
    });
}

cudaError_t enqueue_work(cudaStream_t stream, std::function<void()> work) {
    return call([&](Driver& driver) {
        ++driver.counts.launches;
        return driver.enqueue(stream, {std::move(work), true});
    });
}

}  // namespace cuda_shim
