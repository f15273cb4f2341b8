// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/matrix_chart.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QToolTip>
#include <qcustomplot.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/chart/axis_scale.h"
#include "ui/theme/card.h"

namespace decodescope {

namespace {

// Above this many visible cells a side, or below this size, cells are drawn as one image.
constexpr int maxSingleCells = 64;
constexpr double minSingleCell = 5;
constexpr int maxRoundedCells = 1024;

}  // namespace

MatrixChart::MatrixChart(QWidget* parent) : Chart(parent) {}

void MatrixChart::setRowLabels(const QStringList& labels) {
    m_rowLabels = labels;
    markDirty();
}

void MatrixChart::setColumnLabels(const QStringList& labels) {
    m_columnLabels = labels;
    markDirty();
}

void MatrixChart::setFirstNumbers(int row, int column) {
    m_firstRow = row;
    m_firstColumn = column;
    markDirty();
}

void MatrixChart::setNames(const QString& row, const QString& column) {
    m_rowName = row;
    m_columnName = column;
    markDirty();
}

void MatrixChart::setColumnSeparators(const QVector<int>& columns) {
    m_columnSeparators = columns;
    markDirty();
}

void MatrixChart::setRowSeparators(const QVector<int>& rows) {
    m_rowSeparators = rows;
    markDirty();
}

void MatrixChart::setNote(const QString& note) {
    m_note = note;
    markDirty();
}

void MatrixChart::setCellDescriber(std::function<QString(int, int)> describer) {
    m_describer = std::move(describer);
}

void MatrixChart::setMaxCellSize(double width_lines, double height_lines) {
    m_maxCellWidth = width_lines;
    m_maxCellHeight = height_lines;
    markDirty();
}

void MatrixChart::setSelectedCell(int row, int column) {
    std::optional<QPoint> cell;
    if (row >= 0 && row < m_rows && column >= 0 && column < m_columns) cell = QPoint(column, row);
    if (cell == m_selected) return;
    m_selected = cell;
    markDirty();
}

QString MatrixChart::describeCell(int row, int column) const {
    return m_describer ? m_describer(row, column) : defaultDescription(row, column);
}

std::vector<std::uint8_t>& MatrixChart::resetIndices(int rows, int columns) {
    rows = std::max(0, rows);
    columns = std::max(0, columns);
    if (rows != m_rows || columns != m_columns) {
        m_view.reset();
        m_hovered.reset();
        if (m_selected && (m_selected->x() >= columns || m_selected->y() >= rows)) m_selected.reset();
    }
    m_rows = rows;
    m_columns = columns;
    m_indices.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    m_imageStale = true;
    markDirty();
    return m_indices;
}

void MatrixChart::setIndex(int row, int column, std::uint8_t index) {
    if (row < 0 || row >= m_rows || column < 0 || column >= m_columns) return;
    m_indices[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns) +
              static_cast<std::size_t>(column)] = index;
    m_imageStale = true;
    markDirty();
}

std::uint8_t MatrixChart::index(int row, int column) const {
    return m_indices[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns) +
                     static_cast<std::size_t>(column)];
}

void MatrixChart::applyTheme(const ThemeColors&) {
    m_imageStale = true;
}

void MatrixChart::resetView() {
    if (!m_view) return;
    m_view.reset();
    refreshNow();
}

QString MatrixChart::rowLabel(int row) const {
    return row < m_rowLabels.size() ? m_rowLabels[row] : QString::number(m_firstRow + row);
}

QString MatrixChart::columnLabel(int column) const {
    return column < m_columnLabels.size() ? m_columnLabels[column] : QString::number(m_firstColumn + column);
}

QString MatrixChart::placeName(int row, int column) const {
    // A label such as "query 2" already says what it numbers.
    const auto name = [](const QString& what, const QString& label, bool own_label) {
        return own_label || what.isEmpty() ? label : what + QLatin1Char(' ') + label;
    };
    return name(m_rowName, rowLabel(row), row < m_rowLabels.size()) + QStringLiteral(", ") +
           name(m_columnName, columnLabel(column), column < m_columnLabels.size());
}

MatrixChart::Geometry MatrixChart::geometry(const QRect& body) const {
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    Geometry g;
    g.view = m_view.value_or(fullView());
    int label_width = 0;
    if (m_rowLabels.isEmpty()) {
        label_width = text.horizontalAdvance(QString::number(m_firstRow + m_rows));
    } else {
        for (const QString& label : m_rowLabels)
            label_width = std::max(label_width, text.horizontalAdvance(label));
    }
    label_width = std::min(label_width + 2, body.width() / 3) + metrics.padding / 2;
    const int label_height = text.height() + metrics.padding / 4;
    int below = footerHeight();
    const int legend_height = legendHeight(body.width() - label_width);
    if (legend_height > 0) below += legend_height;
    if (!m_note.isEmpty()) below += text.height() + metrics.padding / 3;
    if (below > 0) below += metrics.padding;

    const double room_w = std::max(1, body.width() - label_width - 1);
    const double room_h = std::max(1, body.height() - label_height - below);
    double cell_w = std::min(room_w / m_columns, metrics.line * m_maxCellWidth);
    double cell_h = std::min(room_h / m_rows, metrics.line * m_maxCellHeight);
    // Square cells keep a diagonal a diagonal, unless that would waste most of the room.
    if (m_maxCellWidth == m_maxCellHeight && m_rows > 1) {
        const double side = std::min(cell_w, cell_h);
        if (side * 3 >= std::max(cell_w, cell_h)) cell_w = cell_h = side;
    }
    // The grid keeps its place while zoomed; only its cells grow.
    g.grid =
        QRectF(body.left() + label_width, body.top() + label_height, cell_w * m_columns, cell_h * m_rows);
    g.cell_w = g.grid.width() / g.view.width();
    g.cell_h = g.grid.height() / g.view.height();
    g.rows = QRectF(body.left(), g.grid.top(), label_width - metrics.padding / 2, g.grid.height());
    g.columns = QRectF(g.grid.left(), body.top(), g.grid.width(), text.height());
    g.below = qCeil(g.grid.bottom()) + metrics.padding;
    return g;
}

QRectF MatrixChart::cellRect(const Geometry& g, int row, int column) const {
    return {g.grid.left() + (column - g.view.left()) * g.cell_w,
            g.grid.top() + (row - g.view.top()) * g.cell_h, g.cell_w, g.cell_h};
}

std::optional<QPoint> MatrixChart::cellAt(const QPointF& position) const {
    if (isEmpty()) return std::nullopt;
    const Geometry g = geometry(bodyRect());
    if (!g.grid.contains(position)) return std::nullopt;
    const int column =
        static_cast<int>(std::floor(g.view.left() + (position.x() - g.grid.left()) / g.cell_w));
    const int row = static_cast<int>(std::floor(g.view.top() + (position.y() - g.grid.top()) / g.cell_h));
    if (row < 0 || row >= m_rows || column < 0 || column >= m_columns) return std::nullopt;
    return QPoint(column, row);
}

void MatrixChart::updateDrawing() {}

void MatrixChart::paintBody(QCPPainter& painter, const QRect& body, const ThemeColors& colors) {
    const Geometry g = geometry(body);
    painter.save();
    const bool single = g.view.width() <= maxSingleCells && g.view.height() <= maxSingleCells &&
                        std::min(g.cell_w, g.cell_h) >= minSingleCell;
    painter.save();
    painter.setClipRect(g.grid.adjusted(-2, -2, 2, 2).toAlignedRect());
    if (single) {
        paintCells(painter, g, colors);
    } else {
        paintImage(painter, g, colors);
    }
    QPen dashes(colors.text, 1);
    dashes.setDashPattern({3, 3});
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(dashes);
    for (const int column : m_columnSeparators) {
        const double x = cellRect(g, 0, column).left();
        if (column > 0 && column < m_columns)
            painter.drawLine(QPointF(x, g.grid.top()), QPointF(x, g.grid.bottom()));
    }
    for (const int row : m_rowSeparators) {
        const double y = cellRect(g, row, 0).top();
        if (row > 0 && row < m_rows) painter.drawLine(QPointF(g.grid.left(), y), QPointF(g.grid.right(), y));
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    const auto frame = [&](const QPoint& cell, const QColor& color, double width) {
        QRectF rect = cellRect(g, cell.y(), cell.x());
        if (rect.width() < 6) rect.adjust(-2, 0, 2, 0);
        if (rect.height() < 6) rect.adjust(0, -2, 0, 2);
        painter.setPen(QPen(color, width));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
    };
    if (m_hovered) frame(*m_hovered, colors.muted, 1);
    if (m_selected) frame(*m_selected, colors.text, 2);
    painter.restore();

    paintLabels(painter, g, colors);
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    QRect line(qRound(g.grid.left()), g.below, body.right() - qRound(g.grid.left()), text.height());
    const int footer = footerHeight();
    if (footer > 0) {
        paintFooter(painter, QRect(line.left(), line.top(), qRound(g.grid.width()), footer), colors);
        line.translate(0, footer);
    }
    paintLegend(painter, line, colors);
    line.translate(0, legendHeight(body.width() - (qRound(g.grid.left()) - body.left())));
    if (!m_note.isEmpty()) {
        line.translate(0, metrics.padding / 3);
        painter.setFont(metrics.small_text);
        painter.setPen(colors.muted);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                         text.elidedText(m_note, Qt::ElideRight, line.width()));
    }
    painter.restore();
}

void MatrixChart::paintCells(QCPPainter& painter, const Geometry& g, const ThemeColors& colors) const {
    const QVector<QRgb> table = colorTable(colors);
    const CardMetrics metrics(font());
    const QFont font = metrics.small_text;
    QFont note_font = font;
    note_font.setPixelSize(std::max(1, qRound(font.pixelSize() * 0.85)));
    const double line = QFontMetrics(note_font).height() * 0.92;  // digits have no descenders
    const double gap = std::clamp(std::min(g.cell_w, g.cell_h) * 0.08, 0.5, 2.0);
    const double radius = std::min(g.cell_w, g.cell_h) >= 10 ? 2.5 : 0;
    // Thousands of rounded cells cost more than a frame; as plain boxes on whole pixels they are cheap.
    const bool plain = g.view.width() * g.view.height() > maxRoundedCells;
    const int row_end = std::min(m_rows, qCeil(g.view.bottom()));
    const int column_end = std::min(m_columns, qCeil(g.view.right()));
    const QFontMetrics text(font);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setFont(font);
    // Where the longest text does not fit, none is written: a grid that is written in half looks broken.
    QString longest;
    for (int row = std::max(0, static_cast<int>(g.view.top())); row < row_end; ++row) {
        for (int column = std::max(0, static_cast<int>(g.view.left())); column < column_end; ++column) {
            if (const QString label = cellText(row, column); label.size() > longest.size()) longest = label;
        }
    }
    const bool written =
        text.horizontalAdvance(longest) <= g.cell_w - gap && text.height() <= g.cell_h - gap + 4;
    for (int row = std::max(0, static_cast<int>(g.view.top())); row < row_end; ++row) {
        for (int column = std::max(0, static_cast<int>(g.view.left())); column < column_end; ++column) {
            const std::uint8_t value = index(row, column);
            const QColor color = QColor::fromRgba(value < table.size() ? table[value] : qRgba(0, 0, 0, 0));
            const QRectF rect = cellRect(g, row, column).adjusted(gap / 2, gap / 2, -gap / 2, -gap / 2);
            const bool marked = cellMarked(row, column);
            if (plain && !marked) {
                painter.fillRect(QRect(QPoint(qRound(rect.left()), qRound(rect.top())),
                                       QPoint(qRound(rect.right()) - 1, qRound(rect.bottom()) - 1)),
                                 color);
            } else {
                painter.setPen(marked ? QPen(colors.bad, 1) : Qt::NoPen);
                painter.setBrush(marked ? colors.bad_soft : color);
                painter.drawRoundedRect(marked ? rect.adjusted(0.5, 0.5, -0.5, -0.5) : rect, radius, radius);
            }
            const QString label = cellText(row, column);
            if (label.isEmpty() || !written) continue;
            const QString note = cellNote(row, column);
            const bool two = !note.isEmpty() && rect.height() >= 1.6 * text.height();
            const bool on_dark = (marked ? colors.bad_soft : color).lightness() < 140;
            painter.setPen(on_dark == colors.dark ? colors.text
                                                  : (colors.dark ? colors.card : colors.on_accent));
            if (two) {
                const double middle = rect.center().y();
                painter.setFont(note_font);
                painter.drawText(QRectF(rect.left(), middle - line, rect.width(), line), Qt::AlignCenter,
                                 label);
                painter.setPen(colors.bad);
                painter.drawText(QRectF(rect.left(), middle, rect.width(), line), Qt::AlignCenter, note);
                painter.setFont(font);
            } else {
                painter.drawText(rect, Qt::AlignCenter, label);
            }
        }
    }
}

std::array<std::uint8_t, 256> MatrixChart::ranks() const {
    std::array<std::uint8_t, 256> ranks{};
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<std::uint8_t>(i);
    return ranks;
}

/// Every pixel has the colour of the cell with the highest rank of those it covers: however many cells there
/// are, none that matters is averaged away.
QImage MatrixChart::shrunk(const QRect& cells, const QSize& pixels, const QVector<QRgb>& table) const {
    const auto rank = ranks();
    std::array<QRgb, 256> color_of_rank{};
    for (qsizetype i = 0; i < std::min<qsizetype>(table.size(), 256); ++i)
        color_of_rank[rank[static_cast<std::size_t>(i)]] = table[i];
    const int width = pixels.width();
    const int height = pixels.height();
    const auto first = [](int pixel, int n_pixel, int n_cell) {
        return static_cast<int>(std::int64_t{pixel} * n_cell / n_pixel);
    };
    QImage image(pixels, QImage::Format_RGB32);
    std::vector<std::uint8_t> best(static_cast<std::size_t>(cells.width()));
    for (int y = 0; y < height; ++y) {
        std::fill(best.begin(), best.end(), std::uint8_t{0});
        const int top = first(y, height, cells.height());
        const int bottom = std::max(top + 1, first(y + 1, height, cells.height()));
        for (int row = top; row < bottom; ++row) {
            const std::uint8_t* in =
                m_indices.data() +
                static_cast<std::size_t>(cells.top() + row) * static_cast<std::size_t>(m_columns) +
                static_cast<std::size_t>(cells.left());
            for (std::size_t column = 0; column < best.size(); ++column)
                best[column] = std::max(best[column], rank[in[column]]);
        }
        auto* out = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < width; ++x) {
            const int left = first(x, width, cells.width());
            const int right = std::max(left + 1, first(x + 1, width, cells.width()));
            out[x] = color_of_rank[*std::max_element(best.begin() + left, best.begin() + right)];
        }
    }
    return image;
}

void MatrixChart::paintImage(QCPPainter& painter, const Geometry& g, const ThemeColors& colors) {
    const QVector<QRgb> table = colorTable(colors);
    if (m_imageStale || table != m_imageTable) {
        m_imageStale = false;
        m_imageTable = table;
        m_scaled = QImage();
        // The image is kept and overwritten: allocating megabytes for every update costs more than filling
        // them.
        if (m_image.size() != QSize(m_columns, m_rows))
            m_image = QImage(m_columns, m_rows, QImage::Format_RGB32);
        std::array<QRgb, 256> lookup{};
        std::copy_n(table.begin(), std::min<qsizetype>(table.size(), 256), lookup.begin());
        for (int row = 0; row < m_rows; ++row) {
            auto* out = reinterpret_cast<QRgb*>(m_image.scanLine(row));
            const std::uint8_t* in =
                m_indices.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns);
            for (int column = 0; column < m_columns; ++column) out[column] = lookup[in[column]];
        }
    }
    const double ratio = painter.device()->devicePixelRatioF();
    const bool shrinks = g.cell_w * ratio < 1 || g.cell_h * ratio < 1;
    if (!shrinks || painter.modes().testFlag(QCPPainter::pmVectorized)) {
        painter.setRenderHint(QPainter::SmoothPixmapTransform, false);  // enlarged cells keep their edges
        painter.drawImage(g.grid, m_image, g.view);
        return;
    }
    // The shrunk picture serves until data or view change.
    const QSize pixels = (g.grid.size() * ratio).toSize().expandedTo(QSize(1, 1));
    if (m_scaled.size() != pixels || m_scaledView != g.view) {
        m_scaledView = g.view;
        m_scaled = shrunk(g.view.toAlignedRect().intersected(QRect(0, 0, m_columns, m_rows)), pixels, table);
    }
    painter.drawImage(g.grid, m_scaled, QRectF(QPointF(0, 0), QSizeF(m_scaled.size())));
}

void MatrixChart::paintLabels(QPainter& painter, const Geometry& g, const ThemeColors& colors) const {
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    painter.setFont(metrics.small_text);
    painter.setPen(colors.muted);
    const auto stride = [](double needed, double cell) {
        if (cell >= needed) return 1;
        return std::max(1, static_cast<int>(std::ceil(niceStep(needed / cell, 1, Unit::count, true))));
    };
    int widest = text.horizontalAdvance(QString::number(m_firstColumn + m_columns));
    for (const QString& label : m_columnLabels) widest = std::max(widest, text.horizontalAdvance(label));
    const int column_stride = stride(widest + metrics.padding / 2.0, g.cell_w);
    const int row_stride = g.cell_h >= text.height() ? 1 : stride(2.0 * text.height(), g.cell_h);
    for (int row = std::max(0, qFloor(g.view.top())); row < std::min(m_rows, qCeil(g.view.bottom())); ++row) {
        if ((row + m_firstRow) % row_stride != 0 && m_rows > 1) continue;
        const QRectF cell = cellRect(g, row, 0);
        if (cell.center().y() < g.grid.top() || cell.center().y() > g.grid.bottom()) continue;
        const QRectF place(g.rows.left(), cell.center().y() - text.height(), g.rows.width(),
                           2 * text.height());
        painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter,
                         text.elidedText(rowLabel(row), Qt::ElideRight, qRound(g.rows.width())));
    }
    for (int column = std::max(0, qFloor(g.view.left())); column < std::min(m_columns, qCeil(g.view.right()));
         ++column) {
        if ((column + m_firstColumn) % column_stride != 0) continue;
        const double x = cellRect(g, 0, column).center().x();
        if (x < g.grid.left() || x > g.grid.right()) continue;
        painter.drawText(QRectF(x - widest, g.columns.top(), 2.0 * widest, g.columns.height()),
                         Qt::AlignCenter, columnLabel(column));
    }
}

Table MatrixChart::table(DataRange range) const {
    Table table;
    const QRectF view = range == DataRange::visible ? m_view.value_or(fullView()) : fullView();
    const int column_begin = std::max(0, qFloor(view.left()));
    const int column_end = std::min(m_columns, qCeil(view.right()));
    const QString row_name = m_rowName.isEmpty() ? QStringLiteral("row") : m_rowName;
    const QString column_name = m_columnName.isEmpty() ? QStringLiteral("column") : m_columnName;
    table.columns << identifier(row_name);
    for (int column = column_begin; column < column_end; ++column) {
        table.columns << identifier(column_name + QLatin1Char(' ') + columnLabel(column));
    }
    for (int row = std::max(0, qFloor(view.top())); row < std::min(m_rows, qCeil(view.bottom())); ++row) {
        QStringList cells{rowLabel(row)};
        for (int column = column_begin; column < column_end; ++column) cells << csvCell(row, column);
        table.rows.push_back(cells);
    }
    return table;
}

void MatrixChart::hover(std::optional<QPoint> cell) {
    if (cell == m_hovered) return;
    m_hovered = cell;
    update();
    emit cellHovered(cell ? cell->y() : -1, cell ? cell->x() : -1);
}

bool MatrixChart::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const auto cell = cellAt(help->pos())) {
            const Geometry g = geometry(bodyRect());
            QToolTip::showText(help->globalPos(), describeCell(cell->y(), cell->x()), this,
                               cellRect(g, cell->y(), cell->x()).toAlignedRect());
            return true;
        }
    }
    return Chart::event(event);
}

void MatrixChart::mouseMoveEvent(QMouseEvent* event) {
    if (m_dragFrom && m_view) {
        const Geometry g = geometry(bodyRect());
        const QPoint delta = event->pos() - *m_dragFrom;
        if (m_dragged || delta.manhattanLength() > 3) {
            m_dragged = true;
            showCells(m_view->translated(-delta.x() / g.cell_w, -delta.y() / g.cell_h));
            m_dragFrom = event->pos();
        }
        return;
    }
    hover(cellAt(event->position()));
}

void MatrixChart::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && cellAt(event->position())) {
        m_dragFrom = event->pos();
        m_dragged = false;
        event->accept();
        return;
    }
    Chart::mousePressEvent(event);
}

void MatrixChart::mouseReleaseEvent(QMouseEvent* event) {
    const bool click = m_dragFrom && !m_dragged;
    m_dragFrom.reset();
    if (!click) return;
    if (const auto cell = cellAt(event->position())) {
        setSelectedCell(cell->y(), cell->x());
        refreshNow();
        emit cellSelected(cell->y(), cell->x());
    }
}

void MatrixChart::leaveEvent(QEvent*) {
    hover(std::nullopt);
}

void MatrixChart::setView(const QVariant& view) {
    showCells(view.canConvert<QRectF>() ? view.toRectF() : fullView());
}

void MatrixChart::showCells(QRectF view) {
    const QRectF full = fullView();
    view.setWidth(std::clamp(view.width(), std::min(4.0, full.width()), full.width()));
    view.setHeight(std::clamp(view.height(), std::min(4.0, full.height()), full.height()));
    view.moveLeft(std::clamp(view.left(), 0.0, full.width() - view.width()));
    view.moveTop(std::clamp(view.top(), 0.0, full.height() - view.height()));
    if (view == full) {
        m_view.reset();
    } else {
        m_view = view;
    }
    refreshNow();
}

void MatrixChart::wheelEvent(QWheelEvent* event) {
    const auto cell = cellAt(event->position());
    const double turns = event->angleDelta().y();
    if (!cell || turns == 0) {
        event->ignore();
        return;
    }
    const Geometry g = geometry(bodyRect());
    const double fx = (event->position().x() - g.grid.left()) / g.grid.width();
    const double fy = (event->position().y() - g.grid.top()) / g.grid.height();
    const double factor = std::pow(0.85, turns / 120);
    const QRectF view = g.view;
    const double w = std::clamp(view.width() * factor, std::min(4.0, fullView().width()), fullView().width());
    const double h =
        std::clamp(view.height() * factor, std::min(4.0, fullView().height()), fullView().height());
    showCells({view.left() + fx * (view.width() - w), view.top() + fy * (view.height() - h), w, h});
    event->accept();
}

void MatrixChart::keyPressEvent(QKeyEvent* event) {
    const QPoint step = event->key() == Qt::Key_Left    ? QPoint(-1, 0)
                        : event->key() == Qt::Key_Right ? QPoint(1, 0)
                        : event->key() == Qt::Key_Up    ? QPoint(0, -1)
                        : event->key() == Qt::Key_Down  ? QPoint(0, 1)
                                                        : QPoint();
    if (step.isNull() || isEmpty()) {
        Chart::keyPressEvent(event);
        return;
    }
    const QPoint cell = m_selected ? *m_selected + step : QPoint(0, 0);
    if (cell.x() < 0 || cell.x() >= m_columns || cell.y() < 0 || cell.y() >= m_rows) return;
    setSelectedCell(cell.y(), cell.x());
    setAccessibleDescription(describeCell(cell.y(), cell.x()));
    refreshNow();
    emit cellSelected(cell.y(), cell.x());
}

}  // namespace decodescope
