// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/line_chart.h"

#include <QFontMetrics>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/chart/axis_ticker.h"
#include "ui/chart/chart_overlay.h"
#include "ui/theme/card.h"

namespace decodescope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Beyond this many points a dashed line is drawn solid: dashes do not profit from the fast polylines.
constexpr std::size_t maxDashedPoints = 2000;
// Up to here a curve is drawn as one path, with joints.
constexpr double maxCrossingsJoined = 8;

QSharedPointer<QCPAxisTicker> makeTicker(const ChartAxis& axis) {
    if (axis.log) return QSharedPointer<LogTicker>::create(axis.unit);
    return QSharedPointer<UnitTicker>::create(axis.unit, axis.whole);
}

LegendEntry::Mark legendMark(SeriesKind kind) {
    switch (kind) {
        case SeriesKind::line: return LegendEntry::Mark::line;
        case SeriesKind::dashed_line: return LegendEntry::Mark::dashed_line;
        case SeriesKind::points: return LegendEntry::Mark::dot;
        case SeriesKind::area:
        case SeriesKind::range: return LegendEntry::Mark::box;
    }
    return LegendEntry::Mark::box;
}

void setIntervals(const QCPAxis& axis, int n) {
    if (auto linear = axis.ticker().dynamicCast<UnitTicker>()) linear->setMaxIntervals(n);
    if (auto log = axis.ticker().dynamicCast<LogTicker>()) log->setMaxIntervals(n);
}

}  // namespace

LineChart::LineChart(QWidget* parent)
    : Chart(parent), m_plot(new QCustomPlot(this)), m_overlay(new ChartOverlay(this)) {
    m_plot->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
    m_plot->setNotAntialiasedElements(QCP::aeAxes | QCP::aeGrid | QCP::aeZeroLine);
    m_plot->axisRect()->setAutoMargins(QCP::msNone);
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setBasePen(Qt::NoPen);
        axis->setTickPen(QColor(Qt::transparent));  // without a pen, an SVG gets black dots
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLength(0, 0);
        axis->setNumberFormat(QStringLiteral("g"));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    m_plot->xAxis->grid()->setVisible(false);
    setXAxis({});
    setYAxis({});
    applyTheme(themeColors(palette()));
}

LineChart::~LineChart() = default;

void LineChart::setXAxis(const ChartAxis& axis) {
    m_x = axis;
    m_xMax = 0;
    m_plot->xAxis->setTicker(makeTicker(axis));
    m_plot->xAxis->setScaleType(axis.log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    m_plot->xAxis->setLabel(axis.show_name ? axis.name : QString());
    updateMargins();
    markDirty();
}

void LineChart::setYAxis(const ChartAxis& axis) {
    m_y = axis;
    m_yMax = 0;
    m_plot->yAxis->setTicker(makeTicker(axis));
    m_plot->yAxis->setScaleType(axis.log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    for (Series& series : m_series) series.rebuild = true;
    updateMargins();
    markDirty();
}

int LineChart::addSeries(const QString& name, ColorRef color, SeriesKind kind) {
    Series series;
    series.name = name;
    series.color = color;
    series.kind = kind;
    if (kind == SeriesKind::range) {
        series.base = m_plot->addGraph();
        series.base->setLineStyle(QCPGraph::lsLine);
    }
    series.graph = m_plot->addGraph();
    m_series.push_back(series);
    rebuildStack();
    restyle(themeColors(palette()));
    layoutBody(bodyRect());
    markDirty();
    return static_cast<int>(m_series.size()) - 1;
}

int LineChart::pointCount(int series) const {
    return static_cast<int>(m_series.at(static_cast<std::size_t>(series)).x.size());
}

void LineChart::append(int index, double x, double y) {
    Series& series = m_series.at(static_cast<std::size_t>(index));
    series.x.push_back(x);
    series.y.push_back(y);
    markDirty();
}

void LineChart::setPoint(int index, int point, double x, double y) {
    Series& series = m_series.at(static_cast<std::size_t>(index));
    const auto at = static_cast<std::size_t>(point);
    if (at >= series.x.size()) {
        append(index, x, y);
        return;
    }
    const bool in_place = series.kind != SeriesKind::area && series.x[at] == x;
    series.x[at] = x;
    series.y[at] = y;
    markDirty();
    if (!in_place) {
        if (series.kind == SeriesKind::area) rebuildStack();
        series.rebuild = true;
    } else if (at < series.n_drawn) {
        (series.graph->data()->begin() + point)->value = drawnY(y);
        if (std::isfinite(y)) series.max_y = std::max(series.max_y, y);
    }
}

void LineChart::setData(int index, std::span<const double> x, std::span<const double> y) {
    Series& series = m_series.at(static_cast<std::size_t>(index));
    const std::size_t n = std::min(x.size(), y.size());
    series.x.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
    series.y.assign(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n));
    series.low.clear();
    series.rebuild = true;
    if (series.kind == SeriesKind::area) rebuildStack();
    markDirty();
}

void LineChart::setRange(int index, std::span<const double> x, std::span<const double> low,
                         std::span<const double> high) {
    setData(index, x, high);
    Series& series = m_series.at(static_cast<std::size_t>(index));
    series.low.assign(low.begin(), low.end());
    series.low.resize(series.x.size(), nan);
}

void LineChart::clear() {
    for (Series& series : m_series) {
        series.x.clear();
        series.y.clear();
        series.low.clear();
        series.rebuild = true;
    }
    m_xMax = 0;
    m_yMax = 0;
    m_userView = false;
    m_crosshair.reset();
    markDirty();
}

void LineChart::removeAllSeries() {
    m_series.clear();
    m_plot->clearGraphs();
    clear();
    layoutBody(bodyRect());
}

void LineChart::setSeriesShown(int index, bool shown) {
    const auto i = static_cast<std::size_t>(index);
    if (m_series.at(i).shown == shown) return;
    m_series[i].shown = shown;
    if (i > 0 && belongsToNext(m_series[i - 1])) m_series[i - 1].shown = shown;
    m_yMax = 0;
    rebuildStack();
    refreshNow();
}

void LineChart::toggleLegend(int index) {
    int entry = -1;
    for (int i = 0; i < seriesCount(); ++i) {
        const Series& series = m_series[static_cast<std::size_t>(i)];
        if (!belongsToNext(series) && ++entry == index) {
            setSeriesShown(i, !series.shown);
            return;
        }
    }
}

bool LineChart::belongsToNext(const Series& series) {
    return series.kind == SeriesKind::range && series.name.isEmpty();
}

QVector<LegendEntry> LineChart::legend() const {
    QVector<LegendEntry> entries;
    for (const Series& series : m_series) {
        if (!belongsToNext(series))
            entries.append({series.name, series.color, legendMark(series.kind), series.shown});
    }
    return entries;
}

QString LineChart::columnName(std::size_t series) const {
    if (belongsToNext(m_series[series]) && series + 1 < m_series.size())
        return identifier(m_series[series + 1].name);
    return identifier(m_series[series].name);
}

double LineChart::drawnY(double y) const {
    if (!m_y.log || y > m_y.minimum || std::isnan(y)) return y;
    return m_y.minimum > 0 ? m_y.minimum : nan;
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

void LineChart::feedGraph(Series& series) {
    if (series.rebuild) {
        series.graph->data()->clear();
        if (series.base != nullptr) series.base->data()->clear();
        series.top.clear();
        series.n_drawn = 0;
        series.max_y = 0;
        series.variation = 0;
        series.rebuild = false;
    }
    const std::size_t n = series.x.size();
    if (series.n_drawn >= n) return;
    QVector<QCPGraphData> points;
    points.reserve(static_cast<qsizetype>(n - series.n_drawn));
    for (std::size_t i = series.n_drawn; i < n; ++i) {
        double y = series.y[i];
        if (series.kind == SeriesKind::area) {
            // The top of an area is the sum of what lies below it at the same point.
            for (const Series& below : m_series) {
                if (&below == &series) break;
                if (below.kind == SeriesKind::area && below.shown && i < below.y.size()) y += below.y[i];
            }
            series.top.push_back(y);
        } else if (series.kind == SeriesKind::range) {
            continue;
        } else {
            points.append(QCPGraphData(series.x[i], drawnY(y)));
        }
        if (!std::isfinite(y)) continue;
        series.max_y = std::max(series.max_y, y);
        const std::vector<double>& drawn = series.kind == SeriesKind::area ? series.top : series.y;
        if (i > 0 && std::isfinite(drawn[i - 1])) series.variation += std::abs(y - drawn[i - 1]);
    }
    series.graph->data()->add(points, true);
    series.n_drawn = n;
}

void LineChart::drawFilled(Series& series) {
    // At most one point per pixel, the outermost of those it stands for: filling a polygon with thousands of
    // teeth is what costs, and a peak must not get lost. Nothing leaves the plot, because an SVG does not
    // clip.
    const bool band = series.kind == SeriesKind::range;
    if (band) series.low.resize(series.x.size(), nan);
    const std::vector<double>& tops = band ? series.y : series.top;
    const QCPRange range = m_plot->xAxis->range();
    const QCPRange height = m_plot->yAxis->range();
    const auto index = [&](auto it) { return static_cast<std::size_t>(it - series.x.begin()); };
    std::size_t first = index(std::lower_bound(series.x.begin(), series.x.end(), range.lower));
    std::size_t last = index(std::upper_bound(series.x.begin(), series.x.end(), range.upper));
    if (first > 0) --first;
    last = std::min({last + 1, series.x.size(), tops.size()});
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

void LineChart::updateRanges() {
    double x_max = m_x.expected_max;
    double y_max = m_y.expected_max;
    double y_min = std::numeric_limits<double>::infinity();
    for (const Series& series : m_series) {
        if (!series.x.empty()) x_max = std::max(x_max, series.x.back());
        if (!series.shown) continue;
        y_max = std::max(y_max, series.max_y);  // bands have none
        if (!m_y.log) continue;
        for (const double y : series.y) {
            if (y > 0) y_min = std::min(y_min, y);
        }
    }
    if (x_max > m_xMax || m_xMax == 0) {
        m_xMax = x_max > 0 && x_max <= m_x.expected_max ? m_x.expected_max
                                                        : niceMaximum(x_max, m_x.unit, m_x.whole);
    }
    if (y_max > m_yMax || m_yMax == 0) {
        m_yMax = m_y.log ? (y_max > 0 ? std::pow(10.0, std::ceil(std::log10(y_max) - 1e-9)) : 1)
                         : niceMaximum(y_max * 1.02, m_y.unit, m_y.whole);
    }
    if (m_userView) return;
    double y_low = m_y.minimum;
    if (m_y.log && y_low <= 0) {
        y_low = std::isfinite(y_min) ? std::pow(10.0, std::floor(std::log10(y_min) + 1e-9)) : m_yMax / 1000;
    }
    if (m_y.log && y_low >= m_yMax) m_yMax = y_low * 10;
    const double x_low = m_x.log && m_x.minimum <= 0 ? std::min(1.0, m_xMax / 10) : m_x.minimum;
    // Room above the last decade, so that points on it are not cut in half.
    const double y_high = m_y.log ? m_yMax * std::pow(m_yMax / y_low, 0.04) : m_yMax;
    m_plot->xAxis->setRange(x_low, std::max(m_xMax, x_low + 1e-12));
    m_plot->yAxis->setRange(y_low, std::max(y_high, y_low + 1e-12));
}

void LineChart::updateDrawing() {
    for (Series& series : m_series) {
        feedGraph(series);
        series.graph->setVisible(series.shown);
    }
    updateRanges();
    double most = 0;
    for (Series& series : m_series) {
        stylePen(series);
        if (series.kind == SeriesKind::area || series.kind == SeriesKind::range) {
            drawFilled(series);
        } else {
            most = std::max(most, crossings(series));
        }
    }
    // Polylines drawn fast have ugly joints, but without them noise takes hundreds of milliseconds.
    m_plot->setPlottingHint(QCP::phFastPolylines, most > maxCrossingsJoined);
    m_plot->yAxis->setTickLabels(!isEmpty());
    m_overlay->setMessage(isEmpty() ? emptyText() : QString());
    m_overlay->setHint(m_userView ? tr("zoomed · double-click shows everything") : QString());
    m_plot->replot(QCustomPlot::rpQueuedRefresh);
    updateCrosshair();
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
    if (series.kind != SeriesKind::line && series.kind != SeriesKind::dashed_line) return;
    QPen pen(series.graph->pen().color(), n > 60 ? 1.0 : 1.5);
    if (series.kind == SeriesKind::dashed_line && series.x.size() <= maxDashedPoints && n <= 60) {
        pen.setDashPattern({4, 3});
    }
    series.graph->setPen(pen);
    series.graph->setAntialiased(n <= 200);
}

void LineChart::restyle(const ThemeColors& colors) {
    for (Series& series : m_series) {
        const QColor color = colors.color(series.color);
        series.graph->setPen(QPen(color, 1.5));
        series.graph->setAntialiased(true);
        series.graph->setAntialiasedFill(true);
        stylePen(series);
        switch (series.kind) {
            case SeriesKind::line:
            case SeriesKind::dashed_line: break;
            case SeriesKind::points:
                series.graph->setLineStyle(QCPGraph::lsNone);
                series.graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, color, color, 6));
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
    updateMargins();
}

void LineChart::updateMargins() {
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    const auto widest = [&](const ChartAxis& axis) {
        // Fixed by the kind of label, never by the labels of the moment, so that the plot stays put.
        switch (axis.unit) {
            case Unit::bytes: return text.horizontalAdvance(formatTick(888 * 0x1p20, 0x1p20, Unit::bytes));
            case Unit::error: return text.horizontalAdvance(QStringLiteral("1e-88"));
            default: return text.horizontalAdvance(QStringLiteral("88,888"));
        }
    };
    const int gap = metrics.padding / 2;
    m_plot->xAxis->setTickLabelPadding(gap);
    m_plot->yAxis->setTickLabelPadding(gap);
    m_plot->xAxis->setLabelPadding(gap / 2);
    const int label = m_x.show_name ? text.height() + gap / 2 : 0;
    m_plot->axisRect()->setMargins(QMargins(widest(m_y) + gap, text.height() / 2 + 3, widest(m_x) / 2 + 1,
                                            text.height() + gap + label + 1));
}

void LineChart::layoutBody(const QRect& body) {
    m_plot->setGeometry(body);
    m_overlay->setGeometry(body);
    m_overlay->raise();
    const QMargins margins = m_plot->axisRect()->margins();
    const QRect area = QRect(QPoint(0, 0), body.size()).marginsRemoved(margins);
    m_overlay->setPlotArea(area);
    const CardMetrics metrics(font());
    const int label = QFontMetrics(metrics.small_text).horizontalAdvance(QStringLiteral("88,888"));
    setIntervals(*m_plot->yAxis,
                 std::clamp(area.height() / std::max(1, metrics.line * 2), 1, m_y.log ? 12 : 5));
    setIntervals(*m_plot->xAxis, std::clamp(area.width() / std::max(1, label * 2), 1, m_x.log ? 12 : 8));
    markDirty();
    update();
}

QRect LineChart::plotArea() const {
    return QRect(QPoint(0, 0), m_plot->size()).marginsRemoved(m_plot->axisRect()->margins());
}

void LineChart::paintBody(QCPPainter& painter, const QRect& body, const ThemeColors&) {
    painter.save();
    painter.translate(body.topLeft());
    m_plot->toPainter(&painter, body.width(), body.height());
    painter.restore();
}

bool LineChart::isEmpty() const {
    return std::all_of(m_series.begin(), m_series.end(),
                       [](const Series& series) { return series.x.empty(); });
}

double LineChart::lastReplotMilliseconds() const {
    return m_plot->replotTime();
}

std::pair<double, double> LineChart::visibleX() const {
    return {m_plot->xAxis->range().lower, m_plot->xAxis->range().upper};
}

std::pair<double, double> LineChart::visibleY() const {
    return {m_plot->yAxis->range().lower, m_plot->yAxis->range().upper};
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

Table LineChart::table(DataRange range) const {
    Table table;
    const QString x_name = identifier(m_x.name.isEmpty() ? QStringLiteral("x") : m_x.name);
    table.columns << x_name + columnSuffix(m_x.unit);
    const QString suffix = columnSuffix(m_y.unit);
    std::vector<double> keys;
    const auto [from, to] = range == DataRange::visible ? visibleX()
                                                        : std::pair(-std::numeric_limits<double>::infinity(),
                                                                    std::numeric_limits<double>::infinity());
    for (std::size_t s = 0; s < m_series.size(); ++s) {
        const Series& series = m_series[s];
        const QString name = columnName(s);
        if (series.kind == SeriesKind::range) {
            table.columns << name + QStringLiteral("_low") + suffix
                          << name + QStringLiteral("_high") + suffix;
        } else {
            table.columns << name + suffix;
        }
        for (const double x : series.x) {
            if (x >= from && x <= to) keys.push_back(x);
        }
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    table.rows.reserve(keys.size());
    std::vector<std::size_t> next(m_series.size(), 0);
    for (const double key : keys) {
        QStringList row{csvNumber(key)};
        for (std::size_t s = 0; s < m_series.size(); ++s) {
            const Series& series = m_series[s];
            while (next[s] < series.x.size() && series.x[next[s]] < key) ++next[s];
            const bool has = next[s] < series.x.size() && series.x[next[s]] == key;
            if (series.kind == SeriesKind::range) {
                row << (has && next[s] < series.low.size() ? csvNumber(series.low[next[s]]) : QString());
            }
            row << (has ? csvNumber(series.y[next[s]]) : QString());
        }
        table.rows.push_back(row);
    }
    return table;
}

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

void StackedChart::setLayers(const QStringList& names, const std::vector<ColorRef>& colors) {
    removeAllSeries();
    m_layers = static_cast<int>(names.size());
    for (int i = 0; i < m_layers; ++i) {
        addSeries(names[i],
                  static_cast<std::size_t>(i) < colors.size() ? colors[static_cast<std::size_t>(i)]
                                                              : ColorRef::owner(static_cast<std::size_t>(i)),
                  SeriesKind::area);
    }
}

void StackedChart::appendLayers(double x, std::span<const double> values) {
    for (int i = 0; i < m_layers; ++i) {
        append(i, x, static_cast<std::size_t>(i) < values.size() ? values[static_cast<std::size_t>(i)] : 0);
    }
}

}  // namespace decodescope
