// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <cmath>
#include <limits>

#include "tests/patience.h"
#include "tests/ui/chart/chart_data.h"
#include "ui/chart/chart_link.h"
#include "ui/chart/export.h"
#include "ui/chart/line_chart.h"

using namespace decodescope;

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

void wheel(QWidget& widget, QPointF at, int turns) {
    QWheelEvent event(at, widget.mapToGlobal(at), {}, QPoint(0, 120 * turns), Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget, &event);
}

}  // namespace

class LineChartTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void flushDrawsOnceAndOnlyWhenVisible();
    void yBeginsAtZeroAndOnlyGrows();
    void expectedRangeStaysPut();
    void plotDoesNotMoveWhileLabelsGrow();
    void setPointReplaces();
    void bandDoesNotFlattenCurves();
    void logAxisKeepsZeros();
    void stackAddsUp();
    void tableHasUnitsAndGaps();
    void visibleRangeOnly();
    void zoomPanReset();
    void keyboardReadsValues();
    void linkedChartsMoveTogether();
    void linkedChartsOfAPageShareMargins();
    void linkOutlivedByCharts();
    void scalesCanBeSwitched();
    void stepOfSeveralTokensAnswersForAll();
    void legendTogglesSeriesAndItsBand();
    void themesDiffer();
    void emptyChartSaysSo();
    void menuOffersEverything();
    void dataOfAnySizeDraws_data();
    void dataOfAnySizeDraws();
    void denseCurvesKeepTheirPeaks();
    void replotStaysFast();
};

void LineChartTest::initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    QApplication::setPalette(themePalette(false));
}

void LineChartTest::flushDrawsOnceAndOnlyWhenVisible() {
    LineChart chart;
    test::fillRace(chart, 100);
    QVERIFY(!chart.flush());
    QVERIFY(chart.isDirty());
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart, test::patience));
    chart.flush();
    QVERIFY(!chart.isDirty());
    QVERIFY(!chart.flush());
    chart.append(0, 101, 5);
    QCOMPARE(flushCharts(&chart), 1);
    QCOMPARE(flushCharts(&chart), 0);
    chart.hide();
    chart.append(0, 102, 5);
    QVERIFY(!chart.flush());
    chart.show();
    QVERIFY(!chart.isDirty());
}

void LineChartTest::yBeginsAtZeroAndOnlyGrows() {
    LineChart chart;
    chart.resize(600, 300);
    chart.addSeries(QStringLiteral("a"), ColorRef::lane(0));
    chart.show();
    double last = 0;
    int changes = 0;
    for (int i = 0; i < 400; ++i) {
        chart.append(0, i, 1 + i * 0.25);
        chart.flush();
        QCOMPARE(chart.visibleY().first, 0.0);
        const double top = chart.visibleY().second;
        QVERIFY(top >= 1 + i * 0.25);
        QVERIFY(top >= last);
        changes += top > last ? 1 : 0;
        last = top;
    }
    QVERIFY2(changes < 30, qPrintable(QString::number(changes)));
    chart.setPoint(0, 399, 399, 1);
    chart.flush();
    QCOMPARE(chart.visibleY().second, last);
    chart.clear();
    chart.append(0, 0, 1);
    chart.flush();
    QVERIFY(chart.visibleY().second < last);
}

void LineChartTest::expectedRangeStaysPut() {
    LineChart chart;
    test::fillRace(chart, 400);
    chart.clear();
    chart.show();
    for (int i = 1; i <= 400; ++i) {
        chart.append(0, i, 1);
        chart.flush();
        QCOMPARE(chart.visibleX(), std::pair(0.0, 400.0));
    }
    chart.append(0, 401, 1);
    chart.flush();
    QVERIFY(chart.visibleX().second > 401);
}

void LineChartTest::plotDoesNotMoveWhileLabelsGrow() {
    LineChart chart;
    chart.resize(600, 300);
    chart.addSeries(QStringLiteral("a"), ColorRef::lane(0));
    ChartAxis y;
    y.unit = Unit::milliseconds;
    chart.setYAxis(y);
    chart.append(0, 0, 1);
    chart.append(0, 1, 2);
    chart.show();
    chart.flush();
    const auto leftEdge = [&] {
        // The first pixel of a grid line in the middle of the plot.
        const QImage image = chart.grab().toImage();
        const QColor grid = themeColors(false).grid;
        int left = image.width();
        for (int row = 0; row < image.height(); ++row) {
            for (int x = 8; x < left; ++x) {
                if (image.pixelColor(x, row) == grid && image.pixelColor(x + 1, row) == grid) left = x;
            }
        }
        return left;
    };
    const int before = leftEdge();
    QVERIFY(before < 200);
    chart.append(0, 2, 4321.0);
    chart.flush();
    QCOMPARE(leftEdge(), before);
}

void LineChartTest::setPointReplaces() {
    LineChart chart;
    const int series = chart.addSeries(QStringLiteral("a"), ColorRef::lane(0));
    chart.setPoint(series, 0, 1, 10);
    chart.setPoint(series, 1, 2, 20);
    chart.show();
    chart.flush();
    chart.setPoint(series, 0, 1, 30);
    QCOMPARE(chart.pointCount(series), 2);
    QCOMPARE(toCsv(chart.table(DataRange::all)), QByteArray("x,a\r\n1,30\r\n2,20\r\n"));
    chart.flush();
    QVERIFY(chart.visibleY().second >= 30);
}

void LineChartTest::bandDoesNotFlattenCurves() {
    LineChart chart;
    const std::vector<double> x{1, 2, 3};
    const std::vector<double> y{10, 11, 12};
    const int band = chart.addSeries({}, ColorRef::lane(0), SeriesKind::range);
    chart.setRange(band, x, std::vector<double>{9, 10, 11}, std::vector<double>{11, 900, 13});
    chart.setData(chart.addSeries(QStringLiteral("a"), ColorRef::lane(0)), x, y);
    chart.show();
    chart.flush();
    QVERIFY(chart.visibleY().second <= 30);
    QCOMPARE(chart.table(DataRange::all).columns,
             QStringList({QStringLiteral("x"), QStringLiteral("a_low"), QStringLiteral("a_high"),
                          QStringLiteral("a")}));
    QCOMPARE(chart.table(DataRange::all).rows[1].join(QLatin1Char(' ')), QStringLiteral("2 10 900 11"));
    QCOMPARE(chart.legend().size(), 1);
}

void LineChartTest::logAxisKeepsZeros() {
    LineChart chart;
    ChartAxis y;
    y.unit = Unit::error;
    y.log = true;
    chart.setYAxis(y);
    chart.addSeries(QStringLiteral("a"), ColorRef::lane(0), SeriesKind::points);
    chart.append(0, 1, 2e-6);
    chart.append(0, 2, 3e-5);
    chart.show();
    chart.flush();
    QVERIFY(chart.visibleY().first < 2e-6 && chart.visibleY().first > 1e-7);
    QVERIFY(chart.visibleY().second > 3e-5);
    chart.append(0, 3, 0);
    chart.flush();
    QVERIFY(chart.visibleY().first < 1e-7);
    QCOMPARE(chart.table(DataRange::all).rows[2].join(QLatin1Char(' ')), QStringLiteral("3 0"));
}

void LineChartTest::stackAddsUp() {
    StackedChart chart;
    chart.resize(500, 300);
    chart.setLayers({QStringLiteral("weights"), QStringLiteral("kv")}, {});
    for (int i = 0; i < 10; ++i) chart.appendLayers(i, std::vector<double>{30, i * 2.0});
    const int rss = chart.addSeries(QStringLiteral("rss"), ColorRef{});
    chart.append(rss, 0, 100);
    chart.show();
    chart.flush();
    QVERIFY(chart.visibleY().second >= 100);
    chart.setSeriesShown(rss, false);
    QVERIFY(chart.visibleY().second >= 48 && chart.visibleY().second < 100);
    chart.setSeriesShown(1, false);
    QVERIFY(chart.visibleY().second >= 30 && chart.visibleY().second < 48);
    // The data are each owner's own bytes, not the sums that are drawn.
    QCOMPARE(chart.table(DataRange::all).rows[9].join(QLatin1Char(' ')), QStringLiteral("9 30 18 "));
}

void LineChartTest::tableHasUnitsAndGaps() {
    LineChart chart;
    test::fillRace(chart, 3);
    chart.clear();
    chart.append(0, 1, 1.5);
    chart.append(0, 2, notANumber);
    chart.append(1, 2, 0.25);
    QCOMPARE(toCsv(chart.table(DataRange::all)),
             QByteArray("token,naive_ms,cached_ms\r\n1,1.5,\r\n2,,0.25\r\n"));
}

void LineChartTest::visibleRangeOnly() {
    LineChart chart;
    test::fillRace(chart, 100);
    chart.show();
    chart.flush();
    QCOMPARE(chart.table(DataRange::visible).rows.size(), std::size_t{100});
    chart.setVisibleX(10, 19.5);
    QCOMPARE(chart.table(DataRange::visible).rows.size(), std::size_t{10});
    QCOMPARE(chart.table(DataRange::visible).rows.front().front(), QStringLiteral("10"));
    QCOMPARE(chart.table(DataRange::all).rows.size(), std::size_t{100});
}

void LineChartTest::zoomPanReset() {
    LineChart chart;
    chart.resize(800, 400);
    test::fillRace(chart, 400);
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart, test::patience));
    chart.flush();
    const QPoint middle(400, 200);
    QVERIFY(!chart.isViewChanged());
    wheel(chart, middle, 3);
    QVERIFY(chart.isViewChanged());
    const auto zoomed = chart.visibleX();
    QVERIFY(zoomed.first > 0 && zoomed.second < 400);
    chart.append(0, 401, 50);  // new data do not move the view
    chart.flush();
    QCOMPARE(chart.visibleX(), zoomed);
    QTest::mousePress(&chart, Qt::LeftButton, {}, middle);
    QTest::mouseMove(&chart, middle + QPoint(60, 0));
    QTest::mouseRelease(&chart, Qt::LeftButton, {}, middle + QPoint(60, 0));
    QVERIFY(chart.visibleX().first < zoomed.first);
    QTest::keyClick(&chart, Qt::Key_Home);
    QVERIFY(!chart.isViewChanged());
    QCOMPARE(chart.visibleX().first, 0.0);
    wheel(chart, middle, 3);
    QTest::mouseDClick(&chart, Qt::LeftButton, {}, middle);
    QVERIFY(!chart.isViewChanged());
    wheel(chart, middle, -3);  // there is nothing beyond everything
    QVERIFY(!chart.isViewChanged());
    for (int i = 0; i < 200; ++i) wheel(chart, middle, 1);
    QVERIFY(chart.visibleX().second - chart.visibleX().first >= 1);
}

void LineChartTest::keyboardReadsValues() {
    LineChart chart;
    test::fillRace(chart, 10);
    chart.clear();
    chart.append(0, 1, 1.5);
    chart.append(0, 2, 2.5);
    chart.append(1, 2, 0.25);
    chart.show();
    chart.flush();
    QSignalSpy hovered(&chart, &LineChart::hovered);
    QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(hovered.last().first().toDouble(), 2.0);
    const QString text = chart.accessibleDescription().replace(QChar(QChar::Nbsp), QLatin1Char(' '));
    QCOMPARE(text, QStringLiteral("token 2, Naive 2.50 ms, Cached 0.250 ms"));
    QTest::keyClick(&chart, Qt::Key_Escape);
    QVERIFY(std::isnan(hovered.last().first().toDouble()));
}

void LineChartTest::linkedChartsMoveTogether() {
    QWidget page;
    ChartLink link;
    LineChart a(&page);
    LineChart b(&page);
    LineChart time(&page);
    for (LineChart* chart : {&a, &b, &time}) {
        chart->resize(600, 300);
        test::fillRace(*chart, 400);
        chart->setLink(&link);
    }
    ChartAxis seconds;
    seconds.name = QStringLiteral("time");
    time.setXAxis(seconds);
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page, test::patience));
    flushCharts(&page);
    const auto all = time.visibleX();
    wheel(a, QPoint(300, 150), 3);
    QVERIFY(a.visibleX().first > 0 && a.visibleX().second < 400);
    QCOMPARE(b.visibleX(), a.visibleX());
    QVERIFY(b.isViewChanged());
    QCOMPARE(time.visibleX(), all);  // another axis
    QTest::keyClick(&b, Qt::Key_A);
    QCOMPARE(b.visibleX(), a.visibleX());
    const auto panned = a.visibleX();
    QTest::keyClick(&b, Qt::Key_D);
    QVERIFY(a.visibleX().first > panned.first);
    const double width = a.visibleX().second - a.visibleX().first;
    QTest::keyClick(&b, Qt::Key_W);
    QVERIFY(a.visibleX().second - a.visibleX().first < width);
    QVERIFY(b.accessibleDescription().startsWith(QStringLiteral("token from ")));
    QTest::keyClick(&a, Qt::Key_S);
    // The y axes go on growing while x is zoomed, and new data of a kept view do not move it.
    const auto kept = a.visibleX();
    b.append(0, 401, 5000);
    a.clear();
    a.append(0, 200, 3);
    flushCharts(&page);
    QCOMPARE(a.visibleX(), kept);
    QVERIFY(b.visibleY().second >= 5000);
    // Values under the crosshair are read in all of them.
    QTest::keyClick(&b, Qt::Key_Right);
    QVERIFY(b.crosshairText().contains(QStringLiteral("Cached")));
    QCOMPARE(a.crosshairText().section(QLatin1Char(','), 0, 0), QStringLiteral("token 200"));
    QVERIFY(time.crosshairText().isEmpty());
    QTest::keyClick(&a, Qt::Key_Home);
    QCOMPARE(b.visibleX().first, 0.0);
    QVERIFY(!b.isViewChanged());
    wheel(a, QPoint(300, 150), 3);
    link.reset();
    QVERIFY(!a.isViewChanged() && !b.isViewChanged());
    QVERIFY(b.crosshairText().isEmpty());
}

void LineChartTest::linkedChartsOfAPageShareMargins() {
    QWidget page;
    ChartLink link;
    LineChart errors(&page);
    LineChart bytes(&page);
    LineChart elsewhere;
    ChartAxis y;
    y.unit = Unit::bytes;
    bytes.setYAxis(y);
    QVERIFY(errors.plotLeft() < bytes.plotLeft());
    for (LineChart* chart : {&errors, &bytes, &elsewhere}) chart->setLink(&link);
    QCOMPARE(errors.plotLeft(), bytes.plotLeft());
    QVERIFY(elsewhere.plotLeft() < bytes.plotLeft());
    bytes.setYAxis({});
    QCOMPARE(errors.plotLeft(), elsewhere.plotLeft());
}

void LineChartTest::linkOutlivedByCharts() {
    LineChart chart;
    test::fillRace(chart, 100);
    {
        ChartLink link;
        chart.setLink(&link);
        chart.setVisibleX(10, 20);
    }
    chart.show();
    chart.flush();
    QVERIFY(!chart.isViewChanged());
    chart.setVisibleX(10, 20);
    QVERIFY(chart.isViewChanged());
}

void LineChartTest::scalesCanBeSwitched() {
    ChartLink link;
    LineChart chart;
    LineChart other;
    for (LineChart* each : {&chart, &other}) {
        each->resize(600, 300);
        test::fillRace(*each, 400);
        each->setLink(&link);
        each->show();
        each->flush();
    }
    QTest::keyClick(&chart, Qt::Key_L);
    QVERIFY(chart.yAxis().log && !other.yAxis().log);
    QVERIFY(chart.visibleY().first > 0);
    ChartAxis y = chart.yAxis();
    y.log = false;
    chart.setYAxis(y);  // another run sets the chart up again
    QVERIFY(chart.yAxis().log);
    QTest::keyClick(&chart, Qt::Key_L, Qt::ShiftModifier);
    QVERIFY(chart.xAxis().log && other.xAxis().log);
    QVERIFY(other.visibleX().first > 0);
    wheel(other, QPoint(300, 150), 2);
    QCOMPARE(chart.visibleX(), other.visibleX());
    const auto zoomed = chart.visibleX();
    QTest::keyClick(&chart, Qt::Key_A);
    // On a log scale a way in pixels is a factor.
    const auto panned = chart.visibleX();
    QVERIFY(panned.first < zoomed.first);
    QVERIFY(std::abs(panned.second / panned.first / (zoomed.second / zoomed.first) - 1) < 1e-6);
    QVERIFY(!toSvg(chart).isEmpty());
    QTest::keyClick(&chart, Qt::Key_L, Qt::ShiftModifier);
    QVERIFY(!other.xAxis().log);
    StackedChart stack;
    stack.setLayers({QStringLiteral("weights")}, {});
    stack.setLogY(true);
    QVERIFY(!stack.yAxis().log);
}

void LineChartTest::stepOfSeveralTokensAnswersForAll() {
    LineChart chart;
    test::fillRace(chart, 12);
    chart.clear();
    for (const int x : {1, 2, 3, 4, 5, 6}) chart.append(0, x, x);
    for (const int x : {3, 6, 9}) chart.append(1, x, 10 * x);
    chart.show();
    chart.flush();
    const auto at = [&](double x) {
        chart.setCrosshair(x);
        return chart.crosshairText().replace(QChar(QChar::Nbsp), QLatin1Char(' '));
    };
    QCOMPARE(at(5), QStringLiteral("token 5, Naive 5.00 ms, Cached 60.0 ms"));
    QCOMPARE(at(6), QStringLiteral("token 6, Naive 6.00 ms, Cached 60.0 ms"));
    // Before its first step a lane has nothing to say.
    QCOMPARE(at(2), QStringLiteral("token 2, Naive 2.00 ms"));
}

void LineChartTest::legendTogglesSeriesAndItsBand() {
    LineChart chart;
    chart.resize(700, 300);
    chart.setTitle(QStringLiteral("T"));
    const std::vector<double> x{1, 2};
    const std::vector<double> y{10, 11};
    for (int lane = 0; lane < 2; ++lane) {
        chart.setRange(chart.addSeries({}, ColorRef::lane(lane), SeriesKind::range), x, y, y);
        chart.setData(chart.addSeries(QStringLiteral("lane %1").arg(lane), ColorRef::lane(lane)), x, y);
    }
    chart.show();
    chart.flush();
    const QColor blue = themeColors(false).lanes[1];
    QVERIFY(test::countColor(chart.grab().toImage(), blue) > 50);
    // The legend stands at the right end of the title line; its last entry ends there.
    for (int px = chart.width() - 12; px > chart.width() / 2 && chart.legend()[1].shown; px -= 5) {
        QTest::mouseClick(&chart, Qt::LeftButton, {}, QPoint(px, 18));
        if (!chart.legend()[0].shown) QFAIL("the wrong entry answered");
    }
    QVERIFY(!chart.legend()[1].shown);
    QVERIFY(test::countColor(chart.grab().toImage(), blue) < 10);
}

void LineChartTest::themesDiffer() {
    LineChart chart;
    chart.resize(600, 300);
    test::fillRace(chart, 200);
    chart.show();
    chart.flush();
    for (const bool dark : {true, false}) {
        QApplication::setPalette(themePalette(dark));
        QApplication::processEvents();
        const ThemeColors& colors = themeColors(dark);
        const QImage image = chart.grab().toImage();
        QCOMPARE(image.pixelColor(image.width() / 2, image.height() - 5), colors.card);
        QVERIFY(test::countColor(image, colors.lanes[0]) > 100);
        QVERIFY(test::countColor(image, colors.lanes[1]) > 100);
        QCOMPARE(test::countColor(image, themeColors(!dark).card, 0), 0);
    }
}

void LineChartTest::emptyChartSaysSo() {
    LineChart chart;
    chart.resize(600, 300);
    const QImage without = chart.grab().toImage();
    chart.setEmptyText(QStringLiteral("Press Run"));
    chart.show();
    chart.flush();
    QVERIFY(chart.isEmpty());
    QVERIFY(chart.grab().toImage() != without);
    QVERIFY(chart.table(DataRange::all).rows.empty());
}

void LineChartTest::menuOffersEverything() {
    LineChart chart;
    test::fillRace(chart, 20);
    chart.show();
    chart.flush();
    QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(50, 50), chart.mapToGlobal(QPoint(50, 50)));
    QApplication::sendEvent(&chart, &event);
    auto* menu = chart.findChild<QMenu*>(QStringLiteral("chartMenu"));
    QVERIFY(menu != nullptr);
    for (const char* name : {"copyImage", "copyData", "copyVisible", "savePng1", "savePng4", "saveSvg",
                             "savePdf", "csvVisible", "csvAll", "resetView", "logY", "logX"}) {
        QVERIFY2(menu->findChild<QAction*>(QLatin1String(name)) != nullptr, name);
    }
    QVERIFY(!menu->findChild<QAction*>(QStringLiteral("csvVisible"))->isEnabled());
    QSignalSpy notice(&chart, &Chart::notice);
    menu->findChild<QAction*>(QStringLiteral("copyData"))->trigger();
    QCOMPARE(notice.count(), 1);
    QVERIFY(
        QGuiApplication::clipboard()->text().startsWith(QStringLiteral("token\tnaive_ms\tcached_ms\n1\t")));
    menu->findChild<QAction*>(QStringLiteral("copyImage"))->trigger();
    QVERIFY(!QGuiApplication::clipboard()->image().isNull());
    menu->close();
}

void LineChartTest::dataOfAnySizeDraws_data() {
    QTest::addColumn<std::vector<double>>("y");
    QTest::newRow("one point") << std::vector<double>{5};
    QTest::newRow("all zero") << std::vector<double>{0, 0, 0};
    QTest::newRow("not a number") << std::vector<double>{notANumber, notANumber};
    QTest::newRow("infinite") << std::vector<double>{1, std::numeric_limits<double>::infinity(), 2};
    QTest::newRow("huge") << std::vector<double>{1e300, 2e300};
    QTest::newRow("tiny") << std::vector<double>{1e-300, 2e-300};
    QTest::newRow("negative") << std::vector<double>{-5, -1};
}

void LineChartTest::dataOfAnySizeDraws() {
    QFETCH(std::vector<double>, y);
    for (const bool log : {false, true}) {
        for (const SeriesKind kind :
             {SeriesKind::line, SeriesKind::points, SeriesKind::area, SeriesKind::dashed_line}) {
            LineChart chart;
            ChartAxis axis;
            axis.log = log;
            chart.setYAxis(axis);
            chart.addSeries(QStringLiteral("a"), ColorRef::lane(0), kind);
            for (std::size_t i = 0; i < y.size(); ++i) chart.append(0, static_cast<double>(i), y[i]);
            chart.show();
            chart.flush();
            QVERIFY(chart.visibleY().second > chart.visibleY().first);
            QVERIFY(std::isfinite(chart.visibleY().second));
            QVERIFY(!toSvg(chart).isEmpty());
        }
    }
}

void LineChartTest::denseCurvesKeepTheirPeaks() {
    // One point in 40,000 stands out, between pixels; a gap of one point stays a gap.
    for (const SeriesKind kind : {SeriesKind::line, SeriesKind::area}) {
        LineChart chart;
        chart.resize(500, 300);
        chart.addSeries(QStringLiteral("a"), ColorRef::lane(0), kind);
        for (int i = 0; i < 40000; ++i) chart.append(0, i, i == 23456 ? 100 : 10);
        chart.show();
        chart.flush();
        const QImage image = chart.grab().toImage();
        const QColor lane = themeColors(false).lanes[0];
        int top = image.height();
        for (int y = 0; y < image.height() && top == image.height(); ++y) {
            if (test::countColor(image.copy(0, y, image.width(), 1), lane, 160) > 0) top = y;
        }
        // The plot's upper end is 100 or a little more; the flat part lies in its lowest tenth.
        QVERIFY2(top < 60, qPrintable(QString::number(top)));
    }
}

// The budget is 10 ms at 20,000 points (measured by tests/bench). This limit only notices when drawing falls
// off the cliff of wide pens, where it takes seconds; sanitizers and busy machines stay well below it.
void LineChartTest::replotStaysFast() {
    LineChart chart;
    chart.resize(1200, 400);
    chart.addSeries(QStringLiteral("a"), ColorRef::lane(0));
    for (int i = 0; i < 20000; ++i) {
        chart.append(0, i, 5 + static_cast<double>(random_normal(1, 0, static_cast<std::uint64_t>(i))));
    }
    chart.show();
    chart.flush();
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 5; ++i) {
        chart.append(0, 20000 + i, 5);
        chart.flush();
        best = std::min(best, chart.lastReplotMilliseconds());
    }
    QVERIFY2(best < 1000, qPrintable(QString::number(best)));
}

QTEST_MAIN(LineChartTest)
#include "tst_line_chart.moc"
