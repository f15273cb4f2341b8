// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/card.h"

#include <QEvent>
#include <QFontInfo>
#include <QFontMetrics>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/theme/theme.h"

namespace decodescope {

CardMetrics::CardMetrics(const QFont& font) : text(font) {
    // Pixel sizes make a drawing come out the same on paper, in a file and on screen.
    const int pixels = std::max(1, QFontInfo(font).pixelSize());
    text.setPixelSize(pixels);
    small_text = text;
    small_text.setPixelSize(std::max(1, qRound(pixels * 0.9)));
    title = text;
    title.setBold(true);
    line = QFontMetrics(text).height();
    radius = qRound(pixels * 0.45);
    padding = qRound(pixels * 0.85);
    spacing = padding;
}

void paintCard(QPainter& painter, const QRectF& rect, const ThemeColors& colors, qreal radius) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colors.border, 1));
    painter.setBrush(colors.card);
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    painter.restore();
}

Card::Card(QWidget* parent) : Card({}, {}, parent) {}

Card::Card(const QString& title, const QString& subtitle, QWidget* parent)
    : QWidget(parent), m_title(title), m_subtitle(subtitle), m_content(new QVBoxLayout(this)) {
    updateMargins();
}

void Card::setTitle(const QString& title) {
    if (title == m_title) return;
    m_title = title;
    updateMargins();
    update();
}

void Card::setSubtitle(const QString& subtitle) {
    if (subtitle == m_subtitle) return;
    m_subtitle = subtitle;
    update();
}

void Card::setCorner(const QString& text) {
    if (text == m_corner) return;
    m_corner = text;
    update();
}

void Card::updateMargins() {
    const CardMetrics metrics(font());
    const int top =
        m_title.isEmpty() ? metrics.padding : metrics.padding + metrics.line + metrics.padding / 2;
    m_content->setContentsMargins(metrics.padding, top, metrics.padding, metrics.padding);
    m_content->setSpacing(metrics.padding / 2);
    setAccessibleName(m_title);
}

void Card::paintEvent(QPaintEvent*) {
    const CardMetrics metrics(font());
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(this);
    paintCard(painter, rect(), colors, metrics.radius);
    if (m_title.isEmpty()) return;
    QRect line(metrics.padding, metrics.padding, width() - 2 * metrics.padding, metrics.line);
    painter.setFont(metrics.title);
    painter.setPen(colors.text);
    const QFontMetrics bold(metrics.title);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                     bold.elidedText(m_title, Qt::ElideRight, line.width()));
    painter.setFont(metrics.small_text);
    painter.setPen(colors.muted);
    const QFontMetrics small_metrics(metrics.small_text);
    line.setLeft(line.left() + bold.horizontalAdvance(m_title) + metrics.padding / 2);
    int free_width = line.width();
    if (!m_corner.isEmpty()) {
        painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter,
                         small_metrics.elidedText(m_corner, Qt::ElideRight, std::max(0, free_width)));
        free_width -= small_metrics.horizontalAdvance(m_corner) + metrics.padding;
    }
    if (free_width > 0) {
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                         small_metrics.elidedText(m_subtitle, Qt::ElideRight, free_width));
    }
}

void Card::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) updateMargins();
    QWidget::changeEvent(event);
}

}  // namespace decodescope
