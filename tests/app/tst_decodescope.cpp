// SPDX-License-Identifier: GPL-3.0-or-later
// The window program's command line, through the real program.
#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "engine/core/text_file.h"
#include "engine/experiment/record.h"
#include "engine/model/preset.h"

using namespace decodescope;

namespace {

struct Outcome {
    int code = -1;
    QString out;
    QString err;
};

/// Without a display and without the test's own platform setting.
Outcome run(const QStringList& arguments) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
        environment.remove(QLatin1String(name));
    }
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(DECODESCOPE_BIN_DIR "/decodescope"), arguments);
    Outcome outcome;
    if (!process.waitForFinished(120000) || process.exitStatus() != QProcess::NormalExit) return outcome;
    outcome.code = process.exitCode();
    outcome.out = QString::fromUtf8(process.readAllStandardOutput());
    // Qt's own remark about a missing runtime directory is not ours.
    for (const QString& line : QString::fromUtf8(process.readAllStandardError()).split(QLatin1Char('\n'))) {
        if (!line.isEmpty() && !line.startsWith(QStringLiteral("QStandardPaths")))
            outcome.err += line + QLatin1Char('\n');
    }
    return outcome;
}

QString contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

Record smallRecord() {
    Record record;
    record.experiment.new_tokens = 3;
    record.experiment.repetitions = 1;
    record.experiment.prompts[0].kind = PromptSpec::Kind::ids;
    record.experiment.prompts[0].ids = {1, 2};
    for (const char* name : {"naive", "static"}) record.experiment.lanes.push_back(*lane_from_name(name));
    record.model = *preset_config("tiny");
    record.prompts = {{{1, 2}, {}}};
    for (std::size_t lane = 0; lane < 2; ++lane) {
        LaneRecord result;
        result.spec = record.experiment.lanes[lane];
        RepetitionRecord repetition;
        for (int step = 0; step < 3; ++step) {
            StepEvent event;
            event.lane = static_cast<std::int32_t>(lane);
            event.step = step;
            event.phase = step == 0 ? Phase::prefill : Phase::decode;
            event.token = step;
            event.start_ns = step * 2'000'000;
            event.end_ns = event.start_ns + 1'000'000;
            event.tensor_bytes = {1000, 200, 30, 4, 5};
            event.n_token = event.n_row = 1;
            repetition.steps.push_back(event);
            TokenEvent token;
            token.lane = event.lane;
            token.step = token.index = token.token = step;
            repetition.chosen.push_back(token);
        }
        result.repetitions.push_back(repetition);
        record.lanes.push_back(result);
    }
    return record;
}

}  // namespace

class DecodescopeTest : public QObject {
    Q_OBJECT

private slots:
    void rendersWithoutADisplay();
    void rendersInALanguage_data();
    void rendersInALanguage();
    void rendersWhatWasChosen();
    void refusesBadChoices_data();
    void refusesBadChoices();
    void helpAndVersion();
    void badArguments_data();
    void badArguments();
};

void DecodescopeTest::rendersWithoutADisplay() {
    QTemporaryDir dir;
    const QString record = dir.filePath(QStringLiteral("record.json"));
    QVERIFY(save_record(smallRecord(), record.toStdString()).ok());
    const QString out = dir.filePath(QStringLiteral("out"));
    const Outcome outcome = run({QStringLiteral("--render"), record, QStringLiteral("--out"), out});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
    const QStringList files = outcome.out.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(files.first(), QDir(out).filePath(QStringLiteral("report.html")));
    for (const QString& file : files) QVERIFY2(QFile::exists(file), qPrintable(file));
    const QImage image(QDir(out).filePath(QStringLiteral("latency.png")));
    QVERIFY(!image.isNull());
    QFile report(files.first());
    QVERIFY(report.open(QIODevice::ReadOnly));
    QVERIFY(report.readAll().contains("<svg"));
}

void DecodescopeTest::rendersInALanguage_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("language");
    QTest::newRow("none said") << QStringList() << QByteArray("en");
    QTest::newRow("English") << QStringList{QStringLiteral("--language=en")} << QByteArray("en");
    QTest::newRow("German") << QStringList{QStringLiteral("--language=de")} << QByteArray("de");
}

void DecodescopeTest::rendersInALanguage() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, language);
    if (language != "en" && !DECODESCOPE_GERMAN) QSKIP("built without lrelease");
    QTemporaryDir dir;
    const QString record = dir.filePath(QStringLiteral("record.json"));
    QVERIFY(save_record(smallRecord(), record.toStdString()).ok());
    const QString out = dir.filePath(QStringLiteral("out"));
    const Outcome outcome =
        run(arguments + QStringList{QStringLiteral("--render"), record, QStringLiteral("--out"), out});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
    QFile report(QDir(out).filePath(QStringLiteral("report.html")));
    QVERIFY(report.open(QIODevice::ReadOnly));
    const QByteArray page = report.readAll();
    QVERIFY(page.contains("<html lang=\"" + language + "\""));
    QVERIFY(page.contains(language == "de" ? "Dekodierung von" : "Decoding"));
}

void DecodescopeTest::rendersWhatWasChosen() {
    QTemporaryDir dir;
    const QString path = dir.filePath("record.json");
    const QString before = dir.filePath("before.json");
    const QString notes = dir.filePath("notes.md");
    const QString out = dir.filePath("out");
    Record record = smallRecord();
    record.notes = {"Of the record", "Replaced."};
    QVERIFY(save_record(record, path.toStdString()).ok());
    for (StepEvent& step : record.lanes[1].repetitions[0].steps) step.end_ns += 500'000;
    QVERIFY(save_record(record, before.toStdString()).ok());
    QVERIFY(write_file_atomically(notes.toStdString(), "The **window** was 7.\r\n").ok());
    const Outcome outcome = run({"--render", path, "--out", out, "--charts", "kv_cache, latency", "--title",
                                 "After the fix", "--notes", notes, "--compare", before});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
    const QStringList files = QDir(out).entryList(QDir::Files);
    QVERIFY(files.contains("latency.png") && files.contains("kv_cache.svg"));
    QVERIFY(!files.contains("total_time.png") && !files.contains("memory.csv"));
    const QString html = contentOf(QDir(out).filePath("report.html"));
    QVERIFY(html.contains("<h1>After the fix</h1>"));
    QVERIFY(html.contains("<p>The <strong>window</strong> was 7.</p>"));
    QVERIFY(html.contains("Against before (dashed)."));
    QVERIFY(html.indexOf("aria-label=\"KV cache\"") > 0);
    QVERIFY(html.indexOf("aria-label=\"KV cache\"") < html.indexOf("aria-label=\"Latency per token\""));
    QVERIFY(contentOf(QDir(out).filePath("latency.csv")).contains("static_before_ms"));
    QVERIFY(
        contentOf(QDir(out).filePath("summary.md")).startsWith("# After the fix\n\nThe **window** was 7.\n"));
    // What was written now is in the record that comes out.
    const auto again = load_record(QDir(out).filePath("record.json").toStdString());
    QVERIFY(again.ok());
    QVERIFY(again->notes == (RecordNotes{"After the fix", "The **window** was 7.\n"}));
    // Without them it keeps its own.
    QVERIFY(run({"--render", path, "--out", out}).code == 0);
    QVERIFY(contentOf(QDir(out).filePath("report.html")).contains("<h1>Of the record</h1>"));
}

void DecodescopeTest::refusesBadChoices_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("no such chart")
        << QStringList{"--charts", "latency,speed"}
        << "decodescope: --charts: there is no \"speed\", expected some of latency, "
           "total_time, memory, kv_cache.\n";
    QTest::newRow("no name")
        << QStringList{"--charts", "latency,"}
        << "decodescope: --charts: there is no \"\", expected some of latency, total_time, "
           "memory, kv_cache.\n";
    QTest::newRow("twice") << QStringList{"--charts", "latency,latency"}
                           << "decodescope: --charts: \"latency\" is there twice.\n";
    QTest::newRow("no such notes") << QStringList{"--notes", "nowhere.md"} << "nowhere.md";
    QTest::newRow("no text") << QStringList{"--notes", "@binary"} << "is not a text in UTF-8.";
    QTest::newRow("no such record") << QStringList{"--compare", "nowhere.json"} << "nowhere.json";
    QTest::newRow("other work") << QStringList{"--compare", "@other"} << "decodescope: --compare: ";
}

void DecodescopeTest::refusesBadChoices() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, sentence);
    QTemporaryDir dir;
    const QString path = dir.filePath("record.json");
    QVERIFY(save_record(smallRecord(), path.toStdString()).ok());
    Record other = smallRecord();
    other.prompts[0].ids = other.experiment.prompts[0].ids = {3, 4, 5};
    QVERIFY(save_record(other, dir.filePath("other.json").toStdString()).ok());
    QVERIFY(write_file_atomically(dir.filePath("binary").toStdString(), "a\xff\xfe").ok());
    arguments.replaceInStrings("@binary", dir.filePath("binary"));
    arguments.replaceInStrings("@other", dir.filePath("other.json"));
    const Outcome outcome = run(QStringList{"--render", path, "--out", dir.filePath("out")} + arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.contains(sentence), qPrintable(outcome.err));
    QCOMPARE(outcome.err.trimmed().count('\n'), 0);
    QVERIFY(!QDir(dir.filePath("out")).exists());
}

void DecodescopeTest::helpAndVersion() {
    const Outcome help = run({QStringLiteral("--help")});
    QCOMPARE(help.code, 0);
    for (const char* option : {"--render", "--out", "--experiment", "--model", "--version", "--charts",
                               "--title", "--notes", "--compare"}) {
        QVERIFY2(help.out.contains(QLatin1String(option)), option);
    }
    const Outcome version = run({QStringLiteral("--version")});
    QCOMPARE(version.code, 0);
    QVERIFY(version.out.startsWith(QStringLiteral("DecodeScope ")));
}

void DecodescopeTest::badArguments_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("fragment");
    const auto row = [](const char* name, const char* line, const char* fragment) {
        QTest::newRow(name) << QString::fromLatin1(line).split(QLatin1Char(' '))
                            << QString::fromLatin1(fragment);
    };
    row("unknown option", "--bogus", "bogus");
    row("render without out", "--render x.json", "--render needs --out");
    row("out without render", "--out x", "--out goes with --render");
    row("charts without render", "--charts latency", "--charts goes with --render");
    row("notes without render", "--notes a", "--notes goes with --render");
    row("title without render", "--title a", "--title goes with --render");
    row("compare without render", "--compare a", "--compare goes with --render");
    row("charts empty", "--render a --out b --charts=", "--charts needs a value");
    row("render without a file", "--render", "--render");
    row("two files", "a.json b.json", "Only one file");
    row("twice", "--model a --model b", "--model was given twice");
    row("empty", "--model= ", "--model needs a value");
    row("too much", "--render a --out b --model c", "takes no model");
    row("unknown language", "--language xx", "--language: expected one of system, en, de, but \"xx\"");
    row("no such record", "--render nowhere.json --out x", "nowhere.json");
}

void DecodescopeTest::badArguments() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, fragment);
    arguments.removeAll(QString());
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.contains(fragment), qPrintable(outcome.err));
    QCOMPARE(outcome.err.trimmed().count(QLatin1Char('\n')), 0);  // one sentence
    QCOMPARE(outcome.out, QString());
}

QTEST_GUILESS_MAIN(DecodescopeTest)
#include "tst_decodescope.moc"
