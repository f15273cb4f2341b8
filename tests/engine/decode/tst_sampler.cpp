// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "engine/core/random.h"
#include "engine/decode/sampler.h"
#include "engine/formats/safetensors.h"
#include "engine/measure/allocation_count.h"

using namespace decodescope;

namespace {

template <class T>
std::vector<T> read_tensor(const SafetensorsFile& file, const char* name) {
    const SafetensorsEntry* entry = file.find(name);
    if (entry == nullptr) return {};
    std::vector<T> values(static_cast<std::size_t>(entry->size() / sizeof(T)));
    if (!file.read(*entry, 0, std::as_writable_bytes(std::span(values)))) values.clear();
    return values;
}

std::vector<float> random_logits(int vocab, std::uint64_t stream, float scale = 1) {
    std::vector<float> logits(static_cast<std::size_t>(vocab));
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = scale * random_normal(5, stream, i);
    return logits;
}

const Sampling sample{.kind = SamplingKind::sample};

}  // namespace

class TestSampler : public QObject {
    Q_OBJECT

private slots:
    void greedyTakesTheFirstOfEquals() {
        const std::vector<float> logits{0.5f, 2.0f, 2.0f, -1.0f};
        QCOMPARE(*Sampler({}).choose(logits, 0, {}), 1);
    }

    void sampledFrequenciesFollowTheDistribution_data() {
        QTest::addColumn<double>("temperature");
        QTest::addColumn<int>("topK");
        QTest::addColumn<double>("topP");
        QTest::addColumn<double>("minP");
        QTest::addColumn<double>("penalty");
        QTest::addColumn<QList<double>>("expected");  // computed here by hand from e^(logit / temperature)
        const double hot[] = {std::exp(1 / 0.7), std::exp(0.0), std::exp(2 / 0.7), std::exp(-3 / 0.7)};
        const double plain[] = {std::exp(1.0), std::exp(0.0), std::exp(2.0), std::exp(-3.0)};
        // Tokens 2 and 3 are in the history: 2 / 1.25 and -3 x 1.25
        const double punished[] = {std::exp(1.0), std::exp(0.0), std::exp(1.6), std::exp(-3.75)};
        const auto row = [](const char* name, double temperature, int k, double p, double m, double penalty,
                            const double(&weight)[4], int kept) {
            // Falling order of these logits: 2, 0, 1, 3
            const std::size_t order[] = {2, 0, 1, 3};
            double sum = 0;
            for (int i = 0; i < kept; ++i) sum += weight[order[i]];
            QList<double> expected(4, 0.0);
            for (int i = 0; i < kept; ++i) {
                expected[static_cast<qsizetype>(order[i])] = weight[order[i]] / sum;
            }
            QTest::newRow(name) << temperature << k << p << m << penalty << expected;
        };
        row("all", 1, 0, 1, 0, 1, plain, 4);
        row("temperature", 0.7, 0, 1, 0, 1, hot, 4);
        row("top 3", 0.7, 3, 1, 0, 1, hot, 3);
        row("top 1", 0.7, 1, 1, 0, 1, hot, 1);
        row("top 9 of 4", 0.7, 9, 1, 0, 1, hot, 4);
        row("top-p 0.5 needs one", 1, 0, 0.5, 0, 1, plain, 1);    // 0.662
        row("top-p 0.8 needs two", 1, 0, 0.8, 0, 1, plain, 2);    // 0.906
        row("top-p after top-k", 1, 2, 0.74, 0, 1, plain, 2);     // 0.731 of the two
        row("min-p keeps one third", 1, 0, 1, 0.3, 1, plain, 2);  // e^-1 = 0.368, e^-2 = 0.135
        row("min-p after top-p", 1, 0, 0.9999, 0.1, 1, plain, 3);
        row("penalty", 1, 0, 1, 0, 1.25, punished, 4);
    }
    void sampledFrequenciesFollowTheDistribution() {
        QFETCH(double, temperature);
        QFETCH(int, topK);
        QFETCH(double, topP);
        QFETCH(double, minP);
        QFETCH(double, penalty);
        QFETCH(QList<double>, expected);
        const std::vector<float> logits{1.0f, 0.0f, 2.0f, -3.0f};
        const std::vector<std::int32_t> history{3, 2, 3, 3};
        Sampler sampler({SamplingKind::sample, temperature, topK, 11, topP, minP, penalty});
        std::vector<double> distribution(4);
        QVERIFY(sampler.distribution(logits, history, distribution));
        constexpr int n = 20000;
        std::vector<int> count(logits.size(), 0);
        for (int i = 0; i < n; ++i) {
            ++count[static_cast<std::size_t>(*sampler.choose(logits, i, history))];
        }
        for (std::size_t i = 0; i < 4; ++i) {
            const double p = expected[static_cast<qsizetype>(i)];
            QVERIFY2(std::abs(distribution[i] - p) < 1e-7, qPrintable(QString::number(distribution[i])));
            // Five standard deviations; the stream is fixed, so this never flickers.
            QVERIFY2(std::abs(count[i] - n * p) <= 5 * std::sqrt(n * p * (1 - p)),
                     qPrintable(QString::number(count[i])));
        }
    }

    void theStreamDependsOnSeedAndIndexAlone() {
        const std::vector<float> logits{0.1f, 0.2f, 0.3f, 0.4f, 0.5f};
        Sampler a({SamplingKind::sample, 1.0, 0, 7});
        Sampler b({SamplingKind::sample, 1.0, 0, 7});
        Sampler other({SamplingKind::sample, 1.0, 0, 8});
        int differ = 0;
        for (int index = 63; index >= 0; --index) {
            QCOMPARE(*a.choose(logits, index, {}), *b.choose(logits, index, {}));
            differ += *a.choose(logits, index, {}) != *other.choose(logits, index, {});
        }
        QVERIFY(differ > 10);
    }

    /// Texts of the demo depend on these; they are the numbers of the version that knew one request only.
    void theFirstRequestKeepsItsStream() {
        for (std::int64_t index : {0, 1, 399}) {
            QCOMPARE(Sampler({SamplingKind::sample, 0.8, 40, 1816}).uniform(index),
                     random_uniform(1816, 0x73616d706c65, static_cast<std::uint64_t>(index)));
        }
    }

    void requestsAndUsesHaveStreamsOfTheirOwn() {
        std::set<double> numbers;
        for (int request : {0, 1, 2, 255}) {
            const Sampler sampler(sample, request);
            for (std::uint64_t use : {0, 1, 2}) {
                for (std::int64_t index = 0; index < 50; ++index) numbers.insert(sampler.uniform(index, use));
            }
        }
        QCOMPARE(numbers.size(), std::size_t{4 * 3 * 50});
        QVERIFY(*numbers.begin() >= 0 && *numbers.rbegin() < 1);
        const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / 600;
        QVERIFY(std::abs(mean - 0.5) < 5 * std::sqrt(1.0 / 12 / 600));

        const auto logits = random_logits(30, 1);
        Sampler first(sample, 0), second(sample, 1);
        int differ = 0;
        for (int i = 0; i < 60; ++i) differ += *first.choose(logits, i, {}) != *second.choose(logits, i, {});
        QVERIFY(differ > 20);
    }

    void ofEqualsTheLowerIdsAreKept() {
        const std::vector<float> logits{1, 3, 1, 1, 3, 1};
        std::vector<double> distribution(6);
        Sampler three({SamplingKind::sample, 1.0, 3, 0});
        QVERIFY(three.distribution(logits, {}, distribution));
        for (std::size_t i = 0; i < 6; ++i) QCOMPARE(distribution[i] > 0, i == 0 || i == 1 || i == 4);
        Sampler nucleus({.kind = SamplingKind::sample, .top_p = 0.3});
        QVERIFY(nucleus.distribution(logits, {}, distribution));
        QCOMPARE(distribution, (std::vector<double>{0, 1, 0, 0, 0, 0}));
        Sampler ratio({.kind = SamplingKind::sample, .min_p = 1 - 1e-12});
        QVERIFY(ratio.distribution(logits, {}, distribution));
        QCOMPARE(distribution, (std::vector<double>{0, 0.5, 0, 0, 0.5, 0}));
    }

    void thePenaltyHoldsForGreedyToo() {
        const std::vector<float> logits{2.0f, 1.8f, -0.5f, -0.6f};
        Sampler penalised({.repetition_penalty = 1.2});
        QCOMPARE(*penalised.choose(logits, 0, {}), 0);
        const std::vector<std::int32_t> said{0, 0, 0};
        QCOMPARE(*penalised.choose(logits, 1, said), 1);  // 2 / 1.2 once, not three times
        std::vector<double> distribution(4);
        QVERIFY(penalised.distribution(logits, said, distribution));
        QCOMPARE(distribution, (std::vector<double>{0, 1, 0, 0}));
        QCOMPARE(*penalised.choose(logits, 2, {}), 0);  // nothing is left over from the call before
        const std::vector<float> negative{-0.5f, -0.55f};
        QCOMPARE(*penalised.choose(negative, 0, std::vector<std::int32_t>{0}), 1);
        Sampler extreme({.repetition_penalty = 1e-300});
        QCOMPARE(*extreme.choose(logits, 0, std::vector<std::int32_t>{1}), 1);
    }

    /// The lazily sorted order gives the token that a full sort gives.
    void largeVocabulary_data() {
        QTest::addColumn<double>("temperature");
        QTest::addColumn<int>("topK");
        QTest::addColumn<double>("topP");
        QTest::addColumn<double>("minP");
        QTest::newRow("all") << 1.0 << 0 << 1.0 << 0.0;
        QTest::newRow("flat") << 50.0 << 0 << 1.0 << 0.0;
        QTest::newRow("top-k") << 2.0 << 40 << 1.0 << 0.0;
        QTest::newRow("top-p") << 2.0 << 0 << 0.95 << 0.0;
        QTest::newRow("min-p") << 2.0 << 0 << 1.0 << 0.05;
        QTest::newRow("all three") << 2.0 << 3000 << 0.9 << 0.01;
    }
    void largeVocabulary() {
        QFETCH(double, temperature);
        QFETCH(int, topK);
        QFETCH(double, topP);
        QFETCH(double, minP);
        const auto logits = random_logits(50257, 2, 3);
        std::vector<std::size_t> order(logits.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
        Sampler sampler({SamplingKind::sample, temperature, topK, 3, topP, minP});
        sampler.reserve(50257);
        std::vector<double> distribution(logits.size());
        QVERIFY(sampler.distribution(logits, {}, distribution));
        QVERIFY(std::abs(std::accumulate(distribution.begin(), distribution.end(), 0.0) - 1) < 1e-9);
        for (int index = 0; index < 16; ++index) {
            double left = sampler.uniform(index);
            std::size_t rank = 0;
            while ((left -= distribution[order[rank]]) >= 1e-12) ++rank;
            if (left > -1e-12) continue;  // the number lies on a border
            QCOMPARE(*sampler.choose(logits, index, {}), static_cast<std::int32_t>(order[rank]));
        }
    }

    void nothingIsAllocatedOnceThereIsRoom_data() {
        QTest::addColumn<int>("topK");
        QTest::addColumn<double>("topP");
        QTest::addColumn<double>("minP");
        QTest::addColumn<bool>("greedy");
        QTest::newRow("all") << 0 << 1.0 << 0.0 << false;
        QTest::newRow("top-k") << 40 << 1.0 << 0.0 << false;
        QTest::newRow("top-p") << 0 << 0.9 << 0.0 << false;
        QTest::newRow("min-p") << 0 << 1.0 << 0.1 << false;
        QTest::newRow("all three") << 300 << 0.9 << 0.1 << false;
        QTest::newRow("greedy") << 0 << 1.0 << 0.0 << true;
    }
    void nothingIsAllocatedOnceThereIsRoom() {
        QFETCH(int, topK);
        QFETCH(double, topP);
        QFETCH(double, minP);
        QFETCH(bool, greedy);
        constexpr int vocab = 2000;
        const auto logits = random_logits(vocab, 3, 2);
        const std::vector<std::int32_t> history{1, 2, 3, 1999};
        Sampler sampler(
            {greedy ? SamplingKind::greedy : SamplingKind::sample, 1.0, topK, 3, topP, minP, 1.1});
        const std::int64_t unready = read_allocation_count();
        if (unready < 0) QSKIP("the sanitizers count for themselves");
        sampler.reserve(vocab);
        const std::int64_t before = read_allocation_count();
        QVERIFY(before > unready);  // the counter counts
        bool chosen = true;
        for (int index = 0; index < 20; ++index) chosen &= sampler.choose(logits, index, history).ok();
        const std::int64_t after = read_allocation_count();
        QVERIFY(chosen);
        QCOMPARE(after, before);
    }

    /// tests/data/make_goldens.py: what transformers' logits processors and warpers say.
    void filtersOfTransformers() {
        const auto opened = SafetensorsFile::open(DECODESCOPE_TEST_DATA "/sampling.safetensors");
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
        const SafetensorsFile& file = **opened;
        constexpr std::size_t vocab = 61, n_row = 4, longest = 24;
        const auto logits = read_tensor<float>(file, "logits");
        const auto history = read_tensor<std::int64_t>(file, "history");
        const auto settings = read_tensor<double>(file, "settings");
        const auto log_probs = read_tensor<float>(file, "log_probs");
        const std::size_t n_case = settings.size() / 5;
        QVERIFY(n_case >= 12);
        QCOMPARE(logits.size(), n_row * vocab);
        QCOMPARE(history.size(), n_row * longest);
        QCOMPARE(log_probs.size(), n_case * n_row * vocab);
        std::vector<double> distribution(vocab);
        for (std::size_t i = 0; i < n_case; ++i) {
            const double* s = &settings[5 * i];
            Sampler sampler({SamplingKind::sample, s[3], static_cast<int>(s[0]), 0, s[1], s[2], s[4]});
            for (std::size_t row = 0; row < n_row; ++row) {
                std::vector<std::int32_t> ids;
                for (std::size_t j = 0; j < longest && history[row * longest + j] >= 0; ++j) {
                    ids.push_back(static_cast<std::int32_t>(history[row * longest + j]));
                }
                QVERIFY(
                    sampler.distribution(std::span(logits).subspan(row * vocab, vocab), ids, distribution));
                for (std::size_t id = 0; id < vocab; ++id) {
                    const double expected = double{log_probs[(i * n_row + row) * vocab + id]};
                    // The reference computes in F32.
                    const bool same = std::isinf(expected)
                                          ? distribution[id] == 0
                                          : std::abs(std::log(distribution[id]) - expected) <=
                                                1e-6 * (10 + std::abs(expected));
                    QVERIFY2(same, qPrintable(QStringLiteral("case %1 row %2 token %3: %4, expected %5")
                                                  .arg(i)
                                                  .arg(row)
                                                  .arg(id)
                                                  .arg(std::log(distribution[id]))
                                                  .arg(expected)));
                }
            }
        }
    }

    void saysHowABackendIsToDraw() {
        const Sampler sampler({SamplingKind::sample, 0.7, 40, 11, 0.9, 0.05, 1}, 3);
        const std::optional<TokenDraw> draw = sampler.draw(12);
        QVERIFY(draw);
        QCOMPARE(draw->temperature, 0.7);
        QCOMPARE(draw->top_k, 40);
        QCOMPARE(draw->top_p, 0.9);
        QCOMPARE(draw->min_p, 0.05);
        QCOMPARE(draw->uniform, sampler.uniform(12));
        QVERIFY(!Sampler({}).draw(12));
        QVERIFY(!Sampler({SamplingKind::sample, 1, 0, 11, 1, 0, 1.1}).draw(12));
    }

    void takesWhatABackendHasFound_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("penalty");
        QTest::addColumn<int>("largest");
        QTest::addColumn<int>("drawn");
        QTest::addColumn<int>("expected");
        const int greedy = static_cast<int>(SamplingKind::greedy);
        const int drawing = static_cast<int>(SamplingKind::sample);
        // Token 1 is what both choose from these logits themselves; nobody but the backend says 0 or 2.
        QTest::newRow("greedy") << greedy << 1.0 << 0 << 2 << 0;
        QTest::newRow("greedy, not looked") << greedy << 1.0 << -1 << 2 << 1;
        QTest::newRow("greedy with penalty") << greedy << 1.1 << 0 << 2 << 1;
        QTest::newRow("sampled") << drawing << 1.0 << 0 << 2 << 2;
        QTest::newRow("sampled, not drawn") << drawing << 1.0 << 0 << -1 << 1;
        QTest::newRow("sampled with penalty") << drawing << 1.1 << 0 << 2 << 1;
    }
    void takesWhatABackendHasFound() {
        QFETCH(int, kind);
        QFETCH(double, penalty);
        QFETCH(int, largest);
        QFETCH(int, drawn);
        QFETCH(int, expected);
        const std::vector<float> logits{0.0f, 90.0f, 1.0f};
        Sampler sampler({static_cast<SamplingKind>(kind), 1, 0, 11, 1, 0, penalty});
        QCOMPARE(*sampler.choose(logits, 0, {}, {largest, drawn}), expected);
    }

    void historyOutsideTheVocabulary_data() {
        QTest::addColumn<int>("id");
        QTest::newRow("negative") << -1;
        QTest::newRow("behind the last") << 3;
    }
    void historyOutsideTheVocabulary() {
        QFETCH(int, id);
        const std::vector<float> logits{0.0f, 2.0f, 1.0f};
        const std::vector<std::int32_t> history{1, id};
        Sampler sampler({.repetition_penalty = 1.1});
        const auto token = sampler.choose(logits, 2, history);
        QVERIFY(!token);
        QCOMPARE(QString::fromStdString(token.error().message),
                 QString("Step 2: token %1 of the text is outside the vocabulary of 3.").arg(id));
        // The failed call leaves nothing behind.
        QCOMPARE(*sampler.choose(logits, 2, std::vector<std::int32_t>{0}), 1);
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
        const auto token = Sampler({}).choose(logits, 4, {});
        QVERIFY(!token);
        QCOMPARE(token.error().kind, ErrorKind::non_finite);
        QVERIFY(QString::fromStdString(token.error().message).startsWith("Step 4: the logit of token 1"));
        std::vector<double> distribution(3);
        QVERIFY(!Sampler(sample).distribution(logits, {}, distribution));
        QVERIFY(!Sampler({}).choose({}, 0, {}));
    }
};

QTEST_APPLESS_MAIN(TestSampler)
#include "tst_sampler.moc"
