// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "engine/core/thread_pool.h"

using namespace decodescope;

class ThreadPoolTest : public QObject {
    Q_OBJECT

private slots:
    void every_worker_runs_once_data() {
        QTest::addColumn<int>("n_thread");
        QTest::newRow("one") << 1;
        QTest::newRow("two") << 2;
        QTest::newRow("more than this machine has") << 9;
    }
    void every_worker_runs_once() {
        QFETCH(int, n_thread);
        ThreadPool pool(n_thread);
        QCOMPARE(pool.size(), n_thread);
        std::vector<int> calls(static_cast<std::size_t>(n_thread));
        std::vector<std::thread::id> ids(static_cast<std::size_t>(n_thread));
        pool.run([&](int worker) {
            ++calls[static_cast<std::size_t>(worker)];
            ids[static_cast<std::size_t>(worker)] = std::this_thread::get_id();
        });
        QCOMPARE(calls, std::vector<int>(static_cast<std::size_t>(n_thread), 1));
        QVERIFY(ids[0] == std::this_thread::get_id());
        QCOMPARE(std::set<std::thread::id>(ids.begin(), ids.end()).size(),
                 static_cast<std::size_t>(n_thread));
    }

    void split_covers_everything_at_grain_borders_data() {
        QTest::addColumn<int>("n_thread");
        QTest::addColumn<qint64>("n");
        QTest::addColumn<qint64>("grain");
        QTest::newRow("nothing") << 3 << qint64{0} << qint64{8};
        QTest::newRow("negative") << 3 << qint64{-5} << qint64{8};
        QTest::newRow("one element") << 3 << qint64{1} << qint64{8};
        QTest::newRow("one grain") << 3 << qint64{8} << qint64{8};
        QTest::newRow("less work than workers") << 4 << qint64{17} << qint64{8};
        QTest::newRow("last piece is short") << 3 << qint64{100} << qint64{8};
        QTest::newRow("grain one") << 3 << qint64{1000} << qint64{1};
        QTest::newRow("single worker") << 1 << qint64{1000} << qint64{16};
        QTest::newRow("large") << 4 << (qint64{1} << 40) + 3 << qint64{64};
    }
    void split_covers_everything_at_grain_borders() {
        QFETCH(int, n_thread);
        QFETCH(qint64, n);
        QFETCH(qint64, grain);
        ThreadPool pool(n_thread);
        struct Piece {
            std::int64_t begin, end;
            int worker;
        };
        std::mutex mutex;
        std::vector<Piece> pieces;
        pool.split(n, grain, [&](std::int64_t begin, std::int64_t end, int worker) {
            const std::lock_guard lock(mutex);
            pieces.push_back({begin, end, worker});
        });
        std::sort(pieces.begin(), pieces.end(),
                  [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
        std::int64_t next = 0;
        std::set<int> workers;
        std::int64_t shortest = n;
        std::int64_t longest = 0;
        for (const Piece& piece : pieces) {
            QCOMPARE(piece.begin, next);
            QVERIFY(piece.begin < piece.end);
            QVERIFY(piece.begin % grain == 0);
            QVERIFY(piece.worker >= 0 && piece.worker < n_thread);
            workers.insert(piece.worker);
            shortest = std::min(shortest, piece.end - piece.begin);
            longest = std::max(longest, piece.end - piece.begin);
            next = piece.end;
        }
        QCOMPARE(next, std::max<std::int64_t>(0, n));
        QCOMPARE(workers.size(), pieces.size());
        const std::int64_t units = (std::max<std::int64_t>(0, n) + grain - 1) / grain;
        QCOMPARE(static_cast<std::int64_t>(pieces.size()), std::min<std::int64_t>(units, n_thread));
        if (!pieces.empty()) QVERIFY(longest - shortest < 2 * grain);
    }

    void share_hands_out_everything_once_data() {
        QTest::addColumn<int>("n_thread");
        QTest::addColumn<qint64>("n");
        QTest::addColumn<qint64>("grain");
        QTest::newRow("nothing") << 3 << qint64{0} << qint64{8};
        QTest::newRow("negative") << 3 << qint64{-5} << qint64{8};
        QTest::newRow("less than a piece") << 3 << qint64{5} << qint64{8};
        QTest::newRow("last piece is short") << 3 << qint64{1'003} << qint64{8};
        QTest::newRow("one by one") << 4 << qint64{5'000} << qint64{1};
        QTest::newRow("single worker") << 1 << qint64{1'000} << qint64{16};
    }
    void share_hands_out_everything_once() {
        QFETCH(int, n_thread);
        QFETCH(qint64, n);
        QFETCH(qint64, grain);
        ThreadPool pool(n_thread);
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(std::max(n, qint64{0})));
        std::atomic<int> bad{0};
        pool.share(n, grain, [&](std::int64_t begin, std::int64_t end, int worker) {
            const bool whole = begin % grain == 0 && (end == begin + grain || end == n);
            if (!whole || worker < 0 || worker >= n_thread) ++bad;
            for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        QCOMPARE(bad.load(), 0);
        for (const std::atomic<int>& count : seen) QCOMPARE(count.load(), 1);
    }

    void many_tiny_jobs_are_all_done_before_run_returns() {
        constexpr int n_job = 5'000;
        ThreadPool pool(3);
        std::vector<int> last(3, -1);  // unsynchronised on purpose: run() must order every job
        for (int job = 0; job < n_job; ++job) {
            std::atomic<bool> twice{false};
            pool.run([&](int worker) {
                if (last[static_cast<std::size_t>(worker)] == job) twice = true;
                last[static_cast<std::size_t>(worker)] = job;
            });
            QVERIFY(!twice.load());
            QCOMPARE(last[0], job);
            // Workers are left out from the last one on, never from the middle.
            QVERIFY(last[1] == job || last[2] != job);
        }
    }

    void wakes_up_from_sleep() {
        ThreadPool pool(3);
        for (int round = 0; round < 3; ++round) {
            std::atomic<int> calls{0};
            const int asked = pool.ask_active();
            pool.run([&](int /*worker*/) { ++calls; });
            QCOMPARE(calls.load(), asked);
            std::this_thread::sleep_for(std::chrono::milliseconds(3));  // far longer than the spin
        }
    }

    void leaves_out_a_worker_whose_core_is_busy_and_tries_it_again() {
        ThreadPool pool(2);
        const auto delayed = [](int worker) {
            if (worker == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        };
        for (int job = 0; job < 20 && pool.n_reduction() == 0; ++job) pool.run(delayed);
        QCOMPARE(pool.n_reduction(), std::int64_t{1});
        QCOMPARE(pool.active(), 1);
        QTest::qWait(200);
        std::atomic<int> calls{0};
        pool.run([&](int /*worker*/) { ++calls; });
        QCOMPARE(calls.load(), 2);
        QCOMPARE(pool.active(), 2);
    }

    // Whoever only ever shares out pieces must ask again too.
    void pieces_ask_a_left_out_worker_again() {
        ThreadPool pool(2);
        const auto delayed = [](int worker) {
            if (worker == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        };
        for (int job = 0; job < 20 && pool.n_reduction() == 0; ++job) pool.run(delayed);
        QCOMPARE(pool.active(), 1);
        QTest::qWait(200);
        std::atomic<int> workers{0};
        pool.split(1000, 1, [&](std::int64_t, std::int64_t, int) { ++workers; });
        QCOMPARE(workers.load(), 2);
    }

    void pools_that_never_worked_can_be_destroyed() {
        for (int i = 0; i < 50; ++i) ThreadPool pool(3);
    }

    void jobs_with_state_are_called_by_reference() {
        struct Counter {
            std::atomic<int> calls{0};
            void operator()(int /*worker*/) { ++calls; }
        } counter;
        ThreadPool pool(2);
        pool.run(counter);
        QCOMPARE(counter.calls.load(), 2);
    }
};

QTEST_APPLESS_MAIN(ThreadPoolTest)
#include "tst_thread_pool.moc"
