// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/lane_card.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/experiment_panel/form_fields.h"
#include "ui/experiment_panel/lane_form.h"
#include "ui/experiment_panel/lane_kinds.h"
#include "ui/help/fault_kinds.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

/// A name that only says the kind and what it computes with; it changes with them.
std::string plainNameOf(const LaneSpec& lane) {
    return laneKinds().at(laneKindOf(lane)).lane.name + lane_modifiers(lane);
}
bool hasPlainName(const LaneSpec& lane) {
    return lane.name.empty() || lane.name.starts_with(laneKinds().at(laneKindOf(lane)).lane.name);
}

}  // namespace

LaneCard::LaneCard(QWidget* parent) : Card(parent) {
    const CardMetrics metrics(font());
    content()->setSpacing(metrics.padding / 4);
    content()->addWidget(buildHead());
    m_description = mutedLabel({}, this);
    m_description->setObjectName(QStringLiteral("laneDescription"));
    m_description->setWordWrap(true);
    content()->addWidget(m_description);
    m_faults = new ToneLabel(this);
    m_faults->setObjectName(QStringLiteral("laneFaults"));
    m_faults->setTone({ColorRef::Role::warn, 0});
    m_faults->setFont(metrics.small_text);
    m_faults->setWordWrap(true);
    m_faults->setTextFormat(Qt::PlainText);
    m_faults->hide();
    content()->addWidget(m_faults);
    m_problem = new ToneLabel(this);
    m_problem->setObjectName(QStringLiteral("laneProblem"));
    m_problem->setTone({ColorRef::Role::bad, 0});
    m_problem->setWordWrap(true);
    m_problem->setTextFormat(Qt::PlainText);
    m_problem->hide();
    content()->addWidget(m_problem);

    m_details = new QWidget(this);
    auto* column = new QVBoxLayout(m_details);
    column->setContentsMargins(0, metrics.padding / 2, 0, 0);
    column->setSpacing(metrics.padding / 2);
    m_form = new LaneForm(m_details);
    column->addWidget(m_form);
    m_referenceBox = new QCheckBox(tr("Reference for the others"), m_details);
    m_referenceBox->setObjectName(QStringLiteral("laneReference"));
    m_referenceBox->setToolTip(tr("The other lanes' logits, tokens and times are compared with this lane"));
    m_remove = new QToolButton(m_details);
    m_remove->setObjectName(QStringLiteral("laneRemove"));
    m_remove->setText(tr("Remove lane"));
    m_remove->setToolTip(tr("Take this lane out of the experiment"));
    column->addWidget(m_referenceBox);
    column->addWidget(m_remove, 0, Qt::AlignLeft);
    content()->addWidget(m_details);
    m_details->hide();

    connect(m_more, &QToolButton::toggled, m_details, &QWidget::setVisible);
    connect(m_name, &QLineEdit::textEdited, this, [this](const QString& name) {
        m_spec.name = name.trimmed().toStdString();
        updateTexts();
        emit edited();
    });
    connect(m_kind, &QComboBox::currentIndexChanged, this, &LaneCard::kindChosen);
    connect(m_form, &LaneForm::edited, this, [this] {
        LaneSpec lane = m_form->lane();
        lane.name = m_spec.name;
        const bool renames = lane_modifiers(lane) != lane_modifiers(m_spec) && hasPlainName(m_spec);
        if (renames) lane.name = plainNameOf(lane);
        m_spec = std::move(lane);
        updateTexts();
        if (renames) emit renamed();
        emit edited();
    });
    connect(m_referenceBox, &QCheckBox::clicked, this, [this](bool checked) {
        // One lane is always the reference: it stops being it when another one is chosen.
        if (checked)
            emit referenceChosen();
        else
            m_referenceBox->setChecked(true);
    });
    connect(m_remove, &QToolButton::clicked, this, &LaneCard::removeRequested);
}

QWidget* LaneCard::buildHead() {
    const CardMetrics metrics(font());
    auto* head = new QWidget(this);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(metrics.padding / 2);
    m_swatch = new Swatch(ColorRef::lane(0), head);
    m_name = lineEdit(head, "laneName", tr("Lane name"),
                      tr("What this lane is called in tables, charts and files"), tr("name"));
    m_name->setFont(metrics.title);
    m_kind = comboBox(head, "laneKind", tr("Way of decoding"),
                      tr("How the next token's logits are computed, and how keys and values are stored"));
    fillKinds();
    m_more = new QToolButton(head);
    m_more->setObjectName(QStringLiteral("laneMore"));
    m_more->setText(QStringLiteral("⋯"));
    m_more->setCheckable(true);
    m_more->setAutoRaise(true);
    m_more->setToolTip(tr("Show or hide this lane's settings"));
    row->addWidget(m_swatch);
    row->addWidget(m_name, 1);
    row->addWidget(m_kind, 1);
    row->addWidget(m_more);
    return head;
}

// Kinds stand under the headings of their groups, which cannot be chosen.
void LaneCard::fillKinds() {
    auto* items = qobject_cast<QStandardItemModel*>(m_kind->model());
    QString group;
    const auto& kinds = laneKinds();
    for (int i = 0; i < kinds.size(); ++i) {
        if (kinds[i].group != group) {
            group = kinds[i].group;
            auto* heading = new QStandardItem(group);
            heading->setFlags(Qt::NoItemFlags);
            QFont small = CardMetrics(font()).small_text;
            heading->setFont(small);
            heading->setData(-1, Qt::UserRole);
            items->appendRow(heading);
        }
        m_kind->addItem(kinds[i].title, i);
        m_kind->setItemData(m_kind->count() - 1, kinds[i].toolTip, Qt::ToolTipRole);
    }
    // The list may be wider than the closed box.
    m_kind->setMaxVisibleItems(m_kind->count());
}

void LaneCard::kindChosen(int row) {
    const int kind = m_kind->itemData(row).toInt();
    if (m_filling || kind < 0) return;
    const int before = laneKindOf(m_spec);
    if (kind == before) return;
    const bool plainName = hasPlainName(m_spec);
    m_spec = asKind(m_spec, kind);
    if (plainName) m_spec.name = plainNameOf(m_spec);
    m_form->setLane(m_spec);
    updateTexts();
    if (plainName) emit renamed();
    emit edited();
}

void LaneCard::setLane(const LaneSpec& spec, int index, bool reference, bool removable) {
    m_spec = spec;
    m_reference = reference;
    m_swatch->setColor(ColorRef::lane(index));
    m_form->setLane(spec);
    m_referenceBox->setChecked(reference);
    m_remove->setVisible(removable);
    updateTexts();
}

void LaneCard::setDevices(const CudaDevices& found, const Device& ofExperiment) {
    m_form->setDevices(found, ofExperiment);
}

void LaneCard::setProblem(const QString& sentence) {
    m_problem->setText(sentence);
    m_problem->setVisible(!sentence.isEmpty());
}

QString LaneCard::problem() const {
    return m_problem->text();
}

void LaneCard::setFormVisible(bool visible) {
    m_more->setChecked(visible);
}

bool LaneCard::isFormVisible() const {
    return m_more->isChecked();
}

void LaneCard::updateTexts() {
    m_filling = true;
    const QString name = QString::fromStdString(m_spec.name);
    if (m_name->text().trimmed() != name) {
        m_name->setText(name);
        m_name->setCursorPosition(0);  // of a long name the beginning is in sight
    }
    m_kind->setCurrentIndex(m_kind->findData(laneKindOf(m_spec)));
    m_filling = false;
    const QString words = laneDescription(m_spec);
    m_description->setText(m_reference ? tr("reference · %1").arg(words) : words);
    const auto count = static_cast<int>(m_spec.faults.size());
    m_faults->setVisible(count > 0);
    m_faults->setText(count == 0   ? QString()
                      : count == 1 ? tr("⚠ 1 fault: %1").arg(faultTitles(m_spec.faults))
                                   : tr("⚠ %1 faults: %2").arg(count).arg(faultTitles(m_spec.faults)));
    m_faults->setToolTip(tr("This lane makes these mistakes on purpose; switch them off under Faults"));
    m_more->setAccessibleName(tr("Settings of lane %1").arg(name));
    m_remove->setAccessibleName(tr("Remove lane %1").arg(name));
    m_referenceBox->setAccessibleName(tr("Lane %1 is the reference").arg(name));
    setAccessibleName(tr("Lane %1").arg(name));
}

}  // namespace decodescope
