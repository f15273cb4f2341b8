// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the window as one instrument: linked views, compared runs.
#include <QApplication>
#include <QTest>
#include <QWheelEvent>

#include "tests/ui/window/window_fixture.h"
#include "ui/chart/line_chart.h"
#include "ui/exactness/exactness_page.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/memory/memory_page.h"
#include "ui/race/race_page.h"

using namespace decodescope;

class ChartsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void screensShareOneTokenRange();
    void anotherRunShowsEverything();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    MainWindow& window() const { return *m_fixture->window; }
    void run();

    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void ChartsTest::initTestCase() {
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    run();
}

void ChartsTest::run() {
    const auto before = window().data().finishedRecord();
    window().panel()->setExperiment(test::tinyExperiment(40));
    window().startRun();
    const auto record = [this] { return window().data().finishedRecord(); };
    QTRY_VERIFY_WITH_TIMEOUT(record() != nullptr && record() != before, 60'000);
    QVERIFY(m_fixture->awaitIdle());
}

void ChartsTest::screensShareOneTokenRange() {
    window().showScreen(0);
    QTest::qWait(50);
    LineChart* latency = window().racePage()->latencyChart();
    LineChart* total = window().racePage()->totalChart();
    QCOMPARE(total->visibleX(), latency->visibleX());
    const QPointF at = QRectF(latency->rect()).center();
    QWheelEvent wheel(at, latency->mapToGlobal(at), {}, QPoint(0, 360), Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(latency, &wheel);
    QVERIFY(latency->isViewChanged());
    QCOMPARE(total->visibleX(), latency->visibleX());
    window().showScreen(3);
    QTest::qWait(50);
    LineChart* errors = window().exactnessPage()->errorChart();
    QVERIFY(!errors->isEmpty());
    QCOMPARE(errors->visibleX(), latency->visibleX());
    QVERIFY(!window().memoryPage()->chart()->isViewChanged());  // over seconds
    // What is shown all the time has nothing that could jump: one left edge for the charts of a page.
    QCOMPARE(window().exactnessPage()->marginChart()->plotLeft(), errors->plotLeft());
    QTest::keyClick(errors, Qt::Key_Home);
    QVERIFY(!latency->isViewChanged());
}

void ChartsTest::anotherRunShowsEverything() {
    LineChart* latency = window().racePage()->latencyChart();
    latency->setVisibleX(10, 20);
    run();
    QVERIFY(!latency->isViewChanged());
}

QTEST_MAIN(ChartsTest)
#include "tst_charts.moc"
