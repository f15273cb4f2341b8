// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <memory>
#include <vector>

#include "engine/experiment/inspect_step.h"
#include "engine/tokenizer/tokenizer.h"
#include "ui/inside/step_grids.h"
#include "ui/inside/step_words.h"

class QComboBox;
class QGridLayout;
class QStackedWidget;

namespace decodescope {

/// The five views of one step: mask, attention weights (one head or all), positions, cache cells, and where
/// the time went. What is pointed at in one of them is marked in all.
class InsideViews : public QWidget {
    Q_OBJECT

public:
    explicit InsideViews(QWidget* parent = nullptr);

    void showStep(std::shared_ptr<const StepView> step, std::shared_ptr<const Tokenizer> tokenizer);
    void showTimes(const TimeSplit* split, const QString& why);
    /// Nothing is shown, for this reason.
    void clear(const QString& why);
    const StepView* step() const { return m_step.get(); }
    const StepWords* words() const { return m_words.get(); }
    /// What is said while nothing is pointed at.
    QString restingSentence() const;

    CellGrid* mask() const { return m_mask; }
    HeatMap* weights() const { return m_weights; }
    SmallMultiples* heads() const { return m_heads; }
    CellGrid* positions() const { return m_positions; }
    CellGrid* cache() const { return m_cache; }
    BarChart* times() const { return m_times; }
    std::vector<Chart*> charts() const;

signals:
    /// What is pointed at, in words; `cell` is false when it is nothing.
    void said(const QString& sentence, bool cell);
    void headPicked(int head);
    void layerPicked(int layer);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// A cell of all views: a query and a key of the same row.
    struct Selection {
        int line = -1;
        KeyPlace key;
        bool operator==(const Selection& other) const {
            return line == other.line && key.row == other.key.row && key.key == other.key.key;
        }
    };
    enum class From { mask, positions, cache };

    void connectGrid(MatrixChart* chart, From from);
    Selection selectionAt(const MatrixChart* chart, From from, int row, int column) const;
    void point(const MatrixChart* chart, From from, int row, int column, bool choose);
    void mark(const Selection& selection, const QWidget* except);
    QString sentenceOf(const Selection& selection, From from) const;
    void fillRoom();
    void flush();

    std::shared_ptr<const StepView> m_step;
    std::shared_ptr<const Tokenizer> m_tokenizer;
    std::unique_ptr<StepWords> m_words;
    KeyPlaces m_positionPlaces;
    KeyPlaces m_cachePlaces;
    Selection m_chosen;
    From m_chosenFrom = From::mask;
    QGridLayout* m_grid;
    CellGrid* m_mask;
    QStackedWidget* m_attention;
    HeatMap* m_weights;
    SmallMultiples* m_heads;
    CellGrid* m_positions;
    CellGrid* m_cache;
    QComboBox* m_label;
    BarChart* m_times;
};

}  // namespace decodescope
