// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cuda_shim {

namespace {

constexpr std::size_t pool_granularity = 512;

bool counts_down_to_zero(int& left) {
    return left > 0 && --left == 0;
}

}  // namespace

Driver& Driver::instance() {
    static Driver driver;
    return driver;
}

cudaError_t& Driver::last_error() {
    thread_local cudaError_t error = cudaSuccess;
    return error;
}

int& Driver::current_index() {
    thread_local int index = 0;
    return index;
}

std::string bus_id_of(int index) {
    // Not in the order of the numbers.
    return "0000:" + std::to_string(90 - index) + ":00.0";
}

void Driver::make_context(int index) {
    if (std::exchange(device(index).context, true)) return;
    ++counts.contexts;
}

cudaError_t Driver::usable() const {
    if (settings.driver_version < settings.runtime_version) return cudaErrorInsufficientDriver;
    return settings.devices > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t Driver::spoil_captures() {
    cudaError_t error = cudaSuccess;
    for (const auto& device : devices) {
        for (CUstream_st* stream : device->streams) {
            if (stream->capture == nullptr || stream->mode == cudaStreamCaptureModeRelaxed) continue;
            const bool mine = stream->thread == std::this_thread::get_id();
            if (stream->mode == cudaStreamCaptureModeThreadLocal && !mine) continue;
            stream->invalidated = true;
            error = cudaErrorStreamCaptureUnsupported;
        }
    }
    return error;
}

CUstream_st* Driver::stream_of(CUstream_st* stream) {
    return stream != nullptr ? stream : &current().null_stream;
}

cudaError_t Driver::enqueue(CUstream_st* asked, Work work) {
    if (asked == nullptr) {
        // The null stream waits for all others of its device.
        for (const CUstream_st* stream : current().streams) {
            if (stream->capture != nullptr && stream->mode != cudaStreamCaptureModeRelaxed)
                return cudaErrorStreamCaptureImplicit;
        }
        if (const cudaError_t error = run_all(current())) return error;
    }
    CUstream_st& stream = *stream_of(asked);
    if (stream.device != current_index()) return cudaErrorInvalidResourceHandle;
    if (stream.capture != nullptr) {
        if (stream.invalidated) return cudaErrorStreamCaptureInvalidated;
        stream.capture->work.push_back(std::move(work));
    } else {
        stream.waiting.push_back(std::move(work));
    }
    return cudaSuccess;
}

cudaError_t Driver::run(CUstream_st& stream) {
    Device& mine = device(stream.device);
    if (mine.broken != cudaSuccess || stream.waiting.empty()) return mine.broken;
    const DeviceMemory::Open open(memory, stream.device);
    while (!stream.waiting.empty()) {
        const Work work = std::move(stream.waiting.front());
        stream.waiting.pop_front();
        if (work.kernel) ++counts.kernels_run;
        if (work.kernel && counts_down_to_zero(fail_launch)) {
            mine.broken = cudaErrorIllegalAddress;
            for (CUstream_st* other : mine.streams) other->waiting.clear();
            // What was to be freed behind it was not forgotten by the program.
            while (!freeing.empty()) release(const_cast<void*>(*freeing.begin()));
            return mine.broken;
        }
        work.run();
    }
    return cudaSuccess;
}

cudaError_t Driver::run_all(Device& device) {
    for (CUstream_st* stream : device.streams) {
        if (const cudaError_t error = run(*stream)) return error;
    }
    trim(device, device.pool.threshold);
    return cudaSuccess;
}

void Driver::trim(Device& device, std::size_t keep) const {
    CUmemPoolHandle_st& pool = device.pool;
    pool.reserved = std::min(pool.reserved, std::max(whole(pool.used, settings.pool_chunk), keep));
}

std::size_t Driver::memory_in_use(const Device& device) const {
    return std::min(settings.memory_bytes, settings.context_bytes + device.direct + device.pool.reserved);
}

cudaError_t Driver::allocate(void** data, std::size_t bytes, bool pooled) {
    *data = nullptr;
    if (bytes == 0) return cudaSuccess;
    ++counts.allocations;
    make_context(current_index());
    if (counts_down_to_zero(fail_allocation)) return cudaErrorMemoryAllocation;
    Device& mine = current();
    if (bytes > settings.memory_bytes) return cudaErrorMemoryAllocation;
    const std::size_t taken = whole(bytes, pool_granularity);
    const std::size_t left = settings.memory_bytes - memory_in_use(mine);
    CUmemPoolHandle_st& pool = mine.pool;
    std::size_t reserve = 0;
    if (pooled) {
        if (pool.used + taken > pool.reserved)
            reserve = whole(pool.used + taken, settings.pool_chunk) - pool.reserved;
        if (reserve > left) return cudaErrorMemoryAllocation;
    } else if (taken > left) {
        return cudaErrorMemoryAllocation;
    }
    *data = memory.allocate(current_index(), bytes, pooled);
    if (*data == nullptr) return cudaErrorMemoryAllocation;
    ++live.allocations;
    live.bytes += bytes;
    if (pooled) {
        pool.used += taken;
        pool.reserved += reserve;
        pool.used_high = std::max(pool.used_high, pool.used);
        pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
    } else {
        mine.direct += taken;
    }
    return cudaSuccess;
}

void Driver::release(void* data) {
    const DeviceMemory::Allocation allocation = *memory.find(data);
    Device& mine = device(allocation.device);
    const std::size_t taken = whole(allocation.bytes, pool_granularity);
    (allocation.pooled ? mine.pool.used : mine.direct) -= taken;
    --live.allocations;
    live.bytes -= allocation.bytes;
    freeing.erase(data);
    memory.free(data);
}

bool Driver::is_pinned(const void* data, std::size_t bytes) const {
    const auto* at = static_cast<const std::byte*>(data);
    auto found = pinned.upper_bound(at);
    if (found == pinned.begin()) return false;
    --found;
    return at + bytes <= found->first + found->second;
}

cudaError_t Driver::copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, CUstream_st* stream) {
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && (to_pitch < width || from_pitch < width)) return cudaErrorInvalidPitchValue;
    const bool from_device = memory.is_device_address(from);
    const bool to_device = memory.is_device_address(to);
    const bool fits = kind == cudaMemcpyDefault ||
                      (from_device == (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) &&
                       to_device == (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice));
    if (!fits) return cudaErrorInvalidMemcpyDirection;
    const std::size_t to_bytes = (height - 1) * to_pitch + width;
    const std::size_t from_bytes = (height - 1) * from_pitch + width;
    for (const auto& [on_device, at, bytes] : {std::tuple(to_device, static_cast<const void*>(to), to_bytes),
                                               std::tuple(from_device, from, from_bytes)}) {
        if (!on_device) continue;
        const DeviceMemory::Allocation* allocation = memory.find(at, bytes);
        if (allocation == nullptr || freeing.contains(allocation->data)) return cudaErrorInvalidValue;
    }
    const auto rows = [=](void* out, std::size_t out_pitch, const void* in, std::size_t in_pitch) {
        for (std::size_t row = 0; row < height; ++row) {
            std::memmove(static_cast<std::byte*>(out) + row * out_pitch,
                         static_cast<const std::byte*>(in) + row * in_pitch, width);
        }
    };
    const bool captured = stream_of(stream)->capture != nullptr;
    const bool late_source = from_device || is_pinned(from, from_bytes);
    const bool late_target = to_device || is_pinned(to, to_bytes);
    // What a graph would read or write again later must be memory that stays.
    if (captured && !(late_source && late_target)) return cudaErrorStreamCaptureUnsupported;
    if (late_source) {
        const Work work{[=] { rows(to, to_pitch, from, from_pitch); }};
        if (const cudaError_t error = enqueue(stream, work)) return error;
        return late_target ? cudaSuccess : run(*stream_of(stream));
    }
    // Memory that is not pinned is read before the call returns.
    const auto staged = std::make_shared<std::vector<std::byte>>(height * width);
    rows(staged->data(), width, from, from_pitch);
    const Work work{[=] { rows(to, to_pitch, staged->data(), width); }};
    if (const cudaError_t error = enqueue(stream, work)) return error;
    return late_target ? cudaSuccess : run(*stream_of(stream));
}

void Driver::reset(const Settings& wanted) {
    const std::scoped_lock lock(mutex);
    settings = wanted;
    while (devices.empty() || devices.size() < static_cast<std::size_t>(settings.devices)) {
        auto& made = devices.emplace_back(std::make_unique<Device>());
        made->null_stream.device = static_cast<int>(devices.size()) - 1;
        made->streams.insert(&made->null_stream);
    }
    for (const auto& device : devices) {
        device->broken = cudaSuccess;
        device->context = false;
        for (CUstream_st* stream : device->streams) stream->waiting.clear();
        device->pool.threshold = 0;
        trim(*device, 0);
        device->pool.used_high = device->pool.used;
        device->pool.reserved_high = device->pool.reserved;
    }
    counts = {};
    range_names.clear();
    fail_allocation = settings.fail_allocation;
    fail_launch = settings.fail_launch;
    last_error() = cudaSuccess;
    current_index() = 0;
}

void configure(const Settings& settings) {
    Driver::instance().reset(settings);
}

void fail_allocation(int n) {
    const std::scoped_lock lock(Driver::instance().mutex);
    Driver::instance().fail_allocation = n;
}

void fail_launch(int n) {
    const std::scoped_lock lock(Driver::instance().mutex);
    Driver::instance().fail_launch = n;
}

Live live() {
    const std::scoped_lock lock(Driver::instance().mutex);
    return Driver::instance().live;
}

Counts counts() {
    const std::scoped_lock lock(Driver::instance().mutex);
    return Driver::instance().counts;
}

bool is_device_memory(const void* data) {
    const std::scoped_lock lock(Driver::instance().mutex);
    return Driver::instance().memory.find(data) != nullptr;
}

bool had_range(const std::string& name) {
    const std::scoped_lock lock(Driver::instance().mutex);
    return Driver::instance().range_names.contains(name);
}

}  // namespace cuda_shim
