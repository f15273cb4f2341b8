// SPDX-License-Identifier: GPL-3.0-or-later
#include "memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_shim {

namespace {

constexpr std::size_t address_bytes = std::size_t{1} << 38;
constexpr std::size_t alignment = 256;

// Allocations end where a page ends, so that what is read or written behind one is caught.
std::size_t span_of(std::size_t bytes) {
    return whole(whole(bytes, alignment), page);
}

std::byte* first_page(const DeviceMemory::Allocation& allocation) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(allocation.data) / page * page);
}

void set_access(const DeviceMemory::Allocation& allocation, bool open) {
#if defined(__SANITIZE_ADDRESS__)
    if (open)
        ASAN_UNPOISON_MEMORY_REGION(allocation.data, allocation.bytes);
    else
        ASAN_POISON_MEMORY_REGION(allocation.data, allocation.bytes);
#else
    mprotect(first_page(allocation), span_of(allocation.bytes), open ? PROT_READ | PROT_WRITE : PROT_NONE);
#endif
}

}  // namespace

DeviceMemory::~DeviceMemory() {
    if (begin_ != nullptr) munmap(begin_, address_bytes);
}

void* DeviceMemory::allocate(int device, std::size_t bytes, bool pooled) {
    if (begin_ == nullptr) {
        void* mapped =
            mmap(nullptr, address_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) return nullptr;
        begin_ = static_cast<std::byte*>(mapped);
        next_ = begin_ + page;
    }
    const std::size_t span = span_of(bytes);
    if (span > address_bytes || static_cast<std::size_t>(begin_ + address_bytes - next_) < span + page)
        return nullptr;
    Allocation made{next_ + span - whole(bytes, alignment), bytes, device, pooled};
    if (mprotect(next_, span, PROT_READ | PROT_WRITE) != 0) return nullptr;
    std::memset(made.data, 0xFF, bytes);
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(next_, span);
#endif
    set_access(made, false);
    next_ += span + page;
    allocations_.emplace(made.data, made);
    return made.data;
}

void DeviceMemory::free(void* data) {
    const auto found = allocations_.find(static_cast<std::byte*>(data));
    if (found == allocations_.end()) return;
    std::byte* from = first_page(found->second);
    const std::size_t span = span_of(found->second.bytes);
#if defined(__SANITIZE_ADDRESS__)
    // No page is used again, so nothing but a mistake reaches it; the mapping alone finds that.
    ASAN_UNPOISON_MEMORY_REGION(from, span);
#endif
    // A new mapping gives the memory back and joins its neighbours: the number of mappings is limited.
    mmap(from, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    allocations_.erase(found);
}

const DeviceMemory::Allocation* DeviceMemory::find(const void* data) const {
    const auto* at = static_cast<const std::byte*>(data);
    auto found = allocations_.upper_bound(at);
    if (found == allocations_.begin()) return nullptr;
    --found;
    return at < found->second.data + found->second.bytes ? &found->second : nullptr;
}

const DeviceMemory::Allocation* DeviceMemory::find(const void* data, std::size_t bytes) const {
    const Allocation* found = find(data);
    if (found == nullptr) return nullptr;
    const auto before = static_cast<std::size_t>(static_cast<const std::byte*>(data) - found->data);
    return bytes <= found->bytes - before ? found : nullptr;
}

bool DeviceMemory::is_device_address(const void* data) const {
    const auto* at = static_cast<const std::byte*>(data);
    return begin_ != nullptr && at >= begin_ && at < begin_ + address_bytes;
}

DeviceMemory::Open::Open(const DeviceMemory& memory, int device) : memory_(memory), device_(device) {
    for (const auto& [at, allocation] : memory_.allocations_) {
        if (allocation.device == device_) set_access(allocation, true);
    }
}

DeviceMemory::Open::~Open() {
    for (const auto& [at, allocation] : memory_.allocations_) {
        if (allocation.device == device_) set_access(allocation, false);
    }
}

}  // namespace cuda_shim
