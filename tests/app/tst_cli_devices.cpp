// SPDX-License-Identifier: GPL-3.0-or-later
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "tests/app/cli_process.h"

using namespace decodescope::test;

namespace {

/// What this machine has, as the program says; empty where there are GPUs.
QString whyNoGpu() {
    return jsonOf(cli({"devices", "--format", "json"}).out)["why_no_gpu"].toString();
}

const QString tiny = QStringLiteral(" --model preset:tiny");

}  // namespace

/// Devices on the command line: which there are, how one is chosen, and what is said about those that are
/// not there or cannot do what they are asked for.
class TestCliDevices : public QObject {
    Q_OBJECT

private slots:
    void refused_data() {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<QString>("sentence");
        const QString known = "expected \"cpu\", \"cuda\" or \"cuda:N\".";
        for (const QString& command : {QString("run --ids 1"), QString("bench"), QString("verify"),
                                       QString("account"), QString("sweep --dry-run")}) {
            QTest::addRow("opencl, %s", qPrintable(command)) << command + tiny + " --device opencl"
                                                             << "--device: \"opencl\" is not known, " + known;
            QTest::addRow("a number that no GPU has, %s", qPrintable(command))
                << command + tiny + " --device cuda:1000"
                << "There is no device \"cuda:1000\", expected ";
        }
        QTest::newRow("number") << "run --device 0"
                                << "--device: \"0\" is not known, " + known;
        QTest::newRow("cuda:x") << "run --device cuda:x"
                                << "--device: \"cuda:x\" is not known, " + known;
        QTest::newRow("empty number") << "run --device cuda:"
                                      << "--device: \"cuda:\" is not known, " + known;
        QTest::newRow("a lane's number")
            << "run --lanes naive,static+cuda:x"
            << "--lanes: Lane \"static+cuda:x\": what follows the + is \"cuda:x\", " + known;
        QTest::newRow("a lane's GPU") << "run --lanes naive,static+cuda:1000"
                                      << "There is no device \"cuda:1000\", expected ";
        QTest::newRow("graph on the CPU")
            << "run --lanes static+graph"
            << "lanes[0].cuda_graph is true, but a CUDA graph needs a GPU, expected false for lane "
               "\"static+graph\".";
        QTest::newRow("graph of concat")
            << "run --device cuda --lanes concat+graph"
            << "lanes[0].cuda_graph is true, but a concat cache moves its storage "
               "at every step, so that a captured graph would read freed memory, "
               "expected false for lane \"concat+graph\".";
        QTest::newRow("TF32 on the CPU")
            << "run --lanes static+tf32"
            << "lanes[0].tf32 is true, but TF32 needs a GPU, expected false for lane \"static+tf32\".";
        QTest::newRow("int8 weights")
            << "run --device cuda:0 --lanes static+weights-int8"
            << "lanes[0].weights is \"int8\", expected \"f32\", \"f16\" or \"bf16\" for lane "
               "\"static+weights-int8\" on cuda:0.";
        QTest::newRow("openblas") << "run --lanes static+openblas+cuda:0"
                                  << "lanes[0].kernels is \"openblas\", which computes on the CPU alone, "
                                     "expected \"packed\" for lane \"static+openblas+cuda:0\" on cuda:0.";
        QTest::newRow("kivi")
            << "run --device cuda --lanes kivi"
            << "lanes[0].cache.kind is \"kivi\", which is stored on the CPU alone, expected "
               "another kind for lane \"kivi\" on cuda:0.";
        QTest::newRow("fault") << "run --lanes naive,static+cuda:0+position-restart"
                               << "lanes[1].faults is set, but deliberate faults are made on the CPU alone, "
                                  "expected none for lane \"static+cuda:0+position-restart\" on cuda:0.";
        const QString inside = "computes on cuda:0, and the inside of steps is looked at on the CPU alone.";
        QTest::newRow("verdict") << "run --lanes naive,static+cuda:0 --verdict"
                                 << "Lane \"static+cuda:0\" " + inside;
        QTest::newRow("inside of steps") << "run --device cuda --lanes static --trace-events t.json"
                                         << "Lane \"static\" " + inside;
        QTest::newRow("account of int4") << "account --device cuda --lanes static+weights-int4"
                                         << "lanes[0].weights is \"int4\", expected ";
    }
    void refused() {
        QFETCH(QString, arguments);
        QFETCH(QString, sentence);
        expectRefusal(arguments, sentence);
    }

    void withoutGpu_data() {
        QTest::addColumn<QString>("arguments");
        for (const char* arguments :
             {"run --device cuda:0 --ids 1", "run --device cuda --ids 1",
              "run --lanes naive,static+cuda:0 --ids 1", "bench --device cuda",
              "sweep --dry-run --device cuda:0", "verify --device cuda:0", "account --device cuda:0"})
            QTest::newRow(arguments) << arguments + tiny;
    }
    void withoutGpu() {
        const QString why = whyNoGpu();
        if (why.isEmpty()) QSKIP("This machine has a GPU.");
        QFETCH(QString, arguments);
        const Outcome outcome = cli(arguments.split(' '));
        QCOMPARE(outcome.exitCode, 3);
        QCOMPARE(QString::fromUtf8(outcome.err),
                 QString("decodescope-cli: The device \"cuda:0\" cannot be used: %1.\n").arg(why));
        QVERIFY(outcome.out.isEmpty());
    }

    void list() {
        const Outcome json = cli({"devices", "--format", "json"});
        QCOMPARE(json.exitCode, 0);
        const QJsonValue document = jsonOf(json.out);
        const QJsonArray devices = document["devices"].toArray();
        QVERIFY(!devices.isEmpty());
        QCOMPARE(devices[0]["device"].toString(), QString("cpu"));
        QVERIFY(devices[0]["memory_bytes"].toDouble() > 0);
        const QString why = document["why_no_gpu"].toString();
        QCOMPARE(why.isEmpty(), devices.size() > 1);
        QCOMPARE(cli({"devices", "--format", "jsonl"}).out.count('\n'), devices.size());
        QCOMPARE(cli({"devices", "--format", "csv"}).out.count('\n'), devices.size() + 1);
        const QByteArray table = cli({"devices"}).out;
        if (why.isEmpty()) {
            QVERIFY2(table.contains("cuda:0"), table);
            return;
        }
        QCOMPARE(QString::fromUtf8(table), QString("CPU only: %1\n").arg(why));
        QCOMPARE(cli({"devices", "--format", "md"}).out, table);
    }

    /// A file that names a GPU can be shown and compared wherever it is; only running it needs the GPU.
    void fileFromElsewhere() {
        QTemporaryDir folder;
        const QString path = folder.filePath("gpu.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"schema": "decodescope.experiment/1", "device": "cuda:3", "prompts": [{"ids": [1]}],
                       "lanes": [{"name": "a", "mode": "naive", "device": "cpu"},
                                 {"name": "b", "mode": "cached", "cache": {"kind": "static"},
                                  "cuda_graph": true}]})");
        file.close();
        const Outcome shown = cli({"show", path, "--format", "json"});
        QCOMPARE(shown.exitCode, 0);
        const QJsonValue json = jsonOf(shown.out);
        QCOMPARE(json["device"].toString(), QString("cuda:3"));
        QCOMPARE(json["lanes"][0]["device"].toString(), QString("cpu"));
        QVERIFY(json["lanes"][1]["cuda_graph"].toBool());
        // What is on the command line wins, but for lanes that say where they belong.
        const Outcome run = cli({"run", "-e", path, "--device", "cpu", "--model", "preset:tiny"});
        QCOMPARE(run.exitCode, 2);
        QVERIFY2(run.err.contains("lanes[1].cuda_graph is true, but a CUDA graph needs a GPU"), run.err);
    }

    /// The CPU by its name is the CPU, and is called so.
    void cpuByName() {
        const Outcome run = cli({"run", "--model", "preset:tiny", "--ids", "1,2", "--tokens", "3", "--device",
                                 "cpu", "--lanes", "naive,static+cpu", "--format", "json"});
        QVERIFY2(run.exitCode == 0, run.err);
        const QJsonValue json = jsonOf(run.out);
        QCOMPARE(json["experiment"]["lanes"][1]["device"].toString(), QString("cpu"));
        QVERIFY(json["environment"]["gpus"].toArray().isEmpty());
        QVERIFY(json["environment"]["cuda_driver"].isNull());
        QVERIFY(json["environment"]["gpu_precision"].isNull());
        QVERIFY(json["lanes"][0]["summary"]["gpu_memory"].isUndefined());
        const Outcome rows = cli({"run", "--model", "preset:tiny", "--ids", "1,2", "--tokens", "3", "--lanes",
                                  "naive,static+cpu", "--format", "csv"});
        const QByteArrayList lines = rows.out.split('\n');
        QVERIFY(lines[0].endsWith(",device,device_ns"));
        QVERIFY(lines[1].endsWith(",cpu,"));  // whose clock is that of the step
    }
};

QTEST_GUILESS_MAIN(TestCliDevices)
#include "tst_cli_devices.moc"
