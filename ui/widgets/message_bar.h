// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QToolButton;

namespace decodescope {

/// One calm sentence above the pages, with a button that puts it away. Nothing waits for it.
class MessageBar : public QWidget {
    Q_OBJECT

public:
    enum class Kind { info, warning, error };

    explicit MessageBar(QWidget* parent = nullptr);

    void showMessage(Kind kind, const QString& sentence);
    void clear();
    QString message() const;
    Kind kind() const { return m_kind; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Kind m_kind = Kind::info;
    QLabel* m_label;
    QToolButton* m_close;
};

}  // namespace decodescope
