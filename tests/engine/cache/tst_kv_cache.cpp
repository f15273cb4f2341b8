// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <memory>
#include <vector>

#include "engine/cache/kv_cache.h"

using namespace decodescope;

namespace {

constexpr int n_layer = 3;
constexpr int n_kv_head = 2;
constexpr int head_dim = 4;
constexpr KvShape shape{n_layer, 1, n_kv_head, head_dim};
constexpr std::uint64_t bytes_per_token = 2 * n_layer * n_kv_head * head_dim * 4;

CacheSpec spec_of(CacheKind kind, DType dtype = DType::f32) {
    CacheSpec spec;
    spec.kind = kind;
    spec.dtype = dtype;
    spec.block = 4;
    spec.group = 4;
    spec.residual = 4;
    return spec;
}

/// Value stored for (layer, row, kv head, position, i), K and V apart; small enough to be exact in f16.
float value(bool key, int layer, int row, int head, int position, int i) {
    return static_cast<float>((key ? 1 : 2) * 100 + layer * 20 + row * 10 + head * 5 + i) +
           static_cast<float>(position % 8) * 0.125f;
}

Result<void> append_layer(KvCache& cache, int layer, const CallTokens& call) {
    const std::int64_t width = n_kv_head * head_dim;
    std::vector<float> block(static_cast<std::size_t>(2 * call.n_token() * width));
    for (int b = 0; b < call.batch(); ++b) {
        for (int t = call.begin(b); t < call.end(b); ++t) {
            const int position = call.positions()[static_cast<std::size_t>(t)];
            for (int h = 0; h < n_kv_head; ++h) {
                for (int i = 0; i < head_dim; ++i) {
                    const auto at = static_cast<std::size_t>(t * 2 * width + h * head_dim + i);
                    block[at] = value(true, layer, b, h, position, i);
                    block[at + static_cast<std::size_t>(width)] = value(false, layer, b, h, position, i);
                }
            }
        }
    }
    return cache.append(layer, {block.data(), block.data() + width, 2 * width});
}

Result<void> append_call(KvCache& cache, const CallTokens& call) {
    DS_TRY(cache.begin(call));
    for (int layer = 0; layer < n_layer; ++layer) DS_TRY(append_layer(cache, layer, call));
    return cache.commit();
}

/// `n[b]` tokens for row b, each its own position as token id.
CallTokens call_of(const KvCache& cache, const std::vector<int>& n) {
    CallTokens call;
    for (int b = 0; b < cache.batch(); ++b) {
        const int first = cache.next_position(b);
        for (int i = 0; i < n[static_cast<std::size_t>(b)]; ++i) call.add(first + i, first + i);
        call.end_row();
    }
    return call;
}

Result<void> append_tokens(KvCache& cache, int n) {
    return append_call(cache, call_of(cache, {n}));
}

/// Every entry that row `row` says it holds has the value it was given as row `written_as`.
bool holds(const KvCache& cache, int row = 0, int written_as = 0) {
    const auto positions = cache.slot_positions(row);
    for (int layer = 0; layer < n_layer; ++layer) {
        const KeyValueView view = cache.view(layer);
        for (int h = 0; h < n_kv_head; ++h) {
            for (int s = 0; s < static_cast<int>(positions.size()); ++s) {
                const int position = positions[static_cast<std::size_t>(s)];
                if (position < 0) continue;
                float k[head_dim];
                float v[head_dim];
                if (view.source != nullptr) {
                    view.source->read(layer, row, h, {s, s + 1}, k, v);
                } else {
                    const std::int64_t at =
                        row * view.batch_stride + h * view.head_stride + s * view.slot_stride;
                    std::copy_n(view.k + at, head_dim, k);
                    std::copy_n(view.v + at, head_dim, v);
                }
                for (int i = 0; i < head_dim; ++i) {
                    if (k[i] != value(true, layer, written_as, h, position, i)) return false;
                    if (v[i] != value(false, layer, written_as, h, position, i)) return false;
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
    /// Kinds that give back exactly what they were given.
    static void kinds() {
        QTest::addColumn<CacheSpec>("spec");
        QTest::newRow("concat") << spec_of(CacheKind::concat);
        QTest::newRow("static") << spec_of(CacheKind::static_);
        QTest::newRow("paged") << spec_of(CacheKind::paged);
        QTest::newRow("concat f16") << spec_of(CacheKind::concat, DType::f16);
        QTest::newRow("static f16") << spec_of(CacheKind::static_, DType::f16);
        QTest::newRow("paged f16") << spec_of(CacheKind::paged, DType::f16);
        CacheSpec kivi = spec_of(CacheKind::kivi);
        kivi.residual = 100;
        QTest::newRow("kivi, all residual") << kivi;
    }
    static void kinds_with_rows() {
        QTest::addColumn<CacheSpec>("spec");
        for (const CacheKind kind : {CacheKind::concat, CacheKind::static_, CacheKind::paged})
            QTest::newRow(to_string(kind)) << spec_of(kind);
    }
    static std::unique_ptr<KvCache> make(int capacity, std::shared_ptr<MemoryLedger> ledger, int batch = 1) {
        QFETCH(CacheSpec, spec);
        KvShape rows = shape;
        rows.batch = batch;
        auto cache = make_cache(spec, rows, {capacity, capacity, 0, {capacity, 0}}, std::move(ledger));
        return cache ? *std::move(cache) : nullptr;
    }

private slots:
    void keepsWhatWasAppended_data() { kinds(); }
    void keepsWhatWasAppended() {
        const auto cache = make(16, std::make_shared<MemoryLedger>());
        QVERIFY(cache);
        for (const int n : {5, 1, 1, 4, 1}) {
            QVERIFY(append_tokens(*cache, n));
            QVERIFY(holds(*cache));
        }
        QCOMPARE(cache->length(), 12);
        QCOMPARE(cache->next_position(), 12);
        QCOMPARE(cache->slot_positions().size(), std::size_t{12});
        for (int i = 0; i < 12; ++i) QCOMPARE(cache->slot_positions()[static_cast<std::size_t>(i)], i);
    }

    void rowsHaveTheirOwnLength_data() { kinds_with_rows(); }
    void rowsHaveTheirOwnLength() {
        const auto cache = make(16, std::make_shared<MemoryLedger>(), 3);
        QVERIFY(cache);
        for (const std::vector<int>& n : {std::vector{5, 0, 2}, std::vector{1, 7, 1}, std::vector{0, 1, 3}}) {
            QVERIFY(append_call(*cache, call_of(*cache, n)));
            for (int row = 0; row < 3; ++row) QVERIFY(holds(*cache, row, row));
        }
        QCOMPARE(cache->length(0), 6);
        QCOMPARE(cache->length(1), 8);
        QCOMPARE(cache->length(2), 6);
        QCOMPARE(cache->bytes().live, bytes_per_token * 20);
        cache->clear_row(1);
        QCOMPARE(cache->length(1), 0);
        QCOMPARE(cache->bytes().live, bytes_per_token * 12);
        QVERIFY(append_call(*cache, call_of(*cache, {0, 3, 0})));
        QCOMPARE(cache->length(1), 3);
        for (int row = 0; row < 3; ++row) QVERIFY(holds(*cache, row, row));
    }

    void padsTakeSlotsAndNoPositions_data() { kinds_with_rows(); }
    void padsTakeSlotsAndNoPositions() {
        const auto cache = make(16, std::make_shared<MemoryLedger>(), 2);
        CallTokens call;
        for (const int position : {slot_padding, slot_padding, 0, 1}) call.add(0, position);
        call.end_row();
        for (const int position : {0, 1, 2, slot_padding}) call.add(0, position);
        call.end_row();
        QVERIFY(append_call(*cache, call));
        QCOMPARE(cache->length(0), 2);
        QCOMPARE(cache->length(1), 3);
        QCOMPARE(cache->next_position(0), 2);
        QCOMPARE(cache->next_position(1), 3);
        QVERIFY(append_call(*cache, call_of(*cache, {1, 1})));
        const auto row = cache->slot_positions(1);
        QCOMPARE(std::vector<std::int32_t>(row.begin(), row.end()),
                 (std::vector<std::int32_t>{0, 1, 2, slot_padding, 3}));
        QVERIFY(holds(*cache, 0, 0) && holds(*cache, 1, 1));
        const KvBytes bytes = cache->bytes();
        QCOMPARE(bytes.live, bytes_per_token * 7);
        QCOMPARE(bytes.padding, bytes_per_token * 3);
        QCOMPARE(bytes.reserved, bytes.live + bytes.padding + bytes.slack + bytes.free + bytes.kept);
    }

    void countsBytes_data() { kinds(); }
    void countsBytes() {
        QFETCH(CacheSpec, spec);
        const bool concat = spec.kind == CacheKind::concat;
        const auto ledger = std::make_shared<MemoryLedger>();
        auto cache = make(16, ledger);
        QVERIFY(cache);
        const std::uint64_t per_token = bytes_per_token / 4 * size_of(spec.dtype);
        QCOMPARE(shape.elements_per_token(), bytes_per_token / 4);
        std::uint64_t copied = 0;
        for (const int n : {7, 1, 1, 1, 3}) {
            if (concat) copied += per_token * static_cast<std::uint64_t>(cache->length());
            QVERIFY(append_tokens(*cache, n));
            const int length = cache->length();
            const KvBytes bytes = cache->bytes();
            QCOMPARE(bytes.live, per_token * static_cast<std::uint64_t>(length));
            QCOMPARE(bytes.live, kv_live_formula(spec, shape, std::span(&length, 1)));
            QCOMPARE(cache->copied_bytes(), copied);
            QCOMPARE(bytes.reserved, per_token * static_cast<std::uint64_t>(concat ? length : 16));
            QCOMPARE(ledger->live(Owner::kv), bytes.reserved);
            QCOMPARE(bytes.reserved, bytes.live + bytes.slack + bytes.free);
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
        QTest::newRow("no token") << 1 << 0 << 6 << bad << "got no tokens";
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
        for (const CacheKind kind : {CacheKind::static_, CacheKind::paged}) {
            auto cache = make_cache(spec_of(kind), shape, {8, 8, 0, {}}, std::make_shared<MemoryLedger>());
            QVERIFY(cache);
            QVERIFY(append_tokens(**cache, 6));
            CallTokens call;
            for (int b = 0; b < batch; ++b) {
                for (int i = 0; i < n_new; ++i) call.add(0, first_position + i);
                call.end_row();
            }
            const auto refused = (*cache)->begin(call);
            QVERIFY(!refused);
            QCOMPARE(static_cast<int>(refused.error().kind), error_kind);
            QVERIFY2(QString::fromStdString(refused.error().message).contains(sentence),
                     refused.error().message.c_str());
            QCOMPARE((*cache)->length(), 6);
            QVERIFY(append_tokens(**cache, 2));
            QVERIFY(holds(**cache));
        }
    }

    void rollbackForgetsTheOpenAppend_data() { kinds(); }
    void rollbackForgetsTheOpenAppend() {
        const auto cache = make(16, std::make_shared<MemoryLedger>());
        QVERIFY(append_tokens(*cache, 4));
        const std::uint64_t live = cache->bytes().live;
        const CallTokens call = call_of(*cache, {3});
        QVERIFY(cache->begin(call));
        QVERIFY(append_layer(*cache, 0, call));
        QVERIFY(append_layer(*cache, 1, call));
        cache->rollback();
        QCOMPARE(cache->length(), 4);
        QCOMPARE(cache->bytes().live, live);
        QVERIFY(append_tokens(*cache, 2));
        QCOMPARE(cache->length(), 6);
        QVERIFY(holds(*cache));
    }

    void truncating_data() { kinds(); }
    void truncating() {
        const auto cache = make(16, std::make_shared<MemoryLedger>());
        QVERIFY(append_tokens(*cache, 10));
        const std::uint64_t per_token = cache->bytes().live / 10;
        // Case S9: prefix 6, a pending token and 3 drafts, none accepted.
        QVERIFY(cache->truncate(0, 7));
        QCOMPARE(cache->length(), 7);
        QCOMPARE(cache->next_position(), 7);
        QCOMPARE(cache->bytes().live, per_token * 7);
        QVERIFY(!cache->truncate(0, 8));
        QVERIFY(!cache->truncate(0, -1));
        QVERIFY(append_tokens(*cache, 3));
        QVERIFY(holds(*cache));
        QVERIFY(cache->truncate(0, 0));
        QCOMPARE(cache->length(), 0);
        QVERIFY(append_tokens(*cache, 2));
        QVERIFY(holds(*cache));
    }

    void layersComeInTurn_data() { kinds(); }
    void layersComeInTurn() {
        const auto cache = make(16, std::make_shared<MemoryLedger>());
        const CallTokens call = call_of(*cache, {1});
        QVERIFY(!append_layer(*cache, 0, call));  // nothing was begun
        QVERIFY(cache->begin(call));
        QVERIFY(!cache->begin(call));  // one is open already
        QVERIFY(!append_layer(*cache, 1, call));
        QVERIFY(append_layer(*cache, 0, call));
        const auto early = cache->commit();
        QVERIFY(!early);
        QCOMPARE(early.error().kind, ErrorKind::internal);
        QCOMPARE(cache->length(), 0);
    }

    void outOfMemoryIsAnOutcome_data() { kinds(); }
    void outOfMemoryIsAnOutcome() {
        QFETCH(CacheSpec, spec);
        const auto ledger = std::make_shared<MemoryLedger>();
        // 3 tokens fit, old and new together do not.
        ledger->set_limit(700 / 4 * size_of(spec.dtype));
        auto cache = make_cache(spec, shape, {16, 16, 0, {}}, ledger);
        if (spec.kind != CacheKind::concat) {
            QVERIFY(!cache);
            QCOMPARE(cache.error().kind, ErrorKind::out_of_memory);
            QCOMPARE(ledger->total(), std::uint64_t{0});
        } else {
            QVERIFY(append_tokens(**cache, 3));
            const auto refused = append_tokens(**cache, 1);
            QVERIFY(!refused);
            QCOMPARE(refused.error().kind, ErrorKind::out_of_memory);
            (*cache)->rollback();
            QCOMPARE((*cache)->length(), 3);
            QVERIFY(holds(**cache));
        }
    }

    void rowsCanBeReordered_data() { kinds_with_rows(); }
    void rowsCanBeReordered() {
        const auto cache = make(16, std::make_shared<MemoryLedger>(), 3);
        QVERIFY(append_call(*cache, call_of(*cache, {5, 3, 6})));
        const std::uint64_t before = cache->copied_bytes();
        const int same[] = {0, 1, 2};
        QVERIFY(cache->reorder(same));
        QCOMPARE(cache->copied_bytes(), before);
        const int parents[] = {1, 2, 1};
        QVERIFY(cache->reorder(parents));
        QCOMPARE(cache->length(0), 3);
        QCOMPARE(cache->length(1), 6);
        QCOMPARE(cache->length(2), 3);
        QVERIFY(holds(*cache, 0, 1) && holds(*cache, 1, 2) && holds(*cache, 2, 1));
        QCOMPARE(cache->bytes().reserved, cache->bytes().live + cache->bytes().slack + cache->bytes().free);
        const int bad[] = {0, 3, 1};
        QVERIFY(!cache->reorder(bad));
    }

    void planOfAnAppend() {
        auto cache =
            make_cache(spec_of(CacheKind::static_), shape, {6, 6, 0, {}}, std::make_shared<MemoryLedger>());
        QVERIFY(append_tokens(**cache, 2));
        const CallTokens call = call_of(**cache, {2});
        QVERIFY((*cache)->begin(call));
        AttentionPlan plan;
        plan_of_append(**cache, call, {}, plan);
        QCOMPARE(plan.n_slot(0), 4);  // spare slots are nobody's business
        QCOMPARE(plan.query_positions(0)[0], 2);
        QCOMPARE(plan.n_allowed(), std::int64_t{3 + 4});
        QCOMPARE(plan.cell(0, 0, 3), CellState::future);
        QCOMPARE(plan.cell(0, 1, 3), CellState::visible);
    }

    void badSettings_data() {
        QTest::addColumn<CacheSpec>("spec");
        QTest::addColumn<int>("capacity");
        QTest::newRow("static, capacity 0") << spec_of(CacheKind::static_) << 0;
        QTest::newRow("paged, capacity 0") << spec_of(CacheKind::paged) << 0;
        QTest::newRow("int8, capacity 0") << spec_of(CacheKind::int8) << 0;
        CacheSpec bad = spec_of(CacheKind::paged);
        bad.block = 0;
        QTest::newRow("block 0") << bad << 8;
        bad = spec_of(CacheKind::kivi);
        bad.bits = 3;
        QTest::newRow("3 bits") << bad << 8;
        bad = spec_of(CacheKind::kivi);
        bad.group = 3;
        QTest::newRow("groups that do not divide head_dim") << bad << 8;
        bad = spec_of(CacheKind::kivi);
        bad.group = 0;
        QTest::newRow("groups of nothing") << bad << 8;
    }
    void badSettings() {
        QFETCH(CacheSpec, spec);
        QFETCH(int, capacity);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto refused = make_cache(spec, shape, {capacity, 8, 0, {}}, ledger);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::bad_input);
        QVERIFY(QString::fromStdString(refused.error().message).contains("expected") ||
                QString::fromStdString(refused.error().message).contains("divide"));
        QCOMPARE(ledger->total(), std::uint64_t{0});
    }
};

QTEST_APPLESS_MAIN(TestKvCache)
#include "tst_kv_cache.moc"
