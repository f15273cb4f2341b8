// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/packed_matrix.h"
#include "engine/backend/cpu/panel_kernels.h"

// Highway knows nothing of matrix tiles. Panels of bf16 and of bytes lie as tiles want their second operand.
#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
// clang-format off
#pragma clang attribute push(__attribute__((target("amx-tile,amx-bf16,amx-int8,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), apply_to = function)
// clang-format on
#else
#pragma GCC push_options
// GCC 12 takes the undefined operands in its own intrinsics for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC target("amx-tile,amx-bf16,amx-int8,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#endif

namespace decodescope {
namespace {

constexpr int panel_rows = PackedMatrix::panel_rows;

/// What LDTILECFG reads: tiles 0 to 3 are sums, 4 and 5 inputs, 6 and 7 weights.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
};

/// Sums of 16 rows and 16 outputs; inputs and weights of `k_bytes` bytes of k.
constexpr TileShapes shapes(int k_bytes) {
    TileShapes made;
    for (int i = 0; i < 8; ++i) {
        made.row_bytes[i] = static_cast<std::uint16_t>(i == 4 || i == 5 ? k_bytes : 64);
        made.rows[i] = static_cast<std::uint8_t>(i >= 6 ? k_bytes / 4 : tile_rows);
    }
    return made;
}
constexpr TileShapes bf16_shapes = shapes(64);
constexpr TileShapes group_shapes = shapes(weight_group);

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
template <int M, class T>
inline void store_sums(T* out) {
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

/// Codes of one group of a panel as bytes, [8][16][4].
template <WeightType T>
inline const std::byte* bytes_of(const std::byte* codes, std::byte* room) {
    if constexpr (T == WeightType::int8) return codes;
    for (int i = 0; i < 4; ++i) {
        const __m512i two = _mm512_load_si512(codes + i * 64);
        const __m512i low = _mm512_set1_epi8(15);
        _mm512_store_si512(room + i * 128, _mm512_and_si512(two, low));
        _mm512_store_si512(room + i * 128 + 64, _mm512_and_si512(_mm512_srli_epi16(two, 4), low));
    }
    return room;
}

/// The integers of one group of two panels, M = 16 or 32 rows of bytes: [stream][row][16].
template <WeightType T, int M>
inline void group_dots(const std::byte* const* codes, const std::byte* x, long stride, std::byte* room,
                       std::int32_t* dots) {
    clear_sums<M>();
    _tile_loadd(4, x, stride);
    _tile_loadd(6, bytes_of<T>(codes[0], room), 64);
    _tile_loadd(7, bytes_of<T>(codes[1], room + 512), 64);
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
    if constexpr (M == 32) {
        _tile_loadd(5, x + tile_rows * stride, stride);
        _tile_dpbsud(2, 5, 6);
        _tile_dpbsud(3, 5, 7);
    }
    store_sums<M>(dots);
}

/// Adds what the integers of a group stand for, as the kernels of dot products do.
template <int M>
inline void add_group(const std::byte* const* group_scales, const float* scales, const float* offsets,
                      const std::int32_t* dots, float* sums) {
    for (int s = 0; s < 2; ++s) {
        const __m512 scale =
            _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(group_scales[s])));
#pragma GCC unroll 8
        for (int j = 0; j < M; ++j, dots += panel_rows, sums += panel_rows) {
            const __m512 value = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(dots)),
                                                 _mm512_set1_ps(scales[j]), _mm512_set1_ps(offsets[j]));
            _mm512_store_ps(sums, _mm512_fmadd_ps(scale, value, _mm512_load_ps(sums)));
        }
    }
}

/// Two panels, M = 16 or 32 rows of bytes, row by row. The tiles of a group are begun before the integers of
/// the one before it are used, so that neither waits for the other.
template <WeightType T, int M>
void group_tiles(const std::byte* const* panels, int n_in, const float* block, float* out) {
    _tile_loadconfig(&group_shapes);
    const int n_group = n_in / weight_group;
    const auto* x = reinterpret_cast<const std::byte*>(block);
    const float* scales = block + n_in / 4 * M;
    const float* offsets = scales + n_group * M;
    std::fill_n(out, 2 * M * panel_rows, 0.0f);
    // Not a page apart: loads from the one would wait for stores to the other.
    alignas(64) std::int32_t dots[2][2 * M * panel_rows + 512];
    alignas(64) std::byte room[2 * 512];
    const auto at = [](int g) { return static_cast<std::size_t>(g / 2) * PackedMatrix::record_bytes(T); };
    for (int g = 0; g <= n_group; ++g) {
        if (g < n_group) {
            const std::size_t codes = at(g) + PackedMatrix::scale_bytes +
                                      static_cast<std::size_t>(g % 2) * PackedMatrix::group_bytes(T);
            const std::byte* both[] = {panels[0] + codes, panels[1] + codes};
            group_dots<T, M>(both, x + g * weight_group, n_in, room, dots[g % 2]);
        }
        if (g > 0) {
            const int done = g - 1;
            const std::size_t place = at(done) + static_cast<std::size_t>(done % 2) * 32;
            const std::byte* both[] = {panels[0] + place, panels[1] + place};
            add_group<M>(both, scales + done * M, offsets + done * M, dots[done % 2], out);
        }
    }
    _tile_release();
}

template <WeightType T>
KernelSet with_tiles() {
    KernelSet set = *dot_kernels(T);
    if constexpr (T == WeightType::bf16) {
        set.rows[16] = bf16_tiles<16>;
        set.rows[32] = bf16_tiles<32>;
    } else {
        set.rows[16] = group_tiles<T, 16>;
        set.rows[32] = group_tiles<T, 32>;
    }
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
    if (!has_tiles()) return nullptr;
    static const KernelSet bf16 = with_tiles<WeightType::bf16>();
    static const KernelSet int8 = with_tiles<WeightType::int8>();
    static const KernelSet int4 = with_tiles<WeightType::int4>();
    if (type == WeightType::bf16) return &bf16;
    if (type == WeightType::int8) return &int8;
    if (type == WeightType::int4) return &int4;
#else
    (void)type;
#endif
    return nullptr;
}

}  // namespace decodescope
