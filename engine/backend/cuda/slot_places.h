// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/backend/cuda/kernel_tools.h"

/// Reading and finding the keys and values of a layer. For .cu files.
namespace decodescope::cuda {

/// Where the entries of one kv head of one row lie, in elements; divided by `unit`.
class SlotPlaces {
public:
    __device__ SlotPlaces(const CallArrays& call, const Entries& entries, int row, int kv_head, int unit = 1)
        : block_stride_(entries.row_stride / unit),
          slot_stride_(entries.slot_stride / unit),
          first_(kv_head * (entries.head_stride / unit)),
          block_(static_cast<unsigned>(entries.block)) {
        if (block_ > 0) {
            blocks_ = call.blocks + std::int64_t{row} * call.block_stride;
        } else {
            first_ += row * block_stride_;
            if (call.row_base != nullptr) first_ += call.row_base[row] * slot_stride_;
        }
    }
    __device__ std::int64_t of(int slot) const {
        if (block_ == 0) return first_ + slot * slot_stride_;
        const auto s = static_cast<unsigned>(slot);
        return first_ + blocks_[s / block_] * block_stride_ + s % block_ * slot_stride_;
    }

private:
    std::int64_t block_stride_;
    std::int64_t slot_stride_;
    std::int64_t first_;
    unsigned block_;
    const std::int32_t* blocks_ = nullptr;
};

__device__ inline float low_half(const __half*, unsigned bits) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits & 0xffffu)));
}
__device__ inline float high_half(const __half*, unsigned bits) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits >> 16)));
}
__device__ inline float low_half(const __nv_bfloat16*, unsigned bits) {
    return __uint_as_float(bits << 16);
}
__device__ inline float high_half(const __nv_bfloat16*, unsigned bits) {
    return __uint_as_float(bits & 0xffff0000u);
}

/// Eight elements as they are stored, read at once.
template <class T>
struct Eight {
    static_assert(sizeof(T) == 2);
    uint4 bits{};
    __device__ void read(const T* from) { bits = *reinterpret_cast<const uint4*>(from); }
    __device__ void to_floats(float (&x)[8]) const {
        constexpr const T* type = nullptr;
        x[0] = low_half(type, bits.x), x[1] = high_half(type, bits.x);
        x[2] = low_half(type, bits.y), x[3] = high_half(type, bits.y);
        x[4] = low_half(type, bits.z), x[5] = high_half(type, bits.z);
        x[6] = low_half(type, bits.w), x[7] = high_half(type, bits.w);
    }
};

template <>
struct Eight<float> {
    float4 low{};
    float4 high{};
    __device__ void read(const float* from) {
        low = reinterpret_cast<const float4*>(from)[0];
        high = reinterpret_cast<const float4*>(from)[1];
    }
    __device__ void to_floats(float (&x)[8]) const {
        x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
        x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
    }
};

template <>
struct Eight<signed char> {
    uint2 codes{};
    __device__ void read(const signed char* from) { codes = *reinterpret_cast<const uint2*>(from); }
    __device__ void to_floats(float (&x)[8]) const {
        for (int i = 0; i < 4; ++i) {
            x[i] = static_cast<float>(static_cast<signed char>(codes.x >> 8 * i & 0xffu));
            x[4 + i] = static_cast<float>(static_cast<signed char>(codes.y >> 8 * i & 0xffu));
        }
    }
};

/// Calls `body` with a null pointer to the type that entries are stored as.
template <class Body>
void with_stored_type(Stored type, Body&& body) {
    if (type == Stored::int8)
        body(static_cast<signed char*>(nullptr));
    else
        with_float_type(type, body);
}

}  // namespace decodescope::cuda
