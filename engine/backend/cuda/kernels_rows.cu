// SPDX-License-Identifier: GPL-3.0-or-later
// Rows that are looked up or turned: embeddings, picked rows, rotary positions.
#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"

namespace decodescope::cuda {

namespace {

constexpr int n_thread = 128;

/// out[t] = table[ids[t]], plus second[second_ids[t]] unless null.
template <int width>
__global__ void __launch_bounds__(n_thread)
    gather_kernel(const std::int32_t* ids, const float* table, const std::int32_t* second_ids,
                  const float* second, int d, float* out) {
    const std::int64_t t = blockIdx.x;
    const int i = static_cast<int>(blockIdx.y * n_thread + threadIdx.x) * width;
    if (i >= d) return;
    Floats<width> x = load<width>(table + std::int64_t{ids[t]} * d + i);
    if (second != nullptr) {
        const Floats<width> y = load<width>(second + std::int64_t{second_ids[t]} * d + i);
        for (int j = 0; j < width; ++j) x.at[j] += y.at[j];
    }
    store(out + t * d + i, x);
}

void gather(cudaStream_t stream, const std::int32_t* ids, const float* table, const std::int32_t* second_ids,
            const float* second, int n, int d, float* out) {
    with_width(fits_four(table, d) && fits_four(second, d) && fits_four(out, d), [&](auto width) {
        launch(stream, {static_cast<unsigned>(n), blocks_for(d, n_thread * width())}, n_thread, 0,
               gather_kernel<width()>, ids, table, second_ids, second, d, out);
    });
}

__global__ void __launch_bounds__(n_thread)
    turns_kernel(const std::int32_t* positions, const double* frequencies, int half, double amplitude,
                 float* turns) {
    const std::int64_t t = blockIdx.x;
    const int i = static_cast<int>(blockIdx.y * n_thread + threadIdx.x);
    if (i >= half) return;
    const double angle = static_cast<double>(max(positions[t], 0)) * frequencies[i];
    double sine = 0;
    double cosine = 0;
    sincos(angle, &sine, &cosine);
    float* to = turns + t * 2 * half;
    to[i] = static_cast<float>(amplitude * cosine);
    to[half + i] = static_cast<float>(amplitude * sine);
}

/// Four pairs a thread.
template <RotaryPairs pairs>
__global__ void __launch_bounds__(n_thread)
    rotate_kernel(float* x, std::int64_t stride, int n_head, int head_dim, const float* turns) {
    const int half = head_dim / 2;
    const int per_head = half / 4;
    const std::int64_t t = blockIdx.x;
    const int quad = static_cast<int>(blockIdx.y * n_thread + threadIdx.x);
    if (quad >= n_head * per_head) return;
    const int first = quad % per_head * 4;
    float* head = x + t * stride + std::int64_t{quad / per_head} * head_dim;
    const float* row = turns + t * head_dim;
    const Floats<4> cosine = load<4>(row + first);
    const Floats<4> sine = load<4>(row + half + first);
    float* at = head + (pairs == RotaryPairs::halves ? first : 2 * first);
    float* behind = pairs == RotaryPairs::halves ? at + half : at + 4;
    Floats<4> a = load<4>(at);
    Floats<4> b = load<4>(behind);
    const auto turn = [&](float& p, float& q, int i) {
        const float before = p;
        p = before * cosine.at[i] - q * sine.at[i];
        q = q * cosine.at[i] + before * sine.at[i];
    };
    if constexpr (pairs == RotaryPairs::halves) {
        for (int i = 0; i < 4; ++i) turn(a.at[i], b.at[i], i);
    } else {
        turn(a.at[0], a.at[1], 0);
        turn(a.at[2], a.at[3], 1);
        turn(b.at[0], b.at[1], 2);
        turn(b.at[2], b.at[3], 3);
    }
    store(at, a);
    store(behind, b);
}

}  // namespace

void embed(cudaStream_t stream, const CallArrays& call, const float* token_embedding,
           const float* position_embedding, int d, float* out) {
    gather(stream, call.tokens, token_embedding, call.positions, position_embedding, call.n_token, d, out);
}

void pick_rows(cudaStream_t stream, const float* x, const std::int32_t* rows, int n, int d, float* out) {
    gather(stream, rows, x, nullptr, nullptr, n, d, out);
}

void rotary_turns(cudaStream_t stream, const CallArrays& call, const double* frequencies, int half,
                  double amplitude, float* turns) {
    launch(stream, {static_cast<unsigned>(call.n_token), blocks_for(half, n_thread)}, n_thread, 0,
           turns_kernel, call.positions, frequencies, half, amplitude, turns);
}

void rotate(cudaStream_t stream, float* x, std::int64_t stride, int rows, int n_head, int head_dim,
            const float* turns, RotaryPairs pairs) {
    launch(stream, {static_cast<unsigned>(rows), blocks_for(std::int64_t{n_head} * (head_dim / 8), n_thread)},
           n_thread, 0,
           pairs == RotaryPairs::halves ? rotate_kernel<RotaryPairs::halves>
                                        : rotate_kernel<RotaryPairs::neighbours>,
           x, stride, n_head, head_dim, turns);
}

}  // namespace decodescope::cuda
