// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/softmax_sums.h"

#include <cmath>

// Highway compiles what lies inside HWY_NAMESPACE once per instruction set and picks one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/verify/softmax_sums.cpp"
#include <hwy/foreach_target.h>
// clang-format off
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace decodescope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

SoftmaxSums softmax_sums(const float* x, const float* y, std::int64_t n, float largest_x, float largest_y) {
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, decltype(d)> d32;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto top_x = hn::Set(d, static_cast<double>(largest_x));
    const auto top_y = hn::Set(d, static_cast<double>(largest_y));
    auto sum_x = hn::Zero(d);
    auto sum_y = hn::Zero(d);
    auto moment = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto vx = hn::PromoteTo(d, hn::LoadU(d32, x + i));
        const auto vy = hn::PromoteTo(d, hn::LoadU(d32, y + i));
        const auto ex = hn::Exp(d, hn::Sub(vx, top_x));
        sum_x = hn::Add(sum_x, ex);
        sum_y = hn::Add(sum_y, hn::Exp(d, hn::Sub(vy, top_y)));
        moment = hn::MulAdd(ex, hn::Sub(vx, vy), moment);
    }
    SoftmaxSums sums{hn::GetLane(hn::SumOfLanes(d, sum_x)), hn::GetLane(hn::SumOfLanes(d, sum_y)),
                     hn::GetLane(hn::SumOfLanes(d, moment))};
    for (; i < n; ++i) {
        const double ex = std::exp(static_cast<double>(x[i]) - static_cast<double>(largest_x));
        sums.x += ex;
        sums.y += std::exp(static_cast<double>(y[i]) - static_cast<double>(largest_y));
        sums.moment += ex * (static_cast<double>(x[i]) - static_cast<double>(y[i]));
    }
    return sums;
}

}  // namespace decodescope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace decodescope {

namespace {

HWY_EXPORT(softmax_sums);

}  // namespace

SoftmaxSums softmax_sums(const float* x, const float* y, std::int64_t n, float largest_x, float largest_y) {
    return HWY_DYNAMIC_DISPATCH(softmax_sums)(x, y, n, largest_x, largest_y);
}

}  // namespace decodescope
#endif
