// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/scrolling_column.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include "ui/theme/card.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

QVBoxLayout* scrollingColumn(QWidget* page) {
    const int spacing = CardMetrics(page->font()).spacing;
    auto* outer = new QVBoxLayout(page);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea(page);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    SlimScrollBar::install(scroll);
    outer->addWidget(scroll);
    auto* body = new QWidget(scroll);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(spacing, spacing, spacing, spacing);
    column->setSpacing(spacing);
    scroll->setWidget(body);
    return column;
}

}  // namespace decodescope
