// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>

#include "engine/decode/drafts.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

LaneSpec drafting(DraftKind kind, CacheKind cache = CacheKind::static_) {
    LaneSpec spec = named("speculative");
    spec.draft.kind = kind;
    spec.cache.kind = cache;
    return spec;
}

/// Upper 99.9 % point of the chi-squared distribution (Wilson and Hilferty 1931).
double chi_squared_limit(int degrees) {
    const double k = degrees;
    const double z = 3.0902;
    return k * std::pow(1 - 2 / (9 * k) + z * std::sqrt(2 / (9 * k)), 3);
}

}  // namespace

class TestSpeculativeLane : public QObject {
    Q_OBJECT

private slots:
    void lookup_data() {
        QTest::addColumn<QVector<int>>("text");
        QTest::addColumn<int>("ngram");
        QTest::addColumn<int>("n");
        QTest::addColumn<QVector<int>>("drafts");
        QTest::newRow("nothing before") << QVector<int>{1, 2} << 2 << 4 << QVector<int>{};
        QTest::newRow("no match") << QVector<int>{1, 2, 3, 4} << 2 << 4 << QVector<int>{};
        QTest::newRow("what followed") << QVector<int>{1, 2, 3, 4, 1, 2} << 2 << 2 << QVector<int>{3, 4};
        QTest::newRow("the newest match wins")
            << QVector<int>{1, 2, 7, 1, 2, 8, 9, 1, 2} << 2 << 2 << QVector<int>{8, 9};
        QTest::newRow("up to the end of the text") << QVector<int>{5, 5, 5} << 2 << 4 << QVector<int>{5};
        QTest::newRow("one token") << QVector<int>{4, 6, 4} << 1 << 4 << QVector<int>{6, 4};
        QTest::newRow("none wanted") << QVector<int>{4, 6, 4} << 1 << 0 << QVector<int>{};
    }
    void lookup() {
        QFETCH(QVector<int>, text);
        QFETCH(int, ngram);
        QFETCH(int, n);
        QFETCH(QVector<int>, drafts);
        Ids found;
        lookup_drafts(Ids(text.begin(), text.end()), ngram, n, found);
        QCOMPARE(found, Ids(drafts.begin(), drafts.end()));
    }

    void drawing() {
        const std::vector<double> weights{0, 1, 0, 3, 0};
        QCOMPARE(draw(weights, 0.0), 1);
        QCOMPARE(draw(weights, 0.2499), 1);
        QCOMPARE(draw(weights, 0.2501), 3);
        QCOMPARE(draw(weights, 0.999999), 3);
        QCOMPARE(draw(std::vector<double>{0, 0}, 0.5), -1);
    }

    void equalToPlainDecoding_data() {
        QTest::addColumn<DraftKind>("kind");
        QTest::addColumn<CacheKind>("cache");
        QTest::addColumn<int>("drafts");
        for (const DraftKind kind : {DraftKind::layers, DraftKind::ngram, DraftKind::model}) {
            for (const CacheKind cache : {CacheKind::static_, CacheKind::concat, CacheKind::paged}) {
                for (const int n : {1, 3, 8})
                    QTest::addRow("%s, %s, %d", to_string(kind), to_string(cache), n) << kind << cache << n;
            }
        }
    }
    void equalToPlainDecoding() {
        QFETCH(DraftKind, kind);
        QFETCH(CacheKind, cache);
        QFETCH(int, drafts);
        LaneFixture fixture;
        const std::vector<Ids> prompts{{3, 1, 4, 1, 5, 3, 1, 4}, {9, 9, 9}};
        const auto naive = fixture.lane(named("naive"));
        LaneSpec spec = drafting(kind, cache);
        spec.draft.tokens = drafts;
        // Another model of the same vocabulary, with a shorter context.
        ModelConfig config = *preset_config("tiny");
        config.n_positions = 30;
        const auto other = lively_weights(config, 77, fixture.ledger);
        for (const SamplingKind sampling : {SamplingKind::greedy, SamplingKind::sample}) {
            const Workload workload = work_of(prompts, 40, {sampling, 0.7, 0, 9});
            const Trail expected = follow(*naive, workload);
            const auto lane = fixture.lane(spec, kind == DraftKind::model ? other : nullptr);
            const Trail found = follow(*lane, workload);
            QVERIFY2(found.error.empty(), found.error.c_str());
            QCOMPARE(found.tokens, expected.tokens);
            QVERIFY(worst_error(found, expected) <= f32_error_limit);
        }
    }

    /// The model drafts for itself: every draft holds, every step makes drafts + 1 tokens.
    void aPerfectDraft() {
        LaneFixture fixture;
        LaneSpec spec = drafting(DraftKind::model);
        spec.draft.tokens = 4;
        const auto lane = fixture.lane(spec, fixture.weights);
        std::vector<int> made;
        int target = 0;
        int draft = 0;
        const Trail trail = follow(*lane, work_of({{3, 1, 4, 1, 5}}, 21), nullptr, [&](const LaneStep& step) {
            made.push_back(static_cast<int>(step.chosen.size()));
            target = lane->cache()->next_position();
            draft = lane->draft_cache()->next_position();
            for (std::size_t i = 0; i + 1 < step.chosen.size(); ++i) QVERIFY(step.chosen[i].drafted);
        });
        QCOMPARE(made, (std::vector<int>{1, 5, 5, 5, 5}));
        QCOMPARE(trail.accepted, std::int64_t{16});
        QCOMPARE(target, 5 + 20);
        QCOMPARE(draft, 5 + 19);  // the last draft is never fed to the draft model
        QCOMPARE(trail.steps[1].draft_positions_forwarded, std::int64_t{4});
        // After a step in which all held, the draft model has two tokens to catch up with.
        QCOMPARE(trail.steps[2].draft_positions_forwarded, std::int64_t{5});
    }

    /// Case S9 in a lane: after every step both caches hold exactly the text without what was chosen last.
    void bothCachesAreCutBack() {
        LaneFixture fixture;
        ModelConfig config = *preset_config("tiny");
        const auto other = lively_weights(config, 78, fixture.ledger);
        for (const CacheKind kind : {CacheKind::static_, CacheKind::paged, CacheKind::concat}) {
            LaneSpec spec = drafting(DraftKind::model, kind);
            const auto lane = fixture.lane(spec, other);
            bool rejected = false;
            follow(*lane, work_of({{3, 1, 4, 1, 5, 9}}, 30), nullptr, [&](const LaneStep& step) {
                const auto& state = lane->requests()[0];
                QCOMPARE(lane->cache()->length(), static_cast<int>(state.tokens.size()));
                QVERIFY(lane->draft_cache()->length() <= static_cast<int>(state.tokens.size()));
                QCOMPARE(static_cast<int>(step.chosen.size()),
                         step.phase == Phase::prefill ? 1 : step.n_accepted + 1);
                rejected = rejected || step.n_accepted < step.n_drafted;
            });
            QVERIFY(rejected);
        }
    }

    void draftsNeverOvershoot() {
        LaneFixture fixture;
        LaneSpec spec = drafting(DraftKind::model);
        spec.draft.tokens = 8;
        for (const int n : {1, 2, 3, 9, 10}) {
            const auto lane = fixture.lane(spec, fixture.weights);
            const Trail trail = follow(*lane, work_of({{3, 1, 4}}, n));
            QCOMPARE(trail.tokens[0].size(), static_cast<std::size_t>(n));
            QCOMPARE(lane->requests()[0].finish, FinishReason::length);
        }
        // The cache ends in the middle of a draft.
        spec.cache.capacity = 10;
        const auto lane = fixture.lane(spec, fixture.weights);
        const Trail trail = follow(*lane, work_of({{3, 1, 4}}, 20));
        QCOMPARE(trail.tokens[0].size(), std::size_t{8});
        QCOMPARE(lane->requests()[0].finish, FinishReason::capacity);
    }

    void badDrafts() {
        LaneFixture fixture;
        LaneSpec spec = drafting(DraftKind::layers);
        for (const int layers : {0, 2, 99}) {
            spec.draft.layers = layers;
            const auto refused =
                make_lane(spec, {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger});
            QVERIFY(!refused);
            QCOMPARE(refused.error().kind, ErrorKind::bad_input);
        }
        ModelConfig config = *preset_config("tiny");
        config.vocab = 65;
        const auto other = lively_weights(config, 1, fixture.ledger);
        const auto refused = make_lane(drafting(DraftKind::model),
                                       {fixture.weights, other, fixture.backend.get(), fixture.ledger});
        QVERIFY(!refused);
        QVERIFY(QString::fromStdString(refused.error().message)
                    .contains("the draft model's vocabulary has 65 tokens, expected the model's 64"));
    }

    /// Rejection sampling over a tiny vocabulary: the answers are distributed as the target's. The exact
    /// probabilities of all answers of three tokens come from forward passes without a cache.
    void rejectionKeepsTheDistribution_data() {
        QTest::addColumn<DraftKind>("kind");
        QTest::addColumn<int>("top_k");
        QTest::newRow("draft model") << DraftKind::model << 0;
        QTest::newRow("draft model, top-k 3") << DraftKind::model << 3;
        QTest::newRow("n-gram") << DraftKind::ngram << 0;
        QTest::newRow("first layer") << DraftKind::layers << 0;
    }
    void rejectionKeepsTheDistribution() {
        QFETCH(DraftKind, kind);
        QFETCH(int, top_k);
        constexpr int vocab = 5;
        constexpr int n_new = 3;
        constexpr int n_run = 8000;
        ModelConfig config = *preset_config("tiny");
        config.vocab = vocab;
        config.n_positions = 16;
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto backend = make_cpu_backend(1);
        const auto weights = lively_weights(config, 3, ledger);
        const auto other = lively_weights(config, 4, ledger);
        const Ids prompt{1, 3, 1, 2, 1, 3};
        Sampling sampling{SamplingKind::sample, 1.5, top_k, 0};

        // p(answer) by the chain rule.
        std::vector<double> expected(vocab * vocab * vocab, 1.0);
        Workspace workspace(ledger);
        Sampler sampler(sampling);
        for (int prefix = 0; prefix < vocab * vocab; ++prefix) {
            Ids text = prompt;
            text.push_back(prefix / vocab);
            text.push_back(prefix % vocab);
            CallTokens call;
            call.add_row(text, 0);
            const auto rows = all_rows(call);
            const auto out = forward(*weights, call, rows, nullptr, {}, workspace, *backend);
            QVERIFY(out);
            double p[n_new][vocab];
            for (int i = 0; i < n_new; ++i) {
                const auto at = static_cast<std::size_t>((static_cast<int>(prompt.size()) - 1 + i) * vocab);
                QVERIFY(sampler.distribution(out->logits.subspan(at, vocab), text, p[i]));
            }
            for (int last = 0; last < vocab; ++last) {
                expected[static_cast<std::size_t>(prefix * vocab + last)] =
                    p[0][prefix / vocab] * p[1][prefix % vocab] * p[2][last];
            }
        }

        LaneSpec spec = drafting(kind);
        spec.draft.acceptance = Acceptance::rejection;
        spec.draft.tokens = 2;
        spec.draft.ngram = 1;
        const auto lane =
            *make_lane(spec, {weights, kind == DraftKind::model ? other : nullptr, backend.get(), ledger});
        std::vector<int> count(expected.size(), 0);
        std::int64_t accepted = 0;
        std::int64_t steps = 0;
        for (int run = 0; run < n_run; ++run) {
            sampling.seed = static_cast<std::uint64_t>(run);
            const Trail trail = follow_one(*lane, prompt, n_new, sampling);
            const Ids& t = trail.tokens[0];
            QCOMPARE(t.size(), std::size_t{n_new});
            ++count[static_cast<std::size_t>((t[0] * vocab + t[1]) * vocab + t[2])];
            accepted += trail.accepted;
            steps += static_cast<std::int64_t>(trail.steps.size());
        }
        // Both outcomes of a draft must have been met, or the test would show nothing.
        QVERIFY(accepted > n_run / 20);
        QVERIFY(steps > 2 * n_run + n_run / 20);

        // Rare answers are counted together.
        double statistic = 0;
        double rare_expected = 0;
        int rare_count = 0;
        int cells = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double e = expected[i] * n_run;
            if (e < 5) {
                rare_expected += e;
                rare_count += count[i];
                continue;
            }
            statistic += (count[i] - e) * (count[i] - e) / e;
            ++cells;
        }
        if (rare_expected >= 5) {
            statistic += (rare_count - rare_expected) * (rare_count - rare_expected) / rare_expected;
            ++cells;
        }
        QVERIFY(cells > 5);
        QVERIFY2(statistic < chi_squared_limit(cells - 1),
                 qPrintable(QString("chi squared %1 for %2 cells").arg(statistic).arg(cells)));
    }
};

QTEST_APPLESS_MAIN(TestSpeculativeLane)
#include "tst_speculative_lane.moc"
