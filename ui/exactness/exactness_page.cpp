// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/exactness/exactness_page.h"

#include <QComboBox>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/chart/line_chart.h"
#include "ui/exactness/evidence_list.h"
#include "ui/exactness/exactness_charts.h"
#include "ui/exactness/verdict_card.h"
#include "ui/report/record_charts.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

// A growing chart is drawn anew; more often than this would cost the run more than it shows.
constexpr int chartIntervalMs = 500;

QString nameOf(const Record& record, int lane) {
    return QString::fromStdString(record.lanes[static_cast<std::size_t>(lane)].spec.name);
}

}  // namespace

ExactnessPage::ExactnessPage(const RunData& run, QWidget* parent) : QWidget(parent), m_data(run) {
    const CardMetrics metrics(font());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(metrics.spacing, metrics.spacing, metrics.spacing, metrics.spacing);
    column->setSpacing(metrics.spacing);

    auto* row = new QHBoxLayout;
    row->setSpacing(metrics.padding / 2);
    m_laneLabel = new QLabel(tr("Lane"), this);
    m_lanes = new QComboBox(this);
    m_lanes->setObjectName(QStringLiteral("exactnessLane"));
    m_lanes->setAccessibleName(tr("Lane to judge"));
    m_lanes->setToolTip(tr("The lane whose run is judged"));
    m_lanes->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_laneLabel->setBuddy(m_lanes);
    m_traceName = new QLabel(this);
    m_traceName->setObjectName(QStringLiteral("traceName"));
    m_traceName->setTextFormat(Qt::PlainText);
    m_traceName->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_back = new QPushButton(tr("Back to the run"), this);
    m_back->setObjectName(QStringLiteral("traceBack"));
    m_back->setToolTip(tr("Put the trace away and show the lanes again"));
    m_back->setMinimumWidth(fontMetrics().horizontalAdvance(m_back->text()) + metrics.padding * 2);
    row->addWidget(m_laneLabel);
    row->addWidget(m_lanes);
    row->addWidget(m_traceName, 1);
    row->addWidget(m_back);
    row->addStretch(0);
    column->addLayout(row);

    m_verdict = new VerdictCard(this);
    m_verdict->setObjectName(QStringLiteral("verdictCard"));
    column->addWidget(m_verdict);

    m_errors = new LineChart(this);
    m_errors->setObjectName(QStringLiteral("errorChart"));
    m_calls = new LineChart(this);
    m_calls->setObjectName(QStringLiteral("callChart"));
    auto* charts = new QHBoxLayout;
    charts->setSpacing(metrics.spacing);
    charts->addWidget(m_errors, 10);
    charts->addWidget(m_calls, 8);
    column->addLayout(charts, 11);
    m_margins = new LineChart(this);
    m_margins->setObjectName(QStringLiteral("marginChart"));
    m_evidence = new EvidenceList(this);
    m_evidence->setObjectName(QStringLiteral("evidenceCard"));
    auto* below = new QHBoxLayout;
    below->setSpacing(metrics.spacing);
    below->addWidget(m_margins, 8);
    below->addWidget(m_evidence, 10);
    column->addLayout(below, 9);

    connect(m_lanes, &QComboBox::currentIndexChanged, this, [this] {
        if (!m_filling) laneChosen();
    });
    connect(m_back, &QPushButton::clicked, this, &ExactnessPage::leaveTrace);
    connect(m_verdict, &VerdictCard::helpRequested, this, &ExactnessPage::helpRequested);
    connect(m_verdict, &VerdictCard::actionRequested, this, [this] {
        if (lane() >= 0) m_outcomes.erase(lane());
        request();
    });
    connect(&run, &RunData::reset, this, &ExactnessPage::reset);
    connect(&run, &RunData::appended, this, &ExactnessPage::appended);
    reset();
}

int ExactnessPage::lane() const {
    return m_lanes->currentIndex() < 0 ? -1 : m_lanes->currentData().toInt();
}

void ExactnessPage::setLane(int lane) {
    const int row = m_lanes->findData(lane);
    if (row >= 0) m_lanes->setCurrentIndex(row);
}

// The lane that most likely wants a look: one that is broken on purpose, else one that differs, else the
// first that is compared.
int ExactnessPage::lookedAtFirst() const {
    const Record& record = m_data.record();
    const auto reference = record.lanes.empty() ? 0 : record.reference_index();
    int differs = -1;
    int other = -1;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        if (i == reference) continue;
        const auto lane = static_cast<int>(i);
        if (!record.lanes[i].spec.faults.empty()) return lane;
        if (differs < 0 && record.lanes[i].first_divergence(record.reference())) differs = lane;
        if (other < 0) other = lane;
    }
    return differs >= 0 ? differs : other >= 0 ? other : static_cast<int>(reference);
}

void ExactnessPage::fillLanes() {
    const Record& record = m_data.record();
    QStringList names;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) names << nameOf(record, static_cast<int>(i));
    QStringList shown;
    for (int i = 0; i < m_lanes->count(); ++i) shown << m_lanes->itemText(i);
    m_filling = true;
    const int before = lane();
    m_lanes->clear();
    const int side = fontMetrics().ascent() * 3 / 4;
    m_lanes->setIconSize({side, side});
    for (int i = 0; i < names.size(); ++i) {
        QPixmap swatch(QSize(side, side) * devicePixelRatioF());
        swatch.setDevicePixelRatio(devicePixelRatioF());
        swatch.fill(Qt::transparent);
        QPainter painter(&swatch);
        paintSwatch(painter, QRectF(0, 0, side, side), themeColors(palette()).color(ColorRef::lane(i)));
        painter.end();
        m_lanes->addItem(swatch, names[i], i);
    }
    // What the user has chosen stays while the same lanes run again.
    const bool same = names == shown && before >= 0;
    m_lanes->setCurrentIndex(m_lanes->findData(same ? before : lookedAtFirst()));
    m_filling = false;
}

void ExactnessPage::reset() {
    m_outcomes.clear();
    if (m_data.isLive()) {
        m_trace.reset();
        m_traceBusy.clear();
    }
    fillLanes();
    m_sinceCharts.invalidate();
    appended();
}

void ExactnessPage::appended() {
    // A hidden page does nothing; it catches up when it is shown.
    m_stale = true;
    if (!isVisible()) return;
    if (m_data.isLive() && m_sinceCharts.isValid() && !m_sinceCharts.hasExpired(chartIntervalMs)) return;
    catchUp();
}

void ExactnessPage::laneChosen() {
    updateCharts();
    updateVerdict();
    if (isVisible()) request();
}

void ExactnessPage::catchUp() {
    m_stale = false;
    m_sinceCharts.start();
    updateCharts();
    updateVerdict();
    if (isVisible()) request();
}

// Asks for the verdict that is missing, once.
void ExactnessPage::request() {
    const int wanted = lane();
    if (m_trace || !m_traceBusy.isEmpty() || m_data.finishedRecord() == nullptr || wanted < 0) return;
    if (m_outcomes.contains(wanted)) return;
    m_outcomes[wanted].busy = true;
    updateVerdict();
    emit judgeRequested(wanted);
}

void ExactnessPage::setCompared(std::shared_ptr<const Record> record, const QString& name) {
    if (record == m_compared && name == m_comparedName) return;
    m_compared = std::move(record);
    m_comparedName = name;
    m_stale = true;
    if (isVisible()) catchUp();
}

void ExactnessPage::showJudged(const std::shared_ptr<const Judged>& judged) {
    if (judged->record == nullptr) {
        m_traceBusy.clear();
        m_trace = judged;
    } else {
        // Another run may be on screen by now.
        if (judged->record != m_data.finishedRecord()) return;
        m_outcomes[judged->lane] = {false, judged, {}};
    }
    updateCharts();
    updateVerdict();
}

void ExactnessPage::showFailure(int lane, const Error& error) {
    if (lane < 0) {
        m_traceBusy.clear();
    } else if (const auto outcome = m_outcomes.find(lane); outcome != m_outcomes.end()) {
        outcome->second = {false, nullptr, error};
    }
    updateCharts();
    updateVerdict();
    if (lane < 0 && isVisible()) request();
}

void ExactnessPage::showTraceBusy(const QString& path) {
    // What was being judged has been put aside for it.
    std::erase_if(m_outcomes, [](const auto& outcome) { return outcome.second.busy; });
    m_trace.reset();
    m_traceBusy = path;
    updateCharts();
    updateVerdict();
}

void ExactnessPage::leaveTrace() {
    m_trace.reset();
    laneChosen();
}

void ExactnessPage::updateCharts() {
    const bool trace = m_trace != nullptr || !m_traceBusy.isEmpty();
    m_laneLabel->setVisible(!trace);
    m_lanes->setVisible(!trace);
    m_traceName->setVisible(trace);
    m_back->setVisible(m_trace != nullptr);
    m_errors->setVisible(!trace);
    const auto outcome = m_outcomes.find(lane());
    const Judged* judged = trace                         ? m_trace.get()
                           : outcome == m_outcomes.end() ? nullptr
                                                         : outcome->second.judged.get();
    if (!trace) {
        const Record& record = m_data.record();
        const auto shown = static_cast<std::size_t>(std::max(lane(), 0));
        m_errors->setEmptyText(m_data.isEmpty() ? tr("Press Run to compare the lanes")
                               : record.lanes.size() < 2
                                   ? tr("One lane alone: add a second one to compare with")
                                   : tr("No step of these lanes was compared"));
        m_margins->setEmptyText(tr("Where steps are compared, the reference's margin is shown"));
        if (record.lanes.empty()) {
            m_errors->removeAllSeries();
            m_margins->removeAllSeries();
        } else {
            showErrors(*m_errors, record, shown);
            if (m_compared != nullptr && !m_errors->isEmpty())
                overlayLogitError(*m_errors, record, *m_compared, m_comparedName);
            // The reference is compared with nobody: any other lane knows its margins.
            const std::size_t source = shown != record.reference_index() || record.lanes.size() < 2 ? shown
                                       : shown == 0                                                 ? 1
                                                                                                    : 0;
            showTop2Margin(*m_margins, record, source);
        }
    } else {
        m_margins->setEmptyText(tr("The trace has no logits"));
        showCallMargins(*m_margins, m_trace ? m_trace->judgement.calls : std::vector<CallError>());
    }
    m_calls->setEmptyText(judged != nullptr ? tr("The run has no logits to compare")
                                            : tr("Shown when the run has been judged"));
    showCallErrors(*m_calls, judged != nullptr ? judged->judgement.calls : std::vector<CallError>(),
                   judged != nullptr ? judged->judgement.verdict.first : VerdictPlace(),
                   judged != nullptr ? judged->judgement.weights : WeightType::f32);
    for (LineChart* chart : {m_errors, m_calls, m_margins}) chart->flush();
}

void ExactnessPage::updateVerdict() {
    const auto show = [this](const Verdict& verdict) {
        m_verdict->setVerdict(verdict);
        m_evidence->setEvidence(verdict.evidence);
    };
    const auto notice = [this](const QString& headline, const QString& sentence, const QString& action = {}) {
        m_verdict->setNotice(headline, sentence, action);
        m_evidence->clear();
    };
    if (!m_traceBusy.isEmpty()) {
        const QString name = QFileInfo(m_traceBusy).fileName();
        m_traceName->setText(tr("Trace %1").arg(name));
        return notice(tr("Judging the trace …"),
                      tr("Every call is recomputed from its tokens. Stop ends it."));
    }
    if (m_trace) {
        m_traceName->setText(
            tr("Trace %1, judged with %2")
                .arg(QFileInfo(m_trace->path).fileName(), QFileInfo(m_trace->model).fileName()));
        m_traceName->setToolTip(QStringLiteral("%1\n%2").arg(m_trace->path, m_trace->model));
        return show(m_trace->judgement.verdict);
    }
    if (m_data.isLive()) {
        return notice(tr("Running …"),
                      tr("A lane is judged when the run has ended; the charts grow meanwhile."));
    }
    if (m_data.finishedRecord() == nullptr || lane() < 0) {
        return notice(tr("Nothing to judge yet"),
                      tr("Press Run, or open a trace of another program: File, Open Trace."));
    }
    const QString name = nameOf(m_data.record(), lane());
    const auto outcome = m_outcomes.find(lane());
    if (outcome == m_outcomes.end())
        return notice(tr("Not judged yet"), tr("Lane %1 waits for its verdict.").arg(name), tr("Judge"));
    if (outcome->second.judged) return show(outcome->second.judged->judgement.verdict);
    if (outcome->second.busy) {
        return notice(
            tr("Judging lane %1 …").arg(name),
            tr("Its requests are served once more, untimed, and every call is recomputed. Stop ends "
               "it."));
    }
    if (outcome->second.error.kind == ErrorKind::cancelled)
        return notice(tr("Not judged"), tr("Judging lane %1 was stopped.").arg(name), tr("Judge"));
    notice(tr("Lane %1 could not be judged").arg(name), QString::fromStdString(outcome->second.error.message),
           tr("Try again"));
}

// The swatches of the list are pictures: they do not follow the theme by themselves.
void ExactnessPage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_lanes != nullptr) fillLanes();
}

void ExactnessPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale)
        catchUp();
    else
        request();
}

}  // namespace decodescope
