// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "ui/session/drain_pace.h"

using namespace decodescope;

/// How often the window looks, by what its turns take.
class DrainPaceTest : public QObject {
    Q_OBJECT

private slots:
    void steadyTurns_data() {
        QTest::addColumn<bool>("sparse");
        QTest::addColumn<double>("turnMs");
        QTest::addColumn<int>("expected");
        QTest::newRow("a core of its own") << false << 20.0 << DrainPace::shortestMs;
        QTest::newRow("nothing to draw") << true << 0.0 << DrainPace::shortestMs;
        QTest::newRow("cheap") << true << 1.0 << DrainPace::shortestMs;
        QTest::newRow("a twentieth") << true << 5.0 << 100;
        QTest::newRow("expensive") << true << 50.0 << DrainPace::longestMs;
    }
    void steadyTurns() {
        QFETCH(bool, sparse);
        QFETCH(double, turnMs);
        QFETCH(int, expected);
        DrainPace pace(sparse);
        std::int64_t busy = 1'000'000'000;
        QCOMPARE(pace.next(busy), DrainPace::shortestMs);  // nothing is known yet
        for (int i = 0; i < 10; ++i)
            QCOMPARE(pace.next(busy += static_cast<std::int64_t>(turnMs * 1e6)), expected);
    }

    void oneLongTurnIsForgotten() {
        DrainPace pace(true);
        std::int64_t busy = 0;
        for (int i = 0; i < 5; ++i) pace.next(busy += 2'000'000);
        const int once = pace.next(busy += 20'000'000);
        QVERIFY(once > 40 && once < DrainPace::longestMs);
        for (int i = 0; i < 20; ++i) pace.next(busy += 2'000'000);
        QCOMPARE(pace.next(busy += 2'000'000), 40);
    }

    void unknownTimes() {
        DrainPace pace(true);
        for (int i = 0; i < 3; ++i) QCOMPARE(pace.next(-1), DrainPace::shortestMs);
    }
};

QTEST_APPLESS_MAIN(DrainPaceTest)
#include "tst_drain_pace.moc"
