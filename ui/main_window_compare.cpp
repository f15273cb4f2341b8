// SPDX-License-Identifier: GPL-3.0-or-later
// The main window's second run: an earlier record, dashed in the charts of the one on screen.
#include <QFileDialog>
#include <QFileInfo>

#include "engine/experiment/compare.h"
#include "ui/actions.h"
#include "ui/main_window.h"
#include "ui/race/race_page.h"
#include "ui/widgets/message_bar.h"

namespace decodescope {

namespace {

/// How the run on screen (B) differs from the earlier one (A), lane by lane, in one sentence each.
QString words(const RecordComparison& comparison, const Record& earlier) {
    QStringList sentences;
    for (const ComparedLane& lane : comparison.lanes) {
        const QString name = QString::fromStdString(earlier.lanes[lane.a].spec.name);
        for (const ComparedMetric& metric : lane.metrics) {
            if (std::string_view(metric.key) != "tpot_ns") continue;
            if (metric.ratio <= 0) continue;
            const QString text =
                MainWindow::tr("%1: %2 × %3")
                    .arg(name, QString::fromLatin1(metric.name), QString::number(metric.ratio, 'f', 2));
            const Interval& interval = metric.interval;
            if (!interval.known)
                sentences << MainWindow::tr("%1 (one repetition: may be chance).").arg(text);
            else if (interval.contains(1))
                sentences << MainWindow::tr("%1 (no difference).").arg(text);
            else
                sentences << MainWindow::tr("%1 (%2 to %3).")
                                 .arg(text, QString::number(interval.low, 'f', 2),
                                      QString::number(interval.high, 'f', 2));
        }
        if (!lane.why_not.empty())
            sentences << name + QStringLiteral(": ") + QString::fromStdString(lane.why_not);
    }
    for (const std::string& sentence : comparison.unmatched) sentences << QString::fromStdString(sentence);
    return sentences.join(QLatin1Char(' '));
}

}  // namespace

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
    if (m_compared != nullptr && shown != nullptr && shown != m_compared) {
        const Result<RecordComparison> comparison = compare_records(*m_compared, *shown);
        if (comparison) {
            m_messages->showMessage(
                MessageBar::Kind::info,
                tr("Against %1 (dashed). %2").arg(m_comparedName, words(*comparison, *m_compared)));
        } else {
            m_compared.reset();
            m_messages->showMessage(
                MessageBar::Kind::warning,
                tr("Nothing to compare: %1").arg(QString::fromStdString(comparison.error().message)));
        }
    }
    const bool drawn = m_compared != nullptr && shown != m_compared;
    m_race->setCompared(drawn ? m_compared : nullptr, m_comparedName);
    (*m_actions)[ActionId::compareRecord]->setEnabled(shown != nullptr);
    (*m_actions)[ActionId::keepRun]->setEnabled(shown != nullptr);
    (*m_actions)[ActionId::endComparison]->setEnabled(m_compared != nullptr);
}

}  // namespace decodescope
