// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>

#include "engine/core/random.h"
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

    void percentiles() {
        std::vector<double> samples;
        for (int i = 0; i <= 100; ++i) samples.push_back(100 - i);
        const Summary s = summarize(samples);
        QCOMPARE((QList<double>{s.p90, s.p95, s.p99}), (QList<double>{90, 95, 99}));
    }

    void moments_of_a_known_sample() {
        const std::vector<double> samples{2, 4, 4, 4, 5, 5, 7, 9};
        QCOMPARE(moments(samples).mean, 5.0);
        QCOMPARE(moments(samples).deviation, std::sqrt(32.0 / 7.0));
        QCOMPARE(moments(std::vector<double>{3}).deviation, 0.0);
    }

    void outliers_are_named() {
        QCOMPARE(outliers(std::vector<double>{10, 11, 9, 10, 50, 10, 11, 1}),
                 (std::vector<std::size_t>{4, 7}));
        QVERIFY(outliers(std::vector<double>{1, 2, 3, 4, 5}).empty());
        QVERIFY(outliers({}).empty());
    }

    void intervals_hold_the_truth_as_often_as_they_say() {
        // 300 samples of 15 around 100; the true median lies in a 95 % interval about 285 times.
        int held = 0;
        int held_ratio = 0;
        for (std::uint64_t experiment = 0; experiment < 300; ++experiment) {
            std::vector<double> a;
            std::vector<double> b;
            for (std::uint64_t i = 0; i < 15; ++i) {
                a.push_back(100 + 5 * static_cast<double>(random_normal(7, experiment, i)));
                b.push_back(50 + 4 * static_cast<double>(random_normal(8, experiment, i)));
            }
            held += bootstrap_median(a).contains(100) ? 1 : 0;
            held_ratio += bootstrap_ratio(a, b).contains(2) ? 1 : 0;
        }
        QVERIFY2(held >= 270 && held <= 299, qPrintable(QString::number(held)));
        QVERIFY2(held_ratio >= 270 && held_ratio <= 299, qPrintable(QString::number(held_ratio)));
    }

    void what_slows_both_down_cancels_in_pairs() {
        std::vector<double> a;
        std::vector<double> b;
        for (std::uint64_t i = 0; i < 20; ++i) {
            const double slow = 1 + random_uniform(9, 0, i);
            a.push_back(30 * slow);
            b.push_back(10 * slow);
        }
        const Interval paired = bootstrap_paired_ratio(a, b);
        const Interval apart = bootstrap_ratio(a, b);
        QVERIFY(paired.contains(3.0) || std::abs(paired.low - 3) < 1e-9);
        QVERIFY(paired.high - paired.low < 1e-9);
        QVERIFY(apart.high - apart.low > 0.3);
    }

    void an_interval_is_repeatable_and_needs_two_samples() {
        const std::vector<double> samples{3, 1, 4, 1, 5, 9, 2, 6};
        QCOMPARE(bootstrap_median(samples).low, bootstrap_median(samples).low);
        QCOMPARE(bootstrap_median(samples).high, bootstrap_median(samples).high);
        QVERIFY(!bootstrap_median(std::vector<double>{1}).known);
        QVERIFY(!bootstrap_ratio(samples, std::vector<double>{1}).known);
        QVERIFY(!bootstrap_paired_ratio({}, samples).known);
        QVERIFY(!Interval{}.contains(0));
        QCOMPARE((Interval{90, 110, true}).relative_half_width(100), 0.1);
    }

    void fits_data() {
        QTest::addColumn<QList<double>>("x");
        QTest::addColumn<QList<double>>("y");
        QTest::addColumn<QList<double>>("expected");  // points, slope, intercept, error, r squared
        QTest::newRow("exact") << QList<double>{1, 2, 3} << QList<double>{5, 7, 9}
                               << QList<double>{3, 2, 3, 0, 1};
        // Worked by hand: mean 2.5 and 6.5, Sxx 5, Sxy 9, Syy 17; left over 17 - 81 / 5 = 0.8.
        QTest::newRow("noisy") << QList<double>{1, 2, 3, 4} << QList<double>{4, 5, 8, 9}
                               << QList<double>{4, 1.8, 2, std::sqrt(0.8 / 2 / 5), 1 - 0.8 / 17};
        QTest::newRow("two points have no error")
            << QList<double>{1, 3} << QList<double>{2, 8} << QList<double>{2, 3, -1, 0, 1};
        QTest::newRow("one x") << QList<double>{2, 2} << QList<double>{1, 3} << QList<double>{0, 0, 0, 0, 0};
        QTest::newRow("nothing") << QList<double>{} << QList<double>{} << QList<double>{0, 0, 0, 0, 0};
    }
    void fits() {
        QFETCH(QList<double>, x);
        QFETCH(QList<double>, y);
        QFETCH(QList<double>, expected);
        const LineFit fit = fit_line({x.constData(), static_cast<std::size_t>(x.size())},
                                     {y.constData(), static_cast<std::size_t>(y.size())});
        QCOMPARE(static_cast<double>(fit.n), expected[0]);
        QVERIFY(std::abs(fit.slope - expected[1]) < 1e-12);
        QVERIFY(std::abs(fit.intercept - expected[2]) < 1e-12);
        QVERIFY(std::abs(fit.slope_error - expected[3]) < 1e-12);
        QVERIFY(std::abs(fit.r_squared - expected[4]) < 1e-12);
    }

    void a_power_law_has_its_exponent_as_slope() {
        std::vector<double> n;
        std::vector<double> time;
        for (double i = 1; i < 1000; i *= 2) {
            n.push_back(i);
            time.push_back(3 * std::pow(i, 1.75));
        }
        n.push_back(0);  // has no logarithm
        time.push_back(1);
        const LineFit fit = fit_power(n, time);
        QCOMPARE(fit.n, std::size_t{10});
        QVERIFY(std::abs(fit.slope - 1.75) < 1e-12);
        QVERIFY(std::abs(std::exp(fit.intercept) - 3) < 1e-9);
    }

    void samples_stay_as_they_were() {
        const std::vector<double> samples{3, 1, 2};
        QCOMPARE(summarize(samples).median, 2.0);
        QCOMPARE(samples, (std::vector<double>{3, 1, 2}));
    }
};

QTEST_APPLESS_MAIN(StatisticsTest)
#include "tst_statistics.moc"
