// SPDX-License-Identifier: GPL-3.0-or-later
// The window for minutes: its memory stays where it was. DECODESCOPE_SOAK_SECONDS says how long; 600 unless
// it is set, and one minute under CTest.
#include <QElapsedTimer>
#include <QTest>

#include <algorithm>

#include "engine/measure/process_memory.h"
#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/inside/inside_page.h"
#include "ui/race/race_page.h"

using namespace decodescope;
using test::tinyExperiment;

namespace {

constexpr int pages = 7;
constexpr double mib = 1024.0 * 1024.0;
/// What the resident memory may grow by after the first quarter of the time.
constexpr double limitMiB = 12;
/// What a step of a run that goes on may take: its record, and its points in the charts.
constexpr double limitBytesPerStep = 8192;

int soakSeconds() {
    bool set = false;
    const int seconds = qEnvironmentVariableIntValue("DECODESCOPE_SOAK_SECONDS", &set);
    return set ? seconds : 600;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

}  // namespace

class SoakTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_theme = new Theme(this); }
    void manyRuns();
    void oneLongRun();

private:
    struct Sample {
        double seconds = 0;
        double rss = 0;
        double heap = 0;
    };
    static Sample sample(const QElapsedTimer& clock) {
        const ProcessMemory memory = read_process_memory();
        return {static_cast<double>(clock.elapsed()) / 1e3, static_cast<double>(memory.rss),
                static_cast<double>(memory.heap_in_use)};
    }
    /// By how much a quantity is above the second quarter of the time in the last one, in MiB.
    static double growth(const std::vector<Sample>& samples, double total, double Sample::*what) {
        std::vector<double> early;
        std::vector<double> late;
        for (const Sample& each : samples) {
            if (each.seconds > total * 0.25 && each.seconds <= total * 0.5) early.push_back(each.*what);
            if (each.seconds > total * 0.75) late.push_back(each.*what);
        }
        return (median(late) - median(early)) / mib;
    }

    Theme* m_theme = nullptr;
};

// Run after run, every page, steps looked at, the theme switched: nothing is left behind.
void SoakTest::manyRuns() {
    test::WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.resize(1440, 900);
    Experiment experiment = tinyExperiment(30);
    experiment.repetitions = 10;
    window.panel()->setExperiment(experiment);
    const double total = soakSeconds() / 2.0;
    QElapsedTimer clock;
    clock.start();
    std::vector<Sample> samples;
    std::vector<qsizetype> objects;
    int series = -1;
    int runs = 0;
    while (static_cast<double>(clock.elapsed()) / 1e3 < total) {
        const auto before = window.data().finishedRecord();
        window.startRun();
        for (int page = 0; page < pages; ++page) {
            window.showScreen(page);
            QTest::qWait(15);
        }
        QTRY_VERIFY_WITH_TIMEOUT(
            window.data().finishedRecord() != nullptr && window.data().finishedRecord() != before,
            test::patience);
        QVERIFY(fixture.awaitIdle());
        window.showScreen(2);
        window.insidePage()->setStep(1, runs % 20);
        QTRY_VERIFY_WITH_TIMEOUT(!window.insidePage()->isWaiting(), test::patience);
        window.showScreen(3);
        QVERIFY(fixture.awaitIdle());
        (*window.actions())[runs % 2 == 0 ? ActionId::themeDark : ActionId::themeLight]->trigger();
        QTest::qWait(5);
        window.showScreen(0);
        QTest::qWait(5);
        QCOMPARE(window.session()->ledger()->total(), window.session()->ledger()->live(Owner::weights));
        const int now = window.racePage()->latencyChart()->seriesCount();
        if (series < 0) series = now;
        QCOMPARE(now, series);
        ++runs;
        // The first few runs open what is made when it is first needed, and fill the list of earlier runs.
        if (runs > 10) objects.push_back(window.findChildren<QObject*>().size());
        samples.push_back(sample(clock));
    }
    const double rss = growth(samples, total, &Sample::rss);
    const double heap = growth(samples, total, &Sample::heap);
    qInfo("%d runs in %.0f s: resident memory %+.2f MiB (of %.1f), heap in use %+.2f MiB, %lld objects", runs,
          total, rss, samples.back().rss / mib, heap,
          static_cast<long long>(objects.empty() ? 0 : objects.back()));
    QVERIFY(runs > 12);
    // Marks in a chart come and go with what it shows: what is left behind raises the least of them.
    const auto half = objects.begin() + static_cast<std::ptrdiff_t>(objects.size() / 2);
    // A part that is first needed late is made once; what every run leaves behind adds up to one per run.
    const qsizetype grown = *std::min_element(half, objects.end()) - *std::min_element(objects.begin(), half);
    QVERIFY2(grown < std::max<qsizetype>(8, std::distance(half, objects.end()) / 4),
             qPrintable(QString::number(grown)));
    QVERIFY2(rss < limitMiB, "resident memory grows from run to run");
    QVERIFY2(heap < limitMiB / 2, "the heap grows from run to run");
}

// One run that goes on in slow motion: what grows is what is measured.
void SoakTest::oneLongRun() {
    test::WindowFixture fixture(*m_theme, {.autostart = false});
    MainWindow& window = *fixture.window;
    QVERIFY(fixture.awaitIdle());
    window.resize(1440, 900);
    window.session()->setSpeed(32);
    Experiment experiment = tinyExperiment(60);
    experiment.repetitions = 1'000'000;
    window.panel()->setExperiment(experiment);
    window.startRun();
    QTRY_VERIFY_WITH_TIMEOUT(window.data().latest(1) != nullptr, test::patience);
    const double total = soakSeconds() / 2.0;
    QElapsedTimer clock;
    clock.start();
    std::vector<Sample> samples;
    qsizetype objects = 0;
    for (int i = 0; static_cast<double>(clock.elapsed()) / 1e3 < total; ++i) {
        window.showScreen(i % 2);
        QTest::qWait(250);
        samples.push_back(sample(clock));
        const auto now = window.findChildren<QObject*>().size();
        if (i == 20) objects = now;
        if (i > 20) QCOMPARE(now, objects);
    }
    QCOMPARE(window.session()->droppedEvents(), 0u);
    const double rss = growth(samples, total, &Sample::rss);
    const double steps = 32 * 2 * total / 2;  // of two lanes, between the two quarters
    qInfo("%.0f s at 32 steps a second: resident memory %+.2f MiB (of %.1f), %lld objects", total, rss,
          samples.back().rss / mib, static_cast<long long>(objects));
    QVERIFY(samples.size() > 40);
    QVERIFY2(rss * mib < limitMiB * mib / 2 + limitBytesPerStep * steps,
             "resident memory grows beyond what is recorded");
    window.session()->stop();
    QVERIFY(fixture.awaitRecord());
}

int main(int argc, char** argv) {
    // Qt Test's own watchdog allows five minutes.
    qputenv("QTEST_FUNCTION_TIMEOUT", QByteArray::number((soakSeconds() + 1700) * 1000));
    QApplication application(argc, argv);
    SoakTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_soak.moc"
