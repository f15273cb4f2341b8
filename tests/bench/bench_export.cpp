// SPDX-License-Identifier: GPL-3.0-or-later
// How long the export of a large record keeps its window waiting: in one go on the window's thread, and as
// `ExportJob` does it.
#include <QApplication>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <algorithm>

#include "tests/ui/report/report_record.h"
#include "ui/report/export_job.h"
#include "ui/report/report_page.h"
#include "ui/theme/theme.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

std::shared_ptr<const Record> largeRecord(int steps) {
    Record record = makeRecord();
    for (LaneRecord& lane : record.lanes) {
        RepetitionRecord& repetition = lane.repetitions.front();
        const StepEvent last = repetition.steps.back();
        TokenEvent token = repetition.chosen.back();
        for (int i = 0; i < steps; ++i) {
            StepEvent step = last;
            step.step = last.step + 1 + i;
            step.start_ns = last.end_ns + i * ms;
            step.end_ns = step.start_ns + ms / 2 + (i * 7919) % 1000 * 100;
            repetition.steps.push_back(step);
            token.step = token.index = step.step;
            repetition.chosen.push_back(token);
        }
    }
    return std::make_shared<const Record>(std::move(record));
}

/// The longest time between two turns of the event loop.
class Gaps : public QObject {
public:
    Gaps() {
        m_timer.setInterval(1);
        connect(&m_timer, &QTimer::timeout, this, [this] { turn(); });
        m_timer.start();
        m_since.start();
    }
    void turn() {
        m_longest = std::max(m_longest, m_since.nsecsElapsed());
        m_since.restart();
    }
    double milliseconds() const { return static_cast<double>(m_longest) * 1e-6; }

private:
    QTimer m_timer;
    QElapsedTimer m_since;
    qint64 m_longest = 0;
};

}  // namespace

class ExportBench : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        QApplication::setStyle(QStringLiteral("Fusion"));
        QApplication::setPalette(themePalette(false));
    }

    void data() {
        const auto record = largeRecord(20'000);
        RenderOptions options;
        options.png = options.svg = options.pdf = options.csv = options.html = options.report = false;
        QTemporaryDir dir;
        QElapsedTimer timer;
        timer.start();
        QVERIFY(renderRecord(record, dir.filePath("a"), options).ok());
        const double inOneGo = static_cast<double>(timer.nsecsElapsed()) * 1e-6;
        ExportJob job;
        QSignalSpy finished(&job, &ExportJob::finished);
        auto files = std::make_unique<RecordExport>(record, dir.filePath("b"), options);
        Gaps gaps;
        job.start(std::move(files));
        QVERIFY(finished.wait(60'000));
        qInfo("40,000 steps: data in one go %.0f ms, longest wait beside it %.1f ms", inOneGo,
              gaps.milliseconds());
        QVERIFY2(gaps.milliseconds() < inOneGo / 4,
                 "the window waits for files that could be made beside it");
    }

    void everything() {
        const auto record = largeRecord(20'000);
        QTemporaryDir dir;
        QElapsedTimer timer;
        timer.start();
        auto files = std::make_unique<RecordExport>(record, dir.path());
        const double charts = static_cast<double>(timer.nsecsElapsed()) * 1e-6;
        double longest = 0;
        QString name;
        while (!files->isDone()) {
            const bool apart = files->canBeMadeApart();
            const QString next = files->nextName();
            timer.restart();
            QVERIFY(files->writeNext().ok());
            const double took = static_cast<double>(timer.nsecsElapsed()) * 1e-6;
            if (apart || took <= longest) continue;
            longest = took;
            name = next;
        }
        qInfo("40,000 steps: charts made in %.0f ms; longest drawn file %s, %.0f ms", charts,
              qPrintable(name), longest);
    }

    void page() {
        const auto record = largeRecord(20'000);
        RunData data;
        ReportPage page(data);
        page.resize(1100, 800);
        page.show();
        QElapsedTimer timer;
        timer.start();
        data.finish(record);
        const double charts = static_cast<double>(timer.nsecsElapsed()) * 1e-6;
        timer.restart();
        page.catchUp();
        qInfo("40,000 steps: page made in %.0f ms, pages in %.0f ms", charts,
              static_cast<double>(timer.nsecsElapsed()) * 1e-6);
    }
};

QTEST_MAIN(ExportBench)
#include "bench_export.moc"
