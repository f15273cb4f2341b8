// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/form_fields.h"

#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QRegularExpressionValidator>
#include <QSpinBox>
#include <QToolButton>

#include "ui/theme/card.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

namespace {

constexpr int realDigits = 12;
constexpr int leastChars = 9;

template <class Widget>
Widget* named(Widget* widget, const char* objectName, const QString& accessibleName, const QString& toolTip) {
    widget->setObjectName(QLatin1String(objectName));
    widget->setAccessibleName(accessibleName);
    widget->setToolTip(toolTip);
    // The panel may be narrow: a field shrinks before it is cut off.
    widget->setMinimumWidth(widget->fontMetrics().averageCharWidth() * leastChars);
    return widget;
}

}  // namespace

RealBox::RealBox(QWidget* parent) : QDoubleSpinBox(parent) {
    setDecimals(realDigits);
}

QString RealBox::textFromValue(double value) const {
    return locale().toString(value, 'g', realDigits);
}

QSpinBox* spinBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                  const QString& toolTip, int minimum, int maximum) {
    auto* box = named(new QSpinBox(parent), objectName, accessibleName, toolTip);
    box->setRange(minimum, maximum);
    box->setKeyboardTracking(false);
    guardWheel(box);
    return box;
}

RealBox* realBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                 const QString& toolTip, double minimum, double maximum, double step) {
    auto* box = named(new RealBox(parent), objectName, accessibleName, toolTip);
    box->setRange(minimum, maximum);
    box->setSingleStep(step);
    box->setKeyboardTracking(false);
    guardWheel(box);
    return box;
}

QComboBox* comboBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                    const QString& toolTip) {
    auto* box = named(new QComboBox(parent), objectName, accessibleName, toolTip);
    // Long entries must not make the panel wide.
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(leastChars);
    guardWheel(box);
    return box;
}

QLineEdit* lineEdit(QWidget* parent, const char* objectName, const QString& accessibleName,
                    const QString& toolTip, const QString& placeholder) {
    auto* edit = named(new QLineEdit(parent), objectName, accessibleName, toolTip);
    edit->setPlaceholderText(placeholder);
    return edit;
}

QLineEdit* seedEdit(QWidget* parent, const char* objectName, const QString& accessibleName,
                    const QString& toolTip) {
    auto* edit = lineEdit(parent, objectName, accessibleName, toolTip);
    edit->setValidator(
        new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,20}")), edit));
    return edit;
}

QPlainTextEdit* textBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                        const QString& placeholder) {
    auto* edit = named(new QPlainTextEdit(parent), objectName, accessibleName, accessibleName);
    edit->setPlaceholderText(placeholder);
    edit->setTabChangesFocus(true);
    SlimScrollBar::install(edit);
    setVisibleLines(edit, 3);
    return edit;
}

void setVisibleLines(QPlainTextEdit* edit, int lines) {
    const QFontMetrics metrics = edit->fontMetrics();
    edit->setFixedHeight(metrics.lineSpacing() * lines + 2 * metrics.descent() + metrics.height() / 2);
}

QToolButton* foldButton(QWidget* parent, const char* objectName, const QString& text, QWidget* content) {
    auto* button = named(new QToolButton(parent), objectName, text, QString());
    button->setMinimumWidth(0);
    button->setToolTip(QToolButton::tr("Show or hide these settings"));
    button->setText(text);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setArrowType(Qt::RightArrow);
    button->setCheckable(true);
    button->setAutoRaise(true);
    button->setForegroundRole(QPalette::PlaceholderText);
    content->hide();
    QObject::connect(button, &QToolButton::toggled, content, [button, content](bool open) {
        button->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
        content->setVisible(open);
    });
    return button;
}

QFormLayout* plainForm(QWidget* parent) {
    auto* form = new QFormLayout(parent);
    form->setContentsMargins(0, 0, 0, 0);
    form->setSpacing(CardMetrics(parent->font()).padding / 2);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setRowWrapPolicy(QFormLayout::DontWrapRows);
    return form;
}

std::vector<std::int32_t> parseIds(const QString& text) {
    std::vector<std::int32_t> ids;
    static const QRegularExpression separators(QStringLiteral("[\\s,\\[\\]]+"));
    for (const QString& part : text.split(separators, Qt::SkipEmptyParts)) {
        bool ok = false;
        const int id = part.toInt(&ok);
        ids.push_back(ok ? id : -1);
    }
    return ids;
}

QString idsText(const std::vector<std::int32_t>& ids) {
    QStringList parts;
    for (const std::int32_t id : ids) parts << QString::number(id);
    return parts.join(QLatin1Char(' '));
}

}  // namespace decodescope
