// SPDX-License-Identifier: GPL-3.0-or-later
#include <QMenu>
#include <QtNumeric>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

#include "ui/chart/chart_link.h"
#include "ui/chart/chart_overlay.h"
#include "ui/chart/line_chart.h"

// What a `LineChart` does with mouse and keyboard: crosshair, zoom, pan.
namespace decodescope {

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
    m_link->setCrosshair(m_x.name, x);
}

QString LineChart::crosshairText() const {
    return m_overlay->text();
}

void LineChart::linkedCrosshairMoved(const QString& axis) {
    if (axis == m_x.name) updateCrosshair();
}

void LineChart::linkedRangeChanged(const QString& axis) {
    if (axis != m_x.name) return;
    if (isVisible()) {
        refreshNow();
    } else {
        updateRanges();
        markDirty();
    }
}

void LineChart::linkedLogChanged(const QString& axis) {
    if (axis != m_x.name) return;
    applyXScale();
    m_xMax = 0;
    linkedRangeChanged(axis);
}

void LineChart::updateCrosshair() {
    const std::optional<double> wanted = m_link->view(m_x.name).crosshair;
    const std::optional<double> x = wanted ? nearestX(*wanted) : std::nullopt;
    const QCPRange range = m_plot->xAxis->range();
    if (!x || *x < range.lower || *x > range.upper) {
        m_overlay->clearCrosshair();
        return;
    }
    QVector<ChartOverlay::Value> values;
    for (const Series& series : m_series) {
        const auto it = std::lower_bound(series.x.begin(), series.x.end(), *x);
        if (!series.shown || it == series.x.end()) continue;
        // A step that made several tokens stands at its last one and answers for all of them. Two points are
        // a limit, not steps.
        const bool within =
            m_x.whole && it != series.x.begin() && series.x.size() > 2 && series.kind != SeriesKind::points;
        if (*it != *x && !within) continue;
        const auto i = it - series.x.begin();
        const double y = series.y[static_cast<std::size_t>(i)];
        if (series.kind == SeriesKind::range) {
            if (belongsToNext(series)) continue;
            const double low = static_cast<std::size_t>(i) < series.low.size()
                                   ? series.low[static_cast<std::size_t>(i)]
                                   : qQNaN();
            values.append({series.name,
                           formatValue(low, m_y.unit) + QStringLiteral(" – ") + formatValue(y, m_y.unit),
                           series.color, qQNaN()});
            continue;
        }
        const double drawn =
            series.kind == SeriesKind::area ? qQNaN() : m_plot->yAxis->coordToPixel(drawnY(y));
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
        const double x = m_plot->xAxis->pixelToCoord(position.x());
        setCrosshair(nearestX(x).value_or(x));
        emit hovered(nearestX(x).value_or(qQNaN()));
    } else if (m_link->view(m_x.name).crosshair) {
        leaveEvent(nullptr);
    }
}

void LineChart::leaveEvent(QEvent*) {
    setCrosshair(std::nullopt);
    emit hovered(qQNaN());
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
    const double low = !vertical ? xLow() : spec.log ? m_logFloor : spec.minimum;
    const double high = vertical ? m_yMax : m_xMax;
    const QCPRange before = axis->range();
    axis->scaleRange(factor, axis->pixelToCoord(vertical ? center.y() : center.x()));
    QCPRange range = axis->range();
    axis->setRange(before);
    range.lower = std::max(range.lower, low);
    range.upper = std::min(range.upper, high);
    if (!(range.size() > (spec.whole ? 2 : std::abs(high) * 1e-7))) {
        const double middle = std::clamp(range.center(), low, std::max(low, high));
        range = QCPRange(middle - 1, middle + 1);
        if (spec.log && range.lower < low) range = QCPRange(low, low + 2);
    }
    const bool all = !(range.size() < (high - low) * (1 - 1e-9));
    if (vertical) {
        axis->setRange(range);
        m_userY = !all;
        refreshNow();
    } else {
        m_link->setRange(m_x.name,
                         all ? std::nullopt : std::optional<ChartLink::Range>({range.lower, range.upper}));
    }
}

void LineChart::pan(QPointF delta) {
    const auto shifted = [](QCPAxis* axis, bool log, double from, double to, double low, double high) {
        const auto scale = [&](double value) { return log ? std::log(value) : value; };
        const auto back = [&](double value) { return log ? std::exp(value) : value; };
        const QCPRange range = axis->range();
        double by = scale(axis->pixelToCoord(from)) - scale(axis->pixelToCoord(to));
        by = std::clamp(by, std::min(0.0, scale(low) - scale(range.lower)),
                        std::max(0.0, scale(high) - scale(range.upper)));
        return QCPRange(back(scale(range.lower) + by), back(scale(range.upper) + by));
    };
    const QPointF from = QRectF(plotArea()).center();
    const QPointF to = from + delta;
    if (m_userY) {
        const double low = m_y.log ? m_logFloor : m_y.minimum;
        m_plot->yAxis->setRange(shifted(m_plot->yAxis, m_y.log, from.y(), to.y(), low, m_yMax));
    }
    if (m_link->view(m_x.name).range) {
        const QCPRange range = shifted(m_plot->xAxis, m_x.log, from.x(), to.x(), xLow(), m_xMax);
        m_link->setRange(m_x.name, {{range.lower, range.upper}});
    }
    if (m_userY) refreshNow();
}

void LineChart::moveCrosshair(int direction) {
    const QCPRange range = m_plot->xAxis->range();
    const std::optional<double> before = m_link->view(m_x.name).crosshair;
    const auto here = nearestX(before.value_or(direction > 0 ? range.lower : range.upper));
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
    const double now = before ? best.value_or(*here) : *here;
    setCrosshair(now);
    setAccessibleDescription(m_overlay->text());
    emit hovered(now);
}

void LineChart::keyPressEvent(QKeyEvent* event) {
    const QPointF center = QRectF(plotArea()).center();
    const double step = plotArea().width() * 0.2;
    const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
    if (event->modifiers().testFlag(Qt::ControlModifier) || event->modifiers().testFlag(Qt::AltModifier)) {
        Chart::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
        case Qt::Key_W:
        case Qt::Key_Plus:
        case Qt::Key_Equal: zoom(0.7, center, false); break;
        case Qt::Key_S:
        case Qt::Key_Minus: zoom(1 / 0.7, center, false); break;
        case Qt::Key_A: pan({step, 0}); break;
        case Qt::Key_D: pan({-step, 0}); break;
        case Qt::Key_L:
            if (shift)
                setLogX(!m_x.log);
            else
                setLogY(!m_y.log);
            break;
        case Qt::Key_Left: moveCrosshair(-1); return;
        case Qt::Key_Right: moveCrosshair(1); return;
        case Qt::Key_Escape: leaveEvent(nullptr); return;
        case Qt::Key_Home: resetView(); break;
        default: Chart::keyPressEvent(event); return;
    }
    setAccessibleDescription(rangeText());
}

QString LineChart::rangeText() const {
    if (!isViewChanged()) return tr("Everything is shown.");
    const auto [from, to] = visibleX();
    return tr("%1 from %2 to %3")
        .arg(m_x.name, formatValue(m_x.whole ? std::ceil(from) : from, m_x.unit),
             formatValue(m_x.whole ? std::floor(to) : to, m_x.unit));
}

QString LineChart::keyHelp() const {
    return tr(
        "Keys: W and S zoom, A and D pan, Left and Right read values, Home shows everything, L switches "
        "to a logarithmic scale.");
}

void LineChart::addMenuItems(QMenu& menu) {
    menu.addSeparator();
    const auto add = [&](const QString& text, const char* name, const QKeySequence& key, bool on, auto slot) {
        QAction* action = menu.addAction(text, this, slot);
        action->setObjectName(QLatin1String(name));
        action->setShortcut(key);
        action->setCheckable(true);
        action->setChecked(on);
        return action;
    };
    add(tr("Logarithmic y axis"), "logY", Qt::Key_L, m_y.log, [this](bool on) {
        byHand([=, this] { setLogY(on); });
    })->setEnabled(canLogY());
    add(tr("Logarithmic x axis"), "logX", Qt::SHIFT | Qt::Key_L, m_x.log, [this](bool on) {
        byHand([=, this] { setLogX(on); });
    })->setEnabled(!m_xLogOfAxis);
}

void LineChart::setVisibleX(double from, double to) {
    if (!(to > from)) return;
    m_link->setRange(m_x.name, {{from, to}});
}

bool LineChart::canLogY() const {
    return std::none_of(m_series.begin(), m_series.end(),
                        [](const Series& series) { return series.kind == SeriesKind::area; });
}

void LineChart::setLogY(bool log) {
    if (log == m_y.log || !canLogY()) return;
    m_yLogByUser = log;
    m_userY = false;
    setYAxis(m_y);
    refreshNow();
}

void LineChart::setLogX(bool log) {
    if (!m_xLogOfAxis) m_link->setLog(m_x.name, log);
}

int LineChart::plotLeft() const {
    return m_plot->x() + plotArea().left();
}

// [lower, upper] of x and of y, where chosen; logarithmic x, y; indices of the series that are switched off.
QVariant LineChart::view() const {
    const auto pair = [](double low, double high) { return QVariant(QVariantList{low, high}); };
    const auto x = m_link->view(m_x.name);
    const auto [yLow, yHigh] = visibleY();
    QVariantList hidden;
    for (int i = 0; i < seriesCount(); ++i)
        if (!m_series[static_cast<std::size_t>(i)].shown) hidden << i;
    return QVariantList{x.range ? pair(x.range->first, x.range->second) : QVariant(),
                        m_userY ? pair(yLow, yHigh) : QVariant(), m_x.log, m_y.log, QVariant(hidden)};
}

void LineChart::setView(const QVariant& view) {
    const QVariantList parts = view.toList();
    if (parts.size() != 5) return;
    const QVariantList hidden = parts[4].toList();
    for (int i = 0; i < seriesCount(); ++i) setSeriesShown(i, !hidden.contains(i));
    setLogX(parts[2].toBool());
    setLogY(parts[3].toBool());
    const QVariantList y = parts[1].toList();
    m_userY = y.size() == 2;
    if (m_userY) m_plot->yAxis->setRange(y[0].toDouble(), y[1].toDouble());
    const QVariantList x = parts[0].toList();
    m_link->setRange(m_x.name, x.size() == 2
                                   ? std::optional<ChartLink::Range>({x[0].toDouble(), x[1].toDouble()})
                                   : std::nullopt);
    refreshNow();
}

bool LineChart::isViewChanged() const {
    return m_userY || m_link->view(m_x.name).range.has_value();
}

void LineChart::resetView() {
    const bool changed = m_userY;
    m_userY = false;
    m_link->setRange(m_x.name, std::nullopt);
    if (changed) refreshNow();
}

}  // namespace decodescope
