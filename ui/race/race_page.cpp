// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/race_page.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

#include "ui/chart/line_chart.h"
#include "ui/race/lane_table.h"
#include "ui/race/token_stream.h"
#include "ui/report/record_charts.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Numbers that change faster than this cannot be read.
constexpr int tableIntervalMs = 200;

double milliseconds(const StepEvent& step) {
    return static_cast<double>(step.end_ns - step.start_ns) / 1e6;
}

// Token 1 comes from the prefill, token k + 1 from decode step k.
double tokenNumber(std::size_t step) {
    return static_cast<double>(step + 1);
}

// Puts a point at `index`, after empty ones where steps in between were not seen.
void setPoint(LineChart& chart, int series, std::size_t index, double x, double y) {
    for (int i = chart.pointCount(series); i < static_cast<int>(index); ++i)
        chart.append(series, x - static_cast<double>(index) + i, nan);
    chart.setPoint(series, static_cast<int>(index), x, y);
}

}  // namespace

RacePage::RacePage(const RunData& run, QWidget* parent)
    : QWidget(parent), m_data(run), m_lanes(new LaneTableModel(this)) {
    const CardMetrics metrics(font());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(metrics.spacing, metrics.spacing, metrics.spacing, metrics.spacing);
    column->setSpacing(metrics.spacing);

    auto* strip = new Card(this);
    strip->content()->setContentsMargins(1, 0, 1, metrics.padding / 3);
    m_table = new PlainTable(strip);
    m_table->setObjectName(QStringLiteral("laneTable"));
    m_table->setAccessibleName(tr("Numbers of the lanes"));
    m_table->setTable(m_lanes, LaneTableModel::columns());
    strip->content()->addWidget(m_table);
    strip->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    column->addWidget(strip);

    m_latency = new LineChart(this);
    m_latency->setObjectName(QStringLiteral("latencyChart"));
    m_latency->setEmptyText(tr("Press Run to start the race"));
    m_total = new LineChart(this);
    m_total->setObjectName(QStringLiteral("totalChart"));
    auto* charts = new QHBoxLayout;
    charts->setSpacing(metrics.spacing);
    charts->addWidget(m_latency, 10);
    charts->addWidget(m_total, 7);
    column->addLayout(charts, 11);
    connect(m_latency, &LineChart::hovered, this,
            [this](double x) { m_total->setCrosshair(x == x ? std::optional<double>(x) : std::nullopt); });
    connect(m_total, &LineChart::hovered, this,
            [this](double x) { m_latency->setCrosshair(x == x ? std::optional<double>(x) : std::nullopt); });

    m_text = new Card(tr("Text"), {}, this);
    m_text->setObjectName(QStringLiteral("textCard"));
    auto* inner = new QWidget(m_text);
    m_streams = new QGridLayout(inner);
    m_streams->setContentsMargins(0, 0, 0, 0);
    m_streams->setHorizontalSpacing(metrics.padding * 2);
    m_text->content()->addWidget(inner, 1);
    column->addWidget(m_text, 10);

    connect(&run, &RunData::reset, this, &RacePage::reset);
    connect(&run, &RunData::appended, this, &RacePage::appended);
    reset();
}

TokenStream* RacePage::stream(int lane) const {
    return lane >= 0 && static_cast<std::size_t>(lane) < m_views.size()
               ? m_views[static_cast<std::size_t>(lane)].stream
               : nullptr;
}

QString RacePage::prompt() const {
    const Record& record = m_data.record();
    if (!record.prompt_text.empty()) return QString::fromStdString(record.prompt_text);
    const PromptSpec& spec = record.experiment.prompt;
    if (spec.kind == PromptSpec::Kind::text) return QString::fromStdString(spec.text);
    if (spec.kind == PromptSpec::Kind::ids && m_data.tokenizer() != nullptr)
        return QString::fromStdString(m_data.tokenizer()->decode(spec.ids));
    return tr("[%1 prompt tokens]").arg(m_data.promptLength());
}

void RacePage::reset() {
    const Record& record = m_data.record();
    if (m_data.isLive() || m_data.isEmpty()) {
        const int newTokens = record.lanes.empty() ? 0 : m_data.newTokens();
        setUpLatencyChart(*m_latency, newTokens);
        setUpTotalTimeChart(*m_total, newTokens);
        for (std::size_t lane = 0; lane < record.lanes.size(); ++lane) {
            const QString name = QString::fromStdString(record.lanes[lane].spec.name);
            m_latency->addSeries(name, ColorRef::lane(static_cast<int>(lane)));
            m_total->addSeries(name, ColorRef::lane(static_cast<int>(lane)));
        }
    } else {
        // Once all repetitions are there, each token's median is drawn.
        showLatency(*m_latency, record);
        showTotalTime(*m_total, record);
    }
    buildStreams();
    m_sinceTable.invalidate();
    appended();
}

void RacePage::buildStreams() {
    const auto n = m_data.record().lanes.size();
    // The widgets are kept when the same lanes run again, so that nothing flickers.
    if (m_views.size() != n) {
        for (const LaneView& view : m_views) delete view.box;
        m_views.assign(n, {});
        const int columns = n <= 3 ? static_cast<int>(n) : static_cast<int>((n + 1) / 2);
        for (std::size_t i = 0; i < n; ++i) {
            LaneView& view = m_views[i];
            view.box = new QWidget(m_text);
            auto* column = new QVBoxLayout(view.box);
            column->setContentsMargins(0, 0, 0, 0);
            auto* head = new QHBoxLayout;
            head->addWidget(new Swatch(ColorRef::lane(static_cast<int>(i)), view.box));
            auto* name = new QLabel(view.box);
            name->setObjectName(QStringLiteral("laneName"));
            name->setTextFormat(Qt::PlainText);
            name->setForegroundRole(QPalette::PlaceholderText);
            head->addWidget(name, 1);
            column->addLayout(head);
            view.stream = new TokenStream(view.box);
            view.stream->setObjectName(QStringLiteral("stream%1").arg(i));
            column->addWidget(view.stream, 1);
            m_streams->addWidget(view.box, static_cast<int>(i) / columns, static_cast<int>(i) % columns);
        }
        for (int c = 0; c < m_streams->columnCount(); ++c)
            m_streams->setColumnStretch(c, c < columns ? 1 : 0);
    }
    for (std::size_t i = 0; i < n; ++i) {
        LaneView& view = m_views[i];
        const QString name = QString::fromStdString(m_data.record().lanes[i].spec.name);
        view.box->findChild<QLabel*>(QStringLiteral("laneName"))->setText(name);
        view.stream->setAccessibleName(tr("Text of lane %1").arg(name));
        view.repetition = -1;
        view.n_step = 0;
    }
}

void RacePage::appended() {
    // A hidden page does nothing; it catches up when it is shown.
    m_stale = true;
    if (isVisible()) catchUp();
}

void RacePage::catchUp() {
    m_stale = false;
    for (int lane = 0; lane < static_cast<int>(m_views.size()); ++lane) {
        if (m_data.isLive()) updateCurves(lane);
        updateStream(lane);
    }
    compareTokens();
    for (LaneView& view : m_views) {
        view.stream->flush();
        if (!m_data.isLive()) view.stream->finish();
    }
    if (!m_data.isLive() ||
        ((!m_sinceTable.isValid() || m_sinceTable.hasExpired(tableIntervalMs)) && stepsAreEven())) {
        m_lanes->setRecord(m_data.record());
        m_sinceTable.restart();
    }
    updateHeadings();
    m_latency->flush();
    m_total->flush();
}

// Both `updateCurves` and `updateStream` go on where they stopped; a new repetition draws over the last one,
// like the beam of an oscilloscope.
void RacePage::updateCurves(int lane) {
    const RepetitionRecord* latest = m_data.latest(lane);
    LaneView& view = m_views[static_cast<std::size_t>(lane)];
    if (latest == nullptr) return;
    const int repetition =
        static_cast<int>(m_data.record().lanes[static_cast<std::size_t>(lane)].repetitions.size()) - 1;
    std::size_t from = view.repetition == repetition ? view.n_step : 0;
    if (from == 0) view.totalSeconds = 0;
    for (; from < latest->steps.size(); ++from) {
        const StepEvent& step = latest->steps[from];
        const auto number = static_cast<std::size_t>(step.step);
        view.totalSeconds += milliseconds(step) / 1e3;
        if (step.phase == Phase::decode)
            setPoint(*m_latency, lane, number - 1, tokenNumber(number), milliseconds(step));
        setPoint(*m_total, lane, number, tokenNumber(number), view.totalSeconds);
    }
}

void RacePage::updateStream(int lane) {
    const RepetitionRecord* latest = m_data.latest(lane);
    LaneView& view = m_views[static_cast<std::size_t>(lane)];
    const LaneRecord& record = m_data.record().lanes[static_cast<std::size_t>(lane)];
    const int repetition = static_cast<int>(record.repetitions.size()) - 1;
    if (view.repetition != repetition || view.n_step == 0) {
        view.stream->begin(prompt(), ColorRef::lane(lane));
        view.repetition = repetition;
        view.n_step = 0;
        view.n_compared = 0;
    }
    if (latest == nullptr) return;
    const Tokenizer* tokenizer = m_data.tokenizer();
    if (tokenizer == nullptr && !record.text.empty() && view.n_step == 0) {
        // A record from a file whose model is not loaded: the text is known, its tokens' borders are not.
        view.stream->appendText(QString::fromStdString(record.text));
        view.n_step = latest->steps.size();
        return;
    }
    for (; view.n_step < latest->steps.size(); ++view.n_step) {
        const std::int32_t token = latest->steps[view.n_step].token;
        if (tokenizer != nullptr)
            view.stream->appendToken(token, tokenizer->token_bytes(token));
        else
            view.stream->appendNumber(token);
    }
}

void RacePage::compareTokens() {
    const std::size_t reference = m_data.record().reference_index();
    const RepetitionRecord* theirs = m_data.latest(static_cast<int>(reference));
    if (theirs == nullptr) return;
    for (std::size_t lane = 0; lane < m_views.size(); ++lane) {
        const RepetitionRecord* mine = m_data.latest(static_cast<int>(lane));
        LaneView& view = m_views[lane];
        if (lane == reference || mine == nullptr || view.repetition != m_views[reference].repetition)
            continue;
        const std::size_t end = std::min({mine->steps.size(), theirs->steps.size(), view.n_step});
        for (; view.n_compared < end; ++view.n_compared) {
            if (mine->steps[view.n_compared].token != theirs->steps[view.n_compared].token)
                view.stream->markDifferent(static_cast<int>(view.n_compared));
        }
    }
}

// Between two lanes' reports of the same step their numbers cannot be compared for a moment: wait for the
// next tick instead of taking the speed-up away.
bool RacePage::stepsAreEven() const {
    const Record& record = m_data.record();
    if (record.experiment.interleave != Interleave::step) return true;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    std::size_t most = 0;
    for (int lane = 0; lane < static_cast<int>(record.lanes.size()); ++lane) {
        const RepetitionRecord* latest = m_data.latest(lane);
        const std::size_t n = latest == nullptr ? 0 : latest->steps.size();
        least = std::min(least, n);
        most = std::max(most, n);
    }
    return most - least != 1;
}

void RacePage::updateHeadings() {
    int written = 0;
    for (const LaneView& view : m_views) written = std::max(written, static_cast<int>(view.n_step));
    m_text->setCorner(
        written == 0
            ? QString()
            : tr("token %1 of %2 · differing tokens are underlined").arg(written).arg(m_data.newTokens()));
}

void RacePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) catchUp();
}

}  // namespace decodescope
