// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/bar_button.h"

#include <QAction>
#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

#include "ui/theme/card.h"
#include "ui/theme/theme.h"

namespace decodescope {

BarButton::BarButton(QAction* action, Look look, Symbol symbol, QWidget* parent)
    : QAbstractButton(parent), m_action(action), m_look(look), m_symbol(symbol) {
    setFocusPolicy(Qt::TabFocus);
    setCheckable(action->isCheckable());
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(this, &QAbstractButton::clicked, action, &QAction::trigger);
    connect(action, &QAction::changed, this, &BarButton::syncWithAction);
    syncWithAction();
}

void BarButton::reserveFor(const QString& text) {
    m_widest = text;
    updateGeometry();
}

void BarButton::setSymbol(Symbol symbol) {
    m_symbol = symbol;
    update();
}

void BarButton::syncWithAction() {
    QString label = m_action->text();
    label.remove(QLatin1Char('&'));
    if (label != text()) {
        setText(label);
        setAccessibleName(label);
        updateGeometry();
    }
    setToolTip(m_action->toolTip());
    setEnabled(m_action->isEnabled());
    setChecked(m_action->isChecked());
    update();
}

QFont BarButton::textFont() const {
    const CardMetrics metrics(font());
    QFont used = m_look == Look::primary ? metrics.title : metrics.text;
    if (m_look == Look::tab && isChecked()) used.setBold(true);
    return used;
}

QSize BarButton::sizeHint() const {
    const CardMetrics metrics(font());
    // As wide as in bold, so that nothing moves when another tab is chosen.
    const QFontMetrics bold(metrics.title);
    int width = std::max(bold.horizontalAdvance(text()), bold.horizontalAdvance(m_widest)) +
                2 * metrics.padding + metrics.padding / 2;
    if (m_symbol != Symbol::none) width += metrics.line * 3 / 4 + metrics.padding / 2;
    return {width, metrics.line + metrics.padding + 2};
}

void BarButton::paintEvent(QPaintEvent*) {
    const CardMetrics metrics(font());
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);

    const bool filled = m_look == Look::primary && isEnabled();
    QColor ink = filled ? colors.on_accent : colors.text;
    QColor fill = m_look == Look::tab ? QColor(Qt::transparent) : filled ? colors.accent : colors.card;
    QColor edge = m_look == Look::tab ? QColor(Qt::transparent) : filled ? colors.accent : colors.border;
    if (m_look == Look::tab && isChecked()) {
        fill = colors.accent_soft;
        ink = colors.dark ? colors.text : colors.accent.darker(120);
    } else if (m_look == Look::tab) {
        ink = colors.muted;
    }
    if (!isEnabled()) ink = palette().color(QPalette::Disabled, QPalette::ButtonText);
    if (isEnabled() && (isDown() || underMouse())) {
        if (m_look == Look::tab)
            fill = isChecked() ? fill : colors.grid;
        else
            fill = filled ? fill.lighter(isDown() ? 95 : 108) : colors.grid;
    }
    painter.setPen(edge);
    painter.setBrush(fill);
    painter.drawRoundedRect(box, metrics.radius, metrics.radius);
    if (hasFocus() && window()->testAttribute(Qt::WA_KeyboardFocusChange)) {
        painter.setPen(QPen(filled ? colors.on_accent : colors.accent, 1.2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box.adjusted(2, 2, -2, -2), metrics.radius - 1, metrics.radius - 1);
    }

    const QFont used = textFont();
    const QFontMetrics text_metrics(used);
    const int symbolSide = m_symbol == Symbol::none ? 0 : metrics.line * 3 / 5;
    const int gap = m_symbol == Symbol::none ? 0 : metrics.padding / 2;
    const int content = symbolSide + gap + text_metrics.horizontalAdvance(text());
    const qreal left = (width() - content) / 2.0;
    const QRectF mark(left, (height() - symbolSide) / 2.0, symbolSide, symbolSide);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    if (m_symbol == Symbol::play) {
        painter.drawPolygon(
            QPolygonF({mark.topLeft(), {mark.right(), mark.center().y()}, mark.bottomLeft()}));
    } else if (m_symbol == Symbol::step) {
        // An arrow that ends at a bar.
        const qreal bar = mark.width() * 0.18;
        painter.drawPolygon(
            QPolygonF({mark.topLeft(), {mark.right() - 1.6 * bar, mark.center().y()}, mark.bottomLeft()}));
        painter.drawRect(QRectF(mark.right() - bar, mark.top(), bar, mark.height()));
    } else if (m_symbol == Symbol::pause) {
        const qreal bar = mark.width() * 0.28;
        painter.drawRect(QRectF(mark.left() + 1, mark.top() + 1, bar, mark.height() - 2));
        painter.drawRect(QRectF(mark.right() - 1 - bar, mark.top() + 1, bar, mark.height() - 2));
    } else if (m_symbol == Symbol::stop) {
        painter.drawRect(mark.adjusted(1, 1, -1, -1));
    }
    painter.setPen(ink);
    painter.setFont(used);
    painter.drawText(QRectF(left + symbolSide + gap, 0, width() - left - symbolSide - gap, height()),
                     Qt::AlignLeft | Qt::AlignVCenter, text());
}

void BarButton::enterEvent(QEnterEvent* event) {
    QAbstractButton::enterEvent(event);
    update();
}

void BarButton::leaveEvent(QEvent* event) {
    QAbstractButton::leaveEvent(event);
    update();
}

}  // namespace decodescope
