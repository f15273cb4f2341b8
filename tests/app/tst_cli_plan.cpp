// SPDX-License-Identifier: GPL-3.0-or-later
#include <QJsonArray>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include "tests/app/cli_process.h"
#include "tests/sanitized.h"

using namespace decodescope::test;

namespace {

/// The program's answer to words separated by blanks, as JSON.
QJsonObject answer(const QString& arguments, int exitCode = 0) {
    const Outcome outcome = cli((arguments + " --format json").split(' '));
    if (outcome.exitCode != exitCode) qWarning("%s%s", outcome.out.constData(), outcome.err.constData());
    return outcome.exitCode == exitCode ? jsonOf(outcome.out).toObject() : QJsonObject();
}

QJsonObject bytesOf(const QString& arguments) {
    return answer(arguments)["bytes"].toObject();
}

}  // namespace

/// `plan` and `account`.
class TestCliPlan : public QObject {
    Q_OBJECT

private slots:
    void publishedTotals_data() {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<QString>("key");
        QTest::addColumn<qint64>("bytes");
        QTest::newRow("Llama-3-70B at 4096") << "plan llama-3-70b --context 4096"
                                             << "kv_bytes_reserved" << qint64{1'342'177'280};
        QTest::newRow("GPT-2 XL at 1024") << "plan gpt2-xl --context 1024"
                                          << "kv_bytes_live" << qint64{314'572'800};
        QTest::newRow("DeepSeek-V3 at 4096") << "plan deepseek-v3 --context 4096"
                                             << "kv_bytes_live" << qint64{287'834'112};
        QTest::newRow("S13") << "plan tinyllama-1.1b --context 2048"
                             << "kv_bytes_live" << qint64{46'137'344};
        QTest::newRow("S13, head_dim of the file") << "plan qwen3-0.6b --context 1 --tokens 1"
                                                   << "kv_bytes_per_token" << qint64{114'688};
        QTest::newRow("concatenation")
            << "plan gpt2-small --cache concat --kv-type f16 --context 527 --tokens 400"
            << "kv_bytes_copied" << qint64{4'809'756'672};
        QTest::newRow("one block, f32") << "plan preset:one-block --context 64"
                                        << "kv_bytes_per_token" << qint64{256};
        QTest::newRow("weights as bytes") << "plan llama-2-7b --context 1 --tokens 1 --weights-type f16"
                                          << "weights" << qint64{2 * 6'738'415'616};
    }
    void publishedTotals() {
        QFETCH(const QString, arguments);
        QFETCH(const QString, key);
        QTEST(static_cast<qint64>(bytesOf(arguments)[key].toDouble()), "bytes");
    }

    void attentionSideBySide() {
        bool own = false;
        const QJsonObject plan = answer("plan deepseek-v3 --context 4096");
        for (const QJsonValue& kind : plan["attention"].toArray()) {
            if (!kind.toObject()["this_model"].toBool()) continue;
            own = true;
            QCOMPARE(kind.toObject()["percent_less_than_mha"].toDouble(), 98.59375);
        }
        QVERIFY(own);
        QVERIFY(cli({"plan", "deepseek-v3", "--context", "4096"}).out.contains("98.59375 %"));
    }

    void everyFormat_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("expected");
        QTest::newRow("table") << "table"
                               << "Fits ";
        QTest::newRow("md") << "md"
                            << "| part ";
        QTest::newRow("csv") << "csv"
                             << "section,item,bytes,plan_bytes,holds\nplan,weights,25227264,,\n";
        QTest::newRow("json") << "json"
                              << "\"schema\": \"decodescope.plan/1\"";
        QTest::newRow("jsonl") << "jsonl"
                               << "{\"section\":\"plan\",\"item\":\"weights\",\"bytes\":25227264}\n";
    }
    void everyFormat() {
        QFETCH(const QString, format);
        QFETCH(const QString, expected);
        const Outcome outcome = cli({"plan", "demo", "--memory", "1G", "--format", format});
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY2(QString::fromUtf8(outcome.out).contains(expected), outcome.out.constData());
        const Outcome list = cli({"plan", "--list", "--format", format});
        QCOMPARE(list.exitCode, 0);
        QVERIFY(list.out.contains("deepseek-v3"));
        QVERIFY(list.out.contains("huggingface.co/"));
    }

    void capacity() {
        const QJsonObject plan = answer("plan demo --context 100 --memory 64M --reserve 4MB");
        const QJsonObject capacity = plan["capacity"].toObject();
        QCOMPARE(capacity["memory"].toInt(), 64 << 20);
        QCOMPARE(capacity["reserve"].toInt(), 4'000'000);
        QCOMPARE(capacity["requests"].toInt(), capacity["left_for_kv"].toInt() / 921'600);
        QCOMPARE(capacity["tokens_per_request"].toInt(), 1024);
        QVERIFY(!plan["map"].toArray().isEmpty());
        // Without --memory, what is available here.
        QVERIFY(answer("plan demo")["capacity"].toObject()["memory"].toDouble() > 0);
    }

    void weightsThatAreNotKnown() {
        QTemporaryDir folder;
        const QString path = folder.filePath("config.json");
        QFile file(path);
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(
            R"({"model_type": "new", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                       "num_key_value_heads": 2, "head_dim": 24, "vocab_size": 99})");
        file.close();
        const QJsonObject plan = answer("plan " + path + " --memory 1G");
        QVERIFY(plan["capacity"].isNull());
        QVERIFY(plan["bytes"].toObject()["weights"].isNull());
        QVERIFY(plan["bytes"].toObject()["total"].isNull());
        QCOMPARE(plan["bytes"].toObject()["kv_bytes_per_token"].toInt(), 2 * 2 * 2 * 24 * 2);
        const QByteArray text = cli({"plan", path}).out;
        QVERIFY(text.contains("What fits is not known without the weights, see --parameters."));
        const QJsonObject told =
            answer("plan " + path + " --memory 1G --parameters 1000000 --weights-type f16");
        QCOMPARE(told["bytes"].toObject()["weights"].toInt(), 2'000'000);
        QVERIFY(told["capacity"].toObject()["requests"].toInt() > 0);
    }

    void checksOnRequest_data() {
        QTest::addColumn<QString>("arguments");
        QTest::newRow("demo") << "plan demo --check";
        QTest::newRow("demo, growing") << "plan demo --check --cache concat --context 300 --tokens 50";
        QTest::newRow("demo, quantised batch") << "plan demo --check --cache int8 --context 200 --batch 3";
        QTest::newRow("window") << "plan preset:tiny-window --check --cache window";
        QTest::newRow("gpt2-small") << "plan preset:gpt2-small --check --context 64";
    }
    void checksOnRequest() {
        QFETCH(const QString, arguments);
        // Sanitizers keep shadows and quarantines, which nobody plans.
        const Outcome outcome = cli((arguments + " --format json").split(' '));
        if (!sanitized) QCOMPARE(outcome.exitCode, 0);
        const QJsonObject check = jsonOf(outcome.out).toObject()["check"].toObject();
        QCOMPARE(check["holds"].toBool(), outcome.exitCode == 0);
        QVERIFY(check["rss"].toDouble() > check["rss_before_loading"].toDouble());
        int exact = 0;
        for (const QJsonValue& row : check["rows"].toArray()) {
            if (!sanitized) QVERIFY2(row["holds"].toBool(), qPrintable(row["part"].toString()));
            if (row["part"].toString().startsWith("KV")) {
                ++exact;
                QCOMPARE(row["difference"].toDouble(), 0.0);
            }
            if (!sanitized && row["part"] == "private memory" && row["plan"].toDouble() > 11e6) {
                QVERIFY(std::abs(row["difference"].toDouble()) <= 0.05 * row["plan"].toDouble());
            }
        }
        QVERIFY(exact >= 3);
        double sum = check["remainder"].toDouble();
        for (const QJsonValue& line : check["memory"].toArray()) sum += line["bytes"].toDouble();
        if (!check["memory"].toArray().isEmpty()) QCOMPARE(sum, check["rss"].toDouble());
    }

    void accounts_data() {
        QTest::addColumn<QString>("arguments");
        QTest::newRow("demo") << "account --prompt-length 40 --tokens 20";
        QTest::newRow("chunks")
            << "account demo --lanes concat,static,paged,int8 --prompt-length 70 --prefill-chunk 32 "
               "--tokens 9";
        QTest::newRow("grouped heads") << "account preset:tiny-llama --prompt-length 9 --tokens 30";
        QTest::newRow("window")
            << "account preset:tiny-window --prompt-length 20 --tokens 30 --lanes naive,static";
    }
    void accounts() {
        QFETCH(const QString, arguments);
        const QJsonObject account = answer(arguments);
        QCOMPARE(account["schema"].toString(), QString("decodescope.account/1"));
        QVERIFY(!account["lanes"].toArray().isEmpty());
        for (const QJsonValue& lane : account["lanes"].toArray()) {
            QVERIFY(lane["agrees"].toBool());
            for (const QJsonValue& line : lane["lines"].toArray()) QCOMPARE(line["run"], line["closed_form"]);
        }
    }

    void publishedCounts() {
        const Outcome outcome =
            cli({"account", "gpt2-small", "-p", "1", "-n", "500", "--lanes", "naive,static", "--no-run"});
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY(QString::fromUtf8(outcome.out)
                    .contains(
                        QRegularExpression("naive +score cells, every query x every key +cells +41791750 ")));
        QVERIFY(QString::fromUtf8(outcome.out)
                    .contains(QRegularExpression("static +score cells allowed +cells +125250 ")));
        for (const char* format : {"csv", "md", "jsonl"}) {
            const Outcome other =
                cli({"account", "gpt2-small", "-p", "1", "-n", "500", "--no-run", "-f", format});
            QCOMPARE(other.exitCode, 0);
            QVERIFY(other.out.contains("41791750"));
        }
    }

    void badInput_data() {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* arguments, const char* sentence) {
            QTest::newRow(arguments) << QString(arguments) << QString(sentence);
        };
        row("plan nosuchmodel",
            "\"nosuchmodel\" is neither a folder, a config.json, a GGUF file, a bundled or fetched "
            "model nor a known configuration (\"decodescope-cli plan --list\" lists them).");
        row("plan known:x", "\"x\" is not a known configuration");
        row("plan demo --memory 12X", "--memory: \"12X\" is not a size such as 16G, 24GB or 800M.");
        row("plan demo --memory -3G", "--memory: \"-3G\" is not a size such as 16G, 24GB or 800M.");
        row("plan demo --memory 0", "--memory: 0 bytes are nothing to plan with.");
        row("plan demo --reserve 1Q", "--reserve: \"1Q\" is not a size");
        row("plan demo --memory nan", "--memory: \"nan\" is not a size");
        row("plan demo --cache naive",
            "--cache: \"naive\" is not one of concat, static, f16, bf16, paged, window, int8");
        row("plan demo --cache static+position-restart",
            "--cache: \"static+position-restart\" is not one of");
        row("plan demo --cache int8 --kv-type f16", "--kv-type: a cache of kind int8 has a type of its own.");
        row("plan demo --kv-type f64", "--kv-type: \"f64\" is not one of f32, f16, bf16.");
        row("plan demo --weights-type q9",
            "--weights-type: \"q9\" is not a type of weights, expected one of F32, F16,");
        row("plan demo --block 4", "--block: only paged caches have blocks.");
        row("plan demo --residual 4", "--residual: only kivi caches have a residual.");
        row("plan demo --cache window",
            "Plan: a window cache was asked for, but the model has no window; give one.");
        row("plan demo --window 0", "--window: \"0\" is not SIZE or SIZE,sinks=N");
        row("plan demo --context 1025",
            "Plan: a context of 1025 tokens is beyond the 1024 positions of demo.");
        row("plan demo --context 0", "--context: \"0\" is not a whole number from 1 to 16777216.");
        row("plan demo --context 8 --tokens 9",
            "Plan: 9 new tokens leave no prompt in a context of 8 tokens.");
        row("plan demo --parameters 5", "--parameters: demo has 3259392 parameters.");
        row("plan deepseek-v3 --cache kivi4",
            "Plan: a kivi cache quantises keys and values apart, but MLA keeps a "
            "latent of both.");
        row("plan llama-3-8b --check",
            "--check: \"llama-3-8b\" is a configuration without weights that this program "
            "could run.");
        row("plan demo --check --weights-type int8",
            "Plan: this program holds weights in f32, so a plan for Q8_0 cannot be checked.");
        row("account llama-3-8b",
            "--model: \"llama-3-8b\" is a configuration without weights: count it with --no-run.");
        row("account deepseek-v3 --no-run",
            "--model: \"deepseek-v3\" is of a kind that this program does not run, and "
            "whose work it does not count.");
        row("account --lanes window",
            "--lanes: \"window\" cannot be counted in closed form, expected naive, concat,");
        row("account --lanes beam", "--lanes: \"beam\" cannot be counted in closed form");
        row("account --lanes static,,naive", "--lanes: \"static,,naive\" has an empty entry");
        row("account --prompt-length 1000 --tokens 100",
            "--prompt-length and --tokens: 1099 tokens are beyond the 1024 positions of \"demo\".");
        row("account llama-3.1-405b --no-run --prompt-length 1 --tokens 131072",
            "The work of 1 prompt tokens and 131072 new ones does not fit 64 bits.");
        row("account --prompt-length 0", "--prompt-length: \"0\" is not a whole number from 1 to 16777216.");
    }
    void badInput() {
        QFETCH(const QString, arguments);
        QFETCH(const QString, sentence);
        expectRefusal(arguments, sentence);
    }

    void brokenConfigs() {
        QTemporaryDir folder;
        const QString path = folder.filePath("config.json");
        const auto refused = [&](const QByteArray& content, const QString& sentence) {
            QFile file(path);
            QVERIFY(file.open(QFile::WriteOnly));
            file.write(content);
            file.close();
            expectRefusal("plan " + path, sentence);
        };
        refused("", "config.json");
        refused("{", "config.json");
        refused(R"({"model_type": "x", "num_hidden_layers": 3})", "config.json: hidden_size is missing");
    }
};

QTEST_GUILESS_MAIN(TestCliPlan)
#include "tst_cli_plan.moc"
