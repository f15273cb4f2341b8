// SPDX-License-Identifier: GPL-3.0-or-later
// An afternoon with the window in one minute: everything that makes window and engine thread meet, in the
// order in which a person may do it. Under ThreadSanitizer (see scripts/README.md) nothing may be reported.
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSlider>
#include <QTest>

#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/matrix_chart.h"
#include "ui/exactness/exactness_page.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/fault_list.h"
#include "ui/experiment_panel/fault_panel.h"
#include "ui/inside/inside_page.h"
#include "ui/inside/inside_views.h"
#include "ui/plan/plan_page.h"
#include "ui/sweep/sweep_form.h"
#include "ui/sweep/sweep_page.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;
using test::tinyExperiment;

namespace {

constexpr int pages = 7;

}  // namespace

class WindowSessionTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void runsPausesAndSteps();
    void looksInsideWhileHeld();
    void showsEveryPageInSlowMotion();
    void switchesAFaultDuringTheRun();
    void stops();
    void opensARecord();
    void judgesALane();
    void sweepsAndStops();
    void plansAndChecks();
    void exportsAndSwitchesTheme();
    void changesTheModel();
    void closesDuringARun();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    MainWindow& window() const { return *m_fixture->window; }
    QAction* action(ActionId id) const { return (*window().actions())[id]; }
    template <class Widget>
    Widget* find(const char* name) const {
        return window().findChild<Widget*>(QLatin1String(name));
    }
    /// As long as it takes, unless it is stopped.
    static Experiment longExperiment() {
        Experiment experiment = tinyExperiment(60);
        experiment.threads = 2;
        experiment.repetitions = 2000;
        return experiment;
    }

    QString m_record;
    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void WindowSessionTest::initTestCase() {
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    m_record = m_fixture->folder.filePath(QStringLiteral("run.json"));
    window().resize(1100, 700);
    QVERIFY(m_fixture->awaitIdle());
}

void WindowSessionTest::runsPausesAndSteps() {
    window().panel()->setExperiment(longExperiment());
    action(ActionId::run)->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(window().data().latest(1) != nullptr, test::patience);
    action(ActionId::pause)->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(window().session()->isHeld(), test::patience);
    for (int i = 0; i < 6; ++i) {
        action(ActionId::step)->trigger();
        QTest::qWait(5);
    }
    QTRY_VERIFY_WITH_TIMEOUT(window().session()->isHeld(), test::patience);
}

void WindowSessionTest::looksInsideWhileHeld() {
    action(ActionId::showInside)->trigger();
    window().insidePage()->setStep(1, 0);
    QTRY_VERIFY_WITH_TIMEOUT(
        !window().insidePage()->isWaiting() && window().insidePage()->views()->mask()->columnCount() > 0,
        test::patience);
    // Faster than the answers come.
    for (int step : {1, 0, 1, 0}) window().insidePage()->setStep(step % 2, step);
    QTRY_VERIFY_WITH_TIMEOUT(!window().insidePage()->isWaiting(), test::patience);
}

void WindowSessionTest::showsEveryPageInSlowMotion() {
    find<QSlider>("speedSlider")->setValue(find<QSlider>("speedSlider")->maximum() - 1);
    action(ActionId::pause)->trigger();
    QVERIFY(!window().session()->isPaused());
    for (int page = 0; page < pages; ++page) {
        window().showScreen(page);
        QTest::qWait(120);
    }
    action(ActionId::slower)->trigger();
    action(ActionId::faster)->trigger();
    QTest::keyClick(find<QSlider>("speedSlider"), Qt::Key_End);
    for (int page = pages - 1; page >= 0; --page) {
        window().showScreen(page);
        QTest::qWait(60);
    }
    QCOMPARE(window().session()->activity(), Session::Activity::running);
}

void WindowSessionTest::switchesAFaultDuringTheRun() {
    QListView* list = window().panel()->faults()->list();
    window().panel()->faults()->setLane(1);
    for (const auto state : {Qt::Checked, Qt::Unchecked, Qt::Checked}) {
        const auto rows =
            list->model()->match(list->model()->index(0, 0), FaultListModel::faultRole,
                                 static_cast<int>(Fault::position_restart), 1, Qt::MatchExactly);
        QCOMPARE(rows.size(), 1);
        QVERIFY(list->model()->setData(rows.front(), state, Qt::CheckStateRole));
        QTest::qWait(30);
    }
    QTRY_VERIFY_WITH_TIMEOUT(window().data().isLive() && window().data().latest(1) != nullptr &&
                                 window().data().record().lanes[1].spec.faults.size() == 1,
                             test::patience);
}

void WindowSessionTest::stops() {
    action(ActionId::stop)->trigger();
    QVERIFY(m_fixture->awaitRecord());
    QCOMPARE(window().data().finishedRecord()->status, FinishReason::cancelled);
    QVERIFY(window().saveRecordTo(m_record));
}

void WindowSessionTest::opensARecord() {
    const std::string saved = to_json(*window().data().finishedRecord());
    window().panel()->setExperiment(tinyExperiment());
    window().startRun();
    QVERIFY(m_fixture->awaitRecord());
    window().openRecord(m_record);
    QVERIFY(m_fixture->awaitIdle());
    QCOMPARE(to_json(*window().data().finishedRecord()), saved);
}

void WindowSessionTest::judgesALane() {
    window().showScreen(3);
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>("verdictHeadline")->text().contains(QStringLiteral("position")) ||
                                 find<QLabel>("verdictCertainty")->isVisible(),
                             test::patience);
    QVERIFY(m_fixture->awaitIdle());
}

void WindowSessionTest::sweepsAndStops() {
    Experiment experiment = tinyExperiment();
    experiment.threads = 2;
    window().panel()->setExperiment(experiment);
    window().showScreen(4);
    const auto type = [this](const char* field, const char* text) {
        auto* edit = find<QLineEdit>(field);
        edit->clear();
        QTest::keyClicks(edit, QLatin1String(text));
    };
    type("sweepPrompts", "4");
    type("sweepSteps", "2,4,40,41,42,43");
    type("sweepDepths", "0,8");
    type("sweepRequests", "1");
    type("sweepThreads", "2");
    find<QSpinBox>("sweepRepetitions")->setValue(20);
    find<QDoubleSpinBox>("sweepSeconds")->setValue(0);
    window().sweepPage()->form()->setFile(m_fixture->folder.filePath(QStringLiteral("sweep.jsonl")));
    find<QPushButton>("sweepRun")->click();
    QTRY_VERIFY_WITH_TIMEOUT(!window().sweepPage()->cells().empty(), test::patience);
    find<QPushButton>("sweepStop")->click();
    QVERIFY(m_fixture->awaitIdle());
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>("sweepText")->text().startsWith(QStringLiteral("Stopped: ")) ||
                                 find<QLabel>("sweepText")->text().startsWith(QStringLiteral("Done: ")),
                             test::patience);
}

void WindowSessionTest::plansAndChecks() {
    window().showScreen(5);
    QTRY_VERIFY_WITH_TIMEOUT(window().planPage()->report() != nullptr, test::patience);
    find<QSpinBox>("planContext")->setValue(24);
    QTRY_VERIFY2(find<QPushButton>("planCheck")->isEnabled(),
                 qPrintable(find<QPushButton>("planCheck")->toolTip()));
    find<QPushButton>("planCheck")->click();
    const QWidget* compared = find<QWidget>("planCheckTable");
    QTRY_VERIFY2_WITH_TIMEOUT(compared->isVisibleTo(window().planPage()),
                              qPrintable(find<QLabel>("planCheckText")->text()), test::patience);
}

void WindowSessionTest::exportsAndSwitchesTheme() {
    window().showScreen(0);
    action(ActionId::themeDark)->trigger();
    QVERIFY(window().exportChartsTo(m_fixture->folder.filePath(QStringLiteral("charts"))));
    action(ActionId::themeLight)->trigger();
    QTest::qWait(20);
}

void WindowSessionTest::changesTheModel() {
    for (std::uint64_t seed = 4; seed < 8; ++seed) {
        window().openModel({.path = {}, .preset = "tiny", .seed = seed});
        QTest::qWait(1);
    }
    QVERIFY(m_fixture->awaitIdle());
    QTRY_COMPARE_WITH_TIMEOUT(window().session()->modelRef().seed, 7u, test::patience);
}

void WindowSessionTest::closesDuringARun() {
    QVERIFY(window().saveRecordTo(m_record));  // nothing is asked about then
    window().panel()->setExperiment(longExperiment());
    window().startRun();
    QTRY_VERIFY_WITH_TIMEOUT(window().data().latest(0) != nullptr, test::patience);
    const std::weak_ptr<const MemoryLedger> ledger = window().session()->ledger();
    QVERIFY(window().close());
    m_fixture.reset();
    QVERIFY2(ledger.expired(), "something still holds the engine's memory");
}

QTEST_MAIN(WindowSessionTest)
#include "tst_window_session.moc"
