// SPDX-License-Identifier: GPL-3.0-or-later
// An export beside a window that stays alive: what needs no drawing is made on another thread.
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <atomic>
#include <thread>

#include "engine/experiment/chrome_trace.h"
#include "engine/experiment/report_text.h"
#include "tests/file_content.h"
#include "tests/patience.h"
#include "tests/ui/report/report_record.h"
#include "ui/report/export_job.h"
#include "ui/session/background.h"
#include "ui/theme/theme.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// So many steps that its files take a while.
std::shared_ptr<const Record> largeRecord(int steps) {
    Record record = makeRecord();
    RepetitionRecord& repetition = record.lanes[0].repetitions.front();
    const StepEvent last = repetition.steps.back();
    for (int i = 0; i < steps; ++i) {
        StepEvent step = last;
        step.step = last.step + 1 + i;
        step.start_ns = last.end_ns + i * ms;
        step.end_ns = step.start_ns + ms / 2;
        repetition.steps.push_back(step);
    }
    return std::make_shared<const Record>(std::move(record));
}

RenderOptions onlyData() {
    RenderOptions options;
    options.png = options.svg = options.pdf = options.csv = options.html = options.report = false;
    return options;
}

/// Until all that was given to the background thread is done, and answered: it works in order.
void awaitBackground() {
    QObject receiver;
    bool done = false;
    runInBackground<int>(
        &receiver, [] { return 0; }, [&done](int) { done = true; });
    QTRY_VERIFY_WITH_TIMEOUT(done, test::patience);
}

}  // namespace

class ExportJobTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        QApplication::setStyle(QStringLiteral("Fusion"));
        QApplication::setPalette(themePalette(false));
    }

    void writesWhatTheDirectWayWrites() {
        QTemporaryDir dir;
        const auto record = std::make_shared<const Record>(makeRecord());
        ExportJob job;
        QSignalSpy finished(&job, &ExportJob::finished);
        QSignalSpy progress(&job, &ExportJob::progress);
        job.start(std::make_unique<RecordExport>(record, dir.filePath("a")));
        QVERIFY(finished.wait(test::patience));
        const QStringList files = finished[0][0].toStringList();
        QCOMPARE(files.size(), 5 * 4 + 6);
        QCOMPARE(QFileInfo(files.first()).fileName(), QString("report.html"));
        QCOMPARE(progress.size(), files.size() + 1);
        QVERIFY(renderRecord(record, dir.filePath("b")).ok());
        for (const char* name :
             {"record.json", "chrome_trace.json", "steps.csv", "summary.md", "report.html"})
            QVERIFY2(contentOf(dir.filePath("a/") + name) == contentOf(dir.filePath("b/") + name), name);
    }

    // The loop goes round while the files of a large record are made.
    void theWindowStaysAlive() {
        QTemporaryDir dir;
        ExportJob job;
        QSignalSpy finished(&job, &ExportJob::finished);
        job.start(std::make_unique<RecordExport>(largeRecord(40'000), dir.path(), onlyData()));
        int rounds = 0;
        QTimer timer;
        connect(&timer, &QTimer::timeout, this, [&] { ++rounds; });
        timer.start(1);
        QVERIFY(finished.wait(test::patience));
        // Made in one go on this thread, it would be a handful: one per file.
        QVERIFY2(rounds > 50, qPrintable(QString::number(rounds)));
        QCOMPARE(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).size(), 4);
    }

    void cancelLeavesNothingBehind() {
        QTemporaryDir dir;
        ExportJob job;
        QSignalSpy cancelled(&job, &ExportJob::cancelled);
        QSignalSpy progress(&job, &ExportJob::progress);
        RenderOptions options = onlyData();
        options.steps = options.markdown = options.trace = false;
        job.start(std::make_unique<RecordExport>(largeRecord(40'000), dir.path(), options));
        QTest::qWait(20);
        QVERIFY(job.isRunning());
        job.cancel();
        // At once: nobody waits for what is being made.
        QVERIFY(cancelled.wait(1000));
        QCOMPARE(cancelled[0][0].toInt(), 0);
        QVERIFY(!job.isRunning());
        awaitBackground();
        QCoreApplication::processEvents();
        QVERIFY(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).isEmpty());
        // And another one can begin.
        QSignalSpy finished(&job, &ExportJob::finished);
        job.start(std::make_unique<RecordExport>(std::make_shared<const Record>(makeRecord()), dir.path(),
                                                 options));
        QVERIFY(finished.wait(test::patience));
        QCOMPARE(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
    }

    void aJobMayGoWhileItsFileIsMade() {
        QTemporaryDir dir;
        {
            ExportJob job;
            RenderOptions options = onlyData();
            options.steps = options.markdown = options.trace = false;
            job.start(std::make_unique<RecordExport>(largeRecord(20'000), dir.path(), options));
            QTest::qWait(5);
        }
        awaitBackground();
        QCoreApplication::processEvents();
        QVERIFY(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).isEmpty());
    }

    void failuresAreTold() {
        ExportJob job;
        QSignalSpy failed(&job, &ExportJob::failed);
        job.start(std::make_unique<RecordExport>(std::make_shared<const Record>(makeRecord()), "/proc",
                                                 onlyData()));
        QVERIFY(failed.wait(test::patience));
        QVERIFY2(failed[0][0].toString().contains("cannot be written"), qPrintable(failed[0][0].toString()));
        QCOMPARE(failed[0][1].toInt(), 0);
        QVERIFY(!job.isRunning());
    }

    void answersComeOnTheGuiThread() {
        const auto gui = std::this_thread::get_id();
        std::atomic<bool> apart = false;
        int answer = 0;
        bool onGui = false;
        runInBackground<int>(
            this,
            [&] {
                apart = std::this_thread::get_id() != gui;
                return 42;
            },
            [&](int value) {
                answer = value;
                onGui = std::this_thread::get_id() == gui;
            });
        QTRY_COMPARE_WITH_TIMEOUT(answer, 42, test::patience);
        QVERIFY(apart && onGui);
        // Nobody is told who is gone.
        auto receiver = std::make_unique<QObject>();
        runInBackground<int>(
            receiver.get(), [] { return 1; }, [&](int) { answer = 0; });
        receiver.reset();
        awaitBackground();
        QCoreApplication::processEvents();
        QCOMPARE(answer, 42);
    }
};

QTEST_MAIN(ExportJobTest)
#include "tst_export_job.moc"
