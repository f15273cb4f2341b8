// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace decodescope {

/// One calm sentence above the pages, with a button that puts it away, at times with a choice. Nothing waits
/// for it.
class MessageBar : public QWidget {
    Q_OBJECT

public:
    enum class Kind { info, warning, error };

    explicit MessageBar(QWidget* parent = nullptr);

    void showMessage(Kind kind, const QString& sentence);
    /// A button behind the sentence on show; the message goes away with the click, then `chosen` is called.
    void addChoice(const QString& text, std::function<void()> chosen);
    void clear();
    QString message() const;
    Kind kind() const { return m_kind; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void removeChoices();

    Kind m_kind = Kind::info;
    QLabel* m_label;
    QHBoxLayout* m_choices;
    QToolButton* m_close;
};

}  // namespace decodescope
