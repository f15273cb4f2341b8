// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/line_chart.h"

#include <QtNumeric>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/chart/axis_ticker.h"
#include "ui/chart/chart_link.h"
#include "ui/chart/chart_overlay.h"

namespace decodescope {

namespace {

QSharedPointer<QCPAxisTicker> makeTicker(const ChartAxis& axis) {
    if (axis.log) return QSharedPointer<LogTicker>::create(axis.unit);
    return QSharedPointer<UnitTicker>::create(axis.unit, axis.whole);
}

LegendEntry::Mark legendMark(SeriesKind kind) {
    switch (kind) {
        case SeriesKind::line:
        case SeriesKind::wide_line: return LegendEntry::Mark::line;
        case SeriesKind::dashed_line: return LegendEntry::Mark::dashed_line;
        case SeriesKind::dotted_line: return LegendEntry::Mark::dotted_line;
        case SeriesKind::points: return LegendEntry::Mark::dot;
        case SeriesKind::area:
        case SeriesKind::range: return LegendEntry::Mark::box;
    }
    return LegendEntry::Mark::box;
}

}  // namespace

LineChart::LineChart(QWidget* parent)
    : Chart(parent),
      m_plot(new QCustomPlot(this)),
      m_overlay(new ChartOverlay(this)),
      m_ownLink(new ChartLink(this)) {
    setLink(m_ownLink);
    m_plot->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
    m_plot->setNotAntialiasedElements(QCP::aeAxes | QCP::aeGrid | QCP::aeZeroLine);
    m_plot->axisRect()->setAutoMargins(QCP::msNone);
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setBasePen(QColor(Qt::transparent));  // without a pen, an SVG gets black lines and dots
        axis->setTickPen(QColor(Qt::transparent));
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

LineChart::~LineChart() {
    m_link->remove(this);
}

void LineChart::setLink(ChartLink* link) {
    if (m_link != nullptr) {
        m_link->remove(this);
        m_link->disconnect(this);
    }
    m_link = link != nullptr ? link : m_ownLink;
    m_link->add(this);
    connect(m_link, &ChartLink::rangeChanged, this, &LineChart::linkedRangeChanged);
    connect(m_link, &ChartLink::logChanged, this, &LineChart::linkedLogChanged);
    connect(m_link, &ChartLink::crosshairMoved, this, &LineChart::linkedCrosshairMoved);
    applyXScale();
    updateMargins();
    markDirty();
}

void LineChart::setXAxis(const ChartAxis& axis) {
    m_x = axis;
    m_xLogOfAxis = axis.log;
    m_xMax = 0;
    applyXScale();
    m_plot->xAxis->setLabel(axis.show_name ? axis.name : QString());
    updateMargins();
    markDirty();
}

void LineChart::applyXScale() {
    m_x.log = m_xLogOfAxis || m_link->view(m_x.name).log;
    m_plot->xAxis->setTicker(makeTicker(m_x));
    m_plot->xAxis->setScaleType(m_x.log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (!m_bodySize.isEmpty()) fitTo(m_bodySize);
}

void LineChart::setYAxis(const ChartAxis& axis) {
    m_y = axis;
    if (m_yLogByUser) m_y.log = *m_yLogByUser;
    m_yMax = 0;
    m_logFloor = 0;
    m_plot->yAxis->setTicker(makeTicker(m_y));
    m_plot->yAxis->setScaleType(m_y.log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (!m_bodySize.isEmpty()) fitTo(m_bodySize);
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
    const bool seen = at < series.n_seen;
    series.x[at] = x;
    series.y[at] = y;
    markDirty();
    if (!seen) return;
    if (series.kind == SeriesKind::area) {
        rebuildStack();
    } else if (std::isfinite(y)) {
        // The range only grows, so that it stays put while a repetition draws over the one before.
        series.max_y = std::max(series.max_y, y);
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
    series.low.resize(series.x.size(), qQNaN());
}

void LineChart::clear() {
    for (Series& series : m_series) {
        series.x.clear();
        series.y.clear();
        series.low.clear();
        series.rebuild = true;
    }
    setMarks({});
    m_xMax = 0;
    m_yMax = 0;
    m_logFloor = 0;
    m_userY = false;
    if (m_link == m_ownLink) m_link->reset();
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
