// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include <vector>

#include "ui/memory/memory_series.h"
#include "ui/session/run_data.h"

class QHBoxLayout;
class QLabel;

namespace decodescope {

class CacheTableModel;
class LineChart;
class PlainTable;

/// Where the bytes are: tensors by owner under the resident set, what remains unexplained, the allocator's
/// figures, and each cache's bytes beside the formula.
class MemoryPage : public QWidget {
    Q_OBJECT

public:
    /// `run` outlives the page.
    explicit MemoryPage(const RunData& run, QWidget* parent = nullptr);

    LineChart* chart() const { return m_chart; }
    /// Takes over what was missed while hidden, e.g. before an export.
    void catchUp();

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Figure {
        QLabel* name = nullptr;
        QLabel* value = nullptr;
    };

    void reset();
    void append(const std::vector<RunEvent>& events);
    void refreshIfVisible();
    void updateChart();
    void updateFigures();
    Figure addFigure(const QString& name, const QString& definition, QHBoxLayout* row);

    const RunData& m_data;
    MemorySeries m_series;
    int m_drawnGeneration = -1;
    LineChart* m_chart;
    CacheTableModel* m_caches;
    PlainTable* m_table;
    Figure m_rss, m_tensors, m_unaccounted, m_heapInUse, m_heapFree, m_heapMapped, m_faults;
    QElapsedTimer m_sinceFigures;
    bool m_stale = true;
};

}  // namespace decodescope
