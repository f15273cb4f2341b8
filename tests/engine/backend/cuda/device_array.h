// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace decodescope::test {

/// An array in device memory, between two guards that nobody may write. Fresh ones hold 0xFF bytes: NaN as
/// floats of any kind, -1 as integers.
template <class T>
class DeviceArray {
public:
    explicit DeviceArray(std::size_t size) : size_(size) {
        worked_ = cudaMalloc(&memory_, bytes()) == cudaSuccess;
        std::vector<std::byte> fresh(bytes(), guard_byte);
        std::memset(fresh.data() + guard_bytes, 0xFF, size * sizeof(T));
        copy(memory_, fresh.data(), bytes(), cudaMemcpyHostToDevice);
    }
    explicit DeviceArray(const std::vector<T>& content) : DeviceArray(content.size()) { write(content); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { (void)cudaFree(memory_); }

    T* data() { return reinterpret_cast<T*>(memory_ + guard_bytes); }
    std::size_t size() const { return size_; }
    void write(const std::vector<T>& content) {
        copy(data(), content.data(), content.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    std::vector<T> read() {
        std::vector<T> content(size_);
        copy(content.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost);
        return content;
    }
    /// Whether everything worked so far and nothing was written beside the array.
    bool intact() {
        std::vector<std::byte> all(bytes());
        copy(all.data(), memory_, bytes(), cudaMemcpyDeviceToHost);
        const auto is_guard = [](std::byte byte) { return byte == guard_byte; };
        return worked_ && cudaPeekAtLastError() == cudaSuccess &&
               std::all_of(all.begin(), all.begin() + guard_bytes, is_guard) &&
               std::all_of(all.end() - guard_bytes, all.end(), is_guard);
    }

private:
    static constexpr std::ptrdiff_t guard_bytes = 512;
    static constexpr std::byte guard_byte{0xA5};

    std::size_t bytes() const { return size_ * sizeof(T) + 2 * guard_bytes; }
    void copy(void* to, const void* from, std::size_t n, cudaMemcpyKind kind) {
        worked_ = worked_ && (n == 0 || cudaMemcpy(to, from, n, kind) == cudaSuccess);
    }

    std::size_t size_ = 0;
    std::byte* memory_ = nullptr;
    bool worked_ = false;
};

}  // namespace decodescope::test
