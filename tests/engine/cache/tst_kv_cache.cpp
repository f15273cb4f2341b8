// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <memory>
#include <numeric>
#include <vector>

#include "engine/cache/kv_cache.h"

using namespace decodescope;

namespace {

constexpr KvShape shape{3, 1, 2, 4};

/// Value stored for (layer, kv head, token, i), K and V apart; exact in f32.
float value(bool key, int layer, int head, int token, int i) {
    return static_cast<float>((((key ? 1 : 2) * 10 + layer) * 10 + head) * 1000 + token * 10 + i);
}

Result<void> append_layer(KvCache& cache, int layer, int first, int n) {
    const std::int64_t width = shape.n_kv_head * shape.head_dim;
    std::vector<float> block(static_cast<std::size_t>(2 * n * width));
    for (int t = 0; t < n; ++t) {
        for (int h = 0; h < shape.n_kv_head; ++h) {
            for (int i = 0; i < shape.head_dim; ++i) {
                const auto at = static_cast<std::size_t>(t * 2 * width + h * shape.head_dim + i);
                block[at] = value(true, layer, h, first + t, i);
                block[at + static_cast<std::size_t>(width)] = value(false, layer, h, first + t, i);
            }
        }
    }
    return cache.append(layer, {block.data(), block.data() + width, 2 * width});
}

Result<void> append_tokens(KvCache& cache, int n) {
    const int first = cache.length();
    std::vector<std::int32_t> positions(static_cast<std::size_t>(n));
    std::iota(positions.begin(), positions.end(), first);
    DS_TRY(cache.begin(1, n, positions));
    for (int layer = 0; layer < shape.n_layer; ++layer) DS_TRY(append_layer(cache, layer, first, n));
    return cache.commit();
}

bool holds(const KvCache& cache, int n_token) {
    for (int layer = 0; layer < shape.n_layer; ++layer) {
        const KeyValueView view = cache.view(layer);
        for (int h = 0; h < shape.n_kv_head; ++h) {
            for (int t = 0; t < n_token; ++t) {
                for (int i = 0; i < shape.head_dim; ++i) {
                    const std::int64_t at = h * view.head_stride + t * view.slot_stride + i;
                    if (view.k[at] != value(true, layer, h, t, i)) return false;
                    if (view.v[at] != value(false, layer, h, t, i)) return false;
                }
            }
        }
    }
    return true;
}

}  // namespace

class TestKvCache : public QObject {
    Q_OBJECT

private:
    static void kinds() {
        QTest::addColumn<int>("kind");
        QTest::newRow("concat") << static_cast<int>(CacheKind::concat);
        QTest::newRow("static") << static_cast<int>(CacheKind::static_);
    }
    static std::unique_ptr<KvCache> make(int capacity, std::shared_ptr<MemoryLedger> ledger) {
        QFETCH(int, kind);
        auto cache = make_cache(static_cast<CacheKind>(kind), shape, capacity, std::move(ledger));
        return cache ? *std::move(cache) : nullptr;
    }

private slots:
    void keepsWhatWasAppended_data() { kinds(); }
    void keepsWhatWasAppended() {
        const auto cache = make(16, std::make_shared<MemoryLedger>());
        QVERIFY(cache);
        for (const int n : {5, 1, 1, 4, 1}) {
            QVERIFY(append_tokens(*cache, n));
            QVERIFY(holds(*cache, cache->length()));
        }
        QCOMPARE(cache->length(), 12);
        for (int i = 0; i < 12; ++i) QCOMPARE(cache->slot_positions()[static_cast<std::size_t>(i)], i);
        for (std::size_t i = 12; i < cache->slot_positions().size(); ++i)
            QCOMPARE(cache->slot_positions()[i], slot_empty);
    }

    void countsBytes_data() { kinds(); }
    void countsBytes() {
        QFETCH(int, kind);
        const bool concat = static_cast<CacheKind>(kind) == CacheKind::concat;
        const auto ledger = std::make_shared<MemoryLedger>();
        auto cache = make(16, ledger);
        QVERIFY(cache);
        const std::uint64_t per_token = 2 * 3 * 2 * 4 * 4;
        QCOMPARE(shape.bytes_per_token(), per_token);
        std::uint64_t copied = 0;
        for (const int n : {7, 1, 1, 1, 3}) {
            if (concat) copied += per_token * static_cast<std::uint64_t>(cache->length());
            QVERIFY(append_tokens(*cache, n));
            const auto length = static_cast<std::uint64_t>(cache->length());
            QCOMPARE(cache->live_bytes(), per_token * length);
            QCOMPARE(cache->copied_bytes(), copied);
            QCOMPARE(cache->reserved_bytes(), per_token * (concat ? length : 16));
            QCOMPARE(ledger->live(Owner::kv), cache->reserved_bytes());
            QCOMPARE(cache->meta_bytes(), std::uint64_t{0});
        }
        cache.reset();
        QCOMPARE(ledger->total(), std::uint64_t{0});
    }

    void refusesBeforeWriting_data() {
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("n_new");
        QTest::addColumn<int>("first_position");
        QTest::addColumn<int>("error_kind");
        QTest::addColumn<QString>("sentence");
        const auto bad = static_cast<int>(ErrorKind::bad_input);
        QTest::newRow("batch") << 2 << 1 << 6 << bad << "got a batch of 2, expected 1";
        QTest::newRow("no token") << 1 << 0 << 6 << bad << "got 0 tokens";
        QTest::newRow("position repeated") << 1 << 1 << 5 << bad << "position 5, expected 6";
        QTest::newRow("position skipped") << 1 << 2 << 7 << bad << "position 7, expected 6";
        QTest::newRow("capacity") << 1 << 3 << 6 << static_cast<int>(ErrorKind::capacity)
                                  << "its capacity is 8";
    }
    void refusesBeforeWriting() {
        QFETCH(int, batch);
        QFETCH(int, n_new);
        QFETCH(int, first_position);
        QFETCH(int, error_kind);
        QFETCH(QString, sentence);
        auto cache = make_cache(CacheKind::static_, shape, 8, std::make_shared<MemoryLedger>());
        QVERIFY(cache);
        QVERIFY(append_tokens(**cache, 6));
        std::vector<std::int32_t> positions(static_cast<std::size_t>(n_new));
        std::iota(positions.begin(), positions.end(), first_position);
        const auto refused = (*cache)->begin(batch, n_new, positions);
        QVERIFY(!refused);
        QCOMPARE(static_cast<int>(refused.error().kind), error_kind);
        QVERIFY2(QString::fromStdString(refused.error().message).contains(sentence),
                 refused.error().message.c_str());
        QCOMPARE((*cache)->length(), 6);
        QVERIFY(append_tokens(**cache, 2));
        QVERIFY(holds(**cache, 8));
    }

    void rollbackForgetsTheOpenAppend_data() { kinds(); }
    void rollbackForgetsTheOpenAppend() {
        const auto cache = make(16, std::make_shared<MemoryLedger>());
        QVERIFY(append_tokens(*cache, 4));
        const std::uint64_t live = cache->live_bytes();
        const std::int32_t positions[] = {4, 5, 6};
        QVERIFY(cache->begin(1, 3, positions));
        QVERIFY(append_layer(*cache, 0, 4, 3));
        QVERIFY(append_layer(*cache, 1, 4, 3));
        cache->rollback();
        QCOMPARE(cache->length(), 4);
        QCOMPARE(cache->live_bytes(), live);
        QVERIFY(append_tokens(*cache, 2));
        QCOMPARE(cache->length(), 6);
        QVERIFY(holds(*cache, 6));
    }

    void layersComeInTurn_data() { kinds(); }
    void layersComeInTurn() {
        const auto cache = make(16, std::make_shared<MemoryLedger>());
        QVERIFY(!append_layer(*cache, 0, 0, 1));  // nothing was begun
        const std::int32_t positions[] = {0};
        QVERIFY(cache->begin(1, 1, positions));
        QVERIFY(!cache->begin(1, 1, positions));  // one is open already
        QVERIFY(!append_layer(*cache, 1, 0, 1));
        QVERIFY(append_layer(*cache, 0, 0, 1));
        const auto early = cache->commit();
        QVERIFY(!early);
        QCOMPARE(early.error().kind, ErrorKind::internal);
        QCOMPARE(cache->length(), 0);
    }

    void outOfMemoryIsAnOutcome_data() { kinds(); }
    void outOfMemoryIsAnOutcome() {
        QFETCH(int, kind);
        const auto ledger = std::make_shared<MemoryLedger>();
        ledger->set_limit(700);  // 3 tokens of 192 bytes fit, old and new together do not
        auto cache = make_cache(static_cast<CacheKind>(kind), shape, 16, ledger);
        if (static_cast<CacheKind>(kind) == CacheKind::static_) {
            QVERIFY(!cache);
            QCOMPARE(cache.error().kind, ErrorKind::out_of_memory);
        } else {
            QVERIFY(append_tokens(**cache, 3));
            const auto refused = append_tokens(**cache, 1);
            QVERIFY(!refused);
            QCOMPARE(refused.error().kind, ErrorKind::out_of_memory);
            (*cache)->rollback();
            QCOMPARE((*cache)->length(), 3);
            QVERIFY(holds(**cache, 3));
        }
    }

    void planShowsSpareSlots() {
        auto cache = make_cache(CacheKind::static_, shape, 6, std::make_shared<MemoryLedger>());
        QVERIFY(append_tokens(**cache, 2));
        const AttentionPlan plan = plan_append(**cache, 2);
        QCOMPARE(plan.n_slot(), 6);
        QCOMPARE(plan.query_positions(0)[0], 2);
        QCOMPARE(plan.n_allowed(), std::int64_t{3 + 4});
        QCOMPARE(plan.cell(0, 0, 3), CellState::future);
        QCOMPARE(plan.cell(0, 1, 3), CellState::visible);
        QCOMPARE(plan.cell(0, 1, 5), CellState::empty);
    }
};

QTEST_APPLESS_MAIN(TestKvCache)
#include "tst_kv_cache.moc"
