// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

#include "tests/app/cli_process.h"
#include "tests/engine/formats/gguf_bytes.h"
#include "tests/engine/formats/test_files.h"
#include "tests/patience.h"

using namespace decodescope::test;

namespace {

/// Sum of `positions_forwarded` over the steps of a lane's first repetition.
int positionsForwarded(const QJsonValue& lane) {
    int sum = 0;
    for (const QJsonValue& step : lane["repetitions"][0]["steps"].toArray()) {
        sum += step["positions_forwarded"].toInt();
    }
    return sum;
}

void write(const QString& path, const QByteArray& content) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(content), content.size());
}

const QStringList tinyRun = {"run", "--model", "preset:tiny", "--ids", "3,1,4,1,5,9,2", "--tokens", "6"};

}  // namespace

class TestCli : public QObject {
    Q_OBJECT

private slots:
    void badArguments_data() {
        QTest::addColumn<QString>("arguments");  // separated by single spaces
        QTest::addColumn<QString>("sentence");
        QTest::newRow("nothing")
            << ""
            << "A command is missing, expected one of run, bench, sweep, plan, account, verify,";
        QTest::newRow("unknown command") << "fly"
                                         << "\"fly\" is not a command, expected one of run, bench, "
                                            "sweep, plan, account, verify,";
        QTest::newRow("option without command") << "--fast"
                                                << "\"--fast\" is not a command";
        QTest::newRow("unknown option") << "run --fast"
                                        << "--fast";
        QTest::newRow("no value") << "run --tokens"
                                  << "--tokens";
        QTest::newRow("tokens word") << "run --tokens many"
                                     << "--tokens: \"many\" is not a whole number from 1 to 16777216.";
        QTest::newRow("tokens 0") << "run --tokens 0"
                                  << "--tokens: \"0\" is not a whole number from 1 to 16777216.";
        QTest::newRow("tokens trailing") << "run --tokens 12x"
                                         << "--tokens: \"12x\" is not a whole number from 1 to 16777216.";
        QTest::newRow("repetitions") << "run --repetitions -1"
                                     << "--repetitions: \"-1\" is not a whole number from 1 to 10000.";
        QTest::newRow("temperature") << "run --temperature hot"
                                     << "--temperature: \"hot\" is not a number from 0 to 100.";
        QTest::newRow("temperature nan") << "run --temperature nan"
                                         << "--temperature: \"nan\" is not a number from 0 to 100.";
        QTest::newRow("seed") << "run --seed -3"
                              << "--seed: \"-3\" is not a whole number from 0 to 18446744073709551615.";
        QTest::newRow("drive") << "run --drive fast"
                               << "--drive: \"fast\" is not one of forced, free, fixed.";
        QTest::newRow("format") << "run --format xml"
                                << "--format: \"xml\" is not one of table, json, jsonl, csv, md.";
        QTest::newRow("lane")
            << "run --lanes naive,ring"
            << "--lanes: Lane \"ring\" is not known, expected one of naive, concat, static, ";
        QTest::newRow("lane empty") << "run --lanes naive,,static"
                                    << "--lanes: \"naive,,static\" has an empty entry";
        QTest::newRow("lane twice") << "run --lanes naive,naive"
                                    << "lanes[1].name is \"naive\" like lanes[0].name";
        QTest::newRow("reference") << "run --reference best"
                                   << "--reference: there is no lane \"best\".";
        QTest::newRow("capacity of nothing")
            << "run --lanes naive,concat --capacity 9"
            << "--capacity: there is no lane with a static, paged, window, int8 or kivi cache to "
               "apply it to.";
        QTest::newRow("chunk of nothing") << "run --lanes naive --prefill-chunk 4"
                                          << "--prefill-chunk: there is no cached lane to apply it to.";
        QTest::newRow("two prompts") << "run --prompt a --ids 1"
                                     << "--prompt";
        QTest::newRow("ids") << "run --ids 1,two,3"
                             << "--ids: \"two\" is not a token id.";
        QTest::newRow("ids negative") << "run --ids 1,-2"
                                      << "--ids: \"-2\" is not a token id.";
        QTest::newRow("ids none") << "run --ids ,"
                                  << "--ids: holds no token ids.";
        QTest::newRow("ids beyond the vocabulary") << "run --ids 1,2000000000"
                                                   << "2000000000";
        QTest::newRow("prompt file") << "run --prompt-file /none/such.txt"
                                     << "/none/such.txt: cannot be opened: No such file or directory.";
        QTest::newRow("prompt folder") << "run --prompt-file /tmp"
                                       << "/tmp: is not a regular file.";
        QTest::newRow("random")
            << "run --random-prompt x"
            << "--random-prompt: \"x\" is not LENGTH or LENGTH,seed=N with whole numbers.";
        QTest::newRow("random of 0") << "run --random-prompt 0"
                                     << "--random-prompt: \"0\" is not LENGTH or LENGTH,seed=N";
        QTest::newRow("random seed") << "run --random-prompt 4,size=3"
                                     << "--random-prompt: \"4,size=3\" is not LENGTH or LENGTH,seed=N";
        QTest::newRow("fixed without ids") << "run --drive fixed --tokens 3"
                                           << "--fixed-ids: holds 0 ids, expected --tokens - 1 = 2.";
        QTest::newRow("ids without fixed") << "run --fixed-ids 1,2"
                                           << "--fixed-ids: needs --drive fixed.";
        QTest::newRow("experiment") << "run --experiment none"
                                    << "--experiment: \"none\" is neither a file nor a bundled experiment.";
        QTest::newRow("experiment path")
            << "run --experiment ../demo"
            << "--experiment: \"../demo\" is neither a file nor a bundled experiment.";
        QTest::newRow("model") << "run --model /none/such"
                               << "/none/such";
        QTest::newRow("preset") << "run --model preset:huge --ids 1"
                                << "huge";
        QTest::newRow("preset empty")
            << "run --model preset: --ids 1"
            << "Model \"preset:\": the preset's name is missing, expected one of tiny, ";
        QTest::newRow("preset seed") << "run --model preset:tiny,seed=x --ids 1"
                                     << "Model \"preset:tiny,seed=x\": expected preset:NAME or ";
        QTest::newRow("preset and text") << "run --model preset:tiny --prompt hello"
                                         << "has no tokenizer";
        QTest::newRow("output") << "run --model preset:tiny --ids 1 --tokens 2 --output /none/such.json"
                                << "/none/such.json: cannot be written: No such file or directory.";
        QTest::newRow("inspect model") << "inspect --model /none/such"
                                       << "/none/such";
        QTest::newRow("inspect preset") << "inspect --model preset:huge"
                                        << "huge";
        QTest::newRow("tokenize model") << "tokenize --model /none/such --text a"
                                        << "/none/such";
        QTest::newRow("tokenize preset") << "tokenize --model preset:tiny --text a"
                                         << "The preset \"tiny\" has no tokenizer.";
        QTest::newRow("tokenize both") << "tokenize --text a --file b"
                                       << "--file";
        QTest::newRow("tokenize file") << "tokenize --file /none/such"
                                       << "/none/such: cannot be opened";
        QTest::newRow("verify steps") << "verify --steps 0"
                                      << "--steps: \"0\" is not a whole number from 1 to 1048576.";
        QTest::newRow("verify model") << "verify --model /none/such"
                                      << "/none/such";
    }
    void badArguments() {
        QFETCH(QString, arguments);
        QFETCH(QString, sentence);
        expectRefusal(arguments, sentence);
    }

    void badExperiment_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QString>("sentence");  // after the file's name
        QTest::newRow("empty") << QByteArray() << ": Not valid JSON at line 1, column 1.";
        QTest::newRow("schema")
            << QByteArray("{\"schema\": \"decodescope.experiment/9\"}")
            << ": schema is \"decodescope.experiment/9\", which this version cannot read, expected "
               "\"decodescope.experiment/1\".";
        QTest::newRow("cache kind")
            << QByteArray(
                   "{\"schema\": \"decodescope.experiment/1\", \"prompts\": [{\"text\": \"a\"}], \"lanes\": "
                   "[{\"name\": \"a\", \"mode\": \"cached\", \"cache\": {\"kind\": \"odd\"}}]}")
            << ": lanes[0].cache.kind is \"odd\", expected \"none\" or \"concat\" or \"static\" or \"paged\" "
               "or "
               "\"window\" or \"int8\" or \"kivi\".";
    }
    void badExperiment() {
        QFETCH(QByteArray, json);
        QFETCH(QString, sentence);
        QTemporaryDir folder;
        const QString path = folder.filePath("e.json");
        write(path, json);
        const Outcome outcome = cli({"run", "--experiment", path});
        QCOMPARE(outcome.exitCode, 2);
        QCOMPARE(QString::fromUtf8(outcome.err), "decodescope-cli: " + path + sentence + "\n");
    }

    void help_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("text");
        QTest::newRow("program") << QStringList{"--help"} << "tokenize";
        QTest::newRow("run") << QStringList{"run", "--help"} << "decodescope-cli run --model demo";
        QTest::newRow("inspect") << QStringList{"inspect", "--help"} << "decodescope-cli inspect";
        QTest::newRow("tokenize") << QStringList{"tokenize", "--help"} << "decodescope-cli tokenize";
        QTest::newRow("verify") << QStringList{"verify", "--help"} << "decodescope-cli verify";
        QTest::newRow("version") << QStringList{"--version"} << "decodescope-cli ";
    }
    void help() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, text);
        const Outcome outcome = cli(arguments);
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY2(outcome.out.contains(text.toUtf8()), outcome.out.constData());
        QVERIFY(outcome.err.isEmpty());
        if (arguments.size() == 2) QVERIFY(outcome.out.contains("Example"));
    }

    void runCountsEveryPosition() {
        const Outcome outcome = cli(tinyRun + QStringList{"--format", "json"});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        QVERIFY2(outcome.err.isEmpty(), outcome.err.constData());
        const QJsonValue record = jsonOf(outcome.out);
        QCOMPARE(record["schema"].toString(), QString("decodescope.record/1"));
        QCOMPARE(record["status"].toString(), QString("length"));
        const QJsonArray lanes = record["lanes"].toArray();
        QCOMPARE(lanes.size(), 3);
        QCOMPARE(positionsForwarded(lanes[0]), 7 + 8 + 9 + 10 + 11 + 12);
        QCOMPARE(positionsForwarded(lanes[1]), 7 + 5);
        QCOMPARE(positionsForwarded(lanes[2]), 7 + 5);
        const QJsonValue naiveTokens = lanes[0]["summary"]["tokens"];
        QCOMPARE(naiveTokens.toArray().size(), 1);
        QCOMPARE(naiveTokens[0].toArray().size(), 6);
        for (const QJsonValue& lane : lanes) {
            QCOMPARE(lane["summary"]["tokens"], naiveTokens);
            QCOMPARE(lane["summary"]["step_ns"]["n"].toInt(), 5);
            QCOMPARE(lane["repetitions"].toArray().size(), 1);
        }
        QVERIFY(lanes[2]["summary"]["max_relative_error"].toDouble(1) <= 1e-4);
        QCOMPARE(record["tensor_bytes_after"]["kv"].toInt(-1), 0);
    }

    void runDemoFromText() {
        const Outcome outcome =
            cli({"run", "--model", "demo", "--prompt", "It is a truth universally acknowledged, that",
                 "--tokens", "20", "--lanes", "naive,concat,static", "--format", "json"});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        const QJsonValue record = jsonOf(outcome.out);
        QCOMPARE(record["prompts"][0]["text"].toString(),
                 QString("It is a truth universally acknowledged, that"));
        const QString text = record["lanes"][0]["summary"]["texts"][0].toString();
        QVERIFY(text.size() > 20);
        QCOMPARE(record["lanes"][2]["summary"]["texts"][0].toString(), text);
    }

    void commandLineChangesAnExperiment() {
        const Outcome outcome = cli(
            {"run", "--experiment", "demo", "--tokens",  "5",   "--temperature", "0",      "--repetitions",
             "2",   "--warmup",     "0",    "--threads", "1",   "--reference",   "cached", "--prefill-chunk",
             "3",   "--capacity",   "40",   "--format",  "json"});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        const QJsonValue experiment = jsonOf(outcome.out)["experiment"];
        QCOMPARE(experiment["new_tokens"].toInt(), 5);
        QCOMPARE(experiment["sampling"]["kind"].toString(), QString("greedy"));
        QCOMPARE(experiment["repetitions"].toInt(), 2);
        QCOMPARE(experiment["warmup"].toInt(-1), 0);
        QCOMPARE(experiment["threads"].toInt(), 1);
        QCOMPARE(experiment["reference"].toString(), QString("cached"));
        QCOMPARE(experiment["lanes"][1]["prefill_chunk"].toInt(), 3);
        QCOMPARE(experiment["lanes"][1]["cache"]["capacity"].toInt(), 40);
        QCOMPARE(experiment["prompts"][0]["text"].toString(),
                 QString("It is a truth universally acknowledged, that"));
    }

    void samplingIsTheSameInEveryLane() {
        const QStringList arguments =
            tinyRun + QStringList{"--temperature", "1.5",  "--top-k", "10",  "--seed", "7",
                                  "--format",      "json", "--drive", "free"};
        const Outcome outcome = cli(arguments);
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        const QJsonValue record = jsonOf(outcome.out);
        QCOMPARE(record["experiment"]["sampling"]["kind"].toString(), QString("sample"));
        const QJsonValue tokens = record["lanes"][0]["summary"]["tokens"];
        QCOMPARE(record["lanes"][1]["summary"]["tokens"], tokens);
        QCOMPARE(jsonOf(cli(arguments).out)["lanes"][0]["summary"]["tokens"], tokens);
    }

    void fixedIdsAreFed() {
        const Outcome outcome =
            cli({"run", "--model", "preset:tiny,seed=2", "--random-prompt", "5,seed=3", "--tokens", "3",
                 "--drive", "fixed", "--fixed-ids", "11 12", "--lanes", "static", "--format", "json"});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        const QJsonValue record = jsonOf(outcome.out);
        QCOMPARE(record["prompts"][0]["ids"].toArray().size(), 5);
        const QJsonArray steps = record["lanes"][0]["repetitions"][0]["steps"].toArray();
        QCOMPARE(steps[1]["fed_first"].toInt(), 11);
        QCOMPARE(steps[2]["fed_first"].toInt(), 12);
    }

    void promptFromFileAndInput() {
        QTemporaryDir folder;
        const QString path = folder.filePath("prompt.txt");
        write(path, "She was a woman");
        const QStringList rest = {"--tokens", "2", "--lanes", "static", "--format", "json"};
        const Outcome file = cli(QStringList{"run", "--prompt-file", path} + rest);
        const Outcome input = cli(QStringList{"run", "--prompt-file", "-"} + rest, "She was a woman");
        QVERIFY2(file.exitCode == 0, file.err.constData());
        QCOMPARE(jsonOf(file.out)["prompts"][0]["text"].toString(), QString("She was a woman"));
        QCOMPARE(jsonOf(input.out)["prompts"][0]["ids"], jsonOf(file.out)["prompts"][0]["ids"]);
    }

    void formats() {
        const Outcome table = cli(tinyRun);
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.contains("TTFT [ms]"));
        QVERIFY(table.out.contains("static"));
        const Outcome csv = cli(tinyRun + QStringList{"--format", "csv"});
        QCOMPARE(csv.out.count('\n'), 1 + 3 * 6);
        QVERIFY(csv.out.startsWith("lane,repetition,step,phase,request,token_id,tokens,rows,step_ns,"));
        const Outcome jsonl = cli(tinyRun + QStringList{"--format", "jsonl"});
        QCOMPARE(jsonl.out.count('\n'), 3);
        QCOMPARE(jsonOf(jsonl.out.split('\n')[1])["lane"].toString(), QString("concat"));
        const Outcome md = cli(tinyRun + QStringList{"--format", "md"});
        QVERIFY(md.out.contains("\n| lane |"));
    }

    void outputFile() {
        QTemporaryDir folder;
        const QString path = folder.filePath("record.json");
        const Outcome outcome = cli(tinyRun + QStringList{"--format", "json", "--output", path});
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY(outcome.out.isEmpty());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(jsonOf(file.readAll())["status"].toString(), QString("length"));
    }

    void capacityIsReached() {
        const Outcome outcome = cli({"run", "--model", "preset:tiny", "--random-prompt", "10", "--tokens",
                                     "8", "--lanes", "static", "--capacity", "16", "--format", "json"});
        QCOMPARE(outcome.exitCode, 3);
        QVERIFY2(outcome.err.contains("16"), outcome.err.constData());
        if (outcome.out.isEmpty()) return;  // refused before anything was written
        const QJsonValue record = jsonOf(outcome.out);
        QCOMPARE(record["status"].toString(), QString("capacity"));
        const QJsonArray steps = record["lanes"][0]["repetitions"][0]["steps"].toArray();
        if (steps.isEmpty()) return;
        QCOMPARE(steps.size(), 7);
        QCOMPARE(steps.last()["cache_length"].toInt(), 16);
    }

    void interruptKeepsWhatWasMeasured() {
        for (int pause = 500; pause <= 16'000; pause *= 2) {
            QProcess process;
            process.start(program(), {"run", "--model", "demo", "--tokens", "900", "--repetitions", "10000",
                                      "--warmup", "0", "--lanes", "static", "--format", "json"});
            QVERIFY(process.waitForStarted(patience));
            QTest::qWait(pause);
            QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
            QVERIFY(process.waitForFinished(patience));
            QCOMPARE(process.exitStatus(), QProcess::NormalExit);
            QCOMPARE(process.exitCode(), 130);
            const QByteArray out = process.readAllStandardOutput();
            if (out.isEmpty()) continue;  // it was still loading: try again, later
            const QJsonValue record = jsonOf(out);
            QCOMPARE(record["status"].toString(), QString("cancelled"));
            QVERIFY(!record["reason"].toString().isEmpty());
            QCOMPARE(record["tensor_bytes_after"]["kv"].toInt(-1), 0);
            if (!record["lanes"][0]["repetitions"][0]["steps"].toArray().isEmpty()) return;
        }
        QFAIL("nothing was measured before the interrupt");
    }

    void inspect() {
        const Outcome demo = cli({"inspect", "--model", "demo", "--format", "json"});
        QVERIFY2(demo.exitCode == 0, demo.err.constData());
        const QJsonValue model = jsonOf(demo.out);
        QCOMPARE(model["kv_bytes_per_token"].toInt(),
                 2 * model["n_layer"].toInt() * model["n_kv_head"].toInt() * model["head_dim"].toInt() * 4);
        qint64 used = 0;
        for (const QJsonValue& tensor : model["tensors"].toArray()) used += tensor["bytes"].toInteger();
        QCOMPARE(used, 2 * model["n_parameter"].toInteger());  // stored as f16
        QVERIFY(model["has_tokenizer"].toBool());

        const Outcome preset = cli({"inspect", "--model", "preset:gpt2-small"});
        QVERIFY2(preset.exitCode == 0, preset.err.constData());
        QVERIFY(preset.out.contains("124439808"));
        QVERIFY(preset.out.contains("73728"));

        const TestFolder folder;
        const QByteArray bytes = GgufBytes()
                                     .key("general.architecture", "clip")
                                     .key("clip.block_count", 3u)
                                     .tensor("v", {32, 2}, 8, 0)
                                     .file(QByteArray(68, '\0'));
        const QString file = QString::fromStdString(folder.write("m.gguf", bytes).string());
        const Outcome gguf = cli({"inspect", file, "--format", "json"});
        QVERIFY2(gguf.exitCode == 0, gguf.err.constData());
        const QJsonValue clip = jsonOf(gguf.out);
        QCOMPARE(clip["family"].toString(), QString("clip"));
        QCOMPARE(clip["n_layer"].toInt(), 3);
        QCOMPARE(clip["n_parameter"].toInt(), 64);
        for (const char* key : {"n_head", "vocab", "activation", "tied_head", "kv_bytes_per_token"})
            QVERIFY2(clip[QLatin1String(key)].isNull(), key);
        QCOMPARE(clip["tensors"][0]["dtype"].toString(), QString("Q8_0"));
        QVERIFY(cli({"inspect", file}).out.contains("not stated"));
        QCOMPARE(cli({"inspect", "--format", "csv"}).out.split('\n')[0],
                 QByteArray("tensor,dtype,shape,bytes,use"));
    }

    void tokenize() {
        const QStringList base = {"tokenize", "--model", "demo", "--format", "json"};
        const Outcome text = cli(base + QStringList{"--text", "Hi <|endoftext|>"});
        QVERIFY2(text.exitCode == 0, text.err.constData());
        QString joined;
        for (const QJsonValue& token : jsonOf(text.out)["tokens"].toArray()) {
            joined += token["piece"].toString();
            QVERIFY(!token["special"].toBool());
        }
        QCOMPARE(joined, QString("Hi <|endoftext|>"));
        const QJsonArray control =
            jsonOf(cli(base + QStringList{"--text", "Hi <|endoftext|>", "--control"}).out)["tokens"]
                .toArray();
        QVERIFY(control.last()["special"].toBool());
        QCOMPARE(jsonOf(cli(base, "Hi <|endoftext|>").out)["ids"], jsonOf(text.out)["ids"]);

        QTemporaryDir folder;
        write(folder.filePath("t.txt"), "\xE2\x82\xAC\n");
        const Outcome file = cli({"tokenize", "--file", folder.filePath("t.txt"), "--format", "csv"});
        QCOMPARE(file.exitCode, 0);
        QByteArray hex;
        const auto lines = file.out.trimmed().split('\n');
        for (qsizetype i = 1; i < lines.size(); ++i) {
            if (const auto cells = lines[i].split(','); cells.size() >= 3) hex += cells[2];
        }
        QCOMPARE(hex, QByteArray("e282ac0a"));
        QVERIFY(cli({"tokenize", "--text", "a truth"}).out.contains("\" truth\""));
        QCOMPARE(cli(base + QStringList{"--text", ""}).out.contains("\"n_token\": 0"), true);
    }

    /// A folder that has no more than a tokenizer, and a template that would colour the terminal.
    void tokenizerJsonAndChatTemplate() {
        QTemporaryDir folder;
        const QString data = DECODESCOPE_SOURCE_DIR "/tests/data/";
        QVERIFY(QFile::copy(data + "tokenizer/llama3.tokenizer.json", folder.filePath("tokenizer.json")));
        const Outcome text = cli({"tokenize", "--model", folder.path(), "--control", "--text", "It's 2024"});
        QVERIFY2(text.exitCode == 0, text.err.constData());
        QVERIFY(text.out.contains("\"<|begin_of_text|>\""));
        write(folder.filePath("tokenizer.json"), "{");
        const Outcome broken = cli({"tokenize", "--model", folder.path(), "--text", "a"});
        QCOMPARE(broken.exitCode, 2);
        QVERIFY(broken.err.contains("/tokenizer.json: is not valid JSON (at byte "));

        QVERIFY(QFile::remove(folder.filePath("tokenizer.json")));
        for (const char* name : {"config.json", "model.safetensors"}) {
            QVERIFY(QFile::copy(data + "gpt2/plain-f32/" + name, folder.filePath(name)));
        }
        write(folder.filePath("chat_template.jinja"),
              "{% for m in messages %}\n\x1b[31m{{ m }}\n" + QByteArray(100, 'x'));
        const Outcome start = cli({"inspect", folder.path()});
        QVERIFY2(start.exitCode == 0, start.err.constData());
        QVERIFY(start.out.contains("\"{% for m in messages %}\\x0a\\x1b[31m{{ m }}\\x0a"));
        QVERIFY(!start.out.contains('\x1b') && !start.out.contains(QByteArray(100, 'x')));
        const Outcome whole = cli({"inspect", folder.path(), "--chat-template"});
        QVERIFY(whole.out.contains("\n  \"\\x1b[31m{{ m }}\"\n  \"" + QByteArray(100, 'x') + "\"\n"));
        QVERIFY(!whole.out.contains('\x1b'));
        const Outcome json = cli({"inspect", folder.path(), "--format", "json"});
        QVERIFY(jsonOf(json.out)["chat_template"].toString().startsWith("{% for m in messages %}\n\x1b[31m"));
        QVERIFY(!json.out.contains('\x1b'));
    }

    void verify() {
        const Outcome table = cli({"verify", "--model", "preset:tiny,seed=3"});
        QVERIFY2(table.exitCode == 0, (table.out + table.err).constData());
        QVERIFY(table.out.contains("checks held."));
        QVERIFY(!table.out.contains("NO"));
        const QJsonValue report = jsonOf(cli({"verify", "--model", "preset:tiny", "--format", "json"}).out);
        QVERIFY(report["all_held"].toBool());
        QVERIFY(report["checks"].toArray().size() >= 8);
        QCOMPARE(report["checks"][0]["held"].toBool(), true);
    }
};

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
