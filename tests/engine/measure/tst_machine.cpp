// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <ctime>
#include <thread>

#include "engine/core/clock.h"
#include "engine/measure/environment.h"
#include "engine/measure/fma_peak.h"
#include "engine/measure/machine_limits.h"
#include "engine/measure/machine_use.h"

using namespace decodescope;

namespace {

/// Keeps a processor busy with work of this process.
void spin(std::int64_t ns) {
    volatile std::uint64_t sink = 0;
    for (const std::int64_t end = now_ns() + ns; now_ns() < end;) sink = sink + 1;
}

}  // namespace

class MachineTest : public QObject {
    Q_OBJECT

private slots:
    void limits_are_believable() {
        ThreadPool pool(2);
        const auto ledger = std::make_shared<MemoryLedger>();
        const MachineLimits limits = measure_machine_limits(pool, ledger);
        qInfo("%.1f GB/s, %.1f GFLOP/s with %s", limits.read_gb_s, limits.peak_gflop_s,
              limits.peak_instructions.c_str());
        // Outside of this the unit is wrong.
        QVERIFY(limits.peak_gflop_s > 0.5 && limits.peak_gflop_s < 100'000);
        QVERIFY(limits.read_gb_s > 0.1);
        QVERIFY(!limits.peak_instructions.empty());
        QCOMPARE(ledger->total(), std::uint64_t{0});
    }

    void peak_is_that_of_the_instructions_in_use() {
        ThreadPool pool(1);
        const FmaPeak widest = measure_fma_peak(pool);
        QCOMPARE(measure_fma_peak(pool, "plain").instructions, std::string("baseline"));
        // No processor has AVX-512 without AVX2.
        const bool has_avx2 = widest.instructions.starts_with("AVX");
        QCOMPARE(measure_fma_peak(pool, "AVX2").instructions, std::string(has_avx2 ? "AVX2" : "baseline"));
        QCOMPARE(measure_fma_peak(pool, "AVX-512 (VNNI, BF16)").instructions, widest.instructions);
    }

    void bandwidth_that_cannot_be_measured_is_not_known() {
        ThreadPool pool(1);
        const auto ledger = std::make_shared<MemoryLedger>();
        ledger->set_limit(1000);
        const MachineLimits limits = measure_machine_limits(pool, ledger);
        QCOMPARE(limits.read_gb_s, 0.0);
        QVERIFY(limits.peak_gflop_s > 0);
    }

    void own_work_is_not_taken_for_that_of_others() {
        const MachineWatch watch;
        const std::int64_t start = now_ns();
        const std::clock_t own_start = std::clock();
        spin(400'000'000);
        const double own = static_cast<double>(std::clock() - own_start) / CLOCKS_PER_SEC;
        const double wall = static_cast<double>(now_ns() - start) / 1e9;
        const MachineUse use = watch.use();
        if (use.others < 0) QSKIP("the system does not tell how busy it is");
        QVERIFY(use.others <= 1 && use.stolen >= 0 && use.stolen <= 1);
        // What this process had, the others cannot have had. Four ticks of tolerance on the 40 there were.
        const double mine = own / wall / std::max(1u, std::thread::hardware_concurrency());
        QVERIFY2(use.others + use.stolen <= 1 - mine + 0.1,
                 qPrintable(QString("%1 %2 %3").arg(use.others).arg(use.stolen).arg(mine)));
    }

    void doubts_data() {
        QTest::addColumn<double>("others");
        QTest::addColumn<double>("stolen");
        QTest::addColumn<double>("mhz_after");
        QTest::addColumn<qint64>("reductions");
        QTest::addColumn<QString>("expected");
        QTest::newRow("quiet") << 0.01 << 0.0 << 3000.0 << qint64{0} << "";
        QTest::newRow("not known") << -1.0 << -1.0 << -1.0 << qint64{-1} << "";
        QTest::newRow("others") << 0.34 << 0.0 << 3000.0 << qint64{0}
                                << "Other programs took 34 % of the machine's processors during the run.";
        QTest::newRow("hypervisor") << 0.0 << 0.12 << 3000.0 << qint64{0}
                                    << "The hypervisor took 12 % of the processor time away during the run.";
        QTest::newRow("clock") << 0.0 << 0.0 << 2000.0 << qint64{0}
                               << "The processors' clock fell from 3000 to 2000 MHz during the run.";
        QTest::newRow("thread") << 0.0 << 0.0 << 3000.0 << qint64{2}
                                << "A thread was left out 2 times because its core was busy.";
    }
    void doubts() {
        QFETCH(double, others);
        QFETCH(double, stolen);
        QFETCH(double, mhz_after);
        QFETCH(qint64, reductions);
        QFETCH(QString, expected);
        Environment environment;
        environment.use = {others, stolen, 3000, mhz_after};
        environment.thread_reductions = reductions;
        const auto found = decodescope::doubts(environment);
        QCOMPARE(found.empty() ? QString() : QString::fromStdString(found.front()), expected);
        QCOMPARE(found.size(), std::size_t(expected.isEmpty() ? 0 : 1));
    }
};

QTEST_APPLESS_MAIN(MachineTest)
#include "tst_machine.moc"
