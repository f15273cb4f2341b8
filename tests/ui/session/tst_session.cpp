// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QTest>

#include <atomic>
#include <random>
#include <thread>

#include "engine/core/mapped_file.h"
#include "engine/model/preset.h"
#include "tests/engine/formats/tiny_model.h"
#include "tests/patience.h"
#include "ui/session/run_data.h"
#include "ui/session/session.h"

using namespace decodescope;
using namespace std::chrono_literals;

namespace {

Result<LoadedModel> tinyModel(std::shared_ptr<MemoryLedger> ledger) {
    auto config = preset_config("tiny");
    if (!config) return config.error();
    auto weights = random_weights(*config, 1, std::move(ledger));
    if (!weights) return weights.error();
    return LoadedModel{*weights, nullptr};
}

/// An engine whose runs make `n_step` steps of one token at once, and whose record holds all of them.
Session::Engine burstEngine(int n_step) {
    Session::Engine engine = Session::realEngine();
    engine.run = [n_step](const Experiment& experiment, const LoadedModel&, std::shared_ptr<MemoryLedger>,
                          EventSink& sink, std::stop_token, const MachineLimits&,
                          RunControl*) -> Result<Record> {
        sink.run_started({1, 1, {1}, n_step, 1, 12.5});
        Record record;
        record.experiment = experiment;
        record.lanes.emplace_back();
        record.lanes.back().repetitions.emplace_back();
        for (int i = 0; i < n_step; ++i) {
            StepEvent event;
            event.step = i;
            event.phase = i == 0 ? Phase::prefill : Phase::decode;
            event.n_token = 1;
            TokenEvent token;
            token.step = token.index = i;
            token.token = 2 * i;
            sink.step_done(event);
            sink.token_done(token);
            record.lanes.back().repetitions.back().steps.push_back(event);
            record.lanes.back().repetitions.back().chosen.push_back(token);
        }
        sink.run_finished(FinishReason::length);
        return record;
    };
    return engine;
}

/// An engine whose runs and loads last until they are stopped.
struct EndlessEngine {
    std::atomic<int> n_running{0};
    std::atomic<int> n_stopped{0};

    Session::Engine engine() {
        Session::Engine made;
        made.load = [this](const ModelRef& ref, std::shared_ptr<MemoryLedger> ledger,
                           const LoadWatch& watch) -> Result<LoadedModel> {
            if (ref.path != "endless") return tinyModel(std::move(ledger));
            wait(watch.stop);
            return Error{ErrorKind::cancelled, "Loading was stopped."};
        };
        made.run = [this](const Experiment& experiment, const LoadedModel&, std::shared_ptr<MemoryLedger>,
                          EventSink& sink, std::stop_token stop, const MachineLimits&,
                          RunControl*) -> Result<Record> {
            sink.run_started({});
            wait(stop);
            Record record;
            record.experiment = experiment;
            record.status = FinishReason::cancelled;
            sink.run_finished(record.status);
            return record;
        };
        return made;
    }

private:
    void wait(std::stop_token stop) {
        ++n_running;
        while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
        --n_running;
        ++n_stopped;
    }
};

Experiment tinyExperiment(int newTokens) {
    Experiment experiment;
    experiment.model = {.path = {}, .preset = "tiny", .seed = 1};
    experiment.threads = 1;
    experiment.prompts.front().kind = PromptSpec::Kind::random;
    experiment.prompts.front().length = 8;
    experiment.new_tokens = newTokens;
    experiment.warmup = 0;
    experiment.repetitions = 1000;
    for (const char* name : {"naive", "static", "concat"}) experiment.lanes.push_back(*lane_from_name(name));
    return experiment;
}

}  // namespace

class SessionTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { qRegisterMetaType<std::shared_ptr<const Record>>(); }
    void deliversEverythingInOrder();
    void tasksAnswerOnce();
    void countsWhatTheRingCannotHold_data();
    void countsWhatTheRingCannotHold();
    void newerRequestReplacesOlder();
    void stopReturnsAtOnce();
    void stopsLoading();
    void tellsHowFarLoadingIs();
    void endsDuringARun();
    void reportsErrors();
    void keepsTheModelWhenAnotherFails();
    void aModelFileCutShortEndsTheRun();
    void stopAtRandomMomentsFreesCaches();
    void tellsTheDevices();
    void liveDataEqualsTheRecord_data();
    void liveDataEqualsTheRecord();
};

// One task at a time: the newest is worked on, each gets one answer, and none comes for a receiver that is
// gone.
void SessionTest::tasksAnswerOnce() {
    Session session;
    QTRY_VERIFY_WITH_TIMEOUT(session.environment() != nullptr, test::patience);
    QStringList answers;
    const auto start = [&](QObject* receiver, const QString& name, bool endless) {
        session.startTask<QString>(
            receiver, name,
            [name, endless, &answers](const Session::Bench& bench) -> Result<QString> {
                bench.tell([name, &answers] { answers << name + " begins"; });
                while (endless && !bench.stop.stop_requested()) std::this_thread::sleep_for(1ms);
                if (endless) return Error{ErrorKind::cancelled, "Stopped."};
                return name + " is done";
            },
            [name, &answers](const Result<QString>& result) {
                answers << (result ? *result : name + " was stopped");
            });
    };
    start(this, "first", true);
    QTRY_COMPARE_WITH_TIMEOUT(answers, QStringList{"first begins"}, test::patience);
    QCOMPARE(session.activity(), Session::Activity::working);
    start(this, "second", true);  // stops the first and waits, until it is replaced
    start(this, "third", false);
    QTRY_VERIFY_WITH_TIMEOUT(answers.contains("third is done"), test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
    QCOMPARE(answers.filter("first"), (QStringList{"first begins", "first was stopped"}));
    QVERIFY(answers.contains("second was stopped"));
    QCOMPARE(answers.filter("third"), (QStringList{"third begins", "third is done"}));

    answers.clear();
    auto receiver = std::make_unique<QObject>();
    start(receiver.get(), "fourth", true);
    QTRY_COMPARE_WITH_TIMEOUT(answers, QStringList{"fourth begins"}, test::patience);
    receiver.reset();
    session.stop();
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
    QCOMPARE(answers, QStringList{"fourth begins"});
}

void SessionTest::deliversEverythingInOrder() {
    constexpr int n_step = 20'000;
    Session session(nullptr, burstEngine(n_step), 2 * n_step);
    QStringList order;
    int next = 0;
    connect(&session, &Session::runStarted, this, [&](const Experiment&, const RunStarted& started) {
        QCOMPARE(started.read_bandwidth_gb_s, 12.5);
        order << "started";
    });
    connect(&session, &Session::eventsArrived, this, [&](const std::vector<RunEvent>& events) {
        if (next == 0) order << "events";
        // Step 0, its token, step 1, its token ...
        for (const RunEvent& event : events) {
            QCOMPARE(static_cast<int>(event.index()), next % 2);
            if (const auto* step = std::get_if<StepEvent>(&event)) QCOMPARE(step->step, next / 2);
            if (const auto* token = std::get_if<TokenEvent>(&event)) {
                QCOMPARE(token->step, next / 2);
                QCOMPARE(token->token, next / 2 * 2);
            }
            ++next;
        }
    });
    std::shared_ptr<const Record> record;
    connect(&session, &Session::runFinished, this, [&](std::shared_ptr<const Record> finished) {
        order << "finished";
        record = std::move(finished);
    });
    session.run(tinyExperiment(n_step));
    QTRY_VERIFY_WITH_TIMEOUT(record != nullptr, test::patience);
    QCOMPARE(order, (QStringList{"started", "events", "finished"}));
    QCOMPARE(next, 2 * n_step);
    QCOMPARE(session.droppedEvents(), 0u);
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
}

void SessionTest::countsWhatTheRingCannotHold_data() {
    QTest::addColumn<int>("capacity");
    QTest::addColumn<int>("steps");
    QTest::newRow("one place") << 1 << 1000;
    QTest::newRow("many too few") << 64 << 5000;
    QTest::newRow("just enough") << 10'000 << 5000;
}

void SessionTest::countsWhatTheRingCannotHold() {
    QFETCH(int, capacity);
    QFETCH(int, steps);
    Session session(nullptr, burstEngine(steps), static_cast<std::size_t>(capacity));
    std::size_t delivered = 0;
    connect(&session, &Session::eventsArrived, this,
            [&](const std::vector<RunEvent>& batch) { delivered += batch.size(); });
    std::shared_ptr<const Record> record;
    connect(&session, &Session::runFinished, this,
            [&](std::shared_ptr<const Record> finished) { record = std::move(finished); });
    session.run(tinyExperiment(steps));
    QTRY_VERIFY_WITH_TIMEOUT(record != nullptr, test::patience);
    QCOMPARE(delivered + session.droppedEvents(), static_cast<std::size_t>(2 * steps));
    if (capacity < 2 * steps) QVERIFY(session.droppedEvents() > 0);
    if (capacity >= 2 * steps) QCOMPARE(session.droppedEvents(), 0u);
    QCOMPARE(record->lanes.front().repetitions.front().steps.size(), static_cast<std::size_t>(steps));
}

void SessionTest::newerRequestReplacesOlder() {
    EndlessEngine endless;
    Session session(nullptr, endless.engine());
    QSignalSpy loading(&session, &Session::modelLoading);
    QSignalSpy loaded(&session, &Session::modelLoaded);
    session.loadModel({.path = "endless", .preset = {}, .seed = 0});
    QTRY_COMPARE_WITH_TIMEOUT(endless.n_running.load(), 1, test::patience);
    session.loadModel({.path = "second", .preset = {}, .seed = 0});
    session.loadModel({.path = "third", .preset = {}, .seed = 0});
    QTRY_COMPARE_WITH_TIMEOUT(loaded.count(), 1, test::patience);
    QCOMPARE(endless.n_stopped.load(), 1);
    QVERIFY(session.modelRef().path == "third" || session.modelRef().path == "second");
    QTRY_COMPARE_WITH_TIMEOUT(session.modelRef().path, std::string("third"), test::patience);
    QVERIFY(loading.count() <= 3);
}

void SessionTest::stopReturnsAtOnce() {
    EndlessEngine endless;
    Session session(nullptr, endless.engine());
    QSignalSpy finished(&session, &Session::runFinished);
    session.run(tinyExperiment(4));
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::running, test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(endless.n_running.load(), 1, test::patience);
    session.stop();
    // Nothing was waited for: the end of the run has not been delivered yet.
    QVERIFY(session.isStopping());
    QCOMPARE(session.activity(), Session::Activity::running);
    QCOMPARE(finished.count(), 0);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
    QVERIFY(!session.isStopping());
    session.stop();  // nothing to stop
    QVERIFY(!session.isStopping());
}

void SessionTest::stopsLoading() {
    EndlessEngine endless;
    Session session(nullptr, endless.engine());
    QList<ErrorKind> kinds;
    connect(&session, &Session::failed, this, [&](const Error& error) { kinds << error.kind; });
    session.loadModel({.path = "endless", .preset = {}, .seed = 0});
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::loading, test::patience);
    session.stop();
    QTRY_COMPARE_WITH_TIMEOUT(kinds, QList<ErrorKind>{ErrorKind::cancelled}, test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
    QVERIFY(session.model() == nullptr);
}

void SessionTest::tellsHowFarLoadingIs() {
    Session::Engine engine = Session::realEngine();
    engine.load = [](const ModelRef&, std::shared_ptr<MemoryLedger> ledger,
                     const LoadWatch& watch) -> Result<LoadedModel> {
        watch.progress({1, 100, "Loading weights"});  // too early to be worth telling
        std::this_thread::sleep_for(150ms);
        watch.progress({40, 100, "Loading weights"});
        return tinyModel(std::move(ledger));
    };
    Session session(nullptr, engine);
    QSignalSpy progress(&session, &Session::modelProgress);
    QSignalSpy loaded(&session, &Session::modelLoaded);
    session.loadModel({.path = "any", .preset = {}, .seed = 0});
    QTRY_COMPARE_WITH_TIMEOUT(loaded.size(), 1, test::patience);
    QCOMPARE(progress.size(), 1);
    QCOMPARE(progress[0][0].toULongLong(), 40u);
    QCOMPARE(progress[0][1].toULongLong(), 100u);
}

void SessionTest::endsDuringARun() {
    EndlessEngine endless;
    {
        Session session(nullptr, endless.engine());
        session.run(tinyExperiment(4));
        QTRY_COMPARE_WITH_TIMEOUT(endless.n_running.load(), 1, test::patience);
        session.loadModel({.path = "endless", .preset = {}, .seed = 0});  // waits in the queue
    }
    QCOMPARE(endless.n_running.load(), 0);
    QCOMPARE(endless.n_stopped.load(), 1);
}

void SessionTest::reportsErrors() {
    Session session;
    QStringList sentences;
    connect(&session, &Session::failed, this,
            [&](const Error& error) { sentences << QString::fromStdString(error.message); });
    Experiment experiment = tinyExperiment(4);
    experiment.prompts.front().kind = PromptSpec::Kind::ids;
    experiment.prompts.front().ids = {-1};
    session.run(experiment);
    QTRY_COMPARE_WITH_TIMEOUT(sentences.size(), 1, test::patience);
    QVERIFY2(sentences.front().contains("-1"), qPrintable(sentences.front()));
    session.loadModel({.path = "/no/such/folder", .preset = {}, .seed = 0});
    QTRY_COMPARE_WITH_TIMEOUT(sentences.size(), 2, test::patience);
    QVERIFY2(sentences.back().contains("/no/such/folder"), qPrintable(sentences.back()));
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
}

void SessionTest::keepsTheModelWhenAnotherFails() {
    Session session;
    QSignalSpy loaded(&session, &Session::modelLoaded);
    QSignalSpy failed(&session, &Session::failed);
    session.loadModel({.path = {}, .preset = "tiny", .seed = 1});
    QTRY_COMPARE_WITH_TIMEOUT(loaded.count(), 1, test::patience);
    const auto model = session.model();
    const std::uint64_t weights = session.ledger()->live(Owner::weights);
    session.loadModel({.path = {}, .preset = "no-such-preset", .seed = 1});
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, test::patience);
    QCOMPARE(session.model().get(), model.get());
    QCOMPARE(session.ledger()->live(Owner::weights), weights);
}

void SessionTest::aModelFileCutShortEndsTheRun() {
    survive_shrinking_files();  // as the program does: the file may be cut within a step
    const test::TestFolder folder;
    test::TinyModel model(50, 64, 16, 32, 2);
    for (test::TinyTensor& tensor : model.tensors) {
        // Of ordinary size, so that the logits are finite.
        for (qsizetype i = 3; i < tensor.data.size(); i += 4) tensor.data[i] = '\x3d';
    }
    model.write(folder);
    const auto file = folder.path("model.safetensors");
    Session session;
    QSignalSpy loaded(&session, &Session::modelLoaded);
    QSignalSpy batches(&session, &Session::eventsArrived);
    std::shared_ptr<const Record> record;
    connect(&session, &Session::runFinished, this,
            [&](std::shared_ptr<const Record> finished) { record = std::move(finished); });
    Experiment experiment = tinyExperiment(50);
    experiment.model = {.path = folder.path().string(), .preset = {}, .seed = 0};
    session.loadModel(experiment.model);
    QTRY_COMPARE_WITH_TIMEOUT(loaded.count(), 1, test::patience);
    QVERIFY(session.ledger()->mapped() > 0);
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
    session.run(experiment);
    QTRY_VERIFY_WITH_TIMEOUT(batches.count() > 2, test::patience);
    std::filesystem::resize_file(file, 100);
    QTRY_VERIFY_WITH_TIMEOUT(record != nullptr, test::patience);
    QCOMPARE(record->status, FinishReason::failed);
    QVERIFY2(QString::fromStdString(record->reason)
                 .startsWith(QString::fromStdString(file.string()) + ": became shorter while it was read: "),
             record->reason.c_str());
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
}

void SessionTest::stopAtRandomMomentsFreesCaches() {
    std::mt19937 random(20'260'301);
    std::uniform_int_distribution<int> moment(0, 40);
    Session session;
    std::shared_ptr<const Record> record;
    int n_failed = 0;
    connect(&session, &Session::runFinished, this,
            [&](std::shared_ptr<const Record> finished) { record = std::move(finished); });
    connect(&session, &Session::failed, this, [&] { ++n_failed; });
    QSignalSpy loaded(&session, &Session::modelLoaded);
    session.loadModel(tinyExperiment(4).model);
    QTRY_COMPARE_WITH_TIMEOUT(loaded.count(), 1, test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
    const std::uint64_t weights = session.ledger()->live(Owner::weights);
    QCOMPARE(session.ledger()->total(), weights);
    for (int round = 0; round < 25; ++round) {
        record.reset();
        Experiment experiment = tinyExperiment(40);
        experiment.interleave = round % 2 == 0 ? Interleave::step : Interleave::repetition;
        session.run(experiment);
        QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::running, test::patience);
        QTest::qWait(moment(random));
        session.stop();
        QTRY_VERIFY_WITH_TIMEOUT(record != nullptr, test::patience);
        QCOMPARE(record->status, FinishReason::cancelled);
        QVERIFY(!record->reason.empty());
        QCOMPARE(session.ledger()->total(), weights);
        QCOMPARE(record->tensor_bytes_after[static_cast<std::size_t>(Owner::weights)], weights);
        QCOMPARE(record->tensor_bytes_after[static_cast<std::size_t>(Owner::kv)], 0u);
        QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
    }
    QCOMPARE(n_failed, 0);
}

// At the start, and again when a run may have changed what is free on a GPU.
void SessionTest::tellsTheDevices() {
    std::atomic<int> asked{0};
    Session::Engine engine = burstEngine(3);
    engine.devices = [&asked] {
        ++asked;
        CudaDevices found;
        found.why_none = "no CUDA driver";
        return found;
    };
    Session session(nullptr, engine);
    QVERIFY(session.devices() == nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(session.devices() != nullptr, test::patience);
    QCOMPARE(session.devices()->why_none, std::string("no CUDA driver"));
    int finished = 0;
    connect(&session, &Session::runFinished, this, [&] { ++finished; });
    Experiment experiment = tinyExperiment(2);
    session.run(experiment);
    QTRY_COMPARE_WITH_TIMEOUT(finished, 1, test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(session.activity(), Session::Activity::idle, test::patience);
    QCOMPARE(asked.load(), 1);
    experiment.device = {Device::Kind::cuda, 0};
    session.run(experiment);
    QTRY_COMPARE_WITH_TIMEOUT(finished, 2, test::patience);
    QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 2, test::patience);
}

void SessionTest::liveDataEqualsTheRecord_data() {
    QTest::addColumn<int>("requests");
    QTest::newRow("one request") << 1;
    QTest::newRow("three requests, every kind of lane") << 3;
}

void SessionTest::liveDataEqualsTheRecord() {
    QFETCH(int, requests);
    Session session;
    RunData data;
    std::shared_ptr<const Record> record;
    Record live;
    connect(&session, &Session::runStarted, this,
            [&](const Experiment& experiment, const RunStarted& started) {
                data.begin(experiment, started, *session.model(), session.environment());
                QCOMPARE(data.requestCount(), requests);
                QCOMPARE(data.promptLength(), 8);
                QCOMPARE(data.promptLength(requests - 1), 8 + 3 * (requests - 1));
                QCOMPARE(data.promptLength(requests), 0);
                QVERIFY(data.isLive());
            });
    connect(&session, &Session::eventsArrived, &data, &RunData::append);
    connect(&session, &Session::runFinished, this, [&](std::shared_ptr<const Record> finished) {
        live = data.record();
        record = std::move(finished);
        data.finish(record);
    });
    Experiment experiment = tinyExperiment(20);
    experiment.repetitions = 3;
    for (int i = 1; i < requests; ++i) {
        experiment.prompts.push_back(experiment.prompts.front());
        experiment.prompts.back().length = 8 + 3 * i;
    }
    if (requests > 1) {
        experiment.drive = Drive::free;
        for (const char* name : {"batch", "continuous", "speculative", "beam"})
            experiment.lanes.push_back(*lane_from_name(name));
    }
    session.run(experiment);
    QTRY_VERIFY_WITH_TIMEOUT(record != nullptr, test::patience);
    QVERIFY(!data.isLive());
    QCOMPARE(data.finishedRecord(), record);
    QCOMPARE(data.repetition(), 2);
    QCOMPARE(live.lanes.size(), record->lanes.size());
    for (std::size_t lane = 0; lane < live.lanes.size(); ++lane) {
        QCOMPARE(live.lanes[lane].repetitions.size(), std::size_t{3});
        for (std::size_t r = 0; r < 3; ++r) {
            const auto& mine = live.lanes[lane].repetitions[r].steps;
            const auto& theirs = record->lanes[lane].repetitions[r].steps;
            QCOMPARE(mine.size(), theirs.size());
            for (std::size_t step = 0; step < mine.size(); ++step) {
                QCOMPARE(mine[step].step, theirs[step].step);
                QCOMPARE(mine[step].token, theirs[step].token);
                QCOMPARE(mine[step].end_ns, theirs[step].end_ns);
            }
            for (int request = 0; request < requests; ++request) {
                QCOMPARE(live.lanes[lane].repetitions[r].tokens(request).size(), std::size_t{20});
                QCOMPARE(live.lanes[lane].repetitions[r].tokens(request),
                         record->lanes[lane].repetitions[r].tokens(request));
            }
        }
        QCOMPARE(live.lanes[lane].step_ns().median, record->lanes[lane].step_ns().median);
    }
    QCOMPARE(live.model_hash, record->model_hash);
    QCOMPARE(live.weight_bytes, record->weight_bytes);
    QCOMPARE(live.weight_bytes_mapped, record->weight_bytes_mapped);
}

QTEST_GUILESS_MAIN(SessionTest)
#include "tst_session.moc"
