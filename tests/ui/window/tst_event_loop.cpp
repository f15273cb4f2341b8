// SPDX-License-Identifier: GPL-3.0-or-later
// A long run of the demo model in a real window: the event loop stays free and no event is dropped.
#include <QApplication>
#include <QFile>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <ctime>
#include <vector>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "app/blas_core.h"
#include "engine/core/clock.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/race/race_page.h"
#include "ui/race/token_stream.h"

using namespace decodescope;

namespace {

// A run of 900 tokens takes minutes under a sanitizer; a shorter one meets the same code.
constexpr int newTokens = test::slowness == 1 ? 900 : 60;
constexpr int warmBeats = 20;
constexpr std::int64_t limitNs = 50'000'000LL * test::slowness;

/// Beats about once a millisecond and keeps the longest time between two beats, less the time this thread was
/// ready to go on but had no core: other programs of the machine are not what is measured here.
class Heartbeat : public QObject {
public:
    Heartbeat() {
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.setInterval(1);
        connect(&m_timer, &QTimer::timeout, this, &Heartbeat::beat);
#ifdef __linux__
        m_schedule.setFileName(QStringLiteral("/proc/self/task/%1/schedstat").arg(syscall(SYS_gettid)));
#endif
        m_canSeeWaiting = m_schedule.open(QIODevice::ReadOnly | QIODevice::Unbuffered);
    }

    void start() {
        m_timer.start();
    }
    void stop() {
        m_timer.stop();
    }
    int beats() const {
        return m_beats;
    }
    std::int64_t longestNs() const {
        return m_longest;
    }
    std::int64_t longestWithWaitingNs() const {
        return m_longestWithWaiting;
    }
    bool canSeeWaiting() const {
        return m_canSeeWaiting;
    }

private:
    void beat() {
        const std::int64_t now = now_ns();
        const std::int64_t waited = waitedNs();
        if (m_beats++ > warmBeats) {
            const std::int64_t gap = now - m_last;
            m_longestWithWaiting = std::max(m_longestWithWaiting, gap);
            m_longest = std::max(m_longest, gap - (waited - m_waited));
        }
        m_last = now;
        m_waited = waited;
    }

    // Time this thread has spent ready to run without a core, so far.
    std::int64_t waitedNs() {
        if (!m_canSeeWaiting) return 0;
        m_schedule.seek(0);
        return m_schedule.readAll().split(' ').value(1).toLongLong();
    }

    QTimer m_timer;
    QFile m_schedule;
    bool m_canSeeWaiting = false;
    int m_beats = 0;
    std::int64_t m_last = 0;
    std::int64_t m_waited = 0;
    std::int64_t m_longest = 0;
    std::int64_t m_longestWithWaiting = 0;
};

std::int64_t threadCpuNs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Remembers which event took longest, to say so when the limit is broken.
class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override {
        const QByteArray name = receiver->metaObject()->className();
        const int type = event->type();
        const std::int64_t start = now_ns();
        const std::int64_t cpuStart = threadCpuNs();
        const bool done = QApplication::notify(receiver, event);
        if (const std::int64_t took = now_ns() - start; took > longestNs) {
            longestNs = took;
            longest = QStringLiteral("event %1 of %2, %3 ms, %4 ms of them computing")
                          .arg(type)
                          .arg(QLatin1String(name))
                          .arg(static_cast<double>(took) / 1e6)
                          .arg(static_cast<double>(threadCpuNs() - cpuStart) / 1e6);
        }
        return done;
    }

    std::int64_t longestNs = 0;
    QString longest;
};

}  // namespace

class EventLoopTest : public QObject {
    Q_OBJECT

private slots:
    void staysFreeDuringALongRun_data();
    void staysFreeDuringALongRun();
};

void EventLoopTest::staysFreeDuringALongRun_data() {
    QTest::addColumn<int>("screen");
    QTest::addColumn<int>("tokens");
    QTest::newRow("race") << 0 << newTokens;
    QTest::newRow("memory") << 1 << std::min(newTokens, 200);
    QTest::newRow("inside") << 2 << std::min(newTokens, 200);
}

void EventLoopTest::staysFreeDuringALongRun() {
    QFETCH(int, screen);
    QFETCH(int, tokens);
    Theme theme;
    test::WindowFixture fixture(theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.resize(1440, 900);
    window.showScreen(screen);
    Experiment experiment = window.panel()->experiment();
    QCOMPARE(experiment.model.path, std::string("demo"));
    experiment.new_tokens = tokens;
    window.panel()->setExperiment(experiment);
    QTest::qWait(200);

    Heartbeat heartbeat;
    auto* application = static_cast<TimedApplication*>(QCoreApplication::instance());
    application->longestNs = 0;
    heartbeat.start();
    window.startRun();
    QVERIFY(fixture.awaitRecord(1'500'000));
    heartbeat.stop();

    const auto record = window.data().finishedRecord();
    QCOMPARE(record->status, FinishReason::length);
    QCOMPARE(window.session()->droppedEvents(), 0u);
    for (const LaneRecord& lane : record->lanes)
        QCOMPARE(lane.repetitions.front().steps.size(), static_cast<std::size_t>(tokens));
    if (screen == 0) QCOMPARE(window.racePage()->stream(0)->tokenCount(), tokens);
    qInfo("%d beats; longest time between two: %.1f ms, of which at most %.1f ms were the window's own",
          heartbeat.beats(), static_cast<double>(heartbeat.longestWithWaitingNs()) / 1e6,
          static_cast<double>(heartbeat.longestNs()) / 1e6);
    QVERIFY(heartbeat.beats() > warmBeats + 10);
    qInfo("longest event: %s", qPrintable(application->longest));
    QVERIFY2(heartbeat.longestNs() <= limitNs, "the event loop was blocked");
}

int main(int argc, char** argv) {
    // Qt Test's own watchdog allows five minutes; a busy machine may need more for 900 tokens.
    restartWithBetterBlasCore(argv);  // as the program does
    qputenv("QTEST_FUNCTION_TIMEOUT", "1700000");
    TimedApplication application(argc, argv);
    EventLoopTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_event_loop.moc"
