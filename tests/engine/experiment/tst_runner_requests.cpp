// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <memory>
#include <vector>

#include "engine/experiment/report_text.h"
#include "engine/experiment/runner.h"
#include "engine/model/preset.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;

namespace {

struct Fixture {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    LoadedModel model{test::lively_weights(*preset_config("tiny"), 5, ledger), nullptr};
    OwnerBytes weights_only = ledger->live();
    EventSink sink;

    Result<Record> run(const Experiment& experiment, std::stop_token stop = {}) {
        return run_experiment(experiment, model, ledger, sink, std::move(stop), {10.0, 10.0, ""});
    }
};

PromptSpec ids(std::vector<std::int32_t> tokens) {
    PromptSpec prompt;
    prompt.kind = PromptSpec::Kind::ids;
    prompt.ids = std::move(tokens);
    return prompt;
}

/// Three ragged requests.
Experiment requests(std::vector<const char*> lanes) {
    Experiment experiment;
    experiment.model = {.path = {}, .preset = "tiny", .seed = 5};
    experiment.prompts = {ids({3, 1, 4, 15, 9, 2, 6}), ids({5, 3}), ids({8, 9, 7, 9, 3, 2, 3, 8, 4, 6})};
    experiment.new_tokens = 12;
    experiment.threads = 1;
    experiment.repetitions = 2;
    experiment.warmup = 1;
    for (const char* name : lanes) experiment.lanes.push_back(*lane_from_name(name));
    return experiment;
}

}  // namespace

/// Experiments with several requests, and lanes that do not make one token per step.
class TestRunnerRequests : public QObject {
    Q_OBJECT

private slots:
    void everyWayAgrees_data() {
        QTest::addColumn<int>("drive");
        QTest::addColumn<bool>("sample");
        QTest::newRow("forced") << static_cast<int>(Drive::forced) << false;
        QTest::newRow("free") << static_cast<int>(Drive::free) << false;
        QTest::newRow("forced, sampling") << static_cast<int>(Drive::forced) << true;
        QTest::newRow("free, sampling") << static_cast<int>(Drive::free) << true;
    }
    void everyWayAgrees() {
        QFETCH(int, drive);
        QFETCH(bool, sample);
        Fixture fixture;
        Experiment experiment = requests({"naive", "static", "paged", "batch", "batch-right", "batch-packed",
                                          "naive-batch", "continuous", "speculative", "speculative-layers"});
        experiment.drive = static_cast<Drive>(drive);
        if (sample) experiment.sampling = {SamplingKind::sample, 0.9, 20, 4};
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        QCOMPARE(record->status, FinishReason::length);
        for (std::size_t i = 0; i < record->lanes.size(); ++i) {
            const LaneRecord& lane = record->lanes[i];
            QCOMPARE(lane.repetitions.size(), std::size_t{2});
            for (const RepetitionRecord& repetition : lane.repetitions) {
                QCOMPARE(repetition.chosen.size(), std::size_t{36});
                QCOMPARE(repetition.requests.size(), std::size_t{3});
                for (int r = 0; r < 3; ++r) {
                    QCOMPARE(repetition.tokens(r), record->reference().repetitions[0].tokens(r));
                    QVERIFY(repetition.ttft_ns(r) > 0);
                    QVERIFY(repetition.requests[static_cast<std::size_t>(r)].queue_ns() >= 0);
                }
                for (const TokenEvent& token : repetition.chosen) QCOMPARE(token.comparison.compared, i != 0);
            }
            if (i == 0) continue;
            QVERIFY2(lane.agrees_with(record->reference()), lane.spec.name.c_str());
            QVERIFY(lane.max_relative_error() >= 0);
            QCOMPARE(lane.quality().top1_agreement, 1.0);
            QVERIFY2(speed_up(*record, i).why_not.empty(), speed_up(*record, i).why_not.c_str());
        }
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
        const std::string table = to_plain_text(*record);
        QVERIFY2(table.find("3 requests of 2 to 10 prompt tokens") != std::string::npos, table.c_str());
    }

    void sequentialLanesRunSideBySide() {
        Fixture fixture;
        Experiment experiment = requests({"naive", "static"});
        experiment.interleave = Interleave::step;
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        const auto& a = record->lanes[0].repetitions[0].steps;
        const auto& b = record->lanes[1].repetitions[0].steps;
        QCOMPARE(a.size(), std::size_t{36});
        QCOMPARE(b.size(), std::size_t{36});
        for (std::size_t i = 0; i + 1 < a.size(); ++i) QVERIFY(b[i].start_ns < a[i + 1].end_ns);
        QVERIFY(record->lanes[1].agrees_with(record->lanes[0]));
    }

    /// A lane that gives a request up early waits for the reference before it can be fed the next one.
    void aLaneThatGivesUpEarlyWaits() {
        Fixture fixture;
        Experiment experiment = requests({"naive", "static"});
        experiment.interleave = Interleave::step;
        experiment.repetitions = 1;
        experiment.lanes[1].cache.capacity = 12;
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        const RepetitionRecord& cut = record->lanes[1].repetitions[0];
        QCOMPARE(cut.requests[0].finish, FinishReason::capacity);
        QCOMPARE(cut.requests[1].finish, FinishReason::capacity);
        QCOMPARE(cut.tokens(1).size(), std::size_t{11});
        for (int r = 0; r < 3; ++r) {
            const auto found = cut.tokens(r);
            const auto whole = record->lanes[0].repetitions[0].tokens(r);
            QVERIFY(std::equal(found.begin(), found.end(), whole.begin()));
        }
        QCOMPARE(record->status, FinishReason::capacity);
    }

    void aRequestIsCancelledAsPlanned() {
        Fixture fixture;
        Experiment experiment = requests({"static", "continuous"});
        experiment.prompts[1].cancel_after = 4;
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        QCOMPARE(record->status, FinishReason::length);
        for (const LaneRecord& lane : record->lanes) {
            QCOMPARE(lane.repetitions[0].tokens(1).size(), std::size_t{4});
            QCOMPARE(lane.repetitions[0].requests[1].finish, FinishReason::cancelled);
            QCOMPARE(lane.repetitions[0].tokens(2).size(), std::size_t{12});
        }
    }

    void whatApproximatesIsMeasured() {
        Fixture fixture;
        Experiment experiment = requests({"static", "f16", "int8", "kivi2", "window"});
        for (LaneSpec& lane : experiment.lanes) {
            if (lane.cache.kind == CacheKind::kivi) lane.cache.group = 8, lane.cache.residual = 8;
            if (lane.cache.kind == CacheKind::window) lane.window = {4, 1};
        }
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        double last = 0;
        for (const std::size_t i : {1, 2, 3}) {
            const Quality quality = record->lanes[i].quality();
            QCOMPARE(quality.n, 72);
            QVERIFY(quality.mean_kl > last);  // f16, then int8, then 2 bits
            last = quality.mean_kl;
            QVERIFY(quality.rms_probability_change > 0);
            QVERIFY(!approximation(*record, i).empty());
        }
        QVERIFY(record->lanes[4].quality().mean_kl > 0);
        QVERIFY(record->lanes[2].repetitions[0].steps.back().kv_bytes_scales > 0);
        QVERIFY(record->lanes[3].repetitions[0].steps.back().kv_bytes_residual > 0);
    }

    /// A window that the model was trained with is no approximation: it is what the model computes. What a
    /// window has forgotten is counted.
    void aTrainedWindowIsExact() {
        Fixture fixture;
        fixture.model.weights = test::lively_weights(*preset_config("tiny-window"), 5, fixture.ledger);
        Experiment experiment = requests({"naive", "static", "window", "batch", "speculative"});
        experiment.lanes[2].window = {};
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        for (std::size_t i = 1; i < record->lanes.size(); ++i) {
            const LaneSpec& spec = record->lanes[i].spec;
            QVERIFY(approximation(*record, i).empty());
            QVERIFY2(record->lanes[i].agrees_with(record->reference()), spec.name.c_str());
        }
        const RepetitionRecord& window = record->lanes[2].repetitions[0];
        QCOMPARE(window.steps[11].cache_length, 6);
        QCOMPARE(window.steps[11].cache_forgotten, 7 + 11 - 6);
        // Another window than the model's own is one.
        experiment.lanes[2].window = {8, 1};
        const auto other = fixture.run(experiment);
        QVERIFY(other);
        QCOMPARE(approximation(*other, 2), std::string("streaming: sees 8 tokens and 1 sink"));
        // A model without one cannot have a window cache without a size.
        fixture.model.weights = test::lively_weights(*preset_config("tiny"), 5, fixture.ledger);
        experiment.lanes[2].window = {};
        const auto refused = fixture.run(experiment);
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.find("lanes[2].window is missing") == 0,
                 refused.error().message.c_str());
    }

    void aDraftModelIsLoadedAndFreed() {
        Fixture fixture;
        Experiment experiment = requests({"static", "speculative"});
        experiment.lanes[1].draft.kind = DraftKind::model;
        experiment.lanes[1].draft.model = {.path = {}, .preset = "tiny", .seed = 6};
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        QVERIFY(record->lanes[1].agrees_with(record->lanes[0]));
        QVERIFY(record->lanes[1].repetitions[0].steps[1].draft_positions_forwarded > 0);
        QVERIFY(record->lanes[1].repetitions[0].steps[1].kv_bytes_draft > 0);
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
        experiment.lanes[1].draft.model = {.path = {}, .preset = "gpt2-small", .seed = 6};
        const auto refused = fixture.run(experiment);
        QVERIFY(!refused);
        QVERIFY2(QString::fromStdString(refused.error().message).contains("vocabulary"),
                 refused.error().message.c_str());
    }

    void stoppingFreesEverything_data() {
        QTest::addColumn<QString>("lane");
        for (const char* name : {"batch", "continuous", "speculative-layers", "beam", "naive-batch"})
            QTest::newRow(name) << name;
    }
    void stoppingFreesEverything() {
        QFETCH(QString, lane);
        Fixture fixture;
        Experiment experiment = requests({});
        experiment.lanes = {*lane_from_name(lane.toStdString())};
        experiment.drive = Drive::free;
        std::stop_source stop;
        struct Stopper final : EventSink {
            std::stop_source* source = nullptr;
            int left = 3;
            void step_done(const StepEvent&) override {
                if (--left == 0) source->request_stop();
            }
        } stopper;
        stopper.source = &stop;
        const auto record = run_experiment(experiment, fixture.model, fixture.ledger, stopper,
                                           stop.get_token(), {10.0, 10.0, ""});
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        QCOMPARE(record->status, FinishReason::cancelled);
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
    }

    void allocationPoliciesAreSeen() {
        Fixture fixture;
        Experiment experiment = requests({"static", "batch"});
        const std::vector<LaneSpec> reused = experiment.lanes;
        for (const LaneSpec& lane : reused) {
            LaneSpec fresh = lane;
            fresh.name += " fresh";
            fresh.allocation = AllocationPolicy::fresh;
            experiment.lanes.push_back(fresh);
        }
        const auto record = fixture.run(experiment);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        for (std::size_t i = 0; i < 4; ++i) {
            const StepEvent& step = record->lanes[i].repetitions[1].steps.back();
            if (i < 2)
                QCOMPARE(step.tensor_allocations, std::int64_t{0});
            else
                QVERIFY(step.tensor_allocations > 10);
        }
        const std::string table = to_plain_text(*record);
        for (const char* column : {"tensors/step", "faults/step", "RSS", "heap in use", "heap free"})
            QVERIFY2(table.find(column) != std::string::npos, column);
    }
};

QTEST_APPLESS_MAIN(TestRunnerRequests)
#include "tst_runner_requests.moc"
