// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/experiment/events.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/inspect_step.h"
#include "engine/experiment/record.h"
#include "engine/experiment/run_control.h"
#include "engine/formats/model_source.h"
#include "engine/measure/environment.h"
#include "engine/measure/machine_limits.h"
#include "engine/verify/judgement.h"
#include "ui/session/drain_pace.h"
#include "ui/session/gui_queue.h"

namespace decodescope {

/// What comes through the ring: a step, then the tokens that were chosen in it.
using RunEvent = std::variant<StepEvent, TokenEvent>;

/// True when both name the same model.
bool sameModel(const ModelRef& a, const ModelRef& b);

/// What a run was found to be: a lane of a record, or a trace of another program.
struct Judged {
    std::shared_ptr<const Record> record;  ///< null for a trace
    int lane = -1;                         ///< of the record; -1 for a trace
    QString path;                          ///< of a trace
    QString model;                         ///< what it was judged with, as the loader names it
    QString note;                          ///< one sentence about what was unusual; may be empty
    Judgement judgement;
};

/// The one border between the window and the engine. It owns the engine thread, the memory ledger and the
/// loaded model. Requests are closures with a tag: a newer request replaces a waiting one with the same tag
/// and stops a running one. Everything that comes back is an immutable value, delivered on the GUI thread:
/// life-cycle events as queued calls, steps and tokens through a preallocated ring that a timer drains
/// (`DrainPace`). All public functions are for the GUI thread; none of them waits for the engine, except the
/// destructor, which stops the engine and joins it.
class Session : public QObject {
    Q_OBJECT

public:
    /// What the engine thread is busy with.
    enum class Activity { idle, loading, running, judging, working };

    /// What a task has while it works on the engine thread.
    struct Bench {
        std::stop_token stop;
        std::shared_ptr<MemoryLedger> ledger;
        /// The loaded model if it is that one, else that one, loaded for the task alone.
        std::function<Result<std::shared_ptr<const LoadedModel>>(const ModelRef&)> model;
        /// Calls a function on the GUI thread, as long as the task's receiver exists. It captures values.
        std::function<void(std::function<void()>)> tell;
    };

    /// The engine functions behind a session; tests replace them.
    struct Engine {
        std::function<Result<LoadedModel>(const ModelRef&, std::shared_ptr<MemoryLedger>, const LoadWatch&)>
            load;
        std::function<Result<Record>(const Experiment&, const LoadedModel&, std::shared_ptr<MemoryLedger>,
                                     EventSink&, std::stop_token, const MachineLimits&, RunControl*)>
            run;
        /// Asked at the start, and after every run on a GPU: what is free on them changes.
        std::function<CudaDevices()> devices = find_cuda_devices_and_free_memory;
    };
    /// `load_model` and `run_experiment`.
    static Engine realEngine();

    /// `ringCapacity`: events that may wait between two drains.
    explicit Session(QObject* parent = nullptr, Engine engine = realEngine(),
                     std::size_t ringCapacity = 32768);
    ~Session() override;

    /// Loads a model; `modelLoading`, then `modelLoaded` or `failed` follow. The model that was loaded stays
    /// until the new one is complete.
    void loadModel(const ModelRef& ref);
    /// Runs an experiment, loading its model first if it is another one. `turns`: it makes so many turns (see
    /// `RunControl`) and is paused then; none = it is not paused.
    void run(const Experiment& experiment, std::optional<int> turns = std::nullopt);
    /// Holds the run before its next step, lets it go on, or lets it make one more step and holds it then.
    /// Nothing happens while nothing runs.
    void pause();
    void resume();
    void step();
    /// Slow motion, for this run and later ones: so many steps a second at most; 0 = as fast as it goes.
    void setSpeed(double stepsPerSecond);
    /// Judges a lane of a finished run (`judge_lane`), with the record's model, whichever is loaded;
    /// `judged` or `judgeFailed` follow. A newer request, a run or another model takes its place.
    void judgeLane(std::shared_ptr<const Record> record, int lane);
    /// Reads a trace and judges it with the model that it names, else with the loaded one.
    void judgeTrace(const QString& path);
    /// Looks at one step of a lane again (`StepInspector`); `stepInspected` or `inspectFailed` follow. Of
    /// requests that come while one is at work the newest is served, and the others are dropped. While a run
    /// goes on it is served when the run is held, or waits in slow motion. `record` may be one that still
    /// grows, see `RunData::soFar`.
    void inspect(std::shared_ptr<const Record> record, int lane, const StepQuery& query);
    /// Serves a lane of a finished run once more to tell where the time of its steps goes (`profile_lane`);
    /// `laneProfiled` follows unless something else is asked for meanwhile.
    void profileLane(std::shared_ptr<const Record> record, int lane);
    /// Any other work for the engine thread, `Activity::working` meanwhile; `title` says what it is. `work`
    /// runs there; what it returns is handed to `done` on the GUI thread, once, unless `receiver` is gone by
    /// then. A task that is stopped, or that another task replaces, ends with `ErrorKind::cancelled`.
    template <class Value>
    void startTask(QObject* receiver, const QString& title, std::function<Result<Value>(const Bench&)> work,
                   std::function<void(const Result<Value>&)> done) {
        postTask(
            receiver, title,
            [work = std::move(work), done](const Bench& bench) -> std::function<void()> {
                // A function must be copyable, and a result need not be.
                auto result = std::make_shared<const Result<Value>>(work(bench));
                return [done, result] { done(*result); };
            },
            [done] {
                done(Error{ErrorKind::cancelled, "Stopped on request."});
            });
    }
    /// What the newest task is called.
    const QString& taskTitle() const { return m_taskTitle; }
    /// Asks whatever is loading, running, being judged or worked on to stop, and forgets what waits. Returns
    /// at once.
    void stop();

    Activity activity() const { return m_activity; }
    /// True between `stop` and the end of what was stopped.
    bool isStopping() const { return m_stopping && m_activity != Activity::idle; }
    /// A run goes on or waits to begin.
    bool hasRun() const { return m_control != nullptr; }
    /// The run is to be held before its next step.
    bool isPaused() const { return m_paused; }
    /// It is being held: it has made the step that it was in.
    bool isHeld() const { return m_held; }
    /// Null until a model is loaded.
    std::shared_ptr<const LoadedModel> model() const { return m_model; }
    /// What `model` was loaded from.
    const ModelRef& modelRef() const { return m_modelRef; }
    /// Live tensor bytes of everything in this process.
    std::shared_ptr<const MemoryLedger> ledger() const { return m_ledger; }
    /// Steps and tokens of the current run that found the ring full, so that the window has not seen them
    /// live.
    std::uint64_t droppedEvents() const { return m_dropped.load(std::memory_order_relaxed); }
    /// Machine and libraries; null until `environmentRead`.
    const Environment* environment() const { return m_environment ? &*m_environment : nullptr; }

    /// GPUs of this machine; null until `devicesFound`.
    const CudaDevices* devices() const { return m_devices ? &*m_devices : nullptr; }

signals:
    void activityChanged();
    /// `isPaused` or `isHeld` is another one.
    void pauseChanged();
    void environmentRead(const decodescope::Environment& environment);
    void devicesFound(const decodescope::CudaDevices& found);
    void modelLoading(const decodescope::ModelRef& ref);
    /// How much of the model's files has been read; about ten times a second while it loads.
    void modelProgress(quint64 bytesDone, quint64 bytesTotal);
    void modelLoaded(std::shared_ptr<const decodescope::LoadedModel> model);
    /// The first step of `experiment` is about to be made.
    void runStarted(const decodescope::Experiment& experiment, const decodescope::RunStarted& started);
    /// Steps and tokens since the last call, in order; at most 30 times a second.
    void eventsArrived(const std::vector<decodescope::RunEvent>& events);
    /// The run has ended, all its caches are freed, and all its events have been delivered.
    void runFinished(std::shared_ptr<const decodescope::Record> record);
    /// An answer to `judgeLane` or `judgeTrace`.
    void judged(std::shared_ptr<const decodescope::Judged> judged);
    /// Judging came to nothing: with `lane` of the record, or -1 with the trace `path`.
    void judgeFailed(int lane, const QString& path, const decodescope::Error& error);
    /// Answers to `inspect`.
    void stepInspected(std::shared_ptr<const decodescope::StepView> view);
    void inspectFailed(const decodescope::Error& error);
    /// An answer to `profileLane`: of every step that was made; empty when the lane could not be served.
    void laneProfiled(std::shared_ptr<const decodescope::Record> record, int lane,
                      std::shared_ptr<const std::vector<decodescope::TimeSplit>> steps);
    /// A request came to nothing; the sentence is in the error.
    void failed(const decodescope::Error& error);

private:
    class Sink;
    struct Ring;
    enum class Tag { none, environment, model, run, judge, inspect, profile, task };
    struct Request {
        Tag tag = Tag::none;
        std::function<void(std::stop_token)> work;
        std::stop_source stop;
    };

    void post(Tag tag, std::function<void(std::stop_token)> work);
    void engineMain(std::stop_token quit);
    bool ensureModel(const ModelRef& ref, std::stop_token stop);
    void runOnEngine(const Experiment& experiment, RunControl& control, int number, std::stop_token stop);
    void findDevices();
    void setPaused(bool paused);
    void forgetControl();
    using ModelPointer = std::shared_ptr<const LoadedModel>;
    Result<ModelPointer> modelToJudgeWith(const ModelRef& ref, std::stop_token stop);
    Result<Judged> laneOnEngine(const std::shared_ptr<const Record>& record, int lane, std::stop_token stop);
    Result<Judged> traceOnEngine(const QString& path, std::stop_token stop);
    void answer(int lane, const QString& path, Result<Judged> result);
    bool forgetJudging();
    void stopJudging();
    void stopInspecting();
    Result<StepView> inspectOnEngine(const std::shared_ptr<const Record>& record, int lane,
                                     const StepQuery& query, const std::stop_token& stop);
    void judgingStopped();
    void postTask(QObject* receiver, const QString& title,
                  std::function<std::function<void()>(const Bench&)> work, std::function<void()> forgotten);
    std::function<void()> forgetTask();
    void toGui(std::function<void()> function) { m_answers.call(std::move(function)); }
    void setActivity(Activity activity);
    void drain();

    // GUI thread
    Activity m_activity = Activity::idle;
    bool m_stopping = false;
    bool m_paused = false;
    bool m_held = false;
    std::chrono::nanoseconds m_interval{};  // of slow motion
    std::shared_ptr<RunControl> m_control;  // of the newest run; the engine thread has it too
    std::stop_source m_inspectStop;         // of the newest request to inspect
    int m_inspection = 0;                   // its number
    int m_run = 0;                          // its number
    int m_judgedLane = -1;                  // of the newest request
    QString m_judgedPath;
    QString m_taskTitle;
    std::function<void()> m_taskForgotten;  // for the newest task: it will not be begun
    std::shared_ptr<const LoadedModel> m_model;
    ModelRef m_modelRef;
    std::optional<Environment> m_environment;
    std::optional<CudaDevices> m_devices;
    QTimer m_drainTimer;
    DrainPace m_pace;
    std::vector<RunEvent> m_batch;

    // engine thread
    Engine m_engine;
    std::shared_ptr<const LoadedModel> m_engineModel;
    ModelRef m_engineModelRef;
    std::unique_ptr<StepInspector> m_inspector;  // where it is in a lane
    std::shared_ptr<const Record> m_inspected;   // whose
    std::map<int, MachineLimits> m_limits;       // by number of threads asked for; measured by the first run

    // shared
    std::shared_ptr<MemoryLedger> m_ledger;
    std::unique_ptr<Ring> m_ring;
    std::atomic<std::uint64_t> m_dropped{0};
    GuiQueue m_answers;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<Request> m_queue;
    Tag m_runningTag = Tag::none;
    std::stop_source m_runningStop{std::nostopstate};

    std::jthread m_thread;  // last: it starts when everything above is there and ends before it goes
};

}  // namespace decodescope
