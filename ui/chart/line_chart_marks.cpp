// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFontMetrics>
#include <qcustomplot.h>

#include <utility>

#include "ui/chart/axis_ticker.h"
#include "ui/chart/line_chart.h"
#include "ui/theme/card.h"

// The named points of a `LineChart`.
namespace decodescope {

void LineChart::setMarks(std::vector<ChartMark> marks) {
    m_marks = std::move(marks);
    markDirty();
}

void LineChart::drawMarks() {
    while (m_markItems.size() > m_marks.size()) {
        m_plot->removeItem(m_markItems.back().label);
        m_plot->removeItem(m_markItems.back().dot);
        m_markItems.pop_back();
    }
    const ThemeColors& colors = themeColors(palette());
    while (m_markItems.size() < m_marks.size()) {
        MarkItems items{new QCPItemTracer(m_plot), new QCPItemText(m_plot)};
        items.dot->setStyle(QCPItemTracer::tsCircle);
        items.label->position->setParentAnchor(items.dot->position);
        m_markItems.push_back(items);
        styleMarks(colors);
    }
    const QFontMetrics text(CardMetrics(font()).small_text);
    const QRect area = plotArea();
    for (std::size_t i = 0; i < m_marks.size(); ++i) {
        const ChartMark& mark = m_marks[i];
        const MarkItems& items = m_markItems[i];
        items.dot->position->setCoords(mark.x, mark.y);
        items.label->setText(mark.text);
        // By the ranges, not in pixels of the widget: the drawing may be of another size.
        const double across = axisShare(*m_plot->xAxis, mark.x);
        const double up = axisShare(*m_plot->yAxis, mark.y);
        const double from_left = across * area.width();
        const double from_top = (1 - up) * area.height();
        const bool inside = across >= 0 && across <= 1 && up >= 0 && up <= 1;
        items.dot->setVisible(inside);
        items.label->setVisible(inside);
        // The label stays in the plot: beside the border it leans inwards, near the top it hangs.
        const double half = text.horizontalAdvance(mark.text) / 2.0 + text.height();
        const Qt::Alignment lean = from_left < half                  ? Qt::AlignLeft
                                   : area.width() - from_left < half ? Qt::AlignRight
                                                                     : Qt::AlignHCenter;
        const bool hangs = from_top < 2 * text.height();
        items.label->setPositionAlignment(lean | (hangs ? Qt::AlignTop : Qt::AlignBottom));
        items.label->position->setCoords(0, (hangs ? 1 : -1) * text.height() * 0.45);
    }
}

void LineChart::styleMarks(const ThemeColors& colors) {
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    for (std::size_t i = 0; i < m_markItems.size() && i < m_marks.size(); ++i) {
        const QColor color = colors.color(m_marks[i].color);
        m_markItems[i].dot->setSize(text.height() * 0.5);
        m_markItems[i].dot->setPen(QPen(color, 1.5));
        m_markItems[i].dot->setBrush(colors.card);
        m_markItems[i].label->setFont(metrics.small_text);
        m_markItems[i].label->setColor(colors.text);
        QColor behind = colors.card;
        behind.setAlphaF(0.85f);
        m_markItems[i].label->setBrush(behind);
        m_markItems[i].label->setPen(Qt::NoPen);
        const int pad = text.height() / 4;
        m_markItems[i].label->setPadding({pad, 0, pad, 0});
    }
}

}  // namespace decodescope
