// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"
#include "engine/backend/cuda/slot_places.h"

namespace decodescope::cuda {

namespace {

constexpr int n_thread = 128;
constexpr int most_chunks = 2;  // of four elements, by one lane: 256 of a head, 32 lanes

/// Symmetric codes of one vector whose elements lie in `lanes` neighbouring lanes; see `encode_int8`.
struct Codes {
    float scale = 0;
    float inverse = 0;
    bool finite = true;

    __device__ Codes(const Floats<4> (&x)[most_chunks], int lanes) {
        float largest = 0;
        // 0 as long as everything is finite, else NaN.
        float nothing = 0;
        for (const Floats<4>& chunk : x) {
            for (const float value : chunk.at) {
                largest = fmaxf(largest, fabsf(value));
                nothing += value * 0.0f;
            }
        }
        largest = lanes_max(largest, lanes);
        finite = lanes_sum(nothing, lanes) == 0.0f;
        scale = largest / 127.0f;
        inverse = 127.0f / largest;
        // A scale below the smallest normal float has no digits left, and no inverse.
        if (scale < FLT_MIN) scale = 0;
        if (!finite) scale = nothing_is_known();
    }
    __device__ signed char of(float x) const {
        if (!finite) return 1;
        if (scale == 0.0f) return 0;
        return static_cast<signed char>(fminf(fmaxf(rintf(x * inverse), -127.0f), 127.0f));
    }
    static __device__ float nothing_is_known() { return __uint_as_float(0x7fc00000u); }
};

/// `lanes` neighbouring lanes store the key (blockIdx.y 0) or value (1) of one kv head of one token.
template <class T>
__global__ void __launch_bounds__(n_thread)
    store_kernel(CallArrays call, const float* k, const float* v, std::int64_t token_stride, int n_kv_head,
                 int head_dim, int lanes, Entries entries) {
    const bool is_key = blockIdx.y == 0;
    const std::int64_t vector = (std::int64_t{blockIdx.x} * n_thread + threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const std::int64_t token = vector / n_kv_head;
    const int head = static_cast<int>(vector % n_kv_head);
    // No thread returns before the warp has found its largest values together.
    const int slot = token < call.n_token ? call.slots[token] : -1;
    if (!std::is_same_v<T, signed char> && slot < 0) return;
    Floats<4> x[most_chunks] = {};
    if (slot >= 0) {
        const float* from = (is_key ? k : v) + token * token_stride + std::int64_t{head} * head_dim;
        for (int c = 0; c < most_chunks; ++c) {
            const int i = (lane + c * lanes) * 4;
            if (i < head_dim) x[c] = load<4>(from + i);
        }
    }
    void* const all = is_key ? entries.k : entries.v;
    if constexpr (std::is_same_v<T, signed char>) {
        const Codes codes(x, lanes);
        if (slot < 0) return;
        const int row = call.row_of[token];
        signed char* to = static_cast<signed char*>(all) + SlotPlaces(call, entries, row, head).of(slot);
        for (int c = 0; c < most_chunks; ++c) {
            const int i = (lane + c * lanes) * 4;
            if (i >= head_dim) break;
            *reinterpret_cast<char4*>(to + i) = make_char4(codes.of(x[c].at[0]), codes.of(x[c].at[1]),
                                                           codes.of(x[c].at[2]), codes.of(x[c].at[3]));
        }
        const SlotPlaces scales(call, entries, row, head, head_dim);
        if (lane == 0) (is_key ? entries.k_scales : entries.v_scales)[scales.of(slot)] = codes.scale;
    } else {
        T* to = static_cast<T*>(all) + SlotPlaces(call, entries, call.row_of[token], head).of(slot);
        for (int c = 0; c < most_chunks; ++c) {
            const int i = (lane + c * lanes) * 4;
            if (i < head_dim) store(to + i, x[c]);
        }
    }
}

}  // namespace

void store(cudaStream_t stream, const CallArrays& call, const float* k, const float* v,
           std::int64_t token_stride, int n_kv_head, int head_dim, const Entries& entries) {
    const int lanes = min(warp_lanes, power_of_two(head_dim / 4));
    const std::int64_t vectors = std::int64_t{call.n_token} * n_kv_head;
    with_stored_type(entries.type, [&](auto* element) {
        launch(stream, {blocks_for(vectors * lanes, n_thread), 2}, n_thread, 0,
               store_kernel<std::remove_pointer_t<decltype(element)>>, call, k, v, token_stride, n_kv_head,
               head_dim, lanes, entries);
    });
}

}  // namespace decodescope::cuda
