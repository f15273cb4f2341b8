// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <numeric>

#include "engine/verify/trace_recorder.h"
#include "tests/engine/verify/healthy_lanes.h"
#include "tests/engine/verify/trace_truth.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

Result<Trace> record(LaneFixture& fixture, const LaneSpec& spec, const Workload& workload,
                     RecordOptions options = {}) {
    return record_trace(spec, workload, {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger},
                        nullptr, std::move(options));
}

}  // namespace

class TestTraceRecorder : public QObject {
    Q_OBJECT

private slots:
    // Every token's logits are those of a recomputation from the text that the trace says it belongs to.
    void healthyLanesAreWhatTheyWereMeantToBe_data() {
        add_healthy_lanes({"tiny", "tiny-llama", "tiny-window"});
    }
    void healthyLanesAreWhatTheyWereMeantToBe() {
        QFETCH(QString, preset);
        QFETCH(QString, name);
        QFETCH(int, chunk);
        LaneFixture fixture(64, preset.toStdString());
        const LaneSpec spec = healthy_lane(name, chunk);
        const auto trace = record(fixture, spec, work_of({prompt_of_7, prompt_of_3, repeating}, 6));
        QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
        QVERIFY(!trace->calls.empty());
        QCOMPARE(trace->vocab, fixture.weights->config.vocab);
        const Window window = effective_window(spec.window, fixture.weights->config.window);
        TraceTruth truth(fixture.weights, *fixture.backend, fixture.ledger);
        int n_checked = 0;
        for (int c = 0; c < static_cast<int>(trace->calls.size()); ++c) {
            const TraceCall& call = trace->calls[static_cast<std::size_t>(c)];
            QVERIFY(call.error.empty());
            for (int b = 0; b < call.batch; ++b) {
                const auto row = static_cast<std::size_t>(b);
                const auto fed = TraceTruth::fed(*trace, c, b);
                for (const double error : truth.errors(*trace, c, b, window)) {
                    QVERIFY2(error <= f32_error_limit,
                             qPrintable(QString("call %1 row %2: %3").arg(c).arg(b).arg(error)));
                    ++n_checked;
                }
                checkCounts(*trace, c, b, fed.size());
                checkPositions(call, b);
                const int column = call.logits_columns[row];
                const auto text = trace->texts.find(call.requests[row]);
                if (column < 0 || text == trace->texts.end() || !call.accepted.empty()) continue;
                // What was chosen from this row is what the text goes on with.
                std::vector<float> logits(static_cast<std::size_t>(trace->vocab));
                QVERIFY(trace->logits->read(c, b, column, logits));
                QCOMPARE(argmax(logits), text->second.ids[call.text_start[row] + fed.size()]);
            }
        }
        QVERIFY(n_checked > 12);
    }

    void speculationTellsWhatWasAccepted() {
        LaneFixture fixture;
        const auto trace = record(fixture, named("speculative-layers"), work_of({prompt_of_7}, 10));
        QVERIFY(trace);
        int n_accepted = 0;
        std::int64_t length = 7;
        for (std::size_t c = 1; c < trace->calls.size(); ++c) {
            const TraceCall& call = trace->calls[c];
            QCOMPARE(call.accepted.size(), std::size_t{1});
            // One pending token was certain; what was rejected is gone before the next call.
            QCOMPARE(call.cache_length_before[0], length);
            length += 1 + call.accepted[0];
            n_accepted += call.accepted[0];
        }
        QCOMPARE(static_cast<int>(trace->calls.size()) - 1 + n_accepted, 9);
    }

    void beamsHaveParents() {
        LaneFixture fixture;
        const auto trace = record(fixture, named("beam"), work_of({prompt_of_7}, 6));
        QVERIFY(trace);
        QVERIFY(trace->texts.empty());
        QCOMPARE(trace->calls[0].requests[0], std::string("A.1"));
        QCOMPARE(trace->calls[0].requests[1], std::string());
        QVERIFY(trace->calls[0].parents.empty());
        QCOMPARE(trace->calls[1].parents, Ids({0, 0, 0, 0}));
        QCOMPARE(trace->calls[1].requests[3], std::string("A.4"));
    }

    void padsAndMasks() {
        LaneFixture fixture;
        const auto trace = record(fixture, named("batch"), work_of({prompt_of_3, prompt_of_7}, 2));
        QVERIFY(trace);
        const TraceCall& prefill = trace->calls[0];
        QCOMPARE(prefill.width, 7);
        QCOMPARE(std::accumulate(prefill.real.begin(), prefill.real.begin() + 7, 0), 3);
        QCOMPARE(prefill.mask_columns, 7);
        QCOMPARE(std::accumulate(prefill.attention_mask.begin(), prefill.attention_mask.begin() + 7, 0), 3);
        QCOMPARE(prefill.position_ids[4], 0);
        QCOMPARE(prefill.cache_length_after, std::vector<std::int64_t>({7, 7}));
        QCOMPARE(trace->calls[1].position_ids, Ids({3, 7}));
        QCOMPARE(trace->calls[1].mask_columns, 8);
        QCOMPARE(trace->texts.at("A").prompt_length, 3);
        QCOMPARE(trace->texts.at("A").ids.size(), std::size_t{5});
    }

    void aFailedCallKeepsItsError() {
        LaneFixture fixture;
        LaneSpec spec = named("continuous");
        spec.cache.block = 4;
        spec.cache.blocks = 2;
        auto lane = fixture.lane(spec);
        TraceRecorder recorder;
        lane->observe(&recorder);
        QVERIFY(lane->start(work_of({prompt_of_7}, 2)));
        QVERIFY(*lane->ready());
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(!lane->step(stop.get_token()));
        const Trace trace = recorder.take(*lane);
        QCOMPARE(trace.calls.size(), std::size_t{1});
        QVERIFY(!trace.calls[0].error.empty());
        QCOMPARE(trace.calls[0].logits, LogitRows::none);
        QCOMPARE(trace.calls[0].cache_length_after, std::vector<std::int64_t>({0}));
    }

    void onlyWhatIsWantedIsKept() {
        LaneFixture fixture;
        const auto last = record(fixture, named("static"), work_of({prompt_of_7}, 3), {LogitRows::last, {}});
        const auto none = record(fixture, named("static"), work_of({prompt_of_7}, 3), {LogitRows::none, {}});
        const auto all = record(fixture, named("static"), work_of({prompt_of_7}, 3));
        QVERIFY(last && none && all);
        QVERIFY(none->logits == nullptr);
        std::vector<float> x(static_cast<std::size_t>(last->vocab)), y(x);
        QVERIFY(last->logits->read(0, 0, 0, x));
        QVERIFY(all->logits->read(0, 0, 6, y));
        QCOMPARE(x, y);
        QVERIFY(!last->logits->read(0, 0, 1, x));
        QVERIFY(!last->logits->read(9, 0, 0, x));
    }

private:
    static void checkCounts(const Trace& trace, int c, int b, std::size_t n_fed) {
        const TraceCall& call = trace.calls[static_cast<std::size_t>(c)];
        const auto row = static_cast<std::size_t>(b);
        if (call.cache_seen_after.empty()) {
            QCOMPARE(call.cache_length_after[row], std::int64_t{0});
            return;
        }
        const auto added = call.cache_seen_after[row] - call.cache_seen_before[row];
        QVERIFY(added >= static_cast<std::int64_t>(n_fed));
        QVERIFY(added <= call.width);
    }
    static void checkPositions(const TraceCall& call, int b) {
        std::int32_t expected = call.text_start[static_cast<std::size_t>(b)];
        for (int column = 0; column < call.width; ++column) {
            const auto cell = static_cast<std::size_t>(b * call.width + column);
            if (call.real[cell] != 0) QCOMPARE(call.position_ids[cell], expected++);
        }
    }
};

QTEST_APPLESS_MAIN(TestTraceRecorder)
#include "tst_trace_recorder.moc"
