// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPoint>
#include <QSize>

#include <optional>
#include <vector>

#include "engine/experiment/inspect_step.h"
#include "ui/chart/bar_chart.h"
#include "ui/chart/matrix_chart.h"
#include "ui/chart/small_multiples.h"

namespace decodescope {

/// A key: its row of the call and its slot.
struct KeyPlace {
    int row = -1;
    int key = -1;
};

/// Where keys stand in a grid of cells.
class KeyPlaces {
public:
    KeyPlaces() = default;
    KeyPlaces(int rows, int columns)
        : m_rows(rows),
          m_columns(columns),
          m_places(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

    int rows() const { return m_rows; }
    int columns() const { return m_columns; }
    std::size_t size() const { return m_places.size(); }
    KeyPlace& operator[](std::size_t cell) { return m_places[cell]; }
    KeyPlace at(int row, int column) const;
    /// x = column, y = row; the first cell where it stands.
    std::optional<QPoint> find(KeyPlace place) const;

private:
    int m_rows = 0;
    int m_columns = 0;
    std::vector<KeyPlace> m_places;  // [rows, columns]
};

/// What is written into the cells of the cache.
enum class CacheLabel { age, position, block, bits };

// Each fills a chart with what was seen of a step. `room`: cells with a text that fit side by side, and below
// each other.
void fillMask(CellGrid& grid, const StepView& step);
void fillWeights(HeatMap& map, const StepView& step);
void fillHeads(SmallMultiples& tiles, const StepView& step);
KeyPlaces fillPositions(CellGrid& grid, const StepView& step, const QSize& room);
KeyPlaces fillCache(CellGrid& grid, const StepView& step, CacheLabel label, const QSize& room);
void fillTimes(BarChart& chart, const TimeSplit& split, int layer);

}  // namespace decodescope
