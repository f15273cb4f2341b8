// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>

#include "engine/decode/beam_lane.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// log softmax of the last row of `text`, without a cache.
std::vector<double> log_probabilities(const LaneFixture& fixture, const Ids& text) {
    Workspace workspace(fixture.ledger);
    CallTokens call;
    call.add_row(text, 0);
    const auto out =
        forward(*fixture.weights, call, last_rows(call), nullptr, {}, workspace, *fixture.backend);
    std::vector<double> p(out->logits.begin(), out->logits.end());
    const double largest = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (const double x : p) sum += std::exp(x - largest);
    for (double& x : p) x -= largest + std::log(sum);
    return p;
}

struct Hypothesis {
    Ids tokens;
    double score = 0;
    bool ended = false;
};

/// Beam search over whole texts: every hypothesis is forwarded from its beginning at every step.
Hypothesis slow_beam_search(const LaneFixture& fixture, const Ids& prompt, int n_new, int width, int stop) {
    std::vector<Hypothesis> beams{{}};
    std::vector<Hypothesis> ended;
    for (int step = 0; step < n_new && !beams.empty(); ++step) {
        std::vector<Hypothesis> all;
        for (const Hypothesis& beam : beams) {
            Ids text = prompt;
            text.insert(text.end(), beam.tokens.begin(), beam.tokens.end());
            const auto p = log_probabilities(fixture, text);
            for (std::size_t token = 0; token < p.size(); ++token) {
                all.push_back(beam);
                all.back().tokens.push_back(static_cast<std::int32_t>(token));
                all.back().score += p[token];
            }
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const Hypothesis& x, const Hypothesis& y) { return x.score > y.score; });
        beams.clear();
        for (std::size_t i = 0; i < std::min(all.size(), static_cast<std::size_t>(2 * width)); ++i) {
            if (all[i].tokens.back() == stop) {
                if (static_cast<int>(i) < width) ended.push_back(all[i]);
            } else if (static_cast<int>(beams.size()) < width) {
                beams.push_back(all[i]);
            }
        }
    }
    ended.insert(ended.end(), beams.begin(), beams.end());
    return *std::max_element(ended.begin(), ended.end(),
                             [](const Hypothesis& x, const Hypothesis& y) { return x.score < y.score; });
}

}  // namespace

class TestBeamLane : public QObject {
    Q_OBJECT

private slots:
    void sameAsWholeTexts_data() {
        QTest::addColumn<int>("beams");
        QTest::addColumn<CacheKind>("cache");
        QTest::addColumn<int>("chunk");
        QTest::addColumn<bool>("stop");
        for (const CacheKind cache : {CacheKind::static_, CacheKind::concat, CacheKind::paged}) {
            for (const int beams : {2, 3, 5})
                QTest::addRow("%s, %d beams", to_string(cache), beams) << beams << cache << 0 << false;
        }
        QTest::newRow("prefill in chunks") << 4 << CacheKind::paged << 3 << false;
        QTest::newRow("with a stop token") << 4 << CacheKind::static_ << 0 << true;
    }
    void sameAsWholeTexts() {
        QFETCH(int, beams);
        QFETCH(CacheKind, cache);
        QFETCH(int, chunk);
        QFETCH(bool, stop);
        LaneFixture fixture;
        const Ids prompt{3, 1, 4, 1, 5};
        LaneSpec spec = named("beam");
        spec.beams = beams;
        spec.cache.kind = cache;
        spec.cache.block = 4;
        spec.prefill_chunk = chunk;
        Workload workload = work_of({prompt}, 8);
        int stop_id = -1;
        if (stop) {
            // A token that the best answer comes upon on the way.
            stop_id = slow_beam_search(fixture, prompt, 8, beams, -1).tokens[3];
            workload.stop_ids = {stop_id};
        }
        const Hypothesis expected = slow_beam_search(fixture, prompt, 8, beams, stop_id);
        const auto lane = fixture.lane(spec);
        const Trail trail = follow(*lane, workload);
        QVERIFY2(trail.error.empty(), trail.error.c_str());
        QCOMPARE(trail.tokens[0], expected.tokens);
        QVERIFY(std::abs(static_cast<BeamLane&>(*lane).best_score() - expected.score) < 1e-3);
        const bool ends = expected.tokens.back() == stop_id;
        QCOMPARE(lane->requests()[0].finish, ends ? FinishReason::stop_token : FinishReason::length);
        QCOMPARE(trail.forwarded, std::int64_t{5 + 7 * beams});
    }

    void atLeastAsGoodAsGreedy() {
        LaneFixture fixture;
        const Ids prompt{7, 7, 2};
        const auto greedy = fixture.lane(named("static"));
        const Trail trail = follow_one(*greedy, prompt, 10);
        double score = 0;
        Ids text = prompt;
        for (const std::int32_t token : trail.tokens[0]) {
            score += log_probabilities(fixture, text)[static_cast<std::size_t>(token)];
            text.push_back(token);
        }
        LaneSpec spec = named("beam");
        spec.beams = 8;
        const auto lane = fixture.lane(spec);
        follow_one(*lane, prompt, 10);
        QVERIFY(static_cast<BeamLane&>(*lane).best_score() >= score - 1e-3);
    }

    void requestsFollowEachOther() {
        LaneFixture fixture;
        const auto lane = fixture.lane(named("beam"));
        const Trail together = follow(*lane, work_of({{3, 1, 4}, {1, 5}, {3, 1, 4}}, 6));
        QCOMPARE(together.tokens[0], together.tokens[2]);
        QCOMPARE(follow_one(*lane, {1, 5}, 6).tokens[0], together.tokens[1]);
    }
};

QTEST_APPLESS_MAIN(TestBeamLane)
#include "tst_beam_lane.moc"
