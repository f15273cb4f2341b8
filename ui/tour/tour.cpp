// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/tour/tour.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/theme/card.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

constexpr int ringWidth = 3;
constexpr int textChars = 52;

/// A frame that the mouse does not see.
class Ring : public QWidget {
public:
    explicit Ring(QWidget* parent) : QWidget(parent) {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setObjectName(QStringLiteral("tourRing"));
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(themeColors(palette()).accent, ringWidth));
        const int radius = CardMetrics(font()).radius;
        constexpr qreal half = ringWidth / 2.0;
        painter.drawRoundedRect(QRectF(rect()).adjusted(half, half, -half, -half), radius, radius);
    }
};

/// Where a card goes beside what it points at: right of what is at the left, else below, above, right or left
/// of it, whichever has the room, else inside it, at its lower right.
QRect beside(const QRect& target, const QSize& card, const QRect& window, int gap) {
    QRect place({0, 0}, card);
    const auto along = [&](int start, int length, int low, int high) {
        return std::clamp(start, low, std::max(low, high - length));
    };
    const int x = along(target.left(), card.width(), window.left() + gap, window.right() - gap);
    const int y = along(target.top(), card.height(), window.top() + gap, window.bottom() - gap);
    if (target.isEmpty())
        place.moveCenter(window.center());
    else if (target.right() < window.width() / 3)
        place.moveTo(target.right() + gap, y);
    else if (window.bottom() - target.bottom() >= card.height() + 2 * gap)
        place.moveTo(x, target.bottom() + gap);
    else if (target.top() - window.top() >= card.height() + 2 * gap)
        place.moveTo(x, target.top() - gap - card.height());
    else if (window.right() - target.right() >= card.width() + 2 * gap)
        place.moveTo(target.right() + gap, y);
    else if (target.left() - window.left() >= card.width() + 2 * gap)
        place.moveTo(target.left() - gap - card.width(), y);
    else
        place.moveBottomRight(target.bottomRight() - QPoint(gap, gap));
    return place;
}

}  // namespace

Tour::Tour(std::vector<TourStop> stops, QWidget* window)
    : QWidget(window), m_stops(std::move(stops)), m_ring(new Ring(window)) {
    setObjectName(QStringLiteral("tour"));
    setAttribute(Qt::WA_DeleteOnClose);
    setFocusPolicy(Qt::StrongFocus);
    const CardMetrics metrics(font());
    const int margin = metrics.padding * 3 / 2;
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(margin, margin, margin, margin);
    column->setSpacing(metrics.padding / 2);
    m_title = new QLabel(this);
    m_title->setObjectName(QStringLiteral("tourTitle"));
    m_title->setFont(metrics.title);
    m_text = new QLabel(this);
    m_text->setObjectName(QStringLiteral("tourText"));
    m_text->setWordWrap(true);
    m_text->setFixedWidth(fontMetrics().averageCharWidth() * textChars);
    column->addWidget(m_title);
    column->addWidget(m_text);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(0, metrics.padding / 2, 0, 0);
    m_count = mutedLabel({}, this);
    m_count->setObjectName(QStringLiteral("tourCount"));
    row->addWidget(m_count);
    row->addStretch(1);
    const auto add = [&](const QString& text, const char* name, auto slot) {
        auto* button = new QPushButton(text, this);
        button->setObjectName(QLatin1String(name));
        connect(button, &QPushButton::clicked, this, slot);
        row->addWidget(button);
        return button;
    };
    add(tr("Skip"), "tourSkip", &Tour::leave);
    m_back = add(tr("Back"), "tourBack", &Tour::back);
    m_next = add(tr("Next"), "tourNext", &Tour::next);
    m_next->setDefault(true);
    column->addLayout(row);
    window->installEventFilter(this);
    connect(this, &QObject::destroyed, m_ring, &QObject::deleteLater);
    showStop(0);
    show();
    m_next->setFocus();
}

void Tour::showStop(int index) {
    m_current = index;
    const TourStop& stop = m_stops.at(static_cast<std::size_t>(index));
    if (stop.prepare) stop.prepare();
    m_title->setText(stop.title);
    m_text->setText(stop.text);
    m_count->setText(tr("%1 of %2").arg(index + 1).arg(count()));
    m_back->setEnabled(index > 0);
    m_next->setText(index + 1 == count() ? tr("Done") : tr("Next"));
    setAccessibleName(stop.title);
    setAccessibleDescription(stop.text);
    QAccessibleEvent changed(this, QAccessible::NameChanged);
    QAccessible::updateAccessibility(&changed);
    place();
    // A page that has just been shown, or scrolled, has its final places later.
    QTimer::singleShot(0, this, &Tour::place);
}

void Tour::place() {
    const TourStop& stop = m_stops.at(static_cast<std::size_t>(m_current));
    const QRect whole = parentWidget()->rect();
    const QRect target = stop.place ? stop.place().intersected(whole) : QRect();
    layout()->activate();
    const CardMetrics metrics(font());
    setGeometry(beside(target, sizeHint(), whole, metrics.spacing + ringWidth));
    m_ring->setVisible(!target.isEmpty());
    m_ring->setGeometry(target.adjusted(-ringWidth, -ringWidth, ringWidth, ringWidth));
    m_ring->raise();
    raise();
}

void Tour::next() {
    if (m_current + 1 < count())
        showStop(m_current + 1);
    else
        leave();
}

void Tour::back() {
    if (m_current > 0) showStop(m_current - 1);
}

void Tour::leave() {
    if (std::exchange(m_ended, true)) return;
    m_ring->hide();
    emit ended();
    close();
}

bool Tour::event(QEvent* event) {
    // Escape means the tour here, not the run.
    if (event->type() == QEvent::ShortcutOverride &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    return QWidget::event(event);
}

void Tour::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Right:
        case Qt::Key_Return:
        case Qt::Key_Enter: next(); break;
        case Qt::Key_Left: back(); break;
        case Qt::Key_Escape: leave(); break;
        default: QWidget::keyPressEvent(event);
    }
}

bool Tour::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parentWidget() && event->type() == QEvent::Resize)
        QTimer::singleShot(0, this, &Tour::place);
    return QWidget::eventFilter(watched, event);
}

void Tour::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const ThemeColors& colors = themeColors(palette());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colors.accent, 1.5));
    painter.setBrush(colors.card);
    const int radius = CardMetrics(font()).radius;
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), radius, radius);
}

}  // namespace decodescope
