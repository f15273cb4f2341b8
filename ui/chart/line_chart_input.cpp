// SPDX-License-Identifier: GPL-3.0-or-later
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/chart/chart_overlay.h"
#include "ui/chart/line_chart.h"

// What a `LineChart` does with mouse and keyboard: crosshair, zoom, pan.
namespace decodescope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::optional<double> LineChart::nearestX(double x) const {
    std::optional<double> best;
    for (const Series& series : m_series) {
        if (!series.shown || series.x.empty()) continue;
        auto it = std::lower_bound(series.x.begin(), series.x.end(), x);
        if (it == series.x.end()) --it;
        if (it != series.x.begin() && std::abs(*(it - 1) - x) < std::abs(*it - x)) --it;
        if (!best || std::abs(*it - x) < std::abs(*best - x)) best = *it;
    }
    return best;
}

void LineChart::setCrosshair(std::optional<double> x) {
    m_crosshair = x;
    updateCrosshair();
}

void LineChart::updateCrosshair() {
    const std::optional<double> x = m_crosshair ? nearestX(*m_crosshair) : std::nullopt;
    const QCPRange range = m_plot->xAxis->range();
    if (!x || *x < range.lower || *x > range.upper) {
        m_overlay->clearCrosshair();
        return;
    }
    QVector<ChartOverlay::Value> values;
    for (const Series& series : m_series) {
        const auto it = std::lower_bound(series.x.begin(), series.x.end(), *x);
        if (!series.shown || it == series.x.end() || *it != *x) continue;
        const auto i = it - series.x.begin();
        const double y = series.y[static_cast<std::size_t>(i)];
        if (series.kind == SeriesKind::range) {
            if (belongsToNext(series)) continue;
            const double low = static_cast<std::size_t>(i) < series.low.size()
                                   ? series.low[static_cast<std::size_t>(i)]
                                   : nan;
            values.append({series.name,
                           formatValue(low, m_y.unit) + QStringLiteral(" – ") + formatValue(y, m_y.unit),
                           series.color, nan});
            continue;
        }
        const double drawn = series.kind == SeriesKind::area ? nan : m_plot->yAxis->coordToPixel(drawnY(y));
        values.append({series.name, formatValue(y, m_y.unit), series.color, drawn});
    }
    const QString head =
        (m_x.name.isEmpty() ? QString() : m_x.name + QLatin1Char(' ')) + formatValue(*x, m_x.unit);
    m_overlay->setCrosshair(m_plot->xAxis->coordToPixel(*x), head, values);
}

void LineChart::mouseMoveEvent(QMouseEvent* event) {
    const QPoint position = event->pos() - m_plot->pos();
    if (m_dragFrom) {
        pan(QPointF(position - *m_dragFrom));
        m_dragFrom = position;
        return;
    }
    if (plotArea().contains(position) && !isEmpty()) {
        m_crosshair = m_plot->xAxis->pixelToCoord(position.x());
        updateCrosshair();
        emit hovered(nearestX(*m_crosshair).value_or(nan));
    } else if (m_crosshair) {
        leaveEvent(nullptr);
    }
}

void LineChart::leaveEvent(QEvent*) {
    m_crosshair.reset();
    updateCrosshair();
    emit hovered(nan);
}

void LineChart::mousePressEvent(QMouseEvent* event) {
    const QPoint position = event->pos() - m_plot->pos();
    if (event->button() == Qt::LeftButton && plotArea().contains(position)) {
        m_dragFrom = position;
        event->accept();
        return;
    }
    Chart::mousePressEvent(event);
}

void LineChart::mouseReleaseEvent(QMouseEvent* event) {
    m_dragFrom.reset();
    event->accept();
}

void LineChart::wheelEvent(QWheelEvent* event) {
    const QPointF position = event->position() - QPointF(m_plot->pos());
    const double turns = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
    if (turns == 0 || isEmpty() || !plotArea().contains(position.toPoint())) {
        event->ignore();
        return;
    }
    zoom(std::pow(0.85, turns / 120), position, event->modifiers().testFlag(Qt::ControlModifier));
    event->accept();
}

void LineChart::zoom(double factor, QPointF center, bool vertical) {
    QCPAxis* axis = vertical ? m_plot->yAxis : m_plot->xAxis;
    const ChartAxis& spec = vertical ? m_y : m_x;
    const double low = spec.minimum;
    const double high = vertical ? m_yMax : m_xMax;
    axis->scaleRange(factor, axis->pixelToCoord(vertical ? center.y() : center.x()));
    QCPRange range = axis->range();
    if (range.lower < low) range.lower = spec.log && low <= 0 ? range.lower : low;
    range.upper = std::min(range.upper, high);
    if (!(range.size() > (spec.whole ? 2 : std::abs(high) * 1e-7))) {
        axis->setRange(axis->range().center() - 1, axis->range().center() + 1);
        range = axis->range();
    }
    axis->setRange(range);
    m_userView =
        vertical || range.size() < (high - low) * (1 - 1e-9) || m_plot->yAxis->range().upper < m_yMax;
    refreshNow();
}

void LineChart::pan(QPointF delta) {
    if (!m_userView) return;
    const auto shift = [](QCPAxis* axis, double from, double to, double low, double high) {
        double by = axis->pixelToCoord(from) - axis->pixelToCoord(to);
        const QCPRange range = axis->range();
        by = std::clamp(by, std::min(0.0, low - range.lower), std::max(0.0, high - range.upper));
        axis->moveRange(by);
    };
    if (!m_x.log) shift(m_plot->xAxis, 0, delta.x(), m_x.minimum, m_xMax);
    if (!m_y.log) shift(m_plot->yAxis, 0, delta.y(), m_y.minimum, m_yMax);
    refreshNow();
}

void LineChart::moveCrosshair(int direction) {
    const QCPRange range = m_plot->xAxis->range();
    const auto here =
        m_crosshair ? nearestX(*m_crosshair) : nearestX(direction > 0 ? range.lower : range.upper);
    if (!here) return;
    std::optional<double> best;
    for (const Series& series : m_series) {
        if (!series.shown) continue;
        auto it = direction > 0 ? std::upper_bound(series.x.begin(), series.x.end(), *here)
                                : std::lower_bound(series.x.begin(), series.x.end(), *here);
        if (direction > 0 ? it == series.x.end() : it == series.x.begin()) continue;
        const double x = direction > 0 ? *it : *(it - 1);
        if (!best || (direction > 0 ? x < *best : x > *best)) best = x;
    }
    m_crosshair = m_crosshair ? best.value_or(*here) : *here;
    updateCrosshair();
    setAccessibleDescription(m_overlay->text());
    emit hovered(*m_crosshair);
}

void LineChart::keyPressEvent(QKeyEvent* event) {
    const QPointF center = QRectF(plotArea()).center();
    switch (event->key()) {
        case Qt::Key_Plus:
        case Qt::Key_Equal: zoom(0.7, center, false); break;
        case Qt::Key_Minus: zoom(1 / 0.7, center, false); break;
        case Qt::Key_Left: moveCrosshair(-1); break;
        case Qt::Key_Right: moveCrosshair(1); break;
        case Qt::Key_Escape: leaveEvent(nullptr); break;
        default: Chart::keyPressEvent(event);
    }
}

void LineChart::setVisibleX(double from, double to) {
    if (!(to > from)) return;
    m_userView = true;
    m_plot->xAxis->setRange(from, to);
    refreshNow();
}

void LineChart::resetView() {
    if (!m_userView) return;
    m_userView = false;
    refreshNow();
}

}  // namespace decodescope
