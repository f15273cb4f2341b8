// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/sweep_page.h"

#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "engine/sweep/cell_text.h"
#include "engine/sweep/fits.h"
#include "ui/chart/format.h"
#include "ui/chart/line_chart.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/sweep/sweep_form.h"
#include "ui/text.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/plain_table.h"
#include "ui/widgets/rows_model.h"
#include "ui/widgets/scrolling_column.h"

namespace decodescope {

namespace {

constexpr int wideChars = 130;   // from this width on, the charts stand side by side,
constexpr int tableChars = 170;  // and the table has room for all its columns
constexpr double nsPerMs = 1e6;
constexpr std::size_t leastForFit = 3;
constexpr std::size_t laneColumn = 1;  // of the table

QString durationText(double seconds) {
    return QString::fromStdString(duration_text(seconds));
}

// Of shapes that differ, what a legend must say beside the lane.
QString shapeSuffix(const TestShape& shape, bool several) {
    if (!several) return {};
    TestShape rest = shape;
    rest.n_gen = 0;
    return QStringLiteral(" · %1 t%2").arg(QString::fromStdString(rest.label())).arg(shape.n_threads);
}

}  // namespace

SweepPage::SweepPage(Session& session, std::function<Experiment()> experiment, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_experiment(std::move(experiment)),
      m_cells(std::make_shared<const std::vector<Cell>>()) {
    const CardMetrics metrics(font());
    QVBoxLayout* column = scrollingColumn(this);
    QWidget* body = column->parentWidget();
    m_form = new SweepForm(body);
    m_form->setObjectName(QStringLiteral("sweepForm"));
    column->addWidget(m_form);
    column->addWidget(buildControls());

    m_growth = new LineChart(body);
    m_growth->setObjectName(QStringLiteral("sweepGrowth"));
    m_growth->setTitle(tr("Time by decode steps"));
    m_growth->setSubtitle(tr("ms, log-log · the prompt's own time taken off"));
    m_growth->setDefinition(tr(
        "Median time of a test, less its time to first token, against its decode steps n. The legend has the "
        "exponent k of time = c n^k with its standard error, once there are three different numbers of "
        "steps."));
    m_growth->setEmptyText(tr("Run a sweep or open the file of one"));
    m_growth->setExportName(QStringLiteral("sweep_growth"));
    m_growth->setXAxis({.name = tr("decode steps"), .unit = Unit::count, .log = true, .show_name = true});
    m_growth->setYAxis({.name = tr("time"), .unit = Unit::milliseconds, .log = true});
    m_depth = new LineChart(body);
    m_depth->setObjectName(QStringLiteral("sweepDepth"));
    m_depth->setTitle(tr("Step time by context"));
    m_depth->setSubtitle(tr("ms · the slope as passes over the cache"));
    m_depth->setDefinition(tr(
        "Median time of each decode step against the tokens before it. Passes: how often a step would read "
        "the cache at the speed at which this machine reads memory; 1 = once, as fast as memory allows."));
    m_depth->setEmptyText(tr("Contexts that span at least 16 tokens are needed"));
    m_depth->setExportName(QStringLiteral("sweep_depth"));
    m_depth->setXAxis({.name = tr("tokens of context"), .unit = Unit::count, .show_name = true});
    m_depth->setYAxis({.name = tr("step"), .unit = Unit::milliseconds});
    m_charts = new QBoxLayout(QBoxLayout::LeftToRight);
    m_charts->setSpacing(metrics.spacing);
    for (LineChart* chart : {m_growth, m_depth}) {
        chart->setFixedHeight(metrics.line * 18);
        m_charts->addWidget(chart, 1);
    }
    column->addLayout(m_charts);
    column->addWidget(buildTable());
    column->addStretch(1);

    connect(m_form, &SweepForm::edited, this, &SweepPage::experimentChanged);
    connect(m_form, &SweepForm::browseRequested, this, &SweepPage::browseRequested);
    connect(&session, &Session::activityChanged, this, &SweepPage::updateState);
    showCells(m_cells);
}

Card* SweepPage::buildControls() {
    const CardMetrics metrics(font());
    auto* card = new Card(this);
    auto* row = new QHBoxLayout;
    row->setSpacing(metrics.padding / 2);
    const auto button = [&](const char* name, const QString& text) {
        auto* made = new QPushButton(text, card);
        made->setObjectName(QLatin1String(name));
        row->addWidget(made);
        return made;
    };
    m_estimateButton = button("sweepEstimate", tr("Estimate"));
    m_runButton = button("sweepRun", tr("Run Sweep"));
    m_resumeButton = button("sweepResume", tr("Resume"));
    m_stopButton = button("sweepStop", tr("Stop"));
    m_openButton = button("sweepOpen", tr("Open…"));
    m_stopButton->setToolTip(tr("Stop; the tests that are done are in the file"));
    m_openButton->setToolTip(tr("Show the file of an earlier sweep"));
    m_progress = new QProgressBar(card);
    m_progress->setObjectName(QStringLiteral("sweepProgress"));
    m_progress->setAccessibleName(tr("Tests done"));
    m_progress->setTextVisible(false);
    row->addWidget(m_progress, 1);
    row->addStretch(0);
    m_text = new ToneLabel(card);
    m_text->setObjectName(QStringLiteral("sweepText"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    card->content()->addLayout(row);
    card->content()->addWidget(m_text);
    card->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(m_estimateButton, &QPushButton::clicked, this, &SweepPage::estimate);
    connect(m_runButton, &QPushButton::clicked, this, [this] { run(SweepFile::Mode::create); });
    connect(m_resumeButton, &QPushButton::clicked, this, [this] { run(SweepFile::Mode::resume); });
    connect(m_stopButton, &QPushButton::clicked, this, [this] { m_session.stop(); });
    connect(m_openButton, &QPushButton::clicked, this, &SweepPage::openRequested);
    return card;
}

Card* SweepPage::buildTable() {
    const CardMetrics metrics(font());
    m_tableCard = new Card(tr("Tests"), tr("what did not run keeps its line, with the reason"), this);
    m_tableCard->setObjectName(QStringLiteral("sweepTableCard"));
    m_rows = new RowsModel({{tr("Test")}}, this);
    m_table =
        PlainTable::inCard(m_tableCard, m_rows, "sweepTable", tr("Tests of the sweep"), {{1.0, QString()}});
    m_doubts = mutedLabel({}, m_tableCard);
    m_doubts->setObjectName(QStringLiteral("sweepDoubts"));
    m_doubts->setWordWrap(true);
    m_doubts->setContentsMargins(metrics.padding, 0, metrics.padding, metrics.padding / 2);
    m_tableCard->content()->addWidget(m_doubts);
    return m_tableCard;
}

std::optional<Sweep> SweepPage::makeSweep(QString* problem) const {
    const GridChoices choices = m_form->choices();
    const Result<Grid> grid = grid_of(choices);
    if (!grid) {
        *problem = QString::fromStdString(grid.error().message);
        return std::nullopt;
    }
    const Experiment experiment = m_experiment();
    Sweep sweep;
    sweep.settings = cell_settings_of(choices);
    sweep.settings.model = experiment.model;
    sweep.settings.lanes = experiment.placed_lanes();
    sweep.settings.reference = experiment.reference;
    sweep.points = grid->product();
    if (sweep.points.empty()) {
        *problem = tr("There is nothing to measure: every prompt and every number of steps is 0.");
        return std::nullopt;
    }
    if (sweep.settings.lanes.empty()) {
        *problem = tr("There are no lanes: add one in the panel.");
        return std::nullopt;
    }
    return sweep;
}

void SweepPage::experimentChanged() {
    m_answered = false;  // it was an answer about another grid
    updateState();
}

void SweepPage::updateState() {
    const Experiment experiment = m_experiment();
    QStringList lanes;
    for (const LaneSpec& lane : experiment.lanes) lanes << QString::fromStdString(lane.name);
    m_form->setSubject(tr("Model %1, lanes of the panel: %2")
                           .arg(modelTitle(experiment.model), lanes.join(QStringLiteral(", "))));
    m_form->setRunning(m_working);
    QString problem;
    const std::optional<Sweep> sweep = makeSweep(&problem);
    const bool idle = m_session.activity() == Session::Activity::idle && !m_working;
    if (problem.isEmpty() && !idle && !m_working) problem = tr("Something else is going on: wait for it.");
    const QString file = m_form->file();
    const bool exists = !file.isEmpty() && QFileInfo(file).size() > 0;
    const auto set = [&](QPushButton* button, bool enabled, const QString& toolTip, const QString& why) {
        button->setEnabled(enabled && problem.isEmpty() && idle);
        button->setToolTip(!problem.isEmpty() ? problem : enabled ? toolTip : why);
    };
    const QString chooseFile = tr("Choose a file to write first");
    set(m_estimateButton, true, tr("How long it will take, and what will not run; nothing is measured yet"),
        {});
    set(m_runButton, !file.isEmpty() && !exists, tr("Run every test of the grid"),
        file.isEmpty() ? chooseFile
                       : tr("The file holds something already: resume it, or choose another one"));
    set(m_resumeButton, exists, tr("Go on with the file: tests that it holds are not run again"),
        file.isEmpty() ? chooseFile : tr("The file holds nothing yet"));
    m_stopButton->setVisible(m_working);
    m_progress->setVisible(m_working);
    m_openButton->setEnabled(!m_working);
    if (m_working || m_answered) return;
    if (!problem.isEmpty() && m_session.activity() == Session::Activity::idle) {
        say(problem, true);
    } else if (sweep && m_cells->empty()) {
        say(tr("%1 tests of %2 lanes. %3")
                .arg(sweep->points.size())
                .arg(sweep->settings.lanes.size())
                .arg(file.isEmpty() ? tr("Choose a file to write, then run; Estimate says how long it takes.")
                                    : tr("Estimate says how long it takes.")));
    }
}

void SweepPage::say(const QString& text, bool bad) {
    m_text->setTone({bad ? ColorRef::Role::bad : ColorRef::Role::text, 0});
    m_text->setText(text);
}

void SweepPage::estimate() {
    QString problem;
    std::optional<Sweep> sweep = makeSweep(&problem);
    if (!sweep || m_working) return;
    m_working = true;
    m_progress->setRange(0, 0);
    say(tr("Looking how fast the model runs"));
    updateState();
    m_session.startTask<SweepEstimate>(this, tr("Estimating the sweep"), estimateWork(*std::move(sweep)),
                                       [this](const Result<SweepEstimate>& result) {
                                           m_working = false;
                                           m_answered = true;
                                           updateState();
                                           if (result)
                                               showEstimate(*result);
                                           else
                                               say(QString::fromStdString(result.error().message), true);
                                       });
}

void SweepPage::showEstimate(const SweepEstimate& estimate) {
    QStringList refused;
    for (const SweepEstimate::Point& point : estimate.points) {
        for (const Cell& cell : point.refused)
            refused << tr("%1, %2: %3")
                           .arg(QString::fromStdString(point.shape.label()),
                                QString::fromStdString(cell.lane.name), QString::fromStdString(cell.reason));
    }
    QString text = tr("%1 tests, in all about %2 to %3.")
                       .arg(estimate.points.size())
                       .arg(durationText(estimate.least_s()), durationText(estimate.most_s()));
    if (!refused.isEmpty()) text += tr(" Will not run: ") + refused.join(QLatin1Char(' '));
    say(text);
}

void SweepPage::run(SweepFile::Mode mode) {
    QString problem;
    std::optional<Sweep> sweep = makeSweep(&problem);
    if (!sweep || m_working || m_form->file().isEmpty()) return;
    m_working = true;
    m_progress->setRange(0, 0);
    say(tr("Beginning"));
    updateState();
    const SweepWatch watch{
        [this](const SweepProgress& progress) { showProgress(progress); },
        [this](std::shared_ptr<const std::vector<Cell>> cells) { showCells(std::move(cells)); }};
    m_session.startTask<SweepOutcome>(
        this, tr("Sweep"), sweepWork(*std::move(sweep), m_form->file().toStdString(), mode, watch),
        [this, path = m_form->file()](const Result<SweepOutcome>& result) {
            m_working = false;
            m_answered = true;
            if (!result) {
                updateState();
                say(QString::fromStdString(result.error().message), true);
                return;
            }
            showCells(std::make_shared<const std::vector<Cell>>(result->cells));
            updateState();
            const QString file = QDir::toNativeSeparators(path);
            if (result->n_done < result->n_point)
                say(tr("Stopped: %1 of %2 tests are in %3. Resume goes on.")
                        .arg(result->n_done)
                        .arg(result->n_point)
                        .arg(file));
            else
                say(tr("Done: %1 tests are in %2.").arg(result->n_point).arg(file));
        });
}

void SweepPage::showProgress(const SweepProgress& progress) {
    if (!m_working) return;
    m_progress->setRange(0, static_cast<int>(progress.all));
    m_progress->setValue(static_cast<int>(progress.done));
    QString text =
        tr("Test %1 of %2: %3, %4")
            .arg(progress.done + 1)
            .arg(progress.all)
            .arg(progress.test,
                 progress.repetition == 0 ? tr("warming up") : tr("repetition %1").arg(progress.repetition));
    if (progress.left_s >= 0) text += tr(" · about %1 left").arg(durationText(progress.left_s));
    say(text);
}

void SweepPage::openFile(const QString& path) {
    if (m_working) return;
    const Result<std::vector<SweepRow>> rows = load_sweep(path.toStdString());
    m_answered = true;
    if (!rows) {
        say(QString::fromStdString(rows.error().message), true);
        return;
    }
    auto cells = std::make_shared<std::vector<Cell>>();
    for (const SweepRow& row : *rows) cells->push_back(row.cell);
    m_form->setFile(path);
    showCells(std::move(cells));
    m_answered = true;
    updateState();
    say(tr("%1 results from %2.").arg(m_cells->size()).arg(QDir::toNativeSeparators(path)));
}

void SweepPage::showCells(std::shared_ptr<const std::vector<Cell>> cells) {
    m_cells = std::move(cells);
    showGrowth();
    showDepth();
    showTable();
}

// The same lane has the same colour everywhere.
int SweepPage::laneColor(const std::string& lane) const {
    std::vector<std::string> seen;
    for (const Cell& cell : *m_cells) {
        if (std::find(seen.begin(), seen.end(), cell.lane.name) == seen.end()) seen.push_back(cell.lane.name);
    }
    return static_cast<int>(std::find(seen.begin(), seen.end(), lane) - seen.begin());
}

void SweepPage::showGrowth() {
    m_growth->removeAllSeries();
    const std::vector<Growth> all = fit_growth(*m_cells, 1);
    const auto lanes = [&] {
        std::vector<std::string> names;
        for (const Growth& growth : all) names.push_back(growth.lane);
        std::sort(names.begin(), names.end());
        return static_cast<std::size_t>(std::unique(names.begin(), names.end()) - names.begin());
    }();
    const bool several = all.size() > lanes;
    for (const Growth& growth : all) {
        QString name = QString::fromStdString(growth.lane) + shapeSuffix(growth.shape, several);
        if (growth.steps.size() >= leastForFit) {
            name += tr(": n^%1 ± %2")
                        .arg(QString::fromStdString(short_number(growth.fit.slope)),
                             QString::fromStdString(short_number(growth.fit.slope_error)));
        }
        const ColorRef color = ColorRef::lane(laneColor(growth.lane));
        std::vector<double> ms;
        for (const double ns : growth.ns) ms.push_back(ns / nsPerMs);
        // A line needs two points.
        const int series =
            m_growth->addSeries(name, color, ms.size() > 1 ? SeriesKind::line : SeriesKind::points);
        m_growth->setData(series, growth.steps, ms);
    }
    m_growth->flush();
}

void SweepPage::showDepth() {
    m_depth->removeAllSeries();
    for (const DepthCost& cost : fit_depth(*m_cells)) {
        QString name = QString::fromStdString(cost.lane);
        if (cost.passes != 0) {
            name += tr(": %1 ± %2 passes")
                        .arg(QString::fromStdString(short_number(cost.passes)),
                             QString::fromStdString(short_number(cost.passes_error)));
        } else {
            name += tr(": %1 a token").arg(formatDuration(cost.fit.slope));
        }
        std::vector<double> ms;
        for (const double ns : cost.ns) ms.push_back(ns / nsPerMs);
        const int points = m_depth->addSeries(name, ColorRef::lane(laneColor(cost.lane)), SeriesKind::points);
        m_depth->setData(points, cost.context, ms);
    }
    m_depth->flush();
}

void SweepPage::showTable() {
    const TextTable table = cell_table(*m_cells);
    // A narrow page has no room for the rate of arithmetic; the file has it.
    const auto shown = [&](std::size_t column) { return m_wide || table.header[column] != "GFLOP/s"; };
    std::vector<RowsModel::Header> headers;
    std::vector<PlainTable::Column> columns;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        if (!shown(i)) continue;
        headers.push_back({engineWord(table.header[i]), {}, !table.right[i]});
        const bool status = i + 1 == table.header.size();
        QString longest;
        for (const auto& row : table.rows) {
            const QString text = QString::fromStdString(row[i]);
            if (text.size() > longest.size()) longest = text;
        }
        // A reason gets what the numbers leave.
        if (status) longest = QStringLiteral("capacity");
        if (i == laneColumn) longest.prepend(QStringLiteral("■ "));
        columns.push_back({status ? 8.0 : 0.5, longest});
    }
    std::vector<std::vector<RowsModel::Cell>> rows;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        const Cell& cell = (*m_cells)[r];
        std::vector<RowsModel::Cell> row;
        for (std::size_t i = 0; i < table.rows[r].size(); ++i) {
            const QString text = QString::fromStdString(table.rows[r][i]);
            if (shown(i)) row.push_back({text, text});
        }
        row[laneColumn].lane = laneColor(cell.lane.name);
        row.back().tone = cell.status == CellStatus::ok ? ColorRef::Role::muted : ColorRef::Role::warn;
        rows.push_back(std::move(row));
    }
    m_rows->setHeaders(std::move(headers));
    m_rows->setRows(std::move(rows));
    m_table->setColumns(std::move(columns));
    m_tableCard->setVisible(!m_cells->empty());
    QStringList words;
    for (const auto& row : break_even_table(find_break_even(*m_cells)).rows) {
        QStringList parts;
        for (const std::string& part : row) parts << QString::fromStdString(part);
        words << tr("When caching pays: %1").arg(parts.join(QStringLiteral(" · ")));
    }
    for (const std::string& doubt : doubts_of(*m_cells)) words << QString::fromStdString(doubt);
    m_doubts->setText(words.join(QLatin1Char('\n')));
    m_doubts->setVisible(!words.isEmpty());
}

void SweepPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    updateState();
    m_growth->flush();
    m_depth->flush();
}

void SweepPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool wide = width() >= fontMetrics().averageCharWidth() * wideChars;
    const auto direction = wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom;
    if (m_charts->direction() != direction) m_charts->setDirection(direction);
    const bool roomy = width() >= fontMetrics().averageCharWidth() * tableChars;
    if (roomy == m_wide) return;
    m_wide = roomy;
    showTable();
}

}  // namespace decodescope
