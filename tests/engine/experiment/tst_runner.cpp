// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

#include "engine/experiment/precision.h"
#include "engine/experiment/runner.h"
#include "engine/model/preset.h"
#include "engine/model/weight_size.h"
#include "engine/verify/verify_model.h"

using namespace decodescope;

namespace {

constexpr std::int64_t kv_bytes_per_token = 2 * 2 * 32 * 4;  // tiny: 2 layers, 4 heads x 8, f32

/// Counts what it is told and calls back, so that a test can act in the middle of a run.
class Sink final : public EventSink {
public:
    void run_started(const RunStarted& event) override {
        started = event;
        ++n_started;
    }
    void step_done(const StepEvent& event) override {
        events.push_back(event);
        if (on_step) on_step(event);
    }
    void token_done(const TokenEvent& event) override { tokens.push_back(event); }
    void repetition_done(std::int32_t, std::int32_t, FinishReason reason) override {
        finishes.push_back(reason);
        if (on_repetition) on_repetition();
    }
    void run_finished(FinishReason reason) override { finished.push_back(reason); }

    RunStarted started;
    int n_started = 0;
    std::vector<StepEvent> events;
    std::vector<TokenEvent> tokens;
    std::vector<FinishReason> finishes;
    std::vector<FinishReason> finished;
    std::function<void(const StepEvent&)> on_step;
    std::function<void()> on_repetition;
};

struct Fixture {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    LoadedModel model{*random_weights(*preset_config("tiny"), 5, ledger), nullptr};
    OwnerBytes weights_only = ledger->live();
    Sink sink;

    Result<Record> run(const Experiment& experiment, std::stop_token stop = {}) {
        return run_experiment(experiment, model, ledger, sink, std::move(stop), {10.0, 10.0, ""});
    }
};

Experiment race(std::vector<const char*> lanes = {"naive", "concat", "static"}) {
    Experiment experiment;
    experiment.model = {.path = {}, .preset = "tiny", .seed = 5};
    experiment.prompts[0].kind = PromptSpec::Kind::ids;
    experiment.prompts[0].ids = {3, 1, 4, 15, 9, 2, 6};
    experiment.new_tokens = 20;
    experiment.threads = 2;
    experiment.repetitions = 2;
    for (const char* name : lanes) experiment.lanes.push_back(*lane_from_name(name));
    return experiment;
}

/// Long enough for a few repetitions of `race`.
#ifdef __SANITIZE_THREAD__
constexpr double short_while = 5;
#else
constexpr double short_while = 0.2;
#endif

}  // namespace

class TestRunner : public QObject {
    Q_OBJECT

private slots:
    void repeatsUntilTheTimeIsUp() {
        Fixture fixture;
        Experiment experiment = race({"naive", "static"});
        experiment.repetitions = 2;
        // No median is ever known this well, so that the time ends the run.
        experiment.precision = {.interval = 1e-9, .seconds = short_while};
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        QVERIFY(record->lanes[0].repetitions.size() > 2);
        QCOMPARE(record->lanes[0].repetitions.size(), record->lanes[1].repetitions.size());
        const AchievedPrecision achieved = achieved_precision(*record);
        QVERIFY(!achieved.reached);
        QVERIFY(achieved.interval > 0);
        QVERIFY2(QString::fromStdString(achieved.sentence).contains("were asked for"),
                 achieved.sentence.c_str());
        QCOMPARE(record->status, FinishReason::length);
    }

    void repeatsUntilTheTimesAreKnown() {
        Fixture fixture;
        Experiment experiment = race({"static"});
        experiment.repetitions = 3;
        experiment.precision = {.interval = 0.999, .seconds = 1000};
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        // Five repetitions are almost certainly enough for so little; what counts is that it did not go on.
        QVERIFY(record->lanes[0].repetitions.size() < 100);
        QVERIFY(achieved_precision(*record).reached);
        QVERIFY(achieved_precision(*record).sentence.empty());
    }

    void stopEndsARunThatWouldGoOn() {
        Fixture fixture;
        std::stop_source stop;
        int n = 0;
        fixture.sink.on_repetition = [&] {
            if (++n == 4) stop.request_stop();
        };
        Experiment experiment = race({"static"});
        experiment.precision = {.interval = 1e-9, .seconds = 1000};
        const auto record = fixture.run(experiment, stop.get_token());
        QVERIFY(record);
        QCOMPARE(record->status, FinishReason::cancelled);
        QCOMPARE(record->lanes[0].repetitions.size(), std::size_t{4});
    }

    void whatFailsIsNotRepeatedForPrecision() {
        Fixture fixture;
        Experiment experiment = race({"static"});
        experiment.lanes[0].cache.capacity = 10;
        experiment.precision = {.interval = 1e-9, .seconds = 1000};
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        QCOMPARE(record->status, FinishReason::capacity);
        QCOMPARE(record->lanes[0].repetitions.size(), std::size_t{2});
    }

    void warmsUpUnlessAskedNotTo() {
        const auto allocations = [](int warmup) {
            Fixture fixture;
            Experiment experiment = race({"static"});
            experiment.warmup = warmup;
            experiment.repetitions = 1;
            const std::uint64_t before = fixture.ledger->n_allocation();
            const auto record = fixture.run(experiment);
            if (!record || record->lanes[0].repetitions.size() != 1) return std::uint64_t{0};
            return fixture.ledger->n_allocation() - before;
        };
        // A pass makes its cache and buffers, and leaves nothing to the next.
        const std::uint64_t none = allocations(0);
        QVERIFY(none > 0);
        QCOMPARE(allocations(1) - none, allocations(2) - allocations(1));
        QVERIFY(allocations(1) > none);
    }

    void saysWhoElseWasBusy() {
        Fixture fixture;
        const auto record = fixture.run(race({"static"}));
        QVERIFY(record);
        QVERIFY(record->environment.use.others == -1 ||
                (record->environment.use.others >= 0 && record->environment.use.others <= 1));
        QCOMPARE(record->environment.peak_gflop_s, 10.0);
    }

    void countsEveryStep_data() {
        QTest::addColumn<int>("interleave");
        QTest::newRow("step by step") << static_cast<int>(Interleave::step);
        QTest::newRow("repetition by repetition") << static_cast<int>(Interleave::repetition);
    }
    void countsEveryStep() {
        QFETCH(int, interleave);
        Fixture fixture;
        Experiment experiment = race();
        experiment.interleave = static_cast<Interleave>(interleave);
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        QCOMPARE(record->status, FinishReason::length);
        QCOMPARE(record->lanes.size(), std::size_t{3});
        for (const LaneRecord& lane : record->lanes) {
            QCOMPARE(lane.repetitions.size(), std::size_t{2});
            for (const RepetitionRecord& repetition : lane.repetitions) {
                QCOMPARE(repetition.finish, FinishReason::length);
                QCOMPARE(repetition.steps.size(), std::size_t{20});
                QCOMPARE(repetition.tokens(), record->lanes[0].repetitions[0].tokens());
                std::int64_t copied = 0;
                for (std::size_t i = 0; i < 20; ++i) {
                    const StepEvent& step = repetition.steps[i];
                    const bool naive = lane.spec.mode == LaneMode::naive;
                    const auto length = static_cast<std::int64_t>(7 + i);
                    QCOMPARE(step.step, static_cast<int>(i));
                    QCOMPARE(step.phase, i == 0 ? Phase::prefill : Phase::decode);
                    QCOMPARE(step.positions_forwarded, naive || i == 0 ? length : 1);
                    QCOMPARE(step.score_cells_allowed, naive || i == 0 ? length * (length + 1) / 2 : length);
                    QVERIFY(step.score_cells_computed >= step.score_cells_allowed);
                    QCOMPARE(step.cache_length, naive ? 0 : length);
                    QCOMPARE(step.kv_bytes_live, naive ? 0 : length * kv_bytes_per_token);
                    if (lane.spec.cache.kind == CacheKind::concat) {
                        if (i > 0) copied += (length - 1) * kv_bytes_per_token;
                        QCOMPARE(step.kv_bytes_copied, copied);
                        QCOMPARE(step.kv_bytes_reserved, step.kv_bytes_live);
                    } else {
                        QCOMPARE(step.kv_bytes_copied, 0);
                        QCOMPARE(step.kv_bytes_reserved, naive ? 0 : 26 * kv_bytes_per_token);
                    }
                    QVERIFY(step.end_ns > step.start_ns);
                    QVERIFY(step.memory.rss > 0);
                    QVERIFY(step.tensor_bytes[static_cast<std::size_t>(Owner::weights)] > 0);
                    QCOMPARE(step.comparison.compared, lane.spec.name != "naive");
                    if (step.comparison.compared) QVERIFY(step.comparison.relative_error <= f32_error_limit);
                }
            }
        }
        QCOMPARE(fixture.sink.n_started, 1);
        QCOMPARE(fixture.sink.events.size(), std::size_t{3 * 2 * 20});
        QCOMPARE(fixture.sink.tokens.size(), std::size_t{3 * 2 * 20});
        QCOMPARE(fixture.sink.finishes.size(), std::size_t{6});
        QCOMPARE(fixture.sink.finished, std::vector{FinishReason::length});
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
        QCOMPARE(record->tensor_bytes_after, fixture.weights_only);
    }

    void lanesAlternateWhoGoesFirst() {
        Fixture fixture;
        Experiment experiment = race({"naive", "static"});
        experiment.repetitions = 1;
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        const auto& a = record->lanes[0].repetitions[0].steps;
        const auto& b = record->lanes[1].repetitions[0].steps;
        for (std::size_t i = 0; i < a.size(); ++i) QCOMPARE(a[i].start_ns < b[i].start_ns, i % 2 == 0);
    }

    void repetitionsAlternateTheirOrder() {
        Fixture fixture;
        Experiment experiment = race({"naive", "concat", "static"});
        experiment.reference = "concat";
        experiment.interleave = Interleave::repetition;
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        std::vector<std::pair<std::int64_t, int>> first;
        std::vector<std::pair<std::int64_t, int>> second;
        for (int lane = 0; lane < 3; ++lane) {
            const auto& repetitions = record->lanes[static_cast<std::size_t>(lane)].repetitions;
            first.emplace_back(repetitions[0].steps[0].start_ns, lane);
            second.emplace_back(repetitions[1].steps[0].start_ns, lane);
        }
        std::sort(first.begin(), first.end());
        std::sort(second.begin(), second.end());
        QCOMPARE(first[0].second, 1);
        for (std::size_t k = 0; k < 3; ++k) QCOMPARE(second[k].second, first[2 - k].second);
    }

    void stopIsPromptAndFrees_data() {
        QTest::addColumn<int>("lane");
        QTest::addColumn<int>("step");
        for (const int lane : {0, 1, 2}) {
            for (const int step : {0, 1, 9, 19})
                QTest::addRow("lane %d, step %d", lane, step) << lane << step;
        }
    }
    void stopIsPromptAndFrees() {
        QFETCH(int, lane);
        QFETCH(int, step);
        Fixture fixture;
        std::stop_source stop;
        fixture.sink.on_step = [&](const StepEvent& event) {
            if (event.lane == lane && event.step == step) stop.request_stop();
        };
        std::uint64_t kv_at_the_end = 1;
        fixture.sink.on_repetition = [&] { kv_at_the_end = fixture.ledger->live(Owner::kv); };
        const auto record = fixture.run(race(), stop.get_token());
        QVERIFY(record);
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
        QCOMPARE(kv_at_the_end, std::uint64_t{0});  // freed before the last lane reports
        QCOMPARE(fixture.sink.finished.size(), std::size_t{1});
        QCOMPARE(record->status, FinishReason::cancelled);
        QVERIFY(!record->reason.empty());
        for (const LaneRecord& each : record->lanes) {
            QVERIFY(each.repetitions.back().steps.size() <= 20);
        }
        QCOMPARE(record->lanes[0].repetitions[0].steps.size(), static_cast<std::size_t>(step) + 1);
    }

    void capacityEndsOneLane() {
        Fixture fixture;
        Experiment experiment = race({"naive", "static"});
        experiment.lanes[1].cache.capacity = 16;
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        QCOMPARE(record->status, FinishReason::capacity);
        QCOMPARE(record->lanes[0].finish(), FinishReason::length);
        QCOMPARE(record->lanes[1].finish(), FinishReason::capacity);
        QCOMPARE(record->lanes[1].repetitions[0].steps.size(), std::size_t{10});
        QCOMPARE(record->lanes[1].repetitions[0].steps.back().cache_length, 16);
    }

    void aStoppedReferenceStopsForcedLanes() {
        Fixture fixture;
        Experiment experiment = race({"static", "naive"});
        experiment.lanes[0].cache.capacity = 12;
        experiment.repetitions = 1;
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        QCOMPARE(record->lanes[0].repetitions[0].steps.size(), std::size_t{6});
        QVERIFY(record->lanes[1].repetitions[0].steps.size() <= 7);
        QVERIFY(QString::fromStdString(record->lanes[1].repetitions[0].reason)
                    .contains("reference lane \"static\""));
    }

    void nonFiniteLogitsEndTheLane() {
        Fixture fixture;
        auto weights = *allocate_weights(*preset_config("tiny"), fixture.ledger);
        tensor_slots(*weights).back().data[0] = std::numeric_limits<float>::quiet_NaN();
        fixture.model.weights = weights;
        const auto record = fixture.run(race());
        QVERIFY(record);
        QCOMPARE(record->status, FinishReason::failed);
        QVERIFY(QString::fromStdString(record->reason).contains("expected a finite number"));
    }

    void outOfMemoryEndsTheLane() {
        Fixture fixture;
        const std::uint64_t weights = prepared_bytes(fixture.model.weights->config, WeightType::f32);
        fixture.ledger->set_limit(fixture.ledger->total() + weights + 2000);
        const auto record = fixture.run(race());
        QVERIFY(record);
        QCOMPARE(record->status, FinishReason::failed);
        QVERIFY(QString::fromStdString(record->reason).contains("memory limit"));
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
    }

    void noRoomForPreparedWeights() {
        Fixture fixture;
        fixture.ledger->set_limit(fixture.ledger->total() + 2000);
        const auto record = fixture.run(race());
        QVERIFY(!record);
        QCOMPARE(record.error().kind, ErrorKind::out_of_memory);
        QVERIFY(QString::fromStdString(record.error().message).startsWith("Lane \"naive\""));
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
    }

    void stoppedBeforeItsLanesAreReady() {
        Fixture fixture;
        EventSink sink;
        std::stop_source stop;
        stop.request_stop();
        const auto record = run_experiment(race(), fixture.model, fixture.ledger, sink, stop.get_token());
        QVERIFY(record);
        QCOMPARE(record->status, FinishReason::cancelled);
        QCOMPARE(record->lanes.size(), race().lanes.size());
        for (const LaneRecord& lane : record->lanes) {
            QCOMPARE(lane.repetitions.size(), std::size_t{1});
            QCOMPARE(lane.repetitions[0].finish, FinishReason::cancelled);
        }
        QVERIFY(parse_record(to_json(*record)));
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
    }

    void drives_data() {
        QTest::addColumn<int>("drive");
        QTest::newRow("forced") << static_cast<int>(Drive::forced);
        QTest::newRow("free") << static_cast<int>(Drive::free);
        QTest::newRow("fixed") << static_cast<int>(Drive::fixed);
    }
    void drives() {
        QFETCH(int, drive);
        Fixture fixture;
        Experiment experiment = race({"naive", "static"});
        experiment.drive = static_cast<Drive>(drive);
        for (int i = 0; i + 1 < experiment.new_tokens && experiment.drive == Drive::fixed; ++i) {
            experiment.fixed_ids.push_back(63 - i);
        }
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        const auto& reference = record->lanes[0].repetitions[0].steps;
        const auto& steps = record->lanes[1].repetitions[0].steps;
        QCOMPARE(steps.size(), std::size_t{20});
        for (std::size_t i = 1; i < steps.size(); ++i) {
            const std::int32_t fed =
                experiment.drive == Drive::fixed ? 64 - static_cast<int>(i) : reference[i - 1].token;
            QCOMPARE(steps[i].fed_first, fed);
            QCOMPARE(reference[i].fed_first, fed);
            QVERIFY(steps[i].comparison.compared);
        }
    }

    void stopsAtEndOfText() {
        Fixture fixture;
        Experiment experiment = race({"naive", "static"});
        const auto whole = fixture.run(experiment);
        const std::int32_t third = whole->lanes[0].repetitions[0].tokens()[2];
        auto weights = *allocate_weights(*preset_config("tiny"), fixture.ledger);
        auto config = weights->config;
        config.eos_ids = {third};
        fixture.model.weights = *random_weights(config, 5, fixture.ledger);
        experiment.stop_at_eos = true;
        const auto record = fixture.run(experiment);
        QVERIFY(record);
        QCOMPARE(record->status, FinishReason::length);
        QCOMPARE(record->lanes[1].finish(), FinishReason::stop_token);
        QVERIFY(record->lanes[1].repetitions[0].steps.size() <= 3);
        QCOMPARE(record->lanes[1].repetitions[0].tokens().back(), third);
    }

    void badPromptsAreRefused_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("id");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("id too large") << static_cast<int>(PromptSpec::Kind::ids) << 64 << "vocabulary of 64";
        QTest::newRow("id negative") << static_cast<int>(PromptSpec::Kind::ids) << -1 << "-1";
        QTest::newRow("text") << static_cast<int>(PromptSpec::Kind::text) << 0 << "has no tokenizer";
    }
    void badPromptsAreRefused() {
        QFETCH(int, kind);
        QFETCH(int, id);
        QFETCH(QString, sentence);
        Fixture fixture;
        Experiment experiment = race();
        experiment.prompts[0].kind = static_cast<PromptSpec::Kind>(kind);
        experiment.prompts[0].ids = {1, id};
        experiment.prompts[0].text = "hello";
        const auto record = fixture.run(experiment);
        QVERIFY(!record);
        QCOMPARE(record.error().kind, ErrorKind::bad_input);
        QVERIFY2(QString::fromStdString(record.error().message).contains(sentence),
                 record.error().message.c_str());
    }

    void randomPromptsRepeat() {
        Fixture fixture;
        Experiment experiment = race();
        experiment.prompts[0].kind = PromptSpec::Kind::random;
        experiment.prompts[0].length = 9;
        experiment.prompts[0].seed = 4;
        const auto once = prompt_ids(experiment, fixture.model);
        QVERIFY(once);
        QCOMPARE(once->size(), std::size_t{1});
        QCOMPARE(once->front().size(), std::size_t{9});
        QCOMPARE(*once, *prompt_ids(experiment, fixture.model));
        experiment.prompts[0].seed = 5;
        QVERIFY(*once != *prompt_ids(experiment, fixture.model));
    }
};

QTEST_APPLESS_MAIN(TestRunner)
#include "tst_runner.moc"
