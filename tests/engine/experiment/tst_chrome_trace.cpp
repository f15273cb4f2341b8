// SPDX-License-Identifier: GPL-3.0-or-later
// Parses Chrome traces back: names, counters, nesting, order, and that times are those of the record.
#include <QTest>

#include <cmath>
#include <map>

#include "engine/experiment/chrome_trace.h"
#include "engine/experiment/json_fields.h"
#include "engine/experiment/runner.h"
#include "tests/engine/experiment/sample_record.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// As viewers read times: microseconds, cut to whole nanoseconds.
std::int64_t ns_of(const Json& microseconds) {
    return static_cast<std::int64_t>(microseconds.get<double>() * 1000);
}

struct Span {
    std::string name;
    std::string category;
    std::int64_t start = 0;
    std::int64_t end = 0;
    int depth = 0;
    Json args;
};

using Track = std::pair<int, int>;  // process, thread

/// A trace, taken apart the way a viewer does.
struct Read {
    Json json;
    std::map<Track, std::vector<Span>> spans;
    std::map<Track, std::string> names;                         // thread 0: of the process
    std::map<std::string, std::vector<std::int64_t>> counters;  // bytes, in order
    std::string broken;                                         // what breaks a rule
};

Read read(const std::string& text) {
    Read out;
    auto parsed = parse_json(text);
    if (!parsed) {
        out.broken = parsed.error().message;
        return out;
    }
    out.json = *std::move(parsed);
    std::int64_t last = 0;
    std::map<Track, std::vector<Span>> open;
    for (const Json& event : out.json["traceEvents"]) {
        const std::string phase = event["ph"];
        const Track track{event["pid"], event["tid"]};
        if (phase == "M") {
            const std::string what = event["name"];
            if (what == "process_name" || what == "thread_name") out.names[track] = event["args"]["name"];
            continue;
        }
        const std::int64_t at = ns_of(event["ts"]);
        if (at < last) out.broken = "not in order of time: " + event.dump();
        last = at;
        if (phase == "C") {
            out.counters[event["name"]].push_back(event["args"]["bytes"]);
            continue;
        }
        if (phase != "X") out.broken = "no such phase: " + event.dump();
        Span span{event["name"], event["cat"], at, at + ns_of(event["dur"]), 0, event.value("args", Json())};
        auto& parents = open[track];
        while (!parents.empty() && parents.back().end <= span.start && span.end > parents.back().end)
            parents.pop_back();
        if (!parents.empty() && span.end > parents.back().end)
            out.broken = "reaches out of " + parents.back().name + ": " + event.dump();
        span.depth = static_cast<int>(parents.size());
        parents.push_back(span);
        out.spans[track].push_back(span);
    }
    return out;
}

std::int64_t sum_of(const std::vector<Span>& spans, const std::string& category) {
    std::int64_t sum = 0;
    for (const Span& span : spans) sum += span.category == category ? span.end - span.start : 0;
    return sum;
}

}  // namespace

class ChromeTraceTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void names();
    void timedSpans();
    void counters();
    void instrumented();
    void whatItCost();
    void exactNanoseconds();
    void emptyRecord();
    void oddNames();
    void checkerSeesFaults();

private:
    std::shared_ptr<MemoryLedger> m_ledger = std::make_shared<MemoryLedger>();
    Record m_record;
    std::vector<LaneProfile> m_profiles;
    Read m_read;
};

void ChromeTraceTest::initTestCase() {
    Experiment experiment;
    experiment.model = {.path = {}, .preset = "tiny-llama", .seed = 2};
    experiment.threads = 1;
    experiment.prompts[0].kind = PromptSpec::Kind::ids;
    experiment.prompts[0].ids = {3, 1, 4, 1, 5};
    experiment.new_tokens = 7;
    experiment.repetitions = 2;
    for (const char* name : {"naive", "static"}) experiment.lanes.push_back(*lane_from_name(name));
    const auto model = load_model(experiment.model, m_ledger);
    QVERIFY(model.ok());
    EventSink sink;
    const auto record = run_experiment(experiment, *model, m_ledger, sink, {}, {1.0, 1.0, ""});
    QVERIFY(record.ok());
    m_record = *record;
    for (std::size_t lane = 0; lane < 2; ++lane) {
        const auto profile = profile_lane(m_record, lane, *model, m_ledger);
        QVERIFY(profile.ok());
        m_profiles.push_back(*profile);
    }
    m_read = read(to_chrome_trace(m_record, m_profiles));
    QCOMPARE(m_read.broken, std::string());
}

void ChromeTraceTest::names() {
    QCOMPARE(m_read.names.at({1, 0}), std::string("Timed passes"));
    QCOMPARE(m_read.names.at({1, 1}), std::string("naive (reference)"));
    QCOMPARE(m_read.names.at({1, 2}), std::string("static"));
    QCOMPARE(m_read.names.at({2, 0}), std::string("Instrumented pass (times are not the timed ones)"));
    QCOMPARE(m_read.names.at({2, 1}), std::string("naive (instrumented pass)"));
    QCOMPARE(m_read.names.at({2, 2}), std::string("static (instrumented pass)"));
    for (const auto& [track, spans] : m_read.spans) QVERIFY(m_read.names.count(track) == 1);
    QVERIFY(m_read.json["otherData"]["schema"] == Json("decodescope.chrome_trace/1"));
    QVERIFY(m_read.json["otherData"]["model_hash"] == Json(m_record.model_hash));
    QVERIFY(read(to_chrome_trace(m_record)).names.count({2, 0}) == 0);
}

// Repetitions hold their steps, the steps are the record's to the nanosecond, and so are the sums.
void ChromeTraceTest::timedSpans() {
    std::int64_t begin = m_record.lanes[0].repetitions[0].steps[0].start_ns;
    for (const LaneRecord& lane : m_record.lanes)
        begin = std::min(begin, lane.repetitions[0].steps[0].start_ns);
    for (std::size_t i = 0; i < m_record.lanes.size(); ++i) {
        const auto& spans = m_read.spans.at({1, static_cast<int>(i) + 1});
        std::size_t at = 0;
        std::int64_t e2e = 0;
        for (std::size_t r = 0; r < 2; ++r) {
            const RepetitionRecord& repetition = m_record.lanes[i].repetitions[r];
            e2e += repetition.e2e_ns();
            QCOMPARE(spans[at].name, "repetition " + std::to_string(r));
            QCOMPARE(spans[at].depth, 0);
            QCOMPARE(ns_of(spans[at].args["e2e_us"]), repetition.e2e_ns());
            QVERIFY(spans[at].args["finish"] == Json("length"));
            ++at;
            for (const StepEvent& step : repetition.steps) {
                const Span& span = spans[at++];
                QCOMPARE(span.depth, 1);
                QCOMPARE(span.name, std::string(to_string(step.phase)));
                QCOMPARE(span.start, step.start_ns - begin);
                QCOMPARE(span.end, step.end_ns - begin);
                QVERIFY(span.args["step"] == Json(step.step));
                QVERIFY(span.args["positions_forwarded"] == Json(step.positions_forwarded));
                QVERIFY(span.args["cache_length"] == Json(step.cache_length));
                QVERIFY(span.args["tokens"] == Json(step.n_token));
                QVERIFY(span.args["token_id"] == Json(step.token));
            }
        }
        QCOMPARE(at, spans.size());
        QCOMPARE(sum_of(spans, "step"), e2e);
    }
}

void ChromeTraceTest::counters() {
    std::vector<std::int64_t> live;
    std::vector<std::int64_t> reserved;
    for (const RepetitionRecord& repetition : m_record.lanes[1].repetitions) {
        for (const StepEvent& step : repetition.steps) {
            live.push_back(step.kv_bytes_live);
            reserved.push_back(step.kv_bytes_reserved);
        }
        live.push_back(0);  // freed
        reserved.push_back(0);
    }
    QCOMPARE(m_read.counters.at("KV live, static"), live);
    QCOMPARE(m_read.counters.at("KV reserved, static"), reserved);
    QVERIFY(live[0] > 0);
    QVERIFY(m_read.counters.count("KV live, naive") == 0);  // it has none
    QCOMPARE(m_read.counters.at("RSS").size(), std::size_t{2 * 2 * 7});

    // What was not measured is no counter.
    Record unknown = sample_record();
    QVERIFY(read(to_chrome_trace(unknown)).counters.count("RSS") == 0);
}

void ChromeTraceTest::instrumented() {
    const int n_layer = m_record.model.n_layer;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto& spans = m_read.spans.at({2, static_cast<int>(i) + 1});
        std::vector<std::int64_t> own;
        for (const StepProfile& step : m_profiles[i].steps) own.push_back(step.profiled_ns);
        std::size_t n_step = 0;
        std::int64_t layers = 0;
        std::int64_t blocks = 0;
        int depth_of_layers = 0;
        std::map<std::string, int> count;
        for (const Span& span : spans) {
            ++count[span.name];
            if (span.category == "step") {
                QCOMPARE(span.depth, 0);
                QCOMPARE(span.end - span.start, own.at(n_step));
                QVERIFY(span.args["instrumented"] == Json(true));
                QCOMPARE(ns_of(span.args["plain_step_us"]), m_profiles[i].steps[n_step].plain_ns);
                QVERIFY(span.args["timed_step_us"].is_number());
                QVERIFY(span.args["step"] == Json(n_step));
                ++n_step;
            }
            if (span.name.rfind("layer ", 0) == 0) {
                layers += span.end - span.start;
                depth_of_layers = span.depth;
            }
            if (span.name == "attention" || span.name == "MLP") {
                blocks += span.end - span.start;
                QCOMPARE(span.depth, depth_of_layers + 1);
                QVERIFY(span.args["layer"].get<int>() < n_layer);
            }
        }
        QCOMPARE(n_step, std::size_t{7});
        QCOMPARE(count["attention"], 7 * n_layer);
        QCOMPARE(count["MLP"], 7 * n_layer);
        for (int layer = 0; layer < n_layer; ++layer) QCOMPARE(count["layer " + std::to_string(layer)], 7);
        QCOMPARE(count["embedding"], 7);
        QCOMPARE(count["head"], 7);
        QCOMPARE(blocks, layers);
    }
    // Behind the timed ones, and one lane behind the other.
    QVERIFY(m_read.spans.at({2, 1}).front().start > m_read.spans.at({1, 1}).back().end);
    QVERIFY(m_read.spans.at({2, 2}).front().start > m_read.spans.at({2, 1}).back().end);
}

void ChromeTraceTest::whatItCost() {
    const std::string text = m_read.json["otherData"]["instrumented static"];
    QVERIFY2(text.find("Median of 6 steps: ") == 0, text.c_str());
    QVERIFY2(text.find("not measured") == std::string::npos, text.c_str());
    std::vector<LaneProfile> short_of_room(1);
    short_of_room[0].lane = 1;
    short_of_room[0].n_step_without_room = 3;
    short_of_room[0].reason = "It broke.";
    const Read other = read(to_chrome_trace(m_record, short_of_room));
    QCOMPARE(other.broken, std::string());
    const std::string told = other.json["otherData"]["instrumented static"];
    QVERIFY2(told.find("Median of 0 steps: not measured") == 0, told.c_str());
    QVERIFY2(told.find("3 steps are not shown") != std::string::npos, told.c_str());
    QVERIFY2(told.find("It broke.") != std::string::npos, told.c_str());
}

// Numbers that lie just below their decimals when divided by 1000 would lose a nanosecond.
void ChromeTraceTest::exactNanoseconds() {
    Record record = sample_record();
    auto& steps = record.lanes[0].repetitions[0].steps;
    const StepEvent step = steps[1];
    steps.clear();
    std::vector<std::int64_t> durations;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < 20'000; ++i) {
        StepEvent one = step;
        one.start_ns = at;
        durations.push_back(1 + i * 7919 % 9'999'991);
        at = one.end_ns = one.start_ns + durations.back();
        steps.push_back(one);
    }
    record.lanes[0].repetitions.resize(1);
    record.lanes.resize(1);
    record.experiment.lanes.resize(1);
    const Read back = read(to_chrome_trace(record));
    QCOMPARE(back.broken, std::string());
    const auto& spans = back.spans.at({1, 1});
    QCOMPARE(spans.size(), durations.size() + 1);
    for (std::size_t i = 0; i < durations.size(); ++i) {
        QCOMPARE(spans[i + 1].end - spans[i + 1].start, durations[i]);
        QCOMPARE(spans[i + 1].depth, 1);
        if (i > 0) QCOMPARE(spans[i + 1].start, spans[i].end);
    }
}

void ChromeTraceTest::emptyRecord() {
    Record record = sample_record();
    for (LaneRecord& lane : record.lanes) lane.repetitions.clear();
    const Read back = read(to_chrome_trace(record));
    QCOMPARE(back.broken, std::string());
    QVERIFY(back.spans.empty());
    QCOMPARE(back.names.size(), std::size_t{3});
}

// A name may hold anything printable, and a model's file name even bytes that are not UTF-8.
void ChromeTraceTest::oddNames() {
    Record record = sample_record();
    record.lanes[1].spec.name = "a \"b\" \\ c";
    record.model.name = "m\xff";
    for (LaneRecord& lane : record.lanes) lane.repetitions.resize(1);  // the sample's two overlap
    const Read back = read(to_chrome_trace(record));
    QVERIFY2(back.broken.empty(), back.broken.c_str());
    QCOMPARE(back.names.at({1, 2}), std::string("a \"b\" \\ c"));
}

// The checks above are only worth something if they notice.
void ChromeTraceTest::checkerSeesFaults() {
    const auto broken = [](const char* events) {
        return read(std::string("{\"traceEvents\": [") + events + "]}").broken;
    };
    const std::string a = R"({"ph":"X","name":"a","cat":"step","pid":1,"tid":1,"ts":1.0,"dur":2.0})";
    const std::string inside = R"(,{"ph":"X","name":"b","cat":"step","pid":1,"tid":1,"ts":2.0,"dur":1.0})";
    const std::string out = R"(,{"ph":"X","name":"b","cat":"step","pid":1,"tid":1,"ts":2.0,"dur":1.002})";
    const std::string before = R"(,{"ph":"X","name":"b","cat":"step","pid":1,"tid":1,"ts":0.5,"dur":0.1})";
    QCOMPARE(broken((a + inside).c_str()), std::string());
    QVERIFY(broken((a + out).c_str()).find("reaches out of a") == 0);
    QVERIFY(broken((a + before).c_str()).find("not in order") == 0);
    QVERIFY(broken("{\"ph\":\"M\"").find("Not valid JSON") == 0);
}

QTEST_GUILESS_MAIN(ChromeTraceTest)
#include "tst_chrome_trace.moc"
