// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine/sweep/calibration.h"
#include "tests/file_content.h"

using namespace decodescope;
using namespace decodescope::test;

class CalibrationTest : public QObject {
    Q_OBJECT

    std::shared_ptr<MemoryLedger> m_ledger = std::make_shared<MemoryLedger>();

private slots:
    void isMeasuredOnceAndKept() {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("new/calibration.json").toStdString();
        ThreadPool pool(2);
        const Calibration first = calibrate(pool, m_ledger, path);
        QVERIFY(!first.kept);
        QVERIFY(first.limits.read_gb_s > 0 && first.limits.peak_gflop_s > 0);
        QCOMPARE(first.threads, 2);
        QVERIFY(QFile::exists(QString::fromStdString(path.string())));

        // As if it had been measured on a quiet machine: then it is not measured again.
        QByteArray json = contentOf(path);
        const auto quiet = [&](const char* name) {
            const int at = static_cast<int>(json.indexOf(name));
            QVERIFY(at > 0);
            const int colon = static_cast<int>(json.indexOf(':', at));
            json.replace(colon, json.indexOf(',', colon) - colon, ": 0.0");
        };
        quiet("cpu_share_others");
        quiet("cpu_share_stolen");
        writeFile(path, json);
        const Calibration second = calibrate(pool, m_ledger, path);
        QVERIFY(second.kept);
        QCOMPARE(second.limits.read_gb_s, first.limits.read_gb_s);
        QCOMPARE(second.measured_at, first.measured_at);
        QVERIFY2(QString::fromStdString(to_text(second)).contains("kept from"), to_text(second).c_str());

        QVERIFY(!calibrate(pool, m_ledger, path, true).kept);
    }

    void numbersOfThreadsAreKeptApart() {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("calibration.json").toStdString();
        ThreadPool one(1);
        ThreadPool two(2);
        calibrate(one, m_ledger, path);
        QVERIFY(!calibrate(two, m_ledger, path).kept);
        QVERIFY(contentOf(path).contains("\"threads\": 1"));
        QVERIFY(contentOf(path).contains("\"threads\": 2"));
    }

    void busyMachinesAreMeasuredAgain() {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("calibration.json").toStdString();
        ThreadPool pool(1);
        const Calibration first = calibrate(pool, m_ledger, path);
        QByteArray json = contentOf(path);
        const int colon = static_cast<int>(json.indexOf(':', json.indexOf("cpu_share_others")));
        json.replace(colon, json.indexOf(',', colon) - colon, ": 0.5");
        writeFile(path, json);
        QVERIFY(!calibrate(pool, m_ledger, path).kept);
    }

    void aFileThatCannotBeUsedCostsOnlyTheKeeping_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("no JSON") << QByteArray("{");
        QTest::newRow("other schema") << QByteArray(R"({"schema": "decodescope.record/1"})");
        QTest::newRow("wrong type") << QByteArray(
            R"({"schema": "decodescope.calibration/1", "machines": [{"threads": "two"}]})");
    }
    void aFileThatCannotBeUsedCostsOnlyTheKeeping() {
        QFETCH(QByteArray, content);
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("calibration.json").toStdString();
        writeFile(path, content);
        ThreadPool pool(1);
        const Calibration calibration = calibrate(pool, m_ledger, path);
        QVERIFY(calibration.limits.read_gb_s > 0);
        QVERIFY2(calibration.note.starts_with("It is not kept: "), calibration.note.c_str());
        QCOMPARE(contentOf(path), content);  // somebody else's file is left alone
    }

    void aFolderThatCannotBeMade() {
        ThreadPool pool(1);
        const Calibration calibration = calibrate(pool, m_ledger, "/proc/none/calibration.json");
        QVERIFY(calibration.limits.read_gb_s > 0);
        QVERIFY2(calibration.note.starts_with("It is not kept: "), calibration.note.c_str());
    }
};

QTEST_APPLESS_MAIN(CalibrationTest)
#include "tst_calibration.moc"
