// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/packed_matrix.h"
#include "engine/backend/cpu/panel_kernels.h"

// Highway knows nothing of matrix tiles. Panels of bf16 lie as tiles want their second operand.
#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
// clang-format off
#pragma clang attribute push(__attribute__((target("amx-tile,amx-bf16,avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), apply_to = function)
// clang-format on
#else
#pragma GCC push_options
// GCC 12 takes the undefined operands in its own intrinsics for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC target("amx-tile,amx-bf16,avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#endif

namespace decodescope {
namespace {

/// What LDTILECFG reads: tiles 0 to 3 are sums, 4 and 5 inputs, 6 and 7 weights.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
};

/// Sums of 16 rows and 16 outputs; inputs and weights of 32 k.
constexpr TileShapes shapes() {
    TileShapes made;
    for (int i = 0; i < 8; ++i) {
        made.row_bytes[i] = 64;
        made.rows[i] = tile_rows;
    }
    return made;
}
constexpr TileShapes bf16_shapes = shapes();

/// Where the sums of a stream and of the first or second 16 rows belong.
template <int M>
constexpr int sums_at(int stream, int half) {
    return (stream * M + half * tile_rows) * panel_rows;
}

/// Empties the sums of M = 16 or 32 rows of two panels; stores them, [stream][row][16].
template <int M>
inline void clear_sums() {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (M == 32) {
        _tile_zero(2);
        _tile_zero(3);
    }
}
template <int M>
inline void store_sums(float* out) {
    _tile_stored(0, out + sums_at<M>(0, 0), 64);
    _tile_stored(1, out + sums_at<M>(1, 0), 64);
    if constexpr (M == 32) {
        _tile_stored(2, out + sums_at<M>(0, 1), 64);
        _tile_stored(3, out + sums_at<M>(1, 1), 64);
    }
}

/// Two panels, M = 16 or 32 rows of bf16, row by row.
template <int M>
void bf16_tiles(const std::byte* const* panels, int n_in, const float* block, float* out) {
    _tile_loadconfig(&bf16_shapes);
    const auto* x = reinterpret_cast<const std::byte*>(block);
    const long stride = 2L * n_in;
    clear_sums<M>();
    for (int k = 0; k < n_in; k += 32) {
        _tile_loadd(4, x + 2L * k, stride);
        _tile_loadd(6, panels[0] + 32L * k, 64);
        _tile_loadd(7, panels[1] + 32L * k, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if constexpr (M == 32) {
            _tile_loadd(5, x + 2L * k + tile_rows * stride, stride);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    store_sums<M>(out);
    _tile_release();
}

/// Codes of one byte position of 16 words as weights.
template <int Shift, int Mask>
inline __m512 weights_at(__m512i words, __m512 scale, __m512 shift) {
    const __m512i codes = _mm512_and_si512(_mm512_srli_epi32(words, Shift), _mm512_set1_epi32(Mask));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(codes), scale, shift);
}

/// Two weights of 16 rows each as pairs of bf16.
inline __m512i paired(__m512 first, __m512 second) {
    const auto halves = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23,
                                           7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order, halves);
}

/// Four k of 16 rows, which lie from bit Shift of the bytes on, as [2][16][2].
template <int Shift, int Mask>
inline void decode_four(__m512i words, __m512 scale, __m512 shift, std::byte* to) {
    _mm512_store_si512(to, paired(weights_at<Shift, Mask>(words, scale, shift),
                                  weights_at<Shift + 8, Mask>(words, scale, shift)));
    _mm512_store_si512(to + 64, paired(weights_at<Shift + 16, Mask>(words, scale, shift),
                                       weights_at<Shift + 24, Mask>(words, scale, shift)));
}

/// A panel with groups as one of bf16.
template <WeightType T>
void decode_panel(const std::byte* panel, int n_in, std::byte* to) {
    constexpr int offset =
        T == WeightType::int8 ? PackedMatrix::code_offset_int8 : PackedMatrix::code_offset_int4;
    for (int g = 0; g < n_in / weight_group; ++g) {
        const std::byte* codes = panel + PackedMatrix::codes_at(T, g);
        const __m512 scale = _mm512_cvtph_ps(
            _mm256_load_si256(reinterpret_cast<const __m256i*>(panel + PackedMatrix::scales_at(T, g))));
        const __m512 shift = _mm512_mul_ps(scale, _mm512_set1_ps(-offset));
        for (std::size_t i = 0; i < PackedMatrix::group_bytes(T); i += 64) {
            const __m512i words = _mm512_load_si512(codes + i);
            if constexpr (T == WeightType::int8) {
                decode_four<0, 255>(words, scale, shift, to);
                to += 128;
            } else {
                decode_four<0, 15>(words, scale, shift, to);
                decode_four<4, 15>(words, scale, shift, to + 128);
                to += 256;
            }
        }
    }
}

KernelSet with_tiles(PanelDecoder decode) {
    KernelSet set = *dot_kernels(WeightType::bf16);
    set.rows[16] = bf16_tiles<16>;
    set.rows[32] = bf16_tiles<32>;
    set.decode = decode;
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

const KernelSet* tile_kernels(WeightType type) {
#if defined(__x86_64__)
    if (!has_tiles() || !has_bf16_dots()) return nullptr;
    static const KernelSet bf16 = with_tiles(nullptr);
    static const KernelSet int8 = with_tiles(decode_panel<WeightType::int8>);
    static const KernelSet int4 = with_tiles(decode_panel<WeightType::int4>);
    if (type == WeightType::bf16) return &bf16;
    if (type == WeightType::int8) return &int8;
    if (type == WeightType::int4) return &int4;
#else
    (void)type;
#endif
    return nullptr;
}

}  // namespace decodescope
