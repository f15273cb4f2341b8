// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

#include <utility>

#include "ui/theme/card.h"
#include "ui/theme/theme.h"

namespace decodescope {

MessageBar::MessageBar(QWidget* parent) : QWidget(parent) {
    const CardMetrics metrics(font());
    auto* row = new QHBoxLayout(this);
    // It brings the space around it along, so that nothing is left of it when it is hidden.
    row->setContentsMargins(metrics.spacing + metrics.padding * 3 / 2, metrics.spacing + metrics.padding / 2,
                            metrics.spacing + metrics.padding / 2, metrics.padding / 2);
    m_label = new QLabel(this);
    m_label->setObjectName(QStringLiteral("messageText"));
    m_label->setTextFormat(Qt::PlainText);
    m_label->setWordWrap(true);
    m_label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_close = new QToolButton(this);
    m_close->setObjectName(QStringLiteral("messageClose"));
    m_close->setText(QStringLiteral("✕"));
    m_close->setAutoRaise(true);
    m_close->setAccessibleName(tr("Put the message away"));
    m_close->setToolTip(tr("Put the message away"));
    m_choices = new QHBoxLayout;
    row->addWidget(m_label, 1);
    row->addLayout(m_choices);
    row->addWidget(m_close, 0, Qt::AlignTop);
    connect(m_close, &QToolButton::clicked, this, &MessageBar::clear);
    hide();
}

void MessageBar::showMessage(Kind kind, const QString& sentence) {
    removeChoices();
    m_kind = kind;
    m_label->setText(sentence);
    setAccessibleName(sentence);
    show();
    update();
}

void MessageBar::addChoice(const QString& text, std::function<void()> chosen) {
    auto* button = new QPushButton(text, this);
    button->setObjectName(QStringLiteral("messageChoice%1").arg(m_choices->count()));
    m_choices->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, chosen = std::move(chosen)] {
        // It goes with the message, and what it was made for may show another one.
        const std::function<void()> call = chosen;
        clear();
        call();
    });
}

void MessageBar::removeChoices() {
    while (QLayoutItem* item = m_choices->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
}

void MessageBar::clear() {
    hide();
    removeChoices();
    m_label->clear();
}

QString MessageBar::message() const {
    return m_label->text();
}

void MessageBar::paintEvent(QPaintEvent*) {
    const ThemeColors& colors = themeColors(palette());
    const CardMetrics metrics(font());
    const QColor soft = m_kind == Kind::error     ? colors.bad_soft
                        : m_kind == Kind::warning ? colors.warn_soft
                                                  : colors.accent_soft;
    const QColor strong = m_kind == Kind::error     ? colors.bad
                          : m_kind == Kind::warning ? colors.warn
                                                    : colors.accent;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(soft);
    const QRectF box = QRectF(rect()).adjusted(metrics.spacing, metrics.spacing, -metrics.spacing, 0);
    painter.drawRoundedRect(box, metrics.radius, metrics.radius);
    painter.setBrush(strong);
    painter.drawRoundedRect(QRectF(box.left(), box.top(), metrics.radius, box.height()), metrics.radius / 2.0,
                            metrics.radius / 2.0);
}

}  // namespace decodescope
