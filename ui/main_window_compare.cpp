// SPDX-License-Identifier: GPL-3.0-or-later
// The main window's second run: an earlier record, dashed in the charts of the one on screen.
#include <QFileDialog>
#include <QFileInfo>

#include "ui/actions.h"
#include "ui/exactness/exactness_page.h"
#include "ui/main_window.h"
#include "ui/race/race_page.h"
#include "ui/report/report_page.h"
#include "ui/widgets/message_bar.h"

namespace decodescope {

void MainWindow::connectComparison() {
    const auto& actions = *m_actions;
    connect(actions[ActionId::compareRecord], &QAction::triggered, this, [this] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Compare with a Record"), startFolder(),
                                                          tr("Records (*.json)"));
        if (!path.isEmpty()) compareWithFile(path);
    });
    connect(actions[ActionId::keepRun], &QAction::triggered, this, [this] {
        const auto record = m_data.finishedRecord();
        if (record == nullptr) return;
        m_compared = record;
        m_comparedName = tr("kept run");
        m_messages->showMessage(MessageBar::Kind::info,
                                tr("This run is kept: the next one is drawn over it, it dashed."));
        updateComparison();
    });
    connect(actions[ActionId::endComparison], &QAction::triggered, this, [this] {
        m_compared.reset();
        updateComparison();
    });
    connect(&m_data, &RunData::reset, this, &MainWindow::updateComparison);
    updateComparison();
}

bool MainWindow::compareWithFile(const QString& path) {
    Result<Record> record = load_record(path.toStdString());
    if (!record) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(record.error().message));
        return false;
    }
    m_compared = std::make_shared<const Record>(std::move(*record));
    m_comparedName = QFileInfo(path).completeBaseName();
    updateComparison();
    return m_compared != nullptr;
}

// Which run is drawn dashed follows from the two records: whoever changes either calls this.
void MainWindow::updateComparison() {
    const auto shown = m_data.finishedRecord();
    ComparedRun compared;
    if (m_compared != nullptr && shown != nullptr && shown != m_compared) {
        Result<ComparedRun> comparison = compareRuns(m_compared, *shown, m_comparedName);
        if (comparison) {
            compared = *std::move(comparison);
            m_messages->showMessage(MessageBar::Kind::info, compared.sentence);
        } else {
            m_compared.reset();
            m_messages->showMessage(
                MessageBar::Kind::warning,
                tr("Nothing to compare: %1").arg(QString::fromStdString(comparison.error().message)));
        }
    }
    const bool drawn = m_compared != nullptr && shown != m_compared;
    m_race->setCompared(drawn ? m_compared : nullptr, m_comparedName);
    m_exactness->setCompared(drawn ? m_compared : nullptr, m_comparedName);
    m_report->setCompared(compared);
    (*m_actions)[ActionId::compareRecord]->setEnabled(shown != nullptr);
    (*m_actions)[ActionId::keepRun]->setEnabled(shown != nullptr);
    (*m_actions)[ActionId::endComparison]->setEnabled(m_compared != nullptr);
}

}  // namespace decodescope
