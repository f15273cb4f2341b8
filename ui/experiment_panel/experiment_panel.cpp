// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/experiment_panel.h"

#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/experiment_panel/device_box.h"
#include "ui/experiment_panel/fault_panel.h"
#include "ui/experiment_panel/form_fields.h"
#include "ui/experiment_panel/generation_form.h"
#include "ui/experiment_panel/lane_card.h"
#include "ui/experiment_panel/lane_kinds.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/experiment_panel/prompt_list.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

namespace {

constexpr int mostPasses = 10'000;
constexpr int mostThreads = 1024;

std::string freeLaneName(const std::vector<LaneSpec>& lanes, const std::string& wanted, std::size_t except) {
    const auto taken = [&](const std::string& name) {
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            if (i != except && lanes[i].name == name) return true;
        }
        return false;
    };
    std::string name = wanted;
    for (int n = 2; taken(name); ++n) name = wanted + ' ' + std::to_string(n);
    return name;
}

// Number in "lanes[3].cache.block is ..." or -1 when the sentence is about something else.
int indexIn(const QString& sentence, const char* list) {
    const QRegularExpression pattern(QStringLiteral("^%1\\[(\\d+)\\]").arg(QLatin1String(list)));
    const QRegularExpressionMatch match = pattern.match(sentence);
    return match.hasMatch() ? match.captured(1).toInt() : -1;
}

// Under its own card a sentence need not say which lane or prompt it is about.
QString withoutPlace(const QString& sentence) {
    static const QRegularExpression place(QStringLiteral("^(?:lanes|prompts)\\[\\d+\\]\\."));
    return QString(sentence).remove(place);
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
    const auto section = [&](const QString& title) {
        if (column->count() > 0) column->addSpacing(metrics.padding / 2);
        column->addWidget(sectionLabel(title, m_body));
    };
    section(tr("Model"));
    m_model = new ModelCard(m_body);
    column->addWidget(m_model);
    section(tr("Prompts"));
    m_prompts = new PromptList(m_body);
    column->addWidget(m_prompts);
    section(tr("Generation"));
    m_generation = new GenerationForm(m_body);
    column->addWidget(m_generation);
    m_generationProblem = addProblemLabel(column, "generationProblem");
    section(tr("Lanes"));
    buildLanes(column);
    section(tr("Faults"));
    m_faults = new FaultPanel(m_body);
    m_faults->setObjectName(QStringLiteral("faultPanel"));
    column->addWidget(m_faults);
    section(tr("Measuring"));
    buildRun(column);
    m_runProblem = addProblemLabel(column, "runProblem");
    column->addStretch(1);

    connect(m_model, &ModelCard::chosen, this, &ExperimentPanel::modelChosen);
    connect(m_model, &ModelCard::browseRequested, this, &ExperimentPanel::browseRequested);
    connect(m_model, &ModelCard::browseFileRequested, this, &ExperimentPanel::browseFileRequested);
    connect(m_model, &ModelCard::fetchRequested, this, &ExperimentPanel::fetchRequested);
    connect(m_prompts, &PromptList::rebuilt, this, &ExperimentPanel::orderTabs);
    connect(m_prompts, &PromptList::edited, this, &ExperimentPanel::changed);
    connect(m_generation, &GenerationForm::edited, this, &ExperimentPanel::changed);
    connect(m_faults, &FaultPanel::edited, this, [this](int lane, const std::vector<std::string>& faults) {
        const auto index = static_cast<std::size_t>(lane);
        if (index >= m_base.lanes.size()) return;
        m_base.lanes[index].faults = faults;
        syncLanes();
        changed();
        emit faultsEdited(lane);
    });
    setAccessibleName(tr("Experiment"));
    setExperiment(Experiment());
}

ToneLabel* ExperimentPanel::addProblemLabel(QVBoxLayout* column, const char* objectName) {
    auto* label = new ToneLabel(m_body);
    label->setObjectName(QLatin1String(objectName));
    label->setTone({ColorRef::Role::bad, 0});
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->hide();
    column->addWidget(label);
    return label;
}

void ExperimentPanel::buildLanes(QVBoxLayout* column) {
    m_laneColumn = new QVBoxLayout;
    m_laneColumn->setSpacing(CardMetrics(font()).padding / 2);
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
    auto* measuring = m_measuring = new QWidget(m_body);
    QFormLayout* form = plainForm(measuring);
    column->addWidget(measuring);
    m_repetitions =
        spinBox(measuring, "repetitions", tr("Repetitions"),
                tr("Timed passes of every lane; the numbers are medians over them"), 1, mostPasses);
    form->addRow(tr("Repetitions"), m_repetitions);
    m_warmup = spinBox(measuring, "warmup", tr("Warm-up passes"), tr("Untimed passes before the first one"),
                       0, mostPasses);
    m_warmup->setSpecialValueText(tr("none"));
    form->addRow(tr("Warm-up"), m_warmup);
    m_device = comboBox(measuring, "device", tr("Device"), QString());
    fillDevices(m_device, {}, false);
    form->addRow(tr("Device"), m_device);
    m_threads = spinBox(measuring, "threads", tr("Compute threads"),
                        tr("Threads that compute; all cores = every physical core"), 0, mostThreads);
    m_threads->setSpecialValueText(tr("all cores"));
    form->addRow(tr("Threads"), m_threads);
    m_interleave = comboBox(measuring, "interleave", tr("Turns"), tr("When the next lane takes its turn"));
    const auto add = [this](const QString& text, Interleave interleave, const QString& toolTip) {
        m_interleave->addItem(text, static_cast<int>(interleave));
        m_interleave->setItemData(m_interleave->count() - 1, toolTip, Qt::ToolTipRole);
    };
    add(tr("automatic"), Interleave::automatic,
        tr("Every step where all lanes make one token of the same request per step, else every repetition"));
    add(tr("every step"), Interleave::step, tr("One step of each lane, in turn"));
    add(tr("every repetition"), Interleave::repetition, tr("One whole repetition of each lane, in turn"));
    form->addRow(tr("Turns"), m_interleave);
    for (QSpinBox* box : {m_repetitions, m_warmup, m_threads})
        connect(box, &QSpinBox::valueChanged, this, &ExperimentPanel::changed);
    connect(m_interleave, &QComboBox::currentIndexChanged, this, &ExperimentPanel::changed);
    connect(m_device, &QComboBox::currentIndexChanged, this, [this] {
        updateDevices();
        changed();
    });
}

void ExperimentPanel::setExperiment(const Experiment& experiment) {
    m_filling = true;
    m_base = experiment;
    m_reference = experiment.lanes.empty() ? 0 : experiment.reference_index();
    m_model->setRef(experiment.model);
    m_prompts->setPrompts(experiment.prompts);
    m_generation->setExperiment(experiment);
    m_repetitions->setValue(experiment.repetitions);
    m_warmup->setValue(experiment.warmup);
    m_threads->setValue(experiment.threads);
    chooseDevice(m_device, experiment.device);
    m_interleave->setCurrentIndex(m_interleave->findData(static_cast<int>(experiment.interleave)));
    for (LaneCard* card : m_laneCards) card->setFormVisible(false);
    syncLanes();
    m_filling = false;
    check();
}

Experiment ExperimentPanel::experiment() const {
    Experiment e = m_base;
    e.model = m_model->ref();
    e.prompts = m_prompts->prompts();
    m_generation->writeTo(e);
    e.repetitions = m_repetitions->value();
    e.warmup = m_warmup->value();
    e.threads = m_threads->value();
    e.device = chosenDevice(m_device).value_or(Device{});
    e.interleave = static_cast<Interleave>(m_interleave->currentData().toInt());
    e.reference = m_reference < e.lanes.size() ? e.lanes[m_reference].name : std::string();
    return e;
}

void ExperimentPanel::setModel(const ModelConfig& config, bool hasTokenizer) {
    m_model->setConfig(config);
    m_config = config;
    m_configRef = m_model->ref();
    m_prompts->setTextPossible(hasTokenizer);
    updateFaults();
    check();
}

void ExperimentPanel::setDevices(const CudaDevices& found) {
    m_devices = found;
    fillDevices(m_device, found, false);
    updateDevices();
    check();
}

// What the lanes are offered, and what "as the experiment" means for them.
void ExperimentPanel::updateDevices() {
    const Device device = chosenDevice(m_device).value_or(Device{});
    for (LaneCard* card : m_laneCards) card->setDevices(m_devices.value_or(CudaDevices{}), device);
}

void ExperimentPanel::setRunning(bool running) {
    for (QObject* child : m_body->children()) {
        auto* widget = qobject_cast<QWidget*>(child);
        const bool kept = widget == m_faults || qobject_cast<QLabel*>(widget) != nullptr;
        if (widget != nullptr && !kept) widget->setEnabled(!running);
    }
}

void ExperimentPanel::changed() {
    if (m_filling) return;
    updateFaults();
    check();
    emit edited();
}

void ExperimentPanel::updateFaults() {
    const bool known = m_config && m_configRef == m_model->ref();
    m_faults->setLanes(m_base.lanes, m_reference, known ? m_config : std::nullopt);
}

// The sentence of the experiment's own check, under the card or section that it is about.
void ExperimentPanel::check() {
    const Experiment e = experiment();
    Result<void> valid = e.validate();
    if (valid && m_config && m_configRef == e.model) valid = check_against_model(e, *m_config);
    for (const Device& device : e.devices()) {
        if (valid && m_devices) valid = check_device(device, *m_devices);
    }
    showProblem(valid ? QString() : QString::fromStdString(valid.error().message));
}

void ExperimentPanel::showProblem(const QString& sentence) {
    const QString before = m_problem;
    m_problem = sentence;
    const int prompt = indexIn(sentence, "prompts");
    const int lane = indexIn(sentence, "lanes");
    m_prompts->setProblem(prompt, withoutPlace(sentence));
    for (std::size_t i = 0; i < m_laneCards.size(); ++i)
        m_laneCards[i]->setProblem(static_cast<int>(i) == lane ? withoutPlace(sentence) : QString());
    const bool placed = prompt >= 0 || (lane >= 0 && static_cast<std::size_t>(lane) < m_laneCards.size());
    static const QRegularExpression measuring(
        QStringLiteral("^(?:interleave|warmup|repetitions|threads|device|lanes|reference|model|The "
                       "device|There is no device)"));
    const bool ofRun = measuring.match(sentence).hasMatch();
    m_runProblem->setText(placed || !ofRun ? QString() : sentence);
    m_generationProblem->setText(placed || ofRun ? QString() : sentence);
    for (ToneLabel* label : {m_runProblem, m_generationProblem}) label->setVisible(!label->text().isEmpty());
    if (m_problem != before) emit checked();
}

void ExperimentPanel::syncLanes() {
    const bool filling = m_filling;
    m_filling = true;
    while (m_laneCards.size() > m_base.lanes.size()) {
        delete m_laneCards.back();
        m_laneCards.pop_back();
    }
    while (m_laneCards.size() < m_base.lanes.size()) {
        auto* card = new LaneCard(m_body);
        const std::size_t index = m_laneCards.size();
        card->setObjectName(QStringLiteral("lane%1").arg(index));
        connect(card, &LaneCard::edited, this, [this, index] { laneEdited(index); });
        connect(card, &LaneCard::renamed, this, [this, card, index] {
            LaneSpec lane = card->lane();
            lane.name = freeLaneName(m_base.lanes, lane.name, index);
            const bool reference = index == m_reference && m_base.lanes.size() > 1;
            card->setLane(lane, static_cast<int>(index), reference, m_base.lanes.size() > 1);
        });
        connect(card, &LaneCard::referenceChosen, this, [this, index] {
            m_reference = index;
            syncLanes();
            changed();
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
    updateDevices();
    m_filling = filling;
    updateFaults();
    orderTabs();
}

// Cards come and go, and Qt puts what is new at the end: Tab goes through everything as it stands.
void ExperimentPanel::orderTabs() {
    std::vector<QWidget*> parts{m_model};
    for (QWidget* part : m_prompts->tabOrder()) parts.push_back(part);
    parts.push_back(m_generation);
    for (LaneCard* card : m_laneCards) parts.push_back(card);
    parts.push_back(m_addLane);
    parts.push_back(m_faults);
    parts.push_back(m_measuring);
    QWidget* last = nullptr;
    for (QWidget* part : parts) {
        QList<QWidget*> stops = part->findChildren<QWidget*>();
        stops.prepend(part);
        for (QWidget* stop : stops) {
            // The list of a combo box is a window of its own.
            if (stop->window() != window()) continue;
            if (!(stop->focusPolicy() & Qt::TabFocus) || stop->focusProxy() != nullptr) continue;
            if (last != nullptr) QWidget::setTabOrder(last, stop);
            last = stop;
        }
    }
}

void ExperimentPanel::laneEdited(std::size_t index) {
    if (m_filling || index >= m_base.lanes.size()) return;
    m_base.lanes[index] = m_laneCards[index]->lane();
    changed();
}

void ExperimentPanel::addLane() {
    // The first way of decoding that does not take part yet.
    const auto present = [this](const LaneSpec& offer) {
        return std::any_of(m_base.lanes.begin(), m_base.lanes.end(),
                           [&](const LaneSpec& lane) { return laneKindOf(lane) == laneKindOf(offer); });
    };
    LaneSpec lane = laneKinds().front().lane;
    for (const LaneKind& kind : laneKinds()) {
        if (present(kind.lane)) continue;
        lane = kind.lane;
        break;
    }
    lane.name = freeLaneName(m_base.lanes, lane.name, m_base.lanes.size());
    m_base.lanes.push_back(lane);
    syncLanes();
    m_laneCards.back()->setFormVisible(true);
    changed();
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
    changed();
}

QSize ExperimentPanel::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 44, fontMetrics().height() * 12};
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
