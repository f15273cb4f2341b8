// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ui/session/session.h"
#include "ui/sweep/sweep_work.h"

class QBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;

namespace decodescope {

class Card;
class LineChart;
class PlainTable;
class RowsModel;
class SweepForm;
class ToneLabel;

/// A grid of tests of the panel's lanes: how their time grows with the steps and with the context. Estimates,
/// runs, stops and resumes it, and shows the file of an earlier one. Numbers and fits are the engine's, the
/// same that `decodescope-cli sweep` prints.
class SweepPage : public QWidget {
    Q_OBJECT

public:
    /// `session` outlives the page; `experiment` tells the model and lanes that are swept.
    SweepPage(Session& session, std::function<Experiment()> experiment, QWidget* parent = nullptr);

    /// Shows the file of a sweep.
    void openFile(const QString& path);
    void estimate();
    void run(SweepFile::Mode mode);
    SweepForm* form() const { return m_form; }
    LineChart* growthChart() const { return m_growth; }
    LineChart* depthChart() const { return m_depth; }
    const std::vector<Cell>& cells() const { return *m_cells; }
    /// The experiment of the panel is another one.
    void experimentChanged();

signals:
    void browseRequested();
    void openRequested();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    Card* buildControls();
    Card* buildTable();
    std::optional<Sweep> makeSweep(QString* problem) const;
    void updateState();
    void say(const QString& text, bool bad = false);
    void showProgress(const SweepProgress& progress);
    void showCells(std::shared_ptr<const std::vector<Cell>> cells);
    void showEstimate(const SweepEstimate& estimate);
    void showGrowth();
    void showDepth();
    void showTable();
    int laneColor(const std::string& lane) const;

    Session& m_session;
    std::function<Experiment()> m_experiment;
    std::shared_ptr<const std::vector<Cell>> m_cells;
    bool m_wide = true;  // there is room for everything
    bool m_working = false;
    bool m_answered = false;  // the text tells what came of the last request

    SweepForm* m_form;
    QBoxLayout* m_charts = nullptr;
    QPushButton* m_estimateButton = nullptr;
    QPushButton* m_runButton = nullptr;
    QPushButton* m_resumeButton = nullptr;
    QPushButton* m_stopButton = nullptr;
    QPushButton* m_openButton = nullptr;
    QProgressBar* m_progress = nullptr;
    ToneLabel* m_text = nullptr;
    LineChart* m_growth = nullptr;
    LineChart* m_depth = nullptr;
    Card* m_tableCard = nullptr;
    RowsModel* m_rows = nullptr;
    PlainTable* m_table = nullptr;
    QLabel* m_doubts = nullptr;
};

}  // namespace decodescope
