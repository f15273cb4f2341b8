// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/inside/inside_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

#include "ui/chart/format.h"
#include "ui/chart/matrix_chart.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

// The picture of a running lane changes this often at most.
constexpr int followIntervalMs = 100;
// Kinds of a position cell.
constexpr std::uint8_t fromCache = 0;
constexpr std::uint8_t fromCall = 1;
constexpr std::uint8_t blank = 2;

QToolButton* arrowButton(Qt::ArrowType arrow, const QString& name, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setArrowType(arrow);
    button->setAutoRaise(true);
    button->setAutoRepeat(true);
    button->setAccessibleName(name);
    button->setToolTip(name);
    return button;
}

}  // namespace

InsidePage::InsidePage(const RunData& run, QWidget* parent) : QWidget(parent), m_data(run) {
    const CardMetrics metrics(font());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(metrics.spacing, metrics.spacing, metrics.spacing, metrics.spacing);
    column->setSpacing(metrics.spacing);

    auto* top = new Card(this);
    auto* row = new QHBoxLayout;
    row->setSpacing(metrics.padding);
    auto* laneLabel = new QLabel(tr("Lane"), top);
    laneLabel->setFont(metrics.title);
    m_swatch = new Swatch(ColorRef::lane(0), top);
    m_lane = new QComboBox(top);
    m_lane->setObjectName(QStringLiteral("insideLane"));
    m_lane->setAccessibleName(tr("Lane"));
    m_lane->setToolTip(tr("The lane to look into"));
    m_lane->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    laneLabel->setBuddy(m_lane);
    m_verdict = new ToneLabel(top);
    m_verdict->setObjectName(QStringLiteral("insideVerdict"));
    row->addWidget(laneLabel);
    row->addWidget(m_swatch);
    row->addWidget(m_lane);
    row->addStretch(1);
    row->addWidget(m_verdict);
    top->content()->addLayout(row);
    top->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    column->addWidget(top);

    m_mask = new CellGrid(this);
    m_mask->setObjectName(QStringLiteral("maskGrid"));
    m_mask->setTitle(tr("Who sees whom"));
    m_mask->setExportName(QStringLiteral("attention_mask"));
    m_mask->setEmptyText(tr("Press Run, then choose a step"));
    m_mask->setNames(tr("query"), tr("key"));
    m_mask->setDefinition(
        tr("One row per token that this call computes, one column per key it could read. A query sees a key "
           "when "
           "its position is not later, the key is neither padding nor an empty slot, and it is inside the "
           "window."));
    m_positions = new CellGrid(this);
    m_positions->setObjectName(QStringLiteral("positionGrid"));
    m_positions->setTitle(tr("Position ids"));
    m_positions->setSubtitle(tr("used, with the expected one below where it differs"));
    m_positions->setExportName(QStringLiteral("position_ids"));
    m_positions->setEmptyText(tr("Press Run, then choose a step"));
    m_positions->setDefinition(
        tr("The position id that each key slot holds, and that each query of this call uses."));
    m_mask->setMaxCellSize(2.2, 2.2);
    m_positions->setMaxCellSize(2.4, 1.7);
    m_positions->setKinds(
        {{tr("key from the cache"), ColorRef{ColorRef::Role::accent_soft, 0}},
         {tr("key and query of this call"), ColorRef::cell(static_cast<std::size_t>(CellState::visible))},
         {QString(), ColorRef::cell(static_cast<std::size_t>(CellState::empty)), false}});
    m_grids = new QBoxLayout(QBoxLayout::LeftToRight);
    m_grids->setSpacing(metrics.spacing);
    m_grids->addWidget(m_mask, 1);
    m_grids->addWidget(m_positions, 1);
    column->addLayout(m_grids, 1);

    m_stepCard = new Card(tr("Step"), {}, this);
    auto* stepRow = new QHBoxLayout;
    m_slider = new QSlider(Qt::Horizontal, m_stepCard);
    m_slider->setObjectName(QStringLiteral("stepSlider"));
    m_slider->setAccessibleName(tr("Step"));
    m_slider->setToolTip(
        tr("Left and Right: one step. Page Up and Page Down: ten. At its end it follows the run"));
    m_slider->setPageStep(10);
    m_back = arrowButton(Qt::LeftArrow, tr("One step back"), m_stepCard);
    m_on = arrowButton(Qt::RightArrow, tr("One step on"), m_stepCard);
    m_counter = mutedLabel({}, m_stepCard);
    m_counter->setMinimumWidth(m_counter->fontMetrics().horizontalAdvance(QStringLiteral("8,888 of 8,888")));
    m_counter->setAlignment(Qt::AlignCenter);
    stepRow->addWidget(m_slider, 1);
    stepRow->addWidget(m_back);
    stepRow->addWidget(m_counter);
    stepRow->addWidget(m_on);
    m_stepCard->content()->addLayout(stepRow);
    m_stepCard->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    column->addWidget(m_stepCard);

    auto* words = new Card(this);
    auto* wordsRow = new QHBoxLayout;
    m_sentence = new QLabel(words);
    m_sentence->setObjectName(QStringLiteral("insideSentence"));
    m_sentence->setTextFormat(Qt::PlainText);
    m_hint = mutedLabel(tr("Point at any cell; the same key is marked in both views."), words);
    wordsRow->addWidget(m_sentence);
    wordsRow->addSpacing(metrics.padding);
    wordsRow->addWidget(m_hint, 1);
    words->content()->addLayout(wordsRow);
    words->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    column->addWidget(words);

    connect(m_lane, &QComboBox::currentIndexChanged, this, [this](int lane) {
        m_swatch->setColor(ColorRef::lane(lane));
        updateRange();
        showStepIfVisible();
    });
    connect(m_slider, &QSlider::valueChanged, this, [this](int value) {
        m_following = value == m_slider->maximum();
        showStepIfVisible();
    });
    connect(m_back, &QToolButton::clicked, m_slider, [this] { m_slider->setValue(m_slider->value() - 1); });
    connect(m_on, &QToolButton::clicked, m_slider, [this] { m_slider->setValue(m_slider->value() + 1); });
    connect(m_mask, &CellGrid::cellHovered, this, &InsidePage::showCell);
    connect(m_mask, &CellGrid::cellSelected, this, &InsidePage::showCell);
    const auto fromPosition = [this](int gridRow, int gridColumn) {
        showSlot(gridRow < 0 || gridColumn < 0 ? -1 : gridRow * m_positionColumns + gridColumn);
    };
    connect(m_positions, &CellGrid::cellHovered, this, fromPosition);
    connect(m_positions, &CellGrid::cellSelected, this, fromPosition);
    connect(&run, &RunData::reset, this, &InsidePage::reset);
    connect(&run, &RunData::appended, this, &InsidePage::append);
    reset();
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

int InsidePage::stepCount() const {
    const RepetitionRecord* latest = m_data.latest(m_lane->currentIndex());
    return latest == nullptr ? 0 : static_cast<int>(latest->steps.size());
}

void InsidePage::reset() {
    const auto& lanes = m_data.record().lanes;
    {
        const QSignalBlocker blocker(m_lane);
        const QString before = m_lane->currentText();
        m_lane->clear();
        for (const LaneRecord& lane : lanes) m_lane->addItem(QString::fromStdString(lane.spec.name));
        // The first lane that keeps a cache is the one people want to look into.
        const auto cached = std::find_if(lanes.begin(), lanes.end(), [this](const LaneRecord& lane) {
            return lane.spec.mode == LaneMode::cached &&
                   whyNotShown(lane.spec, m_data.requestCount()).isEmpty();
        });
        const int known = m_lane->findText(before);
        m_lane->setCurrentIndex(known >= 0              ? known
                                : cached != lanes.end() ? static_cast<int>(cached - lanes.begin())
                                : lanes.empty()         ? -1
                                                        : 0);
        m_swatch->setColor(ColorRef::lane(std::max(0, m_lane->currentIndex())));
        m_swatch->setVisible(!lanes.empty());
    }
    m_sinceFollow.invalidate();
    if (m_data.isLive()) m_following = true;
    updateRange();
    showStepIfVisible();
}

void InsidePage::append() {
    if (!isVisible()) {
        m_stale = true;
        return;
    }
    if (m_sinceFollow.isValid() && !m_sinceFollow.hasExpired(followIntervalMs)) return;
    m_sinceFollow.restart();
    const int before = m_slider->value();
    updateRange();
    if (m_slider->value() != before || !m_facts) showStep();
}

void InsidePage::updateRange() {
    const QSignalBlocker blocker(m_slider);
    const int last = std::max(0, stepCount() - 1);
    m_slider->setRange(0, last);
    if (m_following) m_slider->setValue(last);
    m_slider->setEnabled(stepCount() > 1 && reasonNotToShow().isEmpty());
}

void InsidePage::showStepIfVisible() {
    m_stale = true;
    if (isVisible()) showStep();
}

void InsidePage::catchUp() {
    updateRange();
    showStep();
}

QString InsidePage::reasonNotToShow() const {
    const auto& lanes = m_data.record().lanes;
    const int lane = m_lane->currentIndex();
    if (lane < 0 || static_cast<std::size_t>(lane) >= lanes.size()) return {};
    return whyNotShown(lanes[static_cast<std::size_t>(lane)].spec, m_data.requestCount());
}

void InsidePage::showNothing(const QString& sentence) {
    m_facts.reset();
    const QString empty = reasonNotToShow().isEmpty() ? tr("Press Run, then choose a step")
                                                      : tr("This lane's steps are not drawn yet");
    m_mask->setEmptyText(empty);
    m_positions->setEmptyText(empty);
    m_mask->setCells(0, 0, {});
    m_mask->setSubtitle({});
    m_mask->setNote({});
    m_positions->setCells(0, 0, {});
    m_verdict->clear();
    m_counter->clear();
    m_stepCard->setCorner({});
    m_sentence->setText(sentence);
    m_hint->hide();
    m_mask->flush();
    m_positions->flush();
}

void InsidePage::showStep() {
    m_stale = false;
    const int n = reasonNotToShow().isEmpty() ? stepCount() : 0;
    m_back->setEnabled(n > 0 && m_slider->value() > 0);
    m_on->setEnabled(n > 0 && m_slider->value() + 1 < n);
    const QString why = reasonNotToShow();
    if (n == 0 || !why.isEmpty()) {
        showNothing(!why.isEmpty()     ? why
                    : m_data.isEmpty() ? tr("Nothing has run yet.")
                                       : tr("No step has been made yet."));
        return;
    }
    const auto& laneRecord = m_data.record().lanes[static_cast<std::size_t>(m_lane->currentIndex())];
    const RepetitionRecord& latest = *m_data.latest(m_lane->currentIndex());
    const StepEvent& event = latest.steps[static_cast<std::size_t>(m_slider->value())];
    m_facts = stepFacts(laneRecord.spec, m_data.record().model.window, m_data.promptLength(), event.step);
    const AttentionPlan& plan = m_facts->plan;
    m_counter->setText(tr("%1 of %2").arg(formatCount(m_slider->value() + 1), formatCount(n)));
    m_stepCard->setCorner(event.step == 0 ? tr("prefill")
                                          : tr("prefill and %1 decode steps").arg(event.step));

    // Only the states that occur stand in the legend.
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(plan.n_query()) *
                                    static_cast<std::size_t>(plan.n_slot(0)));
    std::array<bool, 5> occurs{};
    for (int query = 0; query < plan.n_query(); ++query) {
        for (int slot = 0; slot < plan.n_slot(0); ++slot) {
            const auto state = static_cast<std::uint8_t>(plan.cell(0, query, slot));
            cells[static_cast<std::size_t>(query) * static_cast<std::size_t>(plan.n_slot(0)) +
                  static_cast<std::size_t>(slot)] = state;
            occurs[state] = true;
        }
    }
    std::vector<CellKind> kinds;
    for (std::size_t state = 0; state < occurs.size(); ++state)
        kinds.push_back({QString::fromLatin1(to_string(static_cast<CellState>(state))), ColorRef::cell(state),
                         occurs[state]});
    m_mask->setKinds(kinds);
    m_mask->setCells(plan.n_query(), plan.n_slot(0), std::move(cells));
    m_mask->setFirstNumbers(m_facts->n_stored, 0);
    m_mask->setColumnSeparators(m_facts->n_stored > 0 ? QVector<int>{m_facts->n_stored} : QVector<int>());
    m_mask->setSubtitle(m_facts->heading());
    m_mask->setNote(m_facts->keysSentence());
    m_mask->setCellDescriber(
        [this](int query, int key) { return m_facts ? m_facts->cellSentence(query, key) : QString(); });
    arrange();
    showPositions();

    const int wrong = m_facts->wrongPositions();
    m_verdict->setTone({wrong == 0 ? ColorRef::Role::good : ColorRef::Role::bad, 0});
    m_verdict->setText(wrong == 0 ? tr("every position id is as expected")
                                  : tr("%1 position ids are wrong").arg(wrong));
    showCell(-1, -1);
    m_mask->flush();
    m_positions->flush();
}

// A square stands beside the positions; the one row of a decode step lies above them.
void InsidePage::arrange() {
    const CardMetrics metrics(font());
    const bool row = m_facts && m_facts->plan.n_query() == 1;
    m_grids->setDirection(row ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    m_mask->setMaximumHeight(row ? metrics.line * 6 + metrics.padding * 5 : QWIDGETSIZE_MAX);
    m_grids->activate();
}

// Slots in reading order, as many in a row as find room.
void InsidePage::showPositions() {
    const AttentionPlan& plan = m_facts->plan;
    const int n = plan.n_slot(0);
    const CardMetrics metrics(font());
    const int room = (m_positions->width() - 4 * metrics.padding) / (metrics.line * 2);
    m_positionColumns = std::clamp(room / 4 * 4, 8, 64);
    const int n_row = (n + m_positionColumns - 1) / m_positionColumns;
    const auto size = static_cast<std::size_t>(n_row) * static_cast<std::size_t>(m_positionColumns);
    std::vector<std::uint8_t> kinds(size, blank);
    std::vector<QString> used(size);
    std::vector<QString> expected(size);
    const auto positions = plan.slot_positions(0);
    for (int slot = 0; slot < n; ++slot) {
        const auto i = static_cast<std::size_t>(slot);
        kinds[i] = slot < m_facts->n_stored ? fromCache : fromCall;
        used[i] = QString::number(positions[i]);
        if (positions[i] != m_facts->expectedPosition(slot))
            expected[i] = QString::number(m_facts->expectedPosition(slot));
    }
    QStringList labels;
    for (int row = 0; row < n_row; ++row) labels << QString::number(row * m_positionColumns);
    m_positions->setCells(n_row, m_positionColumns, std::move(kinds));
    m_positions->setTexts(std::move(used), std::move(expected));
    m_positions->setRowLabels(labels);
    m_positions->setCellDescriber([this](int row, int column) {
        const int slot = row * m_positionColumns + column;
        if (!m_facts || slot >= m_facts->plan.n_slot(0)) return QString();
        const int position = m_facts->plan.slot_positions(0)[static_cast<std::size_t>(slot)];
        if (slot < m_facts->n_stored)
            return tr("Slot %1: key at position %2, from the cache. Expected: %3.")
                .arg(slot)
                .arg(position)
                .arg(m_facts->expectedPosition(slot));
        const int query =
            m_facts->plan.query_positions(0)[static_cast<std::size_t>(slot - m_facts->n_stored)];
        return tr("Slot %1: key at position %2, query at position %3. Expected: %4.")
            .arg(slot)
            .arg(position)
            .arg(query)
            .arg(m_facts->expectedPosition(slot));
    });
}

void InsidePage::showCell(int query, int key) {
    if (!m_facts) return;
    const AttentionPlan& plan = m_facts->plan;
    if (query < 0 || key < 0) {
        m_sentence->setText(
            tr("%1 of %2 query-key pairs are visible.")
                .arg(formatCount(plan.n_allowed()),
                     formatCount(static_cast<std::int64_t>(plan.n_query()) * plan.n_slot(0))));
        m_hint->show();
        m_positions->setSelectedCell(-1, -1);
    } else {
        std::int64_t seen = 0;
        for (const SlotRange& range : plan.visible(0, query)) seen += range.end - range.begin;
        m_sentence->setText(m_facts->cellSentence(query, key) + QLatin1Char(' ') +
                            (seen == 1 ? tr("It sees one key in all.")
                                       : tr("It sees %1 keys in all.").arg(formatCount(seen))));
        m_hint->hide();
        m_positions->setSelectedCell(key / m_positionColumns, key % m_positionColumns);
    }
    m_positions->flush();
}

void InsidePage::showSlot(int slot) {
    if (!m_facts || slot < 0 || slot >= m_facts->plan.n_slot(0)) {
        m_mask->setSelectedCell(-1, -1);
        showCell(-1, -1);
    } else {
        // The query of the slot itself, or the newest one.
        const int query = slot >= m_facts->n_stored ? slot - m_facts->n_stored : m_facts->plan.n_query() - 1;
        m_mask->setSelectedCell(query, slot);
        m_sentence->setText(m_positions->describeCell(slot / m_positionColumns, slot % m_positionColumns));
        m_hint->hide();
    }
    m_mask->flush();
}

void InsidePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (m_facts && isVisible()) showStep();
}

void InsidePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) catchUp();
    m_slider->setFocus(Qt::OtherFocusReason);
}

}  // namespace decodescope
