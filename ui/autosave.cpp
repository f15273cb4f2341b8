// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/autosave.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QUuid>

#include <utility>

#include "ui/session/background.h"

namespace decodescope {

namespace {

QString lockOf(const QString& path) {
    return path + QStringLiteral(".lock");
}

std::unique_ptr<QLockFile> lockFor(const QString& path) {
    auto lock = std::make_unique<QLockFile>(lockOf(path));
    // However long a window is open, its lock holds until its process is gone.
    lock->setStaleLockTime(0);
    return lock;
}

}  // namespace

Autosave::Autosave(QString folder, QObject* parent)
    : QObject(parent),
      m_folder(std::move(folder)),
      m_path(QStringLiteral("%1/%2.json").arg(m_folder, QUuid::createUuid().toString(QUuid::WithoutBraces))),
      m_wanted(std::make_shared<std::atomic<bool>>(false)) {}

Autosave::~Autosave() = default;

bool Autosave::claim() {
    if (m_lock != nullptr) return true;
    if (!QDir().mkpath(m_folder)) return false;
    m_lock = lockFor(m_path);
    if (m_lock->tryLock(0)) return true;
    m_lock.reset();
    return false;
}

void Autosave::keep(std::shared_ptr<const Record> record, const RecordNotes& notes) {
    m_wanted->store(false);
    m_wanted = std::make_shared<std::atomic<bool>>(true);
    if (!claim()) {
        emit failed(tr("The run is not kept in case of a crash: %1 cannot be written to.")
                        .arg(QDir::toNativeSeparators(m_folder)));
        return;
    }
    runInBackground<Result<void>>(
        this,
        [record = std::move(record), notes, path = m_path, wanted = m_wanted]() -> Result<void> {
            if (!wanted->load()) return {};
            Result<void> saved = save_record(*record, notes, path.toStdString());
            // Given up meanwhile, so that whoever did has found no file to remove; a newer record follows and
            // replaces the file anyway.
            if (saved && !wanted->load()) QFile::remove(path);
            return saved;
        },
        [this, wanted = m_wanted](const Result<void>& saved) {
            if (!wanted->load()) return;
            if (saved)
                emit kept(m_path);
            else
                emit failed(tr("The run is not kept in case of a crash: %1")
                                .arg(QString::fromStdString(saved.error().message)));
        });
}

void Autosave::forget() {
    m_wanted->store(false);
    if (m_lock != nullptr) QFile::remove(m_path);
}

QString Autosave::leftover() const {
    const QFileInfoList files =
        QDir(m_folder).entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Time);
    for (const QFileInfo& file : files) {
        const QString path = file.absoluteFilePath();
        if (lockFor(path)->tryLock(0)) return path;
    }
    return {};
}

void Autosave::adopt(const QString& leftover) {
    if (!claim()) return;
    m_wanted->store(false);
    m_wanted = std::make_shared<std::atomic<bool>>(true);
    QFile::remove(m_path);
    QFile::rename(leftover, m_path);
}

}  // namespace decodescope
