// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/bar_chart.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QToolTip>
#include <qcustomplot.h>

#include <algorithm>
#include <numeric>

#include "ui/theme/card.h"

namespace decodescope {

BarChart::BarChart(QWidget* parent) : Chart(parent) {}

void BarChart::setParts(std::vector<Part> parts) {
    m_parts = std::move(parts);
    markDirty();
}

void BarChart::setBars(std::vector<Bar> bars) {
    m_bars = std::move(bars);
    markDirty();
}

double BarChart::total(int bar) const {
    const auto& values = m_bars[static_cast<std::size_t>(bar)].values;
    return std::accumulate(values.begin(), values.end(), 0.0);
}

QVector<LegendEntry> BarChart::legend() const {
    QVector<LegendEntry> entries;
    for (const Part& part : m_parts) entries.append({part.name, part.color, LegendEntry::Mark::box, true});
    return entries;
}

BarChart::Places BarChart::places(const QRect& body) const {
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    Places p;
    p.n = static_cast<int>(m_bars.size());
    for (int i = 0; i < p.n; ++i) {
        p.label = std::max(p.label, text.horizontalAdvance(m_bars[static_cast<std::size_t>(i)].name));
        p.value = std::max(p.value, text.horizontalAdvance(formatDuration(total(i))));
        p.largest = std::max(p.largest, total(i));
    }
    p.label += metrics.padding / 2;
    p.value += metrics.padding / 2;
    const double room = body.height() - legendHeight(body.width()) - metrics.padding / 2;
    p.row = std::min(room / std::max(1, p.n), metrics.line * 1.3);
    return p;
}

int BarChart::barAt(const QPoint& position) const {
    const QRect body = bodyRect();
    const Places p = places(body);
    if (p.n == 0 || !body.contains(position) || p.row <= 0) return -1;
    const int bar = static_cast<int>((position.y() - body.top()) / p.row);
    return bar < p.n ? bar : -1;
}

void BarChart::paintBody(QCPPainter& painter, const QRect& body, const ThemeColors& colors) {
    const CardMetrics metrics(font());
    const Places p = places(body);
    painter.save();
    painter.setFont(metrics.small_text);
    const QFontMetrics text(metrics.small_text);
    // Of rows that are lower than their names, only every so many is named.
    const int stride = std::max(1, qCeil(text.height() * 0.9 / std::max(0.1, p.row)));
    const double width = std::max(1, body.width() - p.label - p.value);
    for (int i = 0; i < p.n; ++i) {
        const Bar& bar = m_bars[static_cast<std::size_t>(i)];
        const double top = body.top() + i * p.row;
        const double gap = p.row > 6 ? p.row * 0.14 : 0;
        if (i % stride == 0 || bar.marked) {
            painter.setPen(bar.marked ? colors.text : colors.muted);
            const QRectF line(body.left(), top + p.row / 2 - text.height() / 2.0,
                              p.label - metrics.padding / 2, text.height());
            painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, bar.name);
            painter.drawText(QRectF(body.right() - p.value, line.top(), p.value, text.height()),
                             Qt::AlignRight | Qt::AlignVCenter, formatDuration(total(i)));
        }
        double x = body.left() + p.label;
        for (std::size_t part = 0; part < bar.values.size() && part < m_parts.size(); ++part) {
            const double w = p.largest > 0 ? bar.values[part] / p.largest * width : 0;
            painter.fillRect(QRectF(x, top + gap, w, p.row - 2 * gap), colors.color(m_parts[part].color));
            x += w;
        }
    }
    const int below = qRound(body.top() + p.n * p.row) + metrics.padding / 2;
    paintLegend(painter, QRect(body.left(), below, body.width(), text.height()), colors);
    painter.restore();
}

Table BarChart::table(DataRange) const {
    Table table;
    table.columns << QStringLiteral("part_of");
    for (const Part& part : m_parts) table.columns << identifier(part.name) + QStringLiteral("_ns");
    for (const Bar& bar : m_bars) {
        QStringList line{bar.name};
        for (std::size_t i = 0; i < m_parts.size(); ++i)
            line << (i < bar.values.size() ? csvNumber(bar.values[i]) : QString());
        table.rows.push_back(line);
    }
    return table;
}

bool BarChart::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int at = barAt(help->pos());
        if (at >= 0) {
            const Bar& bar = m_bars[static_cast<std::size_t>(at)];
            QStringList lines{bar.name};
            for (std::size_t i = 0; i < bar.values.size() && i < m_parts.size(); ++i) {
                if (bar.values[i] > 0)
                    lines << QStringLiteral("%1: %2").arg(m_parts[i].name, formatDuration(bar.values[i]));
            }
            QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
            return true;
        }
    }
    return Chart::event(event);
}

void BarChart::mousePressEvent(QMouseEvent* event) {
    const int bar = event->button() == Qt::LeftButton ? barAt(event->pos()) : -1;
    if (bar < 0)
        Chart::mousePressEvent(event);
    else
        emit barClicked(bar);
}

}  // namespace decodescope
