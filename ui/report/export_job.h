// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <memory>

#include "ui/report/render.h"

namespace decodescope {

/// An export that leaves the window alive: one file per turn of the event loop. GUI thread.
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
    void writeNext();

    std::unique_ptr<RecordExport> m_files;
    bool m_cancel = false;
};

}  // namespace decodescope
