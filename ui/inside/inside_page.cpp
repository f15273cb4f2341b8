// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/inside/inside_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/chart/format.h"
#include "ui/inside/inside_views.h"
#include "ui/text.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

// The picture of a running lane changes this often at most.
constexpr int followIntervalMs = 100;
// An answer that takes longer than this is announced.
constexpr int slowAnswerMs = 300;

QToolButton* arrowButton(Qt::ArrowType arrow, const QString& name, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setArrowType(arrow);
    button->setAutoRaise(true);
    button->setAutoRepeat(true);
    button->setAccessibleName(name);
    button->setToolTip(name);
    return button;
}

QLabel* nameLabel(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setFont(CardMetrics(parent->font()).title);
    return label;
}

}  // namespace

InsidePage::InsidePage(const RunData& run, QWidget* parent) : QWidget(parent), m_data(run) {
    const CardMetrics metrics(font());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(metrics.spacing, metrics.spacing, metrics.spacing, metrics.spacing);
    column->setSpacing(metrics.spacing);
    column->addWidget(buildTop());
    m_views = new InsideViews(this);
    column->addWidget(m_views, 1);
    column->addWidget(buildStepCard());
    column->addWidget(buildWords());
    m_slowAnswer.setSingleShot(true);
    m_slowAnswer.setInterval(slowAnswerMs);

    connect(m_lane, &QComboBox::currentIndexChanged, this, [this](int lane) {
        m_swatch->setColor(ColorRef::lane(lane));
        m_call = -1;
        updateRange();
        ask();
    });
    connect(m_slider, &QSlider::valueChanged, this, [this](int value) {
        m_following = value == m_slider->maximum();
        m_call = -1;
        ask();
    });
    for (QSpinBox* box : {m_layer, m_head}) connect(box, &QSpinBox::valueChanged, this, &InsidePage::ask);
    connect(m_allHeads, &QCheckBox::toggled, this, &InsidePage::ask);
    connect(m_callBox, &QSpinBox::valueChanged, this, [this](int call) {
        m_call = call - 1;
        ask();
    });
    connect(m_back, &QToolButton::clicked, m_slider, [this] { m_slider->setValue(m_slider->value() - 1); });
    connect(m_on, &QToolButton::clicked, m_slider, [this] { m_slider->setValue(m_slider->value() + 1); });
    connect(m_views, &InsideViews::said, this, [this](const QString& sentence, bool cell) {
        m_sentence->setText(sentence);
        m_hint->setVisible(!cell && !sentence.isEmpty() && m_views->step() != nullptr);
    });
    connect(m_views, &InsideViews::headPicked, this, [this](int head) {
        const QSignalBlocker blocker(m_head);
        m_head->setValue(head);
        if (m_allHeads->isChecked())
            m_allHeads->setChecked(false);
        else
            ask();
    });
    connect(m_views, &InsideViews::layerPicked, m_layer, &QSpinBox::setValue);
    connect(&m_slowAnswer, &QTimer::timeout, this, [this] {
        if (m_waiting) m_stepCard->setCorner(tr("serving the lane again up to this step …"));
    });
    connect(&run, &RunData::reset, this, &InsidePage::reset);
    connect(&run, &RunData::appended, this, &InsidePage::append);
    reset();
}

QWidget* InsidePage::buildTop() {
    const CardMetrics metrics(font());
    auto* top = new Card(this);
    auto* row = new QHBoxLayout;
    row->setSpacing(metrics.padding * 2 / 3);
    m_swatch = new Swatch(ColorRef::lane(0), top);
    m_lane = new QComboBox(top);
    m_lane->setObjectName(QStringLiteral("insideLane"));
    m_lane->setAccessibleName(tr("Lane"));
    m_lane->setToolTip(tr("The lane to look into"));
    m_lane->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    guardWheel(m_lane);
    QLabel* laneLabel = nameLabel(tr("Lane"), top);
    laneLabel->setBuddy(m_lane);
    row->addWidget(laneLabel);
    row->addWidget(m_swatch);
    row->addWidget(m_lane);
    const auto box = [&](const QString& name, const char* objectName, const QString& toolTip,
                         QLabel** label) {
        auto* spin = new QSpinBox(top);
        spin->setObjectName(QLatin1String(objectName));
        spin->setAccessibleName(name);
        spin->setToolTip(toolTip);
        spin->setRange(0, 0);
        guardWheel(spin);
        QLabel* title = nameLabel(name, top);
        title->setBuddy(spin);
        row->addSpacing(metrics.padding);
        row->addWidget(title);
        row->addWidget(spin);
        if (label != nullptr) *label = title;
        return spin;
    };
    m_layer = box(tr("Layer"), "insideLayer", tr("The layer whose attention weights are shown"), nullptr);
    m_head = box(tr("Head"), "insideHead", tr("The head whose attention weights are shown"), nullptr);
    m_allHeads = new QCheckBox(tr("All heads"), top);
    m_allHeads->setObjectName(QStringLiteral("insideAllHeads"));
    m_allHeads->setAccessibleName(tr("All heads"));
    m_allHeads->setToolTip(tr("Every head of the layer, small, side by side"));
    row->addWidget(m_allHeads);
    m_callBox = box(tr("Call"), "insideCall",
                    tr("Which of the step's forward calls: a prompt in chunks takes several"), &m_callLabel);
    m_verdict = new ToneLabel(top);
    m_verdict->setObjectName(QStringLiteral("insideVerdict"));
    m_verdict->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_verdict->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(m_verdict, 1);
    top->content()->addLayout(row);
    top->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_callLabel->hide();
    m_callBox->hide();
    return top;
}

QWidget* InsidePage::buildStepCard() {
    m_stepCard = new Card(tr("Step"), {}, this);
    auto* row = new QHBoxLayout;
    m_slider = new QSlider(Qt::Horizontal, m_stepCard);
    m_slider->setObjectName(QStringLiteral("stepSlider"));
    m_slider->setAccessibleName(tr("Step"));
    m_slider->setToolTip(
        tr("Left and Right: one step. Page Up and Page Down: ten. Home and End: the first and the last. At "
           "its end it "
           "follows the run"));
    m_slider->setPageStep(10);
    m_back = arrowButton(Qt::LeftArrow, tr("One step back"), m_stepCard);
    m_on = arrowButton(Qt::RightArrow, tr("One step on"), m_stepCard);
    m_counter = mutedLabel({}, m_stepCard);
    m_counter->setMinimumWidth(m_counter->fontMetrics().horizontalAdvance(QStringLiteral("8,888 of 8,888")));
    m_counter->setAlignment(Qt::AlignCenter);
    row->addWidget(m_slider, 1);
    row->addWidget(m_back);
    row->addWidget(m_counter);
    row->addWidget(m_on);
    m_stepCard->content()->addLayout(row);
    m_stepCard->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    return m_stepCard;
}

QWidget* InsidePage::buildWords() {
    auto* words = new Card(this);
    auto* row = new QHBoxLayout;
    m_sentence = new QLabel(words);
    m_sentence->setObjectName(QStringLiteral("insideSentence"));
    m_sentence->setTextFormat(Qt::PlainText);
    m_hint =
        mutedLabel(tr("Point at any cell; the same cell is marked in every view, a click keeps it."), words);
    row->addWidget(m_sentence);
    row->addSpacing(CardMetrics(font()).padding);
    row->addWidget(m_hint, 1);
    words->content()->addLayout(row);
    words->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    return words;
}

std::vector<Chart*> InsidePage::charts() const {
    return m_views->charts();
}

int InsidePage::lane() const {
    return m_lane->currentIndex();
}

int InsidePage::step() const {
    return m_slider->value();
}

QString InsidePage::sentence() const {
    return m_sentence->text();
}

void InsidePage::setStep(int lane, int step) {
    m_lane->setCurrentIndex(lane);
    m_slider->setValue(step);
}

void InsidePage::setLayerAndHead(int layer, int head) {
    {
        const QSignalBlocker blocker(m_layer);
        m_layer->setValue(layer);
    }
    m_head->setValue(head);
    ask();
}

int InsidePage::stepCount() const {
    const RepetitionRecord* latest = m_data.latest(m_lane->currentIndex());
    return latest == nullptr ? 0 : static_cast<int>(latest->steps.size());
}

void InsidePage::reset() {
    const Record& record = m_data.record();
    const auto& lanes = record.lanes;
    {
        const QSignalBlocker lane(m_lane);
        const QString before = m_lane->currentText();
        m_lane->clear();
        for (const LaneRecord& each : lanes) m_lane->addItem(QString::fromStdString(each.spec.name));
        // A lane that is broken on purpose is the one people want to look into, else the first that keeps a
        // cache.
        const auto faulty = std::find_if(lanes.begin(), lanes.end(),
                                         [](const LaneRecord& each) { return !each.spec.faults.empty(); });
        const auto cached = faulty != lanes.end()
                                ? faulty
                                : std::find_if(lanes.begin(), lanes.end(), [](const LaneRecord& each) {
                                      return each.spec.mode != LaneMode::naive;
                                  });
        const int known = m_lane->findText(before);
        m_lane->setCurrentIndex(known >= 0              ? known
                                : cached != lanes.end() ? static_cast<int>(cached - lanes.begin())
                                : lanes.empty()         ? -1
                                                        : 0);
        m_swatch->setColor(ColorRef::lane(std::max(0, m_lane->currentIndex())));
        m_swatch->setVisible(!lanes.empty());
    }
    const QSignalBlocker layer(m_layer);
    const QSignalBlocker head(m_head);
    if (record.model.n_layer > 0) {
        m_layer->setRange(0, record.model.n_layer - 1);
        m_head->setRange(0, record.model.n_head - 1);
    }
    m_call = -1;
    m_following = true;
    m_sinceFollow.invalidate();
    updateRange();
    ask();
}

void InsidePage::append() {
    if (!isVisible()) {
        m_stale = true;
        return;
    }
    if (m_sinceFollow.isValid() && !m_sinceFollow.hasExpired(followIntervalMs) && !m_liveLook) return;
    m_sinceFollow.restart();
    const int before = m_slider->value();
    updateRange();
    if (m_slider->value() != before || (m_views->step() == nullptr && !m_waiting)) ask();
}

void InsidePage::updateRange() {
    const QSignalBlocker blocker(m_slider);
    const int last = std::max(0, stepCount() - 1);
    m_slider->setRange(0, last);
    if (m_following) m_slider->setValue(last);
    m_slider->setEnabled(stepCount() > 1);
}

void InsidePage::setLiveLook(bool possible) {
    if (possible == m_liveLook) return;
    m_liveLook = possible;
    if (m_data.isLive() && isVisible()) {
        updateRange();
        ask();
    } else {
        m_stale = true;
    }
}

void InsidePage::showNothing(const QString& short_text, const QString& sentence) {
    m_waiting = false;
    m_views->clear(short_text);
    m_verdict->clear();
    m_counter->clear();
    m_stepCard->setCorner({});
    m_sentence->setText(sentence);
    m_hint->hide();
    m_callLabel->hide();
    m_callBox->hide();
}

void InsidePage::ask() {
    if (!isVisible()) {
        m_stale = true;
        return;
    }
    m_stale = false;
    const int n = stepCount();
    m_back->setEnabled(n > 0 && m_slider->value() > 0);
    m_on->setEnabled(n > 0 && m_slider->value() + 1 < n);
    if (n == 0) {
        const QString text = tr("Press Run or Step, then choose a step");
        showNothing(text, m_data.isEmpty() ? tr("Nothing has run yet.") : tr("No step has been made yet."));
        return;
    }
    m_counter->setText(tr("%1 of %2").arg(formatCount(m_slider->value() + 1), formatCount(n)));
    if (m_data.isLive() && !m_liveLook) {
        showNothing(tr("The run goes on at full speed"),
                    tr("Pause the run or slow it down to look inside, or wait for its end."));
        return;
    }
    StepQuery query;
    query.step = m_slider->value();
    query.call = m_call;
    query.layer = m_layer->value();
    query.head = m_head->value();
    query.all_heads = m_allHeads->isChecked();
    m_waiting = true;
    m_slowAnswer.start();
    emit inspectRequested(m_data.soFar(), m_lane->currentIndex(), query);
}

void InsidePage::showStep(const std::shared_ptr<const StepView>& view) {
    if (static_cast<int>(view->lane) != m_lane->currentIndex() || view->step != m_slider->value()) return;
    m_waiting = false;
    m_slowAnswer.stop();
    m_stepCard->setCorner(view->step == 0
                              ? engineWord(to_string(view->phase))
                              : tr("%1 · step %2").arg(engineWord(to_string(view->phase))).arg(view->step));
    {
        const QSignalBlocker blocker(m_callBox);
        m_callBox->setRange(1, view->n_call);
        m_callBox->setValue(view->call + 1);
        m_callBox->setSuffix(tr(" of %1").arg(view->n_call));
    }
    m_callLabel->setVisible(view->n_call > 1);
    m_callBox->setVisible(view->n_call > 1);
    m_views->showStep(view, m_data.sharedTokenizer());
    const StepWords& words = *m_views->words();
    m_verdict->setTone({words.isRight() ? ColorRef::Role::good : ColorRef::Role::bad, 0});
    m_verdict->setText(words.verdict());
    m_verdict->setToolTip(words.verdict());
    showTimesOfStep();
    askForTimes();
}

void InsidePage::showFailure(const Error& error) {
    m_waiting = false;
    m_slowAnswer.stop();
    if (error.kind == ErrorKind::cancelled) return;
    const QString counter = m_counter->text();
    showNothing(tr("This step cannot be looked at"), QString::fromStdString(error.message));
    m_counter->setText(counter);
}

// Of a finished run; asked for once per lane, after the step is there.
void InsidePage::askForTimes() {
    const auto record = m_data.finishedRecord();
    if (record != m_timesOf) {
        m_timesOf = record;
        m_times.clear();
    }
    if (record != nullptr && !m_times.contains(m_lane->currentIndex()))
        emit profileRequested(record, m_lane->currentIndex());
}

void InsidePage::showTimes(const std::shared_ptr<const Record>& record, int lane,
                           const std::shared_ptr<const std::vector<TimeSplit>>& steps) {
    if (record != m_timesOf) return;
    m_times[lane] = steps;
    if (lane == m_lane->currentIndex()) showTimesOfStep();
}

void InsidePage::showTimesOfStep() {
    if (m_views->step() == nullptr) return;
    if (m_data.isLive()) {
        m_views->showTimes(nullptr, tr("Known after the run"));
        return;
    }
    const auto known =
        m_data.finishedRecord() == m_timesOf ? m_times.find(m_lane->currentIndex()) : m_times.end();
    if (known == m_times.end()) {
        m_views->showTimes(nullptr, tr("Serving the lane with time stamps inside …"));
        return;
    }
    const auto& steps = *known->second;
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [this](const TimeSplit& each) { return each.step == m_slider->value(); });
    m_views->showTimes(step == steps.end() ? nullptr : &*step, tr("Not measured"));
}

void InsidePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) {
        updateRange();
        ask();
    }
    m_slider->setFocus(Qt::OtherFocusReason);
}

}  // namespace decodescope
