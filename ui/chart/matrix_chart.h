// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QPoint>
#include <QRectF>
#include <QStringList>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ui/chart/chart.h"
#include "ui/chart/format.h"

namespace decodescope {

/// Rows x columns of cells: single cells with gaps while they are large enough, one image beyond about 64 a
/// side. Hover tells what a cell is, a click selects it; wheel zooms, dragging pans, Home or double click
/// shows everything. Arrow keys move the selection. Base of `CellGrid` and `HeatMap`.
class MatrixChart : public Chart {
    Q_OBJECT
public:
    int rowCount() const { return m_rows; }
    int columnCount() const { return m_columns; }

    /// Labels of single rows or columns; without them their numbers, from `first`, are shown.
    void setRowLabels(const QStringList& labels);
    void setColumnLabels(const QStringList& labels);
    void setFirstNumbers(int row, int column);
    /// What a row and a column is ("query", "key"), for labels, hover texts and CSV.
    void setNames(const QString& row, const QString& column);
    /// Dashed lines before these columns (rows), e.g. between the cache and the chunk.
    void setColumnSeparators(const QVector<int>& columns);
    void setRowSeparators(const QVector<int>& rows);
    /// A muted line below the legend.
    void setNote(const QString& note);
    /// Replaces the hover text of a cell; gets row and column.
    void setCellDescriber(std::function<QString(int row, int column)> describer);
    /// Largest width and height of a cell in lines of text (default 1.6 x 1.6).
    void setMaxCellSize(double width_lines, double height_lines);

    /// Marks a cell with a frame; (-1, -1) or outside = none. Does not emit.
    void setSelectedCell(int row, int column);
    /// x = column, y = row.
    std::optional<QPoint> selectedCell() const { return m_selected; }
    QString describeCell(int row, int column) const;

    bool isEmpty() const override { return m_rows == 0 || m_columns == 0; }
    Table table(DataRange range) const override;
    void resetView() override;
    bool isViewChanged() const override { return m_view.has_value(); }
    /// The cells shown; nothing = all.
    QVariant view() const override { return m_view ? QVariant(*m_view) : QVariant(); }
    void setView(const QVariant& view) override;

signals:
    /// The mouse is over a cell; -1, -1 when it has left.
    void cellHovered(int row, int column);
    /// A cell was clicked or reached with the arrow keys.
    void cellSelected(int row, int column);

protected:
    explicit MatrixChart(QWidget* parent);

    /// Sets the shape and returns the indices into the colour table (row-major), to be filled at once.
    std::vector<std::uint8_t>& resetIndices(int rows, int columns);
    void setIndex(int row, int column, std::uint8_t index);
    std::uint8_t index(int row, int column) const;
    /// At most 256 colours.
    virtual QVector<QRgb> colorTable(const ThemeColors& colors) const = 0;
    /// Which of several cells that share a pixel is shown: the one whose index has the highest rank. A
    /// permutation of 0 .. 255.
    virtual std::array<std::uint8_t, 256> ranks() const;
    /// Text inside a cell, where it is large enough, and a second line below it.
    virtual QString cellText(int, int) const { return {}; }
    virtual QString cellNote(int, int) const { return {}; }
    /// A frame for a cell that needs attention.
    virtual bool cellMarked(int, int) const { return false; }
    virtual QString defaultDescription(int row, int column) const = 0;
    virtual QString csvCell(int row, int column) const = 0;
    /// "query 2, key 1".
    QString placeName(int row, int column) const;
    /// "12 x 13 cells, query by key".
    QString shapeInWords() const;
    /// Height below the grid beyond legend and note, and what is drawn there.
    virtual int footerHeight() const { return 0; }
    virtual void paintFooter(QPainter&, const QRect&, const ThemeColors&) const {}

    void updateDrawing() override;
    void paintBody(QCPPainter& painter, const QRect& body, const ThemeColors& colors) override;
    bool legendBelow() const override { return true; }
    void applyTheme(const ThemeColors& colors) override;
    bool event(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Geometry {
        QRectF grid;  // where the visible cells are
        QRectF view;  // visible part, in cells: x and width in columns
        qreal cell_w = 0;
        qreal cell_h = 0;
        QRectF rows;     // row labels
        QRectF columns;  // column labels
        int below = 0;   // y where legend, note and footer begin
    };
    Geometry geometry(const QRect& body) const;
    QRectF fullView() const { return {0, 0, static_cast<qreal>(m_columns), static_cast<qreal>(m_rows)}; }
    QRectF cellRect(const Geometry& geometry, int row, int column) const;
    std::optional<QPoint> cellAt(const QPointF& position) const;
    QString rowLabel(int row) const;
    QString columnLabel(int column) const;
    void paintCells(QCPPainter& painter, const Geometry& geometry, const ThemeColors& colors) const;
    QImage shrunk(const QRect& cells, const QSize& pixels, const QVector<QRgb>& table) const;
    void paintImage(QCPPainter& painter, const Geometry& geometry, const ThemeColors& colors);
    void paintLabels(QPainter& painter, const Geometry& geometry, const ThemeColors& colors) const;
    void showCells(QRectF view);
    void hover(std::optional<QPoint> cell);

    int m_rows = 0;
    int m_columns = 0;
    int m_firstRow = 0;
    int m_firstColumn = 0;
    std::vector<std::uint8_t> m_indices;  // [rows, columns]
    QImage m_image;                       // the same in colours
    QVector<QRgb> m_imageTable;           // the colours of `m_image`
    QImage m_scaled;                      // `m_image` shrunk to the pixels it covers
    QRectF m_scaledView;                  // the view that `m_scaled` shows
    bool m_imageStale = true;
    QStringList m_rowLabels;
    QStringList m_columnLabels;
    QString m_rowName;
    QString m_columnName;
    QString m_note;
    QVector<int> m_columnSeparators;
    QVector<int> m_rowSeparators;
    std::function<QString(int, int)> m_describer;
    double m_maxCellWidth = 1.6;
    double m_maxCellHeight = 1.6;
    std::optional<QPoint> m_selected;
    std::optional<QPoint> m_hovered;
    std::optional<QRectF> m_view;  // set while zoomed
    std::optional<QPoint> m_dragFrom;
    bool m_dragged = false;
};

/// What a cell of a `CellGrid` can be.
struct CellKind {
    QString name;
    ColorRef color;
    bool in_legend = true;
    int rank = 0;  ///< where cells are smaller than pixels, the highest is shown; among equals the last kind
};

/// A matrix of kinds: masks, position ids, cache cells.
class CellGrid : public MatrixChart {
    Q_OBJECT
public:
    explicit CellGrid(QWidget* parent = nullptr);

    /// The kinds cells refer to by index (at most 255).
    void setKinds(const std::vector<CellKind>& kinds);
    /// Row-major kinds, `rows * columns` of them.
    void setCells(int rows, int columns, const std::vector<std::uint8_t>& kinds);
    void setCell(int row, int column, std::uint8_t kind);
    std::uint8_t cell(int row, int column) const { return index(row, column); }
    /// Text in every cell, row-major, and a second line that marks the cell where it is not empty (e.g. the
    /// expected position id below the one used). Empty vectors remove them; `setCells` with another shape
    /// too.
    void setTexts(std::vector<QString> texts, std::vector<QString> corrections = {});

    QVector<LegendEntry> legend() const override;

protected:
    std::array<std::uint8_t, 256> ranks() const override;
    QVector<QRgb> colorTable(const ThemeColors& colors) const override;
    QString dataInWords() const override;
    QString cellText(int row, int column) const override;
    QString cellNote(int row, int column) const override;
    bool cellMarked(int row, int column) const override;
    QString defaultDescription(int row, int column) const override;
    QString csvCell(int row, int column) const override;

private:
    std::vector<CellKind> m_kinds;
    std::vector<QString> m_texts;
    std::vector<QString> m_corrections;
};

/// A matrix of numbers as a colour gradient, with its scale below. NaN cells are empty.
class HeatMap : public MatrixChart {
    Q_OBJECT
public:
    explicit HeatMap(QWidget* parent = nullptr);

    /// What the values are, for hover texts and CSV ("attention weight").
    void setValueName(const QString& name, Unit unit = Unit::none);
    /// Fixed ends of the scale; without them they follow the data.
    void setScale(double low, double high);
    void setAutomaticScale();
    /// Row-major values, `rows * columns` of them.
    void setValues(int rows, int columns, const std::vector<float>& values);
    double scaleLow() const { return m_low; }
    double scaleHigh() const { return m_high; }

protected:
    std::array<std::uint8_t, 256> ranks() const override;
    QVector<QRgb> colorTable(const ThemeColors& colors) const override;
    QString dataInWords() const override;
    QString defaultDescription(int row, int column) const override;
    QString csvCell(int row, int column) const override;
    int footerHeight() const override;
    void paintFooter(QPainter& painter, const QRect& rect, const ThemeColors& colors) const override;

private:
    void updateIndices();

    std::vector<float> m_values;  // [rows, columns]
    QString m_valueName;
    Unit m_unit = Unit::none;
    bool m_fixedScale = false;
    double m_low = 0;
    double m_high = 1;
};

}  // namespace decodescope
