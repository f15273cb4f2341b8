// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/bars.h"

#include <QPainter>

#include "ui/theme/theme.h"

namespace decodescope {

void HeaderBar::paintEvent(QPaintEvent*) {
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), colors.border);
}

void FlatStatusBar::paintEvent(QPaintEvent*) {
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    painter.fillRect(QRect(0, 0, width(), 1), colors.border);
}

}  // namespace decodescope
