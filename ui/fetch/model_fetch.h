// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QProcess>
#include <QProgressDialog>

namespace decodescope {

/// Fetches the small real model that "decodescope-cli get" offers, with a dialog that shows how far it is and
/// can stop it. The window stays usable. One fetch at a time.
class ModelFetch : public QObject {
    Q_OBJECT

public:
    explicit ModelFetch(QWidget* window);
    ~ModelFetch() override;

    /// What is fetched: the name that a model path of this name then stands for.
    static QString modelName() { return QStringLiteral("smollm2"); }

    /// Starts it, or brings the dialog of a running one to the front.
    void start();
    void cancel();
    bool running() const { return m_process.state() != QProcess::NotRunning; }
    /// The program that does it; tests replace it.
    void setProgram(const QString& program) { m_program = program; }

signals:
    /// The model is there.
    void fetched(const QString& name);
    /// One sentence. Not sent when it was cancelled.
    void failed(const QString& sentence);

private:
    void readLines();
    void ended(int exitCode, QProcess::ExitStatus status);
    void couldNotStart();

    QWidget* m_window;
    QString m_program;
    QProcess m_process;
    QPointer<QProgressDialog> m_dialog;
    QString m_lastLine;
    bool m_cancelled = false;
};

}  // namespace decodescope
