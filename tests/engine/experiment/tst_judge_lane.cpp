// SPDX-License-Identifier: GPL-3.0-or-later
// Verdicts on the lanes of a finished run: fed as they were, whatever the drive, and errors for what cannot
// be.
#include <QTest>

#include "engine/experiment/judge_lane.h"
#include "engine/experiment/runner.h"
#include "tests/engine/experiment/random_prompts.h"

using namespace decodescope;

class JudgeLaneTest : public QObject {
    Q_OBJECT

private slots:
    void judges_data();
    void judges();
    void callsAddUp();
    void refuses();
    void canBeStopped();
    void noiseFloors();
    void firstDivergence();

private:
    static Experiment experiment(const char* lane, Drive drive, int requests) {
        Experiment made;
        made.model = {.path = {}, .preset = "tiny-llama", .seed = 2};
        made.threads = 1;
        made.drive = drive;
        made.prompts = test::random_prompts(requests);
        made.new_tokens = 8;
        made.warmup = 0;
        made.repetitions = 1;
        if (drive == Drive::fixed) made.fixed_ids = {3, 1, 4, 1, 5, 9, 2};
        for (const char* name : {"naive", lane}) made.lanes.push_back(*lane_from_name(name));
        made.lanes[0].name = "reference";
        return made;
    }
    Result<Record> run(const Experiment& experiment) {
        auto model = load_model(experiment.model, m_ledger);
        if (!model) return model.error();
        m_model = std::make_unique<LoadedModel>(*std::move(model));
        EventSink sink;
        return run_experiment(experiment, *m_model, m_ledger, sink, {}, {1.0, 1.0, ""});
    }

    std::shared_ptr<MemoryLedger> m_ledger = std::make_shared<MemoryLedger>();
    std::unique_ptr<LoadedModel> m_model;
};

void JudgeLaneTest::judges_data() {
    QTest::addColumn<QByteArray>("lane");
    QTest::addColumn<int>("drive");
    QTest::addColumn<int>("requests");
    QTest::addColumn<VerdictWord>("word");
    const auto row = [](const char* lane, Drive drive, int requests, VerdictWord word) {
        QTest::addRow("%s, %s, %d", lane, to_string(drive), requests)
            << QByteArray(lane) << static_cast<int>(drive) << requests << word;
    };
    for (const Drive drive : {Drive::forced, Drive::free, Drive::fixed}) {
        row("static", drive, 1, VerdictWord::equal);
        row("static+position-plus-one", drive, 1, VerdictWord::fault);
    }
    row("naive", Drive::forced, 2, VerdictWord::equal);
    row("batch", Drive::forced, 3, VerdictWord::equal);
    row("continuous", Drive::forced, 3, VerdictWord::equal);
    row("speculative", Drive::forced, 1, VerdictWord::equal);
    row("f16", Drive::forced, 1, VerdictWord::precision);
    row("batch+pad-mask-dropped", Drive::forced, 3, VerdictWord::fault);
    row("static+mask-upper-left", Drive::free, 2, VerdictWord::fault);
}

void JudgeLaneTest::judges() {
    QFETCH(QByteArray, lane);
    QFETCH(int, drive);
    QFETCH(int, requests);
    QFETCH(VerdictWord, word);
    const auto record = run(experiment(lane.constData(), static_cast<Drive>(drive), requests));
    QVERIFY2(record.ok(), record.ok() ? "" : record.error().message.c_str());
    const auto before = m_ledger->total();
    const auto judgement = judge_lane(*record, 1, *m_model, m_ledger);
    QVERIFY2(judgement.ok(), judgement.ok() ? "" : judgement.error().message.c_str());
    QVERIFY2(judgement->verdict.word == word, judgement->verdict.summary.c_str());
    QCOMPARE(m_ledger->total(), before);
    QVERIFY(!judgement->verdict.evidence.empty());
    const auto reference = judge_lane(*record, 0, *m_model, m_ledger);
    QVERIFY(reference.ok());
    QCOMPARE(reference->verdict.word, VerdictWord::equal);
}

// One prefill and seven steps, in order; wrong from the first step on, which the verdict says too.
void JudgeLaneTest::callsAddUp() {
    const auto record = run(experiment("static+position-plus-one", Drive::forced, 1));
    QVERIFY(record.ok());
    const auto judgement = judge_lane(*record, 1, *m_model, m_ledger);
    QVERIFY(judgement.ok());
    QCOMPARE(judgement->calls.size(), std::size_t{8});
    for (std::size_t i = 0; i < judgement->calls.size(); ++i) {
        const CallError& call = judgement->calls[i];
        QCOMPARE(call.call, static_cast<int>(i));
        QCOMPARE(call.request, std::string("A"));
        QCOMPARE(call.error > f32_error_limit, i > 0);
        QVERIFY(call.top2_margin > 0);
    }
    QCOMPARE(judgement->verdict.first.call, 1);
    QCOMPARE(judgement->verdict.kind, std::optional(FaultKind::position));
}

void JudgeLaneTest::refuses() {
    auto record = run(experiment("static", Drive::forced, 1));
    QVERIFY(record.ok());
    const auto none = judge_lane(*record, 7, *m_model, m_ledger);
    QVERIFY(!none.ok());
    QCOMPARE(none.error().message, std::string("The record has no lane 7."));
    record->model_hash = "another";
    const auto other = judge_lane(*record, 1, *m_model, m_ledger);
    QVERIFY(!other.ok());
    QVERIFY(other.error().message.find("other weights") != std::string::npos);
}

void JudgeLaneTest::canBeStopped() {
    const auto record = run(experiment("static", Drive::forced, 1));
    QVERIFY(record.ok());
    std::stop_source stop;
    stop.request_stop();
    const auto judgement = judge_lane(*record, 1, *m_model, m_ledger, stop.get_token());
    QVERIFY(!judgement.ok());
    QCOMPARE(judgement.error().kind, ErrorKind::cancelled);
}

void JudgeLaneTest::noiseFloors() {
    QVERIFY(!noise_floor(lane_from_name("static")->cache));
    double last = f32_error_limit;
    for (const char* name : {"f16", "bf16", "int8", "kivi4"}) {
        const auto floor = noise_floor(lane_from_name(name)->cache);
        QVERIFY2(floor && floor->error > last, name);
        last = floor->error;
    }
    QVERIFY(!noise_floor(lane_from_name("kivi2")->cache));
}

void JudgeLaneTest::firstDivergence() {
    const auto record = run(experiment("static+position-plus-one", Drive::forced, 1));
    QVERIFY(record.ok());
    QVERIFY(!record->lanes[0].first_divergence(record->reference()));
    const auto first = record->lanes[1].first_divergence(record->reference());
    QVERIFY(first.has_value());
    QCOMPARE(first->index, 1);
    QVERIFY(first->comparison.relative_error > f32_error_limit);
}

QTEST_GUILESS_MAIN(JudgeLaneTest)
#include "tst_judge_lane.moc"
