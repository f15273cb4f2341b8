// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/panel_kernels.h"

#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/packed_matrix.h"
#include "engine/core/dtype.h"

// Highway compiles what lies inside HWY_NAMESPACE once per instruction set and picks one at run time. Vectors
// of unknown length cannot be counted in registers.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/panel_kernels.cpp"
#include <hwy/foreach_target.h>
// clang-format off
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace decodescope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using D32 = hn::Rebind<std::uint32_t, D>;
using V = hn::Vec<D>;

constexpr int n_lane = static_cast<int>(hn::MaxLanes(D()));
constexpr int n_vector = panel_rows / n_lane;  // of one panel

/// Readers give the weights of 16 rows at one k as vectors, k after k. `load<I>` is k = I of a step.
struct F32Reader {
    static constexpr int step = 1;
    static constexpr std::size_t step_bytes = 64;
    template <int I>
    static HWY_INLINE V load(const std::byte* p, int v) {
        return hn::Load(D(), reinterpret_cast<const float*>(p) + v * n_lane);
    }
};

struct F16Reader {
    static constexpr int step = 1;
    static constexpr std::size_t step_bytes = 32;
    template <int I>
    static HWY_INLINE V load(const std::byte* p, int v) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
        HWY_ALIGN float values[n_lane];
        const auto* halves = reinterpret_cast<const std::uint16_t*>(p) + v * n_lane;
        for (int i = 0; i < n_lane; ++i) values[i] = f16_to_f32(halves[i]);
        return hn::Load(D(), values);
#else
        const hn::Rebind<hwy::float16_t, D> d16;
        return hn::PromoteTo(D(), hn::Load(d16, reinterpret_cast<const hwy::float16_t*>(p) + v * n_lane));
#endif
    }
};

struct Bf16Reader {
    static constexpr int step = 2;
    static constexpr std::size_t step_bytes = 64;
    template <int I>
    static HWY_INLINE V load(const std::byte* p, int v) {
        const D32 d;
        const auto pair = hn::Load(d, reinterpret_cast<const std::uint32_t*>(p) + v * n_lane);
        if constexpr (I == 0) return hn::BitCast(D(), hn::ShiftLeft<16>(pair));
        return hn::BitCast(D(), hn::And(pair, hn::Set(d, 0xffff0000u)));
    }
};

/// Codes of grouped types, as numbers.
template <int Bit, unsigned Mask>
HWY_INLINE V code_at(const std::byte* p, int v) {
    const D32 d;
    const auto word = hn::Load(d, reinterpret_cast<const std::uint32_t*>(p) + v * n_lane);
    const auto code = hn::And(hn::ShiftRight<Bit>(word), hn::Set(d, Mask));
    return hn::ConvertTo(D(), hn::BitCast(hn::Rebind<std::int32_t, D>(), code));
}

struct Int8Reader {
    static constexpr WeightType type = WeightType::int8;
    static constexpr int step = 4;
    static constexpr float code_offset = PackedMatrix::code_offset_int8;
    template <int I>
    static HWY_INLINE V load(const std::byte* p, int v) {
        return code_at<8 * I, 255>(p, v);
    }
};

struct Int4Reader {
    static constexpr WeightType type = WeightType::int4;
    static constexpr int step = 8;
    static constexpr float code_offset = PackedMatrix::code_offset_int4;
    template <int I>
    static HWY_INLINE V load(const std::byte* p, int v) {
        return code_at<8 * (I % 4) + I / 4 * 4, 15>(p, v);
    }
};

/// The sums of one tile, kept in registers.
template <int S, int M>
struct Sums {
    V at[S][M][n_vector];

    HWY_INLINE void clear() {
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
#pragma GCC unroll 14
            for (int j = 0; j < M; ++j) {
#pragma GCC unroll 4
                for (int v = 0; v < n_vector; ++v) at[s][j][v] = hn::Zero(D());
            }
        }
    }
    /// Adds weights (of all streams, at one k) times the inputs of all rows at that k.
    HWY_INLINE void add(const V (&w)[S][n_vector], const float* x) {
#pragma GCC unroll 14
        for (int j = 0; j < M; ++j) {
            const V input = hn::Set(D(), x[j]);
#pragma GCC unroll 4
            for (int s = 0; s < S; ++s) {
#pragma GCC unroll 4
                for (int v = 0; v < n_vector; ++v) at[s][j][v] = hn::MulAdd(w[s][v], input, at[s][j][v]);
            }
        }
    }
    HWY_INLINE void store(float* out) const {
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
#pragma GCC unroll 14
            for (int j = 0; j < M; ++j) {
#pragma GCC unroll 4
                for (int v = 0; v < n_vector; ++v) {
                    hn::Store(at[s][j][v], D(), out + (s * M + j) * panel_rows + v * n_lane);
                }
            }
        }
    }
};

template <class Reader, int I, int S, int M>
HWY_INLINE void add_plain(Sums<S, M>& sums, const std::byte* const (&p)[S], const float* x) {
    V w[S][n_vector];
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
#pragma GCC unroll 4
        for (int v = 0; v < n_vector; ++v) w[s][v] = Reader::template load<I>(p[s], v);
    }
    sums.add(w, x + I * M);
}

/// One step of all streams.
template <class Reader, int S, int M>
HWY_INLINE void add_step(Sums<S, M>& sums, const std::byte* (&p)[S], const float*& x) {
    add_plain<Reader, 0>(sums, p, x);
    if constexpr (Reader::step == 2) add_plain<Reader, 1>(sums, p, x);
    x += Reader::step * M;
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) p[s] += Reader::step_bytes;
}

/// Types whose stored values are the weights.
template <class Reader, int S, int M>
void plain_tile(const std::byte* const* panels, int n_in, const float* x, float* out) {
    Sums<S, M> sums;
    sums.clear();
    const std::byte* p[S];
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) p[s] = panels[s];
    int k = 0;
    // Two at a time: what counts them takes units that multiply.
    for (; k + 2 * Reader::step <= n_in; k += 2 * Reader::step) {
        add_step<Reader>(sums, p, x);
        add_step<Reader>(sums, p, x);
    }
    for (; k + Reader::step <= n_in; k += Reader::step) add_step<Reader>(sums, p, x);
    if (k < n_in) add_plain<Reader, 0>(sums, p, x);
    sums.store(out);
}

/// Scale, and what takes the offset of the codes away, of one group in all streams.
template <int S>
struct GroupScales {
    V scale[S][n_vector];
    V shift[S][n_vector];
};

template <class Reader, int I, int S, int M>
HWY_INLINE void add_codes(Sums<S, M>& sums, const GroupScales<S>& scales, const std::byte* const (&p)[S],
                          const float* x) {
    V w[S][n_vector];
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
#pragma GCC unroll 4
        for (int v = 0; v < n_vector; ++v) {
            w[s][v] = hn::MulAdd(Reader::template load<I>(p[s], v), scales.scale[s][v], scales.shift[s][v]);
        }
    }
    sums.add(w, x + I * M);
}

/// Types with groups, whose codes become numbers before they are multiplied.
template <class Reader, int S, int M>
void grouped_tile(const std::byte* const* panels, int n_in, const float* x, float* out) {
    Sums<S, M> sums;
    sums.clear();
    for (int g = 0; g < n_in / weight_group; ++g) {
        GroupScales<S> scales;
        const std::byte* p[S];
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
            p[s] = panels[s] + PackedMatrix::codes_at(Reader::type, g);
#pragma GCC unroll 4
            for (int v = 0; v < n_vector; ++v) {
                scales.scale[s][v] =
                    F16Reader::load<0>(panels[s] + PackedMatrix::scales_at(Reader::type, g), v);
                scales.shift[s][v] = hn::Mul(scales.scale[s][v], hn::Set(D(), -Reader::code_offset));
            }
        }
        for (int k = 0; k < weight_group; k += Reader::step) {
            add_codes<Reader, 0>(sums, scales, p, x);
            add_codes<Reader, 1>(sums, scales, p, x);
            add_codes<Reader, 2>(sums, scales, p, x);
            add_codes<Reader, 3>(sums, scales, p, x);
            if constexpr (Reader::step == 8) {
                add_codes<Reader, 4>(sums, scales, p, x);
                add_codes<Reader, 5>(sums, scales, p, x);
                add_codes<Reader, 6>(sums, scales, p, x);
                add_codes<Reader, 7>(sums, scales, p, x);
            }
            x += Reader::step * M;
#pragma GCC unroll 4
            for (int s = 0; s < S; ++s) p[s] += 64;
        }
    }
    sums.store(out);
}

template <class Reader, int S, int M>
constexpr TileKernel tile() {
    if constexpr (requires { Reader::step_bytes; })
        return plain_tile<Reader, S, M>;
    else
        return grouped_tile<Reader, S, M>;
}

template <class Reader>
constexpr KernelSet make_set() {
    KernelSet set;
    // As many sums as fit the registers beside weights and inputs.
    constexpr int s1 = n_vector == 1 ? 4 : n_vector == 2 ? 4 : 2;
    constexpr int s = n_vector == 1 ? 2 : 1;
    set.streams_one = s1;
    set.one = tile<Reader, s1, 1>();
    set.streams = s;
    set.rows[1] = tile<Reader, s, 1>();
    set.rows[2] = tile<Reader, s, 2>();
    set.rows[3] = tile<Reader, s, 3>();
    set.rows[4] = tile<Reader, s, 4>();
    if constexpr (n_vector <= 2 || HWY_ARCH_ARM_A64) {
        set.rows[5] = tile<Reader, s, 5>();
        set.rows[6] = tile<Reader, s, 6>();
    }
    if constexpr (n_vector == 1) {
        set.rows[8] = tile<Reader, s, 8>();
        set.rows[12] = tile<Reader, s, 12>();
        // Numbers made of codes need more registers on their way.
        if constexpr (requires { Reader::step_bytes; }) set.rows[14] = tile<Reader, s, 14>();
    }
    return set;
}

const KernelSet& float_kernels_of(WeightType type) {
    static constexpr KernelSet f32 = make_set<F32Reader>();
    static constexpr KernelSet f16 = make_set<F16Reader>();
    static constexpr KernelSet bf16 = make_set<Bf16Reader>();
    static constexpr KernelSet int8 = make_set<Int8Reader>();
    static constexpr KernelSet int4 = make_set<Int4Reader>();
    switch (type) {
        case WeightType::f32: return f32;
        case WeightType::f16: return f16;
        case WeightType::bf16: return bf16;
        case WeightType::int8: return int8;
        case WeightType::int4: break;
    }
    return int4;
}

void quantise_row(const float* x, int n, int code_offset, std::int8_t* q, float* scales, float* offsets) {
    const D d;
    const hn::Rebind<std::int32_t, D> di;
    const hn::Rebind<std::int8_t, D> d8;
    for (int g = 0; g < n / weight_group; ++g, x += weight_group, q += weight_group) {
        V largest = hn::Zero(d);
        V poison = hn::Zero(d);  // stays 0 as long as every value is finite
        for (int i = 0; i < weight_group; i += n_lane) {
            const V v = hn::LoadU(d, x + i);
            largest = hn::Max(largest, hn::Abs(v));
            poison = hn::MulAdd(v, hn::Zero(d), poison);
        }
        const float most = hn::GetLane(hn::MaxOfLanes(d, largest));
        const float bad = hn::GetLane(hn::SumOfLanes(d, poison));
        const V inverse = hn::Set(d, most > 0 ? 127.0f / most : 0.0f);
        auto sum = hn::Zero(di);
        for (int i = 0; i < weight_group; i += n_lane) {
            // What is not finite has the largest integers there are, whose sum would not be one.
            const auto code = hn::Clamp(hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), inverse)),
                                        hn::Set(di, -127), hn::Set(di, 127));
            sum = hn::Add(sum, code);
            hn::StoreU(hn::DemoteTo(d8, code), d8, q + i);
        }
        const float scale = most / 127.0f + bad;
        scales[g] = scale;
        offsets[g] = -static_cast<float>(code_offset) * scale *
                     static_cast<float>(hn::GetLane(hn::SumOfLanes(di, sum)));
    }
}

}  // namespace decodescope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace decodescope {

HWY_EXPORT(float_kernels_of);
HWY_EXPORT(quantise_row);

const KernelSet& float_kernels(WeightType type) {
    return HWY_DYNAMIC_DISPATCH(float_kernels_of)(type);
}

void quantise_row(const float* x, int n, int code_offset, std::int8_t* q, float* scales, float* offsets) {
    HWY_DYNAMIC_DISPATCH(quantise_row)(x, n, code_offset, q, scales, offsets);
}

const KernelSet& kernel_set(WeightType type, int rows, int n_in) {
    // Few rows are bound by reading the weights: rounding the inputs to bf16 would only cost precision.
    constexpr int most_exact_rows = 8;
    if (type == WeightType::bf16 && rows <= most_exact_rows) return float_kernels(type);
    // Codes become bf16 for tiles, which only pays when many rows are multiplied with them.
    constexpr int least_rows_of_codes = 48;
    const int least_rows = has_groups(type) ? least_rows_of_codes : tile_rows;
    const bool tiles = rows >= least_rows && n_in % weight_group == 0;
    if (const KernelSet* set = tiles ? tile_kernels(type) : nullptr) return *set;
    // Intel's dot products of bf16 are no faster than those of f32.
    if (type == WeightType::bf16 && !has_fast_bf16_dots()) return float_kernels(type);
    const KernelSet* dots = dot_kernels(type);
    return dots != nullptr ? *dots : float_kernels(type);
}

}  // namespace decodescope
#endif
