// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <map>

#include "tests/engine/cache/cache_driver.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

struct Setup {
    Window window;
    int max_call = 1;
    int rollback = 0;
    int batch = 1;
    int capacity = 0;
};

struct Sliding {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    std::unique_ptr<KvCache> cache;
    std::unique_ptr<CacheDriver> driver;

    explicit Sliding(const Setup& setup) {
        ledger->set_poison(true);
        CacheSpec spec;
        spec.kind = CacheKind::window;
        cache = *make_cache(spec, {2, setup.batch, 2, 4},
                            {setup.capacity, setup.max_call, setup.rollback, setup.window}, ledger);
        driver = std::make_unique<CacheDriver>(*cache);
    }
};

/// What one query may see: position -> key of layer 1, head 1.
using Seen = std::map<int, std::vector<float>>;

/// Appends `n` tokens to a batch of one, and what each of them saw while the append was open.
std::vector<Seen> seen_by(KvCache& cache, CacheDriver& driver, Window window, int n) {
    const int first = cache.next_position();
    const Ids text = count_from(0, first + n);
    CallTokens call;
    call.add_row(std::span(text).subspan(static_cast<std::size_t>(first)), first);
    std::vector<Seen> seen;
    if (!cache.begin(call)) return seen;
    AttentionPlan plan;
    for (int layer = 0; layer < cache.shape().n_layer; ++layer) {
        std::vector<float> sides[2];
        for (int t = 0; t < n; ++t) {
            const std::uint64_t name = CacheDriver::text_of(text, first + t + 1);
            for (int i = 0; i < cache.shape().width(); ++i) {
                const int head = i / cache.shape().head_dim;
                for (const int side : {0, 1})
                    sides[side].push_back(
                        CacheDriver::element(name, side == 0, layer, head, i % cache.shape().head_dim));
            }
        }
        if (!cache.append(layer, {sides[0].data(), sides[1].data(), cache.shape().width()})) return {};
    }
    plan_of_append(cache, call, window, plan);
    for (int q = 0; q < n; ++q) {
        Seen& mine = seen.emplace_back();
        for (const SlotRange range : plan.visible(0, q)) {
            for (int slot = range.begin; slot < range.end; ++slot) {
                mine[cache.slot_positions()[static_cast<std::size_t>(slot)]] =
                    driver.read(true, 1, 0, 1, slot);
            }
        }
    }
    if (!cache.commit()) return {};
    driver.tokens(0) = text;
    return seen;
}

std::vector<int> positions_of(const Seen& seen) {
    std::vector<int> positions;
    for (const auto& [position, key] : seen) positions.push_back(position);
    return positions;
}

std::vector<int> held(const KvCache& cache, int row = 0) {
    std::vector<int> positions;
    for (const int position : cache.slot_positions(row)) {
        if (position >= 0) positions.push_back(position);
    }
    std::sort(positions.begin(), positions.end());
    return positions;
}

}  // namespace

class TestWindowCache : public QObject {
    Q_OBJECT

private slots:
    // Case S10: window 6 is itself and 5 more; prompt 4, steps to position 11.
    void theWindowCase() {
        const Window window{6, 0};
        Sliding sliding({.window = window, .max_call = 4});
        KvCache& cache = *sliding.cache;
        QVERIFY(seen_by(cache, *sliding.driver, window, 4).size() == 4);
        for (int position = 4; position <= 11; ++position) {
            const auto seen = seen_by(cache, *sliding.driver, window, 1);
            QCOMPARE(seen.size(), std::size_t{1});
            const int first = std::max(0, position - 5);
            QCOMPARE(positions_of(seen[0]), (std::vector<int>(count_from(first, position - first + 1))));
            QCOMPARE(cache.length(), std::min(position + 1, 6));
            QCOMPARE(sliding.driver->fault(false), std::string());
            const int length = cache.length();
            CacheSpec spec;
            spec.kind = CacheKind::window;
            QCOMPARE(cache.bytes().live, kv_live_formula(spec, cache.shape(), std::span(&length, 1)));
        }
        // A chunk of 4 needs 9 keys.
        const auto seen = seen_by(cache, *sliding.driver, window, 4);
        Seen all;
        for (const Seen& one : seen) all.insert(one.begin(), one.end());
        QCOMPARE(all.size(), std::size_t{9});
        QCOMPARE(positions_of(seen[0]), (std::vector<int>{7, 8, 9, 10, 11, 12}));
        QCOMPARE(cache.length(), 6);
        QCOMPARE(held(cache), (std::vector<int>{10, 11, 12, 13, 14, 15}));
        // Nine slots have done, and nothing was moved.
        QVERIFY(cache.slot_positions().size() <= 9);
        QCOMPARE(cache.copied_bytes(), std::uint64_t{0});
        QCOMPARE(sliding.ledger->live(Owner::kv), cache.shape().elements_per_token() * 4 * 9);
    }

    void sinksStay() {
        const Window window{4, 2};
        Sliding sliding({.window = window, .max_call = 3});
        KvCache& cache = *sliding.cache;
        for (const int n : {1, 1, 3, 2, 1, 1, 3, 3, 1, 1, 2}) {
            QVERIFY(!seen_by(cache, *sliding.driver, window, n).empty());
            const int next = cache.next_position();
            std::vector<int> expected = count_from(0, std::min(2, next));
            for (int p = std::max(2, next - 4); p < next; ++p) expected.push_back(p);
            QCOMPARE(held(cache), expected);
            QCOMPARE(sliding.driver->fault(false), std::string());
        }
        QCOMPARE(cache.copied_bytes(), std::uint64_t{0});
        QVERIFY(cache.slot_positions().size() <= 2 + 3 + 3);
    }

    // Evicting shows every query exactly what keeping everything and masking shows it.
    void evictingIsMasking_data() {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("sinks");
        for (int size = 1; size <= 9; ++size) {
            for (int sinks = 0; sinks <= 3; ++sinks)
                QTest::addRow("%d, %d sinks", size, sinks) << size << sinks;
        }
    }
    void evictingIsMasking() {
        QFETCH(int, size);
        QFETCH(int, sinks);
        const Window window{size, sinks};
        const std::vector<std::vector<int>> cuts = {std::vector<int>(30, 1),
                                                    {30},
                                                    {4, 1, 1, 1, 1, 1, 1, 1, 4, 1, 1, 4, 4, 5},
                                                    {7, 1, 9, 2, 11},
                                                    {2, 3, 5, 7, 11, 1, 1},
                                                    {15, 15},
                                                    {1, 29}};
        for (const auto& cut : cuts) {
            const int longest = *std::max_element(cut.begin(), cut.end());
            Sliding evicting({.window = window, .max_call = longest});
            CacheSpec spec;
            spec.kind = CacheKind::static_;
            const auto keeping = *make_cache(spec, {2, 1, 2, 4}, {30, longest, 0, {}}, evicting.ledger);
            CacheDriver all(*keeping);
            int done = 0;
            for (const int n : cut) {
                const auto expected = seen_by(*keeping, all, window, n);
                const auto found = seen_by(*evicting.cache, *evicting.driver, window, n);
                QCOMPARE(expected.size(), static_cast<std::size_t>(n));
                QCOMPARE(found, expected);
                for (int q = 0; q < n; ++q) {
                    const int position = done + q;
                    const int wanted =
                        std::min(position + 1, size + std::min(sinks, std::max(0, position + 1 - size)));
                    QCOMPARE(static_cast<int>(expected[static_cast<std::size_t>(q)].size()), wanted);
                }
                done += n;
                QVERIFY(evicting.cache->length() <= size + sinks);
                QVERIFY(evicting.cache->slot_positions().size() <=
                        static_cast<std::size_t>(size - 1 + sinks + longest));
            }
            QCOMPARE(evicting.cache->copied_bytes(), std::uint64_t{0});
        }
    }

    // Rejected drafts: what a query needs after going back by `rollback` tokens is still there.
    void goingBack_data() {
        QTest::addColumn<int>("rollback");
        QTest::addColumn<int>("sinks");
        for (const int rollback : {1, 3, 4}) {
            for (const int sinks : {0, 2})
                QTest::addRow("%d, %d sinks", rollback, sinks) << rollback << sinks;
        }
    }
    void goingBack() {
        QFETCH(int, rollback);
        QFETCH(int, sinks);
        const Window window{6, sinks};
        for (int rejected = 0; rejected <= rollback; ++rejected) {
            Sliding sliding({.window = window, .max_call = rollback + 1, .rollback = rollback});
            CacheSpec spec;
            spec.kind = CacheKind::static_;
            const auto keeping = *make_cache(spec, {2, 1, 2, 4}, {64, rollback + 1, 0, {}}, sliding.ledger);
            CacheDriver all(*keeping);
            for (int round = 0; round < 10; ++round) {
                const auto expected = seen_by(*keeping, all, window, rollback + 1);
                QCOMPARE(seen_by(*sliding.cache, *sliding.driver, window, rollback + 1), expected);
                QVERIFY(sliding.cache->length() <= 6 + sinks + rollback);
                const int keep = keeping->next_position() - rejected;
                QVERIFY(all.truncate(0, keep));
                QVERIFY(sliding.driver->truncate(0, keep));
                QCOMPARE(sliding.driver->fault(false), std::string());
            }
            QCOMPARE(sliding.cache->copied_bytes(), std::uint64_t{0});
        }
    }

    void goingBackTooFarIsRefused() {
        Sliding sliding({.window = {6, 1}, .max_call = 4, .rollback = 2});
        CacheDriver& row = *sliding.driver;
        QVERIFY(row.append({{0, 1, 2, 3}}));
        QVERIFY(row.truncate(0, 1));  // everything is still there
        for (const int n : {4, 4, 4}) QVERIFY(row.append({count_from(sliding.cache->next_position(), n)}));
        const auto before = held(*sliding.cache);
        // 13 tokens, of which 5 to 12 and the sink are held. A query at 9 sees from position 4 on.
        QCOMPARE(before, (std::vector<int>{0, 5, 6, 7, 8, 9, 10, 11, 12}));
        const auto refused = row.truncate(0, 9);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QCOMPARE(
            QString::fromStdString(refused.error().message),
            QString(
                "Window cache: row 0 cannot go back from 13 to 9 tokens, because position 4 is forgotten."));
        QCOMPARE(held(*sliding.cache), before);
        QVERIFY(!row.truncate(0, 3));
        QVERIFY(row.truncate(0, 10));
        QCOMPARE(row.fault(false), std::string());
        // Back to nothing but the sink: nothing that a query would need is missing.
        QVERIFY(row.truncate(0, 10));
        QVERIFY(!row.truncate(0, 2));
        QVERIFY(row.truncate(0, 0));
        QCOMPARE(sliding.cache->length(), 0);
        QVERIFY(row.append({{4, 4, 4}}));
        QCOMPARE(row.fault(), std::string());
    }

    void anAppendThatIsGivenUpEmptiesItsSlots() {
        Sliding sliding({.window = {4, 1}, .max_call = 3});
        CacheDriver& row = *sliding.driver;
        for (const int n : {3, 3, 3}) QVERIFY(row.append({count_from(sliding.cache->next_position(), n)}));
        for (const int layers : {0, 1, 2}) {
            QVERIFY(row.give_up({{100, 101, 102}}, layers));
            QCOMPARE(row.fault(false), std::string());
        }
        // What position 9 sees: the sink and 6 to 8.
        const auto left = held(*sliding.cache);
        for (const int position : {0, 6, 7, 8}) QVERIFY(std::count(left.begin(), left.end(), position) == 1);
        QVERIFY(row.append({{9, 10}}));
        QCOMPARE(row.fault(false), std::string());
        QCOMPARE(held(*sliding.cache), (std::vector<int>{0, 7, 8, 9, 10}));
    }

    void callsThatAreTooLargeAreRefused() {
        Sliding sliding({.window = {4, 0}, .max_call = 2});
        CacheDriver& row = *sliding.driver;
        QVERIFY(row.append({{0, 1}}));
        QVERIFY(row.append({{2, 3}}));
        const auto refused = row.append({{4, 5, 6}});
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QVERIFY2(QString::fromStdString(refused.error().message)
                     .contains("3 entries are kept and 3 more came in one call, but there are 5 slots"),
                 refused.error().message.c_str());
        QCOMPARE(row.fault(false), std::string());
        QVERIFY(row.append({{4, 5}}));
        QCOMPARE(row.fault(false), std::string());
    }

    // Nobody ever sees a pad, so that pads must not fill the slots of a row.
    void padsAreForgotten() {
        Sliding sliding({.window = {4, 1}, .max_call = 2, .batch = 2});
        CacheDriver& rows = *sliding.driver;
        for (int i = 0; i < 12; ++i) {
            const Ids tokens{i, i + 1};
            QVERIFY(rows.append({i < 11 ? Ids{pad, pad} : tokens, tokens}));
            QCOMPARE(rows.fault(false), std::string());
        }
        for (int i = 0; i < 12; ++i) {
            QVERIFY(rows.append({{i}, {i}}));
            QCOMPARE(rows.fault(false), std::string());
        }
        QCOMPARE(held(*sliding.cache, 0), (std::vector<int>{0, 10, 11, 12, 13}));
        QCOMPARE(held(*sliding.cache, 1), (std::vector<int>{0, 32, 33, 34, 35}));
        QCOMPARE(sliding.cache->bytes().padding, std::uint64_t{0});
    }

    // Rows are of different lengths, come, go and are reordered.
    void rowsForgetByThemselves() {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            Dice dice(seed);
            const Window window{dice.roll(1, 6), dice.roll(0, 2)};
            const int rollback = dice.roll(0, 3);
            Sliding sliding({.window = window, .max_call = 4, .rollback = rollback, .batch = 3});
            CacheDriver& rows = *sliding.driver;
            for (int step = 0; step < 100; ++step) {
                const int row = dice.roll(0, 2);
                switch (dice.roll(0, 5)) {
                    case 0: rows.clear(row); break;
                    case 1: QVERIFY(rows.reorder({dice.roll(0, 2), dice.roll(0, 2), dice.roll(0, 2)})); break;
                    case 2: {
                        std::vector<Ids> fresh{
                            {1}, dice.ids(dice.roll(0, 4), 9), dice.ids(dice.roll(0, 4), 9)};
                        QVERIFY(rows.give_up(fresh, dice.roll(0, 2)));
                        break;
                    }
                    default: {
                        std::vector<Ids> fresh{
                            {1}, dice.ids(dice.roll(0, 4), 9), dice.ids(dice.roll(0, 4), 9)};
                        QVERIFY(rows.append(fresh));
                        const int fresh_tokens =
                            static_cast<int>(fresh[static_cast<std::size_t>(row)].size());
                        const int back = dice.roll(0, std::min(rollback, fresh_tokens));
                        const auto cut = rows.truncate(row, static_cast<int>(rows.tokens(row).size()) - back);
                        QVERIFY2(cut, cut ? "" : cut.error().message.c_str());
                    }
                }
                const std::string fault = rows.fault(false);
                if (!fault.empty())
                    QFAIL(qPrintable(QString("seed %1, step %2: %3").arg(seed).arg(step).arg(fault.c_str())));
                // What the next query needs is there.
                for (int b = 0; b < 3; ++b) {
                    const auto positions = held(*sliding.cache, b);
                    const int next = sliding.cache->next_position(b);
                    for (int p = 0; p < next; ++p) {
                        const bool needed = p < window.sinks || p > next - window.size;
                        QVERIFY(!needed || std::binary_search(positions.begin(), positions.end(), p));
                    }
                    QVERIFY(sliding.cache->length(b) <= window.size + window.sinks + rollback);
                }
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestWindowCache)
#include "tst_window_cache.moc"
