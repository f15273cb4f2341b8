// SPDX-License-Identifier: GPL-3.0-or-later
// Holding, stepping and slowing a run: what comes out is the same but for times.
#include <QTest>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "engine/experiment/runner.h"
#include "engine/model/preset.h"
#include "tests/patience.h"

using namespace decodescope;
using namespace std::chrono_literals;

namespace {

Experiment race(std::vector<const char*> lanes, Interleave interleave, int n_request = 1) {
    Experiment experiment;
    experiment.model = {.path = {}, .preset = "tiny", .seed = 5};
    experiment.prompts.assign(static_cast<std::size_t>(n_request), {});
    for (int i = 0; i < n_request; ++i) {
        PromptSpec& prompt = experiment.prompts[static_cast<std::size_t>(i)];
        prompt.kind = PromptSpec::Kind::random;
        prompt.length = 7 + 3 * i;
        prompt.seed = static_cast<std::uint64_t>(i);
    }
    experiment.new_tokens = 9;
    experiment.threads = 1;
    experiment.warmup = 1;
    experiment.repetitions = 2;
    experiment.interleave = interleave;
    for (const char* name : lanes) experiment.lanes.push_back(*lane_from_name(name));
    return experiment;
}

class CountingSink final : public EventSink {
public:
    void step_done(const StepEvent& event) override {
        ++n_step;
        if (on_step) on_step(event);
    }
    std::atomic<int> n_step{0};
    std::function<void(const StepEvent&)> on_step;
};

struct Fixture {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    LoadedModel model{*random_weights(*preset_config("tiny"), 5, ledger), nullptr};
    OwnerBytes weights_only = ledger->live();
    CountingSink sink;

    Result<Record> run(const Experiment& experiment, RunControl* control = nullptr,
                       std::stop_token stop = {}) {
        return run_experiment(experiment, model, ledger, sink, std::move(stop), {10.0, 10.0, ""}, control);
    }
};

/// The record without what a clock, the system or the allocator says.
std::string without_times(Record record) {
    record.started_at.clear();
    record.environment = {};
    record.waited_turns = 0;
    for (LaneRecord& lane : record.lanes) {
        for (RepetitionRecord& repetition : lane.repetitions) {
            for (StepEvent& step : repetition.steps) {
                step.start_ns = step.end_ns = step.first_call_end_ns = 0;
                step.memory = {};
                step.minor_faults_step = -1;
                step.heap_allocations = -1;
            }
            for (RequestRecord& request : repetition.requests)
                request.arrived_ns = request.started_ns = request.first_token_ns = request.finished_ns = 0;
        }
    }
    return to_json(record);
}

std::int64_t cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

class RunControlTest : public QObject {
    Q_OBJECT

private slots:
    void stepByStepIsTheSameRun_data();
    void stepByStepIsTheSameRun();
    void aHeldRunSleeps();
    void stopWakesAHeldRun();
    void slowMotionKeepsItsDistance();
    void visitsAreMadeWhileHeld();
    void noVisitAtFullSpeed();
    void commandsAtRandomMoments();
};

void RunControlTest::stepByStepIsTheSameRun_data() {
    QTest::addColumn<Experiment>("experiment");
    QTest::addColumn<int>("turns");
    const int together = 9 * 2;
    QTest::newRow("step by step") << race({"naive", "concat", "static", "int8"}, Interleave::step)
                                  << together;
    QTest::newRow("one lane after another")
        << race({"naive", "paged", "kivi4"}, Interleave::repetition) << 3 * together;
    QTest::newRow("requests") << race({"batch", "continuous"}, Interleave::repetition, 3) << 0;
    QTest::newRow("drafts") << race({"naive", "speculative"}, Interleave::repetition) << 0;
    Experiment faulty = race({"static", "static+position-restart"}, Interleave::step);
    faulty.drive = Drive::free;
    QTest::newRow("a fault") << faulty << together;
}

void RunControlTest::stepByStepIsTheSameRun() {
    QFETCH(Experiment, experiment);
    QFETCH(int, turns);
    Fixture plain;
    const auto expected = plain.run(experiment);
    QVERIFY2(expected.ok(), expected.ok() ? "" : expected.error().message.c_str());
    Fixture stepped;
    int held = 0;
    int most_steps = 0;
    int before = 0;
    std::unique_ptr<RunControl> control;
    control = std::make_unique<RunControl>([&](bool on) {
        if (!on) return;
        ++held;
        most_steps = std::max(most_steps, stepped.sink.n_step - before);
        before = stepped.sink.n_step;
        control->step();
    });
    control->pause();
    const auto record = stepped.run(experiment, control.get());
    QVERIFY(record.ok());
    QCOMPARE(without_times(*record), without_times(*expected));
    // Held before every turn: no lane makes two steps in one.
    QVERIFY(most_steps <= static_cast<int>(experiment.lanes.size()));
    if (turns > 0) QCOMPARE(held, turns);
    // Whoever reads the times is told.
    QCOMPARE(record->waited_turns, std::int64_t{held});
    QCOMPARE(expected->waited_turns, std::int64_t{0});
    const auto again = parse_record(to_json(*record));
    QVERIFY(again.ok());
    QCOMPARE(again->waited_turns, record->waited_turns);
    QVERIFY(doubts(*again).back().find(std::to_string(held)) != std::string::npos);
    QCOMPARE(doubts(*expected).size(), doubts(expected->environment).size());
    QVERIFY(held > 9);
}

void RunControlTest::aHeldRunSleeps() {
    Fixture fixture;
    std::atomic<bool> held{false};
    RunControl control([&](bool on) { held = on; });
    fixture.sink.on_step = [&](const StepEvent& event) {
        if (event.step == 3) control.pause();
    };
    std::jthread runner([&] { QVERIFY(fixture.run(race({"static"}, Interleave::step), &control).ok()); });
    QTRY_VERIFY_WITH_TIMEOUT(held, test::patience);
    QTest::qWait(50);  // spinning compute threads go to sleep
    const int steps = fixture.sink.n_step;
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t cpu = cpu_ns();
    std::this_thread::sleep_for(300ms);
    const auto wall = std::chrono::steady_clock::now() - start;
    QVERIFY(cpu_ns() - cpu < std::chrono::nanoseconds(wall).count() / 3);
    QCOMPARE(fixture.sink.n_step.load(), steps);
    QVERIFY(held);
    fixture.sink.on_step = {};
    control.resume();
    runner.join();
    QVERIFY(!held);
    QCOMPARE(fixture.sink.n_step.load(), 2 * 9);
}

void RunControlTest::stopWakesAHeldRun() {
    Fixture fixture;
    std::atomic<bool> held{false};
    RunControl control([&](bool on) { held = on; });
    control.step(3);
    std::stop_source stop;
    Result<Record> record = Error{};
    std::jthread runner([&] {
        record = fixture.run(race({"naive", "static"}, Interleave::step), &control, stop.get_token());
    });
    QTRY_VERIFY_WITH_TIMEOUT(held && fixture.sink.n_step == 6, test::patience);
    stop.request_stop();
    runner.join();
    QVERIFY(record.ok());
    QCOMPARE(record->status, FinishReason::cancelled);
    QCOMPARE(record->lanes[1].repetitions.front().steps.size(), std::size_t{3});
    QVERIFY(fixture.ledger->live() == fixture.weights_only);
}

void RunControlTest::slowMotionKeepsItsDistance() {
    Fixture fixture;
    RunControl control;
    control.set_interval(15ms);
    std::vector<std::int64_t> starts;
    fixture.sink.on_step = [&](const StepEvent& event) { starts.push_back(event.start_ns); };
    Experiment experiment = race({"static"}, Interleave::step);
    experiment.repetitions = 1;
    QVERIFY(fixture.run(experiment, &control).ok());
    QCOMPARE(starts.size(), std::size_t{9});
    // What lies between the turn and the clock of its step may differ by a little.
    for (std::size_t i = 1; i < starts.size(); ++i) QVERIFY(starts[i] - starts[i - 1] > 10'000'000);
}

void RunControlTest::visitsAreMadeWhileHeld() {
    Fixture fixture;
    std::atomic<bool> held{false};
    RunControl control([&](bool on) { held = on; });
    control.step(2);
    std::atomic<std::thread::id> visitor;
    std::jthread runner([&] { QVERIFY(fixture.run(race({"static"}, Interleave::step), &control).ok()); });
    QTRY_VERIFY_WITH_TIMEOUT(held && fixture.sink.n_step == 2, test::patience);
    control.visit([&] { visitor = std::this_thread::get_id(); });
    QTRY_COMPARE_WITH_TIMEOUT(visitor.load(), runner.get_id(), test::patience);
    QCOMPARE(fixture.sink.n_step.load(), 2);
    QVERIFY(held);
    control.step();
    QTRY_COMPARE_WITH_TIMEOUT(fixture.sink.n_step.load(), 3, test::patience);
    control.resume();
    runner.join();
}

void RunControlTest::noVisitAtFullSpeed() {
    Fixture fixture;
    RunControl control;
    int visits = 0;
    fixture.sink.on_step = [&](const StepEvent&) { control.visit([&] { ++visits; }); };
    QVERIFY(fixture.run(race({"static"}, Interleave::step), &control).ok());
    QCOMPARE(visits, 0);
    // In slow motion the newest of those that wait is made; what has begun is not cut off.
    std::vector<int> made;
    int asked = 0;
    fixture.sink.on_step = [&](const StepEvent&) {
        for (int i = 0; i < 3; ++i) control.visit([&made, n = ++asked] { made.push_back(n); });
    };
    control.set_interval(1ms);
    Experiment experiment = race({"static"}, Interleave::step);
    experiment.repetitions = 1;
    QVERIFY(fixture.run(experiment, &control).ok());
    QCOMPARE(made, (std::vector<int>{3, 6, 9, 12, 15, 18, 21, 24}));
}

void RunControlTest::commandsAtRandomMoments() {
    Fixture plain;
    Experiment experiment = race({"naive", "static"}, Interleave::step);
    experiment.repetitions = 10;
    const auto expected = plain.run(experiment);
    QVERIFY(expected.ok());
    Fixture fixture;
    RunControl control;
    std::atomic<bool> done{false};
    std::jthread commander([&] {
        std::minstd_rand random(11);
        while (!done) {
            switch (random() % 5) {
                case 0: control.pause(); break;
                case 1: control.step(static_cast<int>(random() % 3)); break;
                case 2: control.set_interval(std::chrono::microseconds(random() % 300)); break;
                case 3: control.visit([] {}); break;
                default: control.resume();
            }
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
        }
    });
    const auto record = fixture.run(experiment, &control);
    done = true;
    QVERIFY(record.ok());
    QCOMPARE(without_times(*record), without_times(*expected));
}

QTEST_GUILESS_MAIN(RunControlTest)
#include "tst_run_control.moc"
