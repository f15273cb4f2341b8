// SPDX-License-Identifier: GPL-3.0-or-later
// Saved files: traces of events, show, compare.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "tests/app/cli_process.h"
#include "tests/file_content.h"

using namespace decodescope::test;

namespace {

const QStringList tinyRun = {
    "run",     "--model",      "preset:tiny", "--ids", "3,1,4,1,5,9,2", "--tokens", "6",
    "--lanes", "naive,static", "--threads",   "1",     "--repetitions", "3"};

}  // namespace

class TestCliRecords : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        m_record = m_folder.filePath("record.json");
        m_trace = m_folder.filePath("events.json");
        const Outcome outcome = cli(tinyRun + QStringList{"--format", "json", "--output", m_record,
                                                          "--trace-events", m_trace, "--verdict"});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        QVERIFY(outcome.out.isEmpty());
    }

    /// The engine's own test looks at every span; here that the program writes them.
    void runWritesTraceEvents() {
        const QJsonValue trace = jsonOf(contentOf(m_trace));
        int steps = 0;
        int instrumented = 0;
        int attention = 0;
        for (const QJsonValue& event : trace["traceEvents"].toArray()) {
            const bool step = event["cat"].toString() == "step";
            steps += step && event["pid"].toInt() == 1;
            instrumented += step && event["pid"].toInt() == 2;
            attention += event["name"].toString() == "attention";
        }
        QCOMPARE(steps, 2 * 3 * 6);
        QCOMPARE(instrumented, 2 * 6);
        QCOMPARE(attention, 2 * 6 * 2);  // lanes x steps x layers
    }

    void traceOfARecord() {
        const Outcome plain = cli({"show", m_record, "--format", "trace"});
        QCOMPARE(plain.exitCode, 0);
        QVERIFY(jsonOf(plain.out)["traceEvents"].isArray());
        QVERIFY(!plain.out.contains("instrumented"));
        const Outcome inside = cli({"show", m_record, "--format", "trace", "--instrument"});
        QVERIFY2(inside.exitCode == 0, inside.err.constData());
        QVERIFY(inside.out.contains("\"name\":\"layer 1\""));
    }

    void showPrintsWhatRunPrints_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("part");
        QTest::newRow("table") << "table"
                               << "TTFT [ms]";
        QTest::newRow("md") << "md"
                            << "| lane | TTFT [ms]";
        QTest::newRow("csv") << "csv"
                             << "lane,repetition,step,phase";
        QTest::newRow("jsonl") << "jsonl"
                               << "{\"schema\":\"decodescope.lane/1\",\"lane\":\"naive\"";
        QTest::newRow("json") << "json"
                              << "{\n  \"schema\": \"decodescope.record/1\",\n";
    }
    void showPrintsWhatRunPrints() {
        QFETCH(QString, format);
        QFETCH(QString, part);
        const Outcome outcome = cli({"show", m_record, "--format", format});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        QVERIFY2(outcome.out.contains(part.toUtf8()), outcome.out.constData());
        QVERIFY2(outcome.err.isEmpty(), outcome.err.constData());
        if (format == "json") QCOMPARE(outcome.out, contentOf(m_record));
        const bool verdicts = format == "table" || format == "md" || format == "json";
        QCOMPARE(outcome.out.contains("Verdict on static"), verdicts && format != "json");
        QCOMPARE(outcome.out.contains("\"verdicts\""), format == "json");
    }

    /// What people wrote about a run stands above it.
    void showPrintsNotes_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("start");
        QTest::newRow("table") << "table"
                               << "Before the fix\n\nThe window was 7.\n\nModel";
        QTest::newRow("md") << "md"
                            << "# Before the fix\n\nThe window was 7.\n\n- **Model**";
        QTest::newRow("csv") << "csv"
                             << "lane,repetition,step,phase";
        QTest::newRow("json")
            << "json"
            << "{\n  \"schema\": \"decodescope.record/1\",\n  \"title\": \"Before the fix\",\n"
               "  \"notes\": \"The window was 7.\\n\",\n";
    }
    void showPrintsNotes() {
        QFETCH(QString, format);
        QFETCH(QString, start);
        QByteArray json = contentOf(m_record);
        json.replace(
            "  \"started_at\"",
            "  \"title\": \"Before the fix\",\n  \"notes\": \"The window was 7.\\n\",\n  \"started_at\"");
        const QString path = m_folder.filePath("noted.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(json);
        file.close();
        const Outcome outcome = cli({"show", path, "--format", format});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        QVERIFY2(outcome.out.startsWith(start.toUtf8()), outcome.out.left(400).constData());
        QVERIFY2(outcome.err.isEmpty(), outcome.err.constData());
    }

    /// What the other commands write is shown too.
    void showsEveryKind_data() {
        QTest::addColumn<QStringList>("command");
        QTest::addColumn<QString>("part");
        const QString traces = DECODESCOPE_TEST_DATA "/traces/";
        QTest::newRow("verdict") << QStringList{"diagnose", traces + "gpt2-restart", "--format", "json"}
                                 << "fault: position";
        QTest::newRow("model") << QStringList{"inspect", "--model", "preset:tiny", "--format", "json"}
                               << "n_layer";
        QTest::newRow("verify") << QStringList{"verify", "--model", "preset:tiny", "--format", "json"}
                                << "checks:";
        QTest::newRow("lanes") << tinyRun + QStringList{"--format", "jsonl"} << "decode_tok_s";
    }
    void showsEveryKind() {
        QFETCH(QStringList, command);
        QFETCH(QString, part);
        const QString path = m_folder.filePath("written.json");
        const Outcome written = cli(command + QStringList{"--output", path});
        QVERIFY2(written.exitCode < 2, written.err.constData());
        for (const char* format : {"table", "md", "csv", "json", "jsonl"}) {
            const Outcome outcome = cli({"show", path, "--format", format});
            QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
            QVERIFY2(outcome.out.size() > 20, outcome.out.constData());
            if (QByteArray(format) == "table") QVERIFY2(outcome.out.contains(part.toUtf8()), outcome.out);
        }
    }

    void compares() {
        const QString other = m_folder.filePath("other.json");
        const Outcome run = cli(tinyRun + QStringList{"--format", "json", "--output", other});
        QCOMPARE(run.exitCode, 0);
        const Outcome table = cli({"compare", m_record, other});
        QVERIFY2(table.exitCode == 0, table.err.constData());
        QVERIFY2(table.out.contains("\nstatic  time per token "), table.out.constData());
        QVERIFY(table.out.startsWith("A  " + m_record.toUtf8() + ": tiny, "));
        const Outcome pair = cli({"compare", m_record, other, "--lane", "naive=static", "--format", "md"});
        QCOMPARE(pair.exitCode, 0);
        QVERIFY2(pair.out.contains("| naive = static | TTFT |"), pair.out.constData());
        QVERIFY(cli({"compare", m_record, other, "--format", "csv"}).out.startsWith("lane_a,lane_b,metric,"));
        for (const char* format : {"json", "jsonl"}) {
            const QString path = m_folder.filePath("comparison.json");
            QCOMPARE(cli({"compare", m_record, other, "--format", format, "--output", path}).exitCode, 0);
            for (const char* shown : {"table", "md", "csv", "json", "jsonl"}) {
                const Outcome outcome = cli({"show", path, "--format", shown});
                QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
                QVERIFY2(outcome.out.contains("tpot_ns"), outcome.out.constData());
            }
        }
    }

    /// A wrong lane gets no ratio, and the exit code says that something did not hold.
    void comparesNoWrongLane() {
        const QString wrong = m_folder.filePath("wrong.json");
        QStringList words = tinyRun;
        words[words.indexOf("naive,static")] = "naive,static+position-restart";
        QCOMPARE(cli(words + QStringList{"--format", "json", "--output", wrong}).exitCode, 1);
        const Outcome outcome = cli({"compare", m_record, wrong, "--lane", "static=static+position-restart"});
        QVERIFY2(outcome.exitCode == 1, outcome.err.constData());
        QVERIFY2(outcome.out.contains("its output in B differs from that of the reference lane \"naive\"."),
                 outcome.out.constData());
    }

    void comparesNoOtherWork() {
        const QString other = m_folder.filePath("longer.json");
        QStringList words = tinyRun;
        words[words.indexOf("6")] = "7";
        QCOMPARE(cli(words + QStringList{"--format", "json", "--output", other}).exitCode, 0);
        expectRefusal("compare " + m_record + " " + other,
                      "The records are not of the same work: new_tokens is 6 in A and 7 in B.");
    }

    void showsBundledExperiments() {
        const Outcome outcome = cli({"show", DECODESCOPE_SOURCE_DIR "/resources/experiments/race.json"});
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY2(outcome.out.contains("lanes:\nname "), outcome.out.constData());
    }

    void refusals_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("empty") << QByteArray() << ": Not valid JSON at line 1, column 1.";
        QTest::newRow("no JSON") << QByteArray("hello\n") << ": Not valid JSON at line 1";
        QTest::newRow("list") << QByteArray("[1, 2]")
                              << ": has no schema, so it is no file of DecodeScope's.";
        QTest::newRow("foreign") << QByteArray("{\"a\": 1}") << ": has no schema";
        QTest::newRow("number") << QByteArray("{\"schema\": 1}") << ": has no schema";
        QTest::newRow("newer") << QByteArray("{\"schema\": \"decodescope.record/2\"}")
                               << ": schema is \"decodescope.record/2\", which this version cannot show, "
                                  "expected one of decodescope.experiment/1, decodescope.record/1, ";
        QTest::newRow("broken record")
            << QByteArray("{\"schema\": \"decodescope.record/1\"}") << ": experiment is missing.";
        QTest::newRow("broken experiment")
            << QByteArray("{\"schema\": \"decodescope.experiment/1\"}") << ": prompts is missing.";
        QTest::newRow("broken verdict")
            << QByteArray("{\"schema\": \"decodescope.verdict/1\", \"verdict\": \"odd\"}")
            << ": verdict is \"odd\", which is no such word.";
        QTest::newRow("broken comparison")
            << QByteArray("{\"schema\": \"decodescope.comparison/1\", \"notes\": [1]}")
            << ": holds a value of another type than this program writes.";
        QTest::newRow("half a line") << QByteArray("{\"schema\": \"decodescope.lane/1\"}\n{\"sch")
                                     << ": line 2 is not a JSON document.";
        QTest::newRow("mixed lines")
            << QByteArray("{\"schema\": \"decodescope.lane/1\"}\n{\"schema\": \"decodescope.lane/2\"}\n")
            << ": holds both \"decodescope.lane/1\" and \"decodescope.lane/2\".";
        QTest::newRow("chrome trace") << QByteArray("{\"traceEvents\": []}") << ": is a Chrome trace, which";
    }
    void refusals() {
        QFETCH(QByteArray, content);
        QFETCH(QString, sentence);
        const QString path = m_folder.filePath("broken.json");
        writeFile(path, content);
        for (const char* format : {"table", "trace"}) {
            const Outcome outcome = cli({"show", path, "--format", format});
            QCOMPARE(outcome.exitCode, 2);
            QCOMPARE(outcome.err.count('\n'), 1);
            QVERIFY(outcome.out.isEmpty());
            if (QByteArray(format) == "trace" && outcome.err.contains("to make a trace of")) continue;
            QVERIFY2(QString(outcome.err).contains(path + sentence), outcome.err.constData());
        }
    }

    void badArguments_data() {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("show nothing") << "show"
                                      << "FILE";
        QTest::newRow("show nowhere") << "show /none/such.json"
                                      << "/none/such.json: cannot be opened";
        QTest::newRow("show folder") << "show /tmp"
                                     << "/tmp/trace.json: cannot be opened";
        QTest::newRow("show format") << "show a --format xml"
                                     << "\"xml\" is not one of table, json, jsonl, csv, md, trace.";
        QTest::newRow("instrument") << "show " DECODESCOPE_SOURCE_DIR
                                       "/resources/experiments/race.json "
                                       "--instrument"
                                    << "--instrument: needs --format trace.";
        QTest::newRow("trace of an experiment")
            << "show " DECODESCOPE_SOURCE_DIR "/resources/experiments/race.json --format trace"
            << "is a decodescope.experiment/1, expected a decodescope.record/1 to make a trace of.";
        QTest::newRow("compare one") << "compare a.json"
                                     << "B is required";
        QTest::newRow("compare nowhere") << "compare /none/a.json /none/b.json"
                                         << "/none/a.json: cannot be opened";
        QTest::newRow("compare pair") << "compare a b --lane naive"
                                      << "--lane: \"naive\" is not A=B, a lane of the first record";
        QTest::newRow("compare no record")
            << "compare " DECODESCOPE_SOURCE_DIR "/resources/experiments/race.json x"
            << "race.json: schema is \"decodescope.experiment/1\", which this version cannot read";
        QTest::newRow("trace nowhere")
            << "run --model preset:tiny --ids 1 --tokens 2 --lanes naive --trace-events /none/such.json "
               "--output /dev/null"
            << "/none/such.json: cannot be written: No such file or directory.";
    }
    void badArguments() {
        QFETCH(QString, arguments);
        QFETCH(QString, sentence);
        expectRefusal(arguments, sentence);
    }

private:
    QTemporaryDir m_folder;
    QString m_record;
    QString m_trace;
};

QTEST_GUILESS_MAIN(TestCliRecords)
#include "tst_cli_records.moc"
