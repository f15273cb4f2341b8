// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

void single_lanes() {
    QTest::addColumn<QString>("lane");
    for (const char* name : {"naive", "static", "concat", "paged"}) QTest::newRow(name) << name;
}

}  // namespace

class TestLane : public QObject {
    Q_OBJECT

private slots:
    // Case S1 of the scenarios: prompt 7, 6 new tokens.
    void controlCase_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QVector<int>>("partition");
        QTest::addColumn<qint64>("forwarded");
        QTest::addColumn<qint64>("allowed");
        QTest::newRow("naive") << "naive" << QVector<int>{} << qint64{57} << qint64{308};
        for (const char* lane : {"static", "concat", "paged"}) {
            const auto row = [&](const char* cut, const QVector<int>& partition) {
                QTest::addRow("%s %s", lane, cut) << lane << partition << qint64{12} << qint64{78};
            };
            row("7", {});
            row("5+1+1", {5, 1, 1});
            row("2+3+2", {2, 3, 2});
            row("one by one", QVector<int>(7, 1));
        }
    }
    void controlCase() {
        QFETCH(QString, lane);
        QFETCH(QVector<int>, partition);
        QFETCH(qint64, forwarded);
        QFETCH(qint64, allowed);
        LaneFixture fixture;
        const auto reference = fixture.lane(named("naive"));
        const Trail expected = follow_one(*reference, prompt_of_7, 6);
        LaneSpec spec = named(lane.toStdString());
        spec.prefill_partition.assign(partition.begin(), partition.end());
        const auto tried = fixture.lane(spec);
        const Trail found = follow_one(*tried, prompt_of_7, 6);
        QCOMPARE(found.forwarded, forwarded);
        QCOMPARE(found.allowed, allowed);
        QCOMPARE(found.tokens, expected.tokens);
        const double error = worst_error(found, expected);
        QVERIFY2(error <= f32_error_limit, qPrintable(QString::number(error)));
        if (tried->cache() != nullptr) QCOMPARE(tried->cache()->length(), 12);
    }

    // Case S8: requests follow each other in one lane; each begins with an empty cache.
    void requestsAreIsolated_data() { single_lanes(); }
    void requestsAreIsolated() {
        QFETCH(QString, lane);
        LaneFixture fixture;
        const Ids a{3, 1, 4, 15, 9, 2, 6, 5, 3};
        const Ids b{8, 7, 9, 3, 2};
        const auto tried = fixture.lane(named(lane.toStdString()));
        std::vector<int> lengths;
        const Trail found = follow(*tried, work_of({a, b, a}, 4), nullptr, [&](const LaneStep& step) {
            if (step.phase == Phase::prefill && tried->cache() != nullptr)
                lengths.push_back(tried->cache()->length());
        });
        QCOMPARE(found.rows[0], found.rows[2]);
        const auto alone = fixture.lane(named(lane.toStdString()));
        QCOMPARE(follow_one(*alone, b, 4).rows[0], found.rows[1]);
        if (lane != "naive") QCOMPARE(lengths, (std::vector<int>{9, 5, 9}));
    }

    // Case S11, the right outcome: a second turn forwards what is new, and the last token of the first.
    void everyTokenIsForwardedOnce() {
        LaneFixture fixture;
        const auto cached = fixture.lane(named("static"));
        const Ids prompt(10, 7);
        QCOMPARE(follow_one(*cached, prompt, 8).forwarded, std::int64_t{17});
        QCOMPARE(cached->cache()->length(), 17);
        const auto naive = fixture.lane(named("naive"));
        QCOMPARE(follow_one(*naive, prompt, 8).forwarded, std::int64_t{108});
        // Turn 2: 10 + 8 + 5 tokens of text, of which 17 are stored.
        KvCache& cache = const_cast<KvCache&>(*cached->cache());
        QCOMPARE(10 + 8 + 5 - cache.next_position(), 6);
    }

    // Case S12: capacity 16, prompt 10: 7 tokens and 16 entries, then a reason.
    void capacityCase_data() {
        QTest::addColumn<QString>("lane");
        for (const char* name : {"static", "concat", "paged", "continuous", "batch", "int8"})
            QTest::newRow(name) << name;
    }
    void capacityCase() {
        QFETCH(QString, lane);
        LaneFixture fixture;
        LaneSpec spec = named(lane.toStdString());
        spec.cache.capacity = 16;
        const auto tried = fixture.lane(spec);
        const Ids prompt{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        int most = 0;
        const Trail trail = follow(*tried, work_of({prompt}, 8), nullptr,
                                   [&](const LaneStep&) { most = std::max(most, tried->cache()->length()); });
        QCOMPARE(trail.tokens[0].size(), std::size_t{7});
        QCOMPARE(most, 16);
        QCOMPARE(tried->requests()[0].finish, FinishReason::capacity);
        QVERIFY2(tried->requests()[0].reason.find("17") != std::string::npos,
                 tried->requests()[0].reason.c_str());
    }

    void longPromptsAreRefusedUpFront() {
        LaneFixture fixture;
        LaneSpec spec = named("static");
        spec.cache.capacity = 5;
        const auto tried = fixture.lane(spec);
        const auto refused = tried->start(work_of({prompt_of_7}, 1));
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QVERIFY(
            QString::fromStdString(refused.error().message).contains("7 tokens, but there is room for 5"));
        QVERIFY(tried->cache() == nullptr);
        for (const char* name : {"naive", "batch", "continuous", "speculative", "beam"}) {
            const auto lane = fixture.lane(named(name));
            QCOMPARE(lane->start(work_of({Ids(65, 1)}, 1)).error().kind, ErrorKind::capacity);
        }
    }

    void modelPositionsEndEveryLane_data() {
        QTest::addColumn<QString>("lane");
        for (const char* name : {"naive", "static", "concat", "paged", "int8", "kivi4", "window", "batch",
                                 "naive-batch", "continuous", "speculative", "beam"})
            QTest::newRow(name) << name;
    }
    void modelPositionsEndEveryLane() {
        QFETCH(QString, lane);
        LaneFixture fixture;
        LaneSpec spec = named(lane.toStdString());
        spec.cache.group = 8;
        const auto tried = fixture.lane(spec);
        QVERIFY(tried);
        const Trail trail = follow_one(*tried, Ids(60, 1), 20);
        QVERIFY2(trail.error.empty(), trail.error.c_str());
        QCOMPARE(trail.tokens[0].size(), std::size_t{5});  // positions 60 .. 63, and the token after them
        QCOMPARE(tried->requests()[0].finish, FinishReason::capacity);
    }

    void finishFreesEverything_data() { modelPositionsEndEveryLane_data(); }
    void finishFreesEverything() {
        QFETCH(QString, lane);
        LaneFixture fixture;
        const OwnerBytes before = fixture.ledger->live();
        LaneSpec spec = named(lane.toStdString());
        spec.cache.group = 8;
        const auto tried = fixture.lane(spec);
        follow_one(*tried, prompt_of_7, 6);
        QVERIFY(fixture.ledger->live(Owner::activations) > 0);
        tried->finish();
        QCOMPARE(fixture.ledger->live(), before);
    }

    void cancellingLeavesTheCacheAsItWas_data() { capacityCase_data(); }
    void cancellingLeavesTheCacheAsItWas() {
        QFETCH(QString, lane);
        LaneFixture fixture;
        const auto tried = fixture.lane(named(lane.toStdString()));
        QVERIFY(tried->start(work_of({prompt_of_7}, 6)));
        QVERIFY(*tried->ready());
        QVERIFY(tried->step());
        QVERIFY(*tried->ready());
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = tried->step(stop.get_token());
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
        QCOMPARE(tried->cache()->length(), 7);
        QVERIFY(tried->step());
        QCOMPARE(tried->cache()->length(), 8);
    }

    void freshAllocationGivesTheSameNumbers_data() {
        QTest::addColumn<QString>("lane");
        for (const char* name : {"naive", "static", "batch", "continuous", "speculative"})
            QTest::newRow(name) << name;
    }
    void freshAllocationGivesTheSameNumbers() {
        QFETCH(QString, lane);
        LaneFixture fixture;
        LaneSpec spec = named(lane.toStdString());
        const auto reused = fixture.lane(spec);
        const Trail expected = follow_one(*reused, prompt_of_7, 6);
        spec.allocation = AllocationPolicy::fresh;
        const auto fresh = fixture.lane(spec);
        const Trail found = follow_one(*fresh, prompt_of_7, 6);
        QCOMPARE(found.rows, expected.rows);
        // Every temporary of every layer: qkv, mixed, scores and ff, and those around them.
        for (const LaneStep& step : found.steps) QVERIFY(step.tensor_allocations >= 2 * 4 + 4);
    }

    void decodingAllocatesNothing_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("lane");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            for (const char* name :
                 {"static", "paged", "naive", "batch", "continuous", "int8", "kivi4", "f16"}) {
                QTest::addRow("%s, %s", preset, name) << preset << name;
            }
        }
    }
    void decodingAllocatesNothing() {
        QFETCH(QString, preset);
        QFETCH(QString, lane);
        LaneFixture fixture(64, preset.toStdString());
        LaneSpec spec = named(lane.toStdString());
        spec.cache.group = 8;
        spec.cache.residual = 8;
        const auto tried = fixture.lane(spec);
        for (const SamplingKind kind : {SamplingKind::greedy, SamplingKind::sample}) {
            const Sampling sampling{kind, 0.8, 10, 1};
            const Trail trail = follow(*tried, work_of({prompt_of_7}, 40, sampling));
            QCOMPARE(trail.tokens[0].size(), std::size_t{40});
            for (std::size_t i = 1; i < trail.steps.size(); ++i) {
                QCOMPARE(trail.steps[i].tensor_allocations, std::int64_t{0});
                const std::int64_t heap = trail.steps[i].heap_allocations;
                if (heap < 0) QSKIP("this build cannot count heap allocations");
                QVERIFY2(heap == 0, qPrintable(QString("step %1: %2 allocations").arg(i).arg(heap)));
            }
        }
    }

    void samplingIsTheSameInEveryLane_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("lane");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            for (const char* name : {"static", "concat", "paged", "batch", "batch-right", "batch-packed",
                                     "naive-batch", "continuous", "speculative", "speculative-layers"}) {
                QTest::addRow("%s, %s", preset, name) << preset << name;
            }
        }
    }
    void samplingIsTheSameInEveryLane() {
        QFETCH(QString, preset);
        QFETCH(QString, lane);
        LaneFixture fixture(64, preset.toStdString());
        Sampling sampling{SamplingKind::sample, 0.8, 40, 42};
        sampling.top_p = 0.95;
        sampling.repetition_penalty = 1.1;
        const std::vector<Ids> prompts{prompt_of_7, {5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
        const auto naive = fixture.lane(named("naive"));
        const Trail expected = follow(*naive, work_of(prompts, 40, sampling));
        QCOMPARE(expected.tokens[0].size(), std::size_t{40});
        QVERIFY(expected.tokens[0] != expected.tokens[1]);
        const auto tried = fixture.lane(named(lane.toStdString()));
        const Trail found = follow(*tried, work_of(prompts, 40, sampling));
        QVERIFY2(found.error.empty(), found.error.c_str());
        QCOMPARE(found.tokens, expected.tokens);
    }

    void stopTokensEndARequest_data() { samplingIsTheSameInEveryLane_data(); }
    void stopTokensEndARequest() {
        QFETCH(QString, preset);
        QFETCH(QString, lane);
        LaneFixture fixture(64, preset.toStdString());
        const std::vector<Ids> prompts{prompt_of_7, {5}, {1, 2, 3}};
        const auto naive = fixture.lane(named("naive"));
        const Trail whole = follow(*naive, work_of(prompts, 20));
        Workload workload = work_of(prompts, 20);
        workload.stop_ids = {whole.tokens[1][6]};
        const auto tried = fixture.lane(named(lane.toStdString()));
        const Trail found = follow(*tried, workload);
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            Ids expected = whole.tokens[i];
            const auto stop = std::find(expected.begin(), expected.end(), workload.stop_ids[0]);
            const bool stops = stop != expected.end() && stop + 1 != expected.end();
            if (stops) expected.erase(stop + 1, expected.end());
            QCOMPARE(found.tokens[i], expected);
            QCOMPARE(tried->requests()[i].finish, stops ? FinishReason::stop_token : FinishReason::length);
        }
        QCOMPARE(tried->requests()[1].finish, FinishReason::stop_token);
    }

    void aWindowNeedsLittleBudget() {
        LaneFixture fixture;
        LaneSpec spec = named("window");
        spec.window = {8, 2};
        spec.batching = Batching::continuous;
        spec.budget = 20;
        const std::vector<Ids> prompts{prompt_of_7, {5, 6, 7}, {1, 2}};
        const auto lane = fixture.lane(spec);
        const Trail found = follow(*lane, work_of(prompts, 30));
        QVERIFY2(found.error.empty(), found.error.c_str());
        LaneSpec masked = named("static");
        masked.window = spec.window;
        const auto plain = fixture.lane(masked);
        QCOMPARE(found.tokens, follow(*plain, work_of(prompts, 30)).tokens);
    }

    void cancellingAfterTheLastTokenIsTheEnd() {
        LaneFixture fixture;
        Workload workload = work_of({prompt_of_7}, 5);
        workload.requests[0].cancel_after = 5;
        const auto lane = fixture.lane(named("static"));
        QCOMPARE(follow(*lane, workload).tokens[0].size(), std::size_t{5});
        QCOMPARE(lane->requests()[0].finish, FinishReason::length);
    }

    void badPartitionsAreRefused_data() {
        QTest::addColumn<QVector<int>>("partition");
        QTest::newRow("too short") << QVector<int>{3, 3};
        QTest::newRow("too long") << QVector<int>{7, 1};
        QTest::newRow("zero") << QVector<int>{0, 7};
        QTest::newRow("negative") << QVector<int>{8, -1};
    }
    void badPartitionsAreRefused() {
        QFETCH(QVector<int>, partition);
        LaneFixture fixture;
        LaneSpec spec = named("static");
        spec.prefill_partition.assign(partition.begin(), partition.end());
        const auto tried = fixture.lane(spec);
        QCOMPARE(tried->start(work_of({prompt_of_7}, 2)).error().kind, ErrorKind::bad_input);
    }

    void outOfMemoryIsAnOutcome_data() { modelPositionsEndEveryLane_data(); }
    void outOfMemoryIsAnOutcome() {
        QFETCH(QString, lane);
        LaneFixture fixture;
        LaneSpec spec = named(lane.toStdString());
        spec.cache.group = 8;
        fixture.ledger->set_limit(fixture.ledger->total() + 1000);
        const auto tried = fixture.lane(spec);
        const auto refused = tried->start(work_of({prompt_of_7}, 6));
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::out_of_memory);
    }
};

QTEST_APPLESS_MAIN(TestLane)
#include "tst_lane.moc"
