// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QPainter;
class QVBoxLayout;

namespace decodescope {

struct ThemeColors;

/// Measures of a card, all from the font, so that they follow its size.
struct CardMetrics {
    explicit CardMetrics(const QFont& font);
    int radius = 0;    ///< of the corners
    int padding = 0;   ///< from the border to the content
    int spacing = 0;   ///< between cards, and between blocks inside one
    int line = 0;      ///< height of one line of normal text
    QFont text;        ///< the widget's font
    QFont small_text;  ///< labels and explanations
    QFont title;       ///< bold
};

/// Draws the rounded surface with its border that every card has.
void paintCard(QPainter& painter, const QRectF& rect, const ThemeColors& colors, qreal radius);

/// A white rounded box on the grey window: a title with an explanation in muted text, and content below.
/// Charts draw the same look themselves; put other widgets in a card.
class Card : public QWidget {
    Q_OBJECT
public:
    explicit Card(QWidget* parent = nullptr);
    explicit Card(const QString& title, const QString& subtitle = {}, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    /// Unit or explanation behind the title, muted.
    void setSubtitle(const QString& subtitle);
    /// A short text at the right end of the title line, muted.
    void setCorner(const QString& text);
    QString title() const { return m_title; }
    /// Where the content goes, below the title line.
    QVBoxLayout* content() { return m_content; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void updateMargins();

    QString m_title;
    QString m_subtitle;
    QString m_corner;
    QVBoxLayout* m_content = nullptr;
};

}  // namespace decodescope
