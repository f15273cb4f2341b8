// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVector>
#include <QWidget>

#include <optional>

#include "ui/theme/theme.h"

namespace decodescope {

/// What lies over a plot and must not cost a replot: crosshair, value box, a message while there is no data,
/// and the hint that the view is zoomed.
class ChartOverlay : public QWidget {
public:
    /// One line of the value box: a name and its value, in the colour of its series.
    struct Value {
        QString name;
        QString value;
        ColorRef color;
        double y = 0;  ///< pixel of the point, NaN = none
    };

    explicit ChartOverlay(QWidget* parent);
    void setPlotArea(const QRect& area);
    /// The crosshair at pixel `x` with its head line and values.
    void setCrosshair(double x, const QString& head, const QVector<Value>& values);
    void clearCrosshair();
    bool hasCrosshair() const { return m_x.has_value(); }
    void setMessage(const QString& message);
    void setHint(const QString& hint);
    /// The value box as text, for screen readers.
    QString text() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QRect m_area;
    std::optional<double> m_x;
    QString m_head;
    QVector<Value> m_values;
    QString m_message;
    QString m_hint;
};

}  // namespace decodescope
