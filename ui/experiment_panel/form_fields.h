// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDoubleSpinBox>
#include <QString>

#include <cstdint>
#include <vector>

class QComboBox;
class QFormLayout;
class QLineEdit;
class QPlainTextEdit;
class QSpinBox;
class QToolButton;

namespace decodescope {

/// Largest number of tokens, blocks or rows that a field takes.
inline constexpr int largestCount = 1 << 24;

/// A box for a real number that shows as many digits as the number has, and keeps them.
class RealBox : public QDoubleSpinBox {
    Q_OBJECT
public:
    explicit RealBox(QWidget* parent);
    QString textFromValue(double value) const override;
};

// Fields with an object name for tests, a name for screen readers and a tooltip that says what the setting
// means and its unit. The wheel changes them only while they have the focus.
QSpinBox* spinBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                  const QString& toolTip, int minimum, int maximum);
RealBox* realBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                 const QString& toolTip, double minimum, double maximum, double step);
QComboBox* comboBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                    const QString& toolTip);
QLineEdit* lineEdit(QWidget* parent, const char* objectName, const QString& accessibleName,
                    const QString& toolTip, const QString& placeholder = {});
/// For a whole number of up to 64 bits.
QLineEdit* seedEdit(QWidget* parent, const char* objectName, const QString& accessibleName,
                    const QString& toolTip);
/// Some lines of text.
QPlainTextEdit* textBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                        const QString& placeholder);
void setVisibleLines(QPlainTextEdit* edit, int lines);
/// A flat button "▸ text" that shows and hides `content`, hidden at first.
QToolButton* foldButton(QWidget* parent, const char* objectName, const QString& text, QWidget* content);

/// A form without margins, as all parts of the panel have.
QFormLayout* plainForm(QWidget* parent);

/// Token ids separated by spaces or commas. What is no number becomes -1, which no vocabulary has, so that
/// the experiment's own check refuses and names it.
std::vector<std::int32_t> parseIds(const QString& text);
QString idsText(const std::vector<std::int32_t>& ids);

}  // namespace decodescope
