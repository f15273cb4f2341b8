// SPDX-License-Identifier: GPL-3.0-or-later
// What people expect of a desktop program: nothing is lost, settings hold and stay, every command can be
// found, a zoom can be undone, and the first minute explains itself.
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/chart/matrix_chart.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/inside/inside_page.h"
#include "ui/inside/inside_views.h"
#include "ui/memory/memory_page.h"
#include "ui/race/race_page.h"
#include "ui/tour/tour.h"
#include "ui/widgets/command_palette.h"
#include "ui/widgets/message_bar.h"
#include "ui/widgets/settings_dialog.h"

using namespace decodescope;
using test::tinyExperiment;
using test::WindowFixture;

namespace {

bool run(WindowFixture& fixture, int newTokens = 12) {
    if (!fixture.awaitIdle()) return false;
    const auto before = fixture.window->data().finishedRecord();
    fixture.window->panel()->setExperiment(tinyExperiment(newTokens));
    fixture.window->startRun();
    return QTest::qWaitFor(
               [&] {
                   const auto now = fixture.window->data().finishedRecord();
                   return now != nullptr && now != before;
               },
               60'000) &&
           fixture.awaitIdle();
}

QStringList unsavedIn(const WindowFixture& fixture) {
    return QDir(fixture.folder.filePath("unsaved")).entryList({"*.json"}, QDir::Files);
}

void turnWheel(QWidget* chart, QPoint at, int turns) {
    QWheelEvent event(at, chart->mapToGlobal(at), {}, {0, 120 * turns}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(chart, &event);
}

}  // namespace

class DesktopHabitsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_theme = new Theme(this); }
    void keepsARunUntilItIsSaved();
    void offersWhatACrashLeft();
    void forgetsWhatACrashLeft();
    void saysWhenARunCannotBeKept();
    void asksBeforeARunIsLost_data();
    void asksBeforeARunIsLost();
    void showsEarlierRuns();
    void settingsHoldAtOnceAndStay();
    void settingsAreRestored();
    void findsCommands();
    void listsEveryCommand();
    void undoesZooms();
    void undoesInMatrices();
    void hidesThePanel();
    void guidesThroughTheFirstMinute();
    void leavesTheTour();

private:
    Theme* m_theme = nullptr;
};

void DesktopHabitsTest::keepsARunUntilItIsSaved() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    QVERIFY(run(fixture));
    QTRY_COMPARE_WITH_TIMEOUT(unsavedIn(fixture).size(), 1, test::patience);
    // Whole, and the run on screen.
    const auto kept =
        load_record(fixture.folder.filePath("unsaved/" + unsavedIn(fixture).front()).toStdString());
    QVERIFY(kept.ok());
    QCOMPARE(to_json(*kept), to_json(*fixture.window->data().finishedRecord()));
    // The next run takes its place.
    QVERIFY(run(fixture, 7));
    QTRY_VERIFY_WITH_TIMEOUT(
        [&] {
            const QStringList files = unsavedIn(fixture);
            if (files.size() != 1) return false;
            const auto record =
                load_record(fixture.folder.filePath("unsaved/" + files.front()).toStdString());
            return record.ok() && record->experiment.new_tokens == 7;
        }(),
        test::patience);
    QVERIFY(fixture.window->saveRecordTo(fixture.folder.filePath("mine.json")));
    QVERIFY(unsavedIn(fixture).isEmpty());
    QVERIFY(fixture.window->close());
}

// A window that is gone without having closed: its file stays, its lock does not.
void DesktopHabitsTest::offersWhatACrashLeft() {
    auto crashed = std::make_unique<WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(run(*crashed, 9));
    QTRY_COMPARE_WITH_TIMEOUT(unsavedIn(*crashed).size(), 1, test::patience);
    const std::string record = to_json(*crashed->window->data().finishedRecord());

    // Another window while the first one lives: nothing is offered.
    {
        WindowFixture beside(*m_theme,
                             {.settingsPath = crashed->folder.filePath("settings.ini"), .autostart = false});
        QVERIFY(beside.window->messages()->message().isEmpty());
    }
    crashed->window.reset();
    QCOMPARE(unsavedIn(*crashed).size(), 1);

    MainWindow again(*m_theme, {.settingsPath = crashed->folder.filePath("settings.ini"), .autostart = true});
    again.show();
    QVERIFY(!again.messages()->message().isEmpty());
    test::keepPicture(&again, "leftover");
    QVERIFY(again.data().isEmpty());
    auto* choice = again.messages()->findChild<QPushButton*>("messageChoice0");
    QVERIFY(choice != nullptr);
    choice->click();
    QTRY_VERIFY_WITH_TIMEOUT(again.data().finishedRecord() != nullptr, test::patience);
    QCOMPARE(to_json(*again.data().finishedRecord()), record);
    QVERIFY(again.messages()->message().isEmpty());
    // It is this window's now, and as unsaved as before.
    QCOMPARE(unsavedIn(*crashed).size(), 1);
    QVERIFY(again.saveRecordTo(crashed->folder.filePath("saved.json")));
    QVERIFY(unsavedIn(*crashed).isEmpty());
}

void DesktopHabitsTest::forgetsWhatACrashLeft() {
    auto crashed = std::make_unique<WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(run(*crashed));
    QTRY_COMPARE_WITH_TIMEOUT(unsavedIn(*crashed).size(), 1, test::patience);
    crashed->window.reset();
    const QString settings = crashed->folder.filePath("settings.ini");
    {
        MainWindow again(*m_theme, {.settingsPath = settings, .autostart = false});
        again.show();
        again.messages()->findChild<QPushButton*>("messageChoice1")->click();
        QVERIFY(unsavedIn(*crashed).isEmpty());
    }
    MainWindow third(*m_theme, {.settingsPath = settings, .autostart = false});
    QVERIFY(third.messages()->message().isEmpty());
}

void DesktopHabitsTest::saysWhenARunCannotBeKept() {
    QTemporaryDir folder;
    // Where the folder would be there is a file.
    QFile file(folder.filePath("unsaved"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    WindowFixture fixture(*m_theme, {.settingsPath = folder.filePath("settings.ini"), .autostart = false});
    QVERIFY(run(fixture));
    QVERIFY(fixture.window->messages()->message().contains("not kept in case of a crash"));
    QVERIFY(fixture.window->data().finishedRecord() != nullptr);
}

void DesktopHabitsTest::asksBeforeARunIsLost_data() {
    QTest::addColumn<int>("answer");
    QTest::addColumn<bool>("never");
    QTest::addColumn<bool>("closes");
    QTest::newRow("cancel") << int(QMessageBox::Cancel) << false << false;
    QTest::newRow("cancel keeps asking") << int(QMessageBox::Cancel) << true << false;
    QTest::newRow("discard") << int(QMessageBox::Discard) << false << true;
    QTest::newRow("discard, never again") << int(QMessageBox::Discard) << true << true;
}

void DesktopHabitsTest::asksBeforeARunIsLost() {
    QFETCH(int, answer);
    QFETCH(bool, never);
    QFETCH(bool, closes);
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(run(fixture));
    QTRY_COMPARE_WITH_TIMEOUT(unsavedIn(fixture).size(), 1, test::patience);
    QVERIFY(!window.close());
    auto* question = window.findChild<QMessageBox*>("askToSave");
    QVERIFY(question != nullptr && question->isVisible());
    test::keepPicture(question, "unsaved");
    // Asked once, however often one tries.
    QVERIFY(!window.close());
    QCOMPARE(window.findChildren<QMessageBox*>("askToSave").size(), 1);
    question->checkBox()->setChecked(never);
    question->button(QMessageBox::StandardButton(answer))->click();
    QTRY_COMPARE_WITH_TIMEOUT(window.isVisible(), !closes, test::patience);
    QCOMPARE(unsavedIn(fixture).size(), closes ? 0 : 1);
    const QSettings settings(fixture.folder.filePath("settings.ini"), QSettings::IniFormat);
    QCOMPARE(settings.value("run/askToSave", true).toBool(), !(closes && never));
}

void DesktopHabitsTest::showsEarlierRuns() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(run(fixture, 6));
    const auto first = window.data().finishedRecord();
    QVERIFY(run(fixture, 8));
    const auto second = window.data().finishedRecord();
    auto* menu = window.findChild<QMenu*>("runsMenu");
    emit menu->aboutToShow();
    QCOMPARE(menu->actions().size(), 2);
    QVERIFY(menu->actions()[0]->isChecked() && !menu->actions()[1]->isChecked());
    QVERIFY(menu->actions()[1]->text().contains("naive, static"));
    menu->actions()[1]->trigger();
    QCOMPARE(window.data().finishedRecord(), first);
    QCOMPARE(window.panel()->experiment().new_tokens, 6);
    QVERIFY(fixture.awaitIdle());
    emit menu->aboutToShow();
    QVERIFY(!menu->actions()[0]->isChecked() && menu->actions()[1]->isChecked());
    menu->actions()[0]->trigger();
    QCOMPARE(window.data().finishedRecord(), second);
}

void DesktopHabitsTest::settingsHoldAtOnceAndStay() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    auto& actions = *window.actions();
    actions[ActionId::themeLight]->trigger();
    actions[ActionId::settings]->trigger();
    auto* dialog = window.findChild<SettingsDialog*>();
    QVERIFY(dialog != nullptr && dialog->isVisible() && !dialog->isModal());
    actions[ActionId::settings]->trigger();
    QCOMPARE(window.findChildren<SettingsDialog*>().size(), 1);
    auto* theme = dialog->findChild<QComboBox*>("settingsTheme");
    QCOMPARE(theme->currentData().toInt(), int(Theme::Mode::Light));
    theme->setCurrentIndex(theme->findData(int(Theme::Mode::Dark)));
    QVERIFY(m_theme->isDark());
    QVERIFY(actions[ActionId::themeDark]->isChecked());
    // The menu is followed too.
    actions[ActionId::themeLight]->trigger();
    QCOMPARE(theme->currentData().toInt(), int(Theme::Mode::Light));
    QVERIFY(!m_theme->isDark());

    test::keepPicture(dialog, "settings");
    auto* restart = dialog->findChild<QLabel*>("settingsRestart");
    QVERIFY(!restart->isVisible());
    auto* scale = dialog->findChild<QComboBox*>("settingsScale");
    scale->setCurrentIndex(scale->findData(150));
    QVERIFY(restart->isVisible());
    dialog->findChild<QCheckBox*>("settingsRunDemo")->setChecked(false);
    dialog->close();

    const QString file = fixture.folder.filePath("settings.ini");
    Settings settings(file);
    QCOMPARE(settings.get(settings::scale), 150);
    QCOMPARE(settings.get(settings::runDemo), false);
    // The demo waits now for its key.
    WindowFixture again(*m_theme, {.settingsPath = file, .autostart = true});
    QVERIFY(again.awaitIdle());
    QVERIFY(again.window->data().isEmpty());
    QVERIFY(!again.window->session()->hasRun());
}

void DesktopHabitsTest::settingsAreRestored() {
    QTemporaryDir folder;
    Settings settings(folder.filePath("settings.ini"));
    settings.set(settings::language, QStringLiteral("de"));
    settings.set(settings::scale, 200);
    settings.set(settings::askToSave, false);
    settings.addRecent(settings::recentFiles, "a.json");
    SettingsDialog dialog(settings, Theme::Mode::Dark, nullptr);
    dialog.setAttribute(Qt::WA_DeleteOnClose, false);
    QSignalSpy themes(&dialog, &SettingsDialog::themeChosen);
    QCOMPARE(dialog.findChild<QComboBox*>("settingsLanguage")->currentData().toString(), QString("de"));
    QCOMPARE(dialog.findChild<QComboBox*>("settingsScale")->currentData().toInt(), 200);
    QVERIFY(!dialog.findChild<QCheckBox*>("settingsAskToSave")->isChecked());
    for (QPushButton* button : dialog.findChildren<QPushButton*>())
        if (button->text().contains("Defaults")) button->click();
    QCOMPARE(settings.get(settings::language), QString("system"));
    QCOMPARE(settings.get(settings::scale), 100);
    QCOMPARE(settings.get(settings::askToSave), true);
    QVERIFY(dialog.findChild<QCheckBox*>("settingsAskToSave")->isChecked());
    QCOMPARE(themes.size(), 1);
    QSignalSpy forgotten(&dialog, &SettingsDialog::recentForgotten);
    dialog.findChild<QPushButton*>("settingsForget")->click();
    QCOMPARE(forgotten.size(), 1);
    QVERIFY(settings.get(settings::recentFiles).isEmpty());
}

void DesktopHabitsTest::findsCommands() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.showScreen(0);
    (*window.actions())[ActionId::palette]->trigger();
    QPointer<CommandPalette> palette = window.findChild<CommandPalette*>();
    QVERIFY(palette != nullptr && palette->isVisible());
    QVERIFY(palette->list()->model()->rowCount() > static_cast<int>(n_action));
    test::keepPicture(palette, "palette");
    QTest::keyClicks(palette->line(), "memory");
    QCOMPARE(palette->list()->currentIndex().data().toString(), QString("Memory"));
    QTest::keyClick(palette->line(), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(window.memoryPage()->isVisible(), test::patience);
    QTRY_VERIFY_WITH_TIMEOUT(palette == nullptr, test::patience);

    // What cannot be done now is last, and does nothing.
    (*window.actions())[ActionId::palette]->trigger();
    palette = window.findChild<CommandPalette*>();
    QTest::keyClicks(palette->line(), "write everything measured");
    QVERIFY(palette->list()->model()->rowCount() > 0);
    QVERIFY(!palette->list()->currentIndex().flags().testFlag(Qt::ItemIsEnabled));
    QTest::keyClick(palette->line(), Qt::Key_Return);
    QVERIFY(palette->isVisible());
    palette->line()->setText("run");
    const int row = palette->list()->currentIndex().row();
    QTest::keyClick(palette->line(), Qt::Key_Down);
    QCOMPARE(palette->list()->currentIndex().row(), row + 1);
    palette->line()->setText("no command is called this");
    QCOMPARE(palette->list()->model()->rowCount(), 0);
    QTest::keyClick(palette->line(), Qt::Key_Escape);
    QTRY_VERIFY_WITH_TIMEOUT(palette == nullptr, test::patience);
}

// Every command is in a menu, in the palette and, with keys, on the sheet; and each is where it belongs.
void DesktopHabitsTest::listsEveryCommand() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    const Actions& actions = *window.actions();
    QList<QAction*> inMenus;
    for (const QMenu* menu : window.findChildren<QMenu*>()) inMenus += menu->actions();
    const QList<Actions::Entry> sheet = actions.shortcutEntries();
    for (std::size_t i = 0; i < n_action; ++i) {
        const auto id = static_cast<ActionId>(i);
        QAction* action = actions[id];
        QVERIFY2(inMenus.contains(action), qPrintable(action->objectName()));
        if (action->shortcuts().isEmpty()) continue;
        const QString key = action->shortcuts().front().toString(QKeySequence::NativeText);
        const auto entry = std::find_if(sheet.begin(), sheet.end(), [&](const Actions::Entry& e) {
            return e.keys.split(" or ").contains(key);
        });
        QVERIFY2(entry != sheet.end(), qPrintable(action->objectName()));
        QCOMPARE(entry->category, Actions::categoryOf(id));
    }
}

void DesktopHabitsTest::undoesZooms() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(run(fixture, 40));
    auto& actions = *window.actions();
    LineChart* chart = window.racePage()->latencyChart();
    LineChart* linked = window.racePage()->totalChart();
    QVERIFY(!actions[ActionId::undoView]->isEnabled());
    const auto whole = chart->visibleX();
    // Some turns of the wheel are one gesture.
    for (int i = 0; i < 3; ++i) turnWheel(chart, chart->rect().center(), 1);
    const auto zoomed = chart->visibleX();
    QVERIFY(zoomed != whole);
    QVERIFY(actions[ActionId::undoView]->isEnabled());
    QTest::qWait(800);
    chart->setFocus();
    QTest::keyClick(chart, Qt::Key_D);
    const auto panned = chart->visibleX();
    QVERIFY(panned != zoomed);
    QTest::qWait(800);
    // In the linked chart, and of another kind: the scale.
    QTest::keyClick(linked, Qt::Key_L);
    QVERIFY(linked->yAxis().log);

    actions[ActionId::undoView]->trigger();
    QVERIFY(!linked->yAxis().log);
    QCOMPARE(chart->visibleX(), panned);
    actions[ActionId::undoView]->trigger();
    QCOMPARE(chart->visibleX(), zoomed);
    QCOMPARE(linked->visibleX(), zoomed);
    actions[ActionId::undoView]->trigger();
    QCOMPARE(chart->visibleX(), whole);
    QVERIFY(!actions[ActionId::undoView]->isEnabled());
    actions[ActionId::redoView]->trigger();
    QCOMPARE(chart->visibleX(), zoomed);
    // A reading of values is no change of the view.
    QTest::keyClick(chart, Qt::Key_Right);
    QVERIFY(actions[ActionId::redoView]->isEnabled());
    // Another run: there is nothing to go back to.
    QVERIFY(run(fixture, 10));
    QVERIFY(!actions[ActionId::undoView]->isEnabled() && !actions[ActionId::redoView]->isEnabled());
}

void DesktopHabitsTest::undoesInMatrices() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(run(fixture, 20));
    window.showScreen(2);
    QTRY_VERIFY_WITH_TIMEOUT(!window.insidePage()->isWaiting(), test::patience);
    MatrixChart* mask = window.insidePage()->views()->mask();
    window.insidePage()->setStep(0, 10);
    QTRY_VERIFY_WITH_TIMEOUT(!window.insidePage()->isWaiting(), test::patience);
    const QVariant whole = mask->view();
    for (int i = 0; i < 4; ++i) turnWheel(mask, mask->rect().center(), 1);
    QVERIFY(mask->view() != whole);
    (*window.actions())[ActionId::undoView]->trigger();
    QCOMPARE(mask->view(), whole);
}

void DesktopHabitsTest::hidesThePanel() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    auto& actions = *window.actions();
    QVERIFY(window.panel()->isVisible() && actions[ActionId::showPanel]->isChecked());
    const int width = window.racePage()->width();
    actions[ActionId::showPanel]->trigger();
    QVERIFY(!window.panel()->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(window.racePage()->width() > width, test::patience);
    actions[ActionId::fullScreen]->trigger();
    QVERIFY(window.isFullScreen());
    actions[ActionId::fullScreen]->trigger();
    QVERIFY(!window.isFullScreen());
    QVERIFY(window.close());
    WindowFixture again(*m_theme,
                        {.settingsPath = fixture.folder.filePath("settings.ini"), .autostart = false});
    QVERIFY(!again.window->panel()->isVisible());
}

void DesktopHabitsTest::guidesThroughTheFirstMinute() {
    WindowFixture fixture(*m_theme, {.autostart = false, .tour = true});
    MainWindow& window = *fixture.window;
    window.resize(1440, 900);
    QTRY_VERIFY_WITH_TIMEOUT(window.findChild<Tour*>() != nullptr, test::patience);
    QPointer<Tour> tour = window.findChild<Tour*>();
    QCOMPARE(tour->count(), 5);
    auto* ring = window.findChild<QWidget*>("tourRing");
    QStringList titles;
    for (int card = 0; card < tour->count(); ++card) {
        QTest::qWait(50);
        QCOMPARE(tour->current(), card);
        titles << tour->accessibleName();
        // It points at something, and neither leaves the window nor hides what it is about.
        QVERIFY2(ring->isVisible() && ring->height() > 20, qPrintable(tour->accessibleName()));
        QVERIFY(window.rect().contains(tour->geometry()));
        test::keepPicture(&window, qPrintable(QStringLiteral("tour%1").arg(card)));
        const QRect covered = ring->geometry().intersected(tour->geometry());
        QVERIFY2(covered.width() * covered.height() < ring->width() * ring->height() * 3 / 4,
                 qPrintable(tour->accessibleName()));
        QTest::keyClick(tour, Qt::Key_Right);
    }
    titles.removeDuplicates();
    QCOMPARE(titles.size(), 5);
    QTRY_VERIFY_WITH_TIMEOUT(tour == nullptr, test::patience);
    QTRY_VERIFY_WITH_TIMEOUT(window.findChild<QWidget*>("tourRing") == nullptr, test::patience);
    // Seen once: not again, unless asked for.
    WindowFixture again(
        *m_theme,
        {.settingsPath = fixture.folder.filePath("settings.ini"), .autostart = false, .tour = true});
    QTest::qWait(100);
    QVERIFY(again.window->findChild<Tour*>() == nullptr);
    (*again.window->actions())[ActionId::tour]->trigger();
    QVERIFY(again.window->findChild<Tour*>() != nullptr);
}

void DesktopHabitsTest::leavesTheTour() {
    WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    (*window.actions())[ActionId::tour]->trigger();
    QPointer<Tour> tour = window.findChild<Tour*>();
    QVERIFY(tour != nullptr);
    tour->next();
    tour->back();
    QCOMPARE(tour->current(), 0);
    tour->back();
    QCOMPARE(tour->current(), 0);
    // The window stays in use behind it.
    window.panel()->setExperiment(tinyExperiment());
    window.startRun();
    QVERIFY(fixture.awaitRecord());
    QVERIFY(tour != nullptr);
    QTest::mouseClick(tour->findChild<QPushButton*>("tourSkip"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(tour == nullptr, test::patience);
    QVERIFY(Settings(fixture.folder.filePath("settings.ini")).get(settings::tourSeen));
}

QTEST_MAIN(DesktopHabitsTest)
#include "tst_desktop_habits.moc"
