// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <cmath>

#include "tests/patience.h"
#include "tests/ui/chart/chart_data.h"
#include "ui/chart/matrix_chart.h"

using namespace decodescope;

namespace {

std::vector<CellKind> kinds() {
    return {{QStringLiteral("visible"), ColorRef::cell(0)}, {QStringLiteral("future"), ColorRef::cell(1)}};
}

std::vector<std::uint8_t> causal(int n) {
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
            cells[static_cast<std::size_t>(row * n + column)] = column > row ? 1 : 0;
        }
    }
    return cells;
}

}  // namespace

class MatrixChartTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void maskIsDrawn_data();
    void maskIsDrawn();
    void describesCells();
    void selectionByMouseAndKeys();
    void zoomShowsSingleCells();
    void tableOfKindsAndTexts();
    void textsFollowTheShape();
    void heatScale();
    void heatWithoutNumbers();
    void indexOutsideIsIgnored();
    void themes();
    void nothingIsAveragedAway_data();
    void nothingIsAveragedAway();
};

void MatrixChartTest::initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    QApplication::setPalette(themePalette(false));
}

void MatrixChartTest::maskIsDrawn_data() {
    QTest::addColumn<int>("n");
    for (const int n : {1, 5, 16, 64, 65, 300, 1024}) QTest::addRow("%d", n) << n;
}

void MatrixChartTest::maskIsDrawn() {
    QFETCH(int, n);
    CellGrid grid;
    grid.resize(500, 500);
    grid.setKinds(kinds());
    grid.setCells(n, n, causal(n));
    grid.show();
    const QImage image = grid.grab().toImage();
    const double visible = test::countColor(image, themeColors(false).cells[0]);
    const double future = test::countColor(image, themeColors(false).cells[1], 6);
    QVERIFY(visible > 100);
    // Half of the cells and half of the diagonal; gaps, rounded corners and averaging take their share.
    if (n > 1)
        QVERIFY2(std::abs(visible / (visible + future) - (n + 1.0) / (2.0 * n)) < 0.07,
                 qPrintable(QStringLiteral("%1 and %2").arg(visible).arg(future)));
}

void MatrixChartTest::describesCells() {
    CellGrid grid;
    grid.setKinds(kinds());
    grid.setNames(QStringLiteral("query"), QStringLiteral("key"));
    grid.setFirstNumbers(7, 0);
    grid.setCells(2, 2, {0, 1, 0, 0});
    QCOMPARE(grid.describeCell(0, 1), QStringLiteral("query 7, key 1: future"));
    grid.setRowLabels({QStringLiteral("query a"), QStringLiteral("query b")});
    QCOMPARE(grid.describeCell(1, 0), QStringLiteral("query b, key 0: visible"));
    grid.setTexts({QStringLiteral("4"), {}, {}, {}}, {QStringLiteral("0"), {}, {}, {}});
    QCOMPARE(grid.describeCell(0, 0), QStringLiteral("query a, key 0: visible 4, expected 0"));
    grid.setCellDescriber([](int row, int column) { return QStringLiteral("%1/%2").arg(row).arg(column); });
    QCOMPARE(grid.describeCell(1, 1), QStringLiteral("1/1"));
}

void MatrixChartTest::selectionByMouseAndKeys() {
    CellGrid grid;
    grid.resize(400, 400);
    grid.setKinds(kinds());
    grid.setCells(8, 8, causal(8));
    grid.show();
    QVERIFY(QTest::qWaitForWindowExposed(&grid, test::patience));
    QSignalSpy selected(&grid, &MatrixChart::cellSelected);
    QSignalSpy hovered(&grid, &MatrixChart::cellHovered);
    QTest::mouseMove(&grid, QPoint(100, 100));
    QCOMPARE(hovered.count(), 1);
    QTest::mouseClick(&grid, Qt::LeftButton, {}, QPoint(100, 100));
    QCOMPARE(selected.count(), 1);
    QCOMPARE(selected.last(), hovered.first());
    const QPoint at = *grid.selectedCell();
    QTest::keyClick(&grid, Qt::Key_Right);
    QTest::keyClick(&grid, Qt::Key_Down);
    QCOMPARE(grid.selectedCell(), std::optional(at + QPoint(1, 1)));
    for (int i = 0; i < 20; ++i) QTest::keyClick(&grid, Qt::Key_Right);
    QCOMPARE(grid.selectedCell()->x(), 7);
    grid.setSelectedCell(-1, -1);
    QVERIFY(!grid.selectedCell());
    grid.setSelectedCell(7, 7);
    grid.setCells(4, 4, causal(4));
    QVERIFY(!grid.selectedCell());
}

void MatrixChartTest::zoomShowsSingleCells() {
    CellGrid grid;
    grid.resize(500, 500);
    grid.setKinds(kinds());
    grid.setCells(512, 512, causal(512));
    grid.show();
    QVERIFY(QTest::qWaitForWindowExposed(&grid, test::patience));
    const QPointF at(240, 240);
    for (int i = 0; i < 60; ++i) {
        QWheelEvent event(at, grid.mapToGlobal(at), {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&grid, &event);
    }
    QVERIFY(grid.isViewChanged());
    const Table visible = grid.table(DataRange::visible);
    QVERIFY(visible.rows.size() >= 4 && visible.rows.size() < 8);
    // Gaps between cells show the card.
    QVERIFY(test::countColor(grid.grab().toImage(), themeColors(false).card, 0) > 500);
    QTest::keyClick(&grid, Qt::Key_Home);
    QVERIFY(!grid.isViewChanged());
    QCOMPARE(grid.table(DataRange::visible).rows.size(), std::size_t{512});
}

void MatrixChartTest::tableOfKindsAndTexts() {
    CellGrid grid;
    grid.setKinds(kinds());
    grid.setNames(QStringLiteral("query"), QStringLiteral("key"));
    grid.setCells(2, 2, {0, 1, 0, 0});
    QCOMPARE(toCsv(grid.table(DataRange::all)),
             QByteArray("query,key_0,key_1\r\n0,visible,future\r\n1,visible,visible\r\n"));
    grid.setTexts({QStringLiteral("4"), {}, {}, {}});
    QCOMPARE(grid.table(DataRange::all).rows[0].join(QLatin1Char(' ')), QStringLiteral("0 4 future"));
}

void MatrixChartTest::textsFollowTheShape() {
    CellGrid grid;
    grid.setKinds(kinds());
    grid.setCells(1, 2, {0, 0});
    grid.setTexts({QStringLiteral("a"), QStringLiteral("b")});
    grid.setCells(1, 2, {1, 1});
    QCOMPARE(grid.table(DataRange::all).rows[0].last(), QStringLiteral("b"));
    grid.setCells(2, 1, {1, 1});
    QCOMPARE(grid.table(DataRange::all).rows[1].last(), QStringLiteral("future"));
}

void MatrixChartTest::heatScale() {
    HeatMap map;
    map.resize(400, 300);
    map.setNames(QStringLiteral("query"), QStringLiteral("key"));
    map.setValueName(QStringLiteral("weight"));
    map.setValues(2, 2, {0.0f, 0.25f, 0.5f, 2.0f});
    QCOMPARE(map.scaleLow(), 0.0);
    QCOMPARE(map.scaleHigh(), 2.0);
    QCOMPARE(map.describeCell(0, 1), QStringLiteral("query 0, key 1: weight 0.250"));
    map.setScale(0, 1);
    QCOMPARE(map.scaleHigh(), 1.0);
    map.show();
    const QImage image = map.grab().toImage();
    QVERIFY(test::countColor(image, themeColors(false).heat_high, 6) > 50);  // above the scale is its end
    QVERIFY(test::countColor(image, themeColors(false).heat_low, 6) > 50);
    map.setAutomaticScale();
    QCOMPARE(map.scaleHigh(), 2.0);
}

void MatrixChartTest::heatWithoutNumbers() {
    HeatMap map;
    map.setValues(1, 3, {std::nanf(""), 1.0f, -1.0f});
    QCOMPARE(map.describeCell(0, 0), QStringLiteral("0, 0: no value"));
    QCOMPARE(toCsv(map.table(DataRange::all)), QByteArray("row,column_0,column_1,column_2\r\n0,,1,-1\r\n"));
    QCOMPARE(map.scaleLow(), -1.0);
    map.setValues(2, 2, {1.0f});  // too few: the rest has no value
    QCOMPARE(map.table(DataRange::all).rows[1].join(QLatin1Char(',')), QStringLiteral("1,,"));
    map.setValues(0, 0, {});
    QVERIFY(map.isEmpty());
    QVERIFY(!map.grab().isNull());
}

void MatrixChartTest::indexOutsideIsIgnored() {
    CellGrid grid;
    grid.setKinds(kinds());
    grid.setCells(2, 2, {0, 0, 0, 9});
    grid.setCell(5, 5, 1);
    grid.setCell(-1, 0, 1);
    QCOMPARE(grid.table(DataRange::all).rows[1].join(QLatin1Char(',')), QStringLiteral("1,visible,"));
    QVERIFY(!grid.grab().isNull());
}

void MatrixChartTest::themes() {
    CellGrid grid;
    grid.resize(400, 400);
    grid.setKinds(kinds());
    for (const int n : {8, 200}) {
        grid.setCells(n, n, causal(n));
        grid.show();
        for (const bool dark : {true, false}) {
            QApplication::setPalette(themePalette(dark));
            QApplication::processEvents();
            const QImage image = grid.grab().toImage();
            QVERIFY(test::countColor(image, themeColors(dark).cells[0], 6) > 500);
            QCOMPARE(test::countColor(image, themeColors(!dark).cells[0], 0), 0);
        }
    }
}

void MatrixChartTest::nothingIsAveragedAway_data() {
    QTest::addColumn<int>("n");
    QTest::addColumn<QSize>("size");
    for (const int n : {700, 1024, 3000}) {
        for (const QSize size : {QSize(420, 400), QSize(231, 317)})
            QTest::addRow("%d cells on %d x %d", n, size.width(), size.height()) << n << size;
    }
}

// However many cells share a pixel, one that is not zero shows, in its own colour.
void MatrixChartTest::nothingIsAveragedAway() {
    QFETCH(int, n);
    QFETCH(QSize, size);
    const auto cells = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    HeatMap map;
    map.resize(size);
    map.show();
    map.setScale(0, 1);
    CellGrid grid;
    grid.resize(size);
    grid.show();
    // The first kind is everywhere; of the others the one with the higher rank wins.
    std::vector<CellKind> few = kinds();
    few.push_back({QStringLiteral("padding"), ColorRef::cell(2)});
    few[2].rank = 1;
    few[1].rank = 2;
    grid.setKinds(few);
    for (const std::size_t at : {std::size_t{0}, cells / 3 + 17, cells / 2 + 1, cells - 1}) {
        std::vector<float> values(cells, 0.0f);
        values[at] = 1.0f;
        map.setValues(n, n, values);
        const QImage heat = map.grab().toImage();
        // One pixel of the grid, and the end of the scale below it.
        QVERIFY(test::countColor(heat, themeColors(false).heat_high, 2) > 0);
        values[at] = 0.0f;
        map.setValues(n, n, values);
        QVERIFY(test::countColor(map.grab().toImage(), themeColors(false).heat_high, 2) <
                test::countColor(heat, themeColors(false).heat_high, 2));

        std::vector<std::uint8_t> mask(cells, 0);
        mask[at] = 1;
        mask[at == 0 ? 1 : at - 1] = 2;
        grid.setCells(n, n, mask);
        const int before = test::countColor(grid.grab().toImage(), themeColors(false).color(few[1].color), 2);
        mask[at] = 0;
        grid.setCells(n, n, mask);
        QVERIFY(test::countColor(grid.grab().toImage(), themeColors(false).color(few[1].color), 2) < before);
    }
}

QTEST_MAIN(MatrixChartTest)
#include "tst_matrix_chart.moc"
