// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>

namespace cuda_shim {

inline constexpr std::size_t page = 4096;
/// The least multiple of `of` that is not below `bytes`.
constexpr std::size_t whole(std::size_t bytes, std::size_t of) {
    return (bytes + of - 1) / of * of;
}

/// The memory of all pretended GPUs: one range of addresses that the host cannot touch. Allocations begin at
/// multiples of 256, lie apart, are filled with NaN and never lie where another one lay.
class DeviceMemory {
public:
    struct Allocation {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        int device = 0;
        bool pooled = false;  ///< from the device's pool
    };

    DeviceMemory() = default;
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    /// Null when there are no addresses or no memory left.
    void* allocate(int device, std::size_t bytes, bool pooled);
    void free(void* data);
    /// The allocation that `data` points into, or null.
    const Allocation* find(const void* data) const;
    /// The living allocation that [data, data + bytes) lies in, or null.
    const Allocation* find(const void* data, std::size_t bytes) const;
    /// Whether `data` is an address of a device, living or not.
    bool is_device_address(const void* data) const;
    const std::map<const std::byte*, Allocation>& allocations() const { return allocations_; }

    /// While it lives, this process may touch the allocations of one device: a kernel runs.
    class Open {
    public:
        Open(const DeviceMemory& memory, int device);
        ~Open();
        Open(const Open&) = delete;
        Open& operator=(const Open&) = delete;

    private:
        const DeviceMemory& memory_;
        int device_;
    };

private:
    std::map<const std::byte*, Allocation> allocations_;  // by address
    std::byte* begin_ = nullptr;
    std::byte* next_ = nullptr;
};

}  // namespace cuda_shim
