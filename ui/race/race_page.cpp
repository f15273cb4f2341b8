// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/race_page.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <QtNumeric>

#include <algorithm>
#include <limits>

#include "ui/chart/line_chart.h"
#include "ui/help/fault_kinds.h"
#include "ui/race/lane_table.h"
#include "ui/race/token_stream.h"
#include "ui/report/record_charts.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

namespace {

// Numbers that change faster than this cannot be read.
constexpr int tableIntervalMs = 200;

// Puts a point at `index`, after empty ones where steps in between were not seen.
void setPoint(LineChart& chart, int series, std::size_t index, double x, double y) {
    for (int i = chart.pointCount(series); i < static_cast<int>(index); ++i)
        chart.append(series, x - static_cast<double>(index) + i, qQNaN());
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
    m_table->setTable(m_lanes, m_lanes->columns());
    connect(m_lanes, &LaneTableModel::columnsChanged, this,
            [this] { m_table->setColumns(m_lanes->columns()); });
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

QString RacePage::prompt(std::size_t request) const {
    const Record& record = m_data.record();
    if (request < record.prompts.size() && !record.prompts[request].text.empty())
        return QString::fromStdString(record.prompts[request].text);
    if (request < record.experiment.prompts.size()) {
        const PromptSpec& spec = record.experiment.prompts[request];
        if (spec.kind == PromptSpec::Kind::text) return QString::fromStdString(spec.text);
        if (spec.kind == PromptSpec::Kind::ids && m_data.tokenizer() != nullptr)
            return QString::fromStdString(m_data.tokenizer()->decode(spec.ids));
    }
    return tr("[%1 prompt tokens]").arg(m_data.promptLength(static_cast<int>(request)));
}

void RacePage::reset() {
    const Record& record = m_data.record();
    if (m_data.isLive() || m_data.isEmpty()) {
        setUpLatencyChart(*m_latency, record.experiment);
        setUpTotalTimeChart(*m_total, record.experiment);
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
    drawCompared();
    buildStreams();
    m_sinceTable.invalidate();
    appended();
}

void RacePage::drawCompared() {
    if (m_compared == nullptr) return;
    overlayLatency(*m_latency, m_data.record(), *m_compared, m_comparedName);
    overlayTotalTime(*m_total, m_data.record(), *m_compared, m_comparedName);
}

void RacePage::setCompared(std::shared_ptr<const Record> record, const QString& name) {
    if (record == m_compared && name == m_comparedName) return;
    m_compared = std::move(record);
    m_comparedName = name;
    reset();
}

void RacePage::buildStreams() {
    const auto n = m_data.record().lanes.size();
    // The widgets are kept when the same lanes run again, so that nothing flickers.
    if (m_views.size() != n) {
        for (const LaneView& view : m_views) delete view.box;
        m_views.assign(n, {});
        const std::size_t rows = n <= 3 ? 1 : n <= 8 ? 2 : (n + 3) / 4;
        const int columns = static_cast<int>((n + rows - 1) / rows);
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
        const auto& faults = m_data.record().lanes[i].spec.faults;
        auto* heading = view.box->findChild<QLabel*>(QStringLiteral("laneName"));
        heading->setText(faults.empty() ? name : tr("%1  ⚠ %2").arg(name, faultTitles(faults)));
        heading->setToolTip(faults.empty() ? QString()
                                           : tr("Makes mistakes on purpose: %1").arg(faultTitles(faults)));
        heading->setWordWrap(true);
        view.stream->setAccessibleName(tr("Text of lane %1").arg(name));
        view.repetition = -1;
    }
}

void RacePage::appended() {
    // A hidden page does nothing; it catches up when it is shown.
    m_stale = true;
    if (isVisible()) catchUp();
}

void RacePage::runHeld() {
    m_sinceTable.invalidate();
    appended();
}

void RacePage::catchUp() {
    m_stale = false;
    for (int lane = 0; lane < static_cast<int>(m_views.size()); ++lane) {
        const auto& repetitions = m_data.record().lanes[static_cast<std::size_t>(lane)].repetitions;
        const int repetition = static_cast<int>(repetitions.size()) - 1;
        if (LaneView& view = m_views[static_cast<std::size_t>(lane)];
            view.repetition != repetition || view.tokens.empty())
            beginRepetition(lane, repetition);
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

// `updateCurves` and `updateStream` go on where they stopped; a new repetition draws over the last one, like
// the beam of an oscilloscope.
void RacePage::beginRepetition(int lane, int repetition) {
    LaneView& view = m_views[static_cast<std::size_t>(lane)];
    const auto n = std::max<std::size_t>(1, m_data.record().experiment.prompts.size());
    QStringList prompts;
    for (std::size_t request = 0; request < n; ++request) prompts << prompt(request);
    view.stream->begin(prompts, ColorRef::lane(lane));
    view.repetition = repetition;
    view.n_step = view.n_token = 0;
    view.chosen = view.totalSeconds = 0;
    view.tokens.assign(n, {});
    view.n_compared.assign(n, 0);
}

void RacePage::updateCurves(int lane) {
    const RepetitionRecord* latest = m_data.latest(lane);
    LaneView& view = m_views[static_cast<std::size_t>(lane)];
    if (latest == nullptr) return;
    for (; view.n_step < latest->steps.size(); ++view.n_step) {
        const StepEvent& step = latest->steps[view.n_step];
        const auto number = static_cast<std::size_t>(std::max(step.step, 0));
        // Steps that were not seen live leave a gap.
        const std::size_t next =
            view.n_step == 0 ? 0 : static_cast<std::size_t>(latest->steps[view.n_step - 1].step) + 1;
        if (number > next) view.chosen += static_cast<double>(number - next) * step.n_token;
        view.chosen += step.n_token;
        view.totalSeconds += static_cast<double>(step.end_ns - step.start_ns) / 1e9;
        setPoint(*m_latency, lane, number, view.chosen, latencyOf(step));
        setPoint(*m_total, lane, number, view.chosen, view.totalSeconds);
    }
}

void RacePage::updateStream(int lane) {
    const RepetitionRecord* latest = m_data.latest(lane);
    LaneView& view = m_views[static_cast<std::size_t>(lane)];
    const LaneRecord& record = m_data.record().lanes[static_cast<std::size_t>(lane)];
    if (latest == nullptr) return;
    const Tokenizer* tokenizer = m_data.tokenizer();
    if (tokenizer == nullptr && !record.texts.empty() && view.n_token == 0) {
        // A record from a file whose model is not loaded: the text is known, its tokens' borders are not.
        for (std::size_t i = 0; i < record.texts.size(); ++i)
            view.stream->appendText(static_cast<int>(i), QString::fromStdString(record.texts[i]));
        view.n_token = latest->chosen.size();
        return;
    }
    for (; view.n_token < latest->chosen.size(); ++view.n_token) {
        const TokenEvent& token = latest->chosen[view.n_token];
        if (token.request < 0 || static_cast<std::size_t>(token.request) >= view.tokens.size()) continue;
        auto& tokens = view.tokens[static_cast<std::size_t>(token.request)];
        for (; static_cast<int>(tokens.size()) < token.index; tokens.push_back(-1))
            view.stream->appendToken(token.request, -1, "\xe2\x80\xa6");  // … was not seen live
        tokens.push_back(token.token);
        if (tokenizer != nullptr)
            view.stream->appendToken(token.request, token.token, tokenizer->token_bytes(token.token),
                                     token.drafted);
        else
            view.stream->appendNumber(token.request, token.token, token.drafted);
    }
}

void RacePage::compareTokens() {
    const std::size_t reference = m_data.record().reference_index();
    if (reference >= m_views.size()) return;
    for (std::size_t lane = 0; lane < m_views.size(); ++lane) {
        LaneView& view = m_views[lane];
        if (lane == reference || view.repetition != m_views[reference].repetition) continue;
        for (std::size_t request = 0; request < view.tokens.size(); ++request) {
            const auto& mine = view.tokens[request];
            const auto& theirs = m_views[reference].tokens[request];
            for (std::size_t& i = view.n_compared[request]; i < std::min(mine.size(), theirs.size()); ++i) {
                if (mine[i] != theirs[i] && mine[i] >= 0 && theirs[i] >= 0)
                    view.stream->markDifferent(static_cast<int>(request), static_cast<int>(i));
            }
        }
    }
}

// Between two lanes' reports of the same step their numbers cannot be compared for a moment: wait for the
// next tick instead of taking the speed-up away.
bool RacePage::stepsAreEven() const {
    const Record& record = m_data.record();
    if (record.experiment.effective_interleave() != Interleave::step) return true;
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
    std::size_t written = 0;
    for (const LaneView& view : m_views) written = std::max(written, view.n_token);
    const auto& lanes = m_data.record().lanes;
    const bool drafts = std::any_of(lanes.begin(), lanes.end(), [](const LaneRecord& lane) {
        return lane.spec.mode == LaneMode::speculative;
    });
    QString words = tr("token %1 of %2 · differing tokens are underlined")
                        .arg(written)
                        .arg(m_data.newTokens() * std::max(1, m_data.requestCount()));
    if (drafts) words += tr(", drafts that were kept are tinted");
    m_text->setCorner(written == 0 ? QString() : words);
}

void RacePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) catchUp();
}

}  // namespace decodescope
