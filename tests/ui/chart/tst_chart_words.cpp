// SPDX-License-Identifier: GPL-3.0-or-later
// What charts say in words, and who hears it.
#include <QAccessible>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QMenu>
#include <QTest>

#include <limits>

#include "tests/patience.h"
#include "ui/chart/bar_chart.h"
#include "ui/chart/line_chart.h"
#include "ui/chart/matrix_chart.h"
#include "ui/chart/small_multiples.h"

using namespace decodescope;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

QString plain(QString text) {
    return text.replace(QChar::Nbsp, ' ');
}

void setAxes(LineChart& chart) {
    ChartAxis x;
    x.name = "token";
    x.unit = Unit::count;
    chart.setXAxis(x);
    ChartAxis y;
    y.unit = Unit::milliseconds;
    chart.setYAxis(y);
    chart.setTitle("Latency");
    chart.setSubtitle("ms");
}

/// Counts how often it is asked.
class CountingChart : public BarChart {
public:
    mutable int n_asked = 0;

protected:
    QString dataInWords() const override {
        ++n_asked;
        return BarChart::dataInWords();
    }
};

}  // namespace

class ChartWordsTest : public QObject {
    Q_OBJECT

private slots:
    void nothingYet();
    void lines_data();
    void lines();
    void hiddenSeriesAreNotSaid();
    void marksAreSaid();
    void cells();
    void heat();
    void bars();
    void multiples();
    void saidOnlyWhenAsked();
    void screenReadersHearIt();
    void menuCopiesIt();
};

void ChartWordsTest::nothingYet() {
    LineChart chart;
    setAxes(chart);
    QCOMPARE(chart.summary(), QString("Latency (ms).\nNothing to show yet."));
    chart.setEmptyText("Press Run");
    QCOMPARE(chart.summary(), QString("Latency (ms).\nNothing to show yet. Press Run."));
}

void ChartWordsTest::lines_data() {
    QTest::addColumn<QVector<double>>("a");
    QTest::addColumn<QVector<double>>("b");
    QTest::addColumn<QString>("words");
    QTest::newRow("never crossing") << QVector<double>{2, 4, 6, 20} << QVector<double>{1, 1, 2, 2}
                                    << "a: 4 points from token 1 to 4; last 20.0 ms, median 5.00 ms, least "
                                       "2.00 ms, most 20.0 ms.\n"
                                       "b: 4 points from token 1 to 4; last 2.00 ms, median 1.50 ms, least "
                                       "1.00 ms, most 2.00 ms.\n"
                                       "At the end a is 10.0× b.\nb is never above a.";
    QTest::newRow("crossing twice, touching once")
        << QVector<double>{1, 3, 3, 5, 1} << QVector<double>{2, 2, 3, 3, 4}
        << "a: 5 points from token 1 to 5; last 1.00 ms, median 3.00 ms, least 1.00 ms, most 5.00 ms.\n"
           "b: 5 points from token 1 to 5; last 4.00 ms, median 3.00 ms, least 2.00 ms, most 4.00 ms.\n"
           "At the end b is 4.00× a.\nCrossings: 2, the first at token 2.";
    QTest::newRow("gaps") << QVector<double>{gap, 3, gap} << QVector<double>{gap, gap, gap}
                          << "a: 3.00 ms at token 2.\nb: not measured.";
}

void ChartWordsTest::lines() {
    QFETCH(QVector<double>, a);
    QFETCH(QVector<double>, b);
    QFETCH(QString, words);
    LineChart chart;
    setAxes(chart);
    for (const char* name : {"a", "b"}) chart.addSeries(name, ColorRef{});
    for (int i = 0; i < a.size(); ++i) {
        chart.append(0, i + 1, a[i]);
        chart.append(1, i + 1, b[i]);
    }
    QCOMPARE(plain(chart.summary()), "Latency (ms).\n" + words);
}

void ChartWordsTest::hiddenSeriesAreNotSaid() {
    LineChart chart;
    setAxes(chart);
    for (const char* name : {"seen", "unseen"}) chart.append(chart.addSeries(name, ColorRef{}), 1, 2);
    chart.setSeriesShown(1, false);
    QVERIFY(!chart.summary().contains("unseen"));
    QVERIFY(chart.summary().contains("seen: "));
}

void ChartWordsTest::marksAreSaid() {
    LineChart chart;
    setAxes(chart);
    chart.append(chart.addSeries("a", ColorRef{}), 7, 2);
    chart.setMarks({{7, 2, "peak 2 ms", ColorRef{}}});
    QVERIFY(chart.summary().endsWith("peak 2 ms at token 7."));
    // It is in the picture too, and goes with the data.
    const auto picture = [&] {
        QImage image(400, 300, QImage::Format_RGB32);
        chart.paintOn(image, image.size(), false);
        return image;
    };
    const QImage with = picture();
    chart.setMarks({});
    QVERIFY(with != picture());
    chart.setMarks({{7, 2, "peak 2 ms", ColorRef{}}});
    QCOMPARE(picture(), with);
    chart.removeAllSeries();
    QVERIFY(chart.marks().empty());
}

void ChartWordsTest::cells() {
    CellGrid grid;
    grid.setTitle("Mask");
    grid.setNames("query", "key");
    grid.setKinds({{"visible", ColorRef{}}, {"future", ColorRef{}}});
    grid.setCells(2, 3, {0, 1, 1, 0, 0, 1});
    QCOMPARE(grid.summary(), QString("Mask.\n2 × 3 cells, query by key: 3 visible, 3 future."));
    grid.setTexts({"0", "1", "2", "0", "1", "2"}, {"", "", "", "", "4", ""});
    QVERIFY(grid.summary().endsWith("\nNot what is expected: 1 of them."));
}

void ChartWordsTest::heat() {
    HeatMap map;
    map.setTitle("Weights");
    map.setNames("query", "key");
    map.setValueName("weight");
    map.setValues(2, 2, {0.25F, std::numeric_limits<float>::quiet_NaN(), 0.5F, 0.125F});
    QCOMPARE(map.summary(), QString("Weights.\n2 × 2 cells, query by key. Largest weight 0.500 at query 1, "
                                    "key 0, smallest 0.125 at query 1, key 1."));
}

void ChartWordsTest::bars() {
    BarChart chart;
    chart.setTitle("Time");
    chart.setParts({{"attention", ColorRef{}}, {"MLP", ColorRef{}}});
    chart.setBars({{"layer 0", {1e6, 2e6}}, {"layer 1", {2e6, 5e6}}});
    QCOMPARE(plain(chart.summary()),
             QString("Time.\nIn all 10.0 ms: attention 3.00 ms, MLP 7.00 ms.\nLongest: layer 1 7.00 ms, "
                     "layer 0 3.00 ms."));
}

void ChartWordsTest::multiples() {
    SmallMultiples chart;
    chart.setTitle("Heads");
    chart.setTiles({{"head 0", 1, 2, {0.1F, 0.2F}}, {"head 1", 1, 2, {0.75F, 0.25F}}});
    QCOMPARE(chart.summary(), QString("Heads.\nPictures: 2, of 1 × 2 cells. Largest value 0.750 in head 1."));
}

void ChartWordsTest::saidOnlyWhenAsked() {
    CountingChart chart;
    chart.setDefinition("Definition");
    chart.show();
    for (int i = 0; i < 3; ++i) {
        chart.setBars({{"bar", {1e6 * i}}});
        chart.flush();
        chart.repaint();
    }
    QCOMPARE(chart.n_asked, 0);
    chart.summary();
    QCOMPARE(chart.n_asked, 1);
}

void ChartWordsTest::screenReadersHearIt() {
    LineChart chart;
    setAxes(chart);
    chart.setDefinition("How it is defined");
    for (int i = 1; i <= 3; ++i) {
        if (i == 1) chart.addSeries("a", ColorRef{});
        chart.append(0, i, i);
    }
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&chart);
    QVERIFY(interface != nullptr);
    QCOMPARE(interface->role(), QAccessible::Chart);
    QCOMPARE(interface->text(QAccessible::Name), QString("Latency"));
    const QString heard = interface->text(QAccessible::Description);
    QVERIFY(heard.startsWith(chart.summary()));
    QVERIFY(heard.contains("How it is defined"));
    QVERIFY(heard.contains("Keys:"));
    // What a key has done is heard alone, until the chart is come to again.
    chart.resize(500, 300);
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart, test::patience));
    chart.flush();
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(interface->text(QAccessible::Description), chart.crosshairText());
    QFocusEvent focus(QEvent::FocusIn);
    QCoreApplication::sendEvent(&chart, &focus);
    QCOMPARE(interface->text(QAccessible::Description), heard);
}

void ChartWordsTest::menuCopiesIt() {
    BarChart chart;
    chart.setTitle("Time");
    const auto menuOf = [&] {
        QContextMenuEvent event(QContextMenuEvent::Other, {5, 5}, chart.mapToGlobal(QPoint(5, 5)));
        QCoreApplication::sendEvent(&chart, &event);
        return chart.findChild<QMenu*>("chartMenu");
    };
    chart.show();
    QMenu* menu = menuOf();
    QVERIFY(!menu->findChild<QAction*>("copySummary")->isEnabled());
    menu->close();
    QTRY_VERIFY_WITH_TIMEOUT(chart.findChild<QMenu*>("chartMenu") == nullptr, test::patience);
    chart.setParts({{"part", ColorRef{}}});
    chart.setBars({{"bar", {1e6}}});
    menu = menuOf();
    menu->findChild<QAction*>("copySummary")->trigger();
    QCOMPARE(QGuiApplication::clipboard()->text(), chart.summary());
}

QTEST_MAIN(ChartWordsTest)
#include "tst_chart_words.moc"
