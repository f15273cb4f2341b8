// SPDX-License-Identifier: GPL-3.0-or-later
// Included once per instruction set by the files that apply activations: no #pragma once.
#include <hwy/highway.h>
// clang-format off
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace decodescope::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// x / (1 + exp(-x)).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V silu_of(D d, V x) {
    // Exp is defined up to 104 only; beyond 88 the quotient is 0 to all that matters.
    const V growth = hn::Exp(d, hn::Min(hn::Neg(x), hn::Set(d, 88.0f)));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), growth));
}

/// 0.5 x (1 + tanh(u)) = x / (1 + exp(-2 u)), u = sqrt(2/pi) (x + 0.044715 x^3).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_tanh_of(D d, V x) {
    const V cubic = hn::Mul(hn::Mul(x, x), x);
    const V twice = hn::Mul(hn::Set(d, -1.5957691216057308f), hn::MulAdd(hn::Set(d, 0.044715f), cubic, x));
    const V growth = hn::Exp(d, hn::Min(twice, hn::Set(d, 88.0f)));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), growth));
}

}  // namespace
}  // namespace decodescope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
