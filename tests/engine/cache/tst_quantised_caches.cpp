// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cstring>
#include <limits>

#include "engine/cache/kivi_cache.h"
#include "tests/engine/cache/cache_driver.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

constexpr int n_layer = 2;
constexpr int n_kv_head = 2;

/// As K and V of models are: a few channels of K are large, the rest is near normal.
float value(bool key, int layer, int row, int head, int position, int i, std::uint64_t version = 0) {
    const auto stream = static_cast<std::uint64_t>(((layer * 8 + row) * 8 + head) * 2 + (key ? 1 : 0));
    const auto draw = static_cast<std::uint64_t>(position * 256 + i);
    const float x = random_normal(version, stream, draw);
    return key && i % 4 == 1 ? 20.0f + 4.0f * x : x;
}

CacheSpec kivi(int bits, int group, int residual) {
    CacheSpec spec;
    spec.kind = CacheKind::kivi;
    spec.bits = bits;
    spec.group = group;
    spec.residual = residual;
    return spec;
}

CacheSpec int8() {
    CacheSpec spec;
    spec.kind = CacheKind::int8;
    return spec;
}

struct Quantised {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    CacheSpec spec;
    KvShape shape;
    std::unique_ptr<KvCache> cache;

    explicit Quantised(const CacheSpec& settings, int capacity, int max_call, int batch = 1, int head_dim = 8)
        : spec(settings), shape{n_layer, batch, n_kv_head, head_dim} {
        ledger->set_poison(true);
        cache = *make_cache(spec, shape, {capacity, max_call, 0, {}}, ledger);
    }

    Result<void> append(const std::vector<int>& n, std::uint64_t version = 0, bool give_up = false) {
        CallTokens call;
        for (int b = 0; b < shape.batch; ++b) {
            const int first = cache->next_position(b);
            for (int i = 0; i < n[static_cast<std::size_t>(b)]; ++i) call.add(0, first + i);
            call.end_row();
        }
        DS_TRY(cache->begin(call));
        for (int layer = 0; layer < n_layer; ++layer) {
            std::vector<float> k;
            std::vector<float> v;
            for (int b = 0; b < shape.batch; ++b) {
                for (const int position : call.positions(b)) {
                    for (int i = 0; i < shape.width(); ++i) {
                        const int head = i / shape.head_dim;
                        k.push_back(value(true, layer, b, head, position, i % shape.head_dim, version));
                        v.push_back(value(false, layer, b, head, position, i % shape.head_dim, version));
                    }
                }
            }
            DS_TRY(cache->append(layer, {k.data(), v.data(), shape.width()}));
        }
        if (give_up) {
            cache->rollback();
            return {};
        }
        return cache->commit();
    }
    Result<void> append(int n) { return append(std::vector<int>{n}); }

    /// [position, head_dim] as attention reads it.
    std::vector<float> read(bool key, int layer, int row, int head) const {
        const int n = cache->length(row);
        std::vector<float> out(static_cast<std::size_t>(n * shape.head_dim));
        cache->view(layer).source->read(layer, row, head, {0, n}, key ? out.data() : nullptr,
                                        key ? nullptr : out.data());
        return out;
    }
    /// Everything that `row` holds.
    std::vector<float> read_all(int row = 0) const {
        std::vector<float> all;
        for (int layer = 0; layer < n_layer; ++layer) {
            for (int head = 0; head < n_kv_head; ++head) {
                for (const bool key : {true, false}) {
                    const auto part = read(key, layer, row, head);
                    all.insert(all.end(), part.begin(), part.end());
                }
            }
        }
        return all;
    }
    int n_quantised(int row = 0) const { return static_cast<const KiviCache&>(*cache).n_quantised(row); }
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Whole groups in front of at least `residual` tokens, counted one by one.
int quantised_by_hand(int length, int group, int residual) {
    int quantised = 0;
    while (quantised + group + residual <= length) quantised += group;
    return quantised;
}

/// Largest error over half a step of the entry's own group; infinite when anything is NaN.
double worst_kivi_error(const Quantised& q, int row = 0) {
    const int d = q.shape.head_dim;
    const int levels = (1 << q.spec.bits) - 1;
    const int n = q.n_quantised(row);
    const int channels = std::min(q.spec.group, d);
    double worst = 0;
    for (int layer = 0; layer < n_layer; ++layer) {
        for (int head = 0; head < n_kv_head; ++head) {
            for (const bool key : {true, false}) {
                const auto found = q.read(key, layer, row, head);
                for (int p = 0; p < q.cache->length(row); ++p) {
                    for (int i = 0; i < d; ++i) {
                        const float x = value(key, layer, row, head, p, i);
                        const double error =
                            std::abs(double{found[static_cast<std::size_t>(p * d + i)]} - double{x});
                        double step = 0;
                        if (p < n) {
                            float low = x;
                            float high = x;
                            const int count = key ? q.spec.group : channels;
                            for (int j = 0; j < count; ++j) {
                                const float other =
                                    key ? value(key, layer, row, head, p / count * count + j, i)
                                        : value(key, layer, row, head, p, i / count * count + j);
                                low = std::min(low, other);
                                high = std::max(high, other);
                            }
                            step = (double{high} - double{low}) / levels;
                        }
                        // In the residual: exact.
                        const double limit = p < n ? step / 2 + 1e-5 : 0.0;
                        if (!(error <= limit)) return INFINITY;
                        if (step > 0) worst = std::max(worst, error / (step / 2));
                    }
                }
            }
        }
    }
    return worst;
}

void kivi_settings() {
    QTest::addColumn<int>("bits");
    QTest::addColumn<int>("group");
    QTest::addColumn<int>("residual");
    for (const int bits : {2, 4}) {
        for (const int group : {1, 4, 8, 32}) {
            for (const int residual : {0, 1, 4, 9}) {
                QTest::addRow("%d bits, groups of %d, residual %d", bits, group, residual)
                    << bits << group << residual;
            }
        }
    }
}

}  // namespace

class TestQuantisedCaches : public QObject {
    Q_OBJECT

private slots:
    // Report 117: a group of one token is stored exactly, so that what is read depends on the chunking.
    void chunkingDoesNotChangeWhatIsStored_data() { kivi_settings(); }
    void chunkingDoesNotChangeWhatIsStored() {
        QFETCH(int, bits);
        QFETCH(int, group);
        QFETCH(int, residual);
        constexpr int total = 75;
        const std::vector<std::vector<int>> cuts = {
            {total},           std::vector<int>(total, 1),
            {40, 1, 1, 1, 32}, {3, 5, 7, 9, 11, 13, 27},
            {32, 32, 11},      {33, 31, 11},
        };
        for (const CacheSpec& spec : {kivi(bits, group, residual), int8()}) {
            std::vector<float> expected;
            KvBytes bytes;
            for (const auto& cut : cuts) {
                Quantised q(spec, total, *std::max_element(cut.begin(), cut.end()));
                for (const int n : cut) QVERIFY(q.append(n));
                const auto found = q.read_all();
                if (expected.empty()) {
                    expected = found;
                    bytes = q.cache->bytes();
                }
                QVERIFY(same_bits(found, expected));
                QCOMPARE(q.cache->bytes().live, bytes.live);
            }
        }
    }

    // Whole groups leave the residual as soon as what is left is still long enough.
    void groupsAndResidual_data() { kivi_settings(); }
    void groupsAndResidual() {
        QFETCH(int, bits);
        QFETCH(int, group);
        QFETCH(int, residual);
        const int total = residual + 2 * group + 3;
        Quantised q(kivi(bits, group, residual), total, 1);
        for (int length = 1; length <= total; ++length) {
            QVERIFY(q.append(1));
            const int expected = quantised_by_hand(length, group, residual);
            if (length < residual + group) QCOMPARE(expected, 0);
            if (length == residual + group) QCOMPARE(expected, group);
            QCOMPARE(q.n_quantised(), expected);
            QCOMPARE(kivi_quantised_tokens(q.spec, length), expected);
            const double error = worst_kivi_error(q);
            QVERIFY2(error <= 1.001, qPrintable(QString("length %1: %2").arg(length).arg(error)));
        }
        // It is quantised in earnest: what was stored is not what is read.
        QVERIFY(group == 1 || worst_kivi_error(q) > 0.5);
    }

    void exactWhileAllIsResidual() {
        for (const int bits : {2, 4}) {
            for (const int group : {1, 8, 32}) {
                Quantised q(kivi(bits, group, 40), 40, 7, 2);
                for (const auto& n : {std::vector{7, 1}, {7, 0}, {6, 7}, {7, 2}, {7, 7}, {6, 7}}) {
                    QVERIFY(q.append(n));
                    for (int row = 0; row < 2; ++row) {
                        QCOMPARE(q.n_quantised(row), 0);
                        QCOMPARE(worst_kivi_error(q, row), 0.0);
                    }
                }
                QCOMPARE(q.cache->length(0), 40);
                QCOMPARE(q.cache->bytes().residual, q.cache->bytes().live);
            }
        }
    }

    void bytesEqualTheFormula_data() {
        kivi_settings();
        QTest::newRow("int8") << 8 << 0 << 0;
    }
    void bytesEqualTheFormula() {
        QFETCH(int, bits);
        QFETCH(int, group);
        QFETCH(int, residual);
        for (const int head_dim : {4, 8, 32}) {
            const CacheSpec spec = bits == 8 ? int8() : kivi(bits, group, residual);
            if (bits != 8 && head_dim % std::min(group, head_dim) != 0) continue;
            Quantised q(spec, 60, 20, 2, head_dim);
            for (const auto& n :
                 {std::vector{1, 0}, {2, 1}, {20, 0}, {1, 1}, {1, 7}, {9, 20}, {1, 1}, {20, 1}}) {
                QVERIFY(q.append(n));
                std::uint64_t payload = 0;
                std::uint64_t scales = 0;
                std::uint64_t rest = 0;
                const int lengths[] = {q.cache->length(0), q.cache->length(1)};
                for (const int length : lengths) {
                    // Vector by vector, of 2 layers with 2 heads.
                    const int quantised = bits == 8 ? length : quantised_by_hand(length, group, residual);
                    for (int p = 0; p < length; ++p) {
                        if (p >= quantised) {
                            rest += static_cast<std::uint64_t>(4 * 2 * head_dim * 4);
                            continue;
                        }
                        payload += static_cast<std::uint64_t>(4 * 2 * head_dim * bits / 8);
                        if (bits == 8) {
                            scales += 4 * 2 * 4;
                        } else {
                            if (p % group == 0) scales += static_cast<std::uint64_t>(4 * head_dim * 8);
                            scales +=
                                static_cast<std::uint64_t>(4 * (head_dim / std::min(group, head_dim)) * 8);
                        }
                    }
                }
                const KvBytes bytes = q.cache->bytes();
                QCOMPARE(bytes.payload, payload);
                QCOMPARE(bytes.scales, scales);
                QCOMPARE(bytes.residual, rest);
                QCOMPARE(bytes.live, kv_live_formula(spec, q.shape, lengths));
                QCOMPARE(bytes.live, payload + scales + rest);
                QCOMPARE(bytes.reserved, bytes.live + bytes.slack);
                QCOMPARE(bytes.reserved, q.ledger->live(Owner::kv));
            }
            q.cache->clear_row(0);
            q.cache->clear_row(1);
            QCOMPARE(q.cache->bytes().live, std::uint64_t{0});
        }
    }

    void goingBackWithinTheResidual() {
        Quantised q(kivi(4, 4, 6), 40, 5);
        for (int i = 0; i < 4; ++i) QVERIFY(q.append(5));
        QCOMPARE(q.n_quantised(), 12);
        const auto before = q.read_all();
        const auto refused = q.cache->truncate(0, 11);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QCOMPARE(QString::fromStdString(refused.error().message),
                 QString("Kivi cache: row 0 cannot go back from 20 to 11 tokens, because the first 12 are "
                         "quantised in groups."));
        QVERIFY(!q.cache->truncate(0, 0));
        QVERIFY(same_bits(q.read_all(), before));
        QVERIFY(q.cache->truncate(0, 14));
        QCOMPARE(q.cache->length(), 14);
        QVERIFY(worst_kivi_error(q) <= 1.001);
        QVERIFY(q.cache->truncate(0, 12));
        QVERIFY(q.append(5));
        QVERIFY(q.append(5));
        QCOMPARE(q.n_quantised(), quantised_by_hand(22, 4, 6));
        QVERIFY(worst_kivi_error(q) <= 1.001);
        // Other tokens than those that were dropped.
        QVERIFY(q.cache->truncate(0, 20));
        QVERIFY(q.append({5}, 9));
        const auto key = q.read(true, 1, 0, 1);
        for (int p = 20; p < 25; ++p) {
            for (int i = 0; i < 8; ++i)
                QCOMPARE(key[static_cast<std::size_t>(p * 8 + i)], value(true, 1, 0, 1, p, i, 9));
        }
    }

    void anAppendThatIsGivenUpLeavesNothing() {
        for (const CacheSpec& spec : {kivi(2, 4, 3), kivi(4, 8, 0), int8()}) {
            Quantised q(spec, 30, 6);
            for (int i = 0; i < 4; ++i) {
                QVERIFY(q.append(6));
                const auto before = q.read_all();
                const KvBytes bytes = q.cache->bytes();
                if (i < 4) QVERIFY(q.append({6}, 5, true));
                QVERIFY(same_bits(q.read_all(), before));
                QCOMPARE(q.cache->bytes().live, bytes.live);
            }
        }
    }

    // The f32 ring is as long as was asked for; a larger call would overwrite what is not yet quantised.
    void callsThatAreTooLargeAreRefused() {
        Quantised q(kivi(4, 4, 2), 100, 3);
        for (int i = 0; i < 5; ++i) QVERIFY(q.append(1));
        const auto refused = q.append(30);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QCOMPARE(q.cache->length(), 5);
        for (int i = 0; i < 30; ++i) QVERIFY(q.append(3));
        QVERIFY(worst_kivi_error(q) <= 1.001);
    }

    void rowsAreApart() {
        Quantised q(kivi(4, 4, 2), 30, 5, 3);
        QVERIFY(q.append({5, 1, 4}));
        QVERIFY(q.append({5, 0, 5}));
        q.cache->clear_row(0);
        QCOMPARE(q.n_quantised(0), 0);
        QCOMPARE(q.n_quantised(2), 4);
        for (const auto& n : {std::vector{2, 5, 1}, {5, 5, 0}, {0, 1, 5}}) {
            QVERIFY(q.append(n));
            for (int row = 0; row < 3; ++row) QVERIFY(worst_kivi_error(q, row) <= 1.001);
        }
        const int swapped[] = {1, 0, 2};
        QCOMPARE(q.cache->reorder(swapped).error().kind, ErrorKind::unsupported);
    }

    void padsAreRefused() {
        Quantised q(kivi(4, 4, 2), 30, 5);
        CallTokens call;
        call.add(0, slot_padding);
        call.add(0, 0);
        call.end_row();
        const auto refused = q.cache->begin(call);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::unsupported);
        QVERIFY(q.append(3));
    }

    // A value that is not finite spoils its group and nothing else.
    void notFiniteIsNotHidden() {
        constexpr float nan = std::numeric_limits<float>::quiet_NaN();
        for (const CacheSpec& spec : {kivi(4, 4, 0), int8()}) {
            Quantised q(spec, 16, 16);
            CallTokens call;
            call.add_row(count_from(0, 16), 0);
            QVERIFY(q.cache->begin(call));
            for (int layer = 0; layer < n_layer; ++layer) {
                std::vector<float> both(16 * 16, 1.5f);
                if (layer == 1) both[6 * 16 + 3] = nan;  // position 6, head 0, channel 3
                QVERIFY(q.cache->append(layer, {both.data(), both.data(), 16}));
            }
            QVERIFY(q.cache->commit());
            for (int layer = 0; layer < n_layer; ++layer) {
                for (int head = 0; head < n_kv_head; ++head) {
                    for (const bool key : {true, false}) {
                        const auto found = q.read(key, layer, 0, head);
                        for (int p = 0; p < 16; ++p) {
                            for (int i = 0; i < 8; ++i) {
                                bool spoilt = layer == 1 && head == 0;
                                if (spec.kind == CacheKind::int8) {
                                    spoilt = spoilt && p == 6;
                                } else {
                                    spoilt = spoilt && (key ? i == 3 && p / 4 == 1 : p == 6 && i / 4 == 0);
                                }
                                const float x = found[static_cast<std::size_t>(p * 8 + i)];
                                QCOMPARE(std::isnan(x), spoilt);
                                if (!spoilt) QVERIFY(std::abs(x - 1.5f) < 0.02f);
                            }
                        }
                    }
                }
            }
        }
    }

    void eightBitErrors() {
        Quantised q(int8(), 40, 9, 2, 16);
        for (const auto& n : {std::vector{9, 2}, {1, 9}, {1, 1}}) QVERIFY(q.append(n));
        const int parents[] = {1, 0};
        QVERIFY(q.cache->reorder(parents));
        for (int row = 0; row < 2; ++row) {
            for (int layer = 0; layer < n_layer; ++layer) {
                for (int head = 0; head < n_kv_head; ++head) {
                    for (const bool key : {true, false}) {
                        const auto found = q.read(key, layer, row, head);
                        QCOMPARE(found.size(), static_cast<std::size_t>(16 * (row == 0 ? 12 : 11)));
                        for (std::size_t at = 0; at < found.size(); at += 16) {
                            double largest = 0;
                            const int p = static_cast<int>(at) / 16;
                            for (int i = 0; i < 16; ++i)
                                largest = std::max(largest,
                                                   std::abs(double{value(key, layer, 1 - row, head, p, i)}));
                            for (int i = 0; i < 16; ++i) {
                                const double x = value(key, layer, 1 - row, head, p, i);
                                QVERIFY(std::abs(double{found[at + static_cast<std::size_t>(i)]} - x) <=
                                        largest / 127 / 2 * 1.001);
                            }
                        }
                    }
                }
            }
        }
    }

    void badSettings_data() {
        QTest::addColumn<int>("bits");
        QTest::addColumn<int>("group");
        QTest::addColumn<int>("residual");
        QTest::addColumn<int>("head_dim");
        QTest::addColumn<QString>("sentence");
        const QString divide = "do not divide head_dim";
        QTest::newRow("96 channels, groups of 64") << 4 << 64 << 0 << 96 << divide;
        QTest::newRow("6 channels, groups of 4") << 4 << 4 << 0 << 6 << divide;
        QTest::newRow("2 channels of 2 bits") << 2 << 2 << 0 << 2 << divide;
        QTest::newRow("5 channels of 4 bits") << 4 << 5 << 0 << 5 << divide;
        QTest::newRow("8 bits") << 8 << 4 << 0 << 8 << "2 or 4";
        QTest::newRow("1 bit") << 1 << 4 << 0 << 8 << "2 or 4";
        QTest::newRow("negative residual") << 4 << 4 << -1 << 8 << "at least 0";
        QTest::newRow("negative group") << 4 << -4 << 0 << 8 << "1 to 1024";
        QTest::newRow("huge group") << 4 << 1025 << 0 << 8 << "1 to 1024";
    }
    void badSettings() {
        QFETCH(int, bits);
        QFETCH(int, group);
        QFETCH(int, residual);
        QFETCH(int, head_dim);
        QFETCH(QString, sentence);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto refused =
            make_cache(kivi(bits, group, residual), {1, 1, 1, head_dim}, {16, 4, 0, {}}, ledger);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::bad_input);
        QVERIFY2(QString::fromStdString(refused.error().message).contains(sentence),
                 refused.error().message.c_str());
        QCOMPARE(ledger->total(), std::uint64_t{0});
    }
};

QTEST_APPLESS_MAIN(TestQuantisedCaches)
#include "tst_quantised_caches.moc"
