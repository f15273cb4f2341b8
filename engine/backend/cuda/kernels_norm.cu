// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"

namespace decodescope::cuda {

namespace {

constexpr int most_threads = 512;
constexpr int convert_threads = 256;

/// A block makes one row. It reads the row again for every pass: the second time out of its own cache.
template <NormKind kind, class T, int width>
__global__ void __launch_bounds__(most_threads)
    norm_kernel(const float* x, int d, const float* weight, const float* bias, float eps, T* y) {
    x += std::int64_t{blockIdx.x} * d;
    y += std::int64_t{blockIdx.x} * d;
    const int first = static_cast<int>(threadIdx.x) * width;
    const int step = static_cast<int>(blockDim.x) * width;
    float mean = 0;
    if constexpr (kind == NormKind::layer_norm) {
        float sum = 0;
        for (int i = first; i < d; i += step) {
            const Floats<width> v = load<width>(x + i);
            for (int j = 0; j < width; ++j) sum += v.at[j];
        }
        mean = block_sum(sum) / static_cast<float>(d);
    }
    // In a pass of its own: the variance of centred values does not cancel.
    float squares = 0;
    for (int i = first; i < d; i += step) {
        const Floats<width> v = load<width>(x + i);
        for (int j = 0; j < width; ++j) squares = fmaf(v.at[j] - mean, v.at[j] - mean, squares);
    }
    const float factor = 1.0f / sqrtf(block_sum(squares) / static_cast<float>(d) + eps);
    for (int i = first; i < d; i += step) {
        Floats<width> v = load<width>(x + i);
        const Floats<width> w = load<width>(weight + i);
        for (int j = 0; j < width; ++j) v.at[j] = (v.at[j] - mean) * factor * w.at[j];
        if (bias != nullptr) {
            const Floats<width> b = load<width>(bias + i);
            for (int j = 0; j < width; ++j) v.at[j] += b.at[j];
        }
        store(y + i, v);
    }
}

template <class T, int width>
__global__ void __launch_bounds__(convert_threads) convert_kernel(const float* x, std::int64_t n, T* y) {
    const std::int64_t i = (std::int64_t{blockIdx.x} * convert_threads + threadIdx.x) * width;
    if (i < n) store(y + i, load<width>(x + i));
}

}  // namespace

void normalise(cudaStream_t stream, NormKind kind, const float* x, int rows, int d, const float* weight,
               const float* bias, float eps, void* y, Stored type) {
    with_float_type(type, [&](auto* element) {
        using T = std::remove_pointer_t<decltype(element)>;
        T* const to = static_cast<T*>(y);
        const bool four = fits_four(x, d) && fits_four(weight, d) && fits_four(bias, d) && fits_four(to, d);
        with_width(four, [&](auto width) {
            const auto threads = static_cast<unsigned>(
                min(most_threads, static_cast<int>(blocks_for(d, width() * warp_lanes)) * warp_lanes));
            launch(stream, static_cast<unsigned>(rows), threads, 0,
                   kind == NormKind::layer_norm ? norm_kernel<NormKind::layer_norm, T, width()>
                                                : norm_kernel<NormKind::rms_norm, T, width()>,
                   x, d, weight, bias, eps, to);
        });
    });
}

void convert(cudaStream_t stream, const float* x, std::int64_t n, void* y, Stored type) {
    with_float_type(type, [&](auto* element) {
        using T = std::remove_pointer_t<decltype(element)>;
        T* const to = static_cast<T*>(y);
        with_width(fits_four(x, n) && fits_four(to, n), [&](auto width) {
            launch(stream, blocks_for(n, std::int64_t{convert_threads} * width()), convert_threads, 0,
                   convert_kernel<T, width()>, x, n, to);
        });
    });
}

}  // namespace decodescope::cuda
