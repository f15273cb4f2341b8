// SPDX-License-Identifier: GPL-3.0-or-later
// What comes in the middle of something else: stops at random moments, another model, files that are dropped.
#include <QComboBox>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QRandomGenerator>
#include <QTest>
#include <QToolButton>

#include "engine/sweep/sweep.h"
#include "tests/file_content.h"
#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/exactness/exactness_page.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/fetch/model_fetch.h"
#include "ui/plan/plan_page.h"
#include "ui/race/race_page.h"
#include "ui/sweep/sweep_page.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;
using test::tinyExperiment;
using test::WindowFixture;

namespace {

constexpr int stops = 200;
// Sanitizers watch the same code in fewer rounds.
constexpr int roundsHere = test::slowness == 1 ? stops : stops / 5;

Experiment endless() {
    Experiment experiment = tinyExperiment(40);
    experiment.repetitions = 5000;
    return experiment;
}

}  // namespace

class InterruptionsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_theme = new Theme(this); }
    void stopsAtRandomMoments();
    void anotherModelDuringARun_data();
    void anotherModelDuringARun();
    void drops_data();
    void drops();
    void dropsThatAreNoFiles();

private:
    static bool drop(MainWindow& window, const QList<QUrl>& urls);

    Theme* m_theme = nullptr;
};

void InterruptionsTest::stopsAtRandomMoments() {
    QRandomGenerator random(77);
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    window.panel()->setExperiment(endless());
    QVERIFY(fixture.awaitIdle());
    const auto* progress = window.findChild<QLabel*>("progressLabel");
    int partial = 0;
    for (int round = 0; round < roundsHere; ++round) {
        const auto before = window.data().finishedRecord();
        window.startRun();
        // Also before anything has begun.
        const bool begun = round % 4 != 0;
        if (begun)
            QTRY_COMPARE_WITH_TIMEOUT(window.session()->activity(), Session::Activity::running,
                                      test::patience);
        QVERIFY(!(*window.actions())[ActionId::run]->isEnabled() || !begun);
        if (const int wait = random.bounded(begun ? 25 : 4); wait > 0) QTest::qWait(wait);
        QTest::keyClick(&window, Qt::Key_Escape);
        QTRY_VERIFY_WITH_TIMEOUT(!window.session()->hasRun(), test::patience);
        QVERIFY(fixture.awaitIdle());
        QCOMPARE(window.session()->ledger()->live(Owner::kv), 0u);
        QCOMPARE(window.session()->ledger()->total(), window.session()->ledger()->live(Owner::weights));
        QVERIFY(window.messages()->isHidden());
        QVERIFY((*window.actions())[ActionId::run]->isEnabled());
        QVERIFY(!(*window.actions())[ActionId::stop]->isEnabled());
        if (begun) QTRY_VERIFY_WITH_TIMEOUT(window.data().finishedRecord() != before, test::patience);
        const auto record = window.data().finishedRecord();
        if (record == nullptr || record == before) continue;
        ++partial;
        QCOMPARE(record->status, FinishReason::cancelled);
        QVERIFY(!record->reason.empty());
        QCOMPARE(record->tensor_bytes_after[static_cast<std::size_t>(Owner::kv)], 0u);
        for (const LaneRecord& lane : record->lanes)
            QVERIFY(lane.repetitions.size() < static_cast<std::size_t>(record->experiment.repetitions));
        QVERIFY2(progress->text().startsWith("Stopped at token"), qPrintable(progress->text()));
    }
    QVERIFY(partial >= roundsHere * 3 / 4);
    // It all works after that.
    window.panel()->setExperiment(tinyExperiment());
    window.startRun();
    QTRY_VERIFY_WITH_TIMEOUT(window.data().finishedRecord() != nullptr &&
                                 window.data().finishedRecord()->status == FinishReason::length,
                             test::patience);
}

void InterruptionsTest::anotherModelDuringARun_data() {
    QTest::addColumn<QString>("way");
    for (const char* way : {"folder", "gguf", "drop", "record", "panel", "fetch"})
        QTest::newRow(way) << QString(way);
}

// Refused in a sentence, or not offered at all; the run goes on as if nothing had been.
void InterruptionsTest::anotherModelDuringARun() {
    QFETCH(QString, way);
    const QString folder = QStringLiteral(DECODESCOPE_TEST_DATA "/gpt2/plain-f32");
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.panel()->setExperiment(tinyExperiment());
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    const QString record = fixture.folder.filePath("run.json");
    QVERIFY(window.saveRecordTo(record));
    window.panel()->setExperiment(endless());
    window.startRun();
    QTRY_VERIFY_WITH_TIMEOUT(window.data().isLive() && window.data().repetition() > 0, test::patience);
    QVERIFY(window.messages()->isHidden());

    const auto model = window.session()->model();
    const QString name = window.findChild<QLabel*>("modelName")->text();
    if (way == "folder") window.openPath(folder);
    if (way == "gguf") window.openPath(QStringLiteral(DECODESCOPE_TEST_DATA "/gguf/llama.qwen2-f32.gguf"));
    if (way == "record") window.openPath(record);
    if (way == "drop") QVERIFY(drop(window, {QUrl::fromLocalFile(folder)}));
    if (way == "panel") QVERIFY(!window.findChild<QToolButton*>("modelChoose")->isEnabled());
    if (way == "fetch") emit window.modelFetch()->fetched(folder);
    if (way != "panel") {
        QTRY_VERIFY_WITH_TIMEOUT(!window.messages()->isHidden(), test::patience);
        QCOMPARE(window.messages()->kind(), MessageBar::Kind::info);
        QVERIFY2(
            window.messages()->message().contains(way == "fetch" ? "when the run is over" : "stop it before"),
            qPrintable(window.messages()->message()));
    }
    const int repetition = window.data().repetition();
    QTRY_VERIFY_WITH_TIMEOUT(window.data().repetition() > repetition + 2, test::patience);
    QCOMPARE(window.session()->activity(), Session::Activity::running);
    QCOMPARE(window.session()->model(), model);
    QCOMPARE(window.findChild<QLabel*>("modelName")->text(), name);
    window.session()->stop();
    QVERIFY(fixture.awaitRecord());
    // Now it is opened.
    window.openPath(folder);
    QVERIFY(fixture.awaitIdle());
    QTRY_COMPARE_WITH_TIMEOUT(QString::fromStdString(window.session()->modelRef().path), folder,
                              test::patience);
}

bool InterruptionsTest::drop(MainWindow& window, const QList<QUrl>& urls) {
    QMimeData data;
    data.setUrls(urls);
    QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    enter.ignore();
    QCoreApplication::sendEvent(&window, &enter);
    if (!enter.isAccepted()) return false;
    QDropEvent event({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &event);
    return true;
}

void InterruptionsTest::drops_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("sentence");  // of the message bar; empty = none
    QTest::newRow("model folder") << "folder" << QString();
    QTest::newRow("gguf") << "gguf" << QString();
    QTest::newRow("record") << "record" << QString();
    QTest::newRow("experiment") << "experiment" << QString();
    QTest::newRow("trace folder") << "trace" << QString();
    QTest::newRow("sweep") << "sweep" << QString();
    QTest::newRow("config.json") << "config" << QString();
    QTest::newRow("unknown") << "unknown"
                             << "is neither a model nor";
    QTest::newRow("folder without a model") << "empty"
                                            << "config.json";
    QTest::newRow("gone meanwhile") << "gone"
                                    << "was not found";
    QTest::newRow("two files") << "two"
                               << "One at a time";
}

void InterruptionsTest::drops() {
    QFETCH(QString, kind);
    QFETCH(QString, sentence);
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.panel()->setExperiment(tinyExperiment(9));
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    const auto shown = window.data().finishedRecord();
    const std::string experiment = to_json(window.panel()->experiment());

    const QString data = QStringLiteral(DECODESCOPE_TEST_DATA);
    QString path = fixture.folder.filePath(kind);
    if (kind == "folder") path = data + "/gpt2/plain-f32";
    if (kind == "gguf") path = data + "/gguf/llama.qwen2-f32.gguf";
    if (kind == "trace") path = data + "/traces/gpt2-generate-f32";
    if (kind == "config") path = data + "/gpt2/plain-f32/config.json";
    if (kind == "record") QVERIFY(save_record(*shown, path.toStdString()).ok());
    if (kind == "experiment") test::writeFile(path, QByteArray::fromStdString(to_json(tinyExperiment(33))));
    if (kind == "unknown") test::writeFile(path, "Dear diary");
    if (kind == "empty") QVERIFY(QDir().mkdir(path));
    if (kind == "sweep") {
        path += ".jsonl";
        Cell cell;
        cell.lane = *lane_from_name("naive");
        test::writeFile(path, QByteArray::fromStdString(
                                  sweep_jsonl({{.sweep = "a", .n_point = 1, .n_lane = 1, .cell = cell}})));
    }
    QList<QUrl> urls = {QUrl::fromLocalFile(path)};
    if (kind == "two") urls = {QUrl::fromLocalFile(data + "/gpt2/plain-f32"), QUrl::fromLocalFile(data)};
    QVERIFY(drop(window, urls));
    QVERIFY(fixture.awaitIdle());
    if (!sentence.isEmpty()) QTRY_VERIFY_WITH_TIMEOUT(!window.messages()->isHidden(), test::patience);
    QCOMPARE(window.messages()->message().contains(sentence) && !window.messages()->isHidden(),
             !sentence.isEmpty());
    if (!sentence.isEmpty()) {
        QVERIFY(!window.messages()->message().contains('\n'));
        // Nothing is lost.
        QCOMPARE(window.data().finishedRecord(), shown);
        QCOMPARE(to_json(window.panel()->experiment()), experiment);
        QCOMPARE(window.session()->modelRef().preset, std::string("tiny"));
        return;
    }
    if (kind == "folder" || kind == "gguf")
        QTRY_COMPARE_WITH_TIMEOUT(QString::fromStdString(window.session()->modelRef().path), path,
                                  test::patience);
    if (kind == "record") QVERIFY(window.data().finishedRecord() != shown);
    if (kind == "experiment") QCOMPARE(window.panel()->experiment().new_tokens, 33);
    if (kind == "trace") QVERIFY(window.exactnessPage()->isVisible());
    if (kind == "sweep") {
        QVERIFY(window.sweepPage()->isVisible());
        QCOMPARE(window.sweepPage()->cells().size(), std::size_t{1});
    }
    if (kind == "config") {
        QVERIFY(window.planPage()->isVisible());
        QVERIFY(window.planPage()->report() != nullptr);
        QCOMPARE(window.data().finishedRecord(), shown);
    }
}

void InterruptionsTest::dropsThatAreNoFiles() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    QVERIFY(fixture.awaitIdle());
    QVERIFY(!drop(*fixture.window, {}));
    QVERIFY(!drop(*fixture.window, {QUrl(QStringLiteral("https://example.org/model.gguf"))}));
    QVERIFY(fixture.window->messages()->isHidden());
}

QTEST_MAIN(InterruptionsTest)
#include "tst_interruptions.moc"
