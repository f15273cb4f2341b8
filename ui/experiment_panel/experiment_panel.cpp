// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/experiment_panel.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QRegularExpressionValidator>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/experiment_panel/lane_card.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

namespace {

constexpr int largestCount = 1'000'000;
enum PromptKind { promptAsText, promptIds, promptRandom };

QSpinBox* spinBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                  const QString& toolTip, int minimum, int maximum) {
    auto* box = new QSpinBox(parent);
    box->setObjectName(QLatin1String(objectName));
    box->setAccessibleName(accessibleName);
    box->setToolTip(toolTip);
    box->setRange(minimum, maximum);
    box->setKeyboardTracking(false);
    guardWheel(box);
    return box;
}

QLineEdit* seedEdit(QWidget* parent, const char* objectName, const QString& accessibleName,
                    const QString& toolTip) {
    auto* edit = new QLineEdit(parent);
    edit->setObjectName(QLatin1String(objectName));
    edit->setAccessibleName(accessibleName);
    edit->setToolTip(toolTip);
    edit->setValidator(
        new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,19}")), edit));
    return edit;
}

QPlainTextEdit* textBox(QWidget* parent, const char* objectName, const QString& accessibleName,
                        const QString& placeholder) {
    auto* edit = new QPlainTextEdit(parent);
    edit->setObjectName(QLatin1String(objectName));
    edit->setAccessibleName(accessibleName);
    edit->setPlaceholderText(placeholder);
    edit->setTabChangesFocus(true);
    edit->setFixedHeight(edit->fontMetrics().lineSpacing() * 3 + 2 * edit->fontMetrics().descent() + 8);
    return edit;
}

std::vector<std::int32_t> parseIds(const QString& text) {
    std::vector<std::int32_t> ids;
    static const QRegularExpression separators(QStringLiteral("[\\s,\\[\\]]+"));
    for (const QString& part : text.split(separators, Qt::SkipEmptyParts)) {
        bool ok = false;
        const int id = part.toInt(&ok);
        // -1 is no token of any vocabulary: the run refuses it and names it.
        ids.push_back(ok ? id : -1);
    }
    return ids;
}

QString idsText(const std::vector<std::int32_t>& ids) {
    QStringList parts;
    for (const std::int32_t id : ids) parts << QString::number(id);
    return parts.join(QLatin1Char(' '));
}

std::string freeLaneName(const std::vector<LaneSpec>& lanes, const std::string& wanted) {
    const auto taken = [&](const std::string& name) {
        return std::any_of(lanes.begin(), lanes.end(), [&](const LaneSpec& l) { return l.name == name; });
    };
    std::string name = wanted;
    for (int n = 2; taken(name); ++n) name = wanted + ' ' + std::to_string(n);
    return name;
}

}  // namespace

ExperimentPanel::ExperimentPanel(QWidget* parent) : QWidget(parent) {
    const CardMetrics metrics(font());
    m_scroll = new QScrollArea(this);
    m_scroll->setFrameShape(QFrame::NoFrame);
    SlimScrollBar::install(m_scroll);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_scroll);
    m_body = new QWidget;
    m_scroll->setWidget(m_body);
    m_scroll->viewport()->setAutoFillBackground(false);
    m_body->setAutoFillBackground(false);

    auto* column = new QVBoxLayout(m_body);
    column->setContentsMargins(metrics.padding, metrics.padding, metrics.padding, metrics.padding);
    column->setSpacing(metrics.padding / 2);
    column->addWidget(sectionLabel(tr("Model"), m_body));
    m_model = new ModelCard(m_body);
    column->addWidget(m_model);
    connect(m_model, &ModelCard::chosen, this, &ExperimentPanel::modelChosen);
    connect(m_model, &ModelCard::browseRequested, this, &ExperimentPanel::browseRequested);
    buildPrompt(column);
    buildGeneration(column);
    buildLanes(column);
    buildRun(column);
    column->addStretch(1);
    setAccessibleName(tr("Experiment"));
    setExperiment(Experiment());
}

QFormLayout* ExperimentPanel::addForm(QVBoxLayout* column) {
    auto* form = new QFormLayout;
    form->setSpacing(CardMetrics(font()).padding / 2);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    column->addLayout(form);
    return form;
}

void ExperimentPanel::buildPrompt(QVBoxLayout* column) {
    const CardMetrics metrics(font());
    column->addSpacing(metrics.padding / 2);
    auto* head = new QHBoxLayout;
    head->addWidget(sectionLabel(tr("Prompt"), m_body), 1);
    m_promptKind = new QComboBox(m_body);
    m_promptKind->setObjectName(QStringLiteral("promptKind"));
    m_promptKind->setAccessibleName(tr("Kind of prompt"));
    m_promptKind->setToolTip(tr("Give the prompt as text, as token ids, or draw it at random"));
    m_promptKind->addItems({tr("text"), tr("token ids"), tr("random ids")});
    guardWheel(m_promptKind);
    head->addWidget(m_promptKind);
    column->addLayout(head);

    m_promptEdit = textBox(m_body, "promptEdit", tr("Prompt text"), tr("What the text begins with"));
    m_idsEdit = textBox(m_body, "promptIds", tr("Prompt token ids"), tr("15496 995"));
    m_randomForm = new QWidget(m_body);
    auto* form = new QFormLayout(m_randomForm);
    form->setContentsMargins(0, 0, 0, 0);
    form->setSpacing(metrics.padding / 2);
    m_randomLength = spinBox(m_randomForm, "promptLength", tr("Prompt length in tokens"),
                             tr("Tokens of the random prompt"), 1, largestCount);
    m_randomSeed =
        seedEdit(m_randomForm, "promptSeed", tr("Prompt seed"), tr("The same seed draws the same ids"));
    form->addRow(tr("Length"), m_randomLength);
    form->addRow(tr("Seed"), m_randomSeed);
    column->addWidget(m_promptEdit);
    column->addWidget(m_idsEdit);
    column->addWidget(m_randomForm);

    connect(m_promptKind, &QComboBox::currentIndexChanged, this, &ExperimentPanel::updateVisibility);
    connect(m_promptKind, &QComboBox::activated, this, [this] { m_textImpossible = false; });
    connect(m_promptKind, &QComboBox::currentIndexChanged, this, &ExperimentPanel::edited);
    connect(m_promptEdit, &QPlainTextEdit::textChanged, this, &ExperimentPanel::edited);
    connect(m_idsEdit, &QPlainTextEdit::textChanged, this, &ExperimentPanel::edited);
    connect(m_randomLength, &QSpinBox::valueChanged, this, &ExperimentPanel::edited);
    connect(m_randomSeed, &QLineEdit::textEdited, this, &ExperimentPanel::edited);
}

void ExperimentPanel::buildGeneration(QVBoxLayout* column) {
    QFormLayout* form = m_generationForm = addForm(column);
    m_newTokens = spinBox(m_body, "newTokens", tr("New tokens"),
                          tr("Tokens to generate: one prefill and one decode step for each further token"), 1,
                          largestCount);
    form->addRow(tr("New tokens"), m_newTokens);

    m_drive = new QComboBox(m_body);
    m_drive->setObjectName(QStringLiteral("drive"));
    m_drive->setAccessibleName(tr("Drive"));
    m_drive->addItem(tr("forced"), static_cast<int>(Drive::forced));
    m_drive->addItem(tr("free"), static_cast<int>(Drive::free));
    m_drive->addItem(tr("fixed"), static_cast<int>(Drive::fixed));
    m_drive->setItemData(
        0, tr("Every lane is fed the reference lane's tokens, so that logits can be compared at each step"),
        Qt::ToolTipRole);
    m_drive->setItemData(1, tr("Every lane follows its own tokens"), Qt::ToolTipRole);
    m_drive->setItemData(2, tr("Every lane is fed the tokens that the experiment file gives"),
                         Qt::ToolTipRole);
    m_drive->setToolTip(tr("Which tokens the lanes are fed after the prompt"));
    guardWheel(m_drive);
    form->addRow(tr("Drive"), m_drive);

    m_sampling = new QComboBox(m_body);
    m_sampling->setObjectName(QStringLiteral("sampling"));
    m_sampling->setAccessibleName(tr("Sampling"));
    m_sampling->addItems({tr("greedy"), tr("temperature")});
    m_sampling->setToolTip(tr("Take the likeliest token, or draw one"));
    guardWheel(m_sampling);
    form->addRow(tr("Sampling"), m_sampling);

    m_temperature = new QDoubleSpinBox(m_body);
    m_temperature->setObjectName(QStringLiteral("temperature"));
    m_temperature->setAccessibleName(tr("Temperature"));
    m_temperature->setToolTip(tr("Below 1: likelier tokens still likelier. Above 1: more surprise"));
    m_temperature->setRange(0.01, 100);
    m_temperature->setDecimals(3);
    m_temperature->setSingleStep(0.1);
    m_temperature->setStepType(QAbstractSpinBox::DefaultStepType);
    guardWheel(m_temperature);
    form->addRow(tr("Temperature"), m_temperature);
    m_topK =
        spinBox(m_body, "topK", tr("Top k"), tr("Draw among this many likeliest tokens"), 0, largestCount);
    m_topK->setSpecialValueText(tr("all"));
    form->addRow(tr("Top k"), m_topK);
    m_seed = seedEdit(m_body, "seed", tr("Seed"),
                      tr("The same seed draws the same tokens, in every lane with equal logits"));
    form->addRow(tr("Seed"), m_seed);

    connect(m_newTokens, &QSpinBox::valueChanged, this, &ExperimentPanel::edited);
    connect(m_drive, &QComboBox::currentIndexChanged, this, &ExperimentPanel::edited);
    connect(m_sampling, &QComboBox::currentIndexChanged, this, &ExperimentPanel::updateVisibility);
    connect(m_sampling, &QComboBox::currentIndexChanged, this, &ExperimentPanel::edited);
    connect(m_temperature, &QDoubleSpinBox::valueChanged, this, &ExperimentPanel::edited);
    connect(m_topK, &QSpinBox::valueChanged, this, &ExperimentPanel::edited);
    connect(m_seed, &QLineEdit::textEdited, this, &ExperimentPanel::edited);
}

void ExperimentPanel::buildLanes(QVBoxLayout* column) {
    const CardMetrics metrics(font());
    column->addSpacing(metrics.padding / 2);
    column->addWidget(sectionLabel(tr("Lanes"), m_body));
    m_laneColumn = new QVBoxLayout;
    m_laneColumn->setSpacing(metrics.padding / 2);
    column->addLayout(m_laneColumn);
    m_addLane = new QPushButton(tr("+ Add lane"), m_body);
    m_addLane->setObjectName(QStringLiteral("addLane"));
    m_addLane->setAccessibleName(tr("Add lane"));
    m_addLane->setToolTip(tr("Let another way of decoding take part"));
    m_addLane->setFlat(true);
    m_addLane->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(m_addLane);
    connect(m_addLane, &QPushButton::clicked, this, &ExperimentPanel::addLane);
}

void ExperimentPanel::buildRun(QVBoxLayout* column) {
    column->addSpacing(CardMetrics(font()).padding / 2);
    column->addWidget(sectionLabel(tr("Measuring"), m_body));
    QFormLayout* form = addForm(column);
    m_repetitions = spinBox(m_body, "repetitions", tr("Repetitions"),
                            tr("Timed passes of every lane; the numbers are medians over them"), 1, 1000);
    form->addRow(tr("Repetitions"), m_repetitions);
    m_warmup =
        spinBox(m_body, "warmup", tr("Warm-up passes"), tr("Untimed passes before the first one"), 0, 100);
    m_warmup->setSpecialValueText(tr("none"));
    form->addRow(tr("Warm-up"), m_warmup);
    m_threads = spinBox(m_body, "threads", tr("Compute threads"),
                        tr("Threads that compute; all cores = every physical core"), 0, 1024);
    m_threads->setSpecialValueText(tr("all cores"));
    form->addRow(tr("Threads"), m_threads);
    m_interleave = new QComboBox(m_body);
    m_interleave->setObjectName(QStringLiteral("interleave"));
    m_interleave->setAccessibleName(tr("Turns"));
    m_interleave->addItem(tr("every step"));
    m_interleave->addItem(tr("every repetition"));
    m_interleave->setToolTip(tr("When the next lane takes its turn"));
    guardWheel(m_interleave);
    form->addRow(tr("Turns"), m_interleave);

    connect(m_repetitions, &QSpinBox::valueChanged, this, &ExperimentPanel::edited);
    connect(m_warmup, &QSpinBox::valueChanged, this, &ExperimentPanel::edited);
    connect(m_threads, &QSpinBox::valueChanged, this, &ExperimentPanel::edited);
    connect(m_interleave, &QComboBox::currentIndexChanged, this, &ExperimentPanel::edited);
}

void ExperimentPanel::setExperiment(const Experiment& experiment) {
    const QSignalBlocker blocker(this);
    m_base = experiment;
    m_reference = experiment.lanes.empty() ? 0 : experiment.reference_index();
    m_textImpossible = false;
    m_model->setRef(experiment.model);

    const PromptSpec prompt = experiment.prompts.empty() ? PromptSpec() : experiment.prompts.front();
    m_promptKind->setCurrentIndex(prompt.kind == PromptSpec::Kind::text  ? promptAsText
                                  : prompt.kind == PromptSpec::Kind::ids ? promptIds
                                                                         : promptRandom);
    m_promptEdit->setPlainText(QString::fromStdString(prompt.text));
    m_idsEdit->setPlainText(idsText(prompt.ids));
    m_randomLength->setValue(prompt.length > 0 ? prompt.length : 32);
    m_randomSeed->setText(QString::number(prompt.seed));
    m_newTokens->setValue(experiment.new_tokens);
    // Given tokens can only come from a file.
    auto* items = qobject_cast<QStandardItemModel*>(m_drive->model());
    items->item(2)->setEnabled(!experiment.fixed_ids.empty());
    m_drive->setCurrentIndex(m_drive->findData(static_cast<int>(experiment.drive)));
    m_sampling->setCurrentIndex(experiment.sampling.kind == SamplingKind::sample ? 1 : 0);
    m_temperature->setValue(experiment.sampling.temperature);
    m_topK->setValue(experiment.sampling.top_k);
    m_seed->setText(QString::number(experiment.sampling.seed));
    m_repetitions->setValue(experiment.repetitions);
    m_warmup->setValue(experiment.warmup);
    m_threads->setValue(experiment.threads);
    m_interleave->setCurrentIndex(experiment.interleave == Interleave::repetition ? 1 : 0);
    for (LaneCard* card : m_laneCards) card->setFormVisible(false);
    syncLanes();
    updateVisibility();
}

Experiment ExperimentPanel::experiment() const {
    Experiment e = m_base;
    if (e.prompts.empty()) e.prompts.emplace_back();
    PromptSpec& prompt = e.prompts.front();
    e.model = m_model->ref();
    switch (m_promptKind->currentIndex()) {
        case promptAsText:
            prompt.kind = PromptSpec::Kind::text;
            prompt.text = m_promptEdit->toPlainText().toStdString();
            break;
        case promptIds:
            prompt.kind = PromptSpec::Kind::ids;
            prompt.ids = parseIds(m_idsEdit->toPlainText());
            break;
        default:
            prompt.kind = PromptSpec::Kind::random;
            prompt.length = m_randomLength->value();
            prompt.seed = m_randomSeed->text().toULongLong();
    }
    e.new_tokens = m_newTokens->value();
    e.drive = static_cast<Drive>(m_drive->currentData().toInt());
    e.sampling.kind = m_sampling->currentIndex() == 1 ? SamplingKind::sample : SamplingKind::greedy;
    if (e.sampling.kind == SamplingKind::sample) {
        e.sampling.temperature = m_temperature->value();
        e.sampling.top_k = m_topK->value();
        e.sampling.seed = m_seed->text().toULongLong();
    }
    e.repetitions = m_repetitions->value();
    e.warmup = m_warmup->value();
    e.threads = m_threads->value();
    e.interleave = m_interleave->currentIndex() == 1 ? Interleave::repetition : Interleave::automatic;
    e.reference = m_reference < e.lanes.size() ? e.lanes[m_reference].name : std::string();
    return e;
}

void ExperimentPanel::setModel(const ModelConfig& config, bool hasTokenizer) {
    m_model->setConfig(config);
    auto* items = qobject_cast<QStandardItemModel*>(m_promptKind->model());
    items->item(promptAsText)->setEnabled(hasTokenizer);
    if (!hasTokenizer && m_promptKind->currentIndex() == promptAsText) {
        m_promptKind->setCurrentIndex(promptRandom);
        m_textImpossible = true;
    } else if (hasTokenizer && m_textImpossible) {
        m_promptKind->setCurrentIndex(promptAsText);
        m_textImpossible = false;
    }
}

void ExperimentPanel::setRunning(bool running) {
    for (QObject* child : m_body->children()) {
        auto* widget = qobject_cast<QWidget*>(child);
        if (widget != nullptr && qobject_cast<QLabel*>(widget) == nullptr) widget->setEnabled(!running);
    }
}

void ExperimentPanel::syncLanes() {
    m_filling = true;
    while (m_laneCards.size() > m_base.lanes.size()) {
        delete m_laneCards.back();
        m_laneCards.pop_back();
    }
    while (m_laneCards.size() < m_base.lanes.size()) {
        auto* card = new LaneCard(m_body);
        const std::size_t index = m_laneCards.size();
        card->setObjectName(QStringLiteral("lane%1").arg(index));
        connect(card, &LaneCard::edited, this, [this, card, index] {
            if (m_filling) return;
            m_base.lanes[index] = card->lane();
            emit edited();
        });
        connect(card, &LaneCard::referenceChosen, this, [this, index] {
            m_reference = index;
            syncLanes();
            emit edited();
        });
        // Queued: the card must not go while its own button is still handling the click.
        connect(
            card, &LaneCard::removeRequested, this, [this, index] { removeLane(index); },
            Qt::QueuedConnection);
        m_laneColumn->addWidget(card);
        m_laneCards.push_back(card);
        card->show();
    }
    const bool removable = m_base.lanes.size() > 1;
    for (std::size_t i = 0; i < m_laneCards.size(); ++i)
        m_laneCards[i]->setLane(m_base.lanes[i], static_cast<int>(i), i == m_reference && removable,
                                removable);
    m_filling = false;
    // Tab goes through the cards before the button below them.
    for (std::size_t i = 0; i + 1 < m_laneCards.size(); ++i)
        QWidget::setTabOrder(m_laneCards[i], m_laneCards[i + 1]);
    if (!m_laneCards.empty()) QWidget::setTabOrder(m_laneCards.back(), m_addLane);
}

void ExperimentPanel::addLane() {
    // The first way of decoding that does not take part yet.
    LaneSpec lane;
    for (const char* name : {"naive", "static", "concat"}) {
        const Result<LaneSpec> offer = lane_from_name(name);
        if (!offer) continue;
        lane = *offer;
        const bool present = std::any_of(m_base.lanes.begin(), m_base.lanes.end(), [&](const LaneSpec& l) {
            return l.mode == lane.mode && l.cache.kind == lane.cache.kind;
        });
        if (!present) break;
    }
    lane.name = freeLaneName(m_base.lanes, lane.name);
    m_base.lanes.push_back(lane);
    syncLanes();
    m_laneCards.back()->setFormVisible(true);
    emit edited();
}

void ExperimentPanel::removeLane(std::size_t index) {
    if (index >= m_base.lanes.size() || m_base.lanes.size() == 1) return;
    m_base.lanes.erase(m_base.lanes.begin() + static_cast<std::ptrdiff_t>(index));
    if (m_reference == index)
        m_reference = 0;
    else if (m_reference > index)
        --m_reference;
    m_laneCards[index]->setFormVisible(false);
    syncLanes();
    emit edited();
}

void ExperimentPanel::updateVisibility() {
    m_promptEdit->setVisible(m_promptKind->currentIndex() == promptAsText);
    m_idsEdit->setVisible(m_promptKind->currentIndex() == promptIds);
    m_randomForm->setVisible(m_promptKind->currentIndex() == promptRandom);
    const bool sample = m_sampling->currentIndex() == 1;
    for (QWidget* field : std::initializer_list<QWidget*>{m_temperature, m_topK, m_seed})
        m_generationForm->setRowVisible(field, sample);
}

QSize ExperimentPanel::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 34, fontMetrics().height() * 12};
}

QSize ExperimentPanel::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 48, fontMetrics().height() * 40};
}

void ExperimentPanel::paintEvent(QPaintEvent*) {
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
}

}  // namespace decodescope
