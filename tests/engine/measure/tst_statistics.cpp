// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/measure/statistics.h"

using namespace decodescope;

class StatisticsTest : public QObject {
    Q_OBJECT

private slots:
    void summarizes_data() {
        QTest::addColumn<QList<double>>("samples");
        QTest::addColumn<QList<double>>("expected");  // min, q1, median, q3, max
        QTest::newRow("one") << QList<double>{7} << QList<double>{7, 7, 7, 7, 7};
        QTest::newRow("two") << QList<double>{4, 2} << QList<double>{2, 2.5, 3, 3.5, 4};
        QTest::newRow("odd, unordered") << QList<double>{5, 1, 3, 2, 4} << QList<double>{1, 2, 3, 4, 5};
        QTest::newRow("even") << QList<double>{40, 10, 20, 30} << QList<double>{10, 17.5, 25, 32.5, 40};
        QTest::newRow("ten") << QList<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
                             << QList<double>{1, 3.25, 5.5, 7.75, 10};
        QTest::newRow("equal") << QList<double>{2, 2, 2} << QList<double>{2, 2, 2, 2, 2};
        QTest::newRow("negative") << QList<double>{-1, -3} << QList<double>{-3, -2.5, -2, -1.5, -1};
        QTest::newRow("one outlier moves no quartile")
            << QList<double>{1, 2, 3, 4, 1e9} << QList<double>{1, 2, 3, 4, 1e9};
    }
    void summarizes() {
        QFETCH(QList<double>, samples);
        QFETCH(QList<double>, expected);
        const Summary s = summarize({samples.constData(), static_cast<std::size_t>(samples.size())});
        QCOMPARE(s.n, static_cast<std::size_t>(samples.size()));
        QCOMPARE((QList<double>{s.min, s.q1, s.median, s.q3, s.max}), expected);
        QCOMPARE(s.iqr(), expected[3] - expected[1]);
    }

    void nothing_is_all_zero() {
        const Summary s = summarize({});
        QCOMPARE(s.n, std::size_t{0});
        QCOMPARE((QList<double>{s.min, s.q1, s.median, s.q3, s.max}), (QList<double>{0, 0, 0, 0, 0}));
    }

    void samples_stay_as_they_were() {
        const std::vector<double> samples{3, 1, 2};
        QCOMPARE(summarize(samples).median, 2.0);
        QCOMPARE(samples, (std::vector<double>{3, 1, 2}));
    }
};

QTEST_APPLESS_MAIN(StatisticsTest)
#include "tst_statistics.moc"
