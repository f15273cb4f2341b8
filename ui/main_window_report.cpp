// SPDX-License-Identifier: GPL-3.0-or-later
// The main window's report: into a file, onto paper.
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPrintDialog>
#include <QPrinter>
#include <QTimer>

#include "engine/core/text_file.h"
#include "ui/autosave.h"
#include "ui/main_window.h"
#include "ui/report/report_page.h"
#include "ui/widgets/message_bar.h"

namespace decodescope {

namespace {

constexpr int writingPauseMs = 1500;

}  // namespace

void MainWindow::connectReport() {
    connect(m_report, &ReportPage::runRequested, this, &MainWindow::startRun);
    connect(m_report, &ReportPage::openRequested, this, &MainWindow::browseRecord);
    connect(m_report, &ReportPage::exportRequested, this, &MainWindow::browseExport);
    connect(m_report, &ReportPage::saveRequested, this, &MainWindow::browseSaveReport);
    connect(m_report, &ReportPage::printRequested, this, &MainWindow::printReport);
    connect(m_report, &ReportPage::notice, this, [this](const QString& text) { m_progress->setText(text); });
    // Words are a reason to save too, and survive a crash once they have been written.
    auto* pause = new QTimer(this);
    pause->setSingleShot(true);
    pause->setInterval(writingPauseMs);
    connect(&m_data, &RunData::notesEdited, this, [this, pause] {
        // A record that was opened can be shown again from here on, with what was written about it.
        rememberRun(m_data.finishedRecord());
        if (m_unsaved == nullptr) m_unsaved = m_data.finishedRecord();
        pause->start();
    });
    connect(pause, &QTimer::timeout, this, [this] {
        if (m_unsaved != nullptr && m_unsaved == m_data.finishedRecord())
            m_autosave->keep(m_unsaved, m_data.notes());
    });
    connect(m_session.get(), &Session::judged, m_report, &ReportPage::addJudged);
}

void MainWindow::browseSaveReport(const QString& suffix) {
    const QString filter =
        suffix == QLatin1String("pdf") ? tr("PDF documents (*.pdf)") : tr("HTML pages (*.html)");
    QString path = QFileDialog::getSaveFileName(this, tr("Save Report"),
                                                startFolder() + QStringLiteral("/report.") + suffix, filter);
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += QLatin1Char('.') + suffix;
    saveReportTo(path);
}

bool MainWindow::saveReportTo(const QString& path) {
    if (m_data.finishedRecord() == nullptr) return false;
    const bool pdf = QFileInfo(path).suffix().compare(QLatin1String("pdf"), Qt::CaseInsensitive) == 0;
    const QByteArray content = pdf ? m_report->pdf() : m_report->html();
    const Result<void> saved = write_file_atomically(path.toStdString(), content.toStdString());
    if (!saved) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(saved.error().message));
        return false;
    }
    m_settings.set(settings::lastFolder, QFileInfo(path).absolutePath());
    m_messages->showMessage(MessageBar::Kind::info,
                            tr("The report was saved to %1.").arg(QDir::toNativeSeparators(path)));
    return true;
}

void MainWindow::printReport() {
    auto printer = std::make_shared<QPrinter>(QPrinter::HighResolution);
    printer->setFullPage(true);
    printer->setDocName(tr("Report"));
    // Not modal to the program: a run goes on meanwhile.
    auto* dialog = new QPrintDialog(printer.get(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, printer] {
        m_report->print(*printer, [printer] { printer->newPage(); });
        m_messages->showMessage(MessageBar::Kind::info, tr("The report was sent to the printer."));
    });
    dialog->open();
}

}  // namespace decodescope
