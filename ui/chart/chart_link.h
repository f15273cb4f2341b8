// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QObject>
#include <QString>
#include <QVector>

#include <optional>
#include <utility>

class QWidget;

namespace decodescope {

class LineChart;

/// What line charts over the same x axis share, so that all of them show the same part of a run: the range of
/// x, the scale of x, the crosshair. Charts over another axis ("token", "time") have a view of their own,
/// told apart by the axis's name. Charts on one page share their margins too. GUI thread only.
class ChartLink : public QObject {
    Q_OBJECT
public:
    using Range = std::pair<double, double>;
    struct View {
        std::optional<Range> range;  ///< none = everything
        bool log = false;
        std::optional<double> crosshair;
    };

    using QObject::QObject;
    /// Charts that are still there are alone from then on.
    ~ChartLink() override;

    View view(const QString& axis) const { return m_views.value(axis); }
    void setRange(const QString& axis, std::optional<Range> range);
    void setLog(const QString& axis, bool log);
    void setCrosshair(const QString& axis, std::optional<double> x);
    /// Another run: everything is shown, no crosshair. Scales stay.
    void reset();

    /// Charts register with `LineChart::setLink` and leave when they go.
    void add(LineChart* chart) { m_charts.append(chart); }
    void remove(LineChart* chart) { m_charts.removeAll(chart); }
    QVector<LineChart*> chartsOf(const QWidget* page) const;

signals:
    void rangeChanged(const QString& axis);
    void logChanged(const QString& axis);
    void crosshairMoved(const QString& axis);

private:
    QHash<QString, View> m_views;
    QVector<LineChart*> m_charts;
};

}  // namespace decodescope
