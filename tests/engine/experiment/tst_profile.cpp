// SPDX-License-Identifier: GPL-3.0-or-later
// The instrumented pass: spans nest and cover what they say, for every kind of lane; it leaves nothing
// behind.
#include <QTest>

#include <map>

#include "engine/experiment/profile.h"
#include "engine/experiment/runner.h"
#include "tests/engine/experiment/random_prompts.h"

using namespace decodescope;

class ProfileTest : public QObject {
    Q_OBJECT

private slots:
    void spansNest_data();
    void spansNest();
    void parts();
    void chunksAreCalls();
    void someSteps();
    void boundedMemory();
    void cost();
    void failingLane();
    void otherWork();
    void refuses();
    void canBeStopped();

private:
    static Experiment experiment(const char* lane, const char* preset, int requests) {
        Experiment made;
        made.model = {.path = {}, .preset = preset, .seed = 2};
        made.threads = 1;
        made.prompts = test::random_prompts(requests);
        made.new_tokens = 6;
        made.warmup = 0;
        made.repetitions = 2;
        for (const char* name : {"naive", lane}) made.lanes.push_back(*lane_from_name(name));
        made.lanes[0].name = "reference";
        if (made.lanes[1].mode == LaneMode::beam) made.drive = Drive::free;
        return made;
    }
    Result<Record> run(const Experiment& experiment) {
        auto model = load_model(experiment.model, m_ledger);
        if (!model) return model.error();
        m_model = std::make_unique<LoadedModel>(*std::move(model));
        EventSink sink;
        return run_experiment(experiment, *m_model, m_ledger, sink, {}, {1.0, 1.0, ""});
    }
    Result<LaneProfile> profile(const Record& record, ProfileOptions options = {}) {
        return profile_lane(record, 1, *m_model, m_ledger, options);
    }

    std::shared_ptr<MemoryLedger> m_ledger = std::make_shared<MemoryLedger>();
    std::unique_ptr<LoadedModel> m_model;
};

void ProfileTest::spansNest_data() {
    QTest::addColumn<QByteArray>("lane");
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<int>("requests");
    for (const char* preset : {"tiny", "tiny-llama"}) {
        for (const char* lane : {"static", "concat", "naive", "paged", "int8", "speculative",
                                 "speculative-layers", "static+position-plus-one", "beam"}) {
            QTest::addRow("%s %s", preset, lane) << QByteArray(lane) << QByteArray(preset) << 1;
        }
        for (const char* lane : {"batch", "continuous", "static"})
            QTest::addRow("%s %s of 3", preset, lane) << QByteArray(lane) << QByteArray(preset) << 3;
    }
}

void ProfileTest::spansNest() {
    QFETCH(QByteArray, lane);
    QFETCH(QByteArray, preset);
    QFETCH(int, requests);
    const auto record = run(experiment(lane.constData(), preset.constData(), requests));
    QVERIFY2(record.ok(), record.ok() ? "" : record.error().message.c_str());
    const auto before = m_ledger->total();
    const auto found = profile(*record);
    QVERIFY2(found.ok(), found.ok() ? "" : found.error().message.c_str());
    QCOMPARE(m_ledger->total(), before);
    QCOMPARE(found->reason, std::string());
    QCOMPARE(found->differs, std::string());
    QCOMPARE(found->lane, std::size_t{1});
    const auto& recorded = record->lanes[1].repetitions.front().steps;
    QCOMPARE(found->steps.size(), recorded.size());
    const ModelConfig& config = m_model->weights->config;
    std::int64_t last_end = 0;
    for (const StepProfile& step : found->steps) {
        QVERIFY(!step.spans.empty());
        QVERIFY(step.start_ns >= last_end);
        last_end = step.spans.front().end_ns;
        QCOMPARE(step.spans.front().start_ns, step.start_ns);
        QCOMPARE(step.spans.front().ns(), step.profiled_ns);
        QCOMPARE(step.positions_forwarded, recorded[static_cast<std::size_t>(step.step)].positions_forwarded);
        QVERIFY(step.plain_ns > 0);
        QVERIFY(step.recorded_ns > 0);
        std::vector<ProfileSpan> open;  // the parents of a span
        std::map<SpanKind, int> count;
        for (const ProfileSpan& span : step.spans) {
            ++count[span.kind];
            QVERIFY(span.ns() >= 0);
            while (static_cast<int>(open.size()) > span.depth) {
                // Siblings do not overlap: what was open at this depth has ended.
                QVERIFY(open.back().end_ns <= span.start_ns);
                open.pop_back();
            }
            QCOMPARE(static_cast<int>(open.size()), int{span.depth});
            if (!open.empty()) {
                QVERIFY(span.start_ns >= open.back().start_ns);
                QVERIFY(span.end_ns <= open.back().end_ns);
            }
            open.push_back(span);
        }
        QVERIFY(step.other_ns() >= 0);
        QCOMPARE(count[SpanKind::layer], count[SpanKind::call] * config.n_layer);
        QCOMPARE(count[SpanKind::attention], count[SpanKind::layer]);
        QCOMPARE(count[SpanKind::feed_forward], count[SpanKind::layer]);
        QCOMPARE(count[SpanKind::embedding], count[SpanKind::call]);
        QCOMPARE(count[SpanKind::rotary], config.rotary ? count[SpanKind::call] : 0);
        QVERIFY(count[SpanKind::head] >= 1);
        QCOMPARE(count[SpanKind::draft] > 0, lane == "speculative-layers" && step.step > 0);
    }
}

// Layers are numbered, and what lies in a layer fills it.
void ProfileTest::parts() {
    const auto record = run(experiment("static", "tiny", 1));
    QVERIFY(record.ok());
    const auto found = profile(*record);
    QVERIFY(found.ok());
    for (const StepProfile& step : found->steps) {
        std::int32_t layer = 0;
        for (const ProfileSpan& span : step.spans) {
            if (span.kind == SpanKind::layer) QCOMPARE(span.layer, layer++);
            if (span.depth >= 3) QCOMPARE(span.layer, layer - 1);
        }
        QCOMPARE(step.ns_of(SpanKind::attention) + step.ns_of(SpanKind::feed_forward),
                 step.ns_of(SpanKind::layer));
        QCOMPARE(step.ns_of(SpanKind::qkv) + step.ns_of(SpanKind::append) + step.ns_of(SpanKind::mix) +
                     step.ns_of(SpanKind::attention_out),
                 step.ns_of(SpanKind::attention));
        QVERIFY(step.ns_of(SpanKind::mix) > 0);
    }
}

void ProfileTest::chunksAreCalls() {
    Experiment chunked = experiment("static", "tiny", 1);
    chunked.lanes[1].prefill_chunk = 3;
    const auto record = run(chunked);
    QVERIFY(record.ok());
    const auto found = profile(*record);
    QVERIFY(found.ok());
    const auto calls = [](const StepProfile& step) {
        return std::count_if(step.spans.begin(), step.spans.end(),
                             [](const ProfileSpan& span) { return span.kind == SpanKind::call; });
    };
    QCOMPARE(calls(found->steps[0]), 3);  // 7 = 3 + 3 + 1
    QCOMPARE(calls(found->steps[1]), 1);
    // Only the last of the three is asked for logits.
    QCOMPARE(std::count_if(found->steps[0].spans.begin(), found->steps[0].spans.end(),
                           [](const ProfileSpan& span) { return span.kind == SpanKind::head; }),
             1);
}

void ProfileTest::someSteps() {
    const auto record = run(experiment("static", "tiny", 1));
    QVERIFY(record.ok());
    const auto found = profile(*record, {.first_step = 2, .last_step = 3, .plain_pass = false});
    QVERIFY(found.ok());
    QCOMPARE(found->steps.size(), std::size_t{4});
    for (const StepProfile& step : found->steps) {
        QCOMPARE(step.spans.empty(), step.step < 2);
        QCOMPARE(step.plain_ns, std::int64_t{0});
    }
    QCOMPARE(found->n_step_without_room, std::int64_t{0});
    const ProfileCost cost = found->cost();
    QCOMPARE(cost.n_step, std::size_t{2});
    QCOMPARE(cost.plain_ns, 0.0);
    QCOMPARE(cost.share, 0.0);
}

void ProfileTest::boundedMemory() {
    const auto record = run(experiment("static", "tiny", 1));
    QVERIFY(record.ok());
    const auto all = profile(*record);
    QVERIFY(all.ok());
    const auto per_step = static_cast<std::int64_t>(all->steps[1].spans.size());
    const auto found = profile(*record, {.max_spans = 3 * per_step});
    QVERIFY(found.ok());
    QCOMPARE(found->steps.size(), all->steps.size());
    std::int64_t n_span = 0;
    std::int64_t n_without = 0;
    for (const StepProfile& step : found->steps) {
        n_span += static_cast<std::int64_t>(step.spans.size());
        n_without += step.spans.empty() ? 1 : 0;
        QVERIFY(step.profiled_ns > 0);
    }
    QVERIFY(n_span <= 3 * per_step);
    QCOMPARE(found->n_step_without_room, n_without);
    QVERIFY(n_without > 0);
}

// Medians of the same steps, worked out by hand.
void ProfileTest::cost() {
    LaneProfile profile;
    const auto add = [&](Phase phase, std::int64_t profiled, std::int64_t plain, double recorded) {
        StepProfile& step = profile.steps.emplace_back();
        step.phase = phase;
        step.profiled_ns = profiled;
        step.plain_ns = plain;
        step.recorded_ns = recorded;
        step.spans.emplace_back();
    };
    add(Phase::prefill, 9000, 1000, 1000);
    QCOMPARE(profile.cost().profiled_ns, 9000.0);  // nothing else there
    add(Phase::decode, 110, 100, 90);
    add(Phase::decode, 220, 200, 190);
    add(Phase::decode, 360, 300, 290);
    const ProfileCost cost = profile.cost();
    QCOMPARE(cost.n_step, std::size_t{3});
    QCOMPARE(cost.recorded_ns, 190.0);
    QCOMPARE(cost.plain_ns, 200.0);
    QCOMPARE(cost.profiled_ns, 220.0);
    QCOMPARE(cost.share, 1.1 - 1);
    QCOMPARE(LaneProfile().cost().n_step, std::size_t{0});
}

// It has no room for its last tokens: what came before is shown, and why it ended.
void ProfileTest::failingLane() {
    Experiment small = experiment("static", "tiny", 1);
    small.lanes[1].cache.capacity = 9;
    const auto record = run(small);
    QVERIFY(record.ok());
    const auto found = profile(*record);
    QVERIFY(found.ok());
    QCOMPARE(found->steps.size(), record->lanes[1].repetitions.front().steps.size());
    QVERIFY(found->steps.size() < 6);
    QCOMPARE(found->differs, std::string());

    const auto broken = run(experiment("concat+concat-wrong-axis", "tiny", 1));
    QVERIFY(broken.ok());
    const auto rest = profile(*broken);
    QVERIFY(rest.ok());
    QCOMPARE(rest->reason, broken->lanes[1].repetitions.front().reason);
    QVERIFY(!rest->reason.empty());
}

void ProfileTest::otherWork() {
    auto record = run(experiment("static", "tiny", 1));
    QVERIFY(record.ok());
    record->lanes[1].repetitions.front().steps[2].positions_forwarded = 5;
    const auto found = profile(*record);
    QVERIFY(found.ok());
    QCOMPARE(found->differs, std::string("Step 2 forwarded 1 positions (decode), in the record 5 (decode)."));
}

void ProfileTest::refuses() {
    auto record = run(experiment("static", "tiny", 1));
    QVERIFY(record.ok());
    const auto none = profile_lane(*record, 7, *m_model, m_ledger);
    QVERIFY(!none.ok());
    QCOMPARE(none.error().message, std::string("The record has no lane 7."));
    record->model_hash = "another";
    const auto other = profile(*record);
    QVERIFY(!other.ok());
    QVERIFY(other.error().message.find("other weights") != std::string::npos);
}

void ProfileTest::canBeStopped() {
    const auto record = run(experiment("static", "tiny", 1));
    QVERIFY(record.ok());
    const auto before = m_ledger->total();
    std::stop_source stop;
    stop.request_stop();
    const auto found = profile_lane(*record, 1, *m_model, m_ledger, {}, stop.get_token());
    QVERIFY(!found.ok());
    QCOMPARE(found.error().kind, ErrorKind::cancelled);
    QCOMPARE(m_ledger->total(), before);
}

QTEST_GUILESS_MAIN(ProfileTest)
#include "tst_profile.moc"
