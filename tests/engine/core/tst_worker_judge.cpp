// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/core/worker_judge.h"

using namespace decodescope;

namespace {

constexpr qint64 us = 1'000;
constexpr qint64 ms = 1'000'000;

/// A pool's jobs on a clock of their own.
struct Jobs {
    WorkerJudge judge;
    std::int64_t now = 0;

    /// `n` jobs, one after the other.
    void run(int n, std::int64_t own, std::int64_t wait) {
        for (int job = 0; job < n; ++job) {
            now += own + wait;
            judge.judge(own, wait, now);
        }
    }
    /// Jobs whose late worker costs more than it brings, until one is left out; false if none is.
    bool run_until_reduced(std::int64_t own, std::int64_t wait) {
        const std::int64_t before = judge.n_reduction();
        for (int job = 0; job < 1000 && judge.n_reduction() == before; ++job) run(1, own, wait);
        return judge.n_reduction() == before + 1;
    }
};

}  // namespace

class WorkerJudgeTest : public QObject {
    Q_OBJECT

private slots:
    void who_is_worth_waiting_for_data() {
        QTest::addColumn<int>("n_worker");
        QTest::addColumn<qint64>("own");
        QTest::addColumn<qint64>("wait");
        QTest::addColumn<bool>("stays");
        QTest::newRow("nobody is late") << 2 << 200 * us << qint64{0} << true;
        QTest::newRow("uneven parts") << 2 << 1 * ms << 400 * us << true;
        QTest::newRow("short waits count for nothing") << 2 << 10 * us << 90 * us << true;
        QTest::newRow("a time slice lost in every job") << 2 << 100 * us << 4 * ms << false;
        QTest::newRow("more than half the time, of two") << 2 << 900 * us << 1 * ms << false;
        QTest::newRow("less than half the time, of two") << 2 << 1 * ms << 900 * us << true;
        QTest::newRow("less than half the time, of four") << 4 << 1 * ms << 900 * us << false;
        QTest::newRow("nobody to leave out") << 1 << 1 * ms << qint64{0} << true;
    }
    void who_is_worth_waiting_for() {
        QFETCH(int, n_worker);
        QFETCH(qint64, own);
        QFETCH(qint64, wait);
        QFETCH(bool, stays);
        Jobs jobs{WorkerJudge(n_worker)};
        QCOMPARE(jobs.judge.active(), n_worker);
        QCOMPARE(jobs.run_until_reduced(own, wait), !stays);
        QCOMPARE(jobs.judge.active(), stays ? n_worker : n_worker - 1);
    }

    void one_stall_leaves_nobody_out() {
        Jobs jobs{WorkerJudge(2)};
        for (int stall = 0; stall < 5; ++stall) {
            jobs.run(1, 100 * us, 12 * ms);
            jobs.run(200, 100 * us, 0);
        }
        QCOMPARE(jobs.judge.n_reduction(), std::int64_t{0});
    }

    void a_left_out_worker_is_asked_again_and_less_often_each_time() {
        Jobs jobs{WorkerJudge(2)};
        std::int64_t last_pause = 0;
        for (int round = 0; round < 8; ++round) {
            QVERIFY(jobs.run_until_reduced(100 * us, 2 * ms));
            QCOMPARE(jobs.judge.ask(jobs.now), 1);
            std::int64_t pause = 0;
            while (jobs.judge.ask(jobs.now + pause) == 1) pause += 1 * ms;
            jobs.now += pause;
            QVERIFY(pause >= last_pause);
            QVERIFY(pause >= 50 * ms && pause <= 800 * ms);
            last_pause = pause;
        }
        QCOMPARE(last_pause, 800 * ms);
        // Calm for long enough: the past is forgotten.
        jobs.run(2'000, 1 * ms, 0);
        QVERIFY(jobs.run_until_reduced(100 * us, 2 * ms));
        QCOMPARE(jobs.judge.ask(jobs.now + 49 * ms), 1);
        QCOMPARE(jobs.judge.ask(jobs.now + 50 * ms), 2);
    }

    void the_caller_is_never_left_out() {
        Jobs jobs{WorkerJudge(3)};
        QVERIFY(jobs.run_until_reduced(100 * us, 4 * ms));
        QVERIFY(jobs.run_until_reduced(100 * us, 4 * ms));
        QCOMPARE(jobs.judge.active(), 1);
    }
};

QTEST_APPLESS_MAIN(WorkerJudgeTest)
#include "tst_worker_judge.moc"
