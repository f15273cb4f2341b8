// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/memory.h"
#include "engine/core/result.h"

namespace decodescope::cuda {

/// The memory of one GPU and the stream in which everything that touches it is queued. Blocks come from the
/// GPU's own pool in the order of the stream, so that what was freed can be had again without waiting.
/// Outlives the backend as long as somebody has buffers in it.
class CudaMemory final : public DeviceMemory {
public:
    /// Fails with `device` where there is no such GPU, or it cannot be used.
    static Result<std::shared_ptr<CudaMemory>> make(int index);
    ~CudaMemory() override;
    CudaMemory(const CudaMemory&) = delete;
    CudaMemory& operator=(const CudaMemory&) = delete;

    std::string name() const override;
    Result<std::byte*> allocate(std::size_t bytes) override;
    void free(std::byte* block) override;
    void fill(std::byte* to, unsigned char value, std::size_t bytes) override;
    void copy(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch,
              std::size_t width, std::size_t n) override;
    std::optional<DeviceMemoryUse> use() override;
    void reset_peak() override;
    void trim() override;

    cudaStream_t stream() const { return stream_; }
    int index() const { return index_; }
    /// Makes this GPU the one that the calling thread works with.
    Result<void> enter();
    /// Remembers the first failure of what cannot return one.
    void note(const Result<void>& result);
    /// What was noted, once.
    Result<void> take_failure();
    /// Waits until everything that was queued is done.
    Result<void> wait();
    /// What is used now is what was there before anything was allocated.
    Result<void> mark_baseline();
    /// What `trim` does first: gives back what a backend keeps between calls.
    void set_on_trim(std::function<void()> on_trim) { on_trim_ = std::move(on_trim); }
    /// While a graph is captured, nothing can be allocated.
    void set_capturing(bool on) { capturing_ = on; }

private:
    explicit CudaMemory(int index) : index_(index) {}
    Result<void> open();
    Result<DeviceMemoryUse> ask();

    int index_;
    cudaStream_t stream_ = nullptr;
    cudaMemPool_t pool_ = nullptr;
    std::uint64_t baseline_used_ = 0;
    Result<void> failure_;
    bool capturing_ = false;
    std::function<void()> on_trim_;
};

/// Memory of the processor that the GPU reads and writes by itself while the processor goes on.
class PinnedBlock {
public:
    PinnedBlock() = default;
    ~PinnedBlock();
    PinnedBlock(PinnedBlock&& other) noexcept;
    PinnedBlock& operator=(PinnedBlock&&) = delete;
    PinnedBlock(const PinnedBlock&) = delete;

    /// Room for `bytes` bytes, at another address and with other contents unless there was enough.
    Result<void> reserve(std::size_t bytes);
    std::size_t size_bytes() const { return bytes_; }
    std::byte* data() const { return data_; }

private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A block of device memory for the backend's own needs.
class DeviceBlock {
public:
    explicit DeviceBlock(std::shared_ptr<CudaMemory> memory) : memory_(std::move(memory)) {}
    ~DeviceBlock() { release(); }
    DeviceBlock(const DeviceBlock&) = delete;
    DeviceBlock& operator=(const DeviceBlock&) = delete;

    /// See PinnedBlock::reserve.
    Result<void> reserve(std::size_t bytes);
    std::size_t size_bytes() const { return bytes_; }
    std::byte* data() const { return data_; }
    void release();

private:
    std::shared_ptr<CudaMemory> memory_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace decodescope::cuda
