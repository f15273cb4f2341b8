// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <math.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

/// What CUDA C++ adds to the language for code that runs on the device, as far as our kernels use it. The
/// threads of a block are fibers of one thread of the processor: between two barriers they run one after
/// another, so that a barrier that is missing shows as a wrong result every time, not sometimes.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
/// One block runs at a time on a thread of the processor.
#define __shared__ static thread_local

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(4) char4 {
    signed char x, y, z, w;
};
inline float2 make_float2(float x, float y) {
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
    return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}
inline char4 make_char4(signed char x, signed char y, signed char z, signed char w) {
    return {x, y, z, w};
}

inline constexpr int warpSize = 32;
inline constinit thread_local uint3 threadIdx{};
inline constinit thread_local uint3 blockIdx{};
inline constinit thread_local dim3 blockDim{};
inline constinit thread_local dim3 gridDim{};

namespace cuda_shim {

/// Runs a kernel: `thread` once for every thread of every block, block after block. A barrier or warp
/// function that not all threads of the block, or all lanes it names, reach ends the program with a sentence.
/// `shared_bytes` of dynamic shared memory hold NaN (0xFF bytes) when a block begins.
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread);

/// The block's dynamic shared memory, 128 bytes aligned.
std::byte* dynamic_shared();

/// Waits for all threads of the block; whether any of them gave true.
bool wait_for_block(bool given);

/// Hands `bits` of every lane in `mask` to all of them: [32], valid until the lane's next warp function.
const std::uint64_t* exchange(unsigned mask, std::uint64_t bits);

/// Number of this thread within its warp.
unsigned lane();

/// What lane `from` has of `value`; a lane that is not in the mask is an error.
std::uint64_t value_of(unsigned mask, std::uint64_t bits, unsigned from);

template <class T>
T shuffle(unsigned mask, T value, unsigned from) {
    static_assert(sizeof(T) <= 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = value_of(mask, bits, from);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace cuda_shim

inline void __syncthreads() {
    (void)cuda_shim::wait_for_block(false);
}
inline int __syncthreads_or(int predicate) {
    return cuda_shim::wait_for_block(predicate != 0) ? 1 : 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
    (void)cuda_shim::exchange(mask, 0);
}

// A lane beyond the ends of its group of `width` lanes gets its own value, as on a device.
template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
    const unsigned first = cuda_shim::lane() & ~(static_cast<unsigned>(width) - 1u);
    return cuda_shim::shuffle(mask, value,
                              first + (static_cast<unsigned>(from) & (static_cast<unsigned>(width) - 1u)));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
    const unsigned me = cuda_shim::lane();
    const unsigned from = me ^ static_cast<unsigned>(lane_mask);
    const unsigned last = me | (static_cast<unsigned>(width) - 1u);
    return cuda_shim::shuffle(mask, value, from > last ? me : from);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned me = cuda_shim::lane();
    const unsigned last = me | (static_cast<unsigned>(width) - 1u);
    return cuda_shim::shuffle(mask, value, me + delta > last ? me : me + delta);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    const std::uint64_t* given = cuda_shim::exchange(mask, predicate != 0 ? 1 : 0);
    unsigned ballot = 0;
    for (unsigned i = 0; i < 32; ++i) {
        if ((mask >> i & 1u) != 0 && given[i] != 0) ballot |= 1u << i;
    }
    return ballot;
}
inline int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) == mask ? 1 : 0;
}

/// Fibers of one block never run at the same time, nor do blocks.
template <class T>
T atomicAdd(T* at, T value) {
    const T before = *at;
    *at = static_cast<T>(before + value);
    return before;
}
inline unsigned atomicOr(unsigned* at, unsigned value) {
    const unsigned before = *at;
    *at = before | value;
    return before;
}
template <class T>
T atomicMax(T* at, T value) {
    const T before = *at;
    if (value > before) *at = value;
    return before;
}
template <class T>
T atomicMin(T* at, T value) {
    const T before = *at;
    if (value < before) *at = value;
    return before;
}

inline float rsqrtf(float x) {
    return 1.0f / sqrtf(x);
}
inline float __expf(float x) {
    return expf(x);
}
inline float __fdividef(float x, float y) {
    return x / y;
}
inline unsigned __float_as_uint(float x) {
    return std::bit_cast<unsigned>(x);
}
inline float __uint_as_float(unsigned bits) {
    return std::bit_cast<float>(bits);
}
inline int __float_as_int(float x) {
    return std::bit_cast<int>(x);
}
inline float __int_as_float(int bits) {
    return std::bit_cast<float>(bits);
}
inline int __ffs(int bits) {
    return __builtin_ffs(bits);
}
inline int __popc(unsigned bits) {
    return std::popcount(bits);
}
inline int min(int a, int b) {
    return b < a ? b : a;
}
inline int max(int a, int b) {
    return a < b ? b : a;
}
