// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/prompt_card.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/experiment_panel/form_fields.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

enum Kind { asText, asIds, asRandom };
constexpr int usualRandomLength = 32;

QToolButton* smallButton(QWidget* parent, const char* objectName, const QString& text,
                         const QString& toolTip) {
    auto* button = new QToolButton(parent);
    button->setObjectName(QLatin1String(objectName));
    button->setText(text);
    button->setAutoRaise(true);
    button->setToolTip(toolTip);
    button->setAccessibleName(toolTip);
    return button;
}

}  // namespace

PromptCard::PromptCard(QWidget* parent) : Card(parent) {
    const CardMetrics metrics(font());
    content()->setSpacing(metrics.padding / 2);
    content()->addWidget(buildHead());
    m_text = textBox(this, "promptEdit", tr("Prompt text"), tr("What the text begins with"));
    m_ids = textBox(this, "promptIds", tr("Prompt token ids"), tr("15496 995"));
    m_random = buildRandom();
    content()->addWidget(m_text);
    content()->addWidget(m_ids);
    content()->addWidget(m_random);
    QWidget* advanced = buildAdvanced();
    content()->addWidget(advanced);
    advanced->hide();
    connect(m_fold, &QToolButton::toggled, advanced, &QWidget::setVisible);
    m_problem = new ToneLabel(this);
    m_problem->setObjectName(QStringLiteral("promptProblem"));
    m_problem->setTone({ColorRef::Role::bad, 0});
    m_problem->setWordWrap(true);
    m_problem->setTextFormat(Qt::PlainText);
    m_problem->hide();
    content()->addWidget(m_problem);

    const auto changed = [this] {
        if (!m_filling) emit edited();
    };
    connect(m_kind, &QComboBox::currentIndexChanged, this, [this, changed] {
        updateVisibility();
        changed();
    });
    connect(m_kind, &QComboBox::activated, this, [this] { m_textImpossible = false; });
    for (QPlainTextEdit* edit : {m_text, m_ids}) connect(edit, &QPlainTextEdit::textChanged, this, changed);
    for (QSpinBox* box : {m_length, m_arrival, m_cancel})
        connect(box, &QSpinBox::valueChanged, this, changed);
    for (QLineEdit* edit : {m_seed, m_isolation}) connect(edit, &QLineEdit::textEdited, this, changed);
    connect(m_control, &QCheckBox::toggled, this, changed);
    connect(m_duplicate, &QToolButton::clicked, this, &PromptCard::duplicateRequested);
    connect(m_remove, &QToolButton::clicked, this, &PromptCard::removeRequested);
}

QWidget* PromptCard::buildHead() {
    const CardMetrics metrics(font());
    auto* head = new QWidget(this);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(metrics.padding / 2);
    m_number = new QLabel(head);
    m_number->setFont(metrics.title);
    m_kind = comboBox(head, "promptKind", tr("Kind of prompt"),
                      tr("Give the prompt as text, as token ids, or draw it at random"));
    m_kind->addItems({tr("text"), tr("token ids"), tr("random ids")});
    m_duplicate = smallButton(head, "promptDuplicate", tr("Copy"), tr("Add a copy of this prompt"));
    m_remove = smallButton(head, "promptRemove", QStringLiteral("×"), tr("Remove this prompt"));
    row->addWidget(m_number);
    row->addWidget(m_kind, 1);
    m_fold = smallButton(head, "promptAdvanced", QStringLiteral("⋯"),
                         tr("Show or hide when this request comes and goes, and with whom it shares"));
    m_fold->setCheckable(true);
    row->addWidget(m_duplicate);
    row->addWidget(m_remove);
    row->addWidget(m_fold);
    return head;
}

QWidget* PromptCard::buildRandom() {
    auto* random = new QWidget(this);
    QFormLayout* form = plainForm(random);
    m_length = spinBox(random, "promptLength", tr("Prompt length in tokens"),
                       tr("Tokens of the random prompt"), 0, largestCount);
    m_seed = seedEdit(random, "promptSeed", tr("Prompt seed"), tr("The same seed draws the same ids"));
    form->addRow(tr("Length"), m_length);
    form->addRow(tr("Seed"), m_seed);
    return random;
}

QWidget* PromptCard::buildAdvanced() {
    auto* advanced = new QWidget(this);
    QFormLayout* form = plainForm(advanced);
    m_control = new QCheckBox(tr("Control tokens"), advanced);
    m_control->setObjectName(QStringLiteral("promptControl"));
    m_control->setToolTip(
        tr("Take control tokens such as <|im_start|> in the text as such, instead of as the characters they "
           "are written with"));
    m_isolation =
        lineEdit(advanced, "promptIsolation", tr("Isolation group"),
                 tr("Requests share cached prefixes only with those of the same group"), tr("shared by all"));
    m_arrival = spinBox(advanced, "promptArrival", tr("Arrival step"),
                        tr("Continuous batch: the step of the lane before which this request comes"), 0,
                        largestCount);
    m_arrival->setSpecialValueText(tr("at the start"));
    m_cancel = spinBox(advanced, "promptCancel", tr("Cancel after"),
                       tr("The request is cancelled once it has this many new tokens"), 0, largestCount);
    m_cancel->setSpecialValueText(tr("never"));
    form->addRow({}, m_control);
    form->addRow(tr("Group"), m_isolation);
    form->addRow(tr("Arrives"), m_arrival);
    form->addRow(tr("Cancel after"), m_cancel);
    return advanced;
}

void PromptCard::setPrompt(const PromptSpec& prompt, int number, bool removable) {
    m_filling = true;
    m_spec = prompt;
    m_textImpossible = false;
    m_number->setText(QString::number(number));
    m_number->setVisible(number > 0);
    for (QPlainTextEdit* edit : {m_text, m_ids}) setVisibleLines(edit, number > 0 ? 2 : 3);
    m_remove->setVisible(removable);
    setAccessibleName(number > 0 ? tr("Prompt %1").arg(number) : tr("Prompt"));
    m_kind->setCurrentIndex(prompt.kind == PromptSpec::Kind::text  ? asText
                            : prompt.kind == PromptSpec::Kind::ids ? asIds
                                                                   : asRandom);
    // Setting a text anew would move its cursor while somebody writes in it.
    const QString text = QString::fromStdString(prompt.text);
    if (m_text->toPlainText() != text) m_text->setPlainText(text);
    if (parseIds(m_ids->toPlainText()) != prompt.ids) m_ids->setPlainText(idsText(prompt.ids));
    m_length->setValue(prompt.kind == PromptSpec::Kind::random || prompt.length > 0 ? prompt.length
                                                                                    : usualRandomLength);
    if (m_seed->text().toULongLong() != prompt.seed || m_seed->text().isEmpty())
        m_seed->setText(QString::number(prompt.seed));
    m_control->setChecked(prompt.control);
    m_isolation->setText(QString::fromStdString(prompt.isolation));
    m_arrival->setValue(prompt.arrival_step);
    m_cancel->setValue(prompt.cancel_after);
    m_filling = false;
    updateVisibility();
}

PromptSpec PromptCard::prompt() const {
    PromptSpec made;
    switch (m_kind->currentIndex()) {
        case asText:
            made.kind = PromptSpec::Kind::text;
            made.text = m_text->toPlainText().toStdString();
            made.control = m_control->isChecked();
            break;
        case asIds:
            made.kind = PromptSpec::Kind::ids;
            made.ids = parseIds(m_ids->toPlainText());
            break;
        default:
            made.kind = PromptSpec::Kind::random;
            made.length = m_length->value();
            made.seed = m_seed->text().toULongLong();
    }
    made.isolation = m_isolation->text().toStdString();
    made.arrival_step = m_arrival->value();
    made.cancel_after = m_cancel->value();
    return made;
}

void PromptCard::setTextPossible(bool possible) {
    auto* items = qobject_cast<QStandardItemModel*>(m_kind->model());
    items->item(asText)->setEnabled(possible);
    if (!possible && m_kind->currentIndex() == asText) {
        m_kind->setCurrentIndex(asRandom);
        m_textImpossible = true;
    } else if (possible && m_textImpossible) {
        m_kind->setCurrentIndex(asText);
        m_textImpossible = false;
    }
}

void PromptCard::setProblem(const QString& sentence) {
    m_problem->setText(sentence);
    m_problem->setVisible(!sentence.isEmpty());
    if (!sentence.isEmpty() &&
        (sentence.contains(QLatin1String("arrival_step")) ||
         sentence.contains(QLatin1String("cancel_after")) || sentence.contains(QLatin1String("isolation"))))
        m_fold->setChecked(true);
}

void PromptCard::updateVisibility() {
    m_text->setVisible(m_kind->currentIndex() == asText);
    m_control->setEnabled(m_kind->currentIndex() == asText);
    m_ids->setVisible(m_kind->currentIndex() == asIds);
    m_random->setVisible(m_kind->currentIndex() == asRandom);
}

}  // namespace decodescope
