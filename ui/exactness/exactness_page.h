// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include <map>
#include <memory>

#include "ui/session/run_data.h"
#include "ui/session/session.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace decodescope {

class EvidenceList;
class LineChart;
class VerdictCard;

/// Is it right? The logit error of every lane against the reference, the verdict on one lane or on a trace of
/// another program, and what it rests on. A lane is judged when the page is looked at: the page asks for it
/// with `judgeRequested`, and is told the answer.
class ExactnessPage : public QWidget {
    Q_OBJECT

public:
    /// `run` outlives the page.
    explicit ExactnessPage(const RunData& run, QWidget* parent = nullptr);

    LineChart* errorChart() const { return m_errors; }
    LineChart* callChart() const { return m_calls; }
    LineChart* marginChart() const { return m_margins; }
    VerdictCard* verdict() const { return m_verdict; }
    EvidenceList* evidence() const { return m_evidence; }
    /// Index of the lane that is shown; -1 while there is none.
    int lane() const;
    void setLane(int lane);
    /// The trace that is shown in place of the run; null for the run.
    std::shared_ptr<const Judged> trace() const { return m_trace; }

    /// Draws the errors of another run of the same work dashed; null = none.
    void setCompared(std::shared_ptr<const Record> record, const QString& name);

    /// A lane's or a trace's verdict has come.
    void showJudged(const std::shared_ptr<const Judged>& judged);
    void showFailure(int lane, const Error& error);
    /// A trace is being judged.
    void showTraceBusy(const QString& path);
    /// Takes over what was missed while hidden, e.g. before an export.
    void catchUp();

signals:
    /// This lane of the finished record wants a verdict.
    void judgeRequested(int lane);
    void helpRequested(decodescope::FaultKind kind);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Outcome {
        bool busy = false;
        std::shared_ptr<const Judged> judged;
        Error error{};  ///< where neither
    };

    void reset();
    void appended();
    void fillLanes();
    int lookedAtFirst() const;
    void laneChosen();
    void updateCharts();
    void updateVerdict();
    void request();
    void leaveTrace();

    const RunData& m_data;
    bool m_filling = false;
    bool m_stale = true;
    std::map<int, Outcome> m_outcomes;  // by lane of the finished record
    std::shared_ptr<const Judged> m_trace;
    std::shared_ptr<const Record> m_compared;
    QString m_comparedName;
    QString m_traceBusy;  // path of the trace that is being judged
    QElapsedTimer m_sinceCharts;

    QLabel* m_laneLabel;
    QComboBox* m_lanes = nullptr;
    QLabel* m_traceName;
    QPushButton* m_back;
    VerdictCard* m_verdict;
    LineChart* m_errors;
    LineChart* m_calls;
    LineChart* m_margins;
    EvidenceList* m_evidence;
};

}  // namespace decodescope
