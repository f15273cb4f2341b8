// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/labels.h"

#include <QEvent>
#include <QFontMetrics>
#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QToolTip>

#include "ui/theme/card.h"

namespace decodescope {

namespace {

class WheelGuard : public QObject {
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Wheel || static_cast<QWidget*>(watched)->hasFocus()) return false;
        event->ignore();
        return true;
    }
};

void makeMuted(QLabel* label) {
    label->setForegroundRole(QPalette::PlaceholderText);
    label->setFont(CardMetrics(label->font()).small_text);
    label->setTextFormat(Qt::PlainText);
}

}  // namespace

QLabel* mutedLabel(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    makeMuted(label);
    return label;
}

QLabel* sectionLabel(const QString& text, QWidget* parent) {
    QLabel* label = mutedLabel(text.toUpper(), parent);
    QFont font = label->font();
    font.setBold(true);
    font.setLetterSpacing(QFont::PercentageSpacing, 104);
    label->setFont(font);
    return label;
}

void guardWheel(QWidget* widget) {
    widget->setFocusPolicy(Qt::StrongFocus);
    widget->installEventFilter(new WheelGuard(widget));
}

ElidingLabel::ElidingLabel(QWidget* parent) : QLabel(parent) {
    makeMuted(this);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

QString ElidingLabel::shownText() const {
    return fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width());
}

bool ElidingLabel::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && shownText() != text()) {
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), text(), this);
        return true;
    }
    return QLabel::event(event);
}

void ElidingLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    style()->drawItemText(&painter, contentsRect(), Qt::AlignLeft | Qt::AlignVCenter, palette(), isEnabled(),
                          shownText(), foregroundRole());
}

Swatch::Swatch(ColorRef color, QWidget* parent) : QWidget(parent), m_color(color) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Swatch::setColor(ColorRef color) {
    m_color = color;
    update();
}

QSize Swatch::sizeHint() const {
    const int side = QFontMetrics(font()).ascent() * 3 / 4;
    return {side, side};
}

void Swatch::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintSwatch(painter, rect(), themeColors(palette()).color(m_color));
}

void ToneLabel::setTone(ColorRef tone) {
    m_tone = tone;
    applyTone();
}

void ToneLabel::changeEvent(QEvent* event) {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_applying) applyTone();
}

void ToneLabel::applyTone() {
    m_applying = true;
    QPalette changed = palette();
    changed.setColor(QPalette::WindowText, themeColors(changed).color(m_tone));
    setPalette(changed);
    m_applying = false;
}

void paintSwatch(QPainter& painter, const QRectF& rect, const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    const qreal radius = rect.width() / 5;
    painter.drawRoundedRect(rect, radius, radius);
    painter.restore();
}

}  // namespace decodescope
