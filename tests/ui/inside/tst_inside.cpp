// SPDX-License-Identifier: GPL-3.0-or-later
// The Inside screen over real runs of a tiny model: every kind of lane, one selection in all views,
// scrubbing.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTest>

#include "engine/experiment/runner.h"
#include "tests/patience.h"
#include "ui/inside/inside_page.h"
#include "ui/inside/inside_views.h"
#include "ui/session/session.h"

using namespace decodescope;

namespace {

struct Setup {
    const char* lane = "static";
    int n_request = 1;
    int chunk = 0;
    Window window{};
};

Experiment experimentOf(const Setup& setup) {
    Experiment made;
    made.model = {.path = {}, .preset = "tiny-llama", .seed = 2};
    made.threads = 1;
    made.prompts.clear();
    for (int i = 0; i < setup.n_request; ++i) {
        PromptSpec prompt;
        prompt.kind = PromptSpec::Kind::random;
        prompt.length = 5 + 3 * i;
        prompt.seed = static_cast<std::uint64_t>(i) + 1;
        made.prompts.push_back(prompt);
    }
    made.new_tokens = 6;
    made.warmup = 0;
    made.repetitions = 1;
    LaneSpec lane = *lane_from_name(setup.lane);
    lane.prefill_chunk = setup.chunk;
    lane.window = setup.window;
    if (lane.mode == LaneMode::beam) made.drive = Drive::free;
    for (const LaneSpec& spec : {*lane_from_name("naive"), lane}) made.lanes.push_back(spec);
    made.lanes[0].name = "reference";
    made.lanes[0].window = setup.window;
    return made;
}

/// A page with a session behind it, as the window wires them.
struct PageFixture {
    RunData data;
    Session session;
    InsidePage page{data};

    PageFixture() {
        QObject::connect(&page, &InsidePage::inspectRequested, &session, &Session::inspect);
        QObject::connect(&page, &InsidePage::profileRequested, &session, &Session::profileLane);
        QObject::connect(&session, &Session::stepInspected, &page, &InsidePage::showStep);
        QObject::connect(&session, &Session::inspectFailed, &page, &InsidePage::showFailure);
        QObject::connect(&session, &Session::laneProfiled, &page, &InsidePage::showTimes);
        QObject::connect(&session, &Session::runFinished, &data, &RunData::finish);
        page.resize(1200, 760);
        page.show();
    }
    bool run(const Experiment& experiment) {
        QSignalSpy finished(&session, &Session::runFinished);
        session.run(experiment);
        return finished.wait(test::patience) && settled();
    }
    bool settled() {
        return QTest::qWaitFor([this] { return !page.isWaiting() && page.views()->step() != nullptr; },
                               test::patience);
    }
    bool show(int lane, int step) {
        page.setStep(lane, step);
        return settled() && page.views()->step()->step == step;
    }
    InsideViews* views() { return page.views(); }
    QString verdict() { return page.findChild<QLabel*>("insideVerdict")->text(); }
};

}  // namespace

class InsideTest : public QObject {
    Q_OBJECT

private slots:
    void showsEveryKindOfLane_data();
    void showsEveryKindOfLane();
    void sentences_data();
    void sentences();
    void oneCellInEveryView();
    void layersAndHeads();
    void scrubsWithKeys();
    void scrubsAtRandom();
    void callsOfAStep();
    void faultsAreMarked();
    void cacheCells();
    void timesOfLayers();
    void looksIntoAHeldRun();
    void emptyPageSaysSo();
    void laneWithoutSteps();
};

void InsideTest::showsEveryKindOfLane_data() {
    QTest::addColumn<QByteArray>("lane");
    QTest::addColumn<int>("requests");
    QTest::addColumn<int>("chunk");
    QTest::addColumn<int>("window");
    const auto row = [](const char* lane, int requests, int chunk = 0, int window = 0) {
        QTest::newRow(lane) << QByteArray(lane) << requests << chunk << window;
    };
    for (const char* lane : {"naive", "concat", "paged", "int8", "kivi2", "f16", "speculative"}) row(lane, 2);
    for (const char* lane : {"batch", "batch-right", "batch-packed", "continuous", "naive-batch"})
        row(lane, 3);
    row("static", 1, 2);
    row("window", 1, 2, 4);
    row("beam", 1);
}

void InsideTest::showsEveryKindOfLane() {
    QFETCH(QByteArray, lane);
    QFETCH(int, requests);
    QFETCH(int, chunk);
    QFETCH(int, window);
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({lane.constData(), requests, chunk, {window, 0}})));
    const int n = static_cast<int>(fixture.data.latest(1)->steps.size());
    for (const int step : {0, n / 2, n - 1}) {
        QVERIFY(fixture.show(1, step));
        const StepView& seen = *fixture.views()->step();
        const CallView& view = seen.view;
        QCOMPARE(fixture.views()->mask()->rowCount(), view.plan.n_query());
        QCOMPARE(fixture.views()->mask()->columnCount(), view.plan.max_slot());
        for (int b = 0; b < view.plan.batch(); ++b) {
            for (int q = 0; q < view.plan.n_query(b); ++q) {
                for (int key = 0; key < view.plan.n_slot(b); ++key)
                    QCOMPARE(fixture.views()->mask()->cell(view.plan.first_query(b) + q, key),
                             static_cast<std::uint8_t>(view.cell(b, q, key)));
            }
        }
        QCOMPARE(fixture.views()->weights()->rowCount(), view.plan.n_query());
        QVERIFY(!fixture.views()->positions()->isEmpty());
        QCOMPARE(fixture.views()->cache()->isEmpty(), !view.cached);
        QCOMPARE(fixture.verdict(), QString("mask and positions follow the rules"));
        QVERIFY2(fixture.page.sentence().contains("query-key pairs are visible"),
                 qPrintable(fixture.page.sentence()));
    }
}

void InsideTest::sentences_data() {
    QTest::addColumn<QByteArray>("lane");
    QTest::addColumn<int>("requests");
    QTest::addColumn<int>("step");
    QTest::addColumn<int>("line");
    QTest::addColumn<int>("key");
    QTest::addColumn<QString>("heading");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("future") << QByteArray("naive") << 1 << 0 << 1 << 3
                            << "query × key · prefill: the whole prompt of 5"
                            << "Query 1 cannot see key 3: it lies in the future. It sees 2 keys in all.";
    QTest::newRow("its own")
        << QByteArray("naive") << 1 << 3 << 7 << 7 << "query × key · step 3: all 8 tokens once more"
        << "Query 7 sees key 7, its own. Weight * in head 0 of layer 0. It sees 8 keys in all.";
    QTest::newRow("decode")
        << QByteArray("static") << 1 << 3 << 0 << 2 << "query × key · step 3: one token after 7 cached"
        << "Query 7 sees key 2, 5 positions back (from the cache). Weight * in head 0 of layer 0. "
           "It sees 8 keys: 7 from the cache, 1 of this call.";
    QTest::newRow("padding")
        << QByteArray("batch") << 3 << 2 << 0 << 2
        << "query × key · step 2: 3 rows, one token each after 27 cached"
        << "Query 6 of row 0 cannot see key 2: padding. It sees 7 keys: 6 from the cache, 1 of "
           "this call.";
    QTest::newRow("a pad") << QByteArray("batch") << 3 << 0 << 1 << 4
                           << "query × key · prefill: 3 rows of up to 11 tokens"
                           << "Token 1 of row 0 is padding: it sees nothing, and nothing is read from it.";
    QTest::newRow("wrongly seen")
        << QByteArray("batch+pad-mask-dropped") << 3 << 2 << 0 << 2
        << "query × key · step 2: 3 rows, one token each after 27 cached"
        << "Query 6 of row 0 sees key 2, although the rule hides it: padding. Weight *";
    QTest::newRow("wrongly hidden")
        << QByteArray("static+mask-upper-left") << 1 << 3 << 0 << 5
        << "query × key · step 3: one token after 7 cached"
        << "Query 7 does not see key 5, although the rule shows it. It sees one key in "
           "all.";
}

void InsideTest::sentences() {
    QFETCH(QByteArray, lane);
    QFETCH(int, requests);
    QFETCH(int, step);
    QFETCH(int, line);
    QFETCH(int, key);
    QFETCH(QString, heading);
    QFETCH(QString, sentence);
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({lane.constData(), requests})));
    QVERIFY(fixture.show(1, step));
    QCOMPARE(fixture.views()->mask()->subtitle(), heading);
    emit fixture.views()->mask()->cellHovered(line, key);
    const QString said = fixture.page.sentence();
    // Weights are numbers of the model: what is around them is compared.
    const qsizetype star = sentence.indexOf('*');
    QVERIFY2(said.startsWith(star < 0 ? sentence : sentence.left(star)), qPrintable(said));
    QVERIFY2(said.endsWith(star < 0 ? sentence : sentence.mid(star + 1)), qPrintable(said));
    QVERIFY(star >= 0 || said == sentence);
}

void InsideTest::oneCellInEveryView() {
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({"batch", 3})));
    QVERIFY(fixture.show(1, 3));
    InsideViews* views = fixture.views();
    emit views->mask()->cellHovered(1, 9);
    QCOMPARE(views->weights()->selectedCell(), std::optional<QPoint>(QPoint(9, 1)));
    QCOMPARE(views->positions()->selectedCell(), std::optional<QPoint>(QPoint(9, 1)));
    QCOMPARE(views->cache()->selectedCell(), std::optional<QPoint>(QPoint(9, 1)));
    emit views->mask()->cellHovered(-1, -1);
    QVERIFY(!views->weights()->selectedCell());
    // From a position: its query is the one of the row.
    emit views->positions()->cellHovered(2, 4);
    QCOMPARE(views->mask()->selectedCell(), std::optional<QPoint>(QPoint(4, 2)));
    QVERIFY2(fixture.page.sentence().startsWith("Key 4 of row 2 was made with position id 4"),
             qPrintable(fixture.page.sentence()));
    emit views->positions()->cellHovered(-1, -1);
    // A click keeps it, over the next steps too; a second one lets go.
    emit views->cache()->cellSelected(2, 6);
    QVERIFY2(fixture.page.sentence().startsWith("Slot 6 of row 2: token "),
             qPrintable(fixture.page.sentence()));
    QCOMPARE(views->mask()->selectedCell(), std::optional<QPoint>(QPoint(6, 2)));
    QVERIFY(fixture.show(1, 4));
    QCOMPARE(views->mask()->selectedCell(), std::optional<QPoint>(QPoint(6, 2)));
    QVERIFY2(fixture.page.sentence().contains("stored 4 steps ago"), qPrintable(fixture.page.sentence()));
    emit views->cache()->cellSelected(2, 6);
    QVERIFY(!views->mask()->selectedCell());
    // The keyboard: the arrow keys move the cell, and say what it is.
    views->mask()->setFocus();
    QTest::keyClick(views->mask(), Qt::Key_Right);
    QVERIFY(views->mask()->selectedCell().has_value());
    QVERIFY(!views->mask()->accessibleDescription().isEmpty());
}

void InsideTest::layersAndHeads() {
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({"static"})));
    QVERIFY(fixture.show(1, 4));
    auto* layer = fixture.page.findChild<QSpinBox*>("insideLayer");
    auto* head = fixture.page.findChild<QSpinBox*>("insideHead");
    QCOMPARE(layer->maximum(), 1);
    QCOMPARE(head->maximum(), 3);
    layer->setValue(1);
    head->setValue(2);
    QVERIFY(fixture.settled());
    QCOMPARE(fixture.views()->step()->layer, 1);
    QCOMPARE(fixture.views()->step()->weights->head, 2);
    QCOMPARE(fixture.views()->weights()->subtitle(), QString("layer 1, head 2"));
    const auto shown = fixture.views()->step()->weights->values;
    // What is shown is what the engine says without a window.
    const auto record = fixture.data.finishedRecord();
    const auto model = fixture.session.model();
    auto inspector = StepInspector::make(record, 1, model, std::make_shared<MemoryLedger>());
    QVERIFY(inspector.ok());
    QCOMPARE((*inspector)->look({.step = 4, .layer = 1, .head = 2})->weights->values, shown);
    const Table table = fixture.views()->weights()->table(DataRange::all);
    QCOMPARE(table.rows.front().at(1).toFloat(), shown.front());

    fixture.page.findChild<QCheckBox*>("insideAllHeads")->setChecked(true);
    QVERIFY(fixture.settled());
    QVERIFY(fixture.views()->heads()->isVisible());
    QCOMPARE(fixture.views()->heads()->tileCount(), 4);
    QCOMPARE(fixture.views()->heads()->current(), 2);
    fixture.views()->heads()->setFocus();
    QTest::keyClick(fixture.views()->heads(), Qt::Key_Left);
    QTest::keyClick(fixture.views()->heads(), Qt::Key_Return);
    QVERIFY(fixture.settled());
    QVERIFY(fixture.views()->weights()->isVisible());
    QVERIFY(head->value() != 2);
}

void InsideTest::scrubsWithKeys() {
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({"static"})));
    auto* slider = fixture.page.findChild<QSlider*>("stepSlider");
    // The cached lane is what people want to see first, at its last step.
    QCOMPARE(fixture.page.lane(), 1);
    QCOMPARE(fixture.page.step(), 5);
    QTest::keyClick(slider, Qt::Key_Left);
    QVERIFY(fixture.settled());
    QCOMPARE(fixture.views()->step()->step, 4);
    QTest::keyClick(slider, Qt::Key_Home);
    QVERIFY(fixture.settled());
    QCOMPARE(fixture.views()->step()->step, 0);
    QCOMPARE(fixture.views()->mask()->rowCount(), 5);
    QTest::keyClick(slider, Qt::Key_End);
    QVERIFY(fixture.settled());
    QCOMPARE(fixture.views()->step()->step, 5);
    QCOMPARE(fixture.views()->mask()->columnCount(), 10);
    fixture.page.findChild<QComboBox*>("insideLane")->setCurrentIndex(0);
    QVERIFY(fixture.settled());
    QCOMPARE(fixture.views()->mask()->rowCount(), 10);
}

// Whatever is asked for in whatever order, the last wish is what is shown.
void InsideTest::scrubsAtRandom() {
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({"batch", 3})));
    QRandomGenerator random(9);
    for (int round = 0; round < 60; ++round) {
        for (int i = random.bounded(1, 6); i > 0; --i) {
            fixture.page.setStep(random.bounded(2), random.bounded(6));
            fixture.page.setLayerAndHead(random.bounded(2), random.bounded(4));
            QTest::qWait(random.bounded(3));
        }
        const int lane = random.bounded(2);
        const int step = random.bounded(6);
        const int head = random.bounded(4);
        fixture.page.setStep(lane, step);
        fixture.page.setLayerAndHead(1, head);
        QVERIFY(fixture.settled());
        const int n = static_cast<int>(fixture.data.latest(lane)->steps.size());
        QCOMPARE(static_cast<int>(fixture.views()->step()->lane), lane);
        QCOMPARE(fixture.views()->step()->step, std::min(step, n - 1));
        QCOMPARE(fixture.views()->step()->weights->head, head);
    }
}

void InsideTest::callsOfAStep() {
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({"static", 1, 2})));
    QVERIFY(fixture.show(1, 0));
    auto* call = fixture.page.findChild<QSpinBox*>("insideCall");
    QVERIFY(call->isVisible());
    QCOMPARE(call->maximum(), 3);
    QCOMPARE(call->value(), 3);
    QCOMPARE(fixture.views()->mask()->subtitle(),
             QString("query × key · prefill: one token after 4 cached · call 3 of 3"));
    call->setValue(2);
    QVERIFY(fixture.settled());
    QCOMPARE(fixture.views()->mask()->rowCount(), 2);
    QCOMPARE(fixture.views()->mask()->columnCount(), 4);
    QVERIFY(fixture.show(1, 2));
    QVERIFY(!call->isVisible());
}

void InsideTest::faultsAreMarked() {
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({"batch+pad-slot-positions", 3})));
    QVERIFY(fixture.show(1, 2));
    QCOMPARE(fixture.verdict(), QString("position fault: row 0 expects 6, used 12"));
    const Table table = fixture.views()->positions()->table(DataRange::all);
    QCOMPARE(table.rows[0].at(1 + 6), QString("6"));
    emit fixture.views()->positions()->cellHovered(0, 6);
    QCOMPARE(fixture.page.sentence(), QString("Key 6 of row 0 was made with position id 6, expected 0."));
}

void InsideTest::cacheCells() {
    Experiment experiment = experimentOf({"continuous", 3});
    for (PromptSpec& prompt : experiment.prompts) {
        prompt.length = 9;
        prompt.seed = 4;
    }
    experiment.lanes[1].cache.block = 4;
    experiment.lanes[1].cache.share_prefixes = true;
    experiment.prompts[1].arrival_step = 1;
    experiment.prompts[2].arrival_step = 2;
    PageFixture fixture;
    QVERIFY(fixture.run(experiment));
    QVERIFY(fixture.show(1, 4));
    CellGrid* cache = fixture.views()->cache();
    QStringList shown;
    for (const LegendEntry& entry : cache->legend()) shown << entry.name;
    QVERIFY2(shown.contains("shared prefix"), qPrintable(shown.join(", ")));
    QVERIFY2(cache->subtitle().startsWith("paged · blocks of 4"), qPrintable(cache->subtitle()));
    QStringList sentences;
    for (int row = 0; row < cache->rowCount(); ++row) {
        for (int column = 0; column < cache->columnCount(); ++column)
            sentences << cache->describeCell(row, column);
    }
    QVERIFY(!sentences.filter("taken over from a known prefix").isEmpty() ||
            !sentences.filter("shared by").isEmpty());
    auto* label = fixture.page.findChild<QComboBox*>("cacheLabel");
    QVERIFY(label->isVisible());
    const QString before = cache->table(DataRange::all).rows[0].join(',');
    label->setCurrentIndex(1);
    QVERIFY(cache->table(DataRange::all).rows[0].join(',') != before);
}

void InsideTest::timesOfLayers() {
    PageFixture fixture;
    QVERIFY(fixture.run(experimentOf({"static"})));
    BarChart* times = fixture.views()->times();
    QTRY_COMPARE_WITH_TIMEOUT(times->bars().size(), std::size_t{2 + 2}, test::patience);
    QVERIFY(times->bars()[0].values[0] > 0 && times->bars()[0].values[1] > 0);
    QVERIFY2(times->subtitle().endsWith("in an instrumented pass"), qPrintable(times->subtitle()));
    // Another step of the lane is known at once.
    QVERIFY(fixture.show(1, 1));
    QCOMPARE(times->bars().size(), std::size_t{4});
    emit times->barClicked(1);
    QVERIFY(fixture.settled());
    QCOMPARE(fixture.views()->step()->layer, 1);
}

void InsideTest::looksIntoAHeldRun() {
    PageFixture fixture;
    connect(&fixture.session, &Session::runStarted, this,
            [&](const Experiment& experiment, const RunStarted& started) {
                fixture.data.begin(experiment, started, *fixture.session.model(), nullptr);
            });
    connect(&fixture.session, &Session::eventsArrived, &fixture.data, &RunData::append);
    connect(&fixture.session, &Session::pauseChanged, this,
            [&] { fixture.page.setLiveLook(fixture.session.isHeld()); });
    fixture.session.run(experimentOf({"static"}), 1);
    for (int step = 0; step < 4; ++step) {
        QTRY_VERIFY_WITH_TIMEOUT(fixture.session.isHeld() && fixture.data.latest(1) != nullptr &&
                                     static_cast<int>(fixture.data.latest(1)->steps.size()) == step + 1,
                                 test::patience);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.page.isWaiting() && fixture.views()->step() != nullptr &&
                                     fixture.views()->step()->step == step,
                                 test::patience);
        QCOMPARE(fixture.views()->mask()->columnCount(), 5 + step);
        // An earlier step of the run that is held.
        if (step == 3) QVERIFY(fixture.show(0, 1));
        fixture.session.step();
    }
    fixture.session.resume();
    QTRY_VERIFY_WITH_TIMEOUT(fixture.data.finishedRecord() != nullptr, test::patience);
    QCOMPARE(fixture.data.finishedRecord()->status, FinishReason::length);
    QCOMPARE(fixture.session.ledger()->total(), fixture.session.ledger()->live(Owner::weights));
}

void InsideTest::emptyPageSaysSo() {
    RunData data;
    InsidePage page(data);
    page.show();
    QVERIFY(page.views()->mask()->isEmpty());
    QCOMPARE(page.sentence(), QString("Nothing has run yet."));
    QVERIFY(!page.findChild<QSlider*>("stepSlider")->isEnabled());
}

void InsideTest::laneWithoutSteps() {
    PageFixture fixture;
    Experiment experiment = experimentOf({"static"});
    experiment.lanes[1].cache.capacity = 3;  // less than the prompt
    QSignalSpy finished(&fixture.session, &Session::runFinished);
    fixture.session.run(experiment);
    QVERIFY(finished.wait(test::patience));
    fixture.page.setStep(1, 0);
    QTRY_COMPARE_WITH_TIMEOUT(fixture.page.sentence(), QString("No step has been made yet."), test::patience);
    fixture.page.setStep(0, 2);
    QVERIFY(fixture.settled());
}

QTEST_MAIN(InsideTest)
#include "tst_inside.moc"
