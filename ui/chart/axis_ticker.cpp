// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/axis_ticker.h"

#include <algorithm>
#include <cmath>

#include "ui/chart/axis_scale.h"

namespace decodescope {

double UnitTicker::getTickStep(const QCPRange& range) {
    m_step = niceStep(range.size(), m_intervals, m_unit, m_whole);
    m_largest = range.upper;
    return m_step;
}

QString UnitTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return formatTick(tick, m_step, m_unit, m_largest);
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
    if (m_zeroAt > 0 && std::abs(tick - m_zeroAt) < m_zeroAt * 1e-6) return QStringLiteral("0");
    return formatTick(tick, tick, m_unit, tick);
}

double axisShare(const QCPAxis& axis, double value) {
    const QCPRange range = axis.range();
    return axis.scaleType() == QCPAxis::stLogarithmic
               ? std::log(value / range.lower) / std::log(range.upper / range.lower)
               : (value - range.lower) / range.size();
}

}  // namespace decodescope
