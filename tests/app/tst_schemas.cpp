// SPDX-License-Identifier: GPL-3.0-or-later
// Every JSON file that the program writes against its schema in resources/schema, by an independent validator
// (validate_json.py, which needs Python's jsonschema), and that spoiled copies of it do not pass.
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "tests/app/cli_process.h"
#include "tests/file_content.h"

using namespace decodescope::test;

namespace {

const QString schemas = DECODESCOPE_SOURCE_DIR "/resources/schema";
const QString traces = DECODESCOPE_TEST_DATA "/traces/";

QStringList tinyRun(const QString& lanes) {
    return {"run", "--model",       "preset:tiny", "--ids",     "3,1,4,1,5", "--tokens",
            "3",   "--lanes",       lanes,         "--threads", "1",         "--warmup",
            "0",   "--repetitions", "2",           "--format",  "json"};
}

}  // namespace

class TestSchemas : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        for (const char* python : {"python3", "/usr/bin/python3"}) {
            m_python = python;
            if (validate({schemas, "/dev/null"}).exitCode != 3) return;
        }
        // Where everything is meant to be tested, nothing may be left out.
        if (!qEnvironmentVariableIsEmpty("CI")) QFAIL("Python's jsonschema is missing (python3-jsonschema)");
        QSKIP("Python's jsonschema is missing (Debian: python3-jsonschema)");
    }

    void schemasAreSchemas() {
        const Outcome outcome = validate({schemas});
        QVERIFY2(outcome.exitCode == 0, outcome.out + outcome.err);
    }

    /// Each kind that is written with a schema's name has one, and `show` knows it.
    void everySchemaIsThere() {
        const QString path = m_folder.filePath("unknown.json");
        writeFile(path, "{\"schema\": \"decodescope.none/1\"}");
        const QString sentence = QString::fromUtf8(cli({"show", path}).err).trimmed();
        const QStringList known = sentence.section("expected one of ", 1).chopped(1).split(", ");
        QVERIFY2(known.size() >= 9, qPrintable(sentence));
        for (const QString& name : known) {
            const QString kind = name.section('.', 1).section('/', 0, 0);
            QVERIFY2(QFile::exists(schemas + "/" + kind + ".schema.json"), qPrintable(name));
        }
    }

    void written_data() {
        QTest::addColumn<QStringList>("command");
        QTest::addColumn<QString>("kind");  // empty: the document says it
        QTest::addColumn<bool>("lines");
        const auto json = [](const char* name, const QStringList& command, const char* kind = "") {
            QTest::newRow(name) << command << kind << false;
        };
        const auto lines = [](const char* name, const QStringList& command, const char* kind = "") {
            QTest::newRow(name) << command + QStringList{"--format", "jsonl"} << kind << true;
        };
        json("record", tinyRun("naive,static"));
        json("record of a Llama",
             tinyRun("naive,int8,kivi4").replaceInStrings("preset:tiny", "preset:tiny-llama"));
        json("record with requests", tinyRun("naive,paged,batch,continuous") + QStringList{"--ids", "2,7"});
        json("record with drafts", tinyRun("naive,speculative,speculative-layers"));
        json("record with a window", tinyRun("naive,window") + QStringList{"--window", "3,sinks=1"});
        json("record with samples",
             tinyRun("naive,f16") + QStringList{"--temperature", "0.8", "--top-k", "5", "--seed", "3",
                                                "--min-p", "0.01", "--top-p", "0.9", "--drive", "free"});
        json("record of given tokens",
             tinyRun("naive,concat") + QStringList{"--drive", "fixed", "--fixed-ids", "9,2"});
        json("record with verdicts", tinyRun("naive,static+position-restart") + QStringList{"--verdict"});
        json("record of what broke", tinyRun("naive,concat+concat-wrong-axis"));
        json("record of weights", tinyRun("static,static+weights-int8,naive+openblas"));
        json("record without room", tinyRun("naive,static") + QStringList{"--capacity", "6"});
        json("record of beams", tinyRun("beam") + QStringList{"--drive", "free"});
        const QStringList tiny = {"--model", "preset:tiny"};
        QStringList run = tinyRun("naive+openblas,int8+weights-int4,speculative");
        run.resize(run.size() - 2);
        lines("lanes", run);
        const QStringList fault = {"diagnose", traces + "gpt2-restart"};
        json("verdict", fault + QStringList{"--format", "json"});
        json("verdict on two",
             {"diagnose", traces + "gpt2-batch", "--against", traces + "gpt2-left-pad", "--format", "json"});
        lines("verdict in a line", fault);
        json("model", QStringList{"inspect", "--format", "json"} + tiny);
        json("demo model", {"inspect", "--format", "json"});
        lines("tensors", QStringList{"inspect"} + tiny, "tensor_line");
        json("verify", QStringList{"verify", "--format", "json"} + tiny);
        lines("checks", QStringList{"verify"} + tiny, "check_line");
        json("faults", {"faults", "--format", "json"}, "faults");
        json("fault", {"faults", "position-restart", "--format", "json"}, "fault");
        lines("fault lines", {"faults"}, "fault");
        json("plan", QStringList{"plan", "--format", "json"} + tiny);
        json("plan of growing", QStringList{"plan", "--cache", "concat", "--format", "json"} + tiny);
        json("plan, checked", QStringList{"plan", "--check", "--tokens", "4", "--format", "json"} + tiny);
        json("plan of a configuration", {"plan", "deepseek-v3", "--memory", "1G", "--format", "json"});
        lines("plan lines", QStringList{"plan", "--check", "--tokens", "4"} + tiny, "plan_line");
        json("known configurations", {"plan", "--list", "--format", "json"});
        lines("known configuration lines", {"plan", "--list"}, "plan-model_line");
        const QStringList account = QStringList{"account", "--prompt-length", "5", "--tokens", "4"} + tiny;
        json("account", account + QStringList{"--format", "json"});
        json("account without a run", account + QStringList{"--no-run", "--format", "json"});
        lines("account lines", account, "account_line");
        const QStringList grid =
            QStringList{"--lanes",   "naive+weights-bf16,static+position-restart,int8,continuous",
                        "-p",        "6",
                        "-n",        "3",
                        "-d",        "0,4",
                        "-r",        "2",
                        "--seconds", "0"} +
            tiny;
        json("bench", QStringList{"bench", "--format", "json"} + grid);
        json("bench without repetition",
             QStringList{"bench", "--format", "json", "--lanes", "static", "-p", "4", "-n", "0", "-r", "1"} +
                 tiny);
        lines("cells", QStringList{"bench"} + grid);
        json("self-test", QStringList{"bench", "--self-test", "--format", "json"} + tiny);
        json("devices", {"devices", "--format", "json"});
        lines("device lines", {"devices"}, "device");
        json("record of a lane with a device", tinyRun("naive,static+cpu"));
        json("mistakes", {"mistakes", "--format", "json"});
        lines("mistake lines", {"mistakes"}, "mistake");
        json("tokens", {"tokenize", "--text", "Mr. Bennet", "--format", "json"}, "tokens");
        lines("token lines", {"tokenize", "--text", "Mr. Bennet"}, "token_line");
    }
    void written() {
        QFETCH(QStringList, command);
        QFETCH(QString, kind);
        QFETCH(bool, lines);
        const QString path = m_folder.filePath("written.json");
        const Outcome outcome = cli(command + QStringList{"--output", path});
        QVERIFY2(outcome.exitCode == 0 || outcome.exitCode == 1 || outcome.exitCode == 3, outcome.err);
        const QString row = QTest::currentDataTag();
        const bool spoil = !row.startsWith("record ") || row.endsWith("requests") || row.endsWith("drafts") ||
                           row.endsWith("verdicts");
        expectValid(path, kind, lines, spoil);
    }

    void compared_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("pair");
        for (const char* format : {"json", "jsonl"}) {
            for (const char* pair : {"static=static", "naive=static", "static=wrong"})
                QTest::addRow("%s %s", format, pair) << format << pair;
        }
    }
    void compared() {
        QFETCH(QString, format);
        QFETCH(QString, pair);
        const QString a = m_folder.filePath("a.json");
        const QString b = m_folder.filePath("b.json");
        QVERIFY(cli(tinyRun("naive,static") + QStringList{"--output", a}).exitCode == 0);
        QVERIFY(cli(tinyRun("naive,static,static+position-restart") + QStringList{"--output", b}).exitCode ==
                1);
        const QString path = m_folder.filePath("comparison.json");
        const Outcome outcome =
            cli({"compare", a, b, "--lane", pair.replace("wrong", "static+position-restart"), "--format",
                 format, "--output", path});
        QVERIFY2(outcome.exitCode < 2, outcome.err);
        expectValid(path, {}, format == "jsonl");
    }

    void inside_data() {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("prefill of a paged cache") << QStringList{"--lane", "paged", "--times", "--all-heads"};
        QTest::newRow("naive step") << QStringList{"--lane", "naive", "--step", "2", "--layer", "1"};
        QTest::newRow("batch") << QStringList{"--lane", "batch", "--step", "1"};
        QTest::newRow("drafts") << QStringList{"--lane", "speculative", "--step", "1"};
    }
    void inside() {
        QFETCH(QStringList, words);
        const QString record = m_folder.filePath("inside_record.json");
        if (!QFile::exists(record))
            cli(tinyRun("naive,paged,batch,speculative") + QStringList{"--ids", "2,7", "--output", record});
        const QString path = m_folder.filePath("inside.json");
        const Outcome outcome =
            cli(QStringList{"inside", record, "--format", "json", "--output", path} + words);
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        expectValid(path, {}, false);
    }

    void sweepFiles() {
        const QString path = m_folder.filePath("sweep.jsonl");
        const QStringList sweep = {"sweep", "--model",  "preset:tiny", "--lanes", "naive,static", "-p", "4",
                                   "-n",    "2,3,4",    "-r",          "2",       "--seconds",    "0",  "-o",
                                   path,    "--format", "json"};
        const Outcome outcome = cli(sweep);
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        expectValid(path, {}, true);
        const QString printed = m_folder.filePath("sweep.json");
        writeFile(printed, outcome.out);
        expectValid(printed, {}, false);
        const Outcome merged = cli({"sweep", "merge", path, "--format", "jsonl", "--output", printed});
        QVERIFY2(merged.exitCode == 0, merged.err);
        expectValid(printed, {}, true);
    }

    void sweepEstimates() {
        const QStringList dry = {
            "sweep", "--dry-run", "--model", "preset:tiny", "--lanes", "naive,continuous,int8", "-p", "6",
            "-n",    "3",         "-d",      "0,4",         "--format"};
        const QString path = m_folder.filePath("estimate.json");
        writeFile(path, cli(dry + QStringList{"json"}).out);
        expectValid(path, {}, false);
        writeFile(path, cli(dry + QStringList{"jsonl"}).out);
        expectValid(path, "sweep_estimate_line", true);
    }

    void calibrations() {
        QVERIFY(qputenv("XDG_CACHE_HOME", m_folder.path().toUtf8()));
        const Outcome outcome =
            cli({"bench", "--model", "preset:tiny", "-p", "4", "-n", "0", "-r", "1", "--lanes", "static"});
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        expectValid(m_folder.filePath("decodescope/calibration.json"), {}, false);
    }

    void chromeTraces() {
        const QString path = m_folder.filePath("events.json");
        QVERIFY(cli(tinyRun("naive,speculative-layers") +
                    QStringList{"--trace-events", path, "--output", "/dev/null"})
                    .exitCode == 0);
        expectValid(path, {}, false);
        const QString record = m_folder.filePath("record.json");
        QVERIFY(cli(tinyRun("naive,static") + QStringList{"--capacity", "6", "--output", record}).exitCode ==
                3);
        QVERIFY(cli({"show", record, "--format", "trace", "--output", path}).exitCode == 0);
        expectValid(path, {}, false);
    }

    void files_data() {
        QTest::addColumn<QString>("path");
        const QDir experiments(DECODESCOPE_SOURCE_DIR "/resources/experiments");
        for (const QString& name : experiments.entryList({"*.json"}, QDir::Files))
            QTest::newRow(qPrintable(name)) << experiments.filePath(name);
        for (const QString& name : QDir(traces).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            QTest::newRow(qPrintable(name)) << traces + name + "/trace.json";
    }
    void files() {
        QFETCH(QString, path);
        // Few of them have members that the others lack.
        const bool spoil = path.contains("prefix_sharing") || path.contains("gpt2-beams");
        expectValid(path, {}, false, spoil);
    }

    /// What the program refuses or warns about, the schema refuses too, so that an editor can show it.
    void brokenExperiments_data() {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        const auto row = [](const char* name, const char* from, const char* to) {
            QTest::newRow(name) << QByteArray(from) << QByteArray(to);
        };
        row("sound", "\"so\"", "\"so it is\"");
        row("misspelt member", "\"new_tokens\"", "\"new_token\"");
        row("misspelt in a lane", "\"mode\": \"cached\"", "\"mode\": \"cached\", \"chunk\": 3");
        row("misspelt in a cache", "\"kind\": \"static\"", "\"kind\": \"static\", \"capasity\": 3");
        row("word", "\"cached\"", "\"kached\"");
        row("number as text", "\"new_tokens\": 4", "\"new_tokens\": \"4\"");
        row("too few tokens", "\"new_tokens\": 4", "\"new_tokens\": 0");
        row("no prompts", "\"prompts\": [{\"text\": \"a\"}]", "\"prompts\": []");
        row("two kinds of prompt", "{\"text\": \"a\"}", "{\"text\": \"a\", \"ids\": [1]}");
        row("no kind of prompt", "{\"text\": \"a\"}", "{}");
        row("control of ids", "{\"text\": \"a\"}", "{\"ids\": [1], \"control\": true}");
        row("cached without cache", ", \"cache\": {\"kind\": \"static\"}", "");
        row("naive with a cache", "\"mode\": \"naive\"",
            "\"mode\": \"naive\", \"cache\": {\"kind\": \"static\"}");
        row("draft of a cached lane", "\"mode\": \"cached\"",
            "\"mode\": \"cached\", \"draft\": {\"kind\": \"ngram\"}");
        row("given tokens, other drive", "\"new_tokens\": 4", "\"new_tokens\": 4, \"fixed_ids\": [1, 2, 3]");
        row("two models", "\"path\": \"demo\"", "\"path\": \"demo\", \"preset\": \"tiny\"");
        row("seed without preset", "\"path\": \"demo\"", "\"path\": \"demo\", \"seed\": 1");
        row("unknown weights", "\"mode\": \"cached\"", "\"mode\": \"cached\", \"weights\": \"int3\"");
        row("unknown kernels", "\"mode\": \"cached\"", "\"mode\": \"cached\", \"kernels\": \"mkl\"");
        row("OpenBLAS on bf16", "\"mode\": \"cached\"",
            "\"mode\": \"cached\", \"weights\": \"bf16\", \"kernels\": \"openblas\"");
        row("odd group", "\"kind\": \"static\"", "\"kind\": \"kivi\", \"group\": 12");
        row("other schema", "experiment/1", "experiment/2");
    }
    void brokenExperiments() {
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        const QByteArray sound =
            R"({"schema": "decodescope.experiment/1", "_": "a comment", "model": {"path": "demo"},
                "prompts": [{"text": "a"}], "new_tokens": 4,
                "lanes": [{"name": "a", "mode": "naive"},
                          {"name": "b", "mode": "cached", "cache": {"kind": "static"}, "_why": "so"}]})";
        const QString path = m_folder.filePath("experiment.json");
        QCOMPARE(sound.count(from), 1);
        writeFile(path, QByteArray(sound).replace(from, to));
        const Outcome outcome = validate({schemas, "--kind", "experiment", path});
        const Outcome shown = cli({"show", path});
        if (QString(QTest::currentDataTag()) == "sound") {
            QVERIFY2(outcome.exitCode == 0, outcome.out + outcome.err);
            QVERIFY2(shown.exitCode == 0 && shown.err.isEmpty(), shown.err);
            return;
        }
        QVERIFY2(outcome.exitCode == 1, outcome.out + outcome.err);
        QVERIFY2(shown.exitCode == 2 || shown.err.contains("is not known and was ignored"), shown.err);
    }

    /// A schema that lets things pass is noticed.
    void looseSchemasAreNoticed() {
        QTemporaryDir loose;
        for (const QString& name : QDir(schemas).entryList({"*.json"}, QDir::Files))
            QVERIFY(QFile::copy(schemas + "/" + name, loose.filePath(name)));
        const QString verify = loose.filePath("verify.schema.json");
        const QByteArray text = contentOf(verify);
        QVERIFY(text.contains("\"additionalProperties\": false"));
        QFile::remove(verify);
        writeFile(verify,
                  QByteArray(text).replace("\"additionalProperties\": false", "\"minProperties\": 1"));
        QCOMPARE(validate({loose.path()}).exitCode, 1);
        const QString path = m_folder.filePath("verify.json");
        QCOMPARE(cli({"verify", "--model", "preset:tiny", "--format", "json", "--output", path}).exitCode, 0);
        QCOMPARE(validate({schemas, "--damage", path}).exitCode, 0);
        const Outcome outcome = validate({loose.path(), "--damage", path});
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY2(outcome.out.contains("passes although spoiled: checks/0: a member too many"), outcome.out);
    }

private:
    Outcome validate(const QStringList& arguments) const {
        QProcess process;
        process.start(m_python,
                      QStringList{DECODESCOPE_SOURCE_DIR "/tests/app/validate_json.py"} + arguments);
        if (!process.waitForFinished(patience) || process.exitStatus() != QProcess::NormalExit) return {};
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }

    /// The file is as its schema says, and (with `spoil`) no longer so when it is spoiled anywhere.
    void expectValid(const QString& path, const QString& kind, bool lines, bool spoil = true) const {
        QStringList arguments = {schemas, path};
        if (spoil) arguments << "--damage";
        if (!kind.isEmpty()) arguments << "--kind" << kind;
        if (lines) arguments << "--lines";
        const Outcome outcome = validate(arguments);
        QVERIFY2(outcome.exitCode == 0, outcome.out.left(4000) + outcome.err);
    }

    QString m_python;
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestSchemas)
#include "tst_schemas.moc"
