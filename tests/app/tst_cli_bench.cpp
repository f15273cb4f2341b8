// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "tests/app/cli_process.h"

using namespace decodescope::test;

namespace {

const QStringList tiny = {"bench", "--model", "preset:tiny", "-r", "2", "--seconds", "0"};

QJsonArray cellsOf(const Outcome& outcome) {
    return jsonOf(outcome.out)["cells"].toArray();
}

}  // namespace

class CliBench : public QObject {
    Q_OBJECT

    QTemporaryDir m_cache;

private slots:
    void initTestCase() { QVERIFY(qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8())); }

    void measuresEveryTestOnEveryLane() {
        const Outcome outcome = cli(tiny + QStringList{"-p", "8", "-n", "4", "-d", "0,6", "--lanes",
                                                       "naive,static", "--format", "json"});
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        const QJsonArray cells = cellsOf(outcome);
        QStringList rows;
        for (const QJsonValue& cell : cells) {
            rows << cell["label"].toString() + " " + cell["lane"].toString() +
                        (cell["repeat"].toBool() ? " again" : "");
            QCOMPARE(cell["status"].toString(), "ok");
            QCOMPARE(cell["samples_ns"].toArray().size(), 2);
            QVERIFY(cell["median_ts"].toDouble() > 0);
            QVERIFY(cell["read_limit_gb_s"].toDouble() > 0 && cell["peak_gflop_s"].toDouble() > 0);
        }
        QCOMPARE(rows, (QStringList{"pp8 naive", "pp8 static", "pp8 @ d6 naive", "pp8 @ d6 static",
                                    "tg4 naive", "tg4 static", "tg4 @ d6 naive", "tg4 @ d6 static",
                                    "pp8 naive again", "pp8 static again"}));
        QCOMPARE(cells.at(4)["step_ns"].toArray().at(0).toArray().size(), 4);
        QVERIFY(cells.at(5)["speed_up"]["factor"].toDouble() > 0);
        QCOMPARE(cells.at(4)["speed_up"]["why_not"].toString(), "the reference");
        QCOMPARE(jsonOf(outcome.out)["calibrations"].toArray().size(), 1);
    }

    void formats_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("begin");
        QTest::addColumn<int>("lines");  // that name the lane; -1 = not counted
        QTest::newRow("table") << "table"
                               << "Model: tiny (" << 1;
        QTest::newRow("md") << "md"
                            << "- Model: tiny (" << 1;
        QTest::newRow("csv") << "csv"
                             << "point,repeat,test,lane," << 1;
        QTest::newRow("jsonl") << "jsonl"
                               << "{\"schema\":\"decodescope.cell/1\"" << -1;
    }
    void formats() {
        QFETCH(QString, format);
        QFETCH(QString, begin);
        QFETCH(int, lines);
        const Outcome outcome =
            cli(tiny + QStringList{"-p", "8", "-n", "0", "--lanes", "static", "--format", format});
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        const QString text = QString::fromUtf8(outcome.out);
        QVERIFY2(text.startsWith(begin), qPrintable(text));
        if (lines < 0) return;
        int named = 0;
        for (const QString& line : text.split('\n')) named += line.contains("pp8") ? 1 : 0;
        QCOMPARE(named, lines);
    }

    void aWrongLaneIsSaidAndHasNoSpeedUp() {
        const Outcome outcome =
            cli(tiny + QStringList{"-p", "8", "-n", "4", "--lanes", "naive,static+position-restart"});
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY(outcome.out.contains("not shown: output differs"));
        QVERIFY(outcome.err.contains("differs from that of its reference"));
    }

    void whatCannotRunKeepsItsRow() {
        const Outcome outcome = cli(tiny + QStringList{"-p", "8,100000", "-n", "0", "--lanes", "static",
                                                       "--format", "json", "--no-drift-check"});
        QCOMPARE(outcome.exitCode, 0);
        const QJsonArray cells = cellsOf(outcome);
        QCOMPARE(cells.size(), 2);
        QCOMPARE(cells.at(1)["status"].toString(), "capacity");
        QVERIFY(!cells.at(1)["reason"].toString().isEmpty());
        QVERIFY(cells.at(1)["median_ns"].isNull());

        const Outcome nothing = cli(tiny + QStringList{"-p", "100000", "-n", "0", "--lanes", "static"});
        QCOMPARE(nothing.exitCode, 3);
        QVERIFY(nothing.err.contains("No test ran to its end."));
    }

    void tooLittleMemory() {
        const Outcome outcome = cli({"bench", "--model", "preset:tiny", "-p", "8", "-n", "0", "--lanes",
                                     "static", "--memory", "0.00001", "--format", "json", "-r", "1"});
        QCOMPARE(outcome.exitCode, 3);
        QCOMPARE(cellsOf(outcome).at(0)["status"].toString(), "memory");
    }

    void selfTestSaysWhatMeasuringCosts() {
        const Outcome outcome = cli({"bench", "--self-test", "--model", "preset:tiny", "--format", "json"});
        // Whether it holds is for the demo model on a quiet machine; here it is only made.
        QVERIFY2(outcome.exitCode == 0 || outcome.exitCode == 1, outcome.err);
        const QJsonValue json = jsonOf(outcome.out);
        QCOMPARE(json["ways"].toArray().size(), 3);
        QCOMPARE(json["holds"].toBool(), outcome.exitCode == 0);
        QCOMPARE(json["holds"].toBool(), json["ways"][2]["ratio"].toDouble() < 1.01);
    }

    void refuses_data() {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("list") << "bench -p 12,x"
                              << "--n-prompt: \"x\" is not a whole number from 0 to 16777216, nor a range";
        QTest::newRow("empty entry") << "bench -p 12,,"
                                     << "has an empty entry";
        QTest::newRow("backwards") << "bench -n 64..16*2"
                                   << "\"64..16*2\" is not a whole number";
        QTest::newRow("range without step") << "bench -n 1..9"
                                            << "\"1..9\" is not a whole number";
        QTest::newRow("times one") << "bench -n 1..9*1"
                                   << "\"1..9*1\" is not a whole number";
        QTest::newRow("from zero by factor") << "bench -n 0..9*2"
                                             << "\"0..9*2\" is not a whole number";
        QTest::newRow("too many") << "bench -n 0..16777216+1"
                                  << "has more than 10000 values";
        QTest::newRow("nothing") << "bench --model preset:tiny -p 0 -n 0"
                                 << "There is nothing to measure";
        QTest::newRow("threads") << "bench --threads 0"
                                 << "--threads: \"0\" is not a whole number from 1 to 1024";
        QTest::newRow("lane") << "bench --lanes fast"
                              << "--lanes: ";
        QTest::newRow("interval") << "bench --interval 200"
                                  << "not a number from 0 to 99";
        QTest::newRow("model") << "bench --model preset:huge"
                               << "huge";
    }
    void refuses() {
        QFETCH(QString, arguments);
        QFETCH(QString, sentence);
        expectRefusal(arguments, sentence);
    }

    void everyKnownMistakeIsAnswered() {
        const Outcome outcome = cli({"mistakes", "--format", "json"});
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        const QJsonArray mistakes = jsonOf(outcome.out)["mistakes"].toArray();
        QCOMPARE(mistakes.size(), 23);
        for (int i = 0; i < mistakes.size(); ++i) {
            const QJsonValue mistake = mistakes[i];
            QCOMPARE(mistake["id"].toString(), QString("M%1").arg(i + 1));
            QVERIFY(mistake["mistake"].toString().size() > 10 && mistake["prevented"].toString().size() > 50);
            // The test that is named is there.
            const QStringList test = mistake["test"].toString().split("::");
            QCOMPARE(test.size(), 2);
            QDirIterator files(DECODESCOPE_SOURCE_DIR "/tests", {test[0] + ".cpp"}, QDir::Files,
                               QDirIterator::Subdirectories);
            QVERIFY2(files.hasNext(), qPrintable(test[0]));
            QFile file(files.next());
            QVERIFY(file.open(QIODevice::ReadOnly));
            QVERIFY2(file.readAll().contains("void " + test[1].toUtf8() + "()"), qPrintable(test.join("::")));
        }
        QVERIFY(cli({"mistakes"}).out.startsWith("M1  "));
    }

    void rangesAreInclusive() {
        const Outcome outcome = cli(tiny + QStringList{"-p", "2..8*2,3..9+3", "-n", "0", "--lanes", "static",
                                                       "--format", "json", "--no-drift-check"});
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        QStringList labels;
        for (const QJsonValue& cell : cellsOf(outcome)) labels << cell["label"].toString();
        QCOMPARE(labels, (QStringList{"pp2", "pp4", "pp8", "pp3", "pp6", "pp9"}));
    }
};

QTEST_GUILESS_MAIN(CliBench)
#include "tst_cli_bench.moc"
