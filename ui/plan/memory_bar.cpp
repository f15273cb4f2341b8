// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plan/memory_bar.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <utility>

#include "ui/chart/format.h"
#include "ui/theme/card.h"

namespace decodescope {

namespace {

constexpr double leastPixels = 2;

double length(std::int64_t bytes) {
    return static_cast<double>(std::max<std::int64_t>(0, bytes));
}

}  // namespace

MemoryBar::MemoryBar(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Memory by part"));
}

void MemoryBar::setParts(std::vector<Part> parts, std::int64_t memory, std::int64_t reserve) {
    m_parts = std::move(parts);
    m_memory = memory;
    m_reserve = reserve;
    QStringList words;
    for (const Part& part : m_parts)
        words << tr("%1: %2").arg(part.name, formatBytes(static_cast<double>(part.bytes)));
    if (m_memory > 0) words << tr("memory: %1").arg(formatBytes(static_cast<double>(m_memory)));
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    update();
}

QSize MemoryBar::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 60, fontMetrics().height() * 5 / 4};
}

QSize MemoryBar::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 20, sizeHint().height()};
}

// Where the memory ends, in pixels; beyond it is what does not fit.
double MemoryBar::memoryEnd() const {
    double used = 0;
    for (const Part& part : m_parts) used += length(part.bytes);
    const double memory = m_memory > 0 ? length(m_memory) : used;
    const double all = std::max(used + (m_memory > 0 ? length(m_reserve) : 0), memory);
    return all > 0 ? width() * memory / all : width();
}

std::vector<MemoryBar::Segment> MemoryBar::segments() const {
    std::vector<Segment> segments;
    double used = 0;
    for (const Part& part : m_parts) used += length(part.bytes);
    const double reserve = m_memory > 0 ? length(m_reserve) : 0;
    const double all = std::max(used + reserve, length(m_memory));
    if (all <= 0) return segments;
    const double scale = width() / all;
    double at = 0;
    for (const Part& part : m_parts) {
        if (part.bytes <= 0) continue;
        const double pixels = std::max(leastPixels, length(part.bytes) * scale);
        segments.push_back({at, std::min<double>(width(), at + pixels),
                            tr("%1: %2").arg(part.name, formatBytesExactly(part.bytes)), part.color,
                            Kind::part});
        at += pixels;
    }
    const double end = reserve > 0 ? std::max(at, memoryEnd() - reserve * scale) : memoryEnd();
    if (end > at + 1) segments.push_back({at, end, tr("free"), {}, Kind::free});
    if (reserve > 0) {
        segments.push_back({end,
                            static_cast<double>(width()),
                            tr("reserve, not to be used: %1").arg(formatBytesExactly(m_reserve)),
                            {},
                            Kind::reserve});
    }
    return segments;
}

void MemoryBar::paintEvent(QPaintEvent*) {
    const CardMetrics metrics(font());
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPainterPath rounded;
    rounded.addRoundedRect(QRectF(rect()), metrics.radius, metrics.radius);
    painter.setClipPath(rounded);
    painter.fillRect(rect(), colors.grid);
    for (const Segment& segment : segments()) {
        const QRectF box(segment.from, 0, segment.to - segment.from, height());
        if (segment.kind == Kind::reserve) painter.fillRect(box, QBrush(colors.muted, Qt::BDiagPattern));
        if (segment.kind == Kind::part) painter.fillRect(box, colors.color(segment.color));
    }
    if (const double end = memoryEnd(); end < width() - 1) {
        painter.fillRect(QRectF(end, 0, width() - end, height()), QBrush(colors.bad, Qt::Dense4Pattern));
        painter.setPen(QPen(colors.bad, 2));
        painter.drawLine(QPointF(end, 0), QPointF(end, height()));
    }
}

bool MemoryBar::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (const Segment& segment : segments()) {
        if (help->pos().x() < segment.from || help->pos().x() >= segment.to) continue;
        QToolTip::showText(help->globalPos(), segment.text, this);
        return true;
    }
    QToolTip::hideText();
    return true;
}

}  // namespace decodescope
