// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of the main window's runs: the newest is kept in case of a crash until it is saved, the ones
// before it can be shown again.
#include <QDateTime>
#include <QMenu>

#include <utility>

#include "ui/actions.h"
#include "ui/autosave.h"
#include "ui/chart/chart_link.h"
#include "ui/chart/format.h"
#include "ui/chart/view_history.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/main_window.h"
#include "ui/widgets/message_bar.h"

namespace decodescope {

namespace {

constexpr int runCount = 8;

QString lanesText(const Record& record) {
    QStringList names;
    for (const LaneRecord& lane : record.lanes) names << QString::fromStdString(lane.spec.name);
    return names.join(QStringLiteral(", "));
}

}  // namespace

void MainWindow::runFinished(const std::shared_ptr<const Record>& record) {
    m_data.finish(record);
    if (record->status == FinishReason::capacity || record->status == FinishReason::failed)
        m_messages->showMessage(MessageBar::Kind::warning, QString::fromStdString(record->reason));
    m_unsaved = record;
    m_autosave->keep(record, record->notes);
    rememberRun(record);
    updateState();
    updateMemory();
}

void MainWindow::rememberRun(const std::shared_ptr<const Record>& record) {
    for (const FinishedRun& run : std::as_const(m_runs))
        if (run.record == record) return;
    m_runs.prepend({QDateTime::currentDateTime(), record});
    while (m_runs.size() > runCount) m_runs.removeLast();
}

void MainWindow::showRun(std::shared_ptr<const Record> record) {
    if (m_data.finishedRecord() == record) return;
    m_messages->clear();
    m_panel->setExperiment(record->experiment);
    // First of all: what a page asks for when it sees the record comes after it.
    m_session->loadModel(record->experiment.model);
    m_link->reset();
    m_history->clear();
    m_data.show(std::move(record), m_session->model().get());
    updateState();
    updateStatus();
}

void MainWindow::fillRunsMenu() {
    m_runsMenu->clear();
    const auto shown = m_data.finishedRecord();
    for (const FinishedRun& run : std::as_const(m_runs)) {
        const int tokens = run.record->experiment.new_tokens;
        QString text = QStringLiteral("%1 · %2 · %3")
                           .arg(run.when.toString(QStringLiteral("HH:mm:ss")), lanesText(*run.record),
                                tokens == 1 ? tr("1 token") : tr("%1 tokens").arg(formatCount(tokens)));
        QAction* action = m_runsMenu->addAction(text.replace(QLatin1Char('&'), QStringLiteral("&&")));
        action->setCheckable(true);
        action->setChecked(run.record == shown);
        connect(action, &QAction::triggered, this, [this, record = run.record] { showRun(record); });
    }
    if (m_runsMenu->isEmpty()) m_runsMenu->addAction(tr("None yet"))->setEnabled(false);
}

void MainWindow::offerLeftover(const QString& path) {
    m_messages->showMessage(MessageBar::Kind::info, tr("The last run was not saved when DecodeScope ended."));
    m_messages->addChoice(tr("Show It"), [this, path] {
        Result<Record> record = load_record(path.toStdString());
        if (!record) {
            m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(record.error().message));
            return;
        }
        m_autosave->adopt(path);
        m_unsaved = std::make_shared<const Record>(std::move(*record));
        rememberRun(m_unsaved);
        showRun(m_unsaved);
    });
    m_messages->addChoice(tr("Forget It"), [this, path] {
        m_autosave->adopt(path);
        m_autosave->forget();
    });
}

}  // namespace decodescope
