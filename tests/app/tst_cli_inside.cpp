// SPDX-License-Identifier: GPL-3.0-or-later
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

#include "tests/app/cli_process.h"

using namespace decodescope::test;

/// `inside` through the real program.
class TestCliInside : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        m_record = m_folder.filePath("record.json");
        const Outcome outcome = cli({"run", "--model", "preset:tiny-llama,seed=3", "--lanes",
                                     "naive,batch,batch+pad-slot-positions", "--random-prompt", "5",
                                     "--random-prompt", "8,seed=2", "-n", "6", "--warmup", "0",
                                     "--repetitions", "1", "--format", "json", "--output", m_record});
        QVERIFY2(outcome.exitCode == 0 || outcome.exitCode == 1, outcome.err.constData());
    }

    void jsonHasEverything() {
        const Outcome outcome = cli({"inside", m_record, "--lane", "batch", "--step", "3", "--layer", "1",
                                     "--head", "2", "--all-heads", "--times", "--format", "json"});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        const QJsonObject json = jsonOf(outcome.out).toObject();
        QCOMPARE(json["schema"].toString(), QString("decodescope.inside/1"));
        QCOMPARE(json["lane"].toString(), QString("batch"));
        QCOMPARE(json["wrong_positions"].toInt(), 0);
        QCOMPARE(json["pairs"].toInt(), 22);
        QCOMPARE(json["visible_pairs"].toInt(), 19);
        QCOMPARE(json["wrong_pairs"].toInt(), 0);
        const QJsonArray rows = json["rows"].toArray();
        QCOMPARE(rows.size(), 2);
        // The shorter prompt has three pads in front, and both are given their third token.
        QCOMPARE(rows[0]["queries"][0]["mask"].toString(), QString("pppvvvvvvvv"));
        QCOMPARE(rows[1]["queries"][0]["mask"].toString(), QString("vvvvvvvvvvv"));
        QCOMPARE(rows[0]["queries"][0]["used"].toInt(), 7);
        QCOMPARE(rows[0]["keys"][0]["holds"].toString(), QString("padding"));
        QCOMPARE(rows[0]["keys"][10]["stored_in_step"].toInt(), 3);
        QCOMPARE(json["heads"].toArray().size(), 4);
        for (const QJsonValue& row : json["attention"]["weights"].toArray()) {
            double sum = 0;
            for (const QJsonValue& weight : row.toArray()) sum += weight.toDouble();
            QVERIFY(std::abs(sum - 1) < 1e-5);
        }
        QCOMPARE(json["heads"][2]["weights"], json["attention"]["weights"]);
        const QJsonObject times = json["times"].toObject();
        double sum = times["head_ns"].toDouble() + times["other_ns"].toDouble();
        for (const QJsonValue& layer : times["layers"].toArray())
            sum +=
                layer["attention_ns"].toDouble() + layer["mlp_ns"].toDouble() + layer["other_ns"].toDouble();
        QCOMPARE(sum, times["total_ns"].toDouble());
        QVERIFY(times["layers"][0]["attention_ns"].toDouble() > 0);
    }

    void faultsShow() {
        const Outcome outcome = cli(
            {"inside", m_record, "--lane", "batch+pad-slot-positions", "--step", "3", "--format", "json"});
        QCOMPARE(outcome.exitCode, 0);
        const QJsonObject json = jsonOf(outcome.out).toObject();
        QVERIFY(json["wrong_positions"].toInt() > 0);
        QCOMPARE(json["rows"][0]["queries"][0]["expected"].toInt(), 7);
        QCOMPARE(json["rows"][0]["queries"][0]["used"].toInt(), 10);
    }

    void csvHasEveryCell() {
        const Outcome outcome =
            cli({"inside", m_record, "--lane", "naive", "--step", "1", "--format", "csv"});
        QCOMPARE(outcome.exitCode, 0);
        const auto lines = QString::fromUtf8(outcome.out).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines[0], QString("row,request,query,key,cell,attention_weight"));
        QCOMPARE(lines.size(), 1 + 6 * 6);
        QVERIFY(lines.contains("0,0,0,1,future,0"));
        QVERIFY(lines.contains("0,0,0,0,visible,1"));
    }

    void tablesNameTheKeys() {
        for (const char* format : {"table", "md"}) {
            const Outcome outcome = cli(
                {"inside", m_record, "--lane", "batch", "--step", "2", "--format", QLatin1String(format)});
            QCOMPARE(outcome.exitCode, 0);
            QVERIFY2(outcome.out.contains("3-9"), outcome.out.constData());
            QVERIFY(!outcome.out.contains("not known"));
        }
    }

    void refuses() {
        expectRefusal("inside /does/not/exist", "/does/not/exist");
        expectRefusal("inside " + m_record + " --lane nobody",
                      "--lane: the record has no lane \"nobody\", expected one of naive, batch, "
                      "batch+pad-slot-positions.");
        expectRefusal("inside " + m_record + " --lane batch --step 6",
                      "Step 6 does not exist: lane \"batch\" made 6 steps.");
        expectRefusal("inside " + m_record + " --layer 9", "Layer 9 does not exist, expected 0 to 1.");
        expectRefusal("inside " + m_record + " --head 4", "Head 4 does not exist, expected 0 to 3.");
        expectRefusal("inside " + m_record + " --call 1", "Call 1 does not exist, expected 0 to 0.");
    }

private:
    QTemporaryDir m_folder;
    QString m_record;
};

QTEST_APPLESS_MAIN(TestCliInside)
#include "tst_cli_inside.moc"
