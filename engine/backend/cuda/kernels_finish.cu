// SPDX-License-Identifier: GPL-3.0-or-later
// What comes after a product: biases, activations and gates.
#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"

namespace decodescope::cuda {

namespace {

constexpr int n_thread = 128;
constexpr int most_grid_rows = 65535;

struct Same {
    static __device__ float of(float x) { return x; }
};
struct GeluTanh {
    /// 0.5 x (1 + tanh(u)) = x / (1 + exp(-2 u)).
    static __device__ float of(float x) {
        const float twice = -1.5957691216057308f * fmaf(0.044715f, x * x * x, x);
        return x / (1.0f + expf(fminf(twice, 88.0f)));
    }
};
struct GeluErf {
    static __device__ float of(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }
};
struct Relu {
    /// Written so that a NaN stays a NaN.
    static __device__ float of(float x) { return x < 0.0f ? 0.0f : x; }
};
struct Silu {
    static __device__ float of(float x) { return x / (1.0f + expf(fminf(-x, 88.0f))); }
};

template <class Body>
void with_activation(Activation activation, Body&& body) {
    switch (activation) {
        case Activation::gelu_tanh: return body(GeluTanh());
        case Activation::gelu_erf: return body(GeluErf());
        case Activation::relu: return body(Relu());
        case Activation::silu: return body(Silu());
    }
}

template <class Activate, int width>
__global__ void __launch_bounds__(n_thread) finish_kernel(float* y, int rows, int n, const float* bias) {
    const int i = static_cast<int>(blockIdx.x * n_thread + threadIdx.x) * width;
    if (i >= n) return;
    Floats<width> b{};
    if (bias != nullptr) b = load<width>(bias + i);
    for (int row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y)) {
        float* at = y + std::int64_t{row} * n + i;
        Floats<width> v = load<width>(at);
        for (int j = 0; j < width; ++j) v.at[j] = Activate::of(v.at[j] + b.at[j]);
        store(at, v);
    }
}

template <class Activate, int width>
__global__ void __launch_bounds__(n_thread)
    gate_kernel(const float* g, const float* gate_bias, float* y, int rows, int n, const float* bias) {
    const int i = static_cast<int>(blockIdx.x * n_thread + threadIdx.x) * width;
    if (i >= n) return;
    Floats<width> b{};
    Floats<width> c{};
    if (bias != nullptr) b = load<width>(bias + i);
    if (gate_bias != nullptr) c = load<width>(gate_bias + i);
    for (int row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y)) {
        const std::int64_t at = std::int64_t{row} * n + i;
        const Floats<width> gate = load<width>(g + at);
        Floats<width> v = load<width>(y + at);
        for (int j = 0; j < width; ++j) v.at[j] = Activate::of(gate.at[j] + c.at[j]) * (v.at[j] + b.at[j]);
        store(y + at, v);
    }
}

template <class Activate, int width>
__global__ void __launch_bounds__(n_thread) activate_kernel(float* x, std::int64_t n) {
    const std::int64_t i = (std::int64_t{blockIdx.x} * n_thread + threadIdx.x) * width;
    if (i >= n) return;
    Floats<width> v = load<width>(x + i);
    for (int j = 0; j < width; ++j) v.at[j] = Activate::of(v.at[j]);
    store(x + i, v);
}

dim3 grid_of(int rows, int n, int width) {
    return {blocks_for(n, n_thread * width), static_cast<unsigned>(min(rows, most_grid_rows))};
}

}  // namespace

void finish(cudaStream_t stream, float* y, int rows, int n, const float* bias, const Activation* activation) {
    if (bias == nullptr && activation == nullptr) return;
    const auto start = [&](auto activate) {
        with_width(fits_four(y, n) && fits_four(bias, n), [&](auto width) {
            launch(stream, grid_of(rows, n, width()), n_thread, 0, finish_kernel<decltype(activate), width()>,
                   y, rows, n, bias);
        });
    };
    if (activation == nullptr)
        start(Same());
    else
        with_activation(*activation, start);
}

void finish_gated(cudaStream_t stream, const float* g, const float* gate_bias, Activation activation,
                  float* y, int rows, int n, const float* bias) {
    const bool four = fits_four(g, n) && fits_four(gate_bias, n) && fits_four(y, n) && fits_four(bias, n);
    with_activation(activation, [&](auto activate) {
        with_width(four, [&](auto width) {
            launch(stream, grid_of(rows, n, width()), n_thread, 0, gate_kernel<decltype(activate), width()>,
                   g, gate_bias, y, rows, n, bias);
        });
    });
}

void activate(cudaStream_t stream, float* x, std::int64_t n, Activation activation) {
    with_activation(activation, [&](auto activate) {
        with_width(fits_four(x, n), [&](auto width) {
            launch(stream, blocks_for(n, std::int64_t{n_thread} * width()), n_thread, 0,
                   activate_kernel<decltype(activate), width()>, x, n);
        });
    });
}

}  // namespace decodescope::cuda
