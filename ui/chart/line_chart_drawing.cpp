// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFontMetrics>
#include <QLineF>
#include <QtNumeric>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/chart/axis_scale.h"
#include "ui/chart/axis_ticker.h"
#include "ui/chart/chart_link.h"
#include "ui/chart/chart_overlay.h"
#include "ui/chart/line_chart.h"
#include "ui/theme/card.h"

// How the data of a `LineChart` is drawn.
namespace decodescope {

namespace {

// Beyond this many points a dashed line is drawn solid: dashes do not profit from the fast polylines.
constexpr std::size_t maxDashedPoints = 2000;
constexpr double pointSize = 5;
// Where a log axis begins while it has nothing to show.
constexpr double decadeWithoutData = 1e-8;

bool isLine(SeriesKind kind) {
    return kind == SeriesKind::line || kind == SeriesKind::wide_line || kind == SeriesKind::dashed_line ||
           kind == SeriesKind::dotted_line;
}

double decadeBelow(double value) {
    return std::pow(10.0, std::floor(std::log10(value) + 1e-9));
}

/// Leaves out points that lie on the way from one neighbour to the other, as far as a fifth of a pixel tells,
/// never more than three in a row. `pixelOf` gives the height of a value in pixels.
template <class PixelOf>
void thinOut(QVector<QCPGraphData>& points, PixelOf pixelOf) {
    qsizetype kept = 0;
    int left_out = 0;
    for (qsizetype i = 1; i < points.size(); ++i) {
        if (i + 1 < points.size() && left_out < 3) {
            const double from = pixelOf(points[kept].value);
            const double to = pixelOf(points[i + 1].value);
            const double share = (points[i].key - points[kept].key) / (points[i + 1].key - points[kept].key);
            if (std::abs(pixelOf(points[i].value) - (from + share * (to - from))) < 0.2) {
                ++left_out;
                continue;
            }
        }
        left_out = 0;
        points[++kept] = points[i];
    }
    if (!points.isEmpty()) points.resize(kept + 1);
}

/// The part of `line` inside the square from (0, 0) to (1, 1), if there is one.
std::optional<QLineF> clippedToUnitSquare(const QLineF& line) {
    if (std::isnan(line.x1()) || std::isnan(line.y1()) || std::isnan(line.x2()) || std::isnan(line.y2())) {
        return std::nullopt;
    }
    double from = 0;
    double to = 1;
    for (const auto& [start, delta] : {std::pair(line.x1(), line.dx()), std::pair(line.y1(), line.dy())}) {
        if (delta == 0) {
            if (start < 0 || start > 1) return std::nullopt;
            continue;
        }
        const double a = -start / delta;
        const double b = (1 - start) / delta;
        from = std::max(from, std::min(a, b));
        to = std::min(to, std::max(a, b));
    }
    if (from > to) return std::nullopt;
    return QLineF(from == 0 ? line.p1() : line.pointAt(from), to == 1 ? line.p2() : line.pointAt(to));
}

/// Returns whether that changes the ticks of a linear axis.
bool setIntervals(const QCPAxis& axis, int n) {
    if (auto log = axis.ticker().dynamicCast<LogTicker>()) log->setMaxIntervals(n);
    auto linear = axis.ticker().dynamicCast<UnitTicker>();
    if (linear == nullptr || linear->maxIntervals() == n) return false;
    linear->setMaxIntervals(n);
    return true;
}

int intervals(const QCPAxis& axis) {
    const auto linear = axis.ticker().dynamicCast<UnitTicker>();
    return linear != nullptr ? linear->maxIntervals() : 4;
}

}  // namespace

double LineChart::drawnY(double y) const {
    return m_y.log && y < m_logFloor ? m_logFloor : y;
}

void LineChart::rebuildStack() {
    // Every area is filled down to zero, the top one first: no seams show between neighbours. Bands come
    // next, lines last. `setLayer` moves a graph behind the others of its layer.
    QCPLayer* layer = m_plot->layer(QStringLiteral("main"));
    for (auto it = m_series.rbegin(); it != m_series.rend(); ++it) {
        if (it->kind != SeriesKind::area) continue;
        it->rebuild = true;
        it->graph->setLayer(layer);
    }
    for (const bool bands : {true, false}) {
        for (Series& series : m_series) {
            if (series.kind != SeriesKind::area && (series.kind == SeriesKind::range) == bands) {
                series.graph->setLayer(layer);
            }
        }
    }
}

void LineChart::takeOver(Series& series) {
    if (series.rebuild) {
        series.top.clear();
        series.n_seen = 0;
        series.max_y = 0;
        series.variation = 0;
        series.rebuild = false;
    }
    for (std::size_t i = series.n_seen; i < series.x.size(); ++i) {
        double y = series.y[i];
        if (series.kind == SeriesKind::area) {
            // The top of an area is the sum of what lies below it at the same point.
            for (const Series& below : m_series) {
                if (&below == &series) break;
                if (below.kind == SeriesKind::area && below.shown && i < below.y.size() &&
                    std::isfinite(below.y[i]))
                    y += below.y[i];
            }
            series.top.push_back(y);
        }
        if (!std::isfinite(y)) continue;
        series.max_y = std::max(series.max_y, y);
        const std::vector<double>& drawn = series.kind == SeriesKind::area ? series.top : series.y;
        if (i > 0 && std::isfinite(drawn[i - 1])) series.variation += std::abs(y - drawn[i - 1]);
    }
    series.n_seen = series.x.size();
}

std::pair<std::size_t, std::size_t> LineChart::visiblePoints(const Series& series) const {
    const QCPRange range = m_plot->xAxis->range();
    const auto index = [&](auto it) { return static_cast<std::size_t>(it - series.x.begin()); };
    std::size_t first = index(std::lower_bound(series.x.begin(), series.x.end(), range.lower));
    const std::size_t last = index(std::upper_bound(series.x.begin(), series.x.end(), range.upper));
    // One more on each side: the curve goes on beyond the border.
    if (first > 0) --first;
    return {first, std::min(last + 1, series.x.size())};
}

void LineChart::drawLine(Series& series) {
    const auto [first, last] = visiblePoints(series);
    const auto pixels = static_cast<std::size_t>(std::max(100, plotArea().width()));
    // Many points per pixel: of each pixel's points only the first, lowest, highest and last can be seen, and
    // where they do not differ by a pixel, one is enough. Smooth curves become cheap that way, and noise
    // keeps its peaks.
    const std::size_t stride = last - first > 2 * pixels ? (last - first + pixels - 1) / pixels : 1;
    const double pixel = 1.0 / std::max(1, plotArea().height());
    QVector<QCPGraphData> points;
    const auto add = [&](std::size_t i) { points.append(QCPGraphData(series.x[i], drawnY(series.y[i]))); };
    for (std::size_t begin = first; begin < last; begin += stride) {
        const std::size_t end = std::min(begin + stride, last);
        add(begin);
        if (stride == 1) continue;
        std::size_t low = begin;
        std::size_t high = begin;
        bool gap = false;
        for (std::size_t i = begin; i < end; ++i) {
            gap = gap || std::isnan(series.y[i]);
            if (series.y[i] < series.y[low]) low = i;
            if (series.y[i] > series.y[high]) high = i;
        }
        if (gap) {
            for (std::size_t i = begin + 1; i < end; ++i) add(i);
        } else if (axisShare(*m_plot->yAxis, drawnY(series.y[high])) -
                       axisShare(*m_plot->yAxis, drawnY(series.y[low])) >
                   pixel) {
            for (const std::size_t i : {std::min(low, high), std::max(low, high), end - 1}) {
                if (i > begin) add(i);
            }
        }
    }
    if (series.kind != SeriesKind::points)
        thinOut(points, [&](double y) { return axisShare(*m_plot->yAxis, y) / pixel; });
    series.graph->data()->set(points, true);
}

void LineChart::drawFilled(Series& series) {
    // At most one point per pixel, the outermost of those it stands for: filling a polygon with thousands of
    // teeth is what costs, and a peak must not get lost. Nothing leaves the plot, because an SVG does not
    // clip.
    const bool band = series.kind == SeriesKind::range;
    if (band) series.low.resize(series.x.size(), qQNaN());
    const std::vector<double>& tops = band ? series.y : series.top;
    const QCPRange height = m_plot->yAxis->range();
    auto [first, last] = visiblePoints(series);
    last = std::min(last, tops.size());
    const auto most = static_cast<std::size_t>(std::max(100, plotArea().width()));
    const std::size_t stride = last > first ? (last - first + most - 1) / most : 1;
    QVector<QCPGraphData> points;
    QVector<QCPGraphData> lows;
    const auto add = [&](double x, double top, double low) {
        points.append(QCPGraphData(x, std::isnan(top) ? top : std::clamp(top, height.lower, height.upper)));
        if (band)
            lows.append(QCPGraphData(x, std::isnan(low) ? low : std::clamp(low, height.lower, height.upper)));
    };
    for (std::size_t i = first; i < last; i += stride) {
        double top = tops[i];
        double low = band ? series.low[i] : 0;
        for (std::size_t j = i + 1; j < std::min(i + stride, last); ++j) {
            top = std::fmax(top, tops[j]);
            if (band) low = std::fmin(low, series.low[j]);
        }
        add(series.x[i], top, low);
    }
    if (stride > 1) add(series.x[last - 1], tops[last - 1], band ? series.low[last - 1] : 0);
    series.graph->data()->set(points, true);
    if (band) series.base->data()->set(lows, true);
}

void LineChart::updateLogFloor() {
    double smallest = std::numeric_limits<double>::infinity();
    bool zeros = false;
    for (const Series& series : m_series) {
        for (const double y : series.y) {
            if (y > 0) smallest = std::min(smallest, y);
            zeros = zeros || y <= 0;
        }
    }
    // Zeros have no place on a log axis: they are drawn one decade below everything else, labelled "0".
    double floor = m_y.minimum;
    if (floor <= 0) {
        floor = std::isfinite(smallest) ? decadeBelow(smallest) : decadeWithoutData;
        if (zeros) floor /= 10;
    }
    if (m_logFloor == 0 || floor < m_logFloor) {
        m_logFloor = floor;
        for (Series& series : m_series) series.rebuild = true;
    }
    if (auto ticker = m_plot->yAxis->ticker().dynamicCast<LogTicker>())
        ticker->setZeroAt(zeros ? m_logFloor : 0);
}

void LineChart::updateRanges() {
    double x_max = m_x.expected_max;
    double y_max = m_y.expected_max;
    double band_max = 0;
    bool points = false;
    for (const Series& series : m_series) {
        if (!series.x.empty()) x_max = std::max(x_max, series.x.back());
        points = points || series.kind == SeriesKind::points;
        if (!series.shown) continue;
        double& max = series.kind == SeriesKind::range ? band_max : y_max;
        max = std::max(max, series.max_y);
    }
    // A band may take as much room again as the curves, but one outlier must not press them flat.
    y_max = std::max(y_max, std::min(band_max, 2 * y_max));
    if (x_max > m_xMax || m_xMax == 0) {
        m_xMax = x_max > 0 && x_max <= m_x.expected_max
                     ? m_x.expected_max
                     : niceMaximum(x_max, intervals(*m_plot->xAxis), m_x.unit, m_x.whole);
    }
    if (y_max > m_yMax || m_yMax == 0) {
        m_yMax = !m_y.log    ? niceMaximum(y_max * 1.02, intervals(*m_plot->yAxis), m_y.unit, m_y.whole)
                 : y_max > 0 ? std::pow(10.0, std::ceil(std::log10(y_max) - 1e-9))
                             : m_logFloor * 1000;
    }
    if (m_y.log) m_yMax = std::max(m_yMax, m_logFloor * 10);
    const double x_low = xLow();
    const double x_high = std::max(m_xMax, x_low + 1e-12);
    if (const auto chosen = m_link->view(m_x.name).range) {
        m_plot->xAxis->setRange(m_x.log ? std::max(chosen->first, x_low) : chosen->first, chosen->second);
    } else {
        // Room around points on the border, so that they are not cut in half.
        const double x_room = points && !m_x.log ? (x_high - x_low) * 0.012 : 0;
        m_plot->xAxis->setRange(x_low - x_room, x_high + x_room);
    }
    if (m_userY) return;
    const double y_room = m_y.log ? std::pow(m_yMax / m_logFloor, 0.04) : 1;
    if (m_y.log) {
        m_plot->yAxis->setRange(m_logFloor / y_room, m_yMax * y_room);
    } else {
        m_plot->yAxis->setRange(m_y.minimum, std::max(m_yMax, m_y.minimum + 1e-12));
    }
}

void LineChart::updateDrawing() {
    if (m_y.log) updateLogFloor();
    for (Series& series : m_series) {
        takeOver(series);
        series.graph->setVisible(series.shown);
    }
    updateRanges();
    drawVisible();
    m_plot->yAxis->setTickLabels(!isEmpty());
    // Of an axis that nobody knows the end of yet, numbers mean nothing.
    m_plot->xAxis->setTickLabels(!isEmpty() || m_x.expected_max > 0);
    m_overlay->setMessage(isEmpty() ? emptyText() : QString());
    m_overlay->setHint(isViewChanged() ? tr("zoomed · double-click shows everything") : QString());
    m_plot->replot(QCustomPlot::rpQueuedRefresh);
    updateCrosshair();
}

void LineChart::drawVisible() {
    for (Series& series : m_series) {
        stylePen(series);
        if (series.kind == SeriesKind::area || series.kind == SeriesKind::range) {
            drawFilled(series);
        } else {
            drawLine(series);
        }
    }
    drawMarks();
}

double LineChart::crossings(const Series& series) const {
    if (m_y.log) return static_cast<double>(series.x.size()) / 4;
    const double height = m_plot->yAxis->range().size();
    return height > 0 ? series.variation / height : 0;
}

void LineChart::stylePen(Series& series) {
    // How often a curve crosses the height of the plot is what drawing it costs; where noise fills the plot
    // nobody sees that it is drawn thinner or without smoothing.
    const double n = crossings(series);
    if (series.kind == SeriesKind::area) series.graph->setAntialiasedFill(n <= 20);
    if (!isLine(series.kind)) return;
    QPen pen(series.graph->pen().color(), n > 60 ? 1.0 : series.kind == SeriesKind::wide_line ? 4.0 : 1.5);
    const bool dashed = series.kind == SeriesKind::dashed_line;
    if ((dashed || series.kind == SeriesKind::dotted_line) && series.x.size() <= maxDashedPoints && n <= 60) {
        pen.setDashPattern(dashed ? QVector<qreal>{4, 3} : QVector<qreal>{1, 2.5});
    } else if (n <= 60) {
        // Lines are drawn piece by piece (`phFastPolylines`: as one path, noise takes hundreds of
        // milliseconds); round ends make joints of them.
        pen.setCapStyle(Qt::RoundCap);
        pen.setJoinStyle(Qt::RoundJoin);
    }
    series.graph->setPen(pen);
    series.graph->setAntialiased(n <= 200);
}

void LineChart::restyle(const ThemeColors& colors) {
    auto points = static_cast<int>(std::count_if(m_series.begin(), m_series.end(), [](const Series& series) {
        return series.kind == SeriesKind::points;
    }));
    for (Series& series : m_series) {
        const QColor color = colors.color(series.color);
        series.graph->setPen(QPen(color, 1.5));
        series.graph->setAntialiased(true);
        series.graph->setAntialiasedFill(true);
        series.graph->setAdaptiveSampling(series.kind == SeriesKind::points);  // `drawLine` does it for lines
        stylePen(series);
        switch (series.kind) {
            case SeriesKind::line:
            case SeriesKind::wide_line:
            case SeriesKind::dashed_line:
            case SeriesKind::dotted_line: break;
            case SeriesKind::points:
                series.graph->setLineStyle(QCPGraph::lsNone);
                // Each smaller than the one below, so that equal points of two series both show.
                series.graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, color, color,
                                                              pointSize + 3.0 * std::min(--points, 3)));
                break;
            case SeriesKind::area:
                series.graph->setPen(Qt::NoPen);
                series.graph->setBrush(color);
                break;
            case SeriesKind::range: {
                QColor soft = color;
                soft.setAlphaF(0.22f);
                series.base->setPen(Qt::NoPen);
                series.graph->setPen(Qt::NoPen);
                series.graph->setBrush(soft);
                series.graph->setChannelFillGraph(series.base);
                break;
            }
        }
    }
}

void LineChart::applyTheme(const ThemeColors& colors) {
    const CardMetrics metrics(font());
    m_plot->setBackground(QBrush(colors.card));
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setTickLabelFont(metrics.small_text);
        axis->setTickLabelColor(colors.muted);
        axis->setLabelFont(metrics.small_text);
        axis->setLabelColor(colors.muted);
        axis->grid()->setPen(QPen(colors.grid, 1));
    }
    restyle(colors);
    styleMarks(colors);
    updateMargins();
}

double LineChart::xLow() const {
    return m_x.log && m_x.minimum <= 0 ? std::min(1.0, m_xMax / 10) : m_x.minimum;
}

// Fixed by the kind of label, never by the labels of the moment, so that the plot stays put.
int LineChart::labelWidth(Unit unit) const {
    const QFontMetrics text(CardMetrics(font()).small_text);
    switch (unit) {
        case Unit::bytes:
            return text.horizontalAdvance(
                formatTick(888.8 * 0x1p20, 0.1 * 0x1p20, Unit::bytes, 888.8 * 0x1p20));
        case Unit::error: return text.horizontalAdvance(QStringLiteral("1e-88"));
        default: return text.horizontalAdvance(QStringLiteral("88,888"));
    }
}

void LineChart::updateMargins() {
    const QVector<LineChart*> page = m_link->chartsOf(parentWidget());
    int widest = labelWidth(m_y.unit);
    if (m_link == m_ownLink) return setMargins(widest);
    for (const LineChart* chart : page) widest = std::max(widest, chart->labelWidth(chart->m_y.unit));
    for (LineChart* chart : page) chart->setMargins(widest);
}

void LineChart::setMargins(int label_width) {
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    const int gap = metrics.padding / 2;
    m_plot->xAxis->setTickLabelPadding(gap);
    m_plot->yAxis->setTickLabelPadding(gap);
    m_plot->xAxis->setLabelPadding(gap / 2);
    const int label = m_x.show_name ? text.height() + gap / 2 : 0;
    const QMargins margins(label_width + gap, text.height() / 2 + 3, labelWidth(m_x.unit) / 2 + 1,
                           text.height() + gap + label + 1);
    if (m_plot->axisRect()->margins() == margins) return;
    m_plot->axisRect()->setMargins(margins);
    if (m_bodySize.isEmpty()) return;
    fitTo(m_bodySize);
    m_overlay->setPlotArea(plotArea());
    markDirty();
}

void LineChart::layoutBody(const QRect& body) {
    const QRect place(body.topLeft(), body.size().expandedTo(QSize(1, 1)));  // QCustomPlot cannot be empty
    m_plot->setGeometry(place);
    m_overlay->setGeometry(place);
    m_overlay->raise();
    fitTo(body.size());
    m_overlay->setPlotArea(plotArea());
    markDirty();
    update();
}

void LineChart::fitTo(const QSize& size) {
    m_bodySize = size;
    const CardMetrics metrics(font());
    const QRect area = plotArea();
    const int label = QFontMetrics(metrics.small_text).horizontalAdvance(QStringLiteral("88,888"));
    // The automatic ends of the axes are whole numbers of steps: other steps, other ends.
    if (setIntervals(*m_plot->yAxis,
                     std::clamp(area.height() / std::max(1, metrics.line * 2), 1, m_y.log ? 12 : 5))) {
        m_yMax = 0;
    }
    if (setIntervals(*m_plot->xAxis,
                     std::clamp(area.width() / std::max(1, label * 2), 1, m_x.log ? 12 : 8))) {
        m_xMax = 0;
    }
}

QRect LineChart::plotArea() const {
    return QRect(QPoint(0, 0), m_bodySize).marginsRemoved(m_plot->axisRect()->margins());
}

void LineChart::paintBody(QCPPainter& painter, const QRect& body, const ThemeColors&) {
    const QSize own = m_bodySize;
    fitTo(body.size());
    updateRanges();
    drawVisible();
    const bool clip = isViewChanged() && painter.modes().testFlag(QCPPainter::pmVectorized);
    if (clip) clipToView();
    painter.save();
    painter.translate(body.topLeft());
    m_plot->toPainter(&painter, body.width(), body.height());
    painter.restore();
    fitTo(own);
    updateRanges();
    drawVisible();
}

void LineChart::clipToView() {
    const auto coordinate = [](const QCPAxis& axis, double at) {
        const QCPRange range = axis.range();
        return axis.scaleType() == QCPAxis::stLogarithmic
                   ? range.lower * std::pow(range.upper / range.lower, at)
                   : range.lower + at * range.size();
    };
    const QCPAxis& x_axis = *m_plot->xAxis;
    const QCPAxis& y_axis = *m_plot->yAxis;
    const auto inside = [](QPointF p) { return p.x() >= 0 && p.x() <= 1 && p.y() >= 0 && p.y() <= 1; };
    for (Series& series : m_series) {
        if (series.kind == SeriesKind::area || series.kind == SeriesKind::range) continue;
        QVector<QCPGraphData> points;
        const auto add = [&](QPointF p) {
            points.append(QCPGraphData(coordinate(x_axis, p.x()), coordinate(y_axis, p.y())));
        };
        QPointF from(qQNaN(), qQNaN());
        for (const QCPGraphData& point : *series.graph->data()) {
            const QPointF to(axisShare(x_axis, point.key), axisShare(y_axis, point.value));
            if (series.kind == SeriesKind::points) {
                if (inside(to)) add(to);
            } else if (const auto piece = clippedToUnitSquare(QLineF(from, to))) {
                if (piece->p1() != from || points.isEmpty()) {
                    // A gap, so that pieces are not joined along the border.
                    if (!points.isEmpty())
                        points.append(QCPGraphData(coordinate(x_axis, piece->x1()), qQNaN()));
                    add(piece->p1());
                }
                add(piece->p2());
            }
            from = to;
        }
        series.graph->data()->set(points, true);
    }
}

}  // namespace decodescope
