// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStatusBar>
#include <QWidget>

namespace decodescope {

/// A flat strip in the panel's colour with a line below: the place of the tool bar's buttons.
class HeaderBar : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// A status bar in the panel's colour with a line above, without frames around its parts.
class FlatStatusBar : public QStatusBar {
    Q_OBJECT
public:
    using QStatusBar::QStatusBar;

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace decodescope
