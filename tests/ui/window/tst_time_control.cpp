// SPDX-License-Identifier: GPL-3.0-or-later
// Step, pause, resume, slow motion and stop, with the window's own buttons and keys.
#include <QAbstractButton>
#include <QLabel>
#include <QMenu>
#include <QRandomGenerator>
#include <QSlider>
#include <QTest>

#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/race/lane_table.h"
#include "ui/race/race_page.h"
#include "ui/race/token_stream.h"

using namespace decodescope;
using test::tinyExperiment;
using test::WindowFixture;

class TimeControlTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_theme = new Theme(this); }
    void stepsThroughARun();
    void pausesAndResumes();
    void slowMotion();
    void stopsAtRandomMomentsWhileStepping();
    void newFaultsKeepThePace();
    void closesWhileHeld();

private:
    static QString progress(const MainWindow& window) {
        return window.findChild<QLabel*>("progressLabel")->text();
    }

    Theme* m_theme = nullptr;
};

void TimeControlTest::stepsThroughARun() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    QVERIFY(QTest::qWaitForWindowActive(&window, test::patience));
    window.panel()->setExperiment(tinyExperiment(5));
    auto* pause = window.findChild<QAbstractButton*>("pauseButton");
    QVERIFY(!pause->isEnabled());
    QVERIFY((*window.actions())[ActionId::step]->isEnabled());
    // F10 begins a run, makes its first step and holds it.
    QTest::keyClick(&window, Qt::Key_F10);
    QTRY_VERIFY_WITH_TIMEOUT(window.session()->isHeld(), test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(progress(window), QString("Paused at token 1 of 5 · repetition 1 of 1"),
                              test::patience);
    QCOMPARE(pause->text(), QString("Resume"));
    QVERIFY(pause->isEnabled());
    QVERIFY(!(*window.actions())[ActionId::run]->isEnabled());
    QCOMPARE(window.racePage()->stream(0)->tokenCount(), 1);
    QVERIFY(window.racePage()->lanes()->lanes().at(1).firstTokenNs > 0);
    QCOMPARE(window.racePage()->stream(1)->tokenCount(), 1);
    auto* step = window.findChild<QAbstractButton*>("stepButton");
    for (int token = 2; token <= 5; ++token) {
        QTest::mouseClick(step, Qt::LeftButton);
        if (token == 5) break;
        QTRY_COMPARE_WITH_TIMEOUT(progress(window),
                                  QString("Paused at token %1 of 5 · repetition 1 of 1").arg(token),
                                  test::patience);
        QCOMPARE(window.racePage()->stream(1)->tokenCount(), token);
        if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS");
            !folder.isEmpty() && token == 4)
            window.grab().save(folder + "/paused.png");
    }
    // The fifth is the last: nothing is left to be held.
    QVERIFY(fixture.awaitRecord());
    QVERIFY(!window.session()->isPaused());
    QVERIFY(!window.session()->isHeld());
    QCOMPARE(pause->text(), QString("Pause"));
    QVERIFY(!pause->isEnabled());
    const auto stepped = window.data().finishedRecord();
    QCOMPARE(stepped->status, FinishReason::length);
    window.startRun();
    QTRY_VERIFY_WITH_TIMEOUT(
        window.data().finishedRecord() != nullptr && window.data().finishedRecord() != stepped,
        test::patience);
    const auto plain = window.data().finishedRecord();
    for (std::size_t lane = 0; lane < plain->lanes.size(); ++lane)
        QCOMPARE(stepped->lanes[lane].repetitions[0].tokens(), plain->lanes[lane].repetitions[0].tokens());
}

void TimeControlTest::pausesAndResumes() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    QVERIFY(QTest::qWaitForWindowActive(&window, test::patience));
    Experiment experiment = tinyExperiment(40);
    experiment.repetitions = 500;
    window.panel()->setExperiment(experiment);
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_COMPARE_WITH_TIMEOUT(window.session()->activity(), Session::Activity::running, test::patience);
    QTRY_VERIFY_WITH_TIMEOUT(window.data().repetition() > 0, test::patience);
    QTest::keyClick(&window, Qt::Key_F8);
    QVERIFY(window.session()->isPaused());
    QTRY_VERIFY_WITH_TIMEOUT(window.session()->isHeld(), test::patience);
    QTest::qWait(100);  // what was under way arrives
    const auto* before = window.data().latest(0);
    const std::size_t steps = before->steps.size();
    QTest::qWait(150);
    QCOMPARE(window.data().latest(0)->steps.size(), steps);
    QVERIFY2(progress(window).startsWith("Paused at token "), qPrintable(progress(window)));
    QTest::keyClick(&window, Qt::Key_F8);
    QVERIFY(!window.session()->isPaused());
    QTRY_VERIFY_WITH_TIMEOUT(!window.session()->isHeld(), test::patience);
    const int repetition = window.data().repetition();
    QTRY_VERIFY_WITH_TIMEOUT(window.data().repetition() > repetition, test::patience);
    QVERIFY(progress(window).startsWith("Running"));
    QTest::keyClick(&window, Qt::Key_Escape);
    QVERIFY(fixture.awaitRecord());
}

void TimeControlTest::slowMotion() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    QVERIFY(QTest::qWaitForWindowActive(&window, test::patience));
    auto* slider = window.findChild<QSlider*>("speedSlider");
    auto* value = window.findChild<QLabel*>("speedValue");
    QCOMPARE(value->text(), QString("full"));
    QTest::keyClick(&window, Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(value->text(), QString("32 / s"));
    QTest::keyClick(slider, Qt::Key_Home);
    QCOMPARE(value->text(), QString("1 / s"));
    window.panel()->setExperiment(tinyExperiment(8));
    window.startRun();
    QTRY_VERIFY_WITH_TIMEOUT(window.data().latest(1) != nullptr, test::patience);
    QTest::qWait(300);
    QVERIFY(window.data().latest(1)->steps.size() <= 2);
    QTRY_VERIFY2(progress(window).startsWith("Slow motion"), qPrintable(progress(window)));
    // Faster again, while it waits: it goes on at once.
    QTest::keyClick(slider, Qt::Key_End);
    QCOMPARE(value->text(), QString("full"));
    QVERIFY(fixture.awaitRecord());
}

void TimeControlTest::stopsAtRandomMomentsWhileStepping() {
    QRandomGenerator random(5);
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    QVERIFY(QTest::qWaitForWindowActive(&window, test::patience));
    Experiment experiment = tinyExperiment(40);
    experiment.repetitions = 50;
    window.panel()->setExperiment(experiment);
    for (int round = 0; round < 40; ++round) {
        for (int i = random.bounded(1, 6); i > 0; --i) {
            const int keys[] = {Qt::Key_F10, Qt::Key_F10, Qt::Key_F8, Qt::Key_F5};
            QTest::keyClick(&window, static_cast<Qt::Key>(keys[random.bounded(4)]));
            QTest::qWait(random.bounded(15));
        }
        QTest::keyClick(&window, Qt::Key_Escape);
        QTRY_VERIFY_WITH_TIMEOUT(!window.session()->hasRun(), test::patience);
        QVERIFY(fixture.awaitIdle());
        QVERIFY(!window.session()->isPaused());
        QVERIFY(!window.session()->isHeld());
        QTRY_COMPARE_WITH_TIMEOUT(window.session()->ledger()->total(),
                                  window.session()->ledger()->live(Owner::weights), test::patience);
        QVERIFY((*window.actions())[ActionId::run]->isEnabled());
        QVERIFY(!(*window.actions())[ActionId::pause]->isEnabled());
    }
}

void TimeControlTest::newFaultsKeepThePace() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.panel()->setExperiment(tinyExperiment(6));
    window.stepRun();
    QTRY_VERIFY_WITH_TIMEOUT(window.session()->isHeld() && window.data().latest(1) != nullptr,
                             test::patience);
    window.faultsChanged(1);
    // The run that takes its place is held before its first token.
    QTRY_VERIFY_WITH_TIMEOUT(window.data().isLive() && window.data().latest(1) == nullptr, test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(progress(window), QString("Paused before the first token"), test::patience);
    QVERIFY(window.session()->isPaused());
    window.pauseOrResume();
    QVERIFY(fixture.awaitRecord());
    QCOMPARE(window.data().finishedRecord()->status, FinishReason::length);
}

void TimeControlTest::closesWhileHeld() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    QVERIFY(fixture.awaitIdle());
    fixture.window->panel()->setExperiment(tinyExperiment(6));
    fixture.window->stepRun();
    QTRY_VERIFY_WITH_TIMEOUT(fixture.window->session()->isHeld(), test::patience);
    fixture.window->close();
    fixture.window.reset();
}

QTEST_MAIN(TimeControlTest)
#include "tst_time_control.moc"
