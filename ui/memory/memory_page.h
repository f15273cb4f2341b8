// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include <vector>

#include "ui/memory/memory_series.h"
#include "ui/report/memory_charts.h"
#include "ui/session/run_data.h"

class QAction;
class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace decodescope {

class CacheTableModel;
class Card;
class Chart;
class LineChart;
class PlainTable;
class RowsModel;

/// Where the bytes are: tensors by owner under the resident set, what remains unexplained, the allocator's
/// figures, and each cache's bytes beside the formula.
class MemoryPage : public QWidget {
    Q_OBJECT

public:
    /// `run` outlives the page.
    explicit MemoryPage(const RunData& run, QWidget* parent = nullptr);

    LineChart* chart() const { return m_chart; }
    /// All charts of the page, the main one first. They show the same time.
    std::vector<Chart*> charts() const;
    MemoryScale scale() const { return m_scale; }
    /// Bytes or shares of the resident memory; as long as the window is there.
    void setScale(MemoryScale scale);
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
    void addPeaksRow(QVBoxLayout* column);
    void updateCharts();
    void setUpCharts();
    void updateFigures();
    void addGpuCard(QVBoxLayout* column);
    void updateGpus();
    Figure addFigure(const QString& name, const QString& definition, QHBoxLayout* row);

    const RunData& m_data;
    MemorySeries m_series;
    MemoryScale m_scale = MemoryScale::bytes;
    bool m_setUp = false;  // the series of the charts belong to the run and the scale
    int m_drawnGeneration = -1;
    std::size_t m_drawn = 0;  // samples that the charts have
    bool m_copying = false;   // some cache has copied something: the chart of it has its samples
    LineChart* m_chart;
    LineChart* m_allocator;
    LineChart* m_pageFaults;
    LineChart* m_copied;
    QLabel* m_peaks = nullptr;
    QAction* m_bytesAction = nullptr;
    QAction* m_shareAction = nullptr;
    CacheTableModel* m_caches;
    PlainTable* m_table;
    Card* m_gpuCard = nullptr;
    RowsModel* m_gpus = nullptr;
    Figure m_rss, m_tensors, m_unaccounted, m_heapInUse, m_heapFree, m_heapMapped, m_faults;
    QElapsedTimer m_sinceFigures;
    bool m_stale = true;
};

}  // namespace decodescope
