// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QWidget>

#include "ui/theme/theme.h"

class QAbstractButton;

namespace decodescope {

/// A label in muted, slightly smaller text. It follows the theme.
QLabel* mutedLabel(const QString& text, QWidget* parent);
/// A label in capitals above a group of the panel.
QLabel* sectionLabel(const QString& text, QWidget* parent);
/// Keeps the mouse wheel from changing a box or list that has no focus, so that scrolling past it is safe.
void guardWheel(QWidget* widget);

/// A small rounded square in a colour of the theme: a lane, a tensor owner, a state of a cell.
class Swatch : public QWidget {
    Q_OBJECT
public:
    explicit Swatch(ColorRef color, QWidget* parent = nullptr);
    void setColor(ColorRef color);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    ColorRef m_color;
};

/// A label whose text has a colour of the theme.
class ToneLabel : public QLabel {
    Q_OBJECT
public:
    using QLabel::QLabel;
    void setTone(ColorRef tone);

protected:
    void changeEvent(QEvent* event) override;

private:
    void applyTone();

    ColorRef m_tone;
    bool m_applying = false;
};

/// One line of muted text, as `mutedLabel` has it, that ends with an ellipsis where there is no room for all
/// of it; the tool tip then has it all. `text` is the whole text. Takes the room that is left.
class ElidingLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidingLabel(QWidget* parent = nullptr);
    /// What is shown of the text now.
    QString shownText() const;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
};

/// Draws what `Swatch` draws, into a given square.
void paintSwatch(QPainter& painter, const QRectF& rect, const QColor& color);

}  // namespace decodescope
