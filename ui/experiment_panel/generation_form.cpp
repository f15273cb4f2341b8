// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/generation_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/experiment_panel/form_fields.h"
#include "ui/theme/card.h"

namespace decodescope {

GenerationForm::GenerationForm(QWidget* parent) : QWidget(parent), m_form(plainForm(this)) {
    buildFeeding();
    buildSampling();
    buildMore();
    for (QSpinBox* box : findChildren<QSpinBox*>())
        connect(box, &QSpinBox::valueChanged, this, &GenerationForm::edited);
    for (RealBox* box : findChildren<RealBox*>())
        connect(box, &QDoubleSpinBox::valueChanged, this, &GenerationForm::edited);
    for (QLineEdit* edit : {m_fixedIds, m_seed, m_stopIds})
        connect(edit, &QLineEdit::textEdited, this, &GenerationForm::edited);
    connect(m_stopAtEos, &QCheckBox::toggled, this, &GenerationForm::edited);
    for (QComboBox* box : {m_drive, m_sampling}) {
        connect(box, &QComboBox::currentIndexChanged, this, &GenerationForm::updateVisibility);
        connect(box, &QComboBox::currentIndexChanged, this, &GenerationForm::edited);
    }
    updateVisibility();
}

void GenerationForm::buildFeeding() {
    m_newTokens = spinBox(this, "newTokens", tr("New tokens"),
                          tr("Tokens to generate for each prompt: one prefill and one decode step for each "
                             "further token"),
                          1, largestCount);
    m_form->addRow(tr("New tokens"), m_newTokens);
    m_drive = comboBox(this, "drive", tr("Drive"), tr("Which tokens the lanes are fed after the prompt"));
    const auto add = [this](const QString& text, Drive drive, const QString& toolTip) {
        m_drive->addItem(text, static_cast<int>(drive));
        m_drive->setItemData(m_drive->count() - 1, toolTip, Qt::ToolTipRole);
    };
    add(tr("forced"), Drive::forced,
        tr("Every lane is fed the reference lane's tokens, so that logits can be compared at each step"));
    add(tr("free"), Drive::free, tr("Every lane follows its own tokens"));
    add(tr("fixed"), Drive::fixed, tr("Every lane is fed given tokens (teacher forcing)"));
    m_form->addRow(tr("Drive"), m_drive);
    m_fixedIds = lineEdit(this, "fixedIds", tr("Given tokens"),
                          tr("Token ids that are fed after the prompt: one fewer than there are new tokens"),
                          tr("token ids"));
    m_fixedIds->setMaxLength(1 << 20);
    m_form->addRow(tr("Given"), m_fixedIds);
}

void GenerationForm::buildSampling() {
    m_sampling = comboBox(this, "sampling", tr("Sampling"), tr("Take the likeliest token, or draw one"));
    m_sampling->addItems({tr("greedy"), tr("temperature")});
    m_form->addRow(tr("Sampling"), m_sampling);
    m_temperature =
        realBox(this, "temperature", tr("Temperature"),
                tr("Below 1: likelier tokens still likelier. Above 1: more surprise"), 0, 100, 0.1);
    m_form->addRow(tr("Temperature"), m_temperature);
    m_topK = spinBox(this, "topK", tr("Top k"), tr("Draw among this many likeliest tokens"), 0, largestCount);
    m_topK->setSpecialValueText(tr("all"));
    m_form->addRow(tr("Top k"), m_topK);
    m_topP = realBox(this, "topP", tr("Top p"),
                     tr("Draw among the fewest likeliest tokens whose probabilities sum to this; 1 = all"), 0,
                     1, 0.05);
    m_form->addRow(tr("Top p"), m_topP);
    m_minP =
        realBox(this, "minP", tr("Min p"),
                tr("Leave out tokens less likely than this share of the likeliest; 0 = none"), 0, 1, 0.01);
    m_form->addRow(tr("Min p"), m_minP);
    m_seed = seedEdit(this, "seed", tr("Seed"),
                      tr("The same seed draws the same tokens, in every lane with equal logits; each request "
                         "has a stream of its own"));
    m_form->addRow(tr("Seed"), m_seed);
}

void GenerationForm::buildMore() {
    auto* more = new QWidget(this);
    QFormLayout* form = plainForm(more);
    m_penalty =
        realBox(more, "repetitionPenalty", tr("Repetition penalty"),
                tr("Above 1: tokens that the text holds already become less likely; 1 = off"), 0, 10, 0.05);
    form->addRow(tr("Repetition"), m_penalty);
    m_stopIds = lineEdit(more, "stopIds", tr("Stop tokens"),
                         tr("A request that chooses one of these ids ends"), tr("token ids"));
    m_stopIds->setMaxLength(1 << 20);
    form->addRow(tr("Stop at"), m_stopIds);
    m_stopAtEos = new QCheckBox(tr("Stop at the end of text"), more);
    m_stopAtEos->setObjectName(QStringLiteral("stopAtEos"));
    m_stopAtEos->setToolTip(
        tr("A request that chooses the model's end-of-text token ends; else it goes on, so "
           "that every run has as many tokens"));
    form->addRow(m_stopAtEos);
    m_form->addRow(foldButton(this, "generationMore", tr("Advanced"), more));
    m_form->addRow(more);
}

void GenerationForm::setExperiment(const Experiment& experiment) {
    m_newTokens->setValue(experiment.new_tokens);
    m_drive->setCurrentIndex(m_drive->findData(static_cast<int>(experiment.drive)));
    m_fixedIds->setText(idsText(experiment.fixed_ids));
    const Sampling& sampling = experiment.sampling;
    m_sampling->setCurrentIndex(sampling.kind == SamplingKind::sample ? 1 : 0);
    m_temperature->setValue(sampling.temperature);
    m_topK->setValue(sampling.top_k);
    m_topP->setValue(sampling.top_p);
    m_minP->setValue(sampling.min_p);
    m_seed->setText(QString::number(sampling.seed));
    m_penalty->setValue(sampling.repetition_penalty);
    m_stopIds->setText(idsText(experiment.stop_ids));
    m_stopAtEos->setChecked(experiment.stop_at_eos);
    const bool more = sampling.repetition_penalty != 1 || !experiment.stop_ids.empty();
    if (more) findChild<QToolButton*>(QStringLiteral("generationMore"))->setChecked(true);
    updateVisibility();
}

void GenerationForm::writeTo(Experiment& experiment) const {
    experiment.new_tokens = m_newTokens->value();
    experiment.drive = static_cast<Drive>(m_drive->currentData().toInt());
    experiment.fixed_ids =
        experiment.drive == Drive::fixed ? parseIds(m_fixedIds->text()) : std::vector<std::int32_t>();
    Sampling& sampling = experiment.sampling;
    sampling = {};
    if (m_sampling->currentIndex() == 1) {
        sampling.kind = SamplingKind::sample;
        sampling.temperature = m_temperature->value();
        sampling.top_k = m_topK->value();
        sampling.top_p = m_topP->value();
        sampling.min_p = m_minP->value();
        sampling.seed = m_seed->text().toULongLong();
    }
    sampling.repetition_penalty = m_penalty->value();
    experiment.stop_ids = parseIds(m_stopIds->text());
    experiment.stop_at_eos = m_stopAtEos->isChecked();
}

void GenerationForm::updateVisibility() {
    m_form->setRowVisible(m_fixedIds, static_cast<Drive>(m_drive->currentData().toInt()) == Drive::fixed);
    const bool sample = m_sampling->currentIndex() == 1;
    for (QWidget* field : std::initializer_list<QWidget*>{m_temperature, m_topK, m_topP, m_minP, m_seed})
        m_form->setRowVisible(field, sample);
}

}  // namespace decodescope
