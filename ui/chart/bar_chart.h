// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/chart/chart.h"
#include "ui/chart/format.h"

namespace decodescope {

/// Horizontal bars, each stacked from parts: where a total goes, line by line.
class BarChart : public Chart {
    Q_OBJECT
public:
    struct Part {
        QString name;
        ColorRef color;
    };
    struct Bar {
        QString name;
        std::vector<double> values;  // [parts]
        bool marked = false;         ///< its name stands out
    };

    explicit BarChart(QWidget* parent = nullptr);

    void setParts(std::vector<Part> parts);
    /// Values are formatted as durations in ns.
    void setBars(std::vector<Bar> bars);
    const std::vector<Bar>& bars() const { return m_bars; }

    bool isEmpty() const override { return m_bars.empty(); }
    Table table(DataRange range) const override;
    QVector<LegendEntry> legend() const override;

signals:
    void barClicked(int bar);

protected:
    void updateDrawing() override {}
    void paintBody(QCPPainter& painter, const QRect& body, const ThemeColors& colors) override;
    QString dataInWords() const override;
    bool legendBelow() const override { return true; }
    bool event(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    struct Places {
        double row = 0;
        int label = 0;
        int value = 0;
        double largest = 0;
        int first = 0;
        int n = 0;
    };
    Places places(const QRect& body) const;
    int barAt(const QPoint& position) const;
    double total(int bar) const;

    std::vector<Part> m_parts;
    std::vector<Bar> m_bars;
};

}  // namespace decodescope
