// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/chart_overlay.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

#include "ui/theme/card.h"

namespace decodescope {

ChartOverlay::ChartOverlay(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
}

void ChartOverlay::setPlotArea(const QRect& area) {
    if (area == m_area) return;
    m_area = area;
    update();
}

void ChartOverlay::setCrosshair(double x, const QString& head, const QVector<Value>& values) {
    m_x = x;
    m_head = head;
    m_values = values;
    update();
}

void ChartOverlay::clearCrosshair() {
    if (!m_x) return;
    m_x.reset();
    update();
}

void ChartOverlay::setMessage(const QString& message) {
    if (message == m_message) return;
    m_message = message;
    update();
}

void ChartOverlay::setHint(const QString& hint) {
    if (hint == m_hint) return;
    m_hint = hint;
    update();
}

QString ChartOverlay::text() const {
    if (!m_x) return {};
    QString text = m_head;
    for (const Value& value : m_values)
        text += QStringLiteral(", ") + value.name + QLatin1Char(' ') + value.value;
    return text;
}

void ChartOverlay::paintEvent(QPaintEvent*) {
    const ThemeColors& colors = themeColors(palette());
    const CardMetrics metrics(font());
    const QFontMetrics text_metrics(metrics.small_text);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(metrics.small_text);

    if (!m_message.isEmpty()) {
        painter.setPen(colors.muted);
        painter.drawText(m_area, Qt::AlignCenter | Qt::TextWordWrap, m_message);
    }
    if (!m_hint.isEmpty()) {
        const int w = text_metrics.horizontalAdvance(m_hint) + metrics.padding;
        const QRectF box(m_area.right() - w, m_area.top(), w, text_metrics.height() + metrics.padding / 3);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colors.accent_soft);
        painter.drawRoundedRect(box, metrics.radius, metrics.radius);
        painter.setPen(colors.text);
        painter.drawText(box, Qt::AlignCenter, m_hint);
    }
    if (!m_x) return;

    QPen dashes(colors.muted, 1);
    dashes.setDashPattern({3, 3});
    painter.setPen(dashes);
    const double line_x = std::floor(*m_x) + 0.5;
    painter.drawLine(QPointF(line_x, m_area.top()), QPointF(line_x, m_area.bottom() + 1));
    for (const Value& value : m_values) {
        if (!std::isfinite(value.y) || value.y < m_area.top() - 1 || value.y > m_area.bottom() + 2) continue;
        painter.setPen(QPen(colors.card, 1.5));
        painter.setBrush(colors.color(value.color));
        painter.drawEllipse(QPointF(*m_x, value.y), metrics.padding * 0.32, metrics.padding * 0.32);
    }

    const int row = text_metrics.height() + 2;
    int names = 0;
    int numbers = 0;
    for (const Value& value : m_values) {
        names = std::max(names, text_metrics.horizontalAdvance(value.name));
        numbers = std::max(numbers, text_metrics.horizontalAdvance(value.value));
    }
    const int gap = metrics.padding;
    const int mark = qRound(text_metrics.height() * 0.62);
    const int indent = mark + metrics.padding / 2;
    const int inner = std::max(text_metrics.horizontalAdvance(m_head), indent + names + gap + numbers);
    QRect box(0, 0, inner + 2 * metrics.padding,
              row * (1 + static_cast<int>(m_values.size())) + metrics.padding);
    box.moveLeft(qRound(*m_x) + metrics.padding);
    if (box.right() > width() - 2) box.moveRight(qRound(*m_x) - metrics.padding);
    if (box.left() < 0) box.moveLeft(0);
    // Where the box hides no point under the crosshair, if there is such a place.
    const int room = std::max(0, m_area.height() - box.height());
    for (const double share : {0.35, 0.7, 0.05, 0.95, 0.35}) {
        box.moveTop(m_area.top() + qRound(room * share));
        const auto hides = [&](const Value& value) {
            return value.y > box.top() - 4 && value.y < box.bottom() + 4;
        };
        if (std::none_of(m_values.begin(), m_values.end(), hides)) break;
    }
    painter.setPen(QPen(colors.border, 1));
    painter.setBrush(colors.card);
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), metrics.radius, metrics.radius);
    QRect line(box.left() + metrics.padding, box.top() + metrics.padding / 2, inner, row);
    painter.setPen(colors.muted);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, m_head);
    for (const Value& value : m_values) {
        line.translate(0, row);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colors.color(value.color));
        painter.drawRoundedRect(QRectF(line.left(), line.center().y() - mark / 2.0 + 1, mark, mark), 2, 2);
        painter.setPen(colors.text);
        painter.drawText(line.adjusted(indent, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, value.name);
        painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, value.value);
    }
}

}  // namespace decodescope
