// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/export_job.h"

#include <QTimer>

namespace decodescope {

ExportJob::~ExportJob() = default;

void ExportJob::start(std::unique_ptr<RecordExport> files) {
    if (m_files != nullptr) return;
    m_files = std::move(files);
    m_cancel = false;
    emit progress(0, m_files->count(), m_files->nextName());
    QTimer::singleShot(0, this, &ExportJob::writeNext);
}

void ExportJob::cancel() {
    m_cancel = m_files != nullptr;
}

void ExportJob::writeNext() {
    if (m_files == nullptr) return;
    const int done = m_files->done();
    if (m_files->isDone()) {
        const QStringList files = m_files->files();
        m_files.reset();
        emit finished(files);
        return;
    }
    if (m_cancel) {
        m_files.reset();
        emit cancelled(done);
        return;
    }
    if (const Result<void> result = m_files->writeNext(); !result) {
        m_files.reset();
        emit failed(QString::fromStdString(result.error().message), done);
        return;
    }
    emit progress(m_files->done(), m_files->count(), m_files->nextName());
    QTimer::singleShot(0, this, &ExportJob::writeNext);
}

}  // namespace decodescope
