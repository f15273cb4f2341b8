// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

constexpr std::int32_t pad = slot_padding;

Ids positions_of(const KvCache& cache, int row) {
    const auto positions = cache.slot_positions(row);
    return {positions.begin(), positions.end()};
}

}  // namespace

class TestBatchLane : public QObject {
    Q_OBJECT

private slots:
    // Cases S5 to S7 of the scenarios: prompts of 3 and 7, padded to 7.
    void paddedRowsAreTheSingleRuns_data() {
        QTest::addColumn<Padding>("padding");
        QTest::addColumn<CacheKind>("kind");
        QTest::addColumn<int>("chunk");
        QTest::addColumn<bool>("cached");
        for (const Padding padding : {Padding::left, Padding::right, Padding::none}) {
            for (const int chunk : {0, 2, 3}) {
                for (const CacheKind kind : {CacheKind::static_, CacheKind::concat, CacheKind::paged})
                    QTest::addRow("%s, %s, chunk %d", to_string(padding), to_string(kind), chunk)
                        << padding << kind << chunk << true;
            }
            QTest::addRow("%s, without a cache", to_string(padding))
                << padding << CacheKind::none << 0 << false;
        }
    }
    void paddedRowsAreTheSingleRuns() {
        QFETCH(Padding, padding);
        QFETCH(CacheKind, kind);
        QFETCH(int, chunk);
        QFETCH(bool, cached);
        LaneFixture fixture;
        const Workload workload = work_of({prompt_of_3, prompt_of_7, {5}}, 6);
        const auto naive = fixture.lane(named("naive"));
        const Trail expected = follow(*naive, workload);
        LaneSpec spec = named(cached ? "batch" : "naive-batch");
        spec.padding = padding;
        spec.prefill_chunk = chunk;
        if (cached) spec.cache.kind = kind;
        const auto lane = fixture.lane(spec);
        const Trail found = follow(*lane, workload);
        QVERIFY2(found.error.empty(), found.error.c_str());
        QCOMPARE(found.tokens, expected.tokens);
        const double error = worst_error(found, expected);
        QVERIFY2(error <= f32_error_limit, qPrintable(QString::number(error)));
        QCOMPARE(found.steps.size(), std::size_t{6});
        if (!cached) return;
        // Pads are forwarded and stored like tokens, once.
        const std::int64_t pads = padding == Padding::none ? 0 : 4 + 0 + 6;
        QCOMPARE(found.steps[0].padding_forwarded, pads);
        QCOMPARE(found.forwarded, pads + 3 + 7 + 1 + 3 * 5);
    }

    void positionsOfPaddedRows() {
        LaneFixture fixture;
        const Workload workload = work_of({prompt_of_3, prompt_of_7}, 3);
        LaneSpec spec = named("batch");
        const auto left = fixture.lane(spec);
        follow(*left, workload);
        // Row 0's first real token has position 0, not 4; the next ones go on from 3.
        QCOMPARE(positions_of(*left->cache(), 0), (Ids{pad, pad, pad, pad, 0, 1, 2, 3, 4}));
        QCOMPARE(positions_of(*left->cache(), 1), (Ids{0, 1, 2, 3, 4, 5, 6, 7, 8}));
        spec.padding = Padding::right;
        const auto right = fixture.lane(spec);
        follow(*right, workload);
        QCOMPARE(positions_of(*right->cache(), 0), (Ids{0, 1, 2, pad, pad, pad, pad, 3, 4}));
        spec.padding = Padding::none;
        const auto packed = fixture.lane(spec);
        follow(*packed, workload);
        QCOMPARE(positions_of(*packed->cache(), 0), (Ids{0, 1, 2, 3, 4}));
        const KvBytes bytes = left->cache()->bytes();
        QCOMPARE(bytes.padding, bytes.live / (5 + 9) * 4);
    }

    void pairsOfDifferentNumbersOfNewTokens() {
        LaneFixture fixture;
        Workload workload = work_of({prompt_of_3, prompt_of_7}, 8);
        workload.requests[1].new_tokens = 2;
        const auto naive = fixture.lane(named("naive"));
        const Trail expected = follow(*naive, workload);
        const auto lane = fixture.lane(named("batch"));
        const Trail found = follow(*lane, workload);
        QCOMPARE(found.tokens, expected.tokens);
        QVERIFY(worst_error(found, expected) <= f32_error_limit);
        // The row that is done is not forwarded any more.
        QCOMPARE(found.steps.back().positions_forwarded, std::int64_t{1});
        QCOMPARE(found.steps.back().n_row, 1);
    }

    void aRowRunsOutOfPositionsAlone() {
        LaneFixture fixture(12);
        const auto lane = fixture.lane(named("batch"));
        const Trail trail = follow(*lane, work_of({prompt_of_3, prompt_of_7}, 10));
        // Row 1 ends at position 11; row 0 may go on where the cache has slots for it.
        QCOMPARE(trail.tokens[1].size(), std::size_t{6});
        QCOMPARE(lane->requests()[1].finish, FinishReason::capacity);
        QVERIFY2(trail.error.empty(), trail.error.c_str());
        const auto naive = fixture.lane(named("naive"));
        const Trail expected = follow(*naive, work_of({prompt_of_3, prompt_of_7}, 10));
        QVERIFY(std::equal(trail.tokens[0].begin(), trail.tokens[0].end(), expected.tokens[0].begin()));
    }

    void oneRowIsCancelled() {
        LaneFixture fixture;
        Workload workload = work_of({prompt_of_3, prompt_of_7}, 8);
        const auto naive = fixture.lane(named("naive"));
        const Trail expected = follow(*naive, workload);
        workload.requests[0].cancel_after = 3;
        const auto lane = fixture.lane(named("batch"));
        const Trail found = follow(*lane, workload);
        QCOMPARE(found.tokens[0].size(), std::size_t{3});
        QCOMPARE(lane->requests()[0].finish, FinishReason::cancelled);
        QCOMPARE(found.tokens[1], expected.tokens[1]);
    }
};

QTEST_APPLESS_MAIN(TestBatchLane)
#include "tst_batch_lane.moc"
