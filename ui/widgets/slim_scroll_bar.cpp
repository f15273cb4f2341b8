// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/slim_scroll_bar.h"

#include <QAbstractScrollArea>
#include <QPainter>
#include <QStyleOptionSlider>

#include "ui/theme/theme.h"

namespace decodescope {

void SlimScrollBar::install(QAbstractScrollArea* area) {
    area->setVerticalScrollBar(new SlimScrollBar(area));
}

QSize SlimScrollBar::sizeHint() const {
    return {fontMetrics().height() * 3 / 5, QScrollBar::sizeHint().height()};
}

void SlimScrollBar::paintEvent(QPaintEvent*) {
    if (minimum() == maximum()) return;
    QStyleOptionSlider option;
    initStyleOption(&option);
    // The style's own place for the handle, so that pressing and dragging it work as everywhere.
    const QRectF handle =
        style()->subControlRect(QStyle::CC_ScrollBar, &option, QStyle::SC_ScrollBarSlider, this);
    const ThemeColors& colors = themeColors(palette());
    const qreal side = width() * 0.22;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    QColor color = colors.muted;
    color.setAlphaF(isSliderDown() || underMouse() ? 0.7f : 0.35f);
    painter.setBrush(color);
    const QRectF bar = handle.adjusted(side, 1, -side, -1);
    painter.drawRoundedRect(bar, bar.width() / 2, bar.width() / 2);
}

}  // namespace decodescope
