// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <deque>
#include <map>

#include "engine/core/random.h"
#include "engine/decode/scheduler.h"

using namespace decodescope;

namespace {

/// Lets in whoever may come in now; their rows.
std::vector<int> admit_all(Scheduler& scheduler) {
    std::vector<int> rows;
    while (const auto row = scheduler.admit()) rows.push_back(*row);
    return rows;
}

using Rows = std::vector<int>;

}  // namespace

class TestScheduler : public QObject {
    Q_OBJECT

private slots:
    void firstComeFirstServed() {
        Scheduler scheduler(2, 0, 1);
        for (const int request : {7, 3, 9, 1}) scheduler.add(request, 10);
        QCOMPARE(admit_all(scheduler), (Rows{0, 1}));
        QCOMPARE(scheduler.rows(), (Rows{7, 3}));
        QCOMPARE(scheduler.n_waiting(), 2);
        QCOMPARE(scheduler.release(3), 1);
        QCOMPARE(admit_all(scheduler), Rows{1});
        QCOMPARE(scheduler.rows(), (Rows{7, 9}));
        QCOMPARE(scheduler.release(7), 0);
        QCOMPARE(admit_all(scheduler), Rows{0});
        QCOMPARE(scheduler.rows(), (Rows{1, 9}));
        QCOMPARE(scheduler.n_waiting(), 0);
        QVERIFY(!scheduler.admit());
    }

    // Nobody overtakes a large request at the head of the queue.
    void theHeadOfTheQueueIsNotOvertaken() {
        Scheduler scheduler(4, 20, 1);
        scheduler.add(0, 15);
        scheduler.add(1, 12);
        scheduler.add(2, 3);
        QCOMPARE(admit_all(scheduler), Rows{0});
        QCOMPARE(scheduler.n_waiting(), 2);
        QCOMPARE(scheduler.release(0), 0);
        QCOMPARE(admit_all(scheduler), (Rows{0, 1}));
        QCOMPARE(scheduler.retained(), std::int64_t{15});
    }

    void wholeBlocks_data() {
        QTest::addColumn<int>("block");
        QTest::addColumn<qint64>("budget");
        QTest::addColumn<int>("tokens");
        QTest::addColumn<bool>("fits");
        QTest::addColumn<int>("together");
        QTest::newRow("no limit") << 16 << qint64{0} << 1000000 << true << 8;
        QTest::newRow("tokens") << 1 << qint64{50} << 25 << true << 2;
        QTest::newRow("one token too many") << 1 << qint64{50} << 26 << true << 1;
        QTest::newRow("one block each") << 16 << qint64{48} << 1 << true << 3;
        QTest::newRow("exactly a block") << 16 << qint64{48} << 16 << true << 3;
        QTest::newRow("a block and a token") << 16 << qint64{64} << 17 << true << 2;
        QTest::newRow("rounded up beyond the budget") << 16 << qint64{50} << 49 << false << 0;
        QTest::newRow("budget between blocks") << 16 << qint64{50} << 48 << true << 1;
        QTest::newRow("too large") << 1 << qint64{50} << 51 << false << 0;
    }
    void wholeBlocks() {
        QFETCH(int, block);
        QFETCH(qint64, budget);
        QFETCH(int, tokens);
        QFETCH(bool, fits);
        QFETCH(int, together);
        Scheduler scheduler(8, budget, block);
        QCOMPARE(scheduler.can_ever_fit(tokens), fits);
        for (int i = 0; i < 8; ++i) scheduler.add(i, tokens);
        QCOMPARE(static_cast<int>(admit_all(scheduler).size()), together);
        QCOMPARE(scheduler.retained(), std::int64_t{together} * ((tokens + block - 1) / block * block));
    }

    void releasingFromTheQueue() {
        Scheduler scheduler(1, 20, 1);
        for (int i = 0; i < 4; ++i) scheduler.add(i, 20);
        QCOMPARE(admit_all(scheduler), Rows{0});
        QCOMPARE(scheduler.release(2), -1);
        QCOMPARE(scheduler.n_waiting(), 2);
        QCOMPARE(scheduler.retained(), std::int64_t{20});
        QCOMPARE(scheduler.release(99), -1);
        QCOMPARE(scheduler.release(0), 0);
        QCOMPARE(scheduler.release(0), -1);
        QCOMPARE(scheduler.retained(), std::int64_t{0});
        QCOMPARE(admit_all(scheduler), Rows{0});
        QCOMPARE(scheduler.rows(), Rows{1});
        QCOMPARE(scheduler.release(1), 0);
        QCOMPARE(admit_all(scheduler), Rows{0});
        QCOMPARE(scheduler.rows(), Rows{3});
    }

    void servedComeInTheirOrder() {
        Scheduler scheduler(3, 0, 1);
        for (const int request : {5, 6, 7, 8}) scheduler.add(request, 1);
        admit_all(scheduler);
        QCOMPARE(scheduler.release(5), 0);
        admit_all(scheduler);
        QCOMPARE(scheduler.rows(), (Rows{8, 6, 7}));
        Rows order;
        for (const Scheduler::Served& one : scheduler.served()) {
            order.push_back(one.request);
            QCOMPARE(scheduler.rows()[static_cast<std::size_t>(one.row)], one.request);
        }
        QCOMPARE(order, (Rows{6, 7, 8}));
    }

    // Against a plain queue, whatever comes and goes.
    void longRandomRuns() {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            std::uint64_t draw = 0;
            const auto roll = [&](int low, int high) {
                return low + static_cast<int>(random_bits(seed, 1, draw++) %
                                              static_cast<std::uint64_t>(high - low + 1));
            };
            const int n_row = roll(1, 6);
            const int block = roll(1, 20);
            const std::int64_t budget = roll(0, 3) == 0 ? 0 : roll(60, 300);
            Scheduler scheduler(n_row, budget, block);
            std::deque<int> queue;
            std::map<int, int> tokens;  // of all that wait or are served
            std::map<int, int> served;  // request -> row
            std::vector<int> let_in;
            const auto cost = [&](int request) { return (tokens[request] + block - 1) / block * block; };
            const auto retained = [&] {
                std::int64_t sum = 0;
                for (const auto& [request, row] : served) sum += cost(request);
                return sum;
            };
            int next = 0;
            for (int step = 0; step < 500; ++step) {
                if (roll(0, 2) == 0) {
                    const int size = roll(0, 80);
                    if (scheduler.can_ever_fit(size)) {
                        tokens[next] = size;
                        queue.push_back(next);
                        scheduler.add(next++, size);
                    } else {
                        QVERIFY(budget != 0 && (size + block - 1) / block * block > budget);
                    }
                }
                while (const auto row = scheduler.admit()) {
                    QVERIFY(!queue.empty());
                    const int request = scheduler.rows()[static_cast<std::size_t>(*row)];
                    QCOMPARE(request, queue.front());
                    queue.pop_front();
                    for (const auto& [other, used] : served) QVERIFY(used != *row);
                    served[request] = *row;
                    let_in.push_back(request);
                }
                QVERIFY(budget == 0 || scheduler.retained() <= budget);
                QCOMPARE(scheduler.retained(), retained());
                QCOMPARE(scheduler.n_waiting(), static_cast<int>(queue.size()));
                // Whoever waits has a reason to.
                if (!queue.empty() && static_cast<int>(served.size()) < n_row)
                    QVERIFY(budget != 0 && retained() + cost(queue.front()) > budget);
                if (!tokens.empty() && roll(0, 2) == 0) {
                    auto gone = tokens.begin();
                    std::advance(gone, roll(0, static_cast<int>(tokens.size()) - 1));
                    const int request = gone->first;
                    const auto mine = served.find(request);
                    QCOMPARE(scheduler.release(request), mine == served.end() ? -1 : mine->second);
                    if (mine != served.end()) served.erase(mine);
                    std::erase(queue, request);
                    tokens.erase(gone);
                }
            }
            QVERIFY(std::is_sorted(let_in.begin(), let_in.end()));
            QVERIFY(let_in.size() > 5);
        }
    }
};

QTEST_APPLESS_MAIN(TestScheduler)
#include "tst_scheduler.moc"
