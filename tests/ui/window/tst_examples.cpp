// SPDX-License-Identifier: GPL-3.0-or-later
// The experiments that come with the program: all of them can be read, and the menu runs them.
#include <QAction>
#include <QLabel>
#include <QMenu>
#include <QTest>

#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/examples.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/race/race_page.h"
#include "ui/race/token_stream.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;
using test::WindowFixture;

class ExamplesTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_theme = new Theme(this); }
    void comesWithOnePerSource();
    void canBeRead_data();
    void canBeRead();
    void menuListsAll();
    void menuRunsOne();
    void problemsDisableRun();

private:
    Theme* m_theme = nullptr;
};

void ExamplesTest::comesWithOnePerSource() {
    QStringList names;
    for (const Example& example : bundledExamples()) names << QFileInfo(example.path).completeBaseName();
    QCOMPARE(names.value(0), QString("demo"));
    for (const char* name :
         {"kshipra", "allocator", "one_block_lab", "race", "chunk_partitions", "quantised", "speculative",
          "weights", "window", "prefix_sharing", "fault_positions", "fault_padding"})
        QVERIFY2(names.contains(name), name);
}

void ExamplesTest::canBeRead_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("title");
    QTest::addColumn<QString>("about");
    for (const Example& example : bundledExamples())
        QTest::newRow(qPrintable(QFileInfo(example.path).completeBaseName()))
            << example.path << example.title << example.about;
}

void ExamplesTest::canBeRead() {
    QFETCH(QString, path);
    QFETCH(QString, title);
    QFETCH(QString, about);
    std::vector<std::string> warnings;
    const Result<Experiment> experiment = load_experiment(path.toStdString(), &warnings);
    QVERIFY2(experiment.ok(), experiment.ok() ? "" : experiment.error().message.c_str());
    QVERIFY2(warnings.empty(), warnings.empty() ? "" : warnings.front().c_str());
    QVERIFY(title != QFileInfo(path).completeBaseName());
    QVERIFY(about.endsWith('.'));
    // Through the panel and out again it stays what it is.
    ExperimentPanel panel;
    panel.setExperiment(*experiment);
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    QCOMPARE(QString::fromStdString(to_json(panel.experiment())),
             QString::fromStdString(to_json(*experiment)));
}

void ExamplesTest::menuListsAll() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    QVERIFY(fixture.awaitIdle());
    const auto* menu = fixture.window->findChild<QMenu*>("examplesMenu");
    QVERIFY(menu != nullptr);
    QCOMPARE(menu->actions().size(), bundledExamples().size());
    for (const QAction* action : menu->actions()) {
        QVERIFY(action->isEnabled());
        QVERIFY(!action->text().isEmpty());
        QVERIFY(action->toolTip() != action->text());
    }
}

void ExamplesTest::menuRunsOne() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    const auto* menu = window.findChild<QMenu*>("examplesMenu");
    // While it runs, the streams hold what has been delivered.
    int delivered = 0;
    connect(&window.data(), &RunData::appended, this, [&] {
        ++delivered;
        for (int lane = 0; lane < static_cast<int>(window.data().record().lanes.size()); ++lane) {
            const RepetitionRecord* latest = window.data().latest(lane);
            const TokenStream* stream = window.racePage()->stream(lane);
            QVERIFY(stream != nullptr);
            if (latest != nullptr) QCOMPARE(stream->tokenCount(), static_cast<int>(latest->chosen.size()));
        }
    });
    for (const char* name : {"one_block_lab", "kshipra"}) {
        auto* action = menu->findChild<QAction*>(name);
        QVERIFY(action != nullptr);
        const auto before = window.data().finishedRecord();
        action->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(
            window.data().finishedRecord() != nullptr && window.data().finishedRecord() != before,
            test::patience);
        QVERIFY(fixture.awaitIdle());
        QCOMPARE(window.data().finishedRecord()->status, FinishReason::length);
        QVERIFY2(window.messages()->isHidden(), qPrintable(window.messages()->message()));
    }
    QVERIFY(delivered > 0);
    // Four requests, each in a paragraph of its own, the same text in every lane.
    const TokenStream* naive = window.racePage()->stream(0);
    QCOMPARE(naive->requestCount(), 4);
    QCOMPARE(naive->tokenCount(), 4 * 40);
    for (int lane = 1; lane < 4; ++lane) QCOMPARE(window.racePage()->stream(lane)->text(), naive->text());
}

void ExamplesTest::problemsDisableRun() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    const QAction* run = (*window.actions())[ActionId::run];
    QVERIFY(run->isEnabled());
    Experiment experiment = test::tinyExperiment();
    experiment.lanes[1].cache.capacity = -1;
    window.panel()->setExperiment(experiment);
    QVERIFY(!window.panel()->problem().isEmpty());
    QVERIFY(!run->isEnabled());
    QVERIFY(window.findChild<QLabel*>("progressLabel")->text().contains(window.panel()->problem()));
    window.panel()->setExperiment(test::tinyExperiment());
    QVERIFY(run->isEnabled());
}

QTEST_MAIN(ExamplesTest)
#include "tst_examples.moc"
