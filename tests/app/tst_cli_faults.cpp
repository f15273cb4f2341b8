// SPDX-License-Identifier: GPL-3.0-or-later
#include <QJsonArray>
#include <QSet>
#include <QTest>

#include "engine/fault/fault_catalogue.h"
#include "tests/app/cli_process.h"

using namespace decodescope;
using namespace decodescope::test;

/// The list of faults, and lanes that have some.
class TestCliFaults : public QObject {
    Q_OBJECT

private slots:
    void theListIsTheCatalogue() {
        const Outcome json = cli({"faults", "--format", "json"});
        QVERIFY2(json.exitCode == 0, json.err.constData());
        const QJsonArray list = QJsonDocument::fromJson(json.out).array();
        QCOMPARE(list.size(), n_fault);
        QSet<QString> ids;
        for (const QJsonValue& fault : list) {
            ids.insert(fault["id"].toString());
            for (const char* field :
                 {"title", "kind", "description", "applies", "place", "fingerprint", "fix"})
                QVERIFY2(!fault[field].toString().isEmpty(), field);
            QVERIFY(fault["shows_in_logits"].isBool());
        }
        QCOMPARE(ids.size(), n_fault);
        const Outcome table = cli({"faults"});
        QCOMPARE(table.out.count('\n'), n_fault + 1);
        QCOMPARE(cli({"faults", "--format", "csv"}).out.count('\n'), n_fault + 1);
        QCOMPARE(cli({"faults", "--format", "jsonl"}).out.count('\n'), n_fault);
        QCOMPARE(cli({"faults", "--format", "md"}).out.count("\n## "), n_fault);
        for (const QString& id : ids) QVERIFY(table.out.contains(id.toUtf8()));
    }

    void oneIsDescribed() {
        const Outcome plain = cli({"faults", "position-restart"});
        QCOMPARE(plain.exitCode, 0);
        for (const char* part : {"Kind: position", "Where it bites:", "What you should see:", "Fix:"})
            QVERIFY2(plain.out.contains(part), plain.out.constData());
        const Outcome json = cli({"faults", "position-restart", "--format", "json"});
        QCOMPARE(jsonOf(json.out)["kind"].toString(), QString("position"));
    }

    void badWords_data() {
        QTest::addColumn<QString>("arguments");  // separated by single spaces
        QTest::addColumn<QString>("sentence");
        QTest::newRow("unknown id") << "faults positions-restart"
                                    << "perhaps position-restart";
        QTest::newRow("unknown fault of a lane") << "run --lanes naive,static+restart"
                                                 << "--lanes: Lane \"static+restart\": what follows the + is "
                                                    "an unknown fault \"restart\", perhaps "
                                                    "position-restart is meant.";
        QTest::newRow("no fault") << "run --lanes naive,static+"
                                  << "what follows the + is an unknown fault \"\"";
        QTest::newRow("twice") << "run --lanes naive,static+dropout-on+dropout-on"
                               << "lanes[1].faults[1] is \"dropout-on\" again, expected it once.";
        QTest::newRow("lane") << "run --lanes naive,static+scales-dropped"
                              << "lanes[1].faults[0] is \"scales-dropped\", which needs an int8 cache.";
        QTest::newRow("model")
            << "run --model preset:tiny --random-prompt 4 --lanes naive,static+query-offset"
            << "lanes[1].faults[0] is \"query-offset\", which needs a model with rotary";
        QTest::newRow("reference") << "run --lanes static+dropout-on,naive"
                                   << "is the reference, expected one without faults.";
    }
    void badWords() {
        QFETCH(QString, arguments);
        QFETCH(QString, sentence);
        expectRefusal(arguments, sentence);
    }

    void aFaultyLaneIsToldApart_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("note");
        QTest::newRow("wrong") << "static+position-plus-one" << 1 << "differs from that of \"naive\"";
        QTest::newRow("error") << "concat+concat-wrong-axis" << 1 << "failed, as a faulty lane may: Concat";
        QTest::newRow("exact, but costly") << "static+prompt-reprocessed" << 0 << "";
        QTest::newRow("two at once") << "static+position-frozen+mask-self-hidden" << 1 << "differs";
    }
    void aFaultyLaneIsToldApart() {
        QFETCH(QString, lane);
        QFETCH(int, exitCode);
        QFETCH(QString, note);
        const Outcome outcome =
            cli({"run", "--model", "demo", "--prompt", "It is a truth", "--tokens", "8", "--repetitions", "1",
                 "--warmup", "0", "--lanes", "naive," + lane, "--format", "json"});
        QCOMPARE(outcome.exitCode, exitCode);
        QVERIFY2(QString::fromUtf8(outcome.err).contains(note), outcome.err.constData());
        const QJsonValue record = jsonOf(outcome.out);
        QCOMPARE(record["status"].toString(), QString("length"));
        const QJsonArray faults = record["experiment"]["lanes"][1]["faults"].toArray();
        QCOMPARE(faults.size(), static_cast<qsizetype>(lane.count('+')));
    }
};

QTEST_GUILESS_MAIN(TestCliFaults)
#include "tst_cli_faults.moc"
