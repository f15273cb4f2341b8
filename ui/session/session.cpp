// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/session.h"

#include <QPointer>
#include <QThread>
#include <boost/lockfree/spsc_queue.hpp>

#include <algorithm>
#include <utility>

#include "engine/core/background_thread.h"
#include "engine/core/clock.h"
#include "engine/experiment/judge_lane.h"
#include "engine/experiment/runner.h"
#include "engine/verify/trace_file.h"

namespace decodescope {

namespace {

constexpr std::int64_t progressIntervalNs = 100'000'000;

}  // namespace

bool sameModel(const ModelRef& a, const ModelRef& b) {
    return a.path == b.path && a.preset == b.preset && (a.preset.empty() || a.seed == b.seed);
}

struct Session::Ring {
    explicit Ring(std::size_t capacity) : queue(capacity) {}
    boost::lockfree::spsc_queue<RunEvent> queue;
};

/// Runs on the engine thread: steps and tokens go into the ring, the start of the run is a queued call.
class Session::Sink : public EventSink {
public:
    Sink(Session& session, const Experiment& experiment) : m_session(session), m_experiment(experiment) {}

    void run_started(const RunStarted& started) override {
        m_session.toGui([session = &m_session, experiment = m_experiment, started] {
            emit session->runStarted(experiment, started);
            session->m_pace = DrainPace(experiment.threads >= QThread::idealThreadCount());
            session->m_drainTimer.start(DrainPace::shortestMs);
        });
    }

    void step_done(const StepEvent& event) override { push(event); }
    void token_done(const TokenEvent& event) override { push(event); }

private:
    void push(const RunEvent& event) {
        if (!m_session.m_ring->queue.push(event)) m_session.m_dropped.fetch_add(1, std::memory_order_relaxed);
    }

    Session& m_session;
    const Experiment& m_experiment;
};

Session::Engine Session::realEngine() {
    return {[](const ModelRef& ref, std::shared_ptr<MemoryLedger> ledger, const LoadWatch& watch) {
                return load_model(ref, std::move(ledger), watch);
            },
            [](const Experiment& experiment, const LoadedModel& model, std::shared_ptr<MemoryLedger> ledger,
               EventSink& sink, std::stop_token stop, const MachineLimits& limits, RunControl* control) {
                return run_experiment(experiment, model, std::move(ledger), sink, stop, limits, control);
            },
            find_cuda_devices_and_free_memory};
}

Session::Session(QObject* parent, Engine engine, std::size_t ringCapacity)
    : QObject(parent),
      m_engine(std::move(engine)),
      m_ledger(std::make_shared<MemoryLedger>()),
      m_ring(std::make_unique<Ring>(ringCapacity)) {
    connect(&m_drainTimer, &QTimer::timeout, this, [this] {
        m_drainTimer.setInterval(m_pace.next(thread_cpu_ns()));
        drain();
    });
    m_thread = std::jthread([this](std::stop_token quit) { engineMain(quit); });
    post(Tag::environment, [this](std::stop_token) {
        toGui([this, environment = read_environment()] {
            m_environment = environment;
            emit environmentRead(environment);
        });
        findDevices();
    });
}

Session::~Session() {
    {
        const std::lock_guard lock(m_mutex);
        m_queue.clear();
        m_runningStop.request_stop();
    }
    m_inspectStop.request_stop();
    m_thread.request_stop();
    m_thread.join();
}

// On the engine thread: a driver may take seconds to answer.
void Session::findDevices() {
    toGui([this, found = m_engine.devices()] {
        m_devices = found;
        emit devicesFound(found);
    });
}

void Session::loadModel(const ModelRef& ref) {
    m_stopping = false;
    stopJudging();
    stopInspecting();
    post(Tag::model, [this, ref](std::stop_token stop) { ensureModel(ref, stop); });
}

void Session::run(const Experiment& experiment, std::optional<int> turns) {
    m_stopping = false;
    stopJudging();
    stopInspecting();
    // What an earlier run still tells of itself no longer counts.
    const int number = ++m_run;
    m_control = std::make_shared<RunControl>([this, number](bool held) {
        toGui([this, number, held] {
            if (number != m_run || held == m_held) return;
            if (held) drain();  // whoever hears of it finds the steps that were made
            m_held = held;
            emit pauseChanged();
        });
    });
    m_control->set_interval(m_interval);
    if (turns) m_control->step(*turns);
    m_held = false;
    setPaused(turns.has_value());
    post(Tag::run, [this, experiment, number, control = m_control](std::stop_token stop) {
        if (ensureModel(experiment.model, stop)) runOnEngine(experiment, *control, number, stop);
        toGui([this, number] {
            if (number == m_run) forgetControl();
        });
    });
}

// There is no run any more that could be held.
void Session::forgetControl() {
    m_control.reset();
    m_held = false;
    setPaused(false);
}

void Session::pause() {
    if (!m_control) return;
    m_control->pause();
    setPaused(true);
}

void Session::resume() {
    if (!m_control) return;
    m_inspectStop.request_stop();  // nobody's look keeps the run waiting
    m_control->resume();
    setPaused(false);
}

void Session::step() {
    if (!m_control) return;
    m_inspectStop.request_stop();
    m_control->step();
    setPaused(true);
}

void Session::setSpeed(double stepsPerSecond) {
    m_interval = std::chrono::nanoseconds(stepsPerSecond > 0 ? static_cast<std::int64_t>(1e9 / stepsPerSecond)
                                                             : std::int64_t{0});
    if (m_control) m_control->set_interval(m_interval);
}

void Session::setPaused(bool paused) {
    if (paused == m_paused) return;
    m_paused = paused;
    emit pauseChanged();
}

// True when a request that waited is gone; with the lock held.
bool Session::forgetJudging() {
    return std::erase_if(m_queue, [](const Request& request) { return request.tag == Tag::judge; }) > 0;
}

void Session::judgingStopped() {
    emit judgeFailed(m_judgedLane, m_judgedPath, {ErrorKind::cancelled, "Stopped on request."});
}

void Session::stopJudging() {
    bool forgotten = false;
    {
        const std::lock_guard lock(m_mutex);
        forgotten = forgetJudging();
        if (m_runningTag == Tag::judge) m_runningStop.request_stop();
    }
    if (forgotten) judgingStopped();
}

void Session::judgeLane(std::shared_ptr<const Record> record, int lane) {
    m_stopping = false;
    m_judgedLane = lane;
    m_judgedPath.clear();
    post(Tag::judge, [this, record = std::move(record), lane](std::stop_token stop) {
        toGui([this] { setActivity(Activity::judging); });
        answer(lane, {}, laneOnEngine(record, lane, std::move(stop)));
    });
}

void Session::judgeTrace(const QString& path) {
    m_stopping = false;
    m_judgedLane = -1;
    m_judgedPath = path;
    post(Tag::judge, [this, path](std::stop_token stop) {
        toGui([this] { setActivity(Activity::judging); });
        answer(-1, path, traceOnEngine(path, std::move(stop)));
    });
}

// What to tell the receiver of a task that waited and is gone; with the lock held.
std::function<void()> Session::forgetTask() {
    const auto gone = std::erase_if(m_queue, [](const Request& request) { return request.tag == Tag::task; });
    return gone > 0 ? std::exchange(m_taskForgotten, {}) : std::function<void()>();
}

void Session::postTask(QObject* receiver, const QString& title,
                       std::function<std::function<void()>(const Bench&)> work,
                       std::function<void()> forgotten) {
    m_stopping = false;
    stopInspecting();
    std::function<void()> replaced;
    {
        const std::lock_guard lock(m_mutex);
        replaced = forgetTask();
    }
    if (replaced) replaced();
    m_taskTitle = title;
    const QPointer<QObject> guard(receiver);
    m_taskForgotten = [guard, forgotten = std::move(forgotten)] {
        if (guard) forgotten();
    };
    post(Tag::task, [this, guard, work = std::move(work)](std::stop_token stop) {
        toGui([this] { setActivity(Activity::working); });
        const auto tell = [this, guard](std::function<void()> function) {
            toGui([guard, function = std::move(function)] {
                if (guard) function();
            });
        };
        const auto model = [this, stop](const ModelRef& ref) { return modelToJudgeWith(ref, stop); };
        tell(work({stop, m_ledger, model, tell}));
    });
}

void Session::stop() {
    stopInspecting();
    bool forgotten = false;
    bool runForgotten = false;
    std::function<void()> taskForgotten;
    {
        const std::lock_guard lock(m_mutex);
        forgotten = forgetJudging();
        taskForgotten = forgetTask();
        std::erase_if(m_queue, [](const Request& r) { return r.tag == Tag::model; });
        runForgotten = std::erase_if(m_queue, [](const Request& r) { return r.tag == Tag::run; }) > 0;
        if (m_runningTag != Tag::none && m_runningTag != Tag::environment) {
            m_runningStop.request_stop();
            m_stopping = true;
        }
    }
    if (forgotten) judgingStopped();
    if (runForgotten) forgetControl();
    if (taskForgotten) taskForgotten();
}

void Session::post(Tag tag, std::function<void(std::stop_token)> work) {
    {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_queue, [tag](const Request& waiting) { return waiting.tag == tag; });
        if (m_runningTag == tag) m_runningStop.request_stop();
        m_queue.push_back({tag, std::move(work), std::stop_source()});
    }
    m_wake.notify_one();
}

void Session::engineMain(std::stop_token quit) {
    yield_to_windows();
    while (true) {
        Request request;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock, quit, [this] { return !m_queue.empty(); });
            if (quit.stop_requested()) return;
            request = std::move(m_queue.front());
            m_queue.pop_front();
            m_runningTag = request.tag;
            m_runningStop = request.stop;
        }
        request.work(request.stop.get_token());
        toGui([this] { setActivity(Activity::idle); });
        const std::lock_guard lock(m_mutex);
        m_runningTag = Tag::none;
        m_runningStop = std::stop_source(std::nostopstate);
    }
}

bool Session::ensureModel(const ModelRef& ref, std::stop_token stop) {
    if (m_engineModel && sameModel(ref, m_engineModelRef)) return true;
    m_inspector.reset();  // it would keep the other model
    m_inspected.reset();
    toGui([this, ref] {
        setActivity(Activity::loading);
        emit modelLoading(ref);
    });
    const auto progress = [this, toldNs = now_ns()](const LoadProgress& far) mutable {
        const std::int64_t now = now_ns();
        if (now - toldNs < progressIntervalNs) return;
        toldNs = now;
        toGui([this, far] { emit modelProgress(far.bytes_done, far.bytes_total); });
    };
    Result<LoadedModel> loaded = m_engine.load(ref, m_ledger, {stop, progress});
    if (!loaded) {
        toGui([this, error = loaded.error()] { emit failed(error); });
        return false;
    }
    m_engineModel = std::make_shared<const LoadedModel>(std::move(*loaded));
    m_engineModelRef = ref;
    toGui([this, ref, model = m_engineModel] {
        m_model = model;
        m_modelRef = ref;
        emit modelLoaded(model);
    });
    return true;
}

void Session::runOnEngine(const Experiment& experiment, RunControl& control, int number,
                          std::stop_token stop) {
    m_dropped.store(0, std::memory_order_relaxed);
    m_inspector.reset();  // its memory would be seen in the run's
    m_inspected.reset();
    toGui([this] { setActivity(Activity::running); });
    Sink sink(*this, experiment);
    MachineLimits& limits = m_limits[experiment.threads];
    Result<Record> result = m_engine.run(experiment, *m_engineModel, m_ledger, sink, stop, limits, &control);
    if (!result) {
        toGui([this, number, error = result.error()] {
            m_drainTimer.stop();
            drain();
            if (number == m_run) forgetControl();
            emit failed(error);
        });
        return;
    }
    const Environment& environment = result->environment;
    limits = {environment.read_bandwidth_gb_s, environment.peak_gflop_s, environment.peak_instructions};
    toGui([this, number, record = std::make_shared<const Record>(std::move(*result))] {
        m_drainTimer.stop();
        drain();
        // Before it is told, so that what is asked for in answer does not wait for the run.
        if (number == m_run) forgetControl();
        emit runFinished(record);
    });
    if (experiment.uses_gpu()) findDevices();
}

// The loaded model stays what it is: another one is only loaded for the time it takes.
Result<Session::ModelPointer> Session::modelToJudgeWith(const ModelRef& ref, std::stop_token stop) {
    if (m_engineModel && sameModel(ref, m_engineModelRef)) return m_engineModel;
    Result<LoadedModel> loaded = m_engine.load(ref, m_ledger, {std::move(stop), {}});
    if (!loaded) return loaded.error();
    return std::make_shared<const LoadedModel>(std::move(*loaded));
}

Result<Judged> Session::laneOnEngine(const std::shared_ptr<const Record>& record, int lane,
                                     std::stop_token stop) {
    const Result<ModelPointer> model = modelToJudgeWith(record->experiment.model, stop);
    if (!model) return model.error();
    auto judgement = judge_lane(*record, static_cast<std::size_t>(lane), **model, m_ledger, std::move(stop));
    if (!judgement) return judgement.error();
    const QString source = QString::fromStdString((*model)->weights->source);
    return Judged{record, lane, {}, source, {}, *std::move(judgement)};
}

Result<Judged> Session::traceOnEngine(const QString& path, std::stop_token stop) {
    std::vector<std::string> warnings;
    const auto trace = load_trace(path.toStdString(), &warnings);
    if (!trace) return trace.error();
    ModelPointer model = m_engineModel;
    QString note = warnings.empty() ? QString() : QString::fromStdString(warnings.front());
    if (!trace->model) {
        if (!model) {
            return Error{ErrorKind::bad_input,
                         "The trace names no model: open the model that made it, then the trace again."};
        }
        note = tr("The trace names no model: it was judged with the loaded one, %1.")
                   .arg(QString::fromStdString(model->weights->source));
    } else {
        Result<ModelPointer> named = modelToJudgeWith(*trace->model, stop);
        if (named) {
            model = *std::move(named);
        } else if (!model || named.error().kind == ErrorKind::cancelled) {
            return named.error();
        } else {
            note = tr("The trace's model could not be loaded (%1): it was judged with the loaded one, %2.")
                       .arg(QString::fromStdString(named.error().message),
                            QString::fromStdString(model->weights->source));
        }
    }
    const auto backend = make_cpu_backend(physical_core_count());
    auto weights = backend->prepare(model->weights, WeightType::f32, m_ledger, stop);
    if (!weights) return weights.error();
    auto judgement = judge_trace(*trace, *std::move(weights), *backend, m_ledger, std::move(stop));
    if (!judgement) return judgement.error();
    const QString source = QString::fromStdString(model->weights->source);
    return Judged{nullptr, -1, path, source, note, *std::move(judgement)};
}

void Session::answer(int lane, const QString& path, Result<Judged> result) {
    if (!result) {
        toGui([this, lane, path, error = result.error()] { emit judgeFailed(lane, path, error); });
        return;
    }
    toGui([this, judged = std::make_shared<const Judged>(std::move(*result))] { emit this->judged(judged); });
}

void Session::setActivity(Activity activity) {
    if (activity == m_activity) return;
    m_activity = activity;
    if (activity == Activity::idle) m_stopping = false;
    emit activityChanged();
}

void Session::drain() {
    m_batch.clear();
    m_ring->queue.consume_all([this](const RunEvent& event) { m_batch.push_back(event); });
    if (!m_batch.empty()) emit eventsArrived(m_batch);
}

}  // namespace decodescope
