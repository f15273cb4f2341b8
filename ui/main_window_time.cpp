// SPDX-License-Identifier: GPL-3.0-or-later
// The main window's hold on time: run, step, pause, resume, slow motion.
#include <algorithm>

#include "ui/actions.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/inside/inside_page.h"
#include "ui/main_window.h"
#include "ui/race/race_page.h"
#include "ui/widgets/bar_button.h"
#include "ui/widgets/message_bar.h"
#include "ui/widgets/speed_slider.h"

namespace decodescope {

void MainWindow::connectTime() {
    const auto& actions = *m_actions;
    connect(actions[ActionId::step], &QAction::triggered, this, &MainWindow::stepRun);
    connect(actions[ActionId::pause], &QAction::triggered, this, &MainWindow::pauseOrResume);
    connect(actions[ActionId::slower], &QAction::triggered, m_speed, &SpeedSlider::slower);
    connect(actions[ActionId::faster], &QAction::triggered, m_speed, &SpeedSlider::faster);
    connect(m_speed, &SpeedSlider::speedChanged, this, [this](double stepsPerSecond) {
        m_session->setSpeed(stepsPerSecond);
        updateTime();
        updateStatus();
    });
    connect(m_inside, &InsidePage::inspectRequested, m_session.get(), &Session::inspect);
    connect(m_inside, &InsidePage::profileRequested, m_session.get(), &Session::profileLane);
    connect(m_session.get(), &Session::stepInspected, m_inside, &InsidePage::showStep);
    connect(m_session.get(), &Session::inspectFailed, m_inside, &InsidePage::showFailure);
    connect(m_session.get(), &Session::laneProfiled, m_inside, &InsidePage::showTimes);
    connect(m_session.get(), &Session::pauseChanged, this, [this] {
        if (m_session->isHeld()) m_race->runHeld();
        updateTime();
        updateStatus();
    });
}

void MainWindow::beginRun(std::optional<int> turns) {
    const Experiment experiment = m_panel->experiment();
    if (const Result<void> valid = experiment.validate(); !valid) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(valid.error().message));
        return;
    }
    m_messages->clear();
    m_restarted.clear();
    m_session->run(experiment, turns);
    updateState();
}

void MainWindow::startRun() {
    if (m_session->activity() != Session::Activity::running &&
        m_session->activity() != Session::Activity::working)
        beginRun(std::nullopt);
}

void MainWindow::stepRun() {
    if (m_session->isStopping()) return;
    if (m_session->activity() == Session::Activity::running)
        m_session->step();
    else
        beginRun(1);
}

void MainWindow::pauseOrResume() {
    if (m_session->isPaused())
        m_session->resume();
    else
        m_session->pause();
}

void MainWindow::updateTime() {
    const bool running = m_session->activity() == Session::Activity::running;
    const bool goesOn = running && !m_session->isStopping();
    const bool paused = running && m_session->isPaused();
    const bool free = !running && m_session->activity() != Session::Activity::working;
    (*m_actions)[ActionId::step]->setEnabled(goesOn || (free && m_panel->problem().isEmpty()));
    (*m_actions)[ActionId::pause]->setEnabled(goesOn);
    m_actions->setPaused(paused);
    m_inside->setLiveLook(m_session->isHeld() || (m_speed->stepsPerSecond() > 0 && !paused));
    m_pauseButton->setSymbol(paused ? BarButton::Symbol::play : BarButton::Symbol::pause);
}

QString MainWindow::runningText(int token) const {
    if (!m_data.isLive()) return tr("Measuring the memory's read rate");
    if (token == 0)
        return m_session->isHeld() ? tr("Paused before the first token") : tr("Running · warming up");
    const QString what = m_session->isHeld() ? tr("Paused at token %1 of %2 · repetition %3 of %4")
                         : m_speed->stepsPerSecond() > 0
                             ? tr("Slow motion · token %1 of %2 · repetition %3 of %4")
                             : tr("Running · token %1 of %2 · repetition %3 of %4");
    return what.arg(token)
        .arg(m_data.newTokens() * std::max(1, m_data.requestCount()))
        .arg(m_data.repetition() + 1)
        .arg(m_data.record().experiment.repetitions);
}

}  // namespace decodescope
