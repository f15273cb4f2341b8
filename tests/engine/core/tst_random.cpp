// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>

#include "engine/core/random.h"

using namespace decodescope;

class RandomTest : public QObject {
    Q_OBJECT

private slots:
    void mix_matches_splitmix64_data() {
        // SplitMix64 from state 0 and 1234567: the sequences every implementation of it is checked with.
        QTest::addColumn<quint64>("state");
        QTest::addColumn<quint64>("expected");
        constexpr quint64 step = 0x9e3779b97f4a7c15u;
        QTest::newRow("0, first") << quint64{0} << quint64{0xe220a8397b1dcdafu};
        QTest::newRow("0, second") << step << quint64{0x6e789e6aa1b965f4u};
        QTest::newRow("0, third") << 2 * step << quint64{0x06c45d188009454fu};
        QTest::newRow("1234567, first") << quint64{1234567} << quint64{6457827717110365317u};
        QTest::newRow("1234567, second") << 1234567 + step << quint64{3203168211198807973u};
    }
    void mix_matches_splitmix64() {
        QFETCH(quint64, state);
        QTEST(quint64{mix64(state)}, "expected");
    }

    void streams_have_fixed_values_data() {
        QTest::addColumn<quint64>("seed");
        QTest::addColumn<quint64>("stream");
        QTest::addColumn<quint64>("i");
        QTest::addColumn<quint64>("bits");
        QTest::addColumn<double>("uniform");
        QTest::addColumn<float>("normal");
        QTest::newRow("0/0/0") << quint64{0u} << quint64{0u} << quint64{0u} << quint64{0x238275bc38fcbe91u}
                               << 0x1.1c13ade1c7e5cp-3 << -0x1.8134960000000p-1f;
        QTest::newRow("0/0/1") << quint64{0u} << quint64{0u} << quint64{1u} << quint64{0x421daf3033e887a3u}
                               << 0x1.0876bcc0cfa20p-2 << -0x1.2008de0000000p-1f;
        QTest::newRow("0/1/0") << quint64{0u} << quint64{1u} << quint64{0u} << quint64{0x44e5b98100c67fb0u}
                               << 0x1.1396e6040319ep-2 << -0x1.bf54460000000p-1f;
        QTest::newRow("1/0/0") << quint64{1u} << quint64{0u} << quint64{0u} << quint64{0xb18a02f46d8d86c3u}
                               << 0x1.631405e8db1b0p-1 << -0x1.2e06c00000000p-1f;
        QTest::newRow("42/7/1000000007")
            << quint64{42u} << quint64{7u} << quint64{1000000007u} << quint64{0xebf20a66a6e8c7b5u}
            << 0x1.d7e414cd4dd18p-1 << 0x1.5dc0a40000000p-1f;
        QTest::newRow("largest arguments") << quint64{18446744073709551615u} << quint64{18446744073709551615u}
                                           << quint64{18446744073709551615u} << quint64{0x55e2c9ae3b41d287u}
                                           << 0x1.578b26b8ed074p-2 << 0x1.3a34720000000p-2f;
    }
    void streams_have_fixed_values() {
        QFETCH(quint64, seed);
        QFETCH(quint64, stream);
        QFETCH(quint64, i);
        QFETCH(double, uniform);
        QFETCH(float, normal);
        QTEST(quint64{random_bits(seed, stream, i)}, "bits");
        // Bit for bit: presets promise the same weights on every machine.
        QVERIFY(random_uniform(seed, stream, i) == uniform);
        QVERIFY(random_normal(seed, stream, i) == normal);
    }

    void moments_and_range() {
        constexpr int n = 200'000;
        double sum_u = 0;
        double sum = 0;
        double sum_sq = 0;
        for (int i = 0; i < n; ++i) {
            const double u = random_uniform(3, 1, static_cast<std::uint64_t>(i));
            QVERIFY(u >= 0 && u < 1);
            sum_u += u;
            const double x = static_cast<double>(random_normal(3, 2, static_cast<std::uint64_t>(i)));
            sum += x;
            sum_sq += x * x;
        }
        // Five standard errors.
        QVERIFY(std::abs(sum_u / n - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
        QVERIFY(std::abs(sum / n) < 5 * std::sqrt(1.0 / n));
        QVERIFY(std::abs(sum_sq / n - 1) < 5 * std::sqrt(2.0 / n));
    }
};

QTEST_APPLESS_MAIN(RandomTest)
#include "tst_random.moc"
