// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"

namespace decodescope::cuda {

namespace {

constexpr int n_thread = 1024;

struct Best {
    float value = -FLT_MAX;
    int at = INT_MAX;

    /// The larger one, the earlier of equal ones.
    __device__ void take(float other, int where) {
        if (other > value || (other == value && where < at)) {
            value = other;
            at = where;
        }
    }
    __device__ void take_lanes() {
        for (int step = warp_lanes / 2; step > 0; step /= 2) {
            const float other = __shfl_xor_sync(all_lanes, value, step);
            const int where = __shfl_xor_sync(all_lanes, at, step);
            take(other, where);
        }
    }
};

/// A block looks through one row. Rows of an odd length begin anywhere: what lies before the first multiple
/// of 16 bytes and behind the last is read one by one.
__global__ void __launch_bounds__(n_thread) largest_kernel(const float* x, int n, std::int32_t* largest) {
    __shared__ float values[warp_lanes];
    __shared__ int places[warp_lanes];
    const float* row = x + std::int64_t{blockIdx.x} * n;
    const int me = static_cast<int>(threadIdx.x);
    const int ahead = min(n, static_cast<int>((4 - reinterpret_cast<std::uintptr_t>(row) / 4 % 4) % 4));
    const int fours = (n - ahead) / 4;
    const int behind = ahead + 4 * fours;
    Best best;
    bool finite = true;
    const auto look = [&](float value, int at) {
        finite = finite && is_finite(value);
        best.take(value, at);
    };
    if (me < ahead) look(row[me], me);
    for (int i = me; i < fours; i += n_thread) {
        const Floats<4> v = load<4>(row + ahead + 4 * i);
        for (int j = 0; j < 4; ++j) look(v.at[j], ahead + 4 * i + j);
    }
    if (me < n - behind) look(row[behind + me], behind + me);
    best.take_lanes();
    if (me % warp_lanes == 0) {
        values[me / warp_lanes] = best.value;
        places[me / warp_lanes] = best.at;
    }
    const bool spoilt = __syncthreads_or(finite ? 0 : 1) != 0;
    if (me >= warp_lanes) return;
    best = {values[me], places[me]};
    best.take_lanes();
    if (me == 0) largest[blockIdx.x] = spoilt ? -1 : best.at;
}

}  // namespace

void find_largest(cudaStream_t stream, const float* x, int rows, int n, std::int32_t* largest) {
    launch(stream, static_cast<unsigned>(rows), n_thread, 0, largest_kernel, x, n, largest);
}

}  // namespace decodescope::cuda
