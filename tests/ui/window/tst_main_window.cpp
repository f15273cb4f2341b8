// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window on a model of random weights: every way in, every way out.
#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QHelpEvent>
#include <QLabel>
#include <QSpinBox>
#include <QTest>
#include <QToolTip>

#include "tests/file_content.h"
#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/chart/matrix_chart.h"
#include "ui/exactness/exactness_page.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/inside/inside_page.h"
#include "ui/inside/inside_views.h"
#include "ui/memory/memory_page.h"
#include "ui/race/lane_table.h"
#include "ui/race/race_page.h"
#include "ui/race/token_stream.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;
using test::tinyExperiment;
using test::WindowFixture;

class MainWindowTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_theme = new Theme(this); }
    void opensOnTheDemo();
    void runsAndShowsEverything();
    void closesDuringARun();
    void saysWhyNot_data();
    void saysWhyNot();
    void recordsSurviveTheirFile();
    void exportsCharts();
    void opensGgufFiles();
    void remembersPanelAndWindow();
    void forgetsTheUntouchedDemo();
    void keysReachTheirCommands();
    void shortcutsAreUnique();
    void countsDroppedEvents();
    void fitsSmallWindows();
    void statusTextGivesWay();
    void keyboardReachesEverything();
    void takesARecordApartOnceItsModelIsThere();

private:
    Theme* m_theme = nullptr;
};

void MainWindowTest::opensOnTheDemo() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    QVERIFY(fixture.awaitIdle());
    const Experiment experiment = fixture.window->panel()->experiment();
    QCOMPARE(experiment.model.path, std::string("demo"));
    QVERIFY(experiment.validate().ok());
    QVERIFY(fixture.window->data().isEmpty());
    QVERIFY(fixture.window->messages()->isHidden());
    const auto& actions = *fixture.window->actions();
    QVERIFY(actions[ActionId::run]->isEnabled());
    QVERIFY(!actions[ActionId::stop]->isEnabled());
    QVERIFY(!actions[ActionId::saveRecord]->isEnabled());
    QVERIFY(!actions[ActionId::exportCharts]->isEnabled());
}

void MainWindowTest::runsAndShowsEverything() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    Experiment experiment = tinyExperiment(12);
    experiment.repetitions = 2;
    window.panel()->setExperiment(experiment);
    (*window.actions())[ActionId::run]->trigger();
    QVERIFY(fixture.awaitRecord());
    const auto record = window.data().finishedRecord();
    QCOMPARE(record->status, FinishReason::length);
    QCOMPARE(record->lanes.size(), std::size_t{2});
    const auto& lanes = window.racePage()->lanes()->lanes();
    QCOMPARE(lanes.size(), std::size_t{2});
    QCOMPARE(lanes[0].agreement, Agreement::reference);
    QCOMPARE(lanes[1].agreement, Agreement::exact);
    QVERIFY(lanes[1].againstReference > 0);
    QCOMPARE(window.racePage()->stream(0)->tokenCount(), 12);
    QCOMPARE(window.racePage()->stream(0)->text(), window.racePage()->stream(1)->text());
    // Two lanes, each with the band of its repetitions; eleven decode steps.
    QCOMPARE(
        window.racePage()->latencyChart()->pointCount(window.racePage()->latencyChart()->seriesCount() - 1),
        11);
    QCOMPARE(window.racePage()->totalChart()->pointCount(0), 12);
    window.showScreen(1);
    QVERIFY(!window.memoryPage()->chart()->isEmpty());
    window.showScreen(2);
    QTRY_COMPARE_WITH_TIMEOUT(window.insidePage()->views()->mask()->columnCount(), 8 + 11, test::patience);
    QVERIFY(window.findChild<QLabel*>("progressLabel")->text().contains("weights alone"));
    QVERIFY((*window.actions())[ActionId::saveRecord]->isEnabled());
    QCOMPARE(window.session()->ledger()->total(), window.session()->ledger()->live(Owner::weights));
}

void MainWindowTest::closesDuringARun() {
    for (int delay : {0, 5, 60}) {
        WindowFixture fixture(*m_theme, {.autostart = false});
        Experiment experiment = tinyExperiment(40);
        experiment.repetitions = 1000;
        fixture.window->panel()->setExperiment(experiment);
        fixture.window->startRun();
        QTest::qWait(delay);
        const std::weak_ptr<const MemoryLedger> ledger = fixture.window->session()->ledger();
        QVERIFY(fixture.window->close());
        fixture.window.reset();
        QVERIFY2(ledger.expired(), "something still holds the engine's memory");
    }
}

void MainWindowTest::saysWhyNot_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("fragment");
    QTest::newRow("no lanes") << "lanes"
                              << "lane";
    QTest::newRow("empty prompt") << "prompt"
                                  << "prompt";
    QTest::newRow("token outside the vocabulary") << "ids"
                                                  << "vocabulary";
    QTest::newRow("missing path") << "missing"
                                  << "was not found";
    QTest::newRow("neither") << "text"
                             << "neither a model nor an experiment nor a record";
    QTest::newRow("broken experiment") << "experiment"
                                       << "broken.json";
    QTest::newRow("newer schema") << "schema"
                                  << "decodescope.record/99";
    QTest::newRow("folder without a model") << "folder"
                                            << "config.json";
}

void MainWindowTest::saysWhyNot() {
    QFETCH(QString, kind);
    QFETCH(QString, fragment);
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    Experiment experiment = tinyExperiment();
    const QString broken = fixture.folder.filePath("broken.json");
    if (kind == "lanes") experiment.lanes.clear();
    if (kind == "prompt") experiment.prompts = {PromptSpec()};
    if (kind == "ids") experiment.prompts = {{.kind = PromptSpec::Kind::ids, .text = {}, .ids = {1'000'000}}};
    if (kind == "missing") window.openPath("/no/such/place");
    if (kind == "text") test::writeFile(broken, "Dear diary");
    if (kind == "experiment")
        test::writeFile(broken, R"({"schema": "decodescope.experiment/1", "lanes": 3})");
    if (kind == "schema") test::writeFile(broken, R"({"schema": "decodescope.record/99"})");
    if (QFile::exists(broken)) window.openPath(broken);
    if (kind == "folder") window.openPath(fixture.folder.path());
    if (kind == "lanes" || kind == "prompt" || kind == "ids") {
        window.panel()->setExperiment(experiment);
        window.startRun();
    }
    QTRY_VERIFY_WITH_TIMEOUT(!window.messages()->isHidden(), test::patience);
    QVERIFY(fixture.awaitIdle());
    const QString sentence = window.messages()->message();
    QVERIFY2(sentence.contains(fragment), qPrintable(sentence));
    QVERIFY2(!sentence.contains('\n'), "one sentence, please");
    QCOMPARE(window.messages()->kind(), MessageBar::Kind::error);
    QVERIFY2(QApplication::activeModalWidget() == nullptr, "no dialog may come in the way");
    // The model that was there is still there and runs.
    window.panel()->setExperiment(tinyExperiment());
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    QVERIFY(window.messages()->isHidden());
}

void MainWindowTest::recordsSurviveTheirFile() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    window.panel()->setExperiment(tinyExperiment());
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    const QString path = fixture.folder.filePath("run.json");
    QVERIFY(window.saveRecordTo(path));
    const std::string before = to_json(*window.data().finishedRecord());
    const QString text = window.racePage()->stream(1)->text();

    WindowFixture other(*m_theme, {.open = path, .autostart = false});
    QVERIFY(other.awaitIdle());
    QVERIFY(other.window->data().finishedRecord() != nullptr);
    QCOMPARE(to_json(*other.window->data().finishedRecord()), before);
    QCOMPARE(other.window->racePage()->stream(1)->text(), text);
    QCOMPARE(other.window->panel()->experiment().model.preset, std::string("tiny"));
    // Into a place that does not exist: one sentence, nothing lost.
    QVERIFY(!window.saveRecordTo("/no/such/folder/run.json"));
    QVERIFY(!window.messages()->isHidden());
}

void MainWindowTest::exportsCharts() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(!window.exportChartsTo(fixture.folder.filePath("early")));
    window.panel()->setExperiment(tinyExperiment());
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    const QString folder = fixture.folder.filePath("charts");
    QVERIFY(window.exportChartsTo(folder));
    const QStringList files = QDir(folder).entryList(QDir::Files);
    for (const char* suffix : {".png", ".svg", ".pdf", ".csv", ".html"}) {
        const auto with =
            std::count_if(files.begin(), files.end(), [&](const QString& f) { return f.endsWith(suffix); });
        QVERIFY2(with > 0, suffix);
    }
    QVERIFY(window.messages()->message().contains(QString::number(files.size())));
}

void MainWindowTest::opensGgufFiles() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    QVERIFY(fixture.awaitIdle());
    MainWindow& window = *fixture.window;
    window.openPath(QStringLiteral(DECODESCOPE_TEST_DATA "/gguf/llama.qwen2-f32.gguf"));
    QVERIFY(fixture.awaitIdle());
    QTRY_COMPARE_WITH_TIMEOUT(window.session()->model()->weights->config.name, std::string("llama.qwen2-f32"),
                              test::patience);
    QCOMPARE(window.findChild<QLabel*>("modelName")->text(), QStringLiteral("llama.qwen2-f32.gguf"));
    QVERIFY(window.messages()->isHidden());
}

void MainWindowTest::remembersPanelAndWindow() {
    QTemporaryDir folder;
    const QString path = folder.filePath("settings.ini");
    {
        WindowFixture fixture(*m_theme, {.settingsPath = path, .autostart = false});
        QVERIFY(fixture.awaitIdle());
        fixture.window->resize(1200, 800);
        fixture.window->showScreen(2);
        fixture.window->panel()->findChild<QSpinBox*>("newTokens")->setValue(123);
        (*fixture.window->actions())[ActionId::themeDark]->trigger();
        QVERIFY(m_theme->isDark());
        fixture.window->close();
    }
    m_theme->setMode(Theme::Mode::Light);
    {
        WindowFixture fixture(*m_theme, {.settingsPath = path});
        QVERIFY(fixture.awaitIdle());
        QCOMPARE(fixture.window->size(), QSize(1200, 800));
        QCOMPARE(fixture.window->panel()->experiment().new_tokens, 123);
        QVERIFY(fixture.window->insidePage()->isVisible());
        QVERIFY(m_theme->isDark());
        // A changed experiment is shown, not run.
        QVERIFY(fixture.window->data().isEmpty());
        fixture.window->close();
    }
    // A settings file with nonsense in it does no harm.
    test::writeFile(
        path, "[panel]\nexperiment=garbage\n[window]\nscreen=nowhere\ngeometry=1\nsplitter=@Invalid()\n");
    WindowFixture fixture(*m_theme, {.settingsPath = path, .autostart = false});
    QVERIFY(fixture.awaitIdle());
    QCOMPARE(fixture.window->panel()->experiment().model.path, std::string("demo"));
    QVERIFY(fixture.window->racePage()->isVisible());
    m_theme->setMode(Theme::Mode::Light);
}

void MainWindowTest::forgetsTheUntouchedDemo() {
    QTemporaryDir folder;
    const QString path = folder.filePath("settings.ini");
    {
        WindowFixture fixture(*m_theme, {.settingsPath = path, .autostart = false});
        QVERIFY(fixture.awaitIdle());
        fixture.window->close();
    }
    WindowFixture fixture(*m_theme, {.settingsPath = path});
    // The second start shows the demo race again, running.
    QTRY_COMPARE_WITH_TIMEOUT(fixture.window->session()->activity(), Session::Activity::running,
                              test::patience);
    QTRY_VERIFY_WITH_TIMEOUT(fixture.window->data().isLive(), test::patience);
    QCOMPARE(fixture.window->data().record().experiment.model.path, std::string("demo"));
    fixture.window->session()->stop();
    QVERIFY(fixture.awaitRecord());
}

void MainWindowTest::keysReachTheirCommands() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    QVERIFY(QTest::qWaitForWindowActive(&window, test::patience));
    QTest::keyClick(&window, Qt::Key_2, Qt::ControlModifier);
    QVERIFY(window.memoryPage()->isVisible());
    QTest::keyClick(&window, Qt::Key_3, Qt::ControlModifier);
    QVERIFY(window.insidePage()->isVisible());
    QTest::keyClick(&window, Qt::Key_4, Qt::ControlModifier);
    QVERIFY(window.exactnessPage()->isVisible());
    QTest::keyClick(&window, Qt::Key_1, Qt::ControlModifier);
    QVERIFY(window.racePage()->isVisible());
    window.panel()->setExperiment(tinyExperiment());
    QTest::keyClick(&window, Qt::Key_R, Qt::ControlModifier);
    QVERIFY(fixture.awaitRecord());
    QTest::keyClick(&window, Qt::Key_F1);
    auto* sheet = window.findChild<QDialog*>("shortcutSheet");
    QVERIFY(sheet != nullptr && sheet->isVisible());
    QVERIFY(!sheet->isModal());
    QStringList texts;
    for (const QLabel* label : sheet->findChildren<QLabel*>()) texts << label->text();
    QVERIFY(texts.contains("Ctrl+R or F5"));
    sheet->close();
}

void MainWindowTest::shortcutsAreUnique() {
    QObject parent;
    const Actions actions(&parent);
    QStringList seen;
    for (const QAction* action : parent.findChildren<QAction*>()) {
        QVERIFY(!action->text().isEmpty());
        QVERIFY(!action->toolTip().isEmpty());
        QVERIFY(!action->objectName().isEmpty());
        for (const QKeySequence& key : action->shortcuts()) {
            QVERIFY2(!seen.contains(key.toString()), qPrintable(key.toString()));
            seen << key.toString();
        }
    }
    QCOMPARE(static_cast<std::size_t>(parent.findChildren<QAction*>().size()), n_action);
}

void MainWindowTest::countsDroppedEvents() {
    WindowFixture fixture(*m_theme, {.autostart = false, .ringCapacity = 1});
    MainWindow& window = *fixture.window;
    Experiment experiment = tinyExperiment(40);
    experiment.repetitions = 20;
    window.panel()->setExperiment(experiment);
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    QVERIFY(window.session()->droppedEvents() > 0);
    QVERIFY(!window.findChild<QLabel*>("droppedLabel")->text().startsWith("0 "));
    // What the window could not draw live, it draws now: the record has it all.
    QCOMPARE(window.racePage()->stream(0)->tokenCount(), 40);
    for (const LaneRecord& lane : window.data().record().lanes) {
        QCOMPARE(lane.repetitions.size(), std::size_t{20});
        for (const RepetitionRecord& repetition : lane.repetitions)
            QCOMPARE(repetition.steps.size(), std::size_t{40});
    }
}

void MainWindowTest::fitsSmallWindows() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    QVERIFY(fixture.awaitIdle());
    const QSize least = fixture.window->minimumSizeHint();
    QVERIFY2(least.width() <= 1100 && least.height() <= 700,
             qPrintable(QString("%1 x %2").arg(least.width()).arg(least.height())));
}

// A text that is longer than the room beside the device ends with an ellipsis, and the tool tip has all of
// it.
void MainWindowTest::statusTextGivesWay() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.panel()->setExperiment(tinyExperiment(5));
    (*window.actions())[ActionId::run]->trigger();
    QVERIFY(fixture.awaitRecord());
    QVERIFY(fixture.awaitIdle());
    auto* progress = window.findChild<ElidingLabel*>("progressLabel");
    const auto toolTip = [&] {
        QToolTip::hideText();
        QHelpEvent help(QEvent::ToolTip, progress->rect().center(),
                        progress->mapToGlobal(progress->rect().center()));
        QCoreApplication::sendEvent(progress, &help);
        return QToolTip::text();
    };
    window.resize(2400, 800);
    QTRY_COMPARE_WITH_TIMEOUT(progress->shownText(), progress->text(), test::patience);
    QVERIFY(toolTip().isEmpty());
    // As long as with a GPU's name beside it, and a larger font.
    window.resize(1100, 800);
    progress->setText(progress->text() + QStringLiteral(" · ") + progress->text());
    QTRY_VERIFY_WITH_TIMEOUT(progress->shownText() != progress->text(), test::patience);
    QVERIFY2(progress->shownText().endsWith(QChar(0x2026)), qPrintable(progress->shownText()));
    QVERIFY(progress->fontMetrics().horizontalAdvance(progress->shownText()) <=
            progress->contentsRect().width());
    QCOMPARE(toolTip(), progress->text());
    // It never lies under the device.
    QVERIFY(progress->geometry().right() < window.findChild<QLabel*>("deviceLabel")->geometry().left());
    QToolTip::hideText();
}

// Tab goes through tool bar, panel and page, and every stop has something to read out.
void MainWindowTest::keyboardReachesEverything() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    QStringList stops;
    for (QWidget* w = window.nextInFocusChain(); w != &window; w = w->nextInFocusChain()) {
        if (!w->isVisible() || !w->isEnabled() || !(w->focusPolicy() & Qt::TabFocus) ||
            w->focusProxy() != nullptr)
            continue;
        const QString text =
            w->accessibleName().isEmpty() ? w->property("text").toString() : w->accessibleName();
        QVERIFY2(!text.isEmpty(), qPrintable(w->metaObject()->className() + w->objectName()));
        stops << w->objectName();
    }
    const auto place = [&](const char* name) { return stops.indexOf(QLatin1String(name)); };
    QVERIFY(place("runButton") >= 0);
    QVERIFY(place("runButton") < place("promptEdit"));
    QVERIFY(place("promptEdit") < place("newTokens"));
    QVERIFY(place("promptEdit") < place("addPrompt"));
    QVERIFY(place("addPrompt") < place("newTokens"));
    QVERIFY(place("newTokens") < place("laneName"));
    QVERIFY(place("laneName") < place("laneKind"));
    QVERIFY(place("laneKind") < place("laneMore"));
    QVERIFY(stops.lastIndexOf("laneMore") < place("addLane"));
    QVERIFY(place("addLane") < place("repetitions"));
    QVERIFY(place("repetitions") < place("laneTable"));
    QVERIFY(place("laneTable") < place("stream0"));
}

void MainWindowTest::takesARecordApartOnceItsModelIsThere() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    Experiment experiment = window.panel()->experiment();
    experiment.new_tokens = 5;
    experiment.warmup = 0;
    window.panel()->setExperiment(experiment);
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    const QString path = fixture.folder.filePath("demo.json");
    QVERIFY(window.saveRecordTo(path));

    WindowFixture other(*m_theme, {.open = path, .autostart = false});
    TokenStream* stream = other.window->racePage()->stream(0);
    QVERIFY(stream != nullptr);
    QCOMPARE(stream->tokenCount(), 0);  // the text alone
    const QString text = stream->text();
    QVERIFY(other.awaitIdle());
    QCOMPARE(stream->tokenCount(), 5);
    QCOMPARE(stream->text(), text);
    QCOMPARE(stream->text(), window.racePage()->stream(0)->text());
}

QTEST_MAIN(MainWindowTest)
#include "tst_main_window.moc"
