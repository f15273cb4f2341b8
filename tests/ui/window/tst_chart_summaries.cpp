// SPDX-License-Identifier: GPL-3.0-or-later
// What the charts of the window say in words, before and after a run.
#include <QAccessible>
#include <QTest>

#include <cmath>

#include "engine/experiment/memory_use.h"
#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/chart/format.h"
#include "ui/chart/line_chart.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/inside/inside_page.h"
#include "ui/memory/memory_page.h"
#include "ui/race/race_page.h"
#include "ui/report/record_charts.h"

using namespace decodescope;

class ChartSummariesTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void beforeARun();
    void everyChartSpeaks();
    void latencyIsThatOfTheRecord();
    void memoryIsThatOfTheRecord();
    void insideSaysWhatItShows();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    MainWindow& window() const { return *m_fixture->window; }
    static QString spoken(Chart* chart) {
        return QAccessible::queryAccessibleInterface(chart)->text(QAccessible::Description);
    }

    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void ChartSummariesTest::initTestCase() {
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
}

void ChartSummariesTest::beforeARun() {
    int n = 0;
    for (int screen = 0; screen < 4; ++screen) {
        window().showScreen(screen);
        for (Chart* chart : window().findChildren<Chart*>()) {
            if (!chart->isVisible()) continue;
            ++n;
            QVERIFY2(chart->summary().contains("Nothing to show yet."), qPrintable(chart->title()));
            QVERIFY(spoken(chart).startsWith(chart->summary()));
        }
    }
    QVERIFY(n >= 8);
}

void ChartSummariesTest::everyChartSpeaks() {
    Experiment experiment = test::tinyExperiment(20);
    experiment.lanes.push_back(*lane_from_name("concat"));
    window().panel()->setExperiment(experiment);
    window().startRun();
    QVERIFY(m_fixture->awaitRecord());
    int filled = 0;
    for (int screen = 0; screen < 4; ++screen) {
        window().showScreen(screen);
        QTRY_VERIFY_WITH_TIMEOUT(screen != 2 || !window().insidePage()->isWaiting(), test::patience);
        QTest::qWait(50);
        for (Chart* chart : window().findChildren<Chart*>()) {
            if (!chart->isVisible()) continue;
            const QString words = chart->summary();
            QVERIFY2(words.startsWith(chart->title()), qPrintable(words));
            QCOMPARE(words.contains("Nothing to show yet."), chart->isEmpty());
            QVERIFY(spoken(chart).startsWith(words));
            if (chart->isEmpty()) continue;
            ++filled;
            QVERIFY2(words.contains(QRegularExpression("[0-9]")), qPrintable(words));
            for (const LegendEntry& entry : chart->legend()) {
                if (qobject_cast<LineChart*>(chart) != nullptr)
                    QVERIFY2(words.contains(entry.name + ": "), qPrintable(words));
            }
        }
    }
    QVERIFY2(filled >= 8, qPrintable(QString::number(filled)));
}

void ChartSummariesTest::latencyIsThatOfTheRecord() {
    const auto record = window().data().finishedRecord();
    const QString words = window().racePage()->latencyChart()->summary();
    for (const LaneRecord& lane : record->lanes) {
        std::vector<double> values;
        for (const StepEvent& step : lane.repetitions.front().steps) {
            if (!std::isnan(latencyOf(step))) values.push_back(latencyOf(step));
        }
        const Summary all = summarize(values);
        const auto text = [](double ms) { return formatValue(ms, Unit::milliseconds); };
        const QString line = QString("last %1, median %2, least %3, most %4.")
                                 .arg(text(values.back()), text(all.median), text(all.min), text(all.max));
        const QString name = QString::fromStdString(lane.spec.name);
        const QStringList lines = words.split('\n').filter(name + ": ");
        QCOMPARE(lines.size(), 1);
        QVERIFY2(lines.front().endsWith(line), qPrintable(words + line));
    }
}

void ChartSummariesTest::memoryIsThatOfTheRecord() {
    const auto use = memory_use(*window().data().finishedRecord());
    QVERIFY(use && use->peaks.rss);
    const QString words = window().memoryPage()->chart()->summary();
    const auto bytes = [](double value) { return formatValue(value, Unit::bytes); };
    const auto unaccounted = static_cast<double>(*use->last.unaccounted());
    const QStringList lines = words.split('\n').filter("unaccounted: ");
    QCOMPARE(lines.size(), 1);
    QVERIFY2(lines.front().contains("last " + bytes(unaccounted)), qPrintable(words));
    for (const double peak : {static_cast<double>(use->peaks.rss->memory.rss),
                              static_cast<double>(use->peaks.tensors->tensor_total())})
        QVERIFY2(words.contains("peak " + bytes(peak)), qPrintable(words));
}

void ChartSummariesTest::insideSaysWhatItShows() {
    window().showScreen(2);
    window().insidePage()->setStep(1, 0);
    QTRY_VERIFY_WITH_TIMEOUT(!window().insidePage()->isWaiting(), test::patience);
    QTest::qWait(50);
    // The prefill of 8 tokens: 8 x 9 / 2 visible cells of 64.
    bool found = false;
    for (const Chart* chart : window().insidePage()->charts())
        found = found || chart->summary().contains("8 × 8 cells, query by key: 36 visible, 28 future");
    QVERIFY2(found, qPrintable(window().insidePage()->charts().front()->summary()));
}

QTEST_MAIN(ChartSummariesTest)
#include "tst_chart_summaries.moc"
