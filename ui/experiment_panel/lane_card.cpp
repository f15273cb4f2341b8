// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/lane_card.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QRegularExpressionValidator>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

constexpr int largestCapacity = 1'000'000;

// The ways of decoding that one list offers: mode and cache kind together.
struct Kind {
    LaneMode mode;
    CacheKind cache;
    const char* text;
    const char* toolTip;
};

constexpr Kind kinds[] = {
    {LaneMode::naive, CacheKind::none, QT_TRANSLATE_NOOP("LaneCard", "naive, no cache"),
     QT_TRANSLATE_NOOP("LaneCard", "Every step runs the whole text again")},
    {LaneMode::cached, CacheKind::static_, QT_TRANSLATE_NOOP("LaneCard", "cached, static"),
     QT_TRANSLATE_NOOP("LaneCard", "Keys and values are written into memory reserved at the start")},
    {LaneMode::cached, CacheKind::concat, QT_TRANSLATE_NOOP("LaneCard", "cached, concat"),
     QT_TRANSLATE_NOOP("LaneCard", "Every step copies all keys and values into a larger block")},
};

QString text(const char* source) {
    return QCoreApplication::translate("LaneCard", source);
}

}  // namespace

QString laneDescription(const LaneSpec& spec) {
    QStringList parts;
    if (spec.mode == LaneMode::naive)
        parts << text("whole prefix every step");
    else if (spec.cache.kind == CacheKind::concat)
        parts << text("concat cache, copied on every step");
    else
        parts << text("static cache, reserved at the start");
    if (spec.cache.capacity > 0) parts << text("capacity %1").arg(spec.cache.capacity);
    if (!spec.prefill_partition.empty())
        parts << text("prefill in chunks of %1").arg(prefillText(spec));
    else if (spec.prefill_chunk > 0)
        parts << text("prefill in chunks of %1").arg(spec.prefill_chunk);
    if (spec.allocation == AllocationPolicy::fresh) parts << text("fresh buffers every step");
    return parts.join(QStringLiteral(" · "));
}

QString prefillText(const LaneSpec& spec) {
    if (!spec.prefill_partition.empty()) {
        QStringList sizes;
        for (const int size : spec.prefill_partition) sizes << QString::number(size);
        return sizes.join(QStringLiteral(", "));
    }
    return spec.prefill_chunk > 0 ? QString::number(spec.prefill_chunk) : QString();
}

bool setPrefill(LaneSpec& spec, const QString& text) {
    std::vector<int> sizes;
    for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        bool ok = false;
        const int size = part.trimmed().toInt(&ok);
        if (!ok || size < 1) return false;
        sizes.push_back(size);
    }
    const bool partition = text.contains(QLatin1Char(','));
    spec.prefill_chunk = partition || sizes.empty() ? 0 : sizes.front();
    spec.prefill_partition = partition ? sizes : std::vector<int>();
    return true;
}

LaneCard::LaneCard(QWidget* parent) : Card(parent) {
    const CardMetrics metrics(font());
    auto* head = new QHBoxLayout;
    head->setSpacing(metrics.padding / 2);
    m_swatch = new Swatch(ColorRef::lane(0), this);
    m_name = new QLabel(this);
    m_name->setFont(metrics.title);
    m_name->setTextFormat(Qt::PlainText);
    m_badge = mutedLabel(tr("reference"), this);
    m_more = new QToolButton(this);
    m_more->setObjectName(QStringLiteral("laneMore"));
    m_more->setText(QStringLiteral("⋯"));
    m_more->setCheckable(true);
    m_more->setAutoRaise(true);
    m_more->setToolTip(tr("Show or hide this lane's settings"));
    head->addWidget(m_swatch);
    head->addWidget(m_name, 1);
    head->addWidget(m_badge);
    head->addWidget(m_more);
    m_description = mutedLabel({}, this);
    m_description->setWordWrap(true);
    content()->setSpacing(0);
    content()->addLayout(head);
    content()->addWidget(m_description);
    buildForm();
    content()->addWidget(m_form);
    m_form->hide();
    connect(m_more, &QToolButton::toggled, m_form, &QWidget::setVisible);
}

void LaneCard::buildForm() {
    const CardMetrics metrics(font());
    m_form = new QWidget(this);
    auto* form = new QFormLayout(m_form);
    form->setContentsMargins(0, metrics.padding, 0, 0);
    form->setSpacing(metrics.padding / 2);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setRowWrapPolicy(QFormLayout::DontWrapRows);

    m_nameEdit = new QLineEdit(m_form);
    m_nameEdit->setObjectName(QStringLiteral("laneName"));
    m_nameEdit->setAccessibleName(tr("Lane name"));
    m_nameEdit->setToolTip(tr("What this lane is called in tables, charts and files"));
    form->addRow(tr("Name"), m_nameEdit);

    m_kind = new QComboBox(m_form);
    m_kind->setObjectName(QStringLiteral("laneKind"));
    m_kind->setAccessibleName(tr("Way of decoding"));
    for (const Kind& kind : kinds) {
        m_kind->addItem(text(kind.text));
        m_kind->setItemData(m_kind->count() - 1, text(kind.toolTip), Qt::ToolTipRole);
    }
    m_kind->setToolTip(tr("How the next token's logits are computed, and how keys and values are stored"));
    guardWheel(m_kind);
    form->addRow(tr("Way"), m_kind);

    m_capacity = new QSpinBox(m_form);
    m_capacity->setObjectName(QStringLiteral("laneCapacity"));
    m_capacity->setAccessibleName(tr("Cache capacity in tokens"));
    m_capacity->setRange(0, largestCapacity);
    m_capacity->setSpecialValueText(tr("as needed"));
    m_capacity->setToolTip(
        tr("Tokens that a static cache holds; as needed = prompt and new tokens, less one"));
    guardWheel(m_capacity);
    form->addRow(tr("Capacity"), m_capacity);

    m_prefill = new QLineEdit(m_form);
    m_prefill->setObjectName(QStringLiteral("lanePrefill"));
    m_prefill->setAccessibleName(tr("Prefill chunks"));
    m_prefill->setPlaceholderText(tr("whole prompt"));
    m_prefill->setValidator(new QRegularExpressionValidator(
        QRegularExpression(QStringLiteral("[0-9]{0,7}( *, *[0-9]{0,7})*")), m_prefill));
    m_prefill->setToolTip(tr("Tokens per prefill call, such as 16, or every chunk's size, such as 4, 3, 2"));
    form->addRow(tr("Prefill by"), m_prefill);

    m_allocation = new QComboBox(m_form);
    m_allocation->setObjectName(QStringLiteral("laneAllocation"));
    m_allocation->setAccessibleName(tr("Work buffers"));
    m_allocation->addItem(tr("reused"));
    m_allocation->addItem(tr("fresh every step"));
    m_allocation->setToolTip(tr("Keep work buffers for the whole run, or allocate them for every step"));
    guardWheel(m_allocation);
    form->addRow(tr("Buffers"), m_allocation);

    m_reference = new QCheckBox(tr("Reference for the others"), m_form);
    m_reference->setObjectName(QStringLiteral("laneReference"));
    m_reference->setToolTip(tr("The other lanes' logits, tokens and times are compared with this lane"));
    form->addRow(m_reference);

    m_remove = new QToolButton(m_form);
    m_remove->setObjectName(QStringLiteral("laneRemove"));
    m_remove->setText(tr("Remove lane"));
    form->addRow(m_remove);

    connect(m_nameEdit, &QLineEdit::textEdited, this, &LaneCard::readForm);
    connect(m_kind, &QComboBox::currentIndexChanged, this, &LaneCard::readForm);
    connect(m_capacity, &QSpinBox::valueChanged, this, &LaneCard::readForm);
    connect(m_prefill, &QLineEdit::textEdited, this, &LaneCard::readForm);
    connect(m_allocation, &QComboBox::currentIndexChanged, this, &LaneCard::readForm);
    connect(m_reference, &QCheckBox::clicked, this, [this](bool checked) {
        // One lane is always the reference: it stops being it when another one is chosen.
        if (checked)
            emit referenceChosen();
        else
            m_reference->setChecked(true);
    });
    connect(m_remove, &QToolButton::clicked, this, &LaneCard::removeRequested);
}

void LaneCard::setLane(const LaneSpec& spec, int index, bool reference, bool removable) {
    m_filling = true;
    m_spec = spec;
    m_swatch->setColor(ColorRef::lane(index));
    m_badge->setVisible(reference);
    const QString name = QString::fromStdString(spec.name);
    if (m_nameEdit->text() != name) m_nameEdit->setText(name);
    for (int i = 0; i < m_kind->count(); ++i) {
        if (kinds[i].mode == spec.mode && (spec.mode == LaneMode::naive || kinds[i].cache == spec.cache.kind))
            m_kind->setCurrentIndex(i);
    }
    m_capacity->setValue(spec.cache.capacity);
    LaneSpec shown = spec;
    if (!setPrefill(shown, m_prefill->text()) || shown.prefill_chunk != spec.prefill_chunk ||
        shown.prefill_partition != spec.prefill_partition)
        m_prefill->setText(prefillText(spec));
    m_allocation->setCurrentIndex(spec.allocation == AllocationPolicy::fresh ? 1 : 0);
    m_reference->setChecked(reference);
    m_remove->setVisible(removable);
    m_filling = false;
    updateTexts();
}

void LaneCard::setFormVisible(bool visible) {
    m_more->setChecked(visible);
}

bool LaneCard::isFormVisible() const {
    return m_more->isChecked();
}

void LaneCard::readForm() {
    if (m_filling) return;
    m_spec.name = m_nameEdit->text().trimmed().toStdString();
    const Kind& kind = kinds[m_kind->currentIndex()];
    m_spec.mode = kind.mode;
    m_spec.cache.kind = kind.cache;
    m_spec.cache.capacity = kind.cache == CacheKind::static_ ? m_capacity->value() : 0;
    if (kind.mode == LaneMode::naive)
        setPrefill(m_spec, {});
    else
        setPrefill(m_spec, m_prefill->text());
    m_spec.allocation =
        m_allocation->currentIndex() == 1 ? AllocationPolicy::fresh : AllocationPolicy::reused;
    updateTexts();
    emit edited();
}

void LaneCard::updateTexts() {
    const QString name = QString::fromStdString(m_spec.name);
    m_name->setText(name.isEmpty() ? tr("(no name)") : name);
    m_description->setText(laneDescription(m_spec));
    m_more->setAccessibleName(tr("Settings of lane %1").arg(name));
    m_remove->setAccessibleName(tr("Remove lane %1").arg(name));
    m_reference->setAccessibleName(tr("Lane %1 is the reference").arg(name));
    setAccessibleName(tr("Lane %1").arg(name));
    const bool cached = m_spec.mode == LaneMode::cached;
    auto* form = qobject_cast<QFormLayout*>(m_form->layout());
    form->setRowVisible(m_capacity, m_spec.cache.kind == CacheKind::static_);
    form->setRowVisible(m_prefill, cached);
}

}  // namespace decodescope
