// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>

class QAction;

namespace decodescope {

/// A button of the tool bar that stands for an action: its text, tooltip, state and shortcut are the
/// action's.
class BarButton : public QAbstractButton {
    Q_OBJECT

public:
    enum class Look {
        primary,  ///< filled: the main thing to do
        plain,    ///< with a border
        tab,      ///< flat; tinted while checked
    };
    enum class Symbol { none, play, step, pause, stop };

    /// As wide as with this text too, so that nothing moves when the action says it.
    void reserveFor(const QString& text);
    void setSymbol(Symbol symbol);

    BarButton(QAction* action, Look look, Symbol symbol = Symbol::none, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void syncWithAction();
    QFont textFont() const;

    QAction* m_action;
    Look m_look;
    Symbol m_symbol;
    QString m_widest;  // of the texts it may have
};

}  // namespace decodescope
