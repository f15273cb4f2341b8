// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>

#include "engine/plan/counting_backend.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using test::Trail;

namespace {

/// What `DrawingBackend` draws: nothing that follows from logits, so that it shows who has chosen.
std::int32_t token_of(const TokenDraw& draw) {
    return static_cast<std::int32_t>(draw.uniform * 60) + 2;
}

/// Computes on the processor, and draws tokens as a GPU may.
class DrawingBackend final : public CountingBackend {
public:
    using CountingBackend::CountingBackend;

    Result<void> begin_call(const ForwardCall& call) override {
        if (call.draws.size() != (call.draws.empty() ? 0 : call.logit_rows.size())) ++n_odd_;
        return CountingBackend::begin_call(call);
    }
    void draw(const ForwardCall& call, const float*, float* scratch, std::int32_t* drawn) override {
        std::fill_n(scratch, draw_floats(std::ssize(call.draws), 0), 1.0f);
        for (std::size_t i = 0; i < call.draws.size(); ++i) drawn[i] = misses_ ? -1 : token_of(call.draws[i]);
        n_drawn_ += std::ssize(call.draws);
    }
    std::int64_t draw_floats(std::int64_t rows, int) const override { return 100000 * rows; }

    /// It finds from now on that logits are not finite.
    void miss() { misses_ = true; }
    std::int64_t n_drawn() const { return n_drawn_; }
    int n_odd() const { return n_odd_; }

private:
    bool misses_ = false;
    std::int64_t n_drawn_ = 0;
    int n_odd_ = 0;  // calls with some draws, but not one for every row of logits
};

class Watcher final : public CallObserver {
public:
    void called(const SeenCall&) override {}
};

const Sampling sampling{SamplingKind::sample, 1.2, 30, 41, 0.95, 0, 1};
constexpr int n_new = 7;

Workload arriving_requests(const Sampling& how) {
    Workload workload =
        test::work_of({test::prompt_of_3, test::prompt_of_7, test::repeating, test::prompt_of_3}, n_new, how);
    workload.requests[2].arrival_step = 2;
    workload.requests[3].arrival_step = 3;
    return workload;
}

}  // namespace

class TestDrawnTokens : public QObject {
    Q_OBJECT

    test::LaneFixture fixture_;
    std::unique_ptr<DrawingBackend> backend_;

    Trail follow(const LaneSpec& spec, const Sampling& how, Backend& backend, bool watched = false) {
        Watcher watcher;
        auto lane = make_lane(spec, {fixture_.weights, nullptr, &backend, fixture_.ledger});
        if (!lane) {
            Trail trail;
            trail.error = lane.error().message;
            return trail;
        }
        if (watched) (*lane)->observe(&watcher);
        return test::follow(**lane, arriving_requests(how));
    }

private slots:
    void init() { backend_ = std::make_unique<DrawingBackend>(*fixture_.backend); }

    // Number k of a request's answer is drawn by its own number k, whatever else is in the call.
    void lanesTakeWhatWasDrawn_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<int>("chunk");
        for (const char* lane : {"naive", "static", "paged", "batch", "batch-right", "batch-packed",
                                 "naive-batch", "continuous"}) {
            for (const int chunk : {0, 3})
                QTest::addRow("%s, chunks of %d", lane, chunk) << QString(lane) << chunk;
        }
    }
    void lanesTakeWhatWasDrawn() {
        QFETCH(QString, lane);
        QFETCH(int, chunk);
        LaneSpec spec = test::named(lane.toStdString());
        spec.prefill_chunk = chunk;
        if (spec.batching == Batching::continuous) spec.max_rows = 3;
        const Trail trail = follow(spec, sampling, *backend_);
        QCOMPARE(trail.error, std::string());
        for (std::size_t request = 0; request < trail.tokens.size(); ++request) {
            std::vector<std::int32_t> expected;
            const Sampler sampler(sampling, static_cast<int>(request));
            for (int k = 0; k < n_new; ++k) expected.push_back(token_of(*sampler.draw(k)));
            QCOMPARE(trail.tokens[request], expected);
        }
        QCOMPARE(backend_->n_drawn(), std::int64_t{4 * n_new});
        QCOMPARE(backend_->n_odd(), 0);
        // Room for it was made beforehand.
        const Trail greedy = follow(spec, {}, *backend_);
        QCOMPARE(trail.steps.size(), greedy.steps.size());
        for (std::size_t i = 0; i < trail.steps.size(); ++i)
            QCOMPARE(trail.steps[i].tensor_allocations, greedy.steps[i].tensor_allocations);
    }

    // The sampler chooses as if there were no such backend.
    void otherwiseTheyChooseThemselves_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<bool>("greedy");
        QTest::addColumn<double>("penalty");
        QTest::addColumn<bool>("watched");
        QTest::addColumn<bool>("misses");
        for (const char* lane : {"static", "batch", "continuous"}) {
            const auto row = [&](const char* why, bool greedy, double penalty, bool watched, bool misses) {
                QTest::addRow("%s, %s", lane, why) << QString(lane) << greedy << penalty << watched << misses;
            };
            row("greedy", true, 1, false, false);
            row("repetition penalty", false, 1.2, false, false);
            row("watched", false, 1, true, false);
            row("nothing drawn", false, 1, false, true);
        }
        QTest::addRow("speculative") << QString("speculative") << false << 1.0 << false << false;
    }
    void otherwiseTheyChooseThemselves() {
        QFETCH(QString, lane);
        QFETCH(bool, greedy);
        QFETCH(double, penalty);
        QFETCH(bool, watched);
        QFETCH(bool, misses);
        Sampling how = greedy ? Sampling{} : sampling;
        how.repetition_penalty = penalty;
        const LaneSpec spec = test::named(lane.toStdString());
        if (misses) backend_->miss();
        const Trail trail = follow(spec, how, *backend_, watched);
        const Trail reference = follow(spec, how, *fixture_.backend);
        QCOMPARE(trail.error, std::string());
        QCOMPARE(trail.tokens, reference.tokens);
        QCOMPARE(backend_->n_drawn() > 0, misses);
    }
};

QTEST_APPLESS_MAIN(TestDrawnTokens)
#include "tst_drawn_tokens.moc"
