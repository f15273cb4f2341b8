// SPDX-License-Identifier: GPL-3.0-or-later
// The Exactness screen in the real window: verdicts on lanes, faults that are switched during a run, traces
// of other programs, and the help. With DECODESCOPE_SCREENSHOTS set to a folder, pictures are kept there.
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QDropEvent>
#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "engine/backend/backend.h"
#include "engine/experiment/runner.h"
#include "engine/experiment/workload.h"
#include "engine/fault/fault_catalogue.h"
#include "engine/verify/trace_file.h"
#include "engine/verify/trace_recorder.h"
#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/exactness/evidence_list.h"
#include "ui/exactness/exactness_page.h"
#include "ui/exactness/verdict_card.h"
#include "ui/exactness/verdict_words.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/fault_panel.h"
#include "ui/help/fault_help.h"
#include "ui/help/fault_kinds.h"
#include "ui/race/lane_table.h"
#include "ui/race/race_page.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;
using test::tinyExperiment;
using test::WindowFixture;

namespace {

constexpr int exactness = 3;

Experiment faulty(std::vector<std::string> faults) {
    Experiment experiment = tinyExperiment();
    experiment.lanes[1].name = "cached";
    experiment.lanes[1].faults = std::move(faults);
    return experiment;
}

/// A run of a lane on the tiny random model, as a trace folder.
QString writeTrace(const QString& folder, std::vector<std::string> faults, std::optional<ModelRef> model) {
    const Experiment experiment = faulty(std::move(faults));
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto loaded = load_model(experiment.model, ledger);
    if (!loaded) return {};
    const auto ids = prompt_ids(experiment, *loaded);
    if (!ids) return {};
    std::vector<PromptRecord> prompts;
    for (const auto& prompt : *ids) prompts.push_back({prompt, {}});
    const auto backend = make_cpu_backend(1);
    const auto trace =
        record_trace(experiment.lanes[1], workload_of(experiment, prompts, loaded->weights->config, 12),
                     {loaded->weights, nullptr, backend.get(), ledger}, nullptr, {.model = std::move(model)});
    if (!trace || !write_trace(*trace, folder.toStdString())) return {};
    return folder;
}

ModelRef tinyModel() {
    return tinyExperiment().model;
}

}  // namespace

class ExactnessTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_theme = new Theme(this); }
    void saysWhatToDoFirst();
    void judgesLanes_data();
    void judgesLanes();
    void judgesTheExample();
    void hiddenPageAsksForNothing();
    void stopLeavesItUnjudged();
    void faultDuringARunBeginsAgain();
    void opensTraces_data();
    void opensTraces();
    void dropsATrace();
    void refusesBrokenTraces_data();
    void refusesBrokenTraces();
    void helpForEveryKind();
    void helpFromTheVerdict();

private:
    /// Waits for a verdict on the page.
    static bool awaitVerdict(const ExactnessPage* page) {
        return QTest::qWaitFor([page] { return page->verdict()->word().has_value(); }, test::patience);
    }
    static void keep(QWidget* widget, const QString& name) {
        if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
            widget->grab().save(QStringLiteral("%1/%2.png").arg(folder, name));
    }
    Theme* m_theme = nullptr;
};

void ExactnessTest::saysWhatToDoFirst() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    QVERIFY(fixture.awaitIdle());
    fixture.window->showScreen(exactness);
    const ExactnessPage* page = fixture.window->exactnessPage();
    QVERIFY(page->isVisible());
    QVERIFY(!page->verdict()->word());
    QVERIFY(page->verdict()->findChild<QLabel*>("verdictSummary")->text().contains("Press Run"));
    QVERIFY(page->errorChart()->isEmpty() && !page->errorChart()->emptyText().isEmpty());
    QVERIFY(page->callChart()->isEmpty() && !page->callChart()->emptyText().isEmpty());
    QTest::qWait(50);
    keep(fixture.window.get(), "exactness-empty");
}

void ExactnessTest::judgesLanes_data() {
    QTest::addColumn<QString>("fault");
    QTest::addColumn<VerdictWord>("word");
    QTest::addColumn<int>("kind");
    QTest::newRow("healthy") << QString() << VerdictWord::equal << -1;
    for (const Fault fault : {Fault::position_restart, Fault::mask_upper_left, Fault::token_twice}) {
        const FaultInfo& info = fault_info(fault);
        QTest::newRow(info.id) << QString(info.id) << VerdictWord::fault << static_cast<int>(info.kind);
    }
}

void ExactnessTest::judgesLanes() {
    QFETCH(QString, fault);
    QFETCH(VerdictWord, word);
    QFETCH(int, kind);
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.showScreen(exactness);
    window.panel()->setExperiment(
        faulty(fault.isEmpty() ? std::vector<std::string>() : std::vector{fault.toStdString()}));
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    const ExactnessPage* page = window.exactnessPage();
    QVERIFY(awaitVerdict(page));
    QCOMPARE(page->lane(), 1);
    QCOMPARE(*page->verdict()->word(), word);
    const auto* first = page->verdict()->findChild<QLabel*>("verdictFirst");
    QCOMPARE(first->isVisible(), word == VerdictWord::fault);
    QVERIFY(!page->evidence()->text().isEmpty());
    QCOMPARE(page->evidence()->text().contains(QStringLiteral("✗")), word == VerdictWord::fault);
    QVERIFY(!page->errorChart()->isEmpty());
    QVERIFY(!page->callChart()->isEmpty());
    QVERIFY(!page->marginChart()->isEmpty());
    const auto* help = page->verdict()->findChild<QPushButton*>("verdictHelp");
    QCOMPARE(help->isVisible(), kind >= 0);
    if (kind >= 0) {
        QVERIFY2(page->verdict()->headline().contains(faultKindTitle(static_cast<FaultKind>(kind)),
                                                      Qt::CaseInsensitive),
                 qPrintable(page->verdict()->headline()));
        QVERIFY(first->text().contains("call"));
    }
    // The race marks the lane, and only that one.
    window.racePage()->catchUp();
    const LaneTableModel* lanes = window.racePage()->lanes();
    QVERIFY(lanes->index(0, 0).data(figureRole).toString().isEmpty());
    QCOMPARE(lanes->index(1, 0).data(figureRole).toString().isEmpty(), fault.isEmpty());
    // The reference is judged too, when it is asked for.
    window.exactnessPage()->setLane(0);
    QVERIFY(awaitVerdict(page));
    QCOMPARE(*page->verdict()->word(), VerdictWord::equal);
}

void ExactnessTest::judgesTheExample() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.resize(1440, 900);
    for (const auto& [name, kind] : {std::pair("fault_positions", FaultKind::position),
                                     std::pair("fault_padding", FaultKind::padding)}) {
        auto* action = window.findChild<QMenu*>("examplesMenu")->findChild<QAction*>(name);
        QVERIFY(action != nullptr);
        window.showScreen(0);
        const auto before = window.data().finishedRecord();
        action->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(
            window.data().finishedRecord() != nullptr && window.data().finishedRecord() != before,
            test::patience);
        QVERIFY(fixture.awaitIdle());
        keep(&window, QStringLiteral("%1-race").arg(QLatin1String(name)));
        window.showScreen(exactness);
        QVERIFY(awaitVerdict(window.exactnessPage()));
        QCOMPARE(*window.exactnessPage()->verdict()->word(), VerdictWord::fault);
        QVERIFY2(
            window.exactnessPage()->verdict()->headline().contains(faultKindTitle(kind), Qt::CaseInsensitive),
            qPrintable(window.exactnessPage()->verdict()->headline()));
        for (const auto mode : {Theme::Mode::Dark, Theme::Mode::Light}) {
            m_theme->setMode(mode);
            QTest::qWait(50);
            const QImage picture = window.exactnessPage()->grab().toImage();
            QCOMPARE(picture.pixel(2, 2), themeColors(mode == Theme::Mode::Dark).window.rgb());
            keep(&window, QStringLiteral("%1-%2").arg(QLatin1String(name),
                                                      mode == Theme::Mode::Dark ? "dark" : "light"));
        }
    }
}

void ExactnessTest::hiddenPageAsksForNothing() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    QSignalSpy asked(window.exactnessPage(), &ExactnessPage::judgeRequested);
    window.panel()->setExperiment(faulty({"position-restart"}));
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    QCOMPARE(asked.size(), 0);
    window.showScreen(exactness);
    QCOMPARE(asked.size(), 1);
    QVERIFY(window.exactnessPage()->verdict()->headline().contains("Judging"));
    QVERIFY(awaitVerdict(window.exactnessPage()));
    window.showScreen(0);
    window.showScreen(exactness);
    QCOMPARE(asked.size(), 1);
}

void ExactnessTest::stopLeavesItUnjudged() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.panel()->setExperiment(faulty({"position-restart"}));
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    window.showScreen(exactness);
    window.session()->stop();
    QVERIFY(QTest::qWaitFor(
        [&] {
            return window.exactnessPage()->verdict()->word().has_value() ||
                   !window.exactnessPage()->verdict()->headline().contains("Judging");
        },
        60'000));
    QVERIFY(fixture.awaitIdle());
    auto* again = window.exactnessPage()->verdict()->findChild<QPushButton*>("verdictAction");
    // A fast machine may have been done before it was stopped.
    if (!window.exactnessPage()->verdict()->word()) {
        QVERIFY(again->isVisible());
        QTest::mouseClick(again, Qt::LeftButton);
        QVERIFY(awaitVerdict(window.exactnessPage()));
    }
    QCOMPARE(*window.exactnessPage()->verdict()->word(), VerdictWord::fault);
}

void ExactnessTest::faultDuringARunBeginsAgain() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    Experiment experiment = faulty({});
    experiment.repetitions = 2000;
    window.panel()->setExperiment(experiment);
    window.startRun();
    QTRY_VERIFY_WITH_TIMEOUT(window.data().isLive(), test::patience);
    experiment.lanes[1].faults = {"position-restart"};
    emit window.panel()->faults()->edited(1, experiment.lanes[1].faults);
    QTRY_VERIFY_WITH_TIMEOUT(window.data().isLive() && !window.data().record().lanes[1].spec.faults.empty(),
                             test::patience);
    QCOMPARE(window.data().record().lanes[1].spec.faults, experiment.lanes[1].faults);
    QVERIFY(window.data().record().lanes[0].spec.faults.empty());
    QVERIFY(window.messages()->isVisible());
    QVERIFY(window.messages()->message().contains("cached"));
    window.session()->stop();
    QVERIFY(fixture.awaitRecord());
}

void ExactnessTest::opensTraces_data() {
    QTest::addColumn<QString>("fault");
    QTest::addColumn<bool>("named");
    QTest::addColumn<VerdictWord>("word");
    QTest::newRow("right, names its model") << QString() << true << VerdictWord::equal;
    QTest::newRow("wrong, names its model") << QString("position-restart") << true << VerdictWord::fault;
    QTest::newRow("wrong, names none") << QString("mask-upper-left") << false << VerdictWord::fault;
}

void ExactnessTest::opensTraces() {
    QFETCH(QString, fault);
    QFETCH(bool, named);
    QFETCH(VerdictWord, word);
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    if (!named) {
        window.openModel(tinyModel());
        QVERIFY(fixture.awaitIdle());
    }
    const QString folder =
        writeTrace(fixture.folder.filePath("trace"),
                   fault.isEmpty() ? std::vector<std::string>() : std::vector{fault.toStdString()},
                   named ? std::optional(tinyModel()) : std::nullopt);
    QVERIFY(!folder.isEmpty());
    window.openPath(folder);
    const ExactnessPage* page = window.exactnessPage();
    QVERIFY(page->isVisible());
    QVERIFY(awaitVerdict(page));
    QCOMPARE(*page->verdict()->word(), word);
    QVERIFY(page->trace() != nullptr);
    QVERIFY(!page->errorChart()->isVisible());
    QVERIFY(!page->callChart()->isEmpty());
    QVERIFY(page->findChild<QLabel*>("traceName")->text().contains("trace"));
    QCOMPARE(window.messages()->isVisible(), !named);
    // It is among the recent files, and the run comes back.
    QVERIFY(fixture.awaitIdle());
    bool listed = false;
    for (QMenu* menu : window.findChildren<QMenu*>()) {
        if (!menu->title().contains("Re&cent")) continue;
        emit menu->aboutToShow();
        for (const QAction* action : menu->actions())
            listed = listed || QDir::fromNativeSeparators(action->text()) == folder;
    }
    QVERIFY(listed);
    keep(&window, QStringLiteral("trace-%1").arg(QLatin1String(QTest::currentDataTag()).left(5)));
    QTest::mouseClick(page->findChild<QPushButton*>("traceBack"), Qt::LeftButton);
    QVERIFY(page->trace() == nullptr);
    QVERIFY(page->errorChart()->isVisible());
}

void ExactnessTest::dropsATrace() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    const QString folder = writeTrace(fixture.folder.filePath("trace"), {"position-restart"}, tinyModel());
    for (const QString& dropped : {folder, folder + "/trace.json"}) {
        window.showScreen(0);
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(dropped)});
        QDragEnterEvent enter({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&window, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&window, &drop);
        QVERIFY(!window.exactnessPage()->verdict()->word());
        QVERIFY(awaitVerdict(window.exactnessPage()));
        QCOMPARE(*window.exactnessPage()->verdict()->word(), VerdictWord::fault);
    }
    // A run takes its place.
    window.panel()->setExperiment(faulty({}));
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    QVERIFY(window.exactnessPage()->trace() == nullptr);
    QVERIFY(awaitVerdict(window.exactnessPage()));
    QCOMPARE(*window.exactnessPage()->verdict()->word(), VerdictWord::equal);
}

void ExactnessTest::refusesBrokenTraces_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("no JSON") << QByteArray("{\"schema\": ") << QString("trace.json");
    QTest::newRow("another version") << QByteArray("{\"schema\": \"decodescope.trace/9\", \"calls\": []}")
                                     << QString("schema");
    QTest::newRow("no calls") << QByteArray("{\"schema\": \"decodescope.trace/1\"}") << QString("calls");
}

void ExactnessTest::refusesBrokenTraces() {
    QFETCH(QByteArray, json);
    QFETCH(QString, sentence);
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    QVERIFY(QDir(fixture.folder.path()).mkdir("broken"));
    QFile file(fixture.folder.filePath("broken/trace.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(json);
    file.close();
    window.openPath(fixture.folder.filePath("broken"));
    QTRY_VERIFY_WITH_TIMEOUT(window.messages()->isVisible(), test::patience);
    QVERIFY2(window.messages()->message().contains(sentence), qPrintable(window.messages()->message()));
    QCOMPARE(window.messages()->kind(), MessageBar::Kind::error);
    QVERIFY(!window.exactnessPage()->verdict()->word());
    QVERIFY(!window.exactnessPage()->verdict()->headline().contains("Judging"));
    QVERIFY(window.exactnessPage()->trace() == nullptr);
}

void ExactnessTest::helpForEveryKind() {
    const auto entries = faultHelpEntries();
    QVERIFY2(entries.ok(), entries.ok() ? "" : entries.error().message.c_str());
    QCOMPARE(entries->size(), qsizetype{n_fault_kind});
    QWidget parent;
    for (const HelpEntry& entry : *entries) {
        QVERIFY(entry.text.size() > 100);
        QVERIFY(!entry.formula.isEmpty());
        QVERIFY(entry.pictures.size() >= 2);
        for (const HelpPicture& picture : entry.pictures) {
            QVERIFY(!picture.caption.isEmpty());
            for (const HelpPicture::Row& row : picture.rows) QVERIFY(!row.cells.isEmpty());
        }
        QDialog* dialog = showFaultHelp(entry.kind, &parent);
        QVERIFY(dialog->isVisible());
        QCOMPARE(dialog->findChild<QLabel*>("helpTitle")->text(), faultKindTitle(entry.kind));
        QCOMPARE(dialog->findChild<QLabel*>("helpText")->text(), entry.text);
        auto* pictures = dialog->findChild<HelpPictures*>("helpPictures");
        QVERIFY(!pictures->accessibleName().isEmpty());
        for (const auto mode : {Theme::Mode::Dark, Theme::Mode::Light}) {
            m_theme->setMode(mode);
            QTest::qWait(20);
            const QImage image = pictures->grab().toImage();
            QSet<QRgb> colors;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x) colors.insert(image.pixel(x, y));
            }
            QVERIFY(colors.contains(themeColors(mode == Theme::Mode::Dark).bad.rgb()) || colors.size() > 8);
            keep(dialog, QStringLiteral("help-%1-%2")
                             .arg(QLatin1String(to_string(entry.kind)),
                                  mode == Theme::Mode::Dark ? "dark" : "light"));
        }
        QCOMPARE(parent.findChildren<QDialog*>("faultHelp").size(), 1);
    }
}

void ExactnessTest::helpFromTheVerdict() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.showScreen(exactness);
    window.panel()->setExperiment(faulty({"mask-upper-left"}));
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    QVERIFY(awaitVerdict(window.exactnessPage()));
    QTest::mouseClick(window.exactnessPage()->verdict()->findChild<QPushButton*>("verdictHelp"),
                      Qt::LeftButton);
    auto* dialog = window.findChild<QDialog*>("faultHelp");
    QVERIFY(dialog != nullptr && dialog->isVisible() && !dialog->isModal());
    QCOMPARE(dialog->findChild<QLabel*>("helpTitle")->text(), faultKindTitle(FaultKind::mask));
    (*window.actions())[ActionId::faultHelp]->trigger();
    QCOMPARE(window.findChildren<QDialog*>("faultHelp").size(), 1);
    QCOMPARE(dialog->findChild<QLabel*>("helpTitle")->text(), faultKindTitle(FaultKind::position));
    QTest::keyClick(dialog->findChild<QListWidget*>("helpKinds"), Qt::Key_Down);
    QCOMPARE(dialog->findChild<QLabel*>("helpTitle")->text(), faultKindTitle(FaultKind::mask));
    dialog->close();
}

QTEST_MAIN(ExactnessTest)
#include "tst_exactness.moc"
