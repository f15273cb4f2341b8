// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// What a test sets and sees of the pretended GPUs.
namespace cuda_shim {

struct Settings {
    int devices = 1;
    int driver_version = 13000;   ///< as cudaDriverGetVersion counts; 0 = no driver
    int runtime_version = 13000;  ///< a driver that is older cannot be used
    std::string name = "Pretended GPU";
    int compute_major = 9;
    int compute_minor = 0;
    std::size_t memory_bytes = std::size_t{1} << 30;   ///< of every GPU
    std::size_t context_bytes = std::size_t{8} << 20;  ///< taken before anybody asked for anything
    std::size_t pool_chunk = std::size_t{2} << 20;     ///< a pool reserves in these steps
    std::size_t shared_bytes = 48 * 1024;              ///< most shared memory of a block
    int fail_allocation = 0;  ///< the how-manieth allocation of device memory from now on fails; 0 = none
    int fail_launch = 0;      ///< the how-manieth kernel from now on fails when it runs; 0 = none
    bool clocks = true;       ///< the driver states them
    bool nvml = true;         ///< its management library can be used
};

/// Sets everything anew: no error is pending, nothing is counted yet. What lives stays alive.
void configure(const Settings& settings = {});
/// Fail the n-th from now on; the rest stays.
void fail_allocation(int n);
void fail_launch(int n);

/// What was made and not yet given back.
struct Live {
    std::size_t allocations = 0;  ///< of device memory
    std::size_t bytes = 0;        ///< of them, as asked for
    std::size_t pinned = 0;
    std::size_t streams = 0;
    std::size_t events = 0;
    std::size_t graphs = 0;   ///< captured and instantiated ones
    std::size_t handles = 0;  ///< of cuBLAS
    std::size_t nvml = 0;     ///< times that the management library was set up

    bool operator==(const Live&) const = default;
};
Live live();

/// Since `configure`.
struct Counts {
    std::int64_t launches = 0;     ///< kernels enqueued, those of a captured graph when it was captured
    std::int64_t kernels_run = 0;  ///< kernels that ran, replays included
    std::int64_t graph_launches = 0;
    std::int64_t allocations = 0;
    std::int64_t waits = 0;     ///< calls that waited for a stream or device
    std::int64_t contexts = 0;  ///< made on a GPU, because something was done with it
    int open_ranges = 0;        ///< NVTX ranges pushed and not popped
    std::int64_t ranges = 0;
};
Counts counts();

/// Whether `data` is inside a living allocation of device memory.
bool is_device_memory(const void* data);
/// Whether an NVTX range of this name was ever pushed.
bool had_range(const std::string& name);

}  // namespace cuda_shim
