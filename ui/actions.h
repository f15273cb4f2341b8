// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QObject>

#include <array>
#include <span>

namespace decodescope {

/// Every command of the window.
enum class ActionId {
    openModel,
    openModelFile,
    getModel,
    openExperiment,
    openRecord,
    openTrace,
    saveExperiment,
    saveRecord,
    exportCharts,
    compareRecord,
    keepRun,
    endComparison,
    settings,
    quit,
    run,
    step,
    pause,
    stop,
    slower,
    faster,
    showRace,
    showMemory,
    showInside,
    showExactness,
    showSweep,
    showPlan,
    showReport,
    undoView,
    redoView,
    showPanel,
    fullScreen,
    themeSystem,
    themeLight,
    themeDark,
    palette,
    tour,
    faultHelp,
    shortcuts,
    about,
};
inline constexpr std::size_t n_action = 39;

/// The registry of commands: one table has each one's text, explanation, shortcut and category; menus, tool
/// bar and the sheet of shortcuts are made from it.
class Actions : public QObject {
    Q_OBJECT

public:
    explicit Actions(QObject* parent);

    /// The one command that holds a run and lets it go on: says which of the two it does now.
    void setPaused(bool paused);

    /// Every command, in the order of the menus.
    const std::array<QAction*, n_action>& all() const { return m_actions; }
    /// The menu that a command is in.
    static QString categoryOf(ActionId id);

    QAction* operator[](ActionId id) const { return m_actions[static_cast<std::size_t>(id)]; }

    /// One line of the sheet of shortcuts.
    struct Entry {
        QString category;
        QString text;
        QString keys;
    };
    /// All commands that have a shortcut, by category, then keys that only work inside one view.
    QList<Entry> shortcutEntries() const;

private:
    std::array<QAction*, n_action> m_actions{};
};

}  // namespace decodescope
