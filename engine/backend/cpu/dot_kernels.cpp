// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/packed_matrix.h"
#include "engine/backend/cpu/panel_kernels.h"

// Highway 1.0.3 has neither dot products of bytes nor of bf16.
#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
// clang-format off
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma,f16c,bmi,bmi2"))), apply_to = function)
// clang-format on
#else
#pragma GCC push_options
// GCC 12 takes the undefined operands in its own intrinsics for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma,f16c,bmi,bmi2")
#endif

namespace decodescope {
namespace {

template <WeightType T>
inline __m512i codes_at(const std::byte* group, int k4) {
    if constexpr (T == WeightType::int8) return _mm512_load_si512(group + k4 * 64);
    const __m512i two = _mm512_load_si512(group + k4 / 2 * 64);
    return _mm512_and_si512(k4 % 2 != 0 ? _mm512_srli_epi16(two, 4) : two, _mm512_set1_epi8(15));
}

/// Codes of 4 k at a time, times inputs rounded to 8 bits. Per group, what the integers sum up to takes both
/// scales: sum += scale_w (scale_x dot + offset), offset = -code_offset scale_x (sum of the inputs' codes).
template <WeightType T, int S, int M>
void group_dot_tile(const std::byte* const* panels, int n_in, const float* block, float* out) {
    const int n_group = n_in / weight_group;
    const auto* x = reinterpret_cast<const std::int32_t*>(block);
    const float* scales = block + n_in / 4 * M;
    const float* offsets = scales + n_group * M;
    __m512 sums[S][M];
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
#pragma GCC unroll 8
        for (int j = 0; j < M; ++j) sums[s][j] = _mm512_setzero_ps();
    }
    for (int g = 0; g < n_group; ++g) {
        const std::byte* codes[S];
        __m512i dots[S][M];
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
            codes[s] = panels[s] + PackedMatrix::codes_at(T, g);
#pragma GCC unroll 8
            for (int j = 0; j < M; ++j) dots[s][j] = _mm512_setzero_si512();
        }
#pragma GCC unroll 8
        for (int k4 = 0; k4 < weight_group / 4; ++k4) {
            __m512i w[S];
#pragma GCC unroll 4
            for (int s = 0; s < S; ++s) w[s] = codes_at<T>(codes[s], k4);
#pragma GCC unroll 8
            for (int j = 0; j < M; ++j) {
                const __m512i input = _mm512_set1_epi32(x[k4 * M + j]);
#pragma GCC unroll 4
                for (int s = 0; s < S; ++s) dots[s][j] = _mm512_dpbusd_epi32(dots[s][j], w[s], input);
            }
        }
        x += weight_group / 4 * M;
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
            const __m512 scale = _mm512_cvtph_ps(_mm256_load_si256(
                reinterpret_cast<const __m256i*>(panels[s] + PackedMatrix::scales_at(T, g))));
#pragma GCC unroll 8
            for (int j = 0; j < M; ++j) {
                const __m512 dot =
                    _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots[s][j]), _mm512_set1_ps(scales[g * M + j]),
                                    _mm512_set1_ps(offsets[g * M + j]));
                sums[s][j] = _mm512_fmadd_ps(scale, dot, sums[s][j]);
            }
        }
    }
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
#pragma GCC unroll 8
        for (int j = 0; j < M; ++j) _mm512_store_ps(out + (s * M + j) * panel_rows, sums[s][j]);
    }
}

/// Pairs of k at a time, times inputs rounded to bf16.
template <int S, int M>
void bf16_dot_tile(const std::byte* const* panels, int n_in, const float* block, float* out) {
    const auto* x = reinterpret_cast<const std::int32_t*>(block);
    __m512 sums[S][M];
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
#pragma GCC unroll 12
        for (int j = 0; j < M; ++j) sums[s][j] = _mm512_setzero_ps();
    }
    for (int pair = 0; pair < (n_in + 1) / 2; ++pair) {
        __m512bh w[S];
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s)
            w[s] = reinterpret_cast<__m512bh>(_mm512_load_si512(panels[s] + pair * 64));
#pragma GCC unroll 12
        for (int j = 0; j < M; ++j) {
            const auto input = reinterpret_cast<__m512bh>(_mm512_set1_epi32(x[pair * M + j]));
#pragma GCC unroll 4
            for (int s = 0; s < S; ++s) sums[s][j] = _mm512_dpbf16_ps(sums[s][j], w[s], input);
        }
    }
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
#pragma GCC unroll 12
        for (int j = 0; j < M; ++j) _mm512_store_ps(out + (s * M + j) * panel_rows, sums[s][j]);
    }
}

template <WeightType T>
constexpr KernelSet group_set() {
    KernelSet set;
    set.form = InputForm::int8;
    set.streams_one = 4;
    set.one = group_dot_tile<T, 4, 1>;
    set.streams = 2;
    set.rows[1] = group_dot_tile<T, 2, 1>;
    set.rows[2] = group_dot_tile<T, 2, 2>;
    set.rows[3] = group_dot_tile<T, 2, 3>;
    set.rows[4] = group_dot_tile<T, 2, 4>;
    set.rows[6] = group_dot_tile<T, 2, 6>;
    return set;
}

constexpr KernelSet bf16_set() {
    KernelSet set;
    set.form = InputForm::bf16;
    set.streams_one = 2;
    set.one = bf16_dot_tile<2, 1>;
    set.streams = 2;
    set.rows[1] = bf16_dot_tile<2, 1>;
    set.rows[2] = bf16_dot_tile<2, 2>;
    set.rows[3] = bf16_dot_tile<2, 3>;
    set.rows[4] = bf16_dot_tile<2, 4>;
    set.rows[6] = bf16_dot_tile<2, 6>;
    set.rows[8] = bf16_dot_tile<2, 8>;
    set.rows[12] = bf16_dot_tile<2, 12>;
    return set;
}

}  // namespace
}  // namespace decodescope

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

namespace decodescope {

const KernelSet* dot_kernels(WeightType type) {
#if defined(__x86_64__)
    static constexpr KernelSet int8 = group_set<WeightType::int8>();
    static constexpr KernelSet int4 = group_set<WeightType::int4>();
    static constexpr KernelSet bf16 = bf16_set();
    if (type == WeightType::int8 && has_byte_dots()) return &int8;
    if (type == WeightType::int4 && has_byte_dots()) return &int4;
    if (type == WeightType::bf16 && has_bf16_dots()) return &bf16;
#else
    (void)type;
#endif
    return nullptr;
}

}  // namespace decodescope
