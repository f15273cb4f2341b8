// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollBar>

class QAbstractScrollArea;

namespace decodescope {

/// A narrow scroll bar without arrows that stays in the background: a rounded handle, no groove.
class SlimScrollBar : public QScrollBar {
    Q_OBJECT

public:
    explicit SlimScrollBar(QWidget* parent = nullptr) : QScrollBar(Qt::Vertical, parent) {}
    /// Gives `area` one as its vertical scroll bar.
    static void install(QAbstractScrollArea* area);

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace decodescope
