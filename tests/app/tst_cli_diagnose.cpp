// SPDX-License-Identifier: GPL-3.0-or-later
#include <QJsonArray>
#include <QTest>

#include "tests/app/cli_process.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope::test;

namespace {

QString trace(const char* name) {
    return QStringLiteral(DECODESCOPE_TEST_DATA "/traces/") + name;
}

}  // namespace

/// `diagnose` through the real program.
class TestCliDiagnose : public QObject {
    Q_OBJECT

private slots:
    void exitCodes_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("verdict");
        QTest::newRow("equal") << "gpt2-generate-f32" << 0 << "equal";
        QTest::newRow("precision") << "llama-generate-f16" << 0 << "precision";
        QTest::newRow("harmless") << "llama-left-pad" << 0 << "harmless";
        QTest::newRow("fault") << "llama-no-mask" << 1 << "fault";
    }
    void exitCodes() {
        QFETCH(QString, name);
        QFETCH(int, code);
        QFETCH(QString, verdict);
        const Outcome outcome = cli({"diagnose", trace(qPrintable(name)), "--format", "json"});
        QCOMPARE(outcome.exitCode, code);
        QCOMPARE(jsonOf(outcome.out)["verdict"].toString(), verdict);
        QVERIFY(outcome.err.isEmpty());
    }

    void jsonHasEverything() {
        const Outcome outcome =
            cli({"diagnose", trace("gpt2-restart"), "--format", "json", "--threads", "1"});
        QCOMPARE(outcome.exitCode, 1);
        const QJsonValue json = jsonOf(outcome.out);
        QCOMPARE(json["schema"].toString(), "decodescope.verdict/1");
        QCOMPARE(json["kind"].toString(), "position");
        QCOMPARE(json["certainty"].toString(), "certain");
        QCOMPARE(json["expected"].toString(), "position 7");
        QCOMPARE(json["found"].toString(), "position 0");
        const QJsonValue first = json["first"];
        QCOMPARE(first["call"].toInt(), 1);
        QCOMPARE(first["request"].toString(), "A");
        QCOMPARE(first["row"].toInt(), 0);
        QCOMPARE(first["column"].toInt(), 0);
        QCOMPARE(first["tensor"].toString(), "position ids");
        QVERIFY(first.toObject().contains("layer"));
        QVERIFY(json["next"].isNull());
        QVERIFY(json["summary"].toString().contains("restart at 0"));
        QVERIFY(json["evidence"].toArray().size() >= 3);
        for (const QJsonValue& item : json["evidence"].toArray()) {
            QVERIFY(!item["claim"].toString().isEmpty() && !item["text"].toString().isEmpty());
            QVERIFY(item["held"].isBool());
        }
    }

    void otherFormats() {
        const Outcome table = cli({"diagnose", trace("gpt2-restart")});
        QCOMPARE(table.exitCode, 1);
        QVERIFY(table.out.startsWith(
            "Positions restart at 0 in every call: expected position 7, found position 0."));
        QVERIFY(table.out.contains("fault: position"));
        const Outcome md = cli({"diagnose", trace("gpt2-restart"), "--format", "md"});
        QVERIFY(md.out.startsWith("**Positions restart"));
        QVERIFY(md.out.contains("| found"));
        QCOMPARE(cli({"diagnose", trace("gpt2-restart"), "--format", "jsonl"}).out.count('\n'), 1);
    }

    void twoRunsAgainstEachOther() {
        const Outcome outcome = cli(
            {"diagnose", trace("gpt2-restart"), "--against", trace("gpt2-generate-f32"), "--format", "json"});
        QCOMPARE(outcome.exitCode, 1);
        const QJsonValue json = jsonOf(outcome.out);
        QCOMPARE(json["kind"].toString(), "position");
        QVERIFY(json["summary"].toString().contains("departs from the truth"));
        const Outcome same = cli(
            {"diagnose", trace("gpt2-batch"), "--against", trace("gpt2-generate-f32"), "--format", "json"});
        QCOMPARE(same.exitCode, 0);
        QCOMPARE(jsonOf(same.out)["verdict"].toString(), "equal");
    }

    // Lanes of our own are judged as other programs' runs are.
    void lanesOfARun() {
        const QStringList words = {"run",
                                   "--model",
                                   "preset:tiny",
                                   "--random-prompt",
                                   "8",
                                   "--tokens",
                                   "6",
                                   "--lanes",
                                   "naive,static,static+position-restart",
                                   "--warmup",
                                   "0",
                                   "--verdict"};
        const Outcome json = cli(words + QStringList{"--format", "json"});
        QCOMPARE(json.exitCode, 1);
        const QJsonValue verdicts = jsonOf(json.out)["verdicts"];
        QCOMPARE(verdicts["naive"]["verdict"].toString(), "equal");
        QCOMPARE(verdicts["static"]["verdict"].toString(), "equal");
        QCOMPARE(verdicts["static+position-restart"]["verdict"].toString(), "fault");
        QCOMPARE(verdicts["static+position-restart"]["kind"].toString(), "position");
        QCOMPARE(jsonOf(json.out)["schema"].toString(), "decodescope.record/1");
        const Outcome table = cli(words);
        QVERIFY(table.out.contains("Verdict on static+position-restart: Positions restart at 0"));
        const Outcome csv = cli(words + QStringList{"--format", "csv"});
        QVERIFY(csv.err.contains("Verdict on static: equal."));
        QVERIFY(!csv.out.contains("erdict"));
    }

    void theModelOfTheCommandLineWins() {
        const Outcome outcome = cli({"diagnose", trace("gpt2-generate-f32"), "--model",
                                     DECODESCOPE_TEST_DATA "/gpt2/untied-f32", "--format", "json"});
        QCOMPARE(jsonOf(outcome.out)["model"].toString(), DECODESCOPE_TEST_DATA "/gpt2/untied-f32");
        QVERIFY(jsonOf(outcome.out)["verdict"].toString() != "equal");
    }

    void brokenTraces_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("tensors");
        QTest::addColumn<QString>("sentence");
        const QByteArray head =
            R"({"schema": "decodescope.trace/1", "model": {"preset": "tiny"}, "calls": [)";
        const QByteArray data(3 * 64 * 4, '\0');
        const QByteArray good = R"("a":{"dtype":"F32","shape":[1,3,64],"data_offsets":[0,768]})";
        const auto row = [&](const char* name, const QByteArray& call, const QByteArray& tensors,
                             const char* says) {
            QTest::newRow(name) << QByteArray(head + call + "]}") << tensors << says;
        };
        row("missing tensor", R"({"input_ids": [[1, 2, 3]], "logits": "b"})",
            safetensors("{" + good + "}", data),
            "names the tensor \"b\", which trace.safetensors does not hold.");
        row("wrong shape", R"({"input_ids": [[1, 2]], "logits": "a"})", safetensors("{" + good + "}", data),
            "whose shape is [1, 3, 64], expected [1, 1 or 2, vocabulary].");
        row("10 GB in 1 KB", R"({"input_ids": [[1, 2, 3]], "logits": "a"})",
            safetensors(R"({"a":{"dtype":"F32","shape":[1,3,833333333],"data_offsets":[0,9999999996]}})",
                        data),
            "describes 9999999996 bytes of data, but the file holds 768");
        row("another vocabulary", R"({"input_ids": [[1, 2, 3]], "logits": "a"})",
            safetensors(R"({"a":{"dtype":"F32","shape":[1,3,32],"data_offsets":[0,384]}})", data.first(384)),
            "the logits have a vocabulary of 32, but the model has 64.");
        row("ids beyond the model", R"({"input_ids": [[64]]})", {},
            "calls[0].input_ids holds 64, but the model has a vocabulary of 64.");
        row("places beyond the model", R"({"input_ids": [[1]], "text_start": 64})", {},
            "reaches token 64 of its text, but the model has 64 positions.");
        row("negative length", R"({"input_ids": [[1]], "cache_length_before": -1})", {},
            "calls[0].cache_length_before is -1");
        QTest::newRow("schema") << QByteArray(R"({"schema": "decodescope.trace/9", "calls": []})")
                                << QByteArray() << "expected \"decodescope.trace/1\".";
        QTest::newRow("no model")
            << QByteArray(R"({"schema": "decodescope.trace/1", "calls": [{"input_ids": [[1]]}]})")
            << QByteArray() << "names no model, expected one in the trace or as --model.";
        QTest::newRow("no JSON") << QByteArray("PK\x03\x04") << QByteArray() << "Not valid JSON";
    }
    void brokenTraces() {
        QFETCH(QByteArray, json);
        QFETCH(QByteArray, tensors);
        QFETCH(QString, sentence);
        const TestFolder folder;
        folder.write("trace.json", json);
        if (!tensors.isEmpty()) folder.write("trace.safetensors", tensors);
        expectRefusal("diagnose " + QString::fromStdString(folder.path().string()), sentence);
    }

    void noTrace() {
        expectRefusal("diagnose /does/not/exist", "/does/not/exist");
        expectRefusal("diagnose", "trace is required");
    }

    void helpHasAnExample() {
        const Outcome outcome = cli({"diagnose", "--help"});
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY(outcome.out.contains("decodescope-cli diagnose my_run"));
        QVERIFY(outcome.out.contains("decodescope_trace.py"));
    }
};

QTEST_APPLESS_MAIN(TestCliDiagnose)
#include "tst_cli_diagnose.moc"
