// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/tile_finish.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backend/cpu/packed_matrix.h"
#include "engine/backend/cpu/vector_math.h"

// Highway compiles what lies inside HWY_NAMESPACE once per instruction set and picks one at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/tile_finish.cpp"
#include <hwy/foreach_target.h>
// clang-format off
#include <hwy/highway.h>
#include "engine/backend/cpu/vector_activation-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace decodescope::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

HWY_INLINE V activated(Activation activation, V v) {
    const D d;
    switch (activation) {
        case Activation::gelu_tanh: return gelu_tanh_of(d, v);
        case Activation::silu: return silu_of(d, v);
        // Written so that a NaN stays a NaN.
        case Activation::relu: return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Zero(d), v);
        case Activation::gelu_erf: break;
    }
    HWY_ALIGN float values[hn::MaxLanes(d)];
    hn::Store(v, d, values);
    vector_math::gelu_erf(values, static_cast<std::int64_t>(hn::Lanes(d)));
    return hn::Load(d, values);
}

HWY_INLINE void note_best(V v, int i, int panel, RowBest& best) {
    const D d;
    const hn::Rebind<std::int32_t, D> di;
    const V value = hn::LoadU(d, best.value.data() + i);
    const auto greater = hn::Gt(v, value);
    hn::StoreU(hn::IfThenElse(greater, v, value), d, best.value.data() + i);
    const auto panels = hn::LoadU(di, best.panel.data() + i);
    hn::StoreU(hn::IfThenElse(hn::RebindMask(di, greater), hn::Set(di, panel), panels), di,
               best.panel.data() + i);
    const V poison = hn::LoadU(d, best.poison.data() + i);
    hn::StoreU(hn::MulAdd(v, hn::Zero(d), poison), d, best.poison.data() + i);
}

/// One row of one panel; `bias` (or null) and `y` are whole vectors.
void finish_row(const float* sums, const float* bias, const TileFinish& finish, float* y) {
    const D d;
    for (int i = 0; i < panel_rows; i += static_cast<int>(hn::Lanes(d))) {
        V v = hn::Load(d, sums + i);
        if (bias != nullptr) v = hn::Add(v, hn::LoadU(d, bias + i));
        if (finish.activation) v = activated(*finish.activation, v);
        if (finish.multiply) v = hn::Mul(v, hn::LoadU(d, y + i));
        if (finish.accumulate) v = hn::Add(v, hn::LoadU(d, y + i));
        hn::StoreU(v, d, y + i);
    }
}

}  // namespace

void finish_tile_of(const float* sums, int n_row, int panel, int first_row, const TileFinish& finish) {
    const int first = panel * panel_rows;
    const int n = std::min(panel_rows, finish.n_out - first);
    for (int j = 0; j < n_row; ++j, sums += panel_rows) {
        float* y = finish.y + std::int64_t{first_row + j} * finish.n_out + first;
        const float* bias = finish.bias != nullptr ? finish.bias + first : nullptr;
        const float* done = y;
        HWY_ALIGN float last[panel_rows] = {};
        if (n == panel_rows) {
            finish_row(sums, bias, finish, y);
        } else {
            HWY_ALIGN float last_bias[panel_rows] = {};
            if (bias != nullptr) std::copy_n(bias, n, last_bias);
            if (finish.multiply || finish.accumulate) std::copy_n(y, n, last);
            finish_row(sums, last_bias, finish, last);
            std::copy_n(last, n, y);
            // What is beyond the last output must not win.
            std::fill(last + n, last + panel_rows, std::numeric_limits<float>::lowest());
            done = last;
        }
        if (finish.best == nullptr) continue;
        const D d;
        RowBest& best = finish.best[first_row + j];
        for (int i = 0; i < panel_rows; i += static_cast<int>(hn::Lanes(d)))
            note_best(hn::LoadU(d, done + i), i, panel, best);
    }
}

}  // namespace decodescope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace decodescope {

HWY_EXPORT(finish_tile_of);

void finish_tile(const float* sums, int n_row, int panel, int first_row, const TileFinish& finish) {
    HWY_DYNAMIC_DISPATCH(finish_tile_of)(sums, n_row, panel, first_row, finish);
}

void RowBest::clear() {
    value.fill(-std::numeric_limits<float>::infinity());
    panel.fill(0);
    poison.fill(0);
}

void RowBest::merge(const RowBest& other) {
    for (std::size_t i = 0; i < value.size(); ++i) {
        poison[i] += other.poison[i];
        const bool first =
            other.value[i] > value[i] || (other.value[i] == value[i] && other.panel[i] < panel[i]);
        if (!first) continue;
        value[i] = other.value[i];
        panel[i] = other.panel[i];
    }
}

std::int32_t RowBest::index() const {
    std::int32_t best = 0;
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (poison[i] != 0) return -1;
        const std::int32_t mine = panel[i] * panel_rows + static_cast<std::int32_t>(i);
        if (value[i] < largest || (value[i] == largest && mine > best)) continue;
        largest = value[i];
        best = mine;
    }
    return best;
}

}  // namespace decodescope
#endif
