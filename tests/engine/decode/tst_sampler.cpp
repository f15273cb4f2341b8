// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/decode/sampler.h"

using namespace decodescope;

class TestSampler : public QObject {
    Q_OBJECT

private slots:
    void greedyTakesTheFirstOfEquals() {
        const std::vector<float> logits{0.5f, 2.0f, 2.0f, -1.0f};
        QCOMPARE(*Sampler({}).choose(logits, 0), 1);
    }

    void sampledFrequenciesFollowTheSoftmax() {
        const std::vector<float> logits{1.0f, 0.0f, 2.0f, -3.0f};
        const Sampling sampling{SamplingKind::sample, 0.7, 3, 11};
        const Sampler sampler(sampling);
        constexpr int n = 20000;
        std::vector<int> count(logits.size(), 0);
        for (int i = 0; i < n; ++i) ++count[static_cast<std::size_t>(*sampler.choose(logits, i))];
        QCOMPARE(count[3], 0);  // outside the top 3
        const double weight[] = {std::exp(1 / 0.7), std::exp(0.0), std::exp(2 / 0.7)};
        const double sum = weight[0] + weight[1] + weight[2];
        for (std::size_t i = 0; i < 3; ++i) {
            const double p = weight[i] / sum;
            // Five standard deviations; the stream is fixed, so this never flickers.
            QVERIFY(std::abs(count[i] - n * p) < 5 * std::sqrt(n * p * (1 - p)));
        }
    }

    void theStreamDependsOnSeedAndStepAlone() {
        const std::vector<float> logits{0.1f, 0.2f, 0.3f, 0.4f, 0.5f};
        const Sampler a({SamplingKind::sample, 1.0, 0, 7});
        const Sampler b({SamplingKind::sample, 1.0, 0, 7});
        const Sampler other({SamplingKind::sample, 1.0, 0, 8});
        int differ = 0;
        for (int step = 63; step >= 0; --step) {
            QCOMPARE(*a.choose(logits, step), *b.choose(logits, step));
            differ += *a.choose(logits, step) != *other.choose(logits, step);
        }
        QVERIFY(differ > 10);
    }

    void topKOfOneIsGreedy() {
        const std::vector<float> logits{0.1f, 0.9f, 0.3f};
        for (int step = 0; step < 20; ++step) {
            QCOMPARE(*Sampler({SamplingKind::sample, 2.0, 1, 3}).choose(logits, step), 1);
        }
    }

    void nonFiniteLogitsAreAnOutcome_data() {
        QTest::addColumn<float>("bad");
        QTest::newRow("nan") << std::numeric_limits<float>::quiet_NaN();
        QTest::newRow("inf") << std::numeric_limits<float>::infinity();
        QTest::newRow("-inf") << -std::numeric_limits<float>::infinity();
    }
    void nonFiniteLogitsAreAnOutcome() {
        QFETCH(float, bad);
        const std::vector<float> logits{0.0f, bad, 1.0f};
        const auto token = Sampler({}).choose(logits, 4);
        QVERIFY(!token);
        QCOMPARE(token.error().kind, ErrorKind::non_finite);
        QVERIFY(QString::fromStdString(token.error().message).startsWith("Step 4: the logit of token 1"));
    }
};

QTEST_APPLESS_MAIN(TestSampler)
#include "tst_sampler.moc"
