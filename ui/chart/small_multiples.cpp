// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/small_multiples.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QToolTip>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

#include "ui/chart/format.h"
#include "ui/theme/card.h"

namespace decodescope {

namespace {

QImage imageOf(const SmallMultiples::Tile& tile, float high, const ThemeColors& colors) {
    QImage image(std::max(1, tile.columns), std::max(1, tile.rows), QImage::Format_RGB32);
    image.fill(colors.panel);
    std::size_t i = 0;
    for (int row = 0; row < tile.rows; ++row) {
        for (int column = 0; column < tile.columns && i < tile.values.size(); ++column, ++i) {
            const float value = tile.values[i];
            if (!std::isnan(value))
                image.setPixelColor(column, row,
                                    colors.heat(std::clamp(static_cast<double>(value / high), 0.0, 1.0)));
        }
    }
    return image;
}

}  // namespace

SmallMultiples::SmallMultiples(QWidget* parent) : Chart(parent) {}

void SmallMultiples::setTiles(std::vector<Tile> tiles) {
    m_tiles = std::move(tiles);
    m_high = 0;
    for (const Tile& tile : m_tiles) {
        for (const float value : tile.values) m_high = value > m_high ? value : m_high;  // false for NaN
    }
    if (m_high <= 0) m_high = 1;
    markDirty();
}

void SmallMultiples::setCurrent(int tile) {
    if (tile == m_current) return;
    m_current = tile;
    markDirty();
}

// As many columns as make the tiles largest, each of them at most as stretched as its room.
SmallMultiples::Places SmallMultiples::places(const QRect& body) const {
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    Places best;
    const auto n = static_cast<int>(m_tiles.size());
    if (n == 0) return best;
    const double gap = metrics.padding;
    const double label = text.height();
    const double aspect = std::clamp(
        static_cast<double>(m_tiles.front().columns) / std::max(1, m_tiles.front().rows), 0.5, 24.0);
    double most = -1;
    for (int columns = 1; columns <= n; ++columns) {
        const int rows = (n + columns - 1) / columns;
        const double room_w = (body.width() + gap) / columns - gap;
        const double room_h = (body.height() + gap * 0.5) / rows - gap * 0.5 - label;
        if (room_w < 4 || room_h < 2) continue;
        const double w = std::min(room_w, room_h * aspect);
        const double h = std::min({room_h, w / aspect, 4.0 * metrics.line * std::max(1.0, 4.0 / aspect)});
        if (w * h <= most) continue;
        most = w * h;
        best = {columns, qRound(label), {w + gap, h + label + gap * 0.5}, {w, h}, body.topLeft()};
    }
    return best;
}

QRectF SmallMultiples::tileRect(const Places& p, int tile) const {
    const int column = tile % p.columns;
    const int row = tile / p.columns;
    return {p.origin.x() + column * p.step.width(), p.origin.y() + row * p.step.height() + p.label,
            p.tile.width(), p.tile.height()};
}

int SmallMultiples::tileAt(const QPoint& position) const {
    const Places p = places(bodyRect());
    for (int tile = 0; tile < tileCount(); ++tile) {
        if (tileRect(p, tile).adjusted(0, -p.label, 0, 0).contains(position)) return tile;
    }
    return -1;
}

void SmallMultiples::paintBody(QCPPainter& painter, const QRect& body, const ThemeColors& colors) {
    const CardMetrics metrics(font());
    const Places p = places(body);
    painter.save();
    painter.setFont(metrics.small_text);
    for (int i = 0; i < tileCount(); ++i) {
        const Tile& tile = m_tiles[static_cast<std::size_t>(i)];
        const QRectF rect = tileRect(p, i);
        painter.setPen(i == m_current ? colors.text : colors.muted);
        painter.drawText(QRectF(rect.left(), rect.top() - p.label, rect.width() + metrics.padding, p.label),
                         Qt::AlignLeft | Qt::AlignVCenter, tile.name);
        painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
        painter.drawImage(rect, imageOf(tile, m_high, colors));
        painter.setBrush(Qt::NoBrush);
        painter.setPen(i == m_current ? QPen(colors.accent, 2) : QPen(colors.border, 1));
        painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5));
    }
    painter.restore();
}

Table SmallMultiples::table(DataRange) const {
    Table table;
    table.columns = {QStringLiteral("tile"), QStringLiteral("row"), QStringLiteral("column"),
                     QStringLiteral("value")};
    for (const Tile& tile : m_tiles) {
        for (std::size_t i = 0; i < tile.values.size(); ++i) {
            const auto at = static_cast<int>(i);
            table.rows.push_back({tile.name, QString::number(at / std::max(1, tile.columns)),
                                  QString::number(at % std::max(1, tile.columns)),
                                  csvNumber(static_cast<double>(tile.values[i]))});
        }
    }
    return table;
}

bool SmallMultiples::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int tile = tileAt(help->pos());
        if (tile >= 0) {
            QToolTip::showText(
                help->globalPos(),
                tr("%1: click to see it alone").arg(m_tiles[static_cast<std::size_t>(tile)].name), this);
            return true;
        }
    }
    return Chart::event(event);
}

void SmallMultiples::mousePressEvent(QMouseEvent* event) {
    const int tile = event->button() == Qt::LeftButton ? tileAt(event->pos()) : -1;
    if (tile < 0) {
        Chart::mousePressEvent(event);
        return;
    }
    setCurrent(tile);
    refreshNow();
    emit picked(tile);
}

void SmallMultiples::keyPressEvent(QKeyEvent* event) {
    const Places p = places(bodyRect());
    int to = m_current;
    switch (event->key()) {
        case Qt::Key_Left: to -= 1; break;
        case Qt::Key_Right: to += 1; break;
        case Qt::Key_Up: to -= p.columns; break;
        case Qt::Key_Down: to += p.columns; break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_current >= 0) emit picked(m_current);
            return;
        default: Chart::keyPressEvent(event); return;
    }
    if (to < 0 || to >= tileCount()) return;
    setCurrent(to);
    setAccessibleDescription(m_tiles[static_cast<std::size_t>(to)].name);
    refreshNow();
}

}  // namespace decodescope
