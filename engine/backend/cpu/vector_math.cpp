// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/vector_math.h"

#include <cmath>

// Highway compiles what lies inside HWY_NAMESPACE once per instruction set and picks one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/vector_math.cpp"
#include <hwy/foreach_target.h>
// clang-format off
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "engine/backend/cpu/vector_activation-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace decodescope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// Calls `body(vector, mask-free store offset)` for whole vectors and once more, padded, for the rest.
template <class Body>
HWY_INLINE void for_each_vector(float* x, std::int64_t n, Body&& body) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(body(hn::LoadU(d, x + i)), d, x + i);
    if (i < n) {
        HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
        for (std::int64_t j = i; j < n; ++j) rest[j - i] = x[j];
        hn::Store(body(hn::Load(d, rest)), d, rest);
        for (std::int64_t j = i; j < n; ++j) x[j] = rest[j - i];
    }
}

void gelu_tanh(float* x, std::int64_t n) {
    for_each_vector(x, n, [](V v) HWY_ATTR { return gelu_tanh_of(D(), v); });
}

void layer_norm(const float* x, std::int64_t n, const float* weight, const float* bias, float eps, float* y) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    V sums = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, hn::LoadU(d, x + i));
    float sum = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; i < n; ++i) sum += x[i];
    const float mean = sum / static_cast<float>(n);
    // Two passes: the variance of centred values does not cancel.
    const V vmean = hn::Set(d, mean);
    V squares = hn::Zero(d);
    for (i = 0; i + lanes <= n; i += lanes) {
        const V centred = hn::Sub(hn::LoadU(d, x + i), vmean);
        squares = hn::MulAdd(centred, centred, squares);
    }
    float square = hn::GetLane(hn::SumOfLanes(d, squares));
    for (; i < n; ++i) square += (x[i] - mean) * (x[i] - mean);
    const float factor = 1.0f / std::sqrt(square / static_cast<float>(n) + eps);
    const V vfactor = hn::Set(d, factor);
    for (i = 0; i + lanes <= n; i += lanes) {
        const V normed = hn::Mul(hn::Sub(hn::LoadU(d, x + i), vmean), vfactor);
        hn::StoreU(hn::MulAdd(normed, hn::LoadU(d, weight + i), hn::LoadU(d, bias + i)), d, y + i);
    }
    for (; i < n; ++i) y[i] = (x[i] - mean) * factor * weight[i] + bias[i];
}

void silu(float* x, std::int64_t n) {
    for_each_vector(x, n, [](V v) HWY_ATTR { return silu_of(D(), v); });
}

void silu_multiply(const float* x, std::int64_t n, float* y) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        hn::StoreU(hn::Mul(silu_of(d, hn::LoadU(d, x + i)), hn::LoadU(d, y + i)), d, y + i);
    }
    if (i == n) return;
    HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
    for (std::int64_t j = i; j < n; ++j) rest[j - i] = x[j];
    hn::Store(silu_of(d, hn::Load(d, rest)), d, rest);
    for (std::int64_t j = i; j < n; ++j) y[j] *= rest[j - i];
}

void rms_norm(const float* x, std::int64_t n, const float* weight, float eps, float* y) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    V squares = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const V v = hn::LoadU(d, x + i);
        squares = hn::MulAdd(v, v, squares);
    }
    float square = hn::GetLane(hn::SumOfLanes(d, squares));
    for (; i < n; ++i) square += x[i] * x[i];
    const float factor = 1.0f / std::sqrt(square / static_cast<float>(n) + eps);
    const V vfactor = hn::Set(d, factor);
    for (i = 0; i + lanes <= n; i += lanes) {
        hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + i), vfactor), hn::LoadU(d, weight + i)), d, y + i);
    }
    for (; i < n; ++i) y[i] = x[i] * factor * weight[i];
}

/// The pair (a, b) turned: (a cos - b sin, b cos + a sin).
struct Turned {
    V a, b;
};
HWY_INLINE Turned turned(V a, V b, V cosine, V sine) {
    return {hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), hn::MulAdd(a, sine, hn::Mul(b, cosine))};
}

void rotate_halves(float* x, std::int64_t n_pair, const float* cosines, const float* sines) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    float* second = x + n_pair;
    std::int64_t i = 0;
    for (; i + lanes <= n_pair; i += lanes) {
        const Turned pair = turned(hn::LoadU(d, x + i), hn::LoadU(d, second + i), hn::LoadU(d, cosines + i),
                                   hn::LoadU(d, sines + i));
        hn::StoreU(pair.a, d, x + i);
        hn::StoreU(pair.b, d, second + i);
    }
    for (; i < n_pair; ++i) {
        const float a = x[i];
        const float b = second[i];
        x[i] = a * cosines[i] - b * sines[i];
        second[i] = b * cosines[i] + a * sines[i];
    }
}

void rotate_neighbours(float* x, std::int64_t n_pair, const float* cosines, const float* sines) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n_pair; i += lanes) {
        V a, b;
        hn::LoadInterleaved2(d, x + 2 * i, a, b);
        const Turned pair = turned(a, b, hn::LoadU(d, cosines + i), hn::LoadU(d, sines + i));
        hn::StoreInterleaved2(pair.a, pair.b, d, x + 2 * i);
    }
    for (; i < n_pair; ++i) {
        const float a = x[2 * i];
        const float b = x[2 * i + 1];
        x[2 * i] = a * cosines[i] - b * sines[i];
        x[2 * i + 1] = b * cosines[i] + a * sines[i];
    }
}

const char* target_name() {
    return hwy::TargetName(HWY_TARGET);
}

}  // namespace decodescope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace decodescope::vector_math {

HWY_EXPORT(gelu_tanh);
HWY_EXPORT(layer_norm);
HWY_EXPORT(silu);
HWY_EXPORT(silu_multiply);
HWY_EXPORT(rms_norm);
HWY_EXPORT(rotate_halves);
HWY_EXPORT(rotate_neighbours);
HWY_EXPORT(target_name);

void gelu_tanh(float* x, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(gelu_tanh)(x, n);
}
void gelu_erf(float* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678118654752f));
}
void layer_norm(const float* x, std::int64_t n, const float* weight, const float* bias, float eps, float* y) {
    HWY_DYNAMIC_DISPATCH(layer_norm)(x, n, weight, bias, eps, y);
}
void silu(float* x, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(silu)(x, n);
}
void silu_multiply(const float* x, std::int64_t n, float* y) {
    HWY_DYNAMIC_DISPATCH(silu_multiply)(x, n, y);
}
void rms_norm(const float* x, std::int64_t n, const float* weight, float eps, float* y) {
    HWY_DYNAMIC_DISPATCH(rms_norm)(x, n, weight, eps, y);
}
void rotate_halves(float* x, std::int64_t n_pair, const float* cosines, const float* sines) {
    HWY_DYNAMIC_DISPATCH(rotate_halves)(x, n_pair, cosines, sines);
}
void rotate_neighbours(float* x, std::int64_t n_pair, const float* cosines, const float* sines) {
    HWY_DYNAMIC_DISPATCH(rotate_neighbours)(x, n_pair, cosines, sines);
}
const char* target_name() {
    return HWY_DYNAMIC_DISPATCH(target_name)();
}

}  // namespace decodescope::vector_math
#endif
