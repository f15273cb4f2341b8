// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRect>
#include <QString>
#include <QWidget>

#include <functional>
#include <vector>

class QLabel;
class QPushButton;

namespace decodescope {

/// One card of a tour.
struct TourStop {
    QString title;
    QString text;
    /// Brings what the card is about on screen; may be empty.
    std::function<void()> prepare;
    /// What it points at, in coordinates of the window; may be empty when it is not there.
    std::function<QRect()> place;
};

/// A few cards over the window, one after the other, each beside what it is about, with a ring around that.
/// The window stays in use behind them. Right or Enter goes on, Left goes back, Escape leaves.
class Tour : public QWidget {
    Q_OBJECT
public:
    /// A child of `window`; shows the first card. Deletes itself in the end.
    Tour(std::vector<TourStop> stops, QWidget* window);

    int current() const { return m_current; }
    int count() const { return static_cast<int>(m_stops.size()); }
    void next();
    void back();
    void leave();

signals:
    /// Gone through, or left.
    void ended();

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void showStop(int index);
    void place();

    std::vector<TourStop> m_stops;
    int m_current = 0;
    bool m_ended = false;
    QWidget* m_ring;
    QLabel* m_title;
    QLabel* m_text;
    QLabel* m_count;
    QPushButton* m_back;
    QPushButton* m_next;
};

}  // namespace decodescope
