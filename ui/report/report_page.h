// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include <map>
#include <memory>
#include <vector>

#include "ui/report/record_charts.h"
#include "ui/report/report_content.h"
#include "ui/session/run_data.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QPagedPaintDevice;
class QPlainTextEdit;
class QPushButton;
class QStackedWidget;

namespace decodescope {

class Card;
class ChartPicker;
class ReportPreview;

/// What is said about a run: its report with a title and notes, the charts and parts that are wanted, and its
/// pages as they are printed and exported. Title and notes go to the run's file (`RunData::setNotes`).
class ReportPage : public QWidget {
    Q_OBJECT

public:
    /// `run` outlives the page.
    explicit ReportPage(RunData& run, QWidget* parent = nullptr);
    ~ReportPage() override;

    /// What is chosen, for whoever exports.
    ReportContent content();
    /// A run that is drawn dashed; its record may be null.
    void setCompared(const ComparedRun& compared);
    /// What a lane of the finished record was found to be; of another record it is ignored.
    void addJudged(const std::shared_ptr<const Judged>& judged);
    /// The report as it is on screen; empty without a record.
    QByteArray html();
    QByteArray pdf();
    QString markdown();
    void print(QPagedPaintDevice& device, const std::function<void()>& newPage);

    ChartPicker* picker() const { return m_picker; }
    ReportPreview* preview() const { return m_preview; }
    /// Takes over what was missed while hidden, and what waits for a pause in typing.
    void catchUp();

signals:
    void runRequested();
    void openRequested();
    void exportRequested();
    /// "html" or "pdf" into a file.
    void saveRequested(const QString& suffix);
    void printRequested();
    /// One sentence for the status bar.
    void notice(const QString& sentence);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildEmpty();
    void updateEmpty();
    QWidget* buildChoices();
    QWidget* buildReport();
    void recordChanged();
    void chartsChanged();
    void notesTyped();
    void changed(int waitMs = 0);
    void updatePreview();

    RunData& m_data;
    std::shared_ptr<const Record> m_record;  // whose charts and verdicts these are
    ComparedRun m_compared;
    std::map<int, Verdict> m_verdicts;
    std::vector<RecordChart> m_charts;
    bool m_stale = true;        // record or compared run are others
    bool m_pagesStale = false;  // so are the pages, which nobody sees
    bool m_filling = false;
    QTimer m_pause;

    QStackedWidget* m_stack;
    QLabel* m_emptyTitle = nullptr;
    QLabel* m_emptyText = nullptr;
    QList<QPushButton*> m_emptyButtons;
    QLineEdit* m_title = nullptr;
    QPlainTextEdit* m_notes = nullptr;
    ChartPicker* m_picker = nullptr;
    std::map<ReportPart, QCheckBox*> m_parts;
    ReportPreview* m_preview = nullptr;
};

}  // namespace decodescope
