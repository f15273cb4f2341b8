// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cuda_runtime.h"
#include "memory.h"
#include "shim.h"

/// What the shim's own sources share: the state of all pretended GPUs.
namespace cuda_shim {

/// Something that was queued.
struct Work {
    std::function<void()> run;
    bool kernel = false;
};

}  // namespace cuda_shim

struct CUstream_st {
    int device = 0;
    std::deque<cuda_shim::Work> waiting;
    CUgraph_st* capture = nullptr;  // what is captured into, or null
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread;    // that captures
    bool invalidated = false;  // the capture was spoiled
};

struct CUgraph_st {
    int device = 0;
    std::vector<cuda_shim::Work> work;
};

struct CUgraphExec_st {
    int device = 0;
    std::vector<cuda_shim::Work> work;
};

struct CUevent_st {
    struct State {
        bool done = false;
        std::chrono::steady_clock::time_point time;
    };
    bool timing = true;
    std::shared_ptr<State> state;   // of the last record; null before it
    CUstream_st* stream = nullptr;  // of the last record
};

struct CUmemPoolHandle_st {
    std::size_t used = 0;
    std::size_t used_high = 0;
    std::size_t reserved = 0;
    std::size_t reserved_high = 0;
    std::size_t threshold = 0;  // what a wait leaves reserved
};

namespace cuda_shim {

struct Device {
    cudaError_t broken = cudaSuccess;  // a kernel failed: every call says so from then on
    bool context = false;              // somebody has done something with it
    CUmemPoolHandle_st pool;
    std::size_t direct = 0;  // bytes outside the pool
    CUstream_st null_stream;
    std::set<CUstream_st*> streams;  // the null stream included
};

/// Where a GPU is plugged in, as the runtime and the management library both tell it.
std::string bus_id_of(int index);

class Driver {
public:
    Driver() { reset({}); }
    static Driver& instance();
    /// See `configure`.
    void reset(const Settings& wanted);

    /// Runs `body` under the lock, after what every call looks for first, and remembers its error.
    template <class Body>
    cudaError_t call(Body&& body) {
        const std::scoped_lock lock(mutex);
        cudaError_t error = usable();
        if (error == cudaSuccess) error = body();
        if (error == cudaSuccess) error = current().broken;
        if (error != cudaSuccess) last_error() = error;
        return error;
    }
    static cudaError_t& last_error();
    static int& current_index();
    /// What the first use of a GPU does.
    void make_context(int index);
    Device& current() { return *devices[static_cast<std::size_t>(current_index())]; }
    Device& device(int index) { return *devices[static_cast<std::size_t>(index)]; }
    /// Whether there is a GPU that this driver can use.
    cudaError_t usable() const;
    /// What may not happen while this thread, or anybody, captures.
    cudaError_t spoil_captures();
    /// The stream that is meant: null is the device's own.
    CUstream_st* stream_of(CUstream_st* stream);
    /// Queues or captures.
    cudaError_t enqueue(CUstream_st* stream, Work work);
    cudaError_t run(CUstream_st& stream);
    /// Runs what waits in every stream of a device, and gives back what its pool need not keep.
    cudaError_t run_all(Device& device);
    void trim(Device& device, std::size_t keep) const;
    std::size_t memory_in_use(const Device& device) const;
    cudaError_t allocate(void** data, std::size_t bytes, bool pooled);
    void release(void* data);
    bool is_pinned(const void* data, std::size_t bytes) const;
    cudaError_t copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t height, cudaMemcpyKind kind, CUstream_st* stream);

    std::recursive_mutex mutex;
    Settings settings;
    DeviceMemory memory;
    std::vector<std::unique_ptr<Device>> devices;
    std::map<const std::byte*, std::size_t> pinned;
    std::set<const void*> freeing;  // frees are queued
    std::set<std::string> range_names;
    Counts counts;
    Live live;
    int fail_allocation = 0;
    int fail_launch = 0;
};

}  // namespace cuda_shim
