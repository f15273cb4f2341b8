// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>

#include <cmath>
#include <set>
#include <vector>

#include "engine/core/random.h"
#include "ui/chart/line_chart.h"

namespace decodescope::test {

/// Two lanes as in a race: the first rises with noise, the second stays low.
inline void fillRace(LineChart& chart, int n) {
    ChartAxis x;
    x.name = QStringLiteral("token");
    x.unit = Unit::count;
    x.whole = true;
    x.expected_max = n;
    chart.setXAxis(x);
    ChartAxis y;
    y.name = QStringLiteral("latency");
    y.unit = Unit::milliseconds;
    chart.setYAxis(y);
    chart.setTitle(QStringLiteral("Latency per token"));
    chart.addSeries(QStringLiteral("Naive"), ColorRef::lane(0));
    chart.addSeries(QStringLiteral("Cached"), ColorRef::lane(1));
    for (int i = 1; i <= n; ++i) {
        chart.append(
            0, i,
            2 + i * 20.0 / n + 0.3 * static_cast<double>(random_normal(1, 0, static_cast<std::uint64_t>(i))));
        chart.append(1, i,
                     0.4 + 0.02 * static_cast<double>(random_normal(1, 1, static_cast<std::uint64_t>(i))));
    }
}

/// Pixels of about the colour `color`.
inline int countColor(const QImage& image, const QColor& color, int tolerance = 40) {
    int n = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const QColor pixel = image.pixelColor(x, y);
            n += std::abs(pixel.red() - color.red()) + std::abs(pixel.green() - color.green()) +
                             std::abs(pixel.blue() - color.blue()) <=
                         tolerance
                     ? 1
                     : 0;
        }
    }
    return n;
}

}  // namespace decodescope::test
