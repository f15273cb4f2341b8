// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/measure/bandwidth.h"

using namespace decodescope;

class BandwidthTest : public QObject {
    Q_OBJECT

private slots:
    void measures_something_believable_and_frees_its_block_data() {
        QTest::addColumn<int>("n_thread");
        QTest::newRow("one thread") << 1;
        QTest::newRow("three threads: pieces of unequal size") << 3;
    }
    void measures_something_believable_and_frees_its_block() {
        QFETCH(int, n_thread);
        ThreadPool pool(n_thread);
        const auto ledger = std::make_shared<MemoryLedger>();
        const Result<double> gb_s = measure_read_bandwidth(pool, ledger);
        QVERIFY(gb_s.ok());
        qInfo("%.1f GB/s", *gb_s);
        // No machine that runs this reads slower than 0.1 GB/s or faster than 20 TB/s: outside, the unit is
        // wrong.
        QVERIFY(*gb_s > 0.1 && *gb_s < 20'000);
        QCOMPARE(ledger->total(), std::uint64_t{0});
    }

    void refusal_is_an_error_not_a_zero() {
        ThreadPool pool(1);
        const auto ledger = std::make_shared<MemoryLedger>();
        ledger->set_limit(1000);
        const Result<double> gb_s = measure_read_bandwidth(pool, ledger);
        QVERIFY(!gb_s.ok());
        QCOMPARE(gb_s.error().kind, ErrorKind::out_of_memory);
        QCOMPARE(ledger->total(), std::uint64_t{0});
    }
};

QTEST_APPLESS_MAIN(BandwidthTest)
#include "tst_bandwidth.moc"
