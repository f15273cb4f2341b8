// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/axis_ticker.h"

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

bool isRound(double step) {
    const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-9));
    return std::abs(mantissa - 1) < 1e-6 || std::abs(mantissa - 2) < 1e-6 ||
           std::abs(mantissa - 2.5) < 1e-6 || std::abs(mantissa - 5) < 1e-6;
}

}  // namespace

double niceStep(double span, int max_intervals, Unit unit, bool whole) {
    if (!(span > 0) || !std::isfinite(span)) return 1;
    const double wanted = span / std::max(1, max_intervals) * (1 - 1e-9);
    const double base = unit == Unit::bytes ? binaryUnit(wanted) : 1;
    const double exponent = std::floor(std::log10(wanted / base));
    for (double e = exponent;; ++e) {
        for (const double mantissa : whole ? std::span<const double>(wholeMantissas) : mantissas) {
            const double step = mantissa * std::pow(10.0, e);
            if (whole && step < 1) continue;
            if (step * base >= wanted) return step * base;
        }
    }
}

double niceMaximum(double value, Unit unit, bool whole) {
    if (!(value > 0) || !std::isfinite(value)) return whole ? 4 : 1;
    return 4 * niceStep(value, 4, unit, false);
}

double UnitTicker::getTickStep(const QCPRange& range) {
    m_step = niceStep(range.size(), m_intervals, m_unit, m_whole);
    // A step that ends exactly at the end of the axis labels that end too; 1, 2, 2.5 and 5 are preferred.
    for (const bool round : {true, false}) {
        for (const int n : {5, 4, 6, 3, 8, 7, 2}) {
            const double step = range.size() / n;
            if (n > m_intervals || (round && !isRound(step)) ||
                std::abs(niceStep(step, 1, m_unit, m_whole) - step) > 1e-9 * step)
                continue;
            m_step = step;
            return m_step;
        }
    }
    return m_step;
}

QString UnitTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return formatTick(tick, m_step, m_unit);
}

QVector<double> LogTicker::createTickVector(double, const QCPRange& range) {
    QVector<double> ticks;
    if (range.lower <= 0 || range.upper <= range.lower) return ticks;
    const int first = static_cast<int>(std::ceil(std::log10(range.lower) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(range.upper) + 1e-9));
    const int stride = std::max(1, (last - first + m_intervals - 1) / std::max(1, m_intervals));
    for (int e = first; e <= last; e += stride) ticks.append(std::pow(10.0, e));
    return ticks;
}

QString LogTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return formatTick(tick, tick, m_unit);
}

}  // namespace decodescope
