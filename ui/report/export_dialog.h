// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <memory>

#include "ui/report/export_job.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace decodescope {

/// Asks what of a record goes into which folder, writes it, and shows how far it is. Not modal: the window
/// stays in use, the export keeps the record it was asked for.
class ExportDialog : public QDialog {
    Q_OBJECT
public:
    /// `content`: what the report has. `visible`: what is on screen, by the name of the x axis; may be empty.
    ExportDialog(std::shared_ptr<const Record> record, ReportContent content, const QString& folder,
                 const QHash<QString, std::pair<double, double>>& visible, QWidget* parent = nullptr);

    RenderOptions options() const;
    ExportJob* job() const { return m_job; }

signals:
    /// One sentence about what has become of it, good or bad.
    void done(const QString& sentence, bool good);
    void folderChosen(const QString& folder);

protected:
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QCheckBox* addCheck(const QString& text, const char* name, const QString& toolTip);
    void browse();
    void start();
    void ended(const QString& sentence, bool good);
    void updateState();

    std::shared_ptr<const Record> m_record;
    ReportContent m_content;
    QHash<QString, std::pair<double, double>> m_visible;
    ExportJob* m_job;
    QList<QCheckBox*> m_checks;
    QCheckBox *m_png, *m_svg, *m_pdf, *m_csv, *m_steps, *m_json, *m_trace, *m_markdown, *m_html, *m_report;
    QComboBox* m_scale;
    QComboBox* m_colors;
    QComboBox* m_range;
    QLineEdit* m_folder;
    QPushButton* m_browse;
    QProgressBar* m_progress;
    QLabel* m_state;
    QPushButton* m_start;
    QPushButton* m_cancel;
};

}  // namespace decodescope
