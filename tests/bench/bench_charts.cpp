// SPDX-License-Identifier: GPL-3.0-or-later
// Processor time of one update of each kind of chart, against its budget. Exits with 1 when one is over.
#include <QApplication>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <vector>

#include "engine/core/random.h"
#include "ui/chart/line_chart.h"
#include "ui/chart/matrix_chart.h"
#include "ui/theme/theme.h"

using namespace decodescope;

namespace {

constexpr double budgetMs = 10;
constexpr int points = 20000;
constexpr int side = 1024;

double noise(std::uint64_t stream, int i) {
    return static_cast<double>(random_normal(1, stream, static_cast<std::uint64_t>(i)));
}

/// Best of several, because only additions are possible. Processor time, so that a busy machine does not
/// count.
template <class Update>
bool measure(const char* what, QWidget& widget, Update update) {
    widget.show();
    QApplication::processEvents();
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 20; ++i) {
        const std::clock_t start = std::clock();
        update();
        flushCharts(&widget);
        QApplication::processEvents();
        best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    widget.hide();
    std::printf("%-52s %7.2f ms  (budget %.0f ms)%s\n", what, best, budgetMs,
                best > budgetMs ? "  OVER" : "");
    return best <= budgetMs;
}

}  // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    Theme theme;
    theme.setMode(Theme::Mode::Light);
    bool good = true;

    LineChart noisy;
    noisy.resize(1200, 400);
    noisy.addSeries(QStringLiteral("noise"), ColorRef::lane(0));
    for (int i = 0; i < points; ++i) noisy.append(0, i, 5 + noise(0, i));
    int next = points;
    good &= measure("line, 20,000 noisy points", noisy, [&] {
        noisy.append(0, next, 5);
        ++next;
    });

    LineChart smooth;
    smooth.resize(1200, 400);
    for (int lane = 0; lane < 2; ++lane) {
        smooth.addSeries(QStringLiteral("lane"), ColorRef::lane(lane));
        for (int i = 0; i < points / 2; ++i)
            smooth.append(lane, i, (lane + 1) * 1e-7 * i * i + 0.01 * noise(1, i));
    }
    next = points / 2;
    good &= measure("two smooth lines, 20,000 points together", smooth, [&] {
        for (int lane = 0; lane < 2; ++lane) smooth.append(lane, next, 20);
        ++next;
    });

    StackedChart stack;
    stack.resize(1200, 400);
    stack.setLayers({QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c"), QStringLiteral("d"),
                     QStringLiteral("e")},
                    {});
    const int rss = stack.addSeries(QStringLiteral("rss"), ColorRef{});
    for (int i = 0; i < points; ++i) {
        stack.appendLayers(i, std::vector<double>{10, 5 + 0.1 * noise(2, i), 3 + 0.1 * noise(3, i), 1,
                                                  2 + 0.1 * noise(4, i)});
        stack.append(rss, i, 30 + 0.1 * noise(5, i));
    }
    next = points;
    good &= measure("five stacked areas and a line, 20,000 points each", stack, [&] {
        stack.appendLayers(next, std::vector<double>{10, 5, 3, 1, 2});
        stack.append(rss, next, 30);
        ++next;
    });

    CellGrid mask;
    mask.resize(800, 700);
    mask.setKinds(
        {{QStringLiteral("visible"), ColorRef::cell(0)}, {QStringLiteral("future"), ColorRef::cell(1)}});
    std::vector<std::uint8_t> cells(std::size_t{side} * side);
    for (int i = 0; i < side * side; ++i) cells[static_cast<std::size_t>(i)] = i % side > i / side ? 1 : 0;
    good &= measure("cell grid, 1024 x 1024 new cells", mask, [&] { mask.setCells(side, side, cells); });
    std::vector<std::uint8_t> few(64 * 64);
    good &= measure("cell grid, 64 x 64 single cells", mask, [&] { mask.setCells(64, 64, few); });

    HeatMap heat;
    heat.resize(800, 700);
    std::vector<float> values(std::size_t{side} * side);
    for (int i = 0; i < side * side; ++i)
        values[static_cast<std::size_t>(i)] = static_cast<float>(std::abs(noise(6, i)));
    good &= measure("heat map, 1024 x 1024 new values", heat, [&] { heat.setValues(side, side, values); });
    return good ? 0 : 1;
}
