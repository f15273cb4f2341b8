// SPDX-License-Identifier: GPL-3.0-or-later
// The main window's ways to look at things: undo of zooms, full screen, settings, the search for commands and
// the guided tour.
#include <QMenu>
#include <QScrollArea>

#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/chart/view_history.h"
#include "ui/examples.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/fault_panel.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/main_window.h"
#include "ui/race/race_page.h"
#include "ui/tour/tour.h"
#include "ui/widgets/command_palette.h"
#include "ui/widgets/settings_dialog.h"

namespace decodescope {

void MainWindow::connectView() {
    const auto& actions = *m_actions;
    for (Chart* chart : findChildren<Chart*>()) m_history->watch(chart);
    connect(actions[ActionId::undoView], &QAction::triggered, m_history, &ViewHistory::undo);
    connect(actions[ActionId::redoView], &QAction::triggered, m_history, &ViewHistory::redo);
    const auto update = [this] {
        (*m_actions)[ActionId::undoView]->setEnabled(m_history->canUndo());
        (*m_actions)[ActionId::redoView]->setEnabled(m_history->canRedo());
    };
    connect(m_history, &ViewHistory::changed, this, update);
    update();
    connect(actions[ActionId::showPanel], &QAction::toggled, this, &MainWindow::showPanel);
    connect(actions[ActionId::fullScreen], &QAction::toggled, this,
            [this](bool on) { setWindowState(windowState().setFlag(Qt::WindowFullScreen, on)); });
    connect(actions[ActionId::settings], &QAction::triggered, this, &MainWindow::showSettings);
    connect(actions[ActionId::palette], &QAction::triggered, this, &MainWindow::showPalette);
    connect(actions[ActionId::tour], &QAction::triggered, this, &MainWindow::startTour);
}

void MainWindow::showSettings() {
    if (auto* shown = findChild<SettingsDialog*>()) {
        shown->raise();
        shown->activateWindow();
        return;
    }
    auto* dialog = new SettingsDialog(m_settings, m_theme.mode(), this);
    connect(dialog, &SettingsDialog::themeChosen, this, &MainWindow::setThemeMode);
    connect(&m_theme, &Theme::modeChanged, dialog, &SettingsDialog::setTheme);
    connect(dialog, &SettingsDialog::recentForgotten, this,
            [this] { m_panel->modelCard()->setRecentFolders({}); });
    dialog->show();
}

void MainWindow::showPalette() {
    QList<CommandPalette::Command> commands;
    for (std::size_t i = 0; i < n_action; ++i) {
        const auto id = static_cast<ActionId>(i);
        if (id != ActionId::palette) commands.append({Actions::categoryOf(id), (*m_actions)[id]});
    }
    for (QMenu* menu : {m_examplesMenu, m_runsMenu, m_recentMenu}) {
        // Menus are filled when they open.
        emit menu->aboutToShow();
        QString title = menu->title();
        title.remove(QLatin1Char('&'));
        for (QAction* action : menu->actions()) {
            if (!action->isSeparator() && action->isEnabled()) commands.append({title, action});
        }
    }
    auto* palette = new CommandPalette(commands, this);
    palette->show();
}

void MainWindow::startTour() {
    if (findChild<Tour*>() != nullptr) return;
    const auto around = [this](const QWidget* widget) {
        return widget != nullptr && widget->isVisible()
                   ? QRect(widget->mapTo(this, QPoint(0, 0)), widget->size())
                   : QRect();
    };
    const auto showRace = [this] { showScreen(0); };
    const auto inPanel = [this](QWidget* part) {
        return [this, part] {
            showPanel(true);
            if (auto* area = m_panel->findChild<QScrollArea*>()) area->ensureWidgetVisible(part);
        };
    };
    std::vector<TourStop> stops;
    stops.push_back(
        {tr("One text, written in several ways"),
         tr("Every lane writes the same text. The naive one computes all positions again for each "
            "token, so its time climbs. A cached one keeps keys and values: its time stays flat."),
         showRace, [=, this] { return around(m_race->latencyChart()); }});
    stops.push_back({tr("What it buys, in numbers"),
                     tr("Time to the first token, time per token, and the share of this machine's memory "
                        "speed. Exact means: the same tokens as the reference. Rest the mouse on a number to "
                        "read how it is defined."),
                     showRace, [=, this] { return around(m_race->findChild<QWidget*>("laneTable")); }});
    stops.push_back(
        {tr("Your model, your lanes"),
         tr("Open a model of your own, write a prompt, and add lanes: paged, quantised, windowed, "
            "batched, speculative. F5 runs it, F10 goes token by token."),
         inPanel(m_panel->modelCard()), [=, this] { return around(m_panel); }});
    stops.push_back(
        {tr("Break it on purpose"),
         tr("Switch on a fault that real programs have had, run again, and see which number gives "
            "it away."),
         inPanel(m_panel->faults()), [=, this] { return around(m_panel->faults()); }});
    stops.push_back({tr("One question per page"),
                     tr("Memory: where the bytes are. Inside: who sees whom. Exactness: right or wrong, and "
                        "why. Sweep and Plan: how it grows, and what fits. The ? key shows every other key."),
                     {},
                     [=, this] {
                         QRect tabs;
                         for (const QWidget* tab : findChildren<QWidget*>()) {
                             if (tab->property("isTab").toBool()) tabs |= around(tab);
                         }
                         return tabs;
                     }});
    auto* tour = new Tour(std::move(stops), this);
    connect(tour, &Tour::ended, this, [this] { m_settings.set(settings::tourSeen, true); });
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) colorMenuBar();
    // However it got there or back: by a key of the desktop, or ours.
    if (event->type() == QEvent::WindowStateChange && m_actions != nullptr)
        (*m_actions)[ActionId::fullScreen]->setChecked(isFullScreen());
}

}  // namespace decodescope
