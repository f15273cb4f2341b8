// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/main_window.h"

#include <QActionGroup>
#include <QApplication>
#include <QDialog>
#include <QLabel>
#include <QMenuBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

#include "engine/backend/cpu/instructions.h"
#include "engine/experiment/memory_use.h"
#include "engine/measure/process_memory.h"
#include "ui/actions.h"
#include "ui/autosave.h"
#include "ui/chart/chart.h"
#include "ui/chart/chart_link.h"
#include "ui/chart/format.h"
#include "ui/chart/line_chart.h"
#include "ui/chart/view_history.h"
#include "ui/exactness/exactness_page.h"
#include "ui/experiment_panel/device_box.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/help/fault_help.h"
#include "ui/inside/inside_page.h"
#include "ui/memory/memory_page.h"
#include "ui/plan/plan_page.h"
#include "ui/race/race_page.h"
#include "ui/report/report_page.h"
#include "ui/sweep/sweep_page.h"
#include "ui/theme/card.h"
#include "ui/widgets/bar_button.h"
#include "ui/widgets/bars.h"
#include "ui/widgets/help_dialogs.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/message_bar.h"
#include "ui/widgets/speed_slider.h"

namespace decodescope {

namespace {

constexpr int memoryIntervalMs = 1000;
constexpr std::array screenActions = {ActionId::showRace,      ActionId::showMemory, ActionId::showInside,
                                      ActionId::showExactness, ActionId::showSweep,  ActionId::showPlan,
                                      ActionId::showReport};

}  // namespace

MainWindow::MainWindow(Theme& theme, Options options)
    : m_theme(theme),
      m_settings(options.settingsPath),
      m_session(std::make_unique<Session>(nullptr, options.engine, options.ringCapacity)),
      m_actions(new Actions(this)),
      m_autosave(new Autosave(m_settings.folder() + QStringLiteral("/unsaved"), this)),
      m_link(new ChartLink(this)),
      m_history(new ViewHistory(this)) {
    setObjectName(QStringLiteral("mainWindow"));
    setWindowTitle(QStringLiteral("DecodeScope"));
    setAcceptDrops(true);
    buildPages();
    buildMenus();
    buildStatusBar();
    connectSession();
    connectTime();
    connectComparison();
    connectFetch();
    connectView();
    connectReport();
    restore(options);
    updateState();
    updateStatus();
    updateMemory();
    if (options.tour && !m_settings.get(settings::tourSeen))
        QTimer::singleShot(0, this, &MainWindow::startTour);
}

MainWindow::~MainWindow() {
    // Before the pages go: nothing may arrive for them any more.
    m_session.reset();
}

void MainWindow::buildPages() {
    // In the order of the Tab key: tool bar, panel, page.
    QWidget* header = buildHeader();
    m_panel = new ExperimentPanel(this);
    m_messages = new MessageBar(this);
    m_messages->setObjectName(QStringLiteral("messageBar"));
    m_race = new RacePage(m_data, this);
    m_memory = new MemoryPage(m_data, this);
    m_inside = new InsidePage(m_data, this);
    m_exactness = new ExactnessPage(m_data, this);
    m_sweep = new SweepPage(
        *m_session, [this] { return m_panel->experiment(); }, this);
    m_plan = new PlanPage(*m_session, this);
    m_report = new ReportPage(m_data, this);
    m_pages = new QStackedWidget(this);
    m_pages->setObjectName(QStringLiteral("pages"));
    m_pages->addWidget(m_race);
    m_pages->addWidget(m_memory);
    m_pages->addWidget(m_inside);
    m_pages->addWidget(m_exactness);
    m_pages->addWidget(m_sweep);
    m_pages->addWidget(m_plan);
    m_pages->addWidget(m_report);
    for (Chart* chart : charts()) {
        connect(chart, &Chart::notice, this, [this](const QString& text) { m_progress->setText(text); });
        if (auto* lines = qobject_cast<LineChart*>(chart)) lines->setLink(m_link);
    }

    auto* right = new QWidget(this);
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_messages);
    column->addWidget(m_pages, 1);

    m_splitter = new QSplitter(Qt::Horizontal, this);
    m_splitter->setObjectName(QStringLiteral("splitter"));
    m_splitter->setHandleWidth(1);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_panel);
    m_splitter->addWidget(right);
    m_splitter->setStretchFactor(0, 0);
    m_splitter->setStretchFactor(1, 1);
    auto* central = new QWidget(this);
    auto* rows = new QVBoxLayout(central);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(header);
    rows->addWidget(m_splitter, 1);
    setCentralWidget(central);
}

void MainWindow::buildMenus() {
    const auto& actions = *m_actions;
    colorMenuBar();
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(actions[ActionId::openModel]);
    file->addAction(actions[ActionId::openModelFile]);
    file->addAction(actions[ActionId::getModel]);
    file->addAction(actions[ActionId::openExperiment]);
    file->addAction(actions[ActionId::openRecord]);
    file->addAction(actions[ActionId::openTrace]);
    m_recentMenu = file->addMenu(tr("Open Re&cent"));
    m_runsMenu = file->addMenu(tr("R&uns of This Session"));
    m_runsMenu->setObjectName(QStringLiteral("runsMenu"));
    file->addSeparator();
    file->addAction(actions[ActionId::saveExperiment]);
    file->addAction(actions[ActionId::saveRecord]);
    file->addAction(actions[ActionId::exportCharts]);
    file->addSeparator();
    file->addAction(actions[ActionId::compareRecord]);
    file->addAction(actions[ActionId::keepRun]);
    file->addAction(actions[ActionId::endComparison]);
    file->addSeparator();
    file->addAction(actions[ActionId::settings]);
    file->addAction(actions[ActionId::quit]);
    m_examplesMenu = menuBar()->addMenu(tr("E&xamples"));
    m_examplesMenu->setObjectName(QStringLiteral("examplesMenu"));
    m_examplesMenu->setToolTipsVisible(true);
    fillExamplesMenu();
    QMenu* run = menuBar()->addMenu(tr("&Run"));
    run->addAction(actions[ActionId::run]);
    run->addAction(actions[ActionId::step]);
    run->addAction(actions[ActionId::pause]);
    run->addAction(actions[ActionId::stop]);
    run->addSeparator();
    run->addAction(actions[ActionId::slower]);
    run->addAction(actions[ActionId::faster]);
    QMenu* view = menuBar()->addMenu(tr("&View"));
    auto* screens = new QActionGroup(this);
    for (const ActionId id : screenActions) {
        screens->addAction(actions[id]);
        view->addAction(actions[id]);
    }
    view->addSeparator();
    view->addAction(actions[ActionId::undoView]);
    view->addAction(actions[ActionId::redoView]);
    view->addSeparator();
    view->addAction(actions[ActionId::showPanel]);
    view->addAction(actions[ActionId::fullScreen]);
    QMenu* theme = view->addMenu(tr("&Theme"));
    auto* themes = new QActionGroup(this);
    for (const ActionId id : {ActionId::themeSystem, ActionId::themeLight, ActionId::themeDark}) {
        themes->addAction(actions[id]);
        theme->addAction(actions[id]);
    }
    QMenu* exports = menuBar()->addMenu(tr("&Export"));
    exports->addAction(actions[ActionId::exportCharts]);
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(actions[ActionId::palette]);
    help->addAction(actions[ActionId::tour]);
    help->addSeparator();
    help->addAction(actions[ActionId::faultHelp]);
    help->addAction(actions[ActionId::shortcuts]);
    help->addAction(actions[ActionId::about]);

    connect(m_recentMenu, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    connect(m_runsMenu, &QMenu::aboutToShow, this, &MainWindow::fillRunsMenu);
    connect(m_autosave, &Autosave::failed, this, [this](const QString& sentence) {
        m_messages->showMessage(MessageBar::Kind::warning, sentence);
    });
    connect(actions[ActionId::openModel], &QAction::triggered, this, &MainWindow::browseModel);
    connect(actions[ActionId::openModelFile], &QAction::triggered, this, &MainWindow::browseModelFile);
    connect(actions[ActionId::openExperiment], &QAction::triggered, this, &MainWindow::browseExperiment);
    connect(actions[ActionId::openRecord], &QAction::triggered, this, &MainWindow::browseRecord);
    connect(actions[ActionId::openTrace], &QAction::triggered, this, &MainWindow::browseTrace);
    connect(actions[ActionId::faultHelp], &QAction::triggered, this,
            [this] { showFaultHelp(FaultKind::position, this); });
    connect(actions[ActionId::saveExperiment], &QAction::triggered, this, &MainWindow::browseSaveExperiment);
    connect(actions[ActionId::saveRecord], &QAction::triggered, this, &MainWindow::browseSaveRecord);
    connect(actions[ActionId::exportCharts], &QAction::triggered, this, &MainWindow::browseExport);
    connect(actions[ActionId::quit], &QAction::triggered, this, &QWidget::close);
    connect(actions[ActionId::run], &QAction::triggered, this, &MainWindow::startRun);
    connect(actions[ActionId::stop], &QAction::triggered, this, [this] {
        m_session->stop();
        updateState();
        updateStatus();
    });
    for (std::size_t i = 0; i < screenActions.size(); ++i)
        connect(actions[screenActions[i]], &QAction::triggered, this,
                [this, i] { showScreen(static_cast<int>(i)); });
    connect(actions[ActionId::themeSystem], &QAction::triggered, this,
            [this] { setThemeMode(Theme::Mode::System); });
    connect(actions[ActionId::themeLight], &QAction::triggered, this,
            [this] { setThemeMode(Theme::Mode::Light); });
    connect(actions[ActionId::themeDark], &QAction::triggered, this,
            [this] { setThemeMode(Theme::Mode::Dark); });
    connect(actions[ActionId::shortcuts], &QAction::triggered, this,
            [this] { shortcutSheet(*m_actions, this)->show(); });
    connect(actions[ActionId::about], &QAction::triggered, this, [this] { aboutDialog(this)->show(); });
}

QWidget* MainWindow::buildHeader() {
    const CardMetrics metrics(font());
    auto* content = new HeaderBar(this);
    content->setObjectName(QStringLiteral("toolBar"));
    auto* row = new QHBoxLayout(content);
    row->setContentsMargins(metrics.padding, metrics.padding * 2 / 3, metrics.padding,
                            metrics.padding * 2 / 3 + 1);
    row->setSpacing(metrics.padding * 2 / 3);
    const auto add = [&](ActionId id, BarButton::Look look, BarButton::Symbol symbol, const char* name) {
        auto* button = new BarButton((*m_actions)[id], look, symbol, content);
        button->setObjectName(QLatin1String(name));
        button->setProperty("isTab", look == BarButton::Look::tab);
        row->addWidget(button);
        return button;
    };
    add(ActionId::run, BarButton::Look::primary, BarButton::Symbol::play, "runButton");
    add(ActionId::step, BarButton::Look::plain, BarButton::Symbol::step, "stepButton");
    m_pauseButton = add(ActionId::pause, BarButton::Look::plain, BarButton::Symbol::pause, "pauseButton");
    m_pauseButton->reserveFor(tr("Resume"));
    add(ActionId::stop, BarButton::Look::plain, BarButton::Symbol::stop, "stopButton");
    row->addSpacing(metrics.padding);
    m_speed = new SpeedSlider(content);
    row->addWidget(m_speed);
    row->addSpacing(metrics.padding);
    add(ActionId::showRace, BarButton::Look::tab, BarButton::Symbol::none, "raceTab");
    add(ActionId::showMemory, BarButton::Look::tab, BarButton::Symbol::none, "memoryTab");
    add(ActionId::showInside, BarButton::Look::tab, BarButton::Symbol::none, "insideTab");
    add(ActionId::showExactness, BarButton::Look::tab, BarButton::Symbol::none, "exactnessTab");
    add(ActionId::showSweep, BarButton::Look::tab, BarButton::Symbol::none, "sweepTab");
    add(ActionId::showPlan, BarButton::Look::tab, BarButton::Symbol::none, "planTab");
    add(ActionId::showReport, BarButton::Look::tab, BarButton::Symbol::none, "reportTab");
    row->addStretch(1);
    return content;
}

void MainWindow::buildStatusBar() {
    const CardMetrics metrics(font());
    setStatusBar(new FlatStatusBar(this));
    statusBar()->setSizeGripEnabled(false);
    const auto add = [&](QLabel* label, const char* name, const QString& accessibleName, bool permanent) {
        label->setObjectName(QLatin1String(name));
        label->setAccessibleName(accessibleName);
        label->setContentsMargins(metrics.padding, metrics.padding / 4, metrics.padding, metrics.padding / 4);
        if (permanent)
            statusBar()->addPermanentWidget(label);
        else
            statusBar()->addWidget(label, 1);
        return label;
    };
    const auto addPermanent = [&](const char* name, const QString& accessibleName) {
        return add(mutedLabel({}, this), name, accessibleName, true);
    };
    m_progress = add(new ElidingLabel(this), "progressLabel", tr("Progress"), false);
    m_device = addPermanent("deviceLabel", tr("Device"));
    m_kernels = addPermanent("kernelsLabel", tr("Matrix products"));
    m_memoryLabel = addPermanent("memoryLabel", tr("Resident memory"));
    m_dropped = addPermanent("droppedLabel", tr("Dropped events"));
    m_memoryLabel->setToolTip(tr("Resident memory of this process"));
    m_dropped->setToolTip(
        tr("Steps and tokens that the window did not draw live because it was busy. The record has all of "
           "them."));
    m_memoryTimer.setInterval(memoryIntervalMs);
    connect(&m_memoryTimer, &QTimer::timeout, this, &MainWindow::updateMemory);
    m_memoryTimer.start();
}

void MainWindow::connectSession() {
    Session* session = m_session.get();
    connect(session, &Session::activityChanged, this, [this] {
        updateState();
        updateStatus();
    });
    connect(session, &Session::environmentRead, this, &MainWindow::updateStatus);
    connect(session, &Session::devicesFound, this, [this](const CudaDevices& found) {
        m_panel->setDevices(found);
        updateStatus();
    });
    connect(session, &Session::modelLoading, this, [this](const ModelRef& ref) {
        m_panel->modelCard()->setStatus(tr("loading …"));
        m_progress->setText(tr("Loading %1").arg(modelTitle(ref)));
    });
    connect(session, &Session::modelProgress, this, [this](quint64 done, quint64 total) {
        // Of a load that was stopped meanwhile, or is over, nothing more is told.
        if (m_session->activity() != Session::Activity::loading || m_session->isStopping() || total == 0)
            return;
        m_progress->setText(
            tr("Loading, %1 % of %2").arg(100 * done / total).arg(formatBytes(static_cast<double>(total))));
    });
    connect(session, &Session::modelLoaded, this, [this](const std::shared_ptr<const LoadedModel>& model) {
        m_panel->modelCard()->setRef(m_session->modelRef());
        m_panel->setModel(model->weights->config, model->tokenizer != nullptr);
        // A record that was opened before its model: now its text can be taken apart into tokens.
        if (const auto record = m_data.finishedRecord(); record && !m_data.tokenizer() && model->tokenizer)
            m_data.show(record, model.get());
        updateMemory();
    });
    connect(session, &Session::runStarted, this,
            [this](const Experiment& experiment, const RunStarted& started) {
                m_messages->clear();
                if (!m_restarted.isEmpty()) m_messages->showMessage(MessageBar::Kind::info, m_restarted);
                m_restarted.clear();
                m_link->reset();
                m_history->clear();
                m_data.begin(experiment, started, *m_session->model(), m_session->environment());
                updateStatus();
            });
    connect(session, &Session::eventsArrived, &m_data, &RunData::append);
    connect(session, &Session::eventsArrived, this, &MainWindow::updateStatus);
    connect(session, &Session::runFinished, this, &MainWindow::runFinished);
    connect(session, &Session::failed, this, &MainWindow::requestFailed);
    connect(session, &Session::judged, this, [this](const std::shared_ptr<const Judged>& judged) {
        m_exactness->showJudged(judged);
        if (judged->record == nullptr) remember(judged->path);
        if (!judged->note.isEmpty()) m_messages->showMessage(MessageBar::Kind::warning, judged->note);
    });
    connect(session, &Session::judgeFailed, this, [this](int lane, const QString&, const Error& error) {
        m_exactness->showFailure(lane, error);
        // What is wrong with a lane stands on its page; a trace that is not shown has no page.
        if (lane < 0 && error.kind != ErrorKind::cancelled)
            m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(error.message));
    });
    connect(m_exactness, &ExactnessPage::judgeRequested, this, [this](int lane) {
        if (const auto record = m_data.finishedRecord()) m_session->judgeLane(record, lane);
    });
    connect(m_exactness, &ExactnessPage::helpRequested, this,
            [this](FaultKind kind) { showFaultHelp(kind, this); });
    connect(m_sweep, &SweepPage::browseRequested, this, [this] { browseSweep(true); });
    connect(m_sweep, &SweepPage::openRequested, this, [this] { browseSweep(false); });
    connect(m_panel, &ExperimentPanel::edited, m_sweep, &SweepPage::experimentChanged);
    // Not in `charts`: their axes are not the tokens of a run.
    for (Chart* chart : std::initializer_list<Chart*>{m_sweep->growthChart(), m_sweep->depthChart()})
        connect(chart, &Chart::notice, this, [this](const QString& text) { m_progress->setText(text); });
    connect(m_plan, &PlanPage::browseRequested, this, &MainWindow::browseConfiguration);
    connect(m_panel, &ExperimentPanel::edited, this, [this] { m_data.preview(m_panel->experiment()); });
    connect(m_panel, &ExperimentPanel::checked, this, [this] {
        updateState();
        updateStatus();
    });
    connect(m_panel, &ExperimentPanel::faultsEdited, this, &MainWindow::faultsChanged);
    connect(m_panel, &ExperimentPanel::modelChosen, this, &MainWindow::openModel);
    connect(m_panel, &ExperimentPanel::browseRequested, this, &MainWindow::browseModel);
    connect(m_panel, &ExperimentPanel::browseFileRequested, this, &MainWindow::browseModelFile);
}

void MainWindow::faultsChanged(int lane) {
    if (m_session->activity() != Session::Activity::running) return;
    const Experiment experiment = m_panel->experiment();
    if (lane < 0 || static_cast<std::size_t>(lane) >= experiment.lanes.size()) return;
    if (const Result<void> valid = experiment.validate(); !valid) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(valid.error().message));
        return;
    }
    // All lanes begin again: beside a lane that is far ahead nothing could be compared.
    m_restarted = tr("The faults of %1 were changed: the run was stopped and has begun again with them.")
                      .arg(QString::fromStdString(experiment.lanes[static_cast<std::size_t>(lane)].name));
    // Who goes step by step wants to go on so.
    m_session->run(experiment, m_session->isPaused() ? std::optional(0) : std::nullopt);
}

void MainWindow::requestFailed(const Error& error) {
    m_data.abandon();
    if (error.kind != ErrorKind::cancelled)
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(error.message));
    // A model that could not be loaded gives way to the one that is still there.
    if (const auto model = m_session->model()) {
        m_panel->modelCard()->setRef(m_session->modelRef());
        m_panel->setModel(model->weights->config, model->tokenizer != nullptr);
    } else {
        m_panel->modelCard()->setStatus(tr("not loaded"));
    }
    updateState();
}

void MainWindow::showScreen(int index) {
    const int shown = std::clamp(index, 0, static_cast<int>(screenActions.size()) - 1);
    m_pages->setCurrentIndex(shown);
    (*m_actions)[screenActions[static_cast<std::size_t>(shown)]]->setChecked(true);
}

void MainWindow::updateState() {
    const Session::Activity activity = m_session->activity();
    const bool running = activity == Session::Activity::running || activity == Session::Activity::working;
    (*m_actions)[ActionId::run]->setEnabled(!running && m_panel->problem().isEmpty());
    (*m_actions)[ActionId::stop]->setEnabled((activity != Session::Activity::idle || m_session->hasRun()) &&
                                             !m_session->isStopping());
    (*m_actions)[ActionId::saveRecord]->setEnabled(m_data.finishedRecord() != nullptr);
    (*m_actions)[ActionId::exportCharts]->setEnabled(m_data.finishedRecord() != nullptr);
    for (const ActionId id : {ActionId::openModel, ActionId::openModelFile, ActionId::openExperiment,
                              ActionId::openRecord, ActionId::openTrace})
        (*m_actions)[id]->setEnabled(!running);
    updateTime();
    m_recentMenu->setEnabled(!running);
    m_runsMenu->setEnabled(!running);
    for (QAction* example : m_examplesMenu->actions()) example->setEnabled(!running);
    m_panel->setRunning(running);
}

void MainWindow::updateStatus() {
    const Record& record = m_data.record();
    const Session::Activity activity = m_session->activity();
    int token = 0;
    for (int lane = 0; lane < static_cast<int>(record.lanes.size()); ++lane) {
        if (const RepetitionRecord* latest = m_data.latest(lane))
            token = std::max(token, static_cast<int>(latest->chosen.size()));
    }
    if (m_session->isStopping()) {
        m_progress->setText(tr("Stopping …"));
    } else if (activity == Session::Activity::running) {
        m_progress->setText(runningText(token));
    } else if (activity == Session::Activity::judging) {
        m_progress->setText(tr("Judging · recomputing every call"));
    } else if (activity == Session::Activity::working) {
        m_progress->setText(m_session->taskTitle());
    } else if (activity == Session::Activity::idle) {
        const QString problem = m_panel->problem();
        m_progress->setText(problem.isEmpty() ? restingText() : tr("Cannot run: %1").arg(problem));
    }
    const Environment* environment = m_session->environment();
    if (environment != nullptr) {
        const int threads = !m_data.isEmpty() && record.environment.threads > 0 ? record.environment.threads
                                                                                : environment->physical_cores;
        QString device = threads == 1 ? tr("CPU, 1 thread") : tr("CPU, %1 threads").arg(threads);
        const QString instructions = QString::fromStdString(instructions_in_use());
        QStringList toolTip{QString::fromStdString(environment->cpu_model) + QStringLiteral(", ") +
                            instructions};
        const CudaDevices* gpus = m_session->devices();
        const Experiment used = m_data.isEmpty() ? m_panel->experiment() : record.experiment;
        // Beside GPUs there is less room, and they are what counts.
        if (!used.uses_gpu()) device += QStringLiteral(", ") + instructions;
        for (const Device& each : used.devices()) {
            if (!each.is_gpu()) continue;
            device += QStringLiteral(" · ") + QString::fromStdString(each.name());
            if (gpus != nullptr) toolTip << deviceTitle(each, *gpus);
        }
        if (gpus != nullptr && gpus->devices.empty()) toolTip << QString::fromStdString(cpu_only(*gpus));
        m_device->setText(device);
        m_device->setToolTip(toolTip.join(QLatin1Char('\n')));
        m_kernels->setText(QString::fromStdString(environment->blas).section(QStringLiteral(" ("), 0, 0));
        m_kernels->setToolTip(QString::fromStdString(environment->blas));
    }
    const auto dropped = m_session->droppedEvents();
    m_dropped->setText(dropped == 1
                           ? tr("1 dropped event")
                           : tr("%1 dropped events").arg(formatCount(static_cast<std::int64_t>(dropped))));
}

// What the status bar says while nothing runs.
QString MainWindow::restingText() const {
    const auto record = m_data.finishedRecord();
    if (record == nullptr) return m_session->model() == nullptr ? QString() : tr("Ready");
    std::int64_t ns = 0;
    std::size_t token = 0;
    for (const LaneRecord& lane : record->lanes) {
        for (const RepetitionRecord& repetition : lane.repetitions) ns += repetition.e2e_ns();
        if (!lane.repetitions.empty()) token = std::max(token, lane.repetitions.back().chosen.size());
    }
    QString text;
    switch (record->status) {
        case FinishReason::cancelled: text = tr("Stopped at token %1").arg(token); break;
        case FinishReason::capacity: text = tr("Ended at token %1: capacity reached").arg(token); break;
        case FinishReason::failed: text = tr("Failed at token %1").arg(token); break;
        default: text = tr("Done · %1 tokens").arg(token);
    }
    text += tr(" · %1 in all lanes").arg(formatDuration(static_cast<double>(ns)));
    const OwnerBytes& after = record->tensor_bytes_after;
    const std::uint64_t weights = after[static_cast<std::size_t>(Owner::weights)];
    const std::uint64_t total = total_bytes(after);
    if (total > 0) {
        text += total == weights ? tr(" · caches freed, tensors %1: weights alone")
                                       .arg(formatBytes(static_cast<double>(total)))
                                 : tr(" · tensors %1, of which %2 are not weights")
                                       .arg(formatBytes(static_cast<double>(total)),
                                            formatBytes(static_cast<double>(total - weights)));
    }
    return text;
}

void MainWindow::updateMemory() {
    const ProcessMemory memory = read_process_memory();
    m_memoryLabel->setText(
        tr("RSS %1").arg(memory.rss < 0 ? notMeasured() : formatBytes(static_cast<double>(memory.rss))));
}

// The menu bar has the colour of the strip below it.
void MainWindow::colorMenuBar() {
    QPalette bar = palette();
    bar.setColor(QPalette::Window, themeColors(bar).panel);
    menuBar()->setPalette(bar);
}

}  // namespace decodescope
