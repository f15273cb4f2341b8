// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the window as one instrument: linked views, compared runs.
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/exactness/exactness_page.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/memory/memory_page.h"
#include "ui/race/race_page.h"
#include "ui/report/export_dialog.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;

class ChartsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void screensShareOneTokenRange();
    void exportsThroughTheDialog_data();
    void exportsThroughTheDialog();
    void exportCanBeCancelled();
    void anotherRunShowsEverything();
    void earlierRunIsDrawnDashed();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    MainWindow& window() const { return *m_fixture->window; }
    void run(int newTokens = 40);
    ExportDialog* openDialog();

    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void ChartsTest::initTestCase() {
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    run();
}

void ChartsTest::run(int newTokens) {
    const auto before = window().data().finishedRecord();
    window().panel()->setExperiment(test::tinyExperiment(newTokens));
    window().startRun();
    const auto record = [this] { return window().data().finishedRecord(); };
    QTRY_VERIFY_WITH_TIMEOUT(record() != nullptr && record() != before, test::patience);
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

ExportDialog* ChartsTest::openDialog() {
    (*window().actions())[ActionId::exportCharts]->trigger();
    const auto dialogs = window().findChildren<ExportDialog*>();
    return dialogs.isEmpty() ? nullptr : dialogs.last();
}

void ChartsTest::exportsThroughTheDialog_data() {
    QTest::addColumn<QString>("folder");  // empty: a new one
    QTest::addColumn<bool>("good");
    QTest::newRow("new folder") << QString() << true;
    QTest::newRow("nobody may write there") << QStringLiteral("/proc") << false;
}

void ChartsTest::exportsThroughTheDialog() {
    QFETCH(QString, folder);
    QFETCH(bool, good);
    QTemporaryDir parent;
    if (folder.isEmpty()) folder = parent.filePath(QStringLiteral("new/run"));
    window().racePage()->latencyChart()->setVisibleX(10, 20);
    ExportDialog* dialog = openDialog();
    QVERIFY(dialog != nullptr);
    dialog->findChild<QLineEdit*>(QStringLiteral("exportFolder"))->setText(folder);
    dialog->findChild<QComboBox*>(QStringLiteral("exportRange"))->setCurrentIndex(1);
    dialog->findChild<QComboBox*>(QStringLiteral("exportScale"))->setCurrentIndex(0);
    dialog->findChild<QCheckBox*>(QStringLiteral("exportSvg"))->setChecked(false);
    if (const QString shots = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !shots.isEmpty()) {
        for (const bool dark : {false, true}) {
            m_theme->setMode(dark ? Theme::Mode::Dark : Theme::Mode::Light);
            QTest::qWait(50);
            dialog->grab().save(shots + (dark ? "/export-dark.png" : "/export-light.png"));
        }
    }
    QSignalSpy done(dialog, &ExportDialog::done);
    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("exportStart")), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(done.count(), 1, test::patience);
    QCOMPARE(done.first().at(1).toBool(), good);
    const QString sentence = done.first().at(0).toString();
    QCOMPARE(window().messages()->message(), sentence);
    QVERIFY2(sentence.endsWith(QLatin1Char('.')), qPrintable(sentence));
    window().racePage()->latencyChart()->resetView();
    dialog->close();
    if (!good) return;
    const QDir made(folder);
    QVERIFY(made.entryList({QStringLiteral("*.svg")}).isEmpty());
    QCOMPARE(QImage(made.filePath(QStringLiteral("latency.png"))).size(), QSize(960, 420));
    QFile csv(made.filePath(QStringLiteral("latency.csv")));
    QVERIFY(csv.open(QIODevice::ReadOnly));
    QCOMPARE(csv.readAll().count('\n'), 1 + 11);
    const auto record = load_record(made.filePath(QStringLiteral("record.json")).toStdString());
    QVERIFY2(record.ok(), record ? "" : record.error().message.c_str());
    QCOMPARE(to_json(*record), to_json(*window().data().finishedRecord()));
}

void ChartsTest::exportCanBeCancelled() {
    QTemporaryDir folder;
    ExportDialog* dialog = openDialog();
    QVERIFY(dialog != nullptr);
    dialog->findChild<QLineEdit*>(QStringLiteral("exportFolder"))->setText(folder.path());
    QSignalSpy done(dialog, &ExportDialog::done);
    connect(dialog->job(), &ExportJob::progress, dialog, [dialog](int n, int, const QString&) {
        if (n == 3) QTest::keyClick(dialog, Qt::Key_Escape);
    });
    dialog->findChild<QPushButton*>(QStringLiteral("exportStart"))->click();
    QTRY_COMPARE_WITH_TIMEOUT(done.count(), 1, test::patience);
    QVERIFY(done.first().at(0).toString().startsWith(QStringLiteral("Cancelled: 3 files")));
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 3);
    QVERIFY(dialog->isVisible());
    dialog->close();
}

void ChartsTest::anotherRunShowsEverything() {
    LineChart* latency = window().racePage()->latencyChart();
    latency->setVisibleX(10, 20);
    run();
    QVERIFY(!latency->isViewChanged());
}

void ChartsTest::earlierRunIsDrawnDashed() {
    LineChart* latency = window().racePage()->latencyChart();
    QAction* end = (*window().actions())[ActionId::endComparison];
    QVERIFY(!end->isEnabled());
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("before.json"));
    QVERIFY(window().saveRecordTo(path));
    const Table earlier = latency->table(DataRange::all);
    run();
    const auto lanes = latency->legend().size();
    QVERIFY(window().compareWithFile(path));
    const QVector<LegendEntry> legend = latency->legend();
    QCOMPARE(legend.size(), 2 * lanes);
    QCOMPARE(legend.last().mark, LegendEntry::Mark::dashed_line);
    QCOMPARE(legend.last().color, legend[lanes - 1].color);
    QVERIFY(legend.last().name.endsWith(QStringLiteral("before")));
    // The dashed curves are those of the earlier run.
    const Table both = latency->table(DataRange::all);
    QCOMPARE(both.rows[3].last(), earlier.rows[3].last());
    QVERIFY(window().messages()->message().contains(QStringLiteral("before")));
    QVERIFY(window().messages()->message().contains(QStringLiteral("may be chance")));
    if (const QString shots = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !shots.isEmpty()) {
        window().showScreen(0);
        window().resize(1440, 900);
        QTest::qWait(100);
        window().grab().save(shots + QStringLiteral("/compare.png"));
    }
    // It stays through a run of the same work, and goes when the work is another one.
    run();
    QCOMPARE(latency->legend().size(), 2 * lanes);
    end->trigger();
    QCOMPARE(latency->legend().size(), lanes);
    (*window().actions())[ActionId::keepRun]->trigger();
    QCOMPARE(latency->legend().size(), lanes);  // not over itself
    run();
    QCOMPARE(latency->legend().size(), 2 * lanes);
    run(20);
    QCOMPARE(latency->legend().size(), lanes);
    QVERIFY(window().messages()->message().contains(QStringLiteral("new_tokens")));
    QVERIFY(!window().compareWithFile(folder.filePath(QStringLiteral("nowhere.json"))));
}

QTEST_MAIN(ChartsTest)
#include "tst_charts.moc"
