// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include <optional>

#include "ui/inside/step_facts.h"
#include "ui/session/run_data.h"

class QBoxLayout;
class QComboBox;
class QLabel;
class QSlider;
class QToolButton;

namespace decodescope {

class Card;
class CellGrid;
class Swatch;
class ToneLabel;

/// Any finished step of any lane: who sees whom as a query x key grid, the position of every slot, and the
/// cell under the mouse in words. The step is chosen with a slider or the arrow keys; at its end it follows
/// the run.
class InsidePage : public QWidget {
    Q_OBJECT

public:
    /// `run` outlives the page.
    explicit InsidePage(const RunData& run, QWidget* parent = nullptr);

    CellGrid* mask() const { return m_mask; }
    CellGrid* positions() const { return m_positions; }
    int lane() const;
    int step() const;
    void setStep(int lane, int step);
    /// The sentence about the cell under the mouse, or about the step.
    QString sentence() const;
    /// Takes over what was missed while hidden, e.g. before an export.
    void catchUp();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void reset();
    void append();
    void updateRange();
    void showStepIfVisible();
    void showStep();
    void showNothing(const QString& sentence);
    QString reasonNotToShow() const;
    void arrange();
    void showPositions();
    void showCell(int query, int key);
    void showSlot(int slot);
    int stepCount() const;

    const RunData& m_data;
    std::optional<StepFacts> m_facts;
    bool m_following = true;
    bool m_stale = true;
    int m_positionColumns = 1;
    QBoxLayout* m_grids;
    QElapsedTimer m_sinceFollow;
    QComboBox* m_lane;
    Swatch* m_swatch;
    ToneLabel* m_verdict;
    CellGrid* m_mask;
    CellGrid* m_positions;
    Card* m_stepCard;
    QSlider* m_slider;
    QToolButton* m_back;
    QToolButton* m_on;
    QLabel* m_counter;
    QLabel* m_sentence;
    QLabel* m_hint;
};

}  // namespace decodescope
