// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/chart_link.h"

#include "ui/chart/line_chart.h"

namespace decodescope {

ChartLink::~ChartLink() {
    for (LineChart* chart : QVector<LineChart*>(m_charts)) chart->setLink(nullptr);
}

void ChartLink::setRange(const QString& axis, std::optional<Range> range) {
    if (m_views.value(axis).range == range) return;
    m_views[axis].range = range;
    emit rangeChanged(axis);
}

void ChartLink::setLog(const QString& axis, bool log) {
    if (m_views.value(axis).log == log) return;
    m_views[axis].log = log;
    emit logChanged(axis);
}

void ChartLink::setCrosshair(const QString& axis, std::optional<double> x) {
    if (m_views.value(axis).crosshair == x) return;
    m_views[axis].crosshair = x;
    emit crosshairMoved(axis);
}

void ChartLink::reset() {
    const QStringList axes = m_views.keys();
    for (const QString& axis : axes) {
        setRange(axis, std::nullopt);
        setCrosshair(axis, std::nullopt);
    }
}

QVector<LineChart*> ChartLink::chartsOf(const QWidget* page) const {
    QVector<LineChart*> charts;
    for (LineChart* chart : m_charts) {
        if (chart->parentWidget() == page) charts.append(chart);
    }
    return charts;
}

}  // namespace decodescope
