// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <string>
#include <vector>

#include "engine/attention/attention_plan.h"
#include "engine/core/random.h"

using namespace decodescope;

namespace {

/// A plan of rows with equally many queries and slots.
AttentionPlan plan_of(int batch, int n_query, const std::vector<std::int32_t>& queries, int n_slot,
                      const std::vector<std::int32_t>& stores, Window window = {}) {
    AttentionPlan plan;
    plan.clear(window);
    for (int b = 0; b < batch; ++b) {
        plan.add_row(std::span(queries).subspan(static_cast<std::size_t>(b * n_query),
                                                static_cast<std::size_t>(n_query)),
                     std::span(stores).subspan(static_cast<std::size_t>(b * n_slot),
                                               static_cast<std::size_t>(n_slot)));
    }
    return plan;
}

/// One character per cell: # visible, . future, p padding, w outside the window, - empty slot.
std::string drawing(const AttentionPlan& plan, int b, int q) {
    std::string row;
    for (int s = 0; s < plan.n_slot(b); ++s) row += "#.pw-"[static_cast<int>(plan.cell(b, q, s))];
    return row;
}

/// The same cells from the ranges alone: # in a range, blank otherwise.
std::string drawing_of_ranges(const AttentionPlan& plan, int b, int q) {
    std::string row(static_cast<std::size_t>(plan.n_slot(b)), ' ');
    for (const SlotRange range : plan.visible(b, q)) {
        for (std::int32_t s = range.begin; s < range.end; ++s) row[static_cast<std::size_t>(s)] = '#';
    }
    return row;
}

std::vector<std::int32_t> counted(std::span<const std::int32_t> positions) {
    return {positions.begin(), positions.end()};
}

/// Ranges are ascending, disjoint, not empty, not touching, and cover exactly the visible cells.
bool ranges_match_cells(const AttentionPlan& plan) {
    std::int64_t n_visible = 0;
    for (int b = 0; b < plan.batch(); ++b) {
        for (int q = 0; q < plan.n_query(b); ++q) {
            std::int32_t last_end = -1;
            for (const SlotRange range : plan.visible(b, q)) {
                if (range.begin <= last_end || range.end <= range.begin || range.end > plan.n_slot(b))
                    return false;
                last_end = range.end;
            }
            const std::string ranges = drawing_of_ranges(plan, b, q);
            for (int s = 0; s < plan.n_slot(b); ++s) {
                const bool visible = plan.cell(b, q, s) == CellState::visible;
                if (visible != (ranges[static_cast<std::size_t>(s)] == '#')) return false;
                n_visible += visible;
            }
        }
    }
    return n_visible == plan.n_allowed();
}

}  // namespace

class AttentionPlanTest : public QObject {
    Q_OBJECT

private slots:
    void rule_data() {
        QTest::addColumn<int>("query");
        QTest::addColumn<int>("key");
        QTest::addColumn<int>("window");
        QTest::addColumn<int>("sinks");
        QTest::addColumn<CellState>("expected");
        const auto row = [](const char* name, int query, int key, int window, int sinks, CellState expected) {
            QTest::newRow(name) << query << key << window << sinks << expected;
        };
        row("itself", 5, 5, 0, 0, CellState::visible);
        row("first", 5, 0, 0, 0, CellState::visible);
        row("next", 5, 6, 0, 0, CellState::future);
        row("empty slot", 5, slot_empty, 0, 0, CellState::empty);
        row("padding key", 5, slot_padding, 0, 0, CellState::padding);
        row("padding query", slot_padding, 0, 0, 0, CellState::padding);
        row("padding query at padding key", slot_padding, slot_padding, 0, 0, CellState::padding);
        row("padding query at empty slot", slot_padding, slot_empty, 0, 0, CellState::empty);
        row("window of one sees itself", 5, 5, 1, 0, CellState::visible);
        row("window of one sees nothing else", 5, 4, 1, 0, CellState::outside_window);
        row("last inside the window", 9, 6, 4, 0, CellState::visible);
        row("first outside the window", 9, 5, 4, 0, CellState::outside_window);
        row("future inside a window", 9, 10, 4, 0, CellState::future);
        row("last sink", 9, 1, 4, 2, CellState::visible);
        row("first behind the sinks", 9, 2, 4, 2, CellState::outside_window);
        row("a sink of the future is future", 0, 1, 4, 2, CellState::future);
        row("sinks without a window change nothing", 9, 3, 0, 2, CellState::visible);
        row("empty comes before window", 9, slot_empty, 4, 2, CellState::empty);
    }
    void rule() {
        QFETCH(int, query);
        QFETCH(int, key);
        QFETCH(int, window);
        QFETCH(int, sinks);
        QTEST(cell_state(query, key, {.size = window, .sinks = sinks}), "expected");
    }

    void left_padded_batch() {
        // Row 0 has two pads before tokens 0 1 2; row 1 has none. Then one slot is free.
        const AttentionPlan plan = plan_of(2, 2, {1, 2, 3, 4}, 6,
                                           {slot_padding, slot_padding, 0, 1, 2, slot_empty,  //
                                            0, 1, 2, 3, 4, slot_empty});
        QCOMPARE(drawing(plan, 0, 0), std::string("pp##.-"));
        QCOMPARE(drawing(plan, 0, 1), std::string("pp###-"));
        QCOMPARE(drawing(plan, 1, 0), std::string("####.-"));
        QCOMPARE(drawing(plan, 1, 1), std::string("#####-"));
        QCOMPARE(plan.n_allowed(), std::int64_t{2 + 3 + 4 + 5});
        QVERIFY(ranges_match_cells(plan));
    }

    void ring_with_sinks_is_two_or_more_ranges() {
        // Slots 0-1 are sinks; the ring behind them has wrapped: 8 9 overwrote 4 5.
        const AttentionPlan plan = plan_of(1, 1, {9}, 6, {0, 1, 8, 9, 6, 7}, {.size = 3, .sinks = 2});
        QCOMPARE(drawing(plan, 0, 0), std::string("####w#"));
        QCOMPARE(plan.visible(0, 0).size(), std::size_t{2});
        QVERIFY(ranges_match_cells(plan));
    }

    void padding_query_sees_nothing() {
        const AttentionPlan plan = plan_of(1, 2, {slot_padding, 0}, 2, {slot_padding, 0});
        QVERIFY(plan.visible(0, 0).empty());
        QCOMPARE(plan.visible(0, 1).size(), std::size_t{1});
        QCOMPARE(plan.n_allowed(), std::int64_t{1});
    }

    void random_plans_agree_with_the_rule() {
        for (std::uint64_t seed = 0; seed < 3000; ++seed) {
            std::uint64_t draw = 0;
            const auto below = [&](int n) {
                return static_cast<int>(random_bits(seed, 0, draw++) % static_cast<std::uint64_t>(n));
            };
            const int batch = 1 + below(3);
            const int n_query = 1 + below(5);
            const int n_slot = 1 + below(12);
            const Window window{.size = below(2) * below(6), .sinks = below(3)};
            const int style = below(3);  // in order, in order with holes, anything
            std::vector<std::int32_t> queries;
            std::vector<std::int32_t> stores;
            for (int i = 0; i < batch * n_query; ++i)
                queries.push_back(below(8) == 0 ? slot_padding : below(14));
            for (int b = 0; b < batch; ++b) {
                const int filled = below(n_slot + 1);
                for (int s = 0; s < n_slot; ++s) {
                    const bool odd = style == 2 || (style == 1 && below(4) == 0);
                    stores.push_back(odd ? below(14) - 2 : s < filled ? s : slot_empty);
                }
            }
            const AttentionPlan plan = plan_of(batch, n_query, queries, n_slot, stores, window);
            if (!ranges_match_cells(plan)) QFAIL(qPrintable(QString("plan of seed %1 is wrong").arg(seed)));
        }
    }

    void rows_of_their_own_length() {
        // Row 0 decodes behind 3 entries, row 1 sits the call out, row 2 prefills 2 tokens.
        AttentionPlan plan;
        plan.clear();
        plan.add_row(std::vector<std::int32_t>{3}, std::vector<std::int32_t>{0, 1, 2, 3});
        plan.add_row({}, {});
        plan.add_row(std::vector<std::int32_t>{0, 1}, std::vector<std::int32_t>{0, 1});
        QCOMPARE(plan.n_query(), 3);
        QCOMPARE(plan.first_query(2), 1);
        QCOMPARE(plan.n_query(1), 0);
        QCOMPARE(plan.max_query(), 2);
        QCOMPARE(plan.max_slot(), 4);
        QCOMPARE(drawing(plan, 0, 0), std::string("####"));
        QCOMPARE(drawing(plan, 2, 0), std::string("#."));
        QCOMPARE(plan.n_allowed(), std::int64_t{4 + 1 + 2});
        QVERIFY(ranges_match_cells(plan));
    }

    void a_plan_can_be_rebuilt() {
        AttentionPlan plan = plan_single(4, 2, 6, {.size = 2, .sinks = 1});
        plan.clear();
        plan.add_row(std::vector<std::int32_t>{0, 1}, std::vector<std::int32_t>{0, 1});
        QCOMPARE(plan.batch(), 1);
        QCOMPARE(plan.n_allowed(), std::int64_t{3});
        QVERIFY(plan.window() == Window{});
        QVERIFY(ranges_match_cells(plan));
    }

    void windows_without_a_cache() {
        CallTokens call;
        call.add_row(std::vector<std::int32_t>{5, 6, 7, 8}, 0);
        call.add(0, slot_padding);
        call.add(9, 0);
        call.end_row();
        AttentionPlan plan;
        plan_without_cache(call, {.size = 2, .sinks = 1}, plan);
        QCOMPARE(drawing(plan, 0, 3), std::string("#w##"));
        QCOMPARE(drawing(plan, 1, 1), std::string("p#"));
        QVERIFY(ranges_match_cells(plan));
    }

    void single_data() {
        QTest::addColumn<int>("stored");
        QTest::addColumn<int>("query");
        QTest::addColumn<int>("stores");
        QTest::addColumn<QStringList>("rows");
        QTest::newRow("whole prompt") << 0 << 3 << 3 << QStringList{"#..", "##.", "###"};
        QTest::newRow("second chunk, room left") << 2 << 2 << 6 << QStringList{"###.--", "####--"};
        QTest::newRow("decode at the end of the store") << 4 << 1 << 5 << QStringList{"#####"};
        QTest::newRow("first token") << 0 << 1 << 1 << QStringList{"#"};
    }
    void single() {
        QFETCH(int, stored);
        QFETCH(int, query);
        QFETCH(int, stores);
        QFETCH(QStringList, rows);
        const AttentionPlan plan = plan_single(stored, query, stores);
        QCOMPARE(plan.batch(), 1);
        QCOMPARE(plan.n_query(), query);
        QCOMPARE(plan.n_slot(0), stores);
        for (int q = 0; q < query; ++q) {
            QCOMPARE(QString::fromStdString(drawing(plan, 0, q)), rows[q]);
            QCOMPARE(plan.query_positions(0)[static_cast<std::size_t>(q)], stored + q);
        }
        QVERIFY(ranges_match_cells(plan));
    }

    void single_with_window() {
        const AttentionPlan plan = plan_single(4, 2, 6, {.size = 2, .sinks = 1});
        QCOMPARE(drawing(plan, 0, 0), std::string("#ww##."));
        QCOMPARE(drawing(plan, 0, 1), std::string("#www##"));
    }

    void step_without_cache_is_the_whole_triangle() {
        for (const int step : {0, 1, 7}) {
            const AttentionPlan plan = plan_of_step(false, 5, 5, step);
            const int length = 5 + step;
            QCOMPARE(plan.n_query(), length);
            QCOMPARE(plan.n_slot(0), length);
            QCOMPARE(plan.n_allowed(), std::int64_t{length} * (length + 1) / 2);
        }
    }

    void step_with_cache_is_one_row() {
        const AttentionPlan prefill = plan_of_step(true, 5, 2, 0);
        QCOMPARE(counted(prefill.query_positions(0)), (std::vector<std::int32_t>{3, 4}));
        QCOMPARE(drawing(prefill, 0, 0), std::string("####."));
        const AttentionPlan decode = plan_of_step(true, 5, 2, 3);
        QCOMPARE(counted(decode.query_positions(0)), (std::vector<std::int32_t>{7}));
        QCOMPARE(drawing(decode, 0, 0), std::string("########"));
    }

    void steps_of_both_lanes_end_with_the_same_row() {
        for (int step = 0; step < 10; ++step) {
            const AttentionPlan naive = plan_of_step(false, 4, 4, step);
            const AttentionPlan cached = plan_of_step(true, 4, 4, step);
            QCOMPARE(drawing(naive, 0, naive.n_query(0) - 1), drawing(cached, 0, cached.n_query(0) - 1));
        }
    }

    void names() {
        QCOMPARE(QString(to_string(CellState::visible)), QString("visible"));
        QCOMPARE(QString(to_string(CellState::future)), QString("future"));
        QCOMPARE(QString(to_string(CellState::padding)), QString("padding"));
        QCOMPARE(QString(to_string(CellState::outside_window)), QString("outside the window"));
        QCOMPARE(QString(to_string(CellState::empty)), QString("empty slot"));
    }
};

QTEST_APPLESS_MAIN(AttentionPlanTest)
#include "tst_attention_plan.moc"
