// SPDX-License-Identifier: GPL-3.0-or-later
// From the start to an exported race without a mouse: everything here is done with keys, sent to whatever
// has the focus.
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QTest>

#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/chart/line_chart.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/inside/inside_page.h"
#include "ui/inside/inside_views.h"
#include "ui/race/race_page.h"
#include "ui/report/export_dialog.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;

class KeyboardRaceTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void setsUpAndRuns();
    void readsValuesInTheChart();
    void looksIntoAStep();
    void exports();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    MainWindow& window() const { return *m_fixture->window; }
    /// To whatever has the focus.
    static void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        QWidget* focus = QApplication::focusWidget();
        QTest::keyClick(focus != nullptr ? focus : QApplication::activeWindow(), key, modifiers);
    }
    static void typeText(const QString& text) { QTest::keyClicks(QApplication::focusWidget(), text); }
    /// Presses Tab until the control of that name has the focus.
    static bool tabTo(const char* name) {
        for (int i = 0; i < 300; ++i) {
            const QWidget* focus = QApplication::focusWidget();
            if (focus != nullptr && focus->objectName() == QLatin1String(name)) return true;
            press(Qt::Key_Tab);
        }
        return false;
    }

    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void KeyboardRaceTest::initTestCase() {
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    QVERIFY(QTest::qWaitForWindowActive(&window(), test::patience));
}

void KeyboardRaceTest::setsUpAndRuns() {
    QVERIFY(tabTo("newTokens"));
    press(Qt::Key_A, Qt::ControlModifier);
    typeText(QStringLiteral("12"));
    QVERIFY(tabTo("repetitions"));
    press(Qt::Key_A, Qt::ControlModifier);
    typeText(QStringLiteral("1"));
    press(Qt::Key_Tab);
    QCOMPARE(window().panel()->experiment().new_tokens, 12);
    QCOMPARE(window().panel()->experiment().repetitions, 1);
    QCOMPARE(window().panel()->experiment().model.path, std::string("demo"));
    press(Qt::Key_F5);
    QVERIFY(m_fixture->awaitRecord());
    QCOMPARE(window().data().finishedRecord()->status, FinishReason::length);
}

void KeyboardRaceTest::readsValuesInTheChart() {
    press(Qt::Key_1, Qt::ControlModifier);
    QVERIFY(tabTo("latencyChart"));
    const LineChart* chart = window().racePage()->latencyChart();
    for (int i = 0; i < 4; ++i) press(Qt::Key_Right);
    const QString there = chart->crosshairText();
    const Record& record = *window().data().finishedRecord();
    for (const LaneRecord& lane : record.lanes)
        QVERIFY2(there.contains(QString::fromStdString(lane.spec.name)), qPrintable(there));
    QCOMPARE(chart->accessibleDescription(), there);
    press(Qt::Key_Left);
    QVERIFY(chart->crosshairText() != there);
    press(Qt::Key_W);
    QVERIFY(chart->isViewChanged());
    press(Qt::Key_Home);
    QVERIFY(!chart->isViewChanged());
}

void KeyboardRaceTest::looksIntoAStep() {
    press(Qt::Key_3, Qt::ControlModifier);
    QVERIFY(window().insidePage()->isVisible());
    QVERIFY(tabTo("stepSlider"));
    press(Qt::Key_Home);
    press(Qt::Key_Right);
    press(Qt::Key_Right);
    QCOMPARE(window().insidePage()->step(), 2);
    QTRY_VERIFY_WITH_TIMEOUT(!window().insidePage()->isWaiting(), test::patience);
    QVERIFY(window().insidePage()->views()->mask()->columnCount() > 2);
    QVERIFY(!window().insidePage()->sentence().isEmpty());
}

void KeyboardRaceTest::exports() {
    press(Qt::Key_E, Qt::ControlModifier);
    const auto dialogs = window().findChildren<ExportDialog*>();
    QCOMPARE(dialogs.size(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(QApplication::activeWindow(), dialogs.front(), test::patience);
    const QString folder = m_fixture->folder.filePath(QStringLiteral("race"));
    QVERIFY(tabTo("exportFolder"));
    press(Qt::Key_A, Qt::ControlModifier);
    typeText(folder);
    QVERIFY(tabTo("exportStart"));
    press(Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(window().messages()->isVisible(), test::patience);
    QCOMPARE(window().messages()->kind(), MessageBar::Kind::info);
    QVERIFY(QFileInfo::exists(folder + QStringLiteral("/latency.png")));
    QVERIFY(load_record((folder + QStringLiteral("/record.json")).toStdString()).ok());
}

QTEST_MAIN(KeyboardRaceTest)
#include "tst_keyboard_race.moc"
