// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope::vector_math {

/// x[i] = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
void gelu_tanh(float* x, std::int64_t n);
/// x[i] = 0.5 x (1 + erf(x / sqrt(2))).
void gelu_erf(float* x, std::int64_t n);
/// x[i] = x / (1 + exp(-x)).
void silu(float* x, std::int64_t n);
/// y[i] = y * x / (1 + exp(-x)).
void silu_multiply(const float* x, std::int64_t n, float* y);
/// y = x / sqrt(mean of squares + eps) * weight over one row of `n`; x may be y.
void rms_norm(const float* x, std::int64_t n, const float* weight, float eps, float* y);
/// Turns the pairs (x[i], x[i + n_pair]), or (x[2 i], x[2 i + 1]), by angles given as cosines and sines.
void rotate_halves(float* x, std::int64_t n_pair, const float* cosines, const float* sines);
void rotate_neighbours(float* x, std::int64_t n_pair, const float* cosines, const float* sines);
/// y = (x - mean) / sqrt(variance + eps) * weight + bias over one row of `n`.
void layer_norm(const float* x, std::int64_t n, const float* weight, const float* bias, float eps, float* y);
/// Name of the instruction set the calls above use on this machine, e.g. "AVX3".
const char* target_name();

}  // namespace decodescope::vector_math
