// SPDX-License-Identifier: GPL-3.0-or-later
// Two records side by side: ratios and what they mean, work that is not the same, lanes whose times are not
// held against each other, and what else differs.
#include <QTest>

#include <functional>

#include "engine/experiment/compare.h"
#include "engine/experiment/json_fields.h"
#include "tests/engine/experiment/sample_record.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// Six repetitions of three tokens per lane. Decode steps of repetition r take `unit` + r % 3 ns (naive) or a
/// fifth of it.
Record record_of(std::int64_t unit) {
    Record record = sample_record();
    record.experiment.repetitions = 6;
    record.environment.program_version = "1";
    for (std::size_t lane = 0; lane < 2; ++lane) {
        const auto two = record.lanes[lane].repetitions;
        auto& repetitions = record.lanes[lane].repetitions;
        repetitions.clear();
        for (int r = 0; r < 6; ++r) {
            RepetitionRecord repetition = two[0];
            std::int64_t at = 1000 + 1'000'000 * r;
            for (StepEvent& step : repetition.steps) {
                step.repetition = r;
                step.start_ns = at;
                step.end_ns = at + (step.step == 0 ? 7000 : lane == 0 ? unit : unit / 5) + r % 3;
                at = step.end_ns + 10;
            }
            note_tokens(repetition);
            repetitions.push_back(repetition);
        }
    }
    return record;
}

const ComparedMetric& metric_of(const ComparedLane& lane, const char* key) {
    static const ComparedMetric none;
    for (const ComparedMetric& metric : lane.metrics) {
        if (std::string(metric.key) == key) return metric;
    }
    return none;
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

void choose_another(Record& record, std::size_t lane, std::size_t index) {
    for (RepetitionRecord& repetition : record.lanes[lane].repetitions) {
        repetition.chosen[index].token = 9;
        repetition.steps[index].token = 9;
    }
}

using Change = std::function<void(Record&)>;

}  // namespace

Q_DECLARE_METATYPE(Change)

class CompareTest : public QObject {
    Q_OBJECT

private slots:
    void ratios();
    void noDifference();
    void otherWork_data();
    void otherWork();
    void notes_data();
    void notes();
    void nothingToNote();
    void notShown_data();
    void notShown();
    void nearlyTied();
    void approximationsAreShown();
    void devices();
    void pairs();
    void unknownPairs();
    void fewSamples();
    void unfinishedRepetitionsDoNotCount();
    void files();
};

void CompareTest::ratios() {
    const auto compared = compare_records(record_of(50'000), record_of(100'000));
    QVERIFY2(compared.ok(), compared.ok() ? "" : compared.error().message.c_str());
    QCOMPARE(compared->lanes.size(), std::size_t{2});
    QVERIFY(compared->all_shown());
    QVERIFY(compared->unmatched.empty());
    const ComparedLane& naive = compared->lanes[0];
    const ComparedMetric& tpot = metric_of(naive, "tpot_ns");
    QCOMPARE(tpot.a.median, 50'001.0);
    QCOMPARE(tpot.b.median, 100'001.0);
    QCOMPARE(tpot.a.n, std::size_t{6});
    QCOMPARE(tpot.ratio, 100'001.0 / 50'001.0);
    QVERIFY(tpot.interval.known);
    QVERIFY(tpot.interval.low > 1.99 && tpot.interval.high < 2.01);
    QCOMPARE(tpot.result(), std::string("B is slower"));
    QCOMPARE(metric_of(naive, "decode_tok_s").result(), std::string("B is slower"));
    QVERIFY(std::abs(metric_of(naive, "decode_tok_s").ratio - 0.5) < 0.01);
    QCOMPARE(metric_of(naive, "e2e_ns").a.median, 7001.0 + 2 * 50'001.0);
    QCOMPARE(metric_of(naive, "ttft_ns").result(), std::string("no difference"));
    QVERIFY(metric_of(naive, "kv_bytes_live").a.n == 0);  // it has no cache
    const auto back = compare_records(record_of(100'000), record_of(50'000));
    QVERIFY(back.ok());
    QCOMPARE(metric_of(back->lanes[1], "tpot_ns").result(), std::string("B is faster"));
    QCOMPARE(metric_of(back->lanes[1], "kv_bytes_live").result(), std::string("no difference"));
    QCOMPARE(metric_of(back->lanes[1], "kv_bytes_live").a.median, 256.0 * 5);
    QCOMPARE(metric_of(back->lanes[1], "kv_bytes_live").ratio, 1.0);
}

// Two medians are never quite the same; that alone is no difference.
void CompareTest::noDifference() {
    Record b = record_of(50'000);
    for (RepetitionRecord& repetition : b.lanes[0].repetitions) {
        for (StepEvent& step : repetition.steps) step.end_ns += step.repetition == 0 ? 900 : 1;
    }
    const auto compared = compare_records(record_of(50'000), b);
    QVERIFY(compared.ok());
    const ComparedMetric& tpot = metric_of(compared->lanes[0], "tpot_ns");
    QVERIFY(tpot.ratio > 1);
    QCOMPARE(tpot.result(), std::string("no difference"));
}

void CompareTest::otherWork_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("what");
    const auto row = [](const char* name, Change change, const char* what) {
        QTest::newRow(name) << change << QString(what);
    };
    row(
        "model", [](Record& r) { r.model_hash = "sha256:01"; },
        "model.hash is \"sha256:00\" in A and \"sha256:01\" in B.");
    row(
        "model without hash", [](Record& r) { r.model_hash.clear(), r.model.n_layer = 3; },
        "model.n_layer is 2 in A and 3 in B.");
    row(
        "prompts",
        [](Record& r) {
            r.prompts.push_back(r.prompts[0]);
            r.experiment.prompts.push_back(r.experiment.prompts[0]);
        },
        "the number of prompts is 1 in A and 2 in B.");
    row(
        "length", [](Record& r) { r.prompts[0].ids.push_back(1); },
        "the length of prompts[0] is 3 in A and 4 in B.");
    row(
        "token", [](Record& r) { r.prompts[0].ids[1] = 7; }, "token 1 of prompts[0] is 2 in A and 7 in B.");
    row(
        "arrival", [](Record& r) { r.experiment.prompts[0].arrival_step = 2; },
        "prompts[0].arrival_step is 0 in A");
    row(
        "new tokens", [](Record& r) { r.experiment.new_tokens = 4; }, "new_tokens is 3 in A and 4 in B.");
    row(
        "drive", [](Record& r) { r.experiment.drive = Drive::free; }, "drive is forced in A and free in B.");
    row(
        "sampling", [](Record& r) { r.experiment.sampling.kind = SamplingKind::sample; },
        "sampling.kind is greedy in A and sample in B.");
    row(
        "penalty", [](Record& r) { r.experiment.sampling.repetition_penalty = 1.5; },
        "sampling.repetition_penalty is 1 in A and 1.5 in B.");
    row(
        "stop ids", [](Record& r) { r.experiment.stop_ids = {5}; }, "stop_ids is [] in A and [5] in B.");
    row(
        "eos", [](Record& r) { r.experiment.stop_at_eos = true; },
        "stop_at_eos is false in A and true in B.");
}

void CompareTest::otherWork() {
    QFETCH(Change, change);
    QFETCH(QString, what);
    const Record a = record_of(1000);
    Record b = a;
    change(b);
    const auto compared = compare_records(a, b);
    QVERIFY(!compared.ok());
    QCOMPARE(compared.error().kind, ErrorKind::bad_input);
    const QString message = QString::fromStdString(compared.error().message);
    QVERIFY2(message.startsWith("The records are not of the same work: " + what), qPrintable(message));
}

void CompareTest::notes_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("note");
    const auto row = [](const char* name, Change change, const char* note) {
        QTest::newRow(name) << change << QString(note);
    };
    row(
        "commit", [](Record& r) { r.environment.commit = "abc"; }, "Commit: not known in A, abc in B.");
    row(
        "version", [](Record& r) { r.environment.program_version = "2"; },
        "Program version: 1 in A, 2 in B.");
    row(
        "flags", [](Record& r) { r.environment.compiler_flags = "-O0"; }, "Compiler flags: not known in A");
    row(
        "cpu", [](Record& r) { r.environment.cpu_model = "Other"; }, "CPU: Some CPU in A, Other in B.");
    row(
        "threads", [](Record& r) { r.environment.threads = 8; }, "Threads: 2 in A, 8 in B.");
    row(
        "bandwidth", [](Record& r) { r.environment.read_bandwidth_gb_s = 12; },
        "Measured read bandwidth: 10.0 GB/s in A, 12.0 GB/s in B.");
    row(
        "warm-up", [](Record& r) { r.experiment.warmup = 0; }, "Warm-up passes: 1 in A, 0 in B.");
    row(
        "turns", [](Record& r) { r.experiment.interleave = Interleave::repetition; },
        "Turns by: step in A, repetition in B.");
    row(
        "load",
        [](Record& r) {
            r.environment.load_average = 3;
            r.environment.logical_cores = 4;
        },
        "B: The load was 3.0 on 4 processors before the run.");
    row(
        "GPU",
        [](Record& r) {
            r.environment.gpus = {{"cuda:0", "Some GPU", {}, 0, 0, -1, -1}};
        },
        "GPUs: none in A, Some GPU (cuda:0) in B.");
    row(
        "driver", [](Record& r) { r.environment.cuda_driver = "13.0"; },
        "CUDA driver: not known in A, 13.0 in B.");
    row(
        "others", [](Record& r) { r.environment.use.others = 0.5; }, "B: Other programs took 50 %");
    row(
        "cancelled",
        [](Record& r) {
            r.status = FinishReason::cancelled;
            r.reason = "Stopped on request.";
        },
        "B: The run ended early (cancelled): Stopped on request.");
}

void CompareTest::notes() {
    QFETCH(Change, change);
    QFETCH(QString, note);
    const Record a = record_of(1000);
    Record b = a;
    change(b);
    const auto compared = compare_records(a, b);
    QVERIFY2(compared.ok(), compared.ok() ? "" : compared.error().message.c_str());
    QVERIFY2(says(compared->notes, note.toStdString()),
             compared->notes.empty() ? "no notes" : compared->notes.front().c_str());
    QVERIFY(compared->all_shown());
}

void CompareTest::nothingToNote() {
    const auto compared = compare_records(record_of(1000), record_of(1000));
    QVERIFY(compared.ok());
    QVERIFY(compared->notes.empty());
    // A little more bandwidth is noise.
    Record b = record_of(1000);
    b.environment.read_bandwidth_gb_s = 10.5;
    QVERIFY(compare_records(record_of(1000), b)->notes.empty());
}

void CompareTest::notShown_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, Change change, const char* why) {
        QTest::newRow(name) << change << QString(why);
    };
    row(
        "output differs from the reference", [](Record& r) { choose_another(r, 1, 2); },
        "its output in B differs from that of the reference lane \"naive\"");
    row(
        "logits differ",
        [](Record& r) { r.lanes[1].repetitions[0].chosen[1].comparison.relative_error = 1e-3; },
        "its output in B differs");
    row(
        "not a number",
        [](Record& r) { r.lanes[1].repetitions[0].chosen[1].comparison.relative_error = NAN; },
        "its output in B differs");
    // Both lanes of B agree with each other: only A knows.
    row(
        "both are wrong",
        [](Record& r) {
            choose_another(r, 0, 1);
            choose_another(r, 1, 1);
        },
        "the outputs of A and B differ from new token 1 of request 0 on, and which is right is not known");
    row(
        "fewer tokens",
        [](Record& r) {
            for (LaneRecord& lane : r.lanes) {
                for (RepetitionRecord& repetition : lane.repetitions) {
                    repetition.chosen.pop_back();
                    repetition.steps.pop_back();
                }
            }
        },
        "3 tokens in A, 2 in B");
    row(
        "did not come to its end",
        [](Record& r) {
            for (RepetitionRecord& repetition : r.lanes[1].repetitions)
                repetition.finish = FinishReason::capacity;
        },
        "no repetition of B came to its end");
}

void CompareTest::notShown() {
    QFETCH(Change, change);
    QFETCH(QString, why);
    const Record a = record_of(1000);
    Record b = record_of(500);
    change(b);
    const auto compared = compare_records(a, b);
    QVERIFY2(compared.ok(), compared.ok() ? "" : compared.error().message.c_str());
    QVERIFY(!compared->all_shown());
    const ComparedLane& lane = compared->lanes[1];
    QCOMPARE(QString::fromStdString(lane.why_not).left(why.size()), why);
    QVERIFY(!lane.metrics.empty());
    for (const ComparedMetric& metric : lane.metrics) {
        if (metric.kind == ComparedMetric::Kind::bytes) continue;
        QCOMPARE(metric.ratio, 0.0);
        QVERIFY(!metric.interval.known);
        QCOMPARE(metric.result(), std::string());
    }
    const std::string text = to_plain_text(*compared, a, b, {"a.json", "b.json"});
    QVERIFY2(text.find("static: times are not held against each other: " + lane.why_not + ".") !=
                 std::string::npos,
             text.c_str());
    QVERIFY(text.find("not shown") != std::string::npos || lane.metrics[0].b.n == 0);
}

// Rounding decides between two tokens that are as good as tied: that is no fault of either.
void CompareTest::nearlyTied() {
    const Record a = record_of(1000);
    Record b = record_of(1000);
    choose_another(b, 0, 2);
    choose_another(b, 1, 2);
    QVERIFY(!compare_records(a, b)->all_shown());
    for (RepetitionRecord& repetition : b.lanes[1].repetitions)
        repetition.chosen[2].comparison.top2_margin = 1e-5;
    const auto compared = compare_records(a, b);
    QVERIFY(compared.ok());
    QVERIFY(compared->all_shown());
    QVERIFY(says(compared->notes,
                 "Lane \"static\": the outputs differ from new token 2 of request 0 on, where two"));
}

void CompareTest::approximationsAreShown() {
    const Record a = record_of(1000);
    Record b = record_of(1000);
    b.experiment.lanes[1].cache.dtype = b.lanes[1].spec.cache.dtype = DType::f16;
    choose_another(b, 1, 2);
    const auto compared = compare_records(a, b);
    QVERIFY(compared.ok());
    QVERIFY(compared->all_shown());
    QCOMPARE(compared->lanes[1].approximation, std::string("f16 entries"));
    QCOMPARE(compared->lanes[1].settings,
             std::vector<std::string>{"cache.dtype: not set in A, \"f16\" in B"});
}

/// Whoever named the device: what counts is where a lane computed.
void CompareTest::devices() {
    const Record a = record_of(1000);
    Record b = record_of(1000);
    b.experiment.lanes[0].device = b.lanes[0].spec.device = Device{};
    const auto same = compare_records(a, b);
    QVERIFY(same.ok());
    QVERIFY(same->lanes[0].settings.empty());
    b.experiment.device = {Device::Kind::cuda, 1};
    const auto other = compare_records(a, b);
    QVERIFY(other.ok());
    QVERIFY(other->lanes[0].settings.empty());
    QCOMPARE(other->lanes[1].settings, std::vector<std::string>{"device: \"cpu\" in A, \"cuda:1\" in B"});
}

void CompareTest::pairs() {
    const Record a = record_of(1000);
    const auto compared = compare_records(a, a, {{"naive", "static"}});
    QVERIFY(compared.ok());
    QCOMPARE(compared->lanes.size(), std::size_t{1});
    QVERIFY(std::abs(metric_of(compared->lanes[0], "tpot_ns").ratio - 0.2) < 0.01);
    QVERIFY(says(compared->lanes[0].settings, "mode: \"naive\" in A, \"cached\" in B"));
    QCOMPARE(compared->unmatched,
             (std::vector<std::string>{"Lane \"static\" of A is compared with nothing.",
                                       "Lane \"naive\" of B is compared with nothing."}));
    const std::string text = to_plain_text(*compared, a, a, {"a", "b"});
    QVERIFY2(text.find("naive = static  TTFT") != std::string::npos, text.c_str());
}

void CompareTest::unknownPairs() {
    const Record a = record_of(1000);
    QCOMPARE(compare_records(a, a, {{"fast", "static"}}).error().message,
             std::string("A has no lane \"fast\"."));
    QCOMPARE(compare_records(a, a, {{"naive", "slow"}}).error().message,
             std::string("B has no lane \"slow\"."));
    Record b = a;
    for (std::size_t i = 0; i < 2; ++i)
        b.lanes[i].spec.name = b.experiment.lanes[i].name = i == 0 ? "x" : "y";
    b.experiment.reference = "x";
    QCOMPARE(compare_records(a, b).error().message,
             std::string("The records have no lane of the same name: say which ones belong together."));
}

void CompareTest::fewSamples() {
    Record a = record_of(1000);
    for (LaneRecord& lane : a.lanes) lane.repetitions.resize(1);
    const auto compared = compare_records(a, record_of(500));
    QVERIFY(compared.ok());
    const ComparedMetric& tpot = metric_of(compared->lanes[0], "tpot_ns");
    QVERIFY(tpot.ratio > 0);
    QVERIFY(!tpot.interval.known);
    QCOMPARE(tpot.result(), std::string("one sample, nothing can be said"));
    QVERIFY(says(compared->notes, "Intervals are rough: of one lane there are 1 samples"));
}

void CompareTest::unfinishedRepetitionsDoNotCount() {
    Record b = record_of(1000);
    RepetitionRecord& last = b.lanes[0].repetitions.back();
    last.finish = FinishReason::cancelled;
    last.steps[1].end_ns += 1'000'000;
    const auto compared = compare_records(record_of(1000), b);
    QVERIFY(compared.ok());
    QCOMPARE(metric_of(compared->lanes[0], "e2e_ns").b.n, std::size_t{5});
    QVERIFY(metric_of(compared->lanes[0], "e2e_ns").b.max < 100'000);
}

void CompareTest::files() {
    const Record a = record_of(50'000);
    const Record b = record_of(100'000);
    const auto compared = compare_records(a, b);
    QVERIFY(compared.ok());
    const ComparedNames names{"a.json", "b.json"};
    const auto json = parse_json(to_json(*compared, a, b, names));
    QVERIFY(json.ok());
    QVERIFY((*json)["schema"] == "decodescope.comparison/1");
    QVERIFY((*json)["b"]["name"] == "b.json");
    const Json metric = (*json)["lanes"][0]["metrics"][1];
    QVERIFY(metric["metric"] == "tpot_ns");
    QCOMPARE(metric["ratio"].get<double>(), 100'001.0 / 50'001.0);
    QVERIFY(metric["result"] == "B is slower");
    QCOMPARE(metric["interval"].size(), std::size_t{2});
    const QString lines = QString::fromStdString(to_jsonl(*compared, a, b, names));
    QCOMPARE(lines.count('\n'), 2);
    QVERIFY(lines.startsWith("{\"schema\":\"decodescope.compared_lane/1\",\"a\":\"a.json\""));
    const QString csv = QString::fromStdString(to_csv(*compared, a, b));
    QCOMPARE(csv.count('\n'), 1 + 4 + 6);
    QVERIFY(csv.contains("naive,naive,tpot_ns,ns,50001,6,100001,6,"));
    const QString markdown = QString::fromStdString(to_markdown(*compared, a, b, names));
    QVERIFY(markdown.startsWith("- **A** a.json: tiny, Some CPU, 2 threads"));
    QVERIFY(markdown.contains("| naive | time per token | 0.0500 ms | 0.1000 ms | 2.000 |"));
}

QTEST_GUILESS_MAIN(CompareTest)
#include "tst_compare.moc"
