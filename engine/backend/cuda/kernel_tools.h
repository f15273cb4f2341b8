// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cfloat>
#include <climits>
#include <cstdint>
#include <type_traits>

#include "engine/backend/cuda/kernels.h"

/// What several kernels are made of. For .cu files.
namespace decodescope::cuda {

inline constexpr unsigned all_lanes = 0xffffffffu;
inline constexpr int warp_lanes = 32;

/// `n` floats next to each other, 1 or 4: four are read and written at once and lie at a multiple of 16
/// bytes.
template <int n>
struct Floats {
    float at[n];
};

template <int n>
__device__ Floats<n> load(const float* from) {
    if constexpr (n == 4) {
        const float4 x = *reinterpret_cast<const float4*>(from);
        return {{x.x, x.y, x.z, x.w}};
    } else {
        return {{from[0]}};
    }
}

/// A float as an element of this type, to nearest even.
template <class T>
__device__ T rounded(float x) {
    if constexpr (std::is_same_v<T, __half>) {
        return __float2half_rn(x);
    } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
        return __float2bfloat16_rn(x);
    } else {
        return x;
    }
}
__device__ inline unsigned bits_of(__half x) {
    return __half_as_ushort(x);
}
__device__ inline unsigned bits_of(__nv_bfloat16 x) {
    return __bfloat16_as_ushort(x);
}

/// Four elements of 16 bits lie at a multiple of 8 bytes.
template <class T, int n>
__device__ void store(T* to, const Floats<n>& x) {
    if constexpr (n == 1) {
        to[0] = rounded<T>(x.at[0]);
    } else if constexpr (std::is_same_v<T, float>) {
        *reinterpret_cast<float4*>(to) = make_float4(x.at[0], x.at[1], x.at[2], x.at[3]);
    } else {
        *reinterpret_cast<uint2*>(to) =
            make_uint2(bits_of(rounded<T>(x.at[0])) | bits_of(rounded<T>(x.at[1])) << 16,
                       bits_of(rounded<T>(x.at[2])) | bits_of(rounded<T>(x.at[3])) << 16);
    }
}

__device__ inline bool is_finite(float x) {
    return fabsf(x) <= FLT_MAX;
}

/// Sum over `lanes` neighbouring lanes (a power of 2), for each of them. The whole warp calls it.
__device__ inline float lanes_sum(float x, int lanes) {
    for (int step = lanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(all_lanes, x, step);
    return x;
}
/// The largest; NaN is left out.
__device__ inline float lanes_max(float x, int lanes) {
    for (int step = lanes / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(all_lanes, x, step));
    return x;
}

/// Sum over all threads of a block of whole warps, for each of them.
__device__ inline float block_sum(float x) {
    __shared__ float sums[warp_lanes];
    const unsigned lane = threadIdx.x % warp_lanes;
    const unsigned warp = threadIdx.x / warp_lanes;
    x = lanes_sum(x, warp_lanes);
    __syncthreads();  // the sums of an earlier call have been read
    if (lane == 0) sums[warp] = x;
    __syncthreads();
    return lanes_sum(lane < blockDim.x / warp_lanes ? sums[lane] : 0.0f, warp_lanes);
}

/// Whether rows of `n` elements from here on can be read and written four at a time.
template <class T>
bool fits_four(const T* data, std::int64_t n) {
    return n % 4 == 0 && reinterpret_cast<std::uintptr_t>(data) % (4 * sizeof(T)) == 0;
}

/// Calls `body` with the number of elements to take at once as a constant.
template <class Body>
void with_width(bool four, Body&& body) {
    if (four)
        body(std::integral_constant<int, 4>());
    else
        body(std::integral_constant<int, 1>());
}

/// Calls `body` with a null pointer to the element type.
template <class Body>
void with_float_type(Stored type, Body&& body) {
    switch (type) {
        case Stored::f32: return body(static_cast<float*>(nullptr));
        case Stored::f16: return body(static_cast<__half*>(nullptr));
        case Stored::bf16: return body(static_cast<__nv_bfloat16*>(nullptr));
        case Stored::int8: return;  // a group's scale is not a float of its own
    }
}

/// The smallest power of 2 that is not less.
constexpr int power_of_two(int n) {
    int power = 1;
    while (power < n) power *= 2;
    return power;
}

}  // namespace decodescope::cuda
