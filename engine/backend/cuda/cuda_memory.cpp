// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/cuda_memory.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/device.h"

namespace decodescope::cuda {

Result<std::shared_ptr<CudaMemory>> CudaMemory::make(int index) {
    std::shared_ptr<CudaMemory> memory(new CudaMemory(index));
    DS_TRY(memory->open());
    return memory;
}

Result<void> CudaMemory::open() {
    DS_TRY(enter());
    DS_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    DS_CUDA(cudaDeviceGetDefaultMemPool(&pool_, index_));
    // What was freed stays with the program until `trim`: the next token asks for the same again.
    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
    DS_CUDA(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep));
    return mark_baseline();
}

Result<void> CudaMemory::mark_baseline() {
    const auto use = ask();
    if (!use) return use.error();
    baseline_used_ = use->device_used;
    return {};
}

CudaMemory::~CudaMemory() {
    if (stream_ == nullptr) return;
    trim();
    (void)checked(cudaStreamDestroy(stream_), "cudaStreamDestroy");
}

std::string CudaMemory::name() const {
    return Device{Device::Kind::cuda, index_}.name();
}

Result<void> CudaMemory::enter() {
    DS_CUDA(cudaSetDevice(index_));
    return {};
}

Result<std::byte*> CudaMemory::allocate(std::size_t bytes) {
    if (capturing_)
        return Error{ErrorKind::internal,
                     fmt::format("{}: {} bytes were asked for while a graph was captured.", name(), bytes)};
    DS_TRY(enter());
    void* block = nullptr;
    DS_CUDA(cudaMallocAsync(&block, bytes, stream_));
    return static_cast<std::byte*>(block);
}

void CudaMemory::free(std::byte* block) {
    if (block == nullptr) return;
    note(enter());
    note(checked(cudaFreeAsync(block, stream_), "cudaFreeAsync"));
}

void CudaMemory::fill(std::byte* to, unsigned char value, std::size_t bytes) {
    note(enter());
    note(checked(cudaMemsetAsync(to, value, bytes, stream_), "cudaMemsetAsync"));
}

void CudaMemory::copy(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch,
                      std::size_t width, std::size_t n) {
    if (width == 0 || n == 0) return;
    note(enter());
    note(n == 1
             ? checked(cudaMemcpyAsync(to, from, width, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync")
             : checked(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, n, cudaMemcpyDeviceToDevice,
                                         stream_),
                       "cudaMemcpy2DAsync"));
}

Result<DeviceMemoryUse> CudaMemory::ask() {
    DS_TRY(enter());
    DeviceMemoryUse use;
    DS_CUDA(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &use.allocated));
    DS_CUDA(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &use.reserved));
    DS_CUDA(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &use.peak_allocated));
    DS_CUDA(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemHigh, &use.peak_reserved));
    std::size_t free = 0;
    std::size_t total = 0;
    DS_CUDA(cudaMemGetInfo(&free, &total));
    use.device_used = total - free;
    use.device_total = total;
    use.baseline_used = baseline_used_;
    return use;
}

std::optional<DeviceMemoryUse> CudaMemory::use() {
    const auto use = ask();
    note(use ? Result<void>() : use.error());
    return use ? std::optional(*use) : std::nullopt;
}

void CudaMemory::reset_peak() {
    note(enter());
    std::uint64_t zero = 0;
    note(checked(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &zero),
                 "cudaMemPoolSetAttribute"));
    note(checked(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReservedMemHigh, &zero),
                 "cudaMemPoolSetAttribute"));
}

void CudaMemory::trim() {
    if (on_trim_) on_trim_();
    // Blocks that were freed are free when the stream has come to that.
    note(wait());
    note(checked(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo"));
}

Result<void> CudaMemory::wait() {
    DS_TRY(enter());
    DS_CUDA(cudaStreamSynchronize(stream_));
    return {};
}

void CudaMemory::note(const Result<void>& result) {
    if (failure_.ok() && !result.ok()) failure_ = result;
}

Result<void> CudaMemory::take_failure() {
    return std::exchange(failure_, Result<void>());
}

PinnedBlock::PinnedBlock(PinnedBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

PinnedBlock::~PinnedBlock() {
    if (data_ != nullptr) (void)checked(cudaFreeHost(data_), "cudaFreeHost");
}

Result<void> PinnedBlock::reserve(std::size_t bytes) {
    if (bytes <= bytes_) return {};
    if (data_ != nullptr) DS_CUDA(cudaFreeHost(std::exchange(data_, nullptr)));
    bytes_ = 0;
    void* data = nullptr;
    DS_CUDA(cudaMallocHost(&data, bytes));
    data_ = static_cast<std::byte*>(data);
    bytes_ = bytes;
    return {};
}

Result<void> DeviceBlock::reserve(std::size_t bytes) {
    if (bytes <= bytes_) return {};
    release();
    const auto data = memory_->allocate(bytes);
    if (!data) return data.error();
    data_ = *data;
    bytes_ = bytes;
    return {};
}

void DeviceBlock::release() {
    memory_->free(std::exchange(data_, nullptr));
    bytes_ = 0;
}

}  // namespace decodescope::cuda
