// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "ui/chart/chart.h"

namespace decodescope {

/// Many small heat maps with one scale, from 0 to the largest value of all, side by side: one of them is
/// marked. A click, or Enter, picks one; the arrow keys move the mark.
class SmallMultiples : public Chart {
    Q_OBJECT
public:
    struct Tile {
        QString name;
        int rows = 0;
        int columns = 0;
        std::vector<float> values;  // [rows, columns]; NaN = empty
    };

    explicit SmallMultiples(QWidget* parent = nullptr);

    void setTiles(std::vector<Tile> tiles);
    int tileCount() const { return static_cast<int>(m_tiles.size()); }
    /// Marks a tile; -1 = none. Does not emit.
    void setCurrent(int tile);
    int current() const { return m_current; }
    float scaleHigh() const { return m_high; }

    bool isEmpty() const override { return m_tiles.empty(); }
    /// One line per tile, row and column.
    Table table(DataRange range) const override;

signals:
    /// A tile was clicked or chosen with the keys.
    void picked(int tile);

protected:
    void updateDrawing() override {}
    QString dataInWords() const override;
    void paintBody(QCPPainter& painter, const QRect& body, const ThemeColors& colors) override;
    bool event(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Places {
        int columns = 1;
        int label = 0;  ///< height of a name
        QSizeF step;    ///< from one tile to the next
        QSizeF tile;
        QPointF origin;
    };
    Places places(const QRect& body) const;
    QRectF tileRect(const Places& places, int tile) const;
    int tileAt(const QPoint& position) const;

    std::vector<Tile> m_tiles;
    int m_current = -1;
    float m_high = 1;
};

}  // namespace decodescope
