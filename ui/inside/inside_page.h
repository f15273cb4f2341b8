// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <map>
#include <memory>
#include <vector>

#include "engine/experiment/inspect_step.h"
#include "ui/session/run_data.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QSlider;
class QSpinBox;
class QToolButton;

namespace decodescope {

class Card;
class Chart;
class InsideViews;
class Swatch;
class ToneLabel;

/// Any finished step of any lane, looked at again: the step is chosen with a slider or the arrow keys, and at
/// its end it follows the run. The page asks for a step (`inspectRequested`) and shows the answer.
class InsidePage : public QWidget {
    Q_OBJECT

public:
    /// `run` outlives the page.
    explicit InsidePage(const RunData& run, QWidget* parent = nullptr);

    InsideViews* views() const { return m_views; }
    std::vector<Chart*> charts() const;
    int lane() const;
    int step() const;
    void setStep(int lane, int step);
    void setLayerAndHead(int layer, int head);
    /// The sentence about what is pointed at, or about the step.
    QString sentence() const;
    /// Whether an answer is due.
    bool isWaiting() const { return m_waiting; }

    /// Whether a run that goes on can be looked into: it is held or in slow motion.
    void setLiveLook(bool possible);
    /// The answers.
    void showStep(const std::shared_ptr<const StepView>& view);
    void showFailure(const Error& error);
    void showTimes(const std::shared_ptr<const Record>& record, int lane,
                   const std::shared_ptr<const std::vector<TimeSplit>>& steps);

signals:
    void inspectRequested(std::shared_ptr<const decodescope::Record> record, int lane,
                          const decodescope::StepQuery& query);
    void profileRequested(std::shared_ptr<const decodescope::Record> record, int lane);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildTop();
    QWidget* buildStepCard();
    QWidget* buildWords();
    void reset();
    void append();
    void updateRange();
    void ask();
    void askForTimes();
    void showTimesOfStep();
    void showNothing(const QString& short_text, const QString& sentence);
    int stepCount() const;

    const RunData& m_data;
    bool m_following = true;
    bool m_stale = true;
    bool m_waiting = false;
    bool m_liveLook = false;
    int m_call = -1;  // of the step; -1 = the last
    std::shared_ptr<const Record> m_timesOf;
    std::map<int, std::shared_ptr<const std::vector<TimeSplit>>> m_times;  // by lane of that record
    QElapsedTimer m_sinceFollow;
    QTimer m_slowAnswer;
    InsideViews* m_views;
    QComboBox* m_lane;
    Swatch* m_swatch;
    QSpinBox* m_layer;
    QSpinBox* m_head;
    QCheckBox* m_allHeads;
    QLabel* m_callLabel;
    QSpinBox* m_callBox;
    ToneLabel* m_verdict;
    Card* m_stepCard;
    QSlider* m_slider;
    QToolButton* m_back;
    QToolButton* m_on;
    QLabel* m_counter;
    QLabel* m_sentence;
    QLabel* m_hint;
};

}  // namespace decodescope
