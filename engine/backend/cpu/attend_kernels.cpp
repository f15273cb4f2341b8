// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/attend_kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

// Between plain code and AVX2 lies little that anybody still runs; vectors without a fixed size do not fit
// kernels that hold arrays of them.
#define HWY_DISABLED_TARGETS \
    (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/attend_kernels.cpp"
#include <hwy/foreach_target.h>
// clang-format off
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace decodescope::attend_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, width_step>;
using V = hn::Vec<D>;
constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));

// How far ahead of the sums memory is asked for: they leave the processor little room to look ahead itself.
constexpr int ahead_bytes = 2048;
constexpr int line_bytes = 64;

// How many vectors of sums the registers hold beside what is multiplied.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
constexpr int sum_vectors = 12;
#else
constexpr int sum_vectors = 24;
#endif

// Highway's own conversion from f16 makes numbers of what is not finite where the instruction is missing.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || \
    (HWY_ARCH_X86 && (HWY_TARGET > HWY_AVX2 || defined(HWY_DISABLE_F16C)))
constexpr bool converts_f16 = false;
#else
constexpr bool converts_f16 = true;
#endif

struct FromF32 {
    using Element = float;
    static HWY_INLINE V load(const float* from) { return hn::LoadU(D(), from); }
};
struct FromF16 {
    using Element = hwy::float16_t;
    static HWY_INLINE V load(const hwy::float16_t* from) {
        return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<hwy::float16_t, D>(), from));
    }
};
struct FromBf16 {
    using Element = hwy::bfloat16_t;
    static HWY_INLINE V load(const hwy::bfloat16_t* from) {
        return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<hwy::bfloat16_t, D>(), from));
    }
};

/// Asks for the four slots that lie `ahead_bytes` behind `from`.
template <class From>
HWY_INLINE void fetch_ahead(const typename From::Element* from, std::int64_t stride, int width) {
    const auto slot_bytes = stride * static_cast<std::int64_t>(sizeof *from);
    const auto row_bytes = width * static_cast<int>(sizeof *from);
    const char* at = reinterpret_cast<const char*>(from) +
                     std::max<std::int64_t>(1, ahead_bytes / slot_bytes) * slot_bytes;
    for (int i = 0; i < 4; ++i, at += slot_bytes) {
        for (int j = 0; j < row_bytes; j += line_bytes) hwy::Prefetch(at + j);
    }
}

template <class From>
HWY_INLINE V products(const float* q, const typename From::Element* k, int width) {
    V sum = hn::Mul(hn::LoadU(D(), q), From::load(k));
    for (int i = lanes; i < width; i += lanes) {
        sum = hn::MulAdd(hn::LoadU(D(), q + i), From::load(k + i), sum);
    }
    return sum;
}

#if HWY_TARGET == HWY_SCALAR  // lacks what moves lanes

template <class From>
void score_row(const float* q, const typename From::Element* k, std::int64_t stride, int width, int n_slot,
               float* scores) {
    for (int s = 0; s < n_slot; ++s) scores[s] = hn::GetLane(products<From>(q, k + s * stride, width));
}

void to_columns(const float* k, std::int64_t stride, int n_slot, int width, float* columns) {
    for (int s = 0; s < n_slot; ++s) {
        for (int i = 0; i < width; ++i) columns[i * tile_slots + s] = k[s * stride + i];
    }
}

#else

/// Of every 128-bit block of four vectors, the sums of its lanes: [a, b, c, d] per block.
HWY_INLINE V sums_in_blocks(V a, V b, V c, V d) {
    const D tag;
    const hn::Repartition<double, D> wide;
    const V ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
    const V cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
    const auto ab2 = hn::BitCast(wide, ab);
    const auto cd2 = hn::BitCast(wide, cd);
    return hn::Add(hn::BitCast(tag, hn::InterleaveLower(wide, ab2, cd2)),
                   hn::BitCast(tag, hn::InterleaveUpper(wide, ab2, cd2)));
}

/// Adds the blocks of each of the lanes / 4 vectors `make(0)`, ..., which become the blocks of the result.
template <class Make>
HWY_INLINE V sums_of_blocks(Make&& make) {
    const D tag;
    if constexpr (lanes == 4) {
        return make(0);
    } else if constexpr (lanes == 8) {
        const V a = make(0);
        const V b = make(1);
        return hn::Add(hn::ConcatLowerLower(tag, b, a), hn::ConcatUpperUpper(tag, b, a));
    } else {
        const V a = make(0);
        const V b = make(1);
        const V c = make(2);
        const V d = make(3);
        const V ac = hn::Add(hn::ConcatLowerLower(tag, c, a), hn::ConcatUpperUpper(tag, c, a));
        const V bd = hn::Add(hn::ConcatLowerLower(tag, d, b), hn::ConcatUpperUpper(tag, d, b));
        return hn::Add(hn::OddEvenBlocks(bd, ac), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(ac, bd)));
    }
}

/// One row: as many slots at once as a vector has lanes. Slots behind the last one repeat it.
template <class From>
void score_row(const float* q, const typename From::Element* k, std::int64_t stride, int width, int n_slot,
               float* scores) {
    for (int s = 0; s < n_slot; s += lanes) {
        const auto at = [&](int i) { return k + std::min(s + i, n_slot - 1) * stride; };
        const V sums = sums_of_blocks([&](int i) HWY_ATTR {
            fetch_ahead<From>(k + (s + 4 * i) * stride, stride, width);
            const V a = products<From>(q, at(4 * i), width);
            const V b = products<From>(q, at(4 * i + 1), width);
            const V c = products<From>(q, at(4 * i + 2), width);
            const V d = products<From>(q, at(4 * i + 3), width);
            return sums_in_blocks(a, b, c, d);
        });
        hn::StoreU(sums, D(), scores + s);
    }
}

/// Some rows by four slots: a key that is loaded once meets all of them. Slots behind the last one repeat it.
template <int rows, class From>
void score_rows(const float* q, const typename From::Element* k, std::int64_t stride, int width, int n_slot,
                float* scores, std::int64_t score_stride) {
    const D tag;
    for (int s = 0; s < n_slot; s += 4) {
        const typename From::Element* keys[4];
        V sums[rows][4];
        fetch_ahead<From>(k + s * stride, stride, width);
        HWY_UNROLL(4)
        for (int i = 0; i < 4; ++i) keys[i] = k + std::min(s + i, n_slot - 1) * stride;
        HWY_UNROLL(4)
        for (int r = 0; r < rows; ++r) {
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i) sums[r][i] = hn::Zero(tag);
        }
        for (int j = 0; j < width; j += lanes) {
            V parts[4];
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i) parts[i] = From::load(keys[i] + j);
            HWY_UNROLL(4)
            for (int r = 0; r < rows; ++r) {
                const V row = hn::LoadU(tag, q + r * width + j);
                HWY_UNROLL(4)
                for (int i = 0; i < 4; ++i) sums[r][i] = hn::MulAdd(row, parts[i], sums[r][i]);
            }
        }
        const V all = sums_of_blocks([&](int r) HWY_ATTR {
            return r < rows ? sums_in_blocks(sums[r][0], sums[r][1], sums[r][2], sums[r][3]) : hn::Zero(tag);
        });
        HWY_ALIGN float blocks[lanes];
        hn::Store(all, tag, blocks);
        HWY_UNROLL(4)
        for (int r = 0; r < rows; ++r) {
            std::memcpy(scores + r * score_stride + s, blocks + 4 * r, 4 * sizeof(float));
        }
    }
}

/// Four slots by one vector of elements: block b of the results holds elements 4 b, 4 b + 1, ... of all four.
struct Quad {
    V a, b, c, d;
};
HWY_INLINE Quad transposed_blocks(const Quad& x) {
    const D tag;
    const hn::Repartition<double, D> wide;
    const auto ab = hn::BitCast(wide, hn::InterleaveLower(tag, x.a, x.b));
    const auto ab_up = hn::BitCast(wide, hn::InterleaveUpper(tag, x.a, x.b));
    const auto cd = hn::BitCast(wide, hn::InterleaveLower(tag, x.c, x.d));
    const auto cd_up = hn::BitCast(wide, hn::InterleaveUpper(tag, x.c, x.d));
    return {hn::BitCast(tag, hn::InterleaveLower(wide, ab, cd)),
            hn::BitCast(tag, hn::InterleaveUpper(wide, ab, cd)),
            hn::BitCast(tag, hn::InterleaveLower(wide, ab_up, cd_up)),
            hn::BitCast(tag, hn::InterleaveUpper(wide, ab_up, cd_up))};
}

/// Stores element e of every block of the quads x[0 .. lanes / 4): row 4 b + e of the transposed square is
/// made of block b of all of them.
template <class Pick>
HWY_INLINE void store_element(const Quad* x, Pick&& pick, int e, float* to) {
    const D tag;
    const auto row = [&](int block) { return to + (4 * block + e) * tile_slots; };
    if constexpr (lanes == 4) {
        hn::StoreU(pick(x[0]), tag, row(0));
    } else if constexpr (lanes == 8) {
        hn::StoreU(hn::ConcatLowerLower(tag, pick(x[1]), pick(x[0])), tag, row(0));
        hn::StoreU(hn::ConcatUpperUpper(tag, pick(x[1]), pick(x[0])), tag, row(1));
    } else {
        const auto halves = [&](V even, V odd, int block) HWY_ATTR {
            hn::StoreU(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd), even), tag, row(block));
            hn::StoreU(hn::OddEvenBlocks(odd, hn::SwapAdjacentBlocks(even)), tag, row(block + 1));
        };
        halves(hn::ConcatLowerLower(tag, pick(x[2]), pick(x[0])),
               hn::ConcatLowerLower(tag, pick(x[3]), pick(x[1])), 0);
        halves(hn::ConcatUpperUpper(tag, pick(x[2]), pick(x[0])),
               hn::ConcatUpperUpper(tag, pick(x[3]), pick(x[1])), 2);
    }
}

void to_columns(const float* k, std::int64_t stride, int n_slot, int width, float* columns) {
    const D tag;
    for (int s = 0; s < n_slot; s += lanes) {
        for (int i = 0; i < width; i += lanes) {
            const auto at = [&](int j) { return k + std::min(s + j, n_slot - 1) * stride + i; };
            Quad quads[lanes / 4];
            HWY_UNROLL(4)
            for (int j = 0; j < lanes / 4; ++j) {
                quads[j] = transposed_blocks({hn::LoadU(tag, at(4 * j)), hn::LoadU(tag, at(4 * j + 1)),
                                              hn::LoadU(tag, at(4 * j + 2)), hn::LoadU(tag, at(4 * j + 3))});
            }
            float* to = columns + std::int64_t{i} * tile_slots + s;
            store_element(
                quads, [](const Quad& x) { return x.a; }, 0, to);
            store_element(
                quads, [](const Quad& x) { return x.b; }, 1, to);
            store_element(
                quads, [](const Quad& x) { return x.c; }, 2, to);
            store_element(
                quads, [](const Quad& x) { return x.d; }, 3, to);
        }
    }
}

#endif

template <class From>
void score_few_from(const float* q, const Entries& k, int width, const Tile& tile) {
    const auto* keys = static_cast<const typename From::Element*>(k.at);
    int r = 0;
#if HWY_TARGET != HWY_SCALAR
    const auto together = [&](auto rows) {
        score_rows<rows(), From>(q + r * width, keys, k.stride, width, tile.n_slot,
                                 tile.scores + r * tile.stride, tile.stride);
        r += rows();
    };
    if constexpr (lanes >= 16) {
        while (tile.n_row - r >= 4) together(std::integral_constant<int, 4>());
        if (tile.n_row - r == 3) together(std::integral_constant<int, 3>());
    }
    if constexpr (lanes >= 8) {
        while (tile.n_row - r >= 2) together(std::integral_constant<int, 2>());
    }
#endif
    for (; r < tile.n_row; ++r) {
        score_row<From>(q + r * width, keys, k.stride, width, tile.n_slot, tile.scores + r * tile.stride);
    }
}

void score_few(const float* q, const Entries& k, int width, const Tile& tile) {
    switch (k.dtype) {
        case DType::f32: return score_few_from<FromF32>(q, k, width, tile);
        case DType::f16: return score_few_from<FromF16>(q, k, width, tile);
        case DType::bf16: return score_few_from<FromBf16>(q, k, width, tile);
    }
}

bool reads_in_place(DType dtype) {
    return dtype != DType::f16 || converts_f16;
}

/// What a matrix product multiplies: C [rows, columns] = factors * C + A [rows, begin .. end) B [..,
/// columns].
template <class From>
struct Product {
    const float* a = nullptr;
    std::int64_t a_stride = 0;
    const typename From::Element* b = nullptr;
    std::int64_t b_stride = 0;
    float* c = nullptr;
    std::int64_t c_stride = 0;
    const float* factors = nullptr;  // null: C is written only
    int begin = 0;
    int end = 0;
};

/// `rows` x `vectors` sums in registers.
template <int rows, int vectors, class From>
HWY_INLINE void panel(const Product<From>& p, int column) {
    const D tag;
    V sums[rows][vectors];
    float* c = p.c + column;
    HWY_UNROLL(8)
    for (int r = 0; r < rows; ++r) {
        HWY_UNROLL(8)
        for (int i = 0; i < vectors; ++i) {
            sums[r][i] = p.factors == nullptr ? hn::Zero(tag)
                                              : hn::Mul(hn::LoadU(tag, c + r * p.c_stride + i * lanes),
                                                        hn::Set(tag, p.factors[r]));
        }
    }
    const float* a = p.a;
    const auto* b = p.b + p.begin * p.b_stride + column;
    const std::int64_t a_stride = p.a_stride;
    const std::int64_t b_stride = p.b_stride;
    for (int k = p.begin; k < p.end; ++k, b += b_stride) {
        V parts[vectors];
        HWY_UNROLL(8)
        for (int i = 0; i < vectors; ++i) {
            parts[i] = From::load(b + i * lanes);
            if constexpr (rows <= 4) {
                if (i * lanes * sizeof *b % line_bytes == 0)
                    hwy::Prefetch(reinterpret_cast<const char*>(b + i * lanes) + ahead_bytes);
            }
        }
        HWY_UNROLL(8)
        for (int r = 0; r < rows; ++r) {
            const V factor = hn::Set(tag, a[r * a_stride + k]);
            HWY_UNROLL(8)
            for (int i = 0; i < vectors; ++i) sums[r][i] = hn::MulAdd(factor, parts[i], sums[r][i]);
        }
    }
    HWY_UNROLL(8)
    for (int r = 0; r < rows; ++r) {
        HWY_UNROLL(8)
        for (int i = 0; i < vectors; ++i) hn::StoreU(sums[r][i], tag, c + r * p.c_stride + i * lanes);
    }
}

/// Columns from `column` on, in panels as wide as the registers allow.
template <int rows, int vectors, class From>
HWY_INLINE void panels(const Product<From>& p, int column, int n_column) {
    for (; column + vectors * lanes <= n_column; column += vectors * lanes) {
        panel<rows, vectors>(p, column);
    }
    if constexpr (vectors > 1) {
        if (column < n_column) panels<rows, vectors / 2>(p, column, n_column);
    }
}

/// Powers of two, so that halves of a panel fill what is left.
constexpr int panel_vectors(int rows) {
    return 8 * rows <= sum_vectors ? 8 : 4 * rows <= sum_vectors ? 4 : 2 * rows <= sum_vectors ? 2 : 1;
}

template <int rows, class From>
HWY_INLINE void product_rows(const Product<From>& p, int n_column) {
    panels<rows, panel_vectors(rows)>(p, 0, n_column);
}

/// Splits rows into groups that fit the registers. `each(rows as a constant, first row)`.
template <int most, class Each>
HWY_INLINE void in_groups(int n_row, Each&& each) {
    int r = 0;
    if constexpr (most >= 6) {
        for (; n_row - r >= 6; r += 6) each(std::integral_constant<int, 6>(), r);
    }
    for (; n_row - r >= 4; r += 4) each(std::integral_constant<int, 4>(), r);
    if (n_row - r == 3) each(std::integral_constant<int, 3>(), r);
    if (n_row - r == 2) each(std::integral_constant<int, 2>(), r);
    if (n_row - r == 1) each(std::integral_constant<int, 1>(), r);
}

void score_many(const float* q, const float* columns, int width, const Tile& tile) {
    const int n_column = (tile.n_slot + lanes - 1) / lanes * lanes;
    in_groups<6>(tile.n_row, [&](auto rows, int r) HWY_ATTR {
        Product<FromF32> p;
        p.a = q + std::int64_t{r} * width;
        p.a_stride = width;
        p.b = columns;
        p.b_stride = tile_slots;
        p.c = tile.scores + r * tile.stride;
        p.c_stride = tile.stride;
        p.end = width;
        product_rows<rows()>(p, n_column);
    });
}

template <int most, class From>
void mix_from(const Tile& tile, const float* factors, const Entries& v, int width, float* out) {
    in_groups<most>(tile.n_row, [&](auto rows, int r) HWY_ATTR {
        Product<From> p;
        p.begin = tile.n_slot;
        for (int query = r / tile.n_head; query <= (r + rows() - 1) / tile.n_head; ++query) {
            const Seen& seen = tile.seen[query];
            if (seen.begin == seen.end) continue;
            p.begin = std::min(p.begin, seen.begin);
            p.end = std::max(p.end, seen.end);
        }
        if (p.begin >= p.end) return;
        p.a = tile.scores + r * tile.stride;
        p.a_stride = tile.stride;
        p.b = static_cast<const typename From::Element*>(v.at);
        p.b_stride = v.stride;
        p.c = out + std::int64_t{r} * width;
        p.c_stride = width;
        p.factors = factors + r;
        product_rows<rows()>(p, width);
    });
}

void mix(const Tile& tile, const float* factors, const Entries& v, int width, float* out) {
    switch (v.dtype) {
        case DType::f32: return mix_from<6, FromF32>(tile, factors, v, width, out);
        case DType::f16: return mix_from<4, FromF16>(tile, factors, v, width, out);
        case DType::bf16: return mix_from<4, FromBf16>(tile, factors, v, width, out);
    }
}

/// 2^x for x <= 0, at least 2^-126. The polynomial is the minimax one of 2^x on [-1/2, 1/2] for its degree
/// (Remez); relative error 2e-9 before rounding.
HWY_INLINE V power_of_two(V x) {
    const D tag;
    const hn::RebindToSigned<D> whole;
    // Adding 1.5 * 2^23 rounds to a whole number, which then is in the low bits.
    const V rounding = hn::Set(tag, 12582912.0f);
    x = hn::Max(x, hn::Set(tag, -126.0f));
    const V shifted = hn::Add(x, rounding);
    const V rest = hn::Sub(x, hn::Sub(shifted, rounding));
    V power = hn::MulAdd(hn::Set(tag, 0.00015345812f), rest, hn::Set(tag, 0.0013399931f));
    power = hn::MulAdd(power, rest, hn::Set(tag, 0.0096184891f));
    power = hn::MulAdd(power, rest, hn::Set(tag, 0.055503286f));
    power = hn::MulAdd(power, rest, hn::Set(tag, 0.24022646f));
    power = hn::MulAdd(power, rest, hn::Set(tag, 0.69314718f));
    power = hn::MulAdd(power, rest, hn::Set(tag, 1.0f));
    return hn::BitCast(tag,
                       hn::Add(hn::BitCast(whole, power), hn::ShiftLeft<23>(hn::BitCast(whole, shifted))));
}

/// Lanes s, s + 1, ... of the tile that a query sees.
HWY_INLINE hn::Mask<D> seen_lanes(const Seen& seen, int s) {
    const std::uint64_t word = seen.bits[static_cast<std::size_t>(s / 64)] >> (s % 64);
    std::uint8_t bytes[sizeof word];
    std::memcpy(bytes, &word, sizeof word);
    return hn::LoadMaskBits(D(), bytes);
}

/// The largest score that a row sees.
template <bool masked>
HWY_INLINE float largest_score(const Seen& seen, int n_slot, const float* scores, float* sums) {
    const D tag;
    const V zero = hn::Zero(tag);
    const V nothing = hn::Set(tag, -std::numeric_limits<float>::infinity());
    // 0 as long as every score is finite, else NaN: neither Max nor the power lets a NaN through by itself.
    V poison = zero;
    V top = nothing;
    for (int s = 0; s < n_slot; s += lanes) {
        V score = hn::LoadU(tag, scores + s);
        if constexpr (masked) {
            const auto visible = seen_lanes(seen, s);
            poison = hn::MulAdd(hn::IfThenElseZero(visible, score), zero, poison);
            score = hn::IfThenElse(visible, score, nothing);
        } else {
            poison = hn::MulAdd(score, zero, poison);
        }
        top = hn::Max(top, score);
    }
    hn::StoreU(hn::Add(hn::LoadU(tag, sums), poison), tag, sums);
    return hn::GetLane(hn::MaxOfLanes(tag, top));
}

template <bool masked>
HWY_INLINE void to_weights(const Seen& seen, int n_slot, float largest, float factor, float* scores,
                           float* row_sums) {
    const D tag;
    const V shift = hn::Set(tag, largest);
    V sums = hn::Mul(hn::LoadU(tag, row_sums), hn::Set(tag, factor));
    for (int s = 0; s < n_slot; s += lanes) {
        V weight = power_of_two(hn::Sub(hn::LoadU(tag, scores + s), shift));
        if constexpr (masked) weight = hn::IfThenElseZero(seen_lanes(seen, s), weight);
        sums = hn::Add(sums, weight);
        hn::StoreU(weight, tag, scores + s);
    }
    hn::StoreU(sums, tag, row_sums);
}

void soften(const Tile& tile, float* largest, float* sums, float* factors) {
    const D tag;
    const auto each_row = [&](auto&& body) HWY_ATTR {
        int query = 0;
        for (int r = 0; r < tile.n_row; ++query) {
            const Seen& seen = tile.seen[query];
            const bool plain = seen.whole && tile.n_slot % lanes == 0;
            for (int head = 0; head < tile.n_head; ++head, ++r) {
                body(r, seen, plain, tile.scores + r * tile.stride, sums + std::int64_t{r} * sums_per_row);
            }
        }
    };
    // In three passes, so that rows do not wait for one another.
    each_row([&](int r, const Seen& seen, bool plain, const float* scores, float* row_sums) HWY_ATTR {
        if (seen.begin == seen.end)
            factors[r] = largest[r];
        else if (plain)
            factors[r] = largest_score<false>(seen, tile.n_slot, scores, row_sums);
        else
            factors[r] = largest_score<true>(seen, tile.n_slot, scores, row_sums);
    });
    for (int r = 0; r < tile.n_row; r += lanes) {
        const V before = hn::LoadU(tag, largest + r);
        const V now = hn::Max(before, hn::LoadU(tag, factors + r));
        hn::StoreU(now, tag, largest + r);
        hn::StoreU(power_of_two(hn::Sub(before, now)), tag, factors + r);
    }
    each_row([&](int r, const Seen& seen, bool plain, float* scores, float* row_sums) HWY_ATTR {
        if (seen.begin == seen.end)
            std::fill_n(scores, tile.n_slot, 0.0f);
        else if (plain)
            to_weights<false>(seen, tile.n_slot, largest[r], factors[r], scores, row_sums);
        else
            to_weights<true>(seen, tile.n_slot, largest[r], factors[r], scores, row_sums);
    });
}

}  // namespace decodescope::attend_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace decodescope::attend_kernels {

HWY_EXPORT(reads_in_place);
HWY_EXPORT(score_few);
HWY_EXPORT(to_columns);
HWY_EXPORT(score_many);
HWY_EXPORT(soften);
HWY_EXPORT(mix);

bool reads_in_place(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(reads_in_place)(dtype);
}
void score_few(const float* q, const Entries& k, int width, const Tile& tile) {
    HWY_DYNAMIC_DISPATCH(score_few)(q, k, width, tile);
}
void to_columns(const float* k, std::int64_t stride, int n_slot, int width, float* columns) {
    HWY_DYNAMIC_DISPATCH(to_columns)(k, stride, n_slot, width, columns);
}
void score_many(const float* q, const float* columns, int width, const Tile& tile) {
    HWY_DYNAMIC_DISPATCH(score_many)(q, columns, width, tile);
}
void soften(const Tile& tile, float* largest, float* sums, float* factors) {
    HWY_DYNAMIC_DISPATCH(soften)(tile, largest, sums, factors);
}
void mix(const Tile& tile, const float* factors, const Entries& v, int width, float* out) {
    HWY_DYNAMIC_DISPATCH(mix)(tile, factors, v, width, out);
}

}  // namespace decodescope::attend_kernels
#endif
