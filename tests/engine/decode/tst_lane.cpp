// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/decode/lane.h"
#include "engine/model/preset.h"
#include "engine/verify/logit_comparison.h"
#include "engine/verify/verify_model.h"

using namespace decodescope;

namespace {

const std::vector<std::int32_t> prompt_of_7{3, 1, 4, 15, 9, 2, 6};

struct Fixture {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    std::shared_ptr<const Weights> weights = *random_weights(*preset_config("tiny"), 5, ledger);
    std::unique_ptr<Backend> backend = make_cpu_backend(2);

    Lane lane(const LaneSpec& spec) { return {spec, weights, *backend, ledger}; }
};

LaneSpec named(const char* name) {
    return *lane_from_name(name);
}

struct Trail {
    std::vector<std::vector<float>> rows;
    std::vector<std::int32_t> tokens;
    std::int64_t forwarded = 0;
    std::int64_t allowed = 0;
};

Trail follow(Lane& lane, const std::vector<std::int32_t>& prompt, int new_tokens,
             const Sampling& sampling = {}) {
    Trail trail;
    if (!lane.start(prompt, new_tokens, sampling)) return trail;
    for (int i = 0; i < new_tokens; ++i) {
        const auto step = i == 0 ? lane.prefill() : lane.decode(trail.tokens.back());
        if (!step) break;
        trail.rows.emplace_back(step->logits.begin(), step->logits.end());
        trail.tokens.push_back(step->token);
        trail.forwarded += step->positions_forwarded;
        trail.allowed += step->score_cells_allowed;
    }
    return trail;
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
        QTest::newRow("static 7") << "static" << QVector<int>{} << qint64{12} << qint64{78};
        QTest::newRow("concat 7") << "concat" << QVector<int>{} << qint64{12} << qint64{78};
        QTest::newRow("static 5+1+1") << "static" << QVector<int>{5, 1, 1} << qint64{12} << qint64{78};
        QTest::newRow("concat 2+3+2") << "concat" << QVector<int>{2, 3, 2} << qint64{12} << qint64{78};
        QTest::newRow("static one by one") << "static" << QVector<int>(7, 1) << qint64{12} << qint64{78};
    }
    void controlCase() {
        QFETCH(QString, lane);
        QFETCH(QVector<int>, partition);
        QFETCH(qint64, forwarded);
        QFETCH(qint64, allowed);
        Fixture fixture;
        Lane reference = fixture.lane(named("naive"));
        const Trail expected = follow(reference, prompt_of_7, 6);
        LaneSpec spec = named(lane.toUtf8().constData());
        spec.prefill_partition.assign(partition.begin(), partition.end());
        Lane tried = fixture.lane(spec);
        const Trail found = follow(tried, prompt_of_7, 6);
        QCOMPARE(found.forwarded, forwarded);
        QCOMPARE(found.allowed, allowed);
        QCOMPARE(found.tokens, expected.tokens);
        for (std::size_t i = 0; i < 6; ++i) {
            const LogitComparison row = compare_logits(found.rows[i], expected.rows[i]);
            QVERIFY(row.compared);
            QVERIFY2(row.relative_error <= f32_error_limit, qPrintable(QString::number(row.relative_error)));
        }
        if (tried.cache() != nullptr) QCOMPARE(tried.cache()->length(), 12);
    }

    // Case S12: capacity 16, prompt 10: 7 tokens and 16 entries, then a refusal.
    void capacityCase_data() {
        QTest::addColumn<QString>("lane");
        QTest::newRow("static") << "static";
        QTest::newRow("concat") << "concat";
    }
    void capacityCase() {
        QFETCH(QString, lane);
        Fixture fixture;
        LaneSpec spec = named(lane.toUtf8().constData());
        spec.cache.capacity = 16;
        Lane tried = fixture.lane(spec);
        const std::vector<std::int32_t> prompt{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        const Trail trail = follow(tried, prompt, 8);
        QCOMPARE(trail.tokens.size(), std::size_t{7});
        QCOMPARE(tried.cache()->length(), 16);
        const auto refused = tried.decode(0);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QCOMPARE(tried.cache()->length(), 16);
        QCOMPARE(tried.n_token(), std::size_t{16});
    }

    void longPromptsAreRefusedUpFront() {
        Fixture fixture;
        LaneSpec spec = named("static");
        spec.cache.capacity = 5;
        Lane tried = fixture.lane(spec);
        const auto refused = tried.start(prompt_of_7, 1, {});
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QVERIFY(
            QString::fromStdString(refused.error().message).contains("7 tokens, but there is room for 5"));
        QVERIFY(tried.cache() == nullptr);
        Lane naive = fixture.lane(named("naive"));
        QCOMPARE(naive.start(std::vector<std::int32_t>(65, 1), 1, {}).error().kind, ErrorKind::capacity);
    }

    void modelPositionsEndEveryLane_data() {
        QTest::addColumn<QString>("lane");
        QTest::newRow("naive") << "naive";
        QTest::newRow("static") << "static";
        QTest::newRow("concat") << "concat";
    }
    void modelPositionsEndEveryLane() {
        QFETCH(QString, lane);
        Fixture fixture;
        Lane tried = fixture.lane(named(lane.toUtf8().constData()));
        const Trail trail = follow(tried, std::vector<std::int32_t>(60, 1), 20);
        QCOMPARE(trail.tokens.size(), std::size_t{5});  // positions 60 .. 63, and the token after them
        QCOMPARE(tried.decode(1).error().kind, ErrorKind::capacity);
    }

    void finishFreesEverything_data() { modelPositionsEndEveryLane_data(); }
    void finishFreesEverything() {
        QFETCH(QString, lane);
        Fixture fixture;
        const OwnerBytes before = fixture.ledger->live();
        Lane tried = fixture.lane(named(lane.toUtf8().constData()));
        follow(tried, prompt_of_7, 6);
        QVERIFY(fixture.ledger->live(Owner::activations) > 0);
        tried.finish();
        QCOMPARE(fixture.ledger->live(), before);
    }

    void cancellingLeavesTheCacheAsItWas_data() { capacityCase_data(); }
    void cancellingLeavesTheCacheAsItWas() {
        QFETCH(QString, lane);
        Fixture fixture;
        Lane tried = fixture.lane(named(lane.toUtf8().constData()));
        QVERIFY(tried.start(prompt_of_7, 6, {}));
        const auto first = tried.prefill();
        QVERIFY(first);
        const std::int32_t token = first->token;
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = tried.decode(token, stop.get_token());
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
        QCOMPARE(tried.cache()->length(), 7);
        const auto again = tried.decode(token);
        QVERIFY(again);
        QCOMPARE(tried.cache()->length(), 8);
    }

    void freshAllocationGivesTheSameNumbers() {
        Fixture fixture;
        LaneSpec spec = named("static");
        Lane reused = fixture.lane(spec);
        const Trail expected = follow(reused, prompt_of_7, 6);
        spec.allocation = AllocationPolicy::fresh;
        Lane fresh = fixture.lane(spec);
        QCOMPARE(follow(fresh, prompt_of_7, 6).rows, expected.rows);
    }

    void samplingIsTheSameInEveryLane() {
        Fixture fixture;
        const Sampling sampling{SamplingKind::sample, 0.8, 40, 42};
        Lane naive = fixture.lane(named("naive"));
        Lane fixed = fixture.lane(named("static"));
        Lane concat = fixture.lane(named("concat"));
        const auto tokens = follow(naive, prompt_of_7, 50, sampling).tokens;
        QCOMPARE(tokens.size(), std::size_t{50});
        QCOMPARE(follow(fixed, prompt_of_7, 50, sampling).tokens, tokens);
        QCOMPARE(follow(concat, prompt_of_7, 50, sampling).tokens, tokens);
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
        Fixture fixture;
        LaneSpec spec = named("static");
        spec.prefill_partition.assign(partition.begin(), partition.end());
        Lane tried = fixture.lane(spec);
        QCOMPARE(tried.start(prompt_of_7, 2, {}).error().kind, ErrorKind::bad_input);
    }

    void outOfMemoryIsAnOutcome_data() { modelPositionsEndEveryLane_data(); }
    void outOfMemoryIsAnOutcome() {
        QFETCH(QString, lane);
        Fixture fixture;
        fixture.ledger->set_limit(fixture.ledger->total() + 1000);
        Lane tried = fixture.lane(named(lane.toUtf8().constData()));
        const auto refused = tried.start(prompt_of_7, 6, {});
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::out_of_memory);
    }
};

QTEST_APPLESS_MAIN(TestLane)
#include "tst_lane.moc"
