// SPDX-License-Identifier: GPL-3.0-or-later
// Every command of the window in every state: whether it can be used, and that it does what it says.
#include <QDialog>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPointer>
#include <QProgressDialog>
#include <QTest>
#include <QTimer>

#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/exactness/exactness_page.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/fetch/model_fetch.h"
#include "ui/inside/inside_page.h"
#include "ui/memory/memory_page.h"
#include "ui/plan/plan_page.h"
#include "ui/race/race_page.h"
#include "ui/report/export_dialog.h"
#include "ui/report/report_page.h"
#include "ui/sweep/sweep_page.h"
#include "ui/tour/tour.h"
#include "ui/widgets/command_palette.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;
using test::tinyExperiment;

namespace {

enum class State { fresh, running, finished };
constexpr std::array states = {State::fresh, State::running, State::finished};

/// In which states a command can be used.
struct Rule {
    ActionId id;
    bool fresh, running, finished;
};

constexpr std::array rules = {
    Rule{ActionId::openModel, true, false, true},     Rule{ActionId::openModelFile, true, false, true},
    Rule{ActionId::getModel, true, true, true},       Rule{ActionId::openExperiment, true, false, true},
    Rule{ActionId::openRecord, true, false, true},    Rule{ActionId::openTrace, true, false, true},
    Rule{ActionId::saveExperiment, true, true, true}, Rule{ActionId::saveRecord, false, false, true},
    Rule{ActionId::exportCharts, false, false, true}, Rule{ActionId::compareRecord, false, false, true},
    Rule{ActionId::keepRun, false, false, true},      Rule{ActionId::endComparison, false, false, false},
    Rule{ActionId::quit, true, true, true},           Rule{ActionId::run, true, false, true},
    Rule{ActionId::step, true, true, true},           Rule{ActionId::pause, false, true, false},
    Rule{ActionId::stop, false, true, false},         Rule{ActionId::slower, true, true, true},
    Rule{ActionId::faster, true, true, true},         Rule{ActionId::showRace, true, true, true},
    Rule{ActionId::showMemory, true, true, true},     Rule{ActionId::showInside, true, true, true},
    Rule{ActionId::showExactness, true, true, true},  Rule{ActionId::showSweep, true, true, true},
    Rule{ActionId::showPlan, true, true, true},       Rule{ActionId::themeSystem, true, true, true},
    Rule{ActionId::themeLight, true, true, true},     Rule{ActionId::themeDark, true, true, true},
    Rule{ActionId::faultHelp, true, true, true},      Rule{ActionId::shortcuts, true, true, true},
    Rule{ActionId::about, true, true, true},          Rule{ActionId::showReport, true, true, true},
    Rule{ActionId::settings, true, true, true},       Rule{ActionId::undoView, false, false, false},
    Rule{ActionId::redoView, false, false, false},    Rule{ActionId::showPanel, true, true, true},
    Rule{ActionId::fullScreen, true, true, true},     Rule{ActionId::palette, true, true, true},
    Rule{ActionId::tour, true, true, true},
};

/// Answers the file dialogs that come: types a path and accepts it, or rejects when the path is empty.
class Answers : public QObject {
public:
    explicit Answers(QString path = {}) : m_path(std::move(path)) {
        m_timer.setInterval(10);
        connect(&m_timer, &QTimer::timeout, this, &Answers::answer);
        m_timer.start();
    }
    const QStringList& titles() const { return m_titles; }

private:
    void answer() {
        auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
        if (dialog == nullptr) return;
        m_titles << dialog->windowTitle();
        auto* edit = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        if (edit == nullptr || m_path.isEmpty()) {
            dialog->reject();
            return;
        }
        edit->setText(m_path);
        dialog->accept();
        if (dialog->isVisible()) dialog->reject();  // the path was not good for it
    }

    QString m_path;
    QStringList m_titles;
    QTimer m_timer;
};

}  // namespace

class MenuActionsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void everyCommandIsInAMenu();
    void doesItsThing_data();
    void doesItsThing();
    void opensAndSavesThroughTheDialog_data();
    void opensAndSavesThroughTheDialog();
    void endsAComparison();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    MainWindow& window() const { return *m_fixture->window; }
    QAction* action(ActionId id) const { return (*window().actions())[id]; }
    void reach(State state);
    void renew();
    template <class Dialog>
    Dialog* shown(const char* name = nullptr) const {
        for (Dialog* dialog : window().findChildren<Dialog*>(QLatin1String(name)))
            if (dialog->isVisible()) return dialog;
        return nullptr;
    }
    void checkEffect(ActionId id, State state, const Answers& answers);
    void checkDialog(const char* name);
    void checkPopup(QWidget* popup);
    void checkPage(const QWidget* page, ActionId id);

    Theme* m_theme = nullptr;
    QTemporaryDir m_files;
    std::shared_ptr<const Record> m_before;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void MenuActionsTest::initTestCase() {
    m_theme = new Theme(this);
    qputenv("XDG_DATA_HOME", m_files.path().toUtf8());  // where a fetched model would go
}

void MenuActionsTest::renew() {
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    window().modelFetch()->setProgram(m_files.filePath(QStringLiteral("none")));
}

void MenuActionsTest::reach(State state) {
    if (!m_fixture || !window().isVisible() || (state == State::fresh && !window().data().isEmpty())) renew();
    window().messages()->clear();
    if (state == State::fresh) return;
    const bool running = window().session()->activity() == Session::Activity::running;
    if (state == State::running && (!running || window().session()->isPaused())) {
        window().session()->stop();
        QVERIFY(m_fixture->awaitIdle());
        Experiment experiment = tinyExperiment(40);
        experiment.repetitions = 5000;
        window().panel()->setExperiment(experiment);
        window().startRun();
        QTRY_VERIFY_WITH_TIMEOUT(window().data().isLive() && window().data().latest(1) != nullptr,
                                 test::patience);
    } else if (state == State::finished && (running || window().data().finishedRecord() == nullptr)) {
        window().session()->stop();
        QVERIFY(m_fixture->awaitIdle());
        window().panel()->setExperiment(tinyExperiment());
        window().startRun();
        QVERIFY(m_fixture->awaitRecord());
    }
}

// Nothing can only be done by who knows its key; no entry of a menu is without an explanation.
void MenuActionsTest::everyCommandIsInAMenu() {
    renew();
    QSet<const QAction*> seen;
    std::function<void(const QMenu*)> collect = [&](const QMenu* menu) {
        QStringList mnemonics;
        for (const QAction* entry : menu->actions()) {
            if (entry->isSeparator()) continue;
            seen.insert(entry);
            QVERIFY(!entry->text().isEmpty());
            const int mark = static_cast<int>(entry->text().remove(QStringLiteral("&&")).indexOf('&'));
            if (mark >= 0) {
                const QString mnemonic =
                    entry->text().remove(QStringLiteral("&&")).mid(mark + 1, 1).toLower();
                QVERIFY2(!mnemonics.contains(mnemonic), qPrintable(menu->title() + ": " + entry->text()));
                mnemonics << mnemonic;
            }
            if (entry->menu() != nullptr) collect(entry->menu());
        }
    };
    for (const QAction* top : window().menuBar()->actions()) collect(top->menu());
    for (std::size_t i = 0; i < n_action; ++i) {
        const QAction* each = action(static_cast<ActionId>(i));
        QVERIFY2(seen.contains(each), qPrintable(each->objectName()));
        const auto known = [i](const Rule& rule) { return rule.id == static_cast<ActionId>(i); };
        QVERIFY2(std::any_of(rules.begin(), rules.end(), known),
                 qPrintable(each->objectName() + " has no rule in this test"));
    }
}

void MenuActionsTest::doesItsThing_data() {
    QTest::addColumn<int>("id");
    QTest::addColumn<int>("state");
    QTest::addColumn<bool>("enabled");
    QObject parent;
    const Actions names(&parent);
    for (const State state : states) {
        for (const Rule& rule : rules) {
            const char* const words[] = {"fresh", "running", "finished"};
            QTest::addRow("%s-%s", qPrintable(names[rule.id]->objectName()), words[static_cast<int>(state)])
                << static_cast<int>(rule.id) << static_cast<int>(state)
                << (state == State::fresh     ? rule.fresh
                    : state == State::running ? rule.running
                                              : rule.finished);
        }
    }
}

void MenuActionsTest::doesItsThing() {
    QFETCH(int, id);
    QFETCH(int, state);
    QFETCH(bool, enabled);
    reach(static_cast<State>(state));
    QAction* subject = action(static_cast<ActionId>(id));
    QCOMPARE(subject->isEnabled(), enabled);
    if (!enabled) return;
    m_before = window().data().finishedRecord();
    Answers answers;
    subject->trigger();
    checkEffect(static_cast<ActionId>(id), static_cast<State>(state), answers);
    QVERIFY2(QApplication::activeModalWidget() == nullptr, "something modal is left");
}

void MenuActionsTest::checkPage(const QWidget* page, ActionId id) {
    QVERIFY(page->isVisible());
    QVERIFY(action(id)->isChecked());
    int checked = 0;
    for (const Rule& rule : rules)
        checked +=
            rule.id >= ActionId::showRace && rule.id <= ActionId::showReport && action(rule.id)->isChecked();
    QCOMPARE(checked, 1);
}

void MenuActionsTest::checkDialog(const char* name) {
    auto* dialog = shown<QDialog>(name);
    QVERIFY(dialog != nullptr);
    QVERIFY(!dialog->isModal());
    QVERIFY(!dialog->windowTitle().isEmpty());
    // Escape closes it, and does not stop the run behind it.
    const bool running = window().session()->activity() == Session::Activity::running;
    dialog->activateWindow();
    QTRY_COMPARE_WITH_TIMEOUT(QApplication::activeWindow(), dialog, test::patience);
    QTest::keyClick(dialog->focusWidget() != nullptr ? dialog->focusWidget() : dialog, Qt::Key_Escape);
    QTRY_VERIFY_WITH_TIMEOUT(shown<QDialog>(name) == nullptr, test::patience);
    QVERIFY(!running || !window().session()->isStopping());
}

// Escape ends it, and not the run.
void MenuActionsTest::checkPopup(QWidget* popup) {
    QVERIFY(popup != nullptr && popup->isVisible());
    const bool running = window().session()->activity() == Session::Activity::running;
    const QPointer<QWidget> watched = popup;
    QWidget* focus = QApplication::focusWidget();
    QTest::keyClick(focus != nullptr && popup->isAncestorOf(focus) ? focus : popup, Qt::Key_Escape);
    QTRY_VERIFY_WITH_TIMEOUT(watched == nullptr || !watched->isVisible(), test::patience);
    QVERIFY(!running || !window().session()->isStopping());
}

void MenuActionsTest::checkEffect(ActionId id, State state, const Answers& answers) {
    const auto isDialog = [&](const char* title) {
        QCOMPARE(answers.titles(), QStringList(QLatin1String(title)));
        QVERIFY(window().messages()->isHidden());
    };
    const auto speed = [this] { return window().findChild<QLabel*>(QStringLiteral("speedValue"))->text(); };
    const auto isRunning = [this] { return window().session()->activity() == Session::Activity::running; };
    switch (id) {
        case ActionId::openModel: return isDialog("Open Model Folder");
        case ActionId::openModelFile: return isDialog("Open Model File");
        case ActionId::openExperiment: return isDialog("Open Experiment");
        case ActionId::openRecord: return isDialog("Open Record");
        case ActionId::openTrace: return isDialog("Open Trace");
        case ActionId::saveExperiment: return isDialog("Save Experiment");
        case ActionId::saveRecord: return isDialog("Save Record");
        case ActionId::compareRecord: return isDialog("Compare with a Record");
        case ActionId::getModel:
            // The program is missing on purpose.
            QTRY_VERIFY_WITH_TIMEOUT(
                window().messages()->message().contains(QStringLiteral("could not be started")),
                test::patience);
            return;
        case ActionId::exportCharts: return checkDialog("exportDialog");
        case ActionId::keepRun:
            QVERIFY(window().messages()->message().contains(QStringLiteral("is kept")));
            QVERIFY(action(ActionId::endComparison)->isEnabled());
            action(ActionId::endComparison)->trigger();
            return;
        case ActionId::endComparison: return;  // see endsAComparison
        case ActionId::quit:
            if (state == State::finished) {
                // A run that was not saved is asked about first.
                auto* question = shown<QMessageBox>("askToSave");
                QVERIFY(question != nullptr && window().isVisible());
                question->button(QMessageBox::Discard)->click();
            }
            QTRY_VERIFY_WITH_TIMEOUT(!window().isVisible(), test::patience);
            return;
        case ActionId::settings: return checkDialog("settingsDialog");
        case ActionId::palette: return checkPopup(window().findChild<CommandPalette*>());
        case ActionId::tour: return checkPopup(window().findChild<Tour*>());
        case ActionId::undoView:
        case ActionId::redoView: return;  // after a zoom only: see tst_desktop_habits
        case ActionId::showPanel:
            QVERIFY(!window().panel()->isVisible());
            action(id)->trigger();
            QVERIFY(window().panel()->isVisible());
            return;
        case ActionId::fullScreen:
            QTRY_VERIFY_WITH_TIMEOUT(window().isFullScreen(), test::patience);
            action(id)->trigger();
            QTRY_VERIFY_WITH_TIMEOUT(!window().isFullScreen(), test::patience);
            return;
        case ActionId::run:
            // A short one may be over before it is seen.
            QTRY_VERIFY_WITH_TIMEOUT(isRunning() || window().data().finishedRecord() != m_before,
                                     test::patience);
            action(ActionId::stop)->trigger();
            QVERIFY(m_fixture->awaitIdle());
            return;
        case ActionId::step:
            QTRY_VERIFY_WITH_TIMEOUT(window().session()->isHeld(), test::patience);
            action(ActionId::stop)->trigger();
            QVERIFY(m_fixture->awaitIdle());
            return;
        case ActionId::pause: QTRY_VERIFY_WITH_TIMEOUT(window().session()->isHeld(), test::patience); return;
        case ActionId::stop:
            QVERIFY(m_fixture->awaitRecord());
            QCOMPARE(window().data().finishedRecord()->status, FinishReason::cancelled);
            return;
        case ActionId::slower: QVERIFY(speed().endsWith(QStringLiteral("/ s"))); return;
        case ActionId::faster: QCOMPARE(speed(), QStringLiteral("full")); return;
        case ActionId::showRace: return checkPage(window().racePage(), id);
        case ActionId::showMemory: return checkPage(window().memoryPage(), id);
        case ActionId::showInside: return checkPage(window().insidePage(), id);
        case ActionId::showExactness: return checkPage(window().exactnessPage(), id);
        case ActionId::showSweep: return checkPage(window().sweepPage(), id);
        case ActionId::showPlan: return checkPage(window().planPage(), id);
        case ActionId::showReport: return checkPage(window().reportPage(), id);
        case ActionId::themeSystem: QCOMPARE(m_theme->mode(), Theme::Mode::System); return;
        case ActionId::themeLight: QVERIFY(!m_theme->isDark()); return;
        case ActionId::themeDark: QVERIFY(m_theme->isDark()); return;
        case ActionId::faultHelp: return checkDialog("faultHelp");
        case ActionId::shortcuts: return checkDialog("shortcutSheet");
        case ActionId::about: return checkDialog("aboutDialog");
    }
    QFAIL(qPrintable(QStringLiteral("no check of command %1 in state %2")
                         .arg(static_cast<int>(id))
                         .arg(static_cast<int>(state))));
}

void MenuActionsTest::opensAndSavesThroughTheDialog_data() {
    QTest::addColumn<int>("id");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("message");  // in the end; empty = none
    const QString data = QStringLiteral(DECODESCOPE_TEST_DATA);
    const auto add = [](const char* name, ActionId id, const QString& path, const char* message) {
        QTest::newRow(name) << static_cast<int>(id) << path << QString::fromLatin1(message);
    };
    add("save record", ActionId::saveRecord, m_files.filePath("run.json"), "The record was saved to ");
    add("save experiment", ActionId::saveExperiment, m_files.filePath("experiment.json"),
        "The experiment was saved to ");
    add("open record", ActionId::openRecord, m_files.filePath("run.json"), "");
    add("open experiment", ActionId::openExperiment, m_files.filePath("experiment.json"), "");
    add("compare", ActionId::compareRecord, m_files.filePath("run.json"), "");
    add("open trace", ActionId::openTrace, data + "/traces/gpt2-generate-f32/trace.json", "");
    add("model folder", ActionId::openModel, data + "/gpt2/plain-f32", "");
    add("model file", ActionId::openModelFile, data + "/gguf/llama.qwen2-f32.gguf", "");
    add("a record that is an experiment", ActionId::openRecord, m_files.filePath("experiment.json"),
        "decodescope.record");
}

void MenuActionsTest::opensAndSavesThroughTheDialog() {
    QFETCH(int, id);
    QFETCH(QString, path);
    QFETCH(QString, message);
    reach(State::finished);
    Answers answers(path);
    action(static_cast<ActionId>(id))->trigger();
    QCOMPARE(answers.titles().size(), 1);
    QVERIFY(QFileInfo::exists(path));
    QVERIFY(m_fixture->awaitIdle());
    QVERIFY2(message.isEmpty()
                 ? window().messages()->kind() != MessageBar::Kind::error || window().messages()->isHidden()
                 : window().messages()->message().contains(message),
             qPrintable(window().messages()->message()));
    switch (static_cast<ActionId>(id)) {
        case ActionId::openTrace:
            QTRY_VERIFY_WITH_TIMEOUT(window().exactnessPage()->isVisible(), test::patience);
            break;
        case ActionId::openModel:
            QTRY_COMPARE_WITH_TIMEOUT(QString::fromStdString(window().session()->modelRef().path), path,
                                      test::patience);
            break;
        case ActionId::openModelFile:
            QTRY_COMPARE_WITH_TIMEOUT(window().session()->model()->weights->config.name,
                                      std::string("llama.qwen2-f32"), test::patience);
            break;
        case ActionId::saveRecord: QVERIFY(load_record(path.toStdString()).ok()); break;
        case ActionId::saveExperiment: QVERIFY(load_experiment(path.toStdString()).ok()); break;
        default: break;
    }
}

void MenuActionsTest::endsAComparison() {
    renew();
    reach(State::finished);
    action(ActionId::keepRun)->trigger();
    const auto lanes = window().racePage()->latencyChart()->legend().size();
    const auto kept = window().data().finishedRecord();
    window().startRun();
    QTRY_VERIFY_WITH_TIMEOUT(
        window().data().finishedRecord() != nullptr && window().data().finishedRecord() != kept,
        test::patience);
    QCOMPARE(window().racePage()->latencyChart()->legend().size(), 2 * lanes);
    QVERIFY(action(ActionId::endComparison)->isEnabled());
    action(ActionId::endComparison)->trigger();
    QCOMPARE(window().racePage()->latencyChart()->legend().size(), lanes);
    QVERIFY(!action(ActionId::endComparison)->isEnabled());
}

QTEST_MAIN(MenuActionsTest)
#include "tst_menu_actions.moc"
