// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <atomic>
#include <memory>

#include "ui/report/render.h"

namespace decodescope {

/// An export that leaves the window alive: one drawn file per turn of the event loop, and what needs no
/// drawing made beside it. GUI thread.
class ExportJob : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    ~ExportJob() override;

    /// Nothing happens while another export goes on.
    void start(std::unique_ptr<RecordExport> files);
    /// No further file is begun; what is written stays whole.
    void cancel();
    bool isRunning() const { return m_files != nullptr; }

signals:
    /// `done` of `total` files are written, `next` is being made.
    void progress(int done, int total, const QString& next);
    void finished(const QStringList& files);
    void cancelled(int written);
    /// One sentence; `written` files before it stay.
    void failed(const QString& sentence, int written);

private:
    /// Where a file is that is made apart.
    enum class Stage { making, writing, left };

    void writeNext();
    void startApart();
    void go(const Result<void>& written);
    void leaveApart();

    std::unique_ptr<RecordExport> m_files;
    std::shared_ptr<std::atomic<Stage>> m_apart;  // of the file that is made apart; null = none
    bool m_cancel = false;
};

}  // namespace decodescope
