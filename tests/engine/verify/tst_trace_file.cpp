// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <limits>

#include "engine/verify/trace_file.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

QString sentence(const Error& error) {
    return QString::fromStdString(error.message);
}

/// "a" [1, 3, 4] F32, "h" [1, 2, 4] F16, "i" [1, 3, 4] I32, "flat" [12] F32, "other" [1, 3, 5] F32; the first
/// value of "a" is NaN.
QByteArray tensors() {
    QByteArray data(48 + 16 + 48 + 48 + 60, '\0');
    const float nan = std::numeric_limits<float>::quiet_NaN();
    memcpy(data.data(), &nan, sizeof nan);
    const float one = 1;
    memcpy(data.data() + 4, &one, sizeof one);
    data[48 + 1] = 0x3c;  // 1.0 in f16
    return safetensors(R"({"a":{"dtype":"F32","shape":[1,3,4],"data_offsets":[0,48]},)"
                       R"("h":{"dtype":"F16","shape":[1,2,4],"data_offsets":[48,64]},)"
                       R"("i":{"dtype":"I32","shape":[1,3,4],"data_offsets":[64,112]},)"
                       R"("flat":{"dtype":"F32","shape":[12],"data_offsets":[112,160]},)"
                       R"("other":{"dtype":"F32","shape":[1,3,5],"data_offsets":[160,220]}})",
                       data);
}

QByteArray document(const QByteArray& calls, const QByteArray& more = {}) {
    return R"({"schema": "decodescope.trace/1", )" + more + R"("calls": [)" + calls + "]}";
}

Result<Trace> parsed(const QByteArray& json, std::vector<std::string>* warnings = nullptr) {
    return parse_trace(json.toStdString(), nullptr, warnings);
}

Trace sample() {
    Trace trace;
    trace.model = ModelRef{{}, "tiny", 4};
    trace.texts["A \"x\""] = {{1, 0, 1, 0}, 3};
    trace.window = Window{6, 1};
    trace.vocab = 2;
    auto logits = std::make_shared<StoredLogits>(2);
    TraceCall first;
    first.batch = 1;
    first.width = 3;
    first.requests = {"A \"x\""};
    first.input_ids = {1, 0, 1};
    first.text_start = {0};
    first.real = {1, 1, 1};
    first.mask_known = true;
    first.position_ids = {0, 1, -1};
    first.cache_positions = {{0, 1, 2}};
    first.cache_length_before = {0};
    first.cache_length_after = {3};
    first.cache_bytes = 96;
    first.cache_capacity = 8;
    first.logits = LogitRows::all;
    logits->add_call(3, {1, 2, 3, 4, NAN, -INFINITY});
    TraceCall second;
    second.batch = 2;
    second.width = 1;
    second.requests = {"A \"x\"", "B"};
    second.parents = {0, 0};
    second.input_ids = {0, 1};
    second.mask_columns = 2;
    second.mask_known = true;
    second.attention_mask = {1, 1, 0, 1};
    second.logits = LogitRows::last;
    second.logits_columns = {0, 0};
    second.accepted = {0, 0};
    second.step_ns = 12;
    second.note = "decode";
    logits->add_call(1, {5, 6, 7, 8});
    TraceCall failed;
    failed.batch = 1;
    failed.width = 1;
    failed.input_ids = {1};
    failed.error = "out of bounds";
    logits->add_call(0, {});
    trace.calls = {first, second, failed};
    trace.logits = logits;
    return trace;
}

}  // namespace

class TestTraceFile : public QObject {
    Q_OBJECT

private slots:
    void whatIsWrittenIsReadBack() {
        const TestFolder folder;
        const Trace trace = sample();
        const auto path = folder.path("run");
        QVERIFY(write_trace(trace, path));
        for (const auto& name : {path, path / "trace.json"}) {
            const auto read = load_trace(name);
            QVERIFY2(read, read ? "" : qPrintable(sentence(read.error())));
            QCOMPARE(QString::fromStdString(trace_json(*read)), QString::fromStdString(trace_json(trace)));
            QCOMPARE(QString::fromStdString(read->label), QString::fromStdString(name.string()));
            QCOMPARE(read->vocab, 2);
            QCOMPARE(read->calls.size(), std::size_t{3});
            std::vector<float> row(2);
            QVERIFY(read->logits->read(0, 0, 1, row));
            QCOMPARE(row, (std::vector<float>{3, 4}));
            QVERIFY(read->logits->read(0, 0, 2, row));
            QVERIFY(std::isnan(row[0]) && std::isinf(row[1]));
            QVERIFY(read->logits->read(1, 1, 0, row));
            QCOMPARE(row, (std::vector<float>{7, 8}));
            QVERIFY(!read->logits->read(1, 1, 1, row));
        }
    }

    void absentAndNullAreUnknown() {
        const auto trace =
            parsed(document(R"({"input_ids": [[1, 2]], "position_ids": null, "cache_bytes": null, "_mine": 1},
                        {"input_ids": [[1]], "attention_mask": null, "cache_length_before": 0})"));
        QVERIFY2(trace, trace ? "" : qPrintable(sentence(trace.error())));
        const TraceCall& first = trace->calls[0];
        QVERIFY(first.position_ids.empty() && !first.cache_bytes && !first.mask_known);
        QVERIFY(first.cache_length_before.empty());
        QVERIFY(trace->calls[1].mask_known && trace->calls[1].attention_mask.empty());
        QCOMPARE(trace->calls[1].cache_length_before, std::vector<std::int64_t>{0});
        QVERIFY(!trace->logits);
        QVERIFY(!trace->model);
    }

    void otherTypesAndRowsOfLogits() {
        const TestFolder folder;
        folder.write("trace.safetensors", tensors());
        folder.write("trace.json", document(R"({"input_ids": [[1, 2]], "logits": "h"})"));
        const auto trace = load_trace(folder.path());
        QVERIFY2(trace, trace ? "" : qPrintable(sentence(trace.error())));
        QCOMPARE(trace->vocab, 4);
        QCOMPARE(trace->calls[0].logits, LogitRows::all);
        QCOMPARE(trace->logits->dtype(0), DType::f16);
        std::vector<float> row(4);
        QVERIFY(trace->logits->read(0, 0, 0, row));
        QCOMPARE(row, (std::vector<float>{1, 0, 0, 0}));
    }

    void aModelBesideTheTraceIsFound() {
        const TestFolder folder;
        std::filesystem::create_directory(folder.path("model"));
        folder.write("trace.json", document(R"({"input_ids": [[1]]})", R"("model": {"path": "model"}, )"));
        const auto trace = load_trace(folder.path());
        QVERIFY(trace);
        QCOMPARE(trace->model->path, folder.path("model").string());
        folder.write("trace.json", document(R"({"input_ids": [[1]]})", R"("model": {"path": "demo"}, )"));
        QCOMPARE(load_trace(folder.path())->model->path, std::string("demo"));
    }

    void unknownMembersAreWarnedAbout() {
        std::vector<std::string> warnings;
        QVERIFY(parsed(document(R"({"input_ids": [[1]], "positions": [[0]]})"), &warnings));
        QCOMPARE(warnings, std::vector<std::string>{"calls[0].positions is not known and was ignored."});
    }

    void brokenTracesAreRefused_data();
    void brokenTracesAreRefused();
    void brokenFilesAreRefused_data();
    void brokenFilesAreRefused();
};

void TestTraceFile::brokenTracesAreRefused_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("expected");
    const auto call = [](const char* name, const char* members, const char* expected) {
        QTest::newRow(name) << document("{" + QByteArray(members) + "}") << expected;
    };
    QTest::newRow("no JSON") << QByteArray("{") << "Not valid JSON at line 1, column 2.";
    QTest::newRow("another schema") << QByteArray(R"({"schema": "decodescope.trace/2", "calls": []})")
                                    << "schema is \"decodescope.trace/2\", which this version cannot read, "
                                       "expected \"decodescope.trace/1\".";
    QTest::newRow("no schema") << QByteArray(R"({"calls": []})") << "schema is missing.";
    QTest::newRow("no calls") << QByteArray(R"({"schema": "decodescope.trace/1"})") << "calls is missing.";
    QTest::newRow("zero calls") << document("") << "calls is empty, expected at least one call.";
    QTest::newRow("a call that is none") << document("3") << "calls[0] is 3, expected an object.";
    call("no ids", "", "calls[0].input_ids is missing.");
    call("flat ids", R"("input_ids": [1, 2])", "calls[0].input_ids[0] is 1, expected an array.");
    call("ragged ids", R"("input_ids": [[1, 2], [1]])", "calls[0].input_ids[1] has 1 columns, expected 2.");
    call("empty rows", R"("input_ids": [[]])", "calls[0].input_ids[0] has 0 columns, expected 1.");
    call("no rows", R"("input_ids": [])", "calls[0].input_ids is empty, expected one array per row.");
    call("a negative id", R"("input_ids": [[-1]])",
         "calls[0].input_ids[0][0] is -1, expected 0 to 2147483647.");
    call("a fraction", R"("input_ids": [[1.5]])",
         "calls[0].input_ids[0][0] is 1.5, expected a whole number.");
    call("a huge id", R"("input_ids": [[18446744073709551615]])",
         "calls[0].input_ids[0][0] is 18446744073709551615, expected 0 to 2147483647.");
    call("positions", R"("input_ids": [[1, 2]], "position_ids": [[0]])",
         "calls[0].position_ids[0] has 1 columns, expected 2.");
    call("position rows", R"("input_ids": [[1, 2]], "position_ids": [[0, 1], [0, 1]])",
         "calls[0].position_ids has 2 rows, expected 1.");
    call("mask values", R"("input_ids": [[1]], "attention_mask": [[2]])",
         "calls[0].attention_mask[0][0] is 2, expected 0 to 1.");
    call("mask rows", R"("input_ids": [[1], [2]], "attention_mask": [[1, 1], [1]])",
         "calls[0].attention_mask[1] has 1 columns, expected 2.");
    call("real", R"("input_ids": [[1, 2]], "real": [[1, 1, 1]])",
         "calls[0].real[0] has 3 columns, expected 2.");
    call("a negative length", R"("input_ids": [[1]], "cache_length_before": -1)",
         "calls[0].cache_length_before is -1, expected 0 to 9007199254740992.");
    call("a length of text", R"("input_ids": [[1]], "cache_length_after": "7")",
         "calls[0].cache_length_after is \"7\", expected a whole number.");
    call("lengths", R"("input_ids": [[1]], "cache_length_after": [1, 2])",
         "calls[0].cache_length_after has 2 values, expected one per row (1).");
    call("negative bytes", R"("input_ids": [[1]], "cache_bytes": -5)",
         "calls[0].cache_bytes is -5, expected 0 to 9007199254740992.");
    call("both names", R"("input_ids": [[1]], "request": "a", "requests": ["a"])",
         "calls[0].request and requests are both set.");
    call("one name for two", R"("input_ids": [[1], [1]], "request": "a")",
         "calls[0].request names one request, but the call has 2 rows: expected requests with one name per "
         "row.");
    call("names", R"("input_ids": [[1]], "requests": ["a", "b"])",
         "calls[0].requests has 2 names, expected one per row (1).");
    call("a parent of nobody", R"("input_ids": [[1]], "parents": [0])",
         "calls[0].parents[0] is 0, but the call before has 0 rows.");
    call("accepted", R"("input_ids": [[1, 2]], "accepted": 2)", "calls[0].accepted is 2, expected 0 to 1.");
    call("columns", R"("input_ids": [[1, 2]], "logits_columns": [2])",
         "calls[0].logits_columns[0] is 2, expected -1 to 1.");
    call("slots", R"("input_ids": [[1]], "cache_positions": [0])",
         "calls[0].cache_positions[0] is 0, expected an array.");
    call("a word for rows", R"("input_ids": [[1]], "logits_rows": "some")",
         "calls[0].logits_rows is \"some\", expected \"all\" or \"last\".");
    call("logits without a file", R"("input_ids": [[1]], "logits": "a")",
         "calls[0].logits names the tensor \"a\", but there is no trace.safetensors.");
    QTest::newRow("a negative window") << document(R"({"input_ids": [[1]]})", R"("window": {"size": -6}, )")
                                       << "window.size and sinks are not a window: expected a size of at "
                                          "least 1, sinks of at least 0.";
    QTest::newRow("texts") << document(R"({"input_ids": [[1]]})", R"("texts": [1], )")
                           << "texts is an array, expected an object.";
    QTest::newRow("a text without ids")
        << document(R"({"input_ids": [[1]]})", R"("texts": {"A": {}}, )") << "texts.\"A\".ids is missing.";
    QTest::newRow("negative ids") << document(R"({"input_ids": [[1]]})",
                                              R"("texts": {"A": {"ids": [1, -2]}}, )")
                                  << "texts.\"A\".ids[1] is -2, expected a token id (0 or more).";
    QTest::newRow("prompt") << document(R"({"input_ids": [[1]]})",
                                        R"("texts": {"A": {"ids": [1], "prompt_length": 2}}, )")
                            << "texts.\"A\".prompt_length is 2, expected 0 to 1.";
    QTest::newRow("start") << document(R"({"request": "A", "input_ids": [[1]], "text_start": 3})",
                                       R"("texts": {"A": {"ids": [1, 2]}}, )")
                           << "calls[0].text_start[0] is 3, beyond the 2 tokens of \"A\".";
    QTest::newRow("no model") << document(R"({"input_ids": [[1]]})", R"("model": {}, )")
                              << "model names neither a path nor a preset.";
    QByteArray deep;
    for (int i = 0; i < 100; ++i) deep += "[";
    QTest::newRow("deep") << deep << "The JSON document is nested deeper than 64 levels.";
}

void TestTraceFile::brokenTracesAreRefused() {
    QFETCH(QByteArray, json);
    QFETCH(QString, expected);
    const auto trace = parsed(json);
    QVERIFY(!trace);
    QCOMPARE(sentence(trace.error()), expected);
    QCOMPARE(exit_code(trace.error().kind), 2);
}

void TestTraceFile::brokenFilesAreRefused_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("expected");
    const auto logits = [](const char* members) {
        return document("{\"input_ids\": [[1, 2, 3]], " + QByteArray(members) + "}");
    };
    QTest::newRow("missing tensor") << logits(R"("logits": "b")") << tensors()
                                    << "calls[0].logits names the tensor \"b\", which trace.safetensors does "
                                       "not hold.";
    QTest::newRow("type") << logits(R"("logits": "i")") << tensors()
                          << "names the tensor \"i\", which has the type \"I32\", expected F32, F16 or BF16.";
    QTest::newRow("dimensions") << logits(R"("logits": "flat")") << tensors()
                                << "whose shape is [12], expected [1, 1 or 3, vocabulary].";
    QTest::newRow("shape") << logits(R"("logits": "h")") << tensors()
                           << "whose shape is [1, 2, 4], expected [1, 1 or 3, vocabulary].";
    QTest::newRow("rows") << logits(R"("logits": "a", "logits_rows": "last")") << tensors()
                          << "whose shape is [1, 3, 4], expected [1, 1, vocabulary].";
    QTest::newRow("vocabularies")
        << document(
               R"({"input_ids": [[1, 2, 3]], "logits": "a"}, {"input_ids": [[1, 2, 3]], "logits": "other"})")
        << tensors()
        << "calls[1].logits names the tensor \"other\", which has a vocabulary of 5, but those "
           "before have 4.";
    QTest::newRow("id out of range")
        << document(R"({"input_ids": [[1, 2, 4]], "logits": "a"})") << tensors()
        << "calls[0].input_ids[0][2] is 4, but the logits have a vocabulary of 4.";
    QTest::newRow("an error with logits") << logits(R"("logits": "a", "error": "oops")") << tensors()
                                          << "calls[0].logits is set, but the call failed with an error.";
    QTest::newRow("10 GB in 1 KB")
        << logits(R"("logits": "a")")
        << safetensors(R"({"a":{"dtype":"F32","shape":[1,3,833333333],"data_offsets":[0,9999999996]}})",
                       QByteArray(1024, '\0'))
        << "trace.safetensors: the header describes 9999999996 bytes of data, but the file holds 1024";
    QTest::newRow("cut short") << logits(R"("logits": "a")") << tensors().first(100)
                               << "trace.safetensors: says that its header has";
    QTest::newRow("empty") << logits(R"("logits": "a")") << QByteArray() << "trace.safetensors: is empty";
    QTest::newRow("web page") << logits(R"("logits": "a")") << QByteArray("<!DOCTYPE html><html></html>")
                              << "trace.safetensors: ";
}

void TestTraceFile::brokenFilesAreRefused() {
    QFETCH(QByteArray, json);
    QFETCH(QByteArray, file);
    QFETCH(QString, expected);
    const TestFolder folder;
    folder.write("trace.json", json);
    folder.write("trace.safetensors", file);
    const auto trace = load_trace(folder.path());
    QVERIFY(!trace);
    QVERIFY2(sentence(trace.error()).contains(expected), qPrintable(sentence(trace.error())));
    QVERIFY(sentence(trace.error()).startsWith(QString::fromStdString(folder.path().string())));
    QCOMPARE(exit_code(trace.error().kind), 2);
}

QTEST_APPLESS_MAIN(TestTraceFile)
#include "tst_trace_file.moc"
