// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

#include "engine/core/random.h"
#include "tests/app/cli_process.h"
#include "tests/file_content.h"

using namespace decodescope::test;

namespace {

/// The whole lines of a file as objects; what is behind the last line end is left out.
QList<QJsonObject> rowsOf(const QByteArray& text) {
    QList<QJsonObject> rows;
    for (const QByteArray& line : text.left(text.lastIndexOf('\n') + 1).split('\n')) {
        if (!line.isEmpty()) rows << QJsonDocument::fromJson(line).object();
    }
    return rows;
}

QStringList tinySweep(const QString& file) {
    return {"sweep", "--model", "preset:tiny", "--lanes", "naive,static", "-p", "4,8", "-n", "2,4,16",
            "-r",    "2",       "--seconds",   "0",       "-t",           "1",  "-o",  file};
}
constexpr int nPoint = 6;

}  // namespace

class CliSweep : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_number = 0;

    QString fresh() { return m_folder.filePath(QString("%1.jsonl").arg(m_number++)); }

private slots:
    void writesEveryPointAndPrintsFits() {
        const QString file = fresh();
        const Outcome outcome = cli(tinySweep(file));
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        QCOMPARE(rowsOf(contentOf(file)).size(), (nPoint + 1) * 2);
        for (const char* title : {"Growth of the time", "Cost of the context", "When caching pays"})
            QVERIFY2(outcome.out.contains(title), outcome.out);

        const Outcome again = cli(tinySweep(file));
        QCOMPARE(again.exitCode, 2);
        QVERIFY(again.err.contains("is not empty: --resume goes on with it"));
        const QByteArray before = contentOf(file);
        const Outcome resumed = cli(tinySweep(file) + QStringList{"--resume"});
        QVERIFY2(resumed.exitCode == 0, resumed.err);
        QCOMPARE(contentOf(file), before);

        const Outcome shown = cli({"show", file});
        QVERIFY2(shown.exitCode == 0, shown.err);
        QVERIFY(shown.out.contains("When caching pays"));
    }

    void partsMakeTheWhole() {
        QStringList parts;
        for (int part = 1; part <= 3; ++part) {
            parts << fresh();
            const Outcome outcome =
                cli(tinySweep(parts.last()) +
                    QStringList{"--shard", QString("%1/3").arg(part), "--no-drift-check"});
            QVERIFY2(outcome.exitCode == 0, outcome.err);
        }
        const QString all = fresh();
        const Outcome merged =
            cli(QStringList{"sweep", "merge"} + parts + QStringList{"--format", "jsonl", "-o", all});
        QVERIFY2(merged.exitCode == 0, merged.err);
        const auto rows = rowsOf(contentOf(all));
        QCOMPARE(rows.size(), nPoint * 2);
        for (int i = 0; i < rows.size(); ++i) QCOMPARE(rows[i]["point"].toInt(), i / 2);

        const Outcome missing = cli({"sweep", "merge", parts[0], parts[2]});
        QCOMPARE(missing.exitCode, 1);
        QVERIFY(missing.err.contains("2 of 6 points are missing: 1, 4."));
    }

    void aDryRunRunsNothing() {
        const QString file = fresh();
        const Outcome outcome = cli(tinySweep(file) + QStringList{"--dry-run"});
        QVERIFY2(outcome.exitCode == 0, outcome.err);
        QVERIFY(outcome.out.contains("In all about "));
        QVERIFY(!QFile::exists(file));
    }

    void refuses_data() {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("no file") << "sweep --model preset:tiny"
                                 << "--output is missing";
        QTest::newRow("shard") << "sweep -o x --shard 3/2"
                               << "--shard: \"3/2\" is not PART/PARTS";
        QTest::newRow("shard 0") << "sweep -o x --shard 0/2"
                                 << "--shard: \"0/2\" is not PART/PARTS";
        QTest::newRow("shard word") << "sweep -o x --shard half"
                                    << "--shard: \"half\" is not PART/PARTS";
        QTest::newRow("folder") << "sweep --model preset:tiny -o /proc/none/x.jsonl"
                                << "/proc/none/x.jsonl cannot be opened for writing";
        QTest::newRow("merge nothing") << "sweep merge /proc/none/x.jsonl"
                                       << "/proc/none/x.jsonl";
        QTest::newRow("nothing to do") << "sweep --model preset:tiny -o x -p 0 -n 0"
                                       << "There is nothing to measure";
    }
    void refuses() {
        QFETCH(QString, arguments);
        QFETCH(QString, sentence);
        expectRefusal(arguments, sentence);
        QVERIFY(!QFile::exists("x"));
    }

    /// 50 interruptions at random moments lose at most the point that ran: what was written stays as it is,
    /// and the same command goes on from there until everything is there, once.
    void interruptionsLoseOnlyWhatRan() {
        QString file = fresh();
        int interrupted = 0;
        int finished = 0;
        for (std::uint64_t round = 0; interrupted < 50; ++round) {
            QVERIFY2(round < 500, "the sweep ends before it can be interrupted");
            const QByteArray before = contentOf(file);
            QProcess process;
            process.start(program(), tinySweep(file) + QStringList{"--resume"});
            QVERIFY(process.waitForStarted(patience));
            const bool kill = round % 2 == 0;
            // From before the first point is begun to the end.
            const int delay = static_cast<int>(decodescope::random_bits(1, 2, round) % 900);
            const bool ended = process.waitForFinished(delay);
            if (!ended) {
                ++interrupted;
                ::kill(static_cast<pid_t>(process.processId()), kill ? SIGKILL : SIGINT);
                QVERIFY(process.waitForFinished(patience));
                const QByteArray err = process.readAllStandardError();
                if (!kill && process.exitStatus() == QProcess::NormalExit) {
                    // It may just have come to its end.
                    QVERIFY2(process.exitCode() == 130 || process.exitCode() == 0, err);
                }
            }
            const QByteArray after = contentOf(file);
            // What the last command left half-written is cut off first, everything else stays.
            const auto whole = rowsOf(before).size() / 2 * 2;
            const auto rows = rowsOf(after);
            QVERIFY(rows.size() >= whole);
            for (int i = 0; i < whole; ++i) QCOMPARE(rows[i], rowsOf(before)[i]);
            for (const QJsonObject& row : rows) QCOMPARE(row["schema"].toString(), "decodescope.cell/1");
            if (ended) {
                QVERIFY2(process.exitCode() == 0, process.readAllStandardError());
                QSet<QString> cells;
                for (const QJsonObject& row : rows) {
                    cells << QString("%1 %2 %3")
                                 .arg(row["point"].toInt())
                                 .arg(row["lane"].toString())
                                 .arg(row["repeat"].toBool());
                }
                QCOMPARE(rows.size(), (nPoint + 1) * 2);
                QCOMPARE(cells.size(), rows.size());
                ++finished;
                file = fresh();
            }
        }
        qInfo("%d interruptions, %d sweeps came to their end", interrupted, finished);
        const Outcome rest = cli(tinySweep(file) + QStringList{"--resume"});
        QVERIFY2(rest.exitCode == 0, rest.err);
        QCOMPARE(rowsOf(contentOf(file)).size(), (nPoint + 1) * 2);
    }
};

QTEST_GUILESS_MAIN(CliSweep)
#include "tst_cli_sweep.moc"
