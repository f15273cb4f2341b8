// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLockFile>
#include <QObject>
#include <QString>

#include <atomic>
#include <memory>

#include "engine/experiment/record.h"

namespace decodescope {

/// Keeps the newest record that nobody has saved in a file of this window's own, so that neither a crash nor
/// a power cut loses it. A lock beside the file tells whether its window still lives: a file without one was
/// left behind. Files are written in the background, whole or not at all. GUI thread.
class Autosave : public QObject {
    Q_OBJECT

public:
    /// `folder` is made when it is needed.
    explicit Autosave(QString folder, QObject* parent = nullptr);
    ~Autosave() override;

    /// Writes the record with these notes, over the one that was kept before.
    void keep(std::shared_ptr<const Record> record, const RecordNotes& notes);
    /// The record was saved, or is not wanted: nothing is kept any more.
    void forget();

    /// The newest record that a window which is gone has left behind; empty = none.
    QString leftover() const;
    /// Makes a leftover this window's own: it is kept until it is saved or forgotten.
    void adopt(const QString& leftover);

signals:
    /// What is kept has been written.
    void kept(const QString& path);
    /// It could not be written, and why. One sentence.
    void failed(const QString& sentence);

private:
    bool claim();

    QString m_folder;
    QString m_path;
    std::unique_ptr<QLockFile> m_lock;
    std::shared_ptr<std::atomic<bool>> m_wanted;  // whether the newest record is, for whoever writes it
};

}  // namespace decodescope
