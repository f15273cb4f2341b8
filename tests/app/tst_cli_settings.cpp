// SPDX-License-Identifier: GPL-3.0-or-later
#include <QJsonArray>
#include <QTest>

#include "tests/app/cli_process.h"

using namespace decodescope::test;

/// The settings of `run`: how they reach the experiment, and what is said about those that make no sense.
class TestCliSettings : public QObject {
    Q_OBJECT

private slots:
    void badSettings_data() {
        QTest::addColumn<QString>("arguments");  // separated by single spaces
        QTest::addColumn<QString>("sentence");
        QTest::newRow("control tokens of ids") << "run --ids 1,2 --control"
                                               << "--control: there is no text prompt to apply it to.";
        QTest::newRow("window 0")
            << "run --window 0"
            << "--window: \"0\" is not SIZE or SIZE,sinks=N with whole numbers, SIZE at "
               "least 1.";
        QTest::newRow("window sinks") << "run --window 4,sinks=-1"
                                      << "--window: \"4,sinks=-1\" is not SIZE or SIZE,sinks=N";
        QTest::newRow("window word") << "run --window 4,size=2"
                                     << "--window: \"4,size=2\" is not SIZE or SIZE,sinks=N";
        QTest::newRow("block 0") << "run --lanes paged --block 0"
                                 << "--block: \"0\" is not a whole number from 1 to 4096.";
        QTest::newRow("block of nothing") << "run --block 4"
                                          << "--block: there is no lane with a paged cache to apply it to.";
        QTest::newRow("sharing of nothing")
            << "run --lanes paged --share-prefixes"
            << "--share-prefixes: there is no continuous lane with a paged cache to apply it to.";
        QTest::newRow("residual of nothing")
            << "run --lanes int8 --residual 4"
            << "--residual: there is no lane with a kivi cache to apply it to.";
        QTest::newRow("draft tokens of nothing")
            << "run --draft-tokens 4"
            << "--draft-tokens: there is no speculative lane to apply it to.";
        QTest::newRow("draft tokens 0") << "run --lanes speculative --draft-tokens 0"
                                        << "--draft-tokens: \"0\" is not a whole number from 1 to 64.";
        QTest::newRow("draft layers of nothing")
            << "run --lanes speculative --draft-layers 2"
            << "--draft-layers: there is no speculative-layers lane to apply it to.";
        QTest::newRow("draft layers of all layers")
            << "run --model preset:tiny --ids 1 --lanes speculative-layers --draft-layers 9"
            << "lanes[0].draft.layers is 9, expected fewer than the model's ";
        QTest::newRow("draft model of nothing")
            << "run --lanes speculative-layers --draft-model demo"
            << "--draft-model: there is no speculative lane without draft layers to apply it to.";
        QTest::newRow("draft preset") << "run --lanes speculative --draft-model preset:"
                                      << "--draft-model: Model \"preset:\": the preset's name is missing";
        QTest::newRow("draft with another vocabulary")
            << "run --lanes speculative --tokens 2 --draft-model preset:tiny"
            << "vocabulary";
        QTest::newRow("acceptance") << "run --lanes speculative --acceptance all"
                                    << "--acceptance: \"all\" is not one of match, rejection.";
        QTest::newRow("acceptance of nothing")
            << "run --acceptance match"
            << "--acceptance: there is no speculative lane to apply it to.";
        QTest::newRow("rejection of greedy")
            << "run --lanes speculative --acceptance rejection --drive free"
            << "lanes[0].draft.acceptance is \"rejection\", but sampling.kind is \"greedy\", expected "
               "\"sample\".";
        QTest::newRow("beams of nothing") << "run --beams 4"
                                          << "--beams: there is no beam lane to apply it to.";
        QTest::newRow("one beam") << "run --lanes beam --beams 1"
                                  << "--beams: \"1\" is not a whole number from 2 to 64.";
        QTest::newRow("beam when forced")
            << "run --lanes beam"
            << "lanes[0].mode is \"beam\", but the drive is \"forced\", expected \"free\".";
        QTest::newRow("rows of nothing")
            << "run --lanes batch --batch-rows 2"
            << "--batch-rows: there is no lane with a continuous batch to apply it to.";
        QTest::newRow("budget of nothing")
            << "run --kv-budget 9"
            << "--kv-budget: there is no lane with a continuous batch to apply it to.";
        QTest::newRow("batch larger than the budget")
            << "run --lanes continuous --ids 1,2,3 --ids 4,5,6,7 --tokens 4 --kv-budget 6"
            << "lanes[0].batch.budget is 6, expected at least 16: prompts[0] and its answer have 6 tokens in "
               "blocks of 16.";
        QTest::newRow("allocation") << "run --allocation old"
                                    << "--allocation: \"old\" is not one of reused, fresh.";
        QTest::newRow("weights") << "run --weights int3"
                                 << "--weights: \"int3\" is not one of f32, f16, bf16, int8, int4.";
        QTest::newRow("kernels") << "run --kernels mkl"
                                 << "--kernels: \"mkl\" is not one of packed, openblas.";
        QTest::newRow("weights of a lane")
            << "run --lanes static+weights-int3"
            << "--lanes: Lane \"static+weights-int3\": what follows the + is \"weights-int3\", expected one "
               "of "
               "weights-f32, weights-f16, weights-bf16, weights-int8, weights-int4, openblas, graph, tf32.";
        QTest::newRow("openblas on bf16")
            << "run --lanes naive,static+openblas --weights bf16"
            << "lanes[1].weights is \"bf16\", expected \"f32\" where kernels is \"openblas\".";
        QTest::newRow("interleave") << "run --interleave token"
                                    << "--interleave: \"token\" is not one of automatic, step, repetition.";
        QTest::newRow("steps of speculative")
            << "run --lanes naive,speculative --interleave step"
            << "interleave is \"step\", but lanes[1].mode is \"speculative\", expected \"automatic\" or "
               "\"repetition\".";
        QTest::newRow("temperature negative") << "run --temperature -0.5"
                                              << "--temperature: \"-0.5\" is not a number from 0 to 100.";
        QTest::newRow("top-k of more than there is")
            << "run --model preset:tiny --ids 1 --tokens 2 --top-k 70000"
            << "sampling.top_k is 70000, expected at most the model's vocabulary of ";
        QTest::newRow("top-p 0") << "run --top-p 0"
                                 << "sampling.top_p is 0, expected more than 0 and at most 1.";
        QTest::newRow("top-p 2") << "run --top-p 2"
                                 << "--top-p: \"2\" is not a number from 0 to 1.";
        QTest::newRow("min-p 1") << "run --min-p 1"
                                 << "sampling.min_p is 1, expected 0 or more and less than 1.";
        QTest::newRow("repetition penalty 0")
            << "run --repetition-penalty 0"
            << "sampling.repetition_penalty is 0, expected more than 0 and at most 10.";
        QTest::newRow("stop ids") << "run --stop-ids 1,x"
                                  << "--stop-ids: \"x\" is not a token id.";
        QTest::newRow("stop id beyond the vocabulary")
            << "run --model preset:tiny --ids 1 --tokens 2 --stop-ids 2000000000"
            << "stop_ids[0] is 2000000000, expected a token id below the model's vocabulary of ";
        QTest::newRow("fixed with two prompts")
            << "run --drive fixed --ids 1 --ids 2 --tokens 2 --fixed-ids 3"
            << "drive is \"fixed\", but there are 2 prompts, expected one.";
    }
    void badSettings() {
        QFETCH(QString, arguments);
        QFETCH(QString, sentence);
        expectRefusal(arguments, sentence);
    }

    void everyOptionReachesTheExperiment() {
        const Outcome outcome = cli({"run",
                                     "--model",
                                     "preset:tiny",
                                     "--ids",
                                     "3,1,4,1,5,9,2",
                                     "--ids",
                                     "2,7,1,8",
                                     "--tokens",
                                     "6",
                                     "--lanes",
                                     "naive,paged,kivi2,continuous,speculative,speculative-layers",
                                     "--drive",
                                     "free",
                                     "--top-p",
                                     "0.9",
                                     "--min-p",
                                     "0.01",
                                     "--top-k",
                                     "20",
                                     "--temperature",
                                     "0.8",
                                     "--seed",
                                     "3",
                                     "--repetition-penalty",
                                     "1.2",
                                     "--stop-ids",
                                     "40,41",
                                     "--interleave",
                                     "repetition",
                                     "--window",
                                     "64,sinks=2",
                                     "--block",
                                     "4",
                                     "--share-prefixes",
                                     "--residual",
                                     "16",
                                     "--batch-rows",
                                     "2",
                                     "--kv-budget",
                                     "50",
                                     "--draft-tokens",
                                     "3",
                                     "--draft-layers",
                                     "1",
                                     "--draft-model",
                                     "preset:tiny,seed=0",
                                     "--acceptance",
                                     "match",
                                     "--allocation",
                                     "fresh",
                                     "--kernels",
                                     "openblas",
                                     "--format",
                                     "json"});
        QVERIFY2(outcome.exitCode == 0 || outcome.exitCode == 1, outcome.err.constData());
        const QJsonValue experiment = jsonOf(outcome.out)["experiment"];
        QCOMPARE(experiment["prompts"].toArray().size(), 2);
        QCOMPARE(experiment["prompts"][1]["ids"].toArray().size(), 4);
        const QJsonValue sampling = experiment["sampling"];
        QCOMPARE(sampling["kind"].toString(), QString("sample"));
        QCOMPARE(sampling["top_p"].toDouble(), 0.9);
        QCOMPARE(sampling["min_p"].toDouble(), 0.01);
        QCOMPARE(sampling["repetition_penalty"].toDouble(), 1.2);
        QCOMPARE(experiment["stop_ids"].toArray().size(), 2);
        QCOMPARE(experiment["interleave"].toString(), QString("repetition"));
        const QJsonArray lanes = experiment["lanes"].toArray();
        QCOMPARE(lanes.size(), 6);
        for (const QJsonValue& lane : lanes) {
            QCOMPARE(lane["window"]["size"].toInt(), 64);
            QCOMPARE(lane["window"]["sinks"].toInt(), 2);
            QCOMPARE(lane["allocation"].toString(), QString("fresh"));
            QCOMPARE(lane["kernels"].toString(), QString("openblas"));
        }
        QCOMPARE(lanes[1]["cache"]["block"].toInt(), 4);
        QCOMPARE(lanes[1]["cache"]["share_prefixes"].toBool(), false);
        QCOMPARE(lanes[3]["cache"]["share_prefixes"].toBool(), true);
        QCOMPARE(lanes[2]["cache"]["bits"].toInt(), 2);
        QCOMPARE(lanes[2]["cache"]["residual"].toInt(), 16);
        QCOMPARE(lanes[3]["batch"]["kind"].toString(), QString("continuous"));
        QCOMPARE(lanes[3]["batch"]["max_rows"].toInt(), 2);
        QCOMPARE(lanes[3]["batch"]["budget"].toInt(), 50);
        QCOMPARE(lanes[4]["draft"]["kind"].toString(), QString("model"));
        QCOMPARE(lanes[4]["draft"]["model"]["preset"].toString(), QString("tiny"));
        QCOMPARE(lanes[4]["draft"]["tokens"].toInt(), 3);
        QCOMPARE(lanes[5]["draft"]["kind"].toString(), QString("layers"));
    }
};

QTEST_GUILESS_MAIN(TestCliSettings)
#include "tst_cli_settings.moc"
