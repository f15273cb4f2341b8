// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/export_job.h"

#include <QTimer>

#include "ui/session/background.h"

namespace decodescope {

ExportJob::~ExportJob() {
    leaveApart();
}

void ExportJob::start(std::unique_ptr<RecordExport> files) {
    if (m_files != nullptr) return;
    m_files = std::move(files);
    m_cancel = false;
    emit progress(0, m_files->count(), m_files->nextName());
    QTimer::singleShot(0, this, &ExportJob::writeNext);
}

void ExportJob::cancel() {
    if (m_files == nullptr) return;
    m_cancel = true;
    leaveApart();
}

// A file that is not being written yet will not be; nobody waits for what is made of it. One that is being
// written comes to its end.
void ExportJob::leaveApart() {
    Stage stage = Stage::making;
    if (m_apart == nullptr || !m_apart->compare_exchange_strong(stage, Stage::left)) return;
    m_apart.reset();
    QTimer::singleShot(0, this, &ExportJob::writeNext);
}

void ExportJob::startApart() {
    const auto stage = std::make_shared<std::atomic<Stage>>(Stage::making);
    m_apart = stage;
    const auto may_write = [stage] {
        Stage making = Stage::making;
        return stage->compare_exchange_strong(making, Stage::writing);
    };
    runInBackground<Result<void>>(
        this, [make = m_files->nextApart(), may_write] { return make(may_write); },
        [this, stage](const Result<void>& written) {
            if (stage != m_apart) return;
            m_apart.reset();
            go(m_files->accept(written));
        });
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
    if (m_files->canBeMadeApart())
        startApart();
    else
        go(m_files->writeNext());
}

// One file is written, or was not: on to the next.
void ExportJob::go(const Result<void>& written) {
    if (!written) {
        const int done = m_files->done();
        m_files.reset();
        emit failed(QString::fromStdString(written.error().message), done);
        return;
    }
    emit progress(m_files->done(), m_files->count(), m_files->nextName());
    QTimer::singleShot(0, this, &ExportJob::writeNext);
}

}  // namespace decodescope
