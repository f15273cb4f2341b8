// SPDX-License-Identifier: GPL-3.0-or-later
// What the main window remembers between two starts, and how it ends.
#include <QAbstractButton>
#include <QApplication>
#include <QCheckBox>
#include <QCloseEvent>
#include <QMessageBox>
#include <QScreen>
#include <QSplitter>
#include <QStackedWidget>

#include <algorithm>
#include <array>

#include "ui/actions.h"
#include "ui/autosave.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/main_window.h"
#include "ui/widgets/message_bar.h"

namespace decodescope {

namespace {

constexpr std::array screenNames = {"race", "memory", "inside", "exactness", "sweep", "plan", "report"};

}  // namespace

void MainWindow::restore(const Options& options) {
    if (const QByteArray geometry = m_settings.get(settings::windowGeometry); !geometry.isEmpty())
        restoreGeometry(geometry);
    else
        resize(QSize(1440, 900).boundedTo(screen()->availableSize()));
    if (const QByteArray state = m_settings.get(settings::splitterState); !state.isEmpty())
        m_splitter->restoreState(state);
    else
        m_splitter->setSizes({m_panel->sizeHint().width(), width() - m_panel->sizeHint().width()});
    setThemeMode(Theme::modeOf(m_settings.get(settings::theme)));
    showPanel(m_settings.get(settings::panelShown));
    m_panel->modelCard()->setRecentFolders(m_settings.get(settings::recentModels));

    if (!options.open.isEmpty() || !options.experiment.isEmpty() || !options.model.isEmpty()) {
        showScreen(0);
        openDemo(false);
        if (!options.experiment.isEmpty()) openExperiment(options.experiment);
        if (!options.model.isEmpty())
            openModel({.path = options.model.toStdString(), .preset = {}, .seed = 0});
        if (!options.open.isEmpty()) openPath(options.open);
        return;
    }
    const QString leftover = m_autosave->leftover();
    const QByteArray last = m_settings.get(settings::lastExperiment);
    const Result<Experiment> experiment =
        parse_experiment(std::string_view(last.constData(), static_cast<std::size_t>(last.size())));
    if (last.isEmpty() || !experiment) {
        showScreen(0);
        openDemo(options.autostart && m_settings.get(settings::runDemo) && leftover.isEmpty());
    } else {
        const auto screen =
            std::find(screenNames.begin(), screenNames.end(), m_settings.get(settings::screen));
        showScreen(screen == screenNames.end() ? 0 : static_cast<int>(screen - screenNames.begin()));
        m_panel->setExperiment(*experiment);
        m_data.preview(m_panel->experiment());
        m_session->loadModel(experiment->model);
    }
    if (!leftover.isEmpty()) offerLeftover(leftover);
}

void MainWindow::setThemeMode(Theme::Mode mode) {
    m_theme.setMode(mode);
    const auto id = mode == Theme::Mode::Light  ? ActionId::themeLight
                    : mode == Theme::Mode::Dark ? ActionId::themeDark
                                                : ActionId::themeSystem;
    (*m_actions)[id]->setChecked(true);
    m_settings.set(settings::theme, Theme::nameOf(mode));
}

void MainWindow::showPanel(bool shown) {
    m_panel->setVisible(shown);
    (*m_actions)[ActionId::showPanel]->setChecked(shown);
    m_settings.set(settings::panelShown, shown);
}

void MainWindow::rememberState() {
    // Of the window as it is without it: full screen is for one lecture.
    if (!isFullScreen()) m_settings.set(settings::windowGeometry, saveGeometry());
    m_settings.set(settings::splitterState, m_splitter->saveState());
    m_settings.set(settings::screen,
                   QString::fromLatin1(screenNames[static_cast<std::size_t>(m_pages->currentIndex())]));
    // The untouched demo is not worth remembering: the next start shows it anyway.
    const std::string experiment = to_json(m_panel->experiment());
    m_settings.set(settings::lastExperiment,
                   experiment == m_demo ? QByteArray() : QByteArray::fromStdString(experiment));
}

// Whether closing now would lose something that somebody may want: the demo's run is not, words about it are.
bool MainWindow::hasUnsavedRun() const {
    if (m_unsaved != nullptr && m_unsaved == m_data.finishedRecord() && m_data.notesChanged()) return true;
    return m_unsaved != nullptr && m_unsaved->status != FinishReason::cancelled &&
           to_json(m_unsaved->experiment) != m_demo;
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!m_closing && hasUnsavedRun() && m_settings.get(settings::askToSave)) {
        event->ignore();
        askToSave();
        return;
    }
    m_session->stop();
    rememberState();
    m_autosave->forget();
    event->accept();
}

void MainWindow::askToSave() {
    if (findChild<QMessageBox*>(QStringLiteral("askToSave")) != nullptr) return;
    auto* question = new QMessageBox(QMessageBox::Question, tr("Unsaved Run"),
                                     tr("The last run was not saved. Save its record?"),
                                     QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    question->setObjectName(QStringLiteral("askToSave"));
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setInformativeText(
        tr("The record holds everything the run measured. Without it the run can only be repeated."));
    question->setDefaultButton(QMessageBox::Save);
    auto* never = new QCheckBox(tr("Do not ask again"), question);
    question->setCheckBox(never);
    connect(question, &QMessageBox::finished, this, [this, never](int answer) {
        if (answer == QMessageBox::Cancel) return;
        if (never->isChecked()) m_settings.set(settings::askToSave, false);
        if (answer == QMessageBox::Save) {
            // Another run may be on screen by now.
            if (m_unsaved != nullptr) showRun(m_unsaved);
            browseSaveRecord();
            if (m_unsaved != nullptr) return;
        }
        m_closing = true;
        close();
    });
    question->open();
}

}  // namespace decodescope
