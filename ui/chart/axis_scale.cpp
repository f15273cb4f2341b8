// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/axis_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace decodescope {

namespace {

constexpr std::array<double, 10> mantissas{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
constexpr std::array<double, 4> wholeMantissas{1, 2, 5, 10};

double binaryUnit(double bytes) {
    double unit = 1;
    while (bytes >= 999.5 * unit && unit < 0x1p40) unit *= 1024;
    return unit;
}

}  // namespace

double niceStep(double span, int max_intervals, Unit unit, bool whole) {
    if (!(span > 0) || !std::isfinite(span)) return 1;
    const double wanted = span / std::max(1, max_intervals) * (1 - 1e-9);
    const double base = unit == Unit::bytes ? binaryUnit(span) : 1;
    const double exponent = std::floor(std::log10(wanted / base));
    for (double e = exponent;; ++e) {
        for (const double mantissa : whole ? std::span<const double>(wholeMantissas) : mantissas) {
            const double step = mantissa * std::pow(10.0, e);
            if (whole && step < 1) continue;
            if (step * base >= wanted) return step * base;
        }
    }
}

double niceMaximum(double value, int max_intervals, Unit unit, bool whole) {
    if (!(value > 0) || !std::isfinite(value)) return whole ? max_intervals : 1;
    const double step = niceStep(value, max_intervals, unit, whole);
    return step * std::ceil(value / step * (1 - 1e-9));
}

}  // namespace decodescope
