// SPDX-License-Identifier: GPL-3.0-or-later
#include <QComboBox>
#include <QSlider>
#include <QTest>

#include "ui/chart/matrix_chart.h"
#include "ui/inside/inside_page.h"
#include "ui/inside/step_facts.h"

using namespace decodescope;

namespace {

LaneSpec lane(const char* name, int chunk = 0, std::vector<int> partition = {}) {
    LaneSpec spec = *lane_from_name(name);
    spec.prefill_chunk = chunk;
    spec.prefill_partition = std::move(partition);
    return spec;
}

/// A finished run of a naive and a cached lane: prompt of 5, four tokens.
std::shared_ptr<const Record> smallRecord() {
    Record record;
    record.prompts = {{{1, 2, 3, 4, 5}, ""}};
    record.experiment.new_tokens = 4;
    for (const char* name : {"naive", "static"}) {
        LaneRecord laneRecord;
        laneRecord.spec = lane(name, std::string_view(name) == "static" ? 2 : 0);
        record.experiment.lanes.push_back(laneRecord.spec);
        laneRecord.repetitions.emplace_back();
        for (int i = 0; i < 4; ++i) {
            StepEvent event;
            event.step = i;
            event.phase = i == 0 ? Phase::prefill : Phase::decode;
            laneRecord.repetitions.back().steps.push_back(event);
        }
        record.lanes.push_back(laneRecord);
    }
    return std::make_shared<const Record>(record);
}

}  // namespace

class InsideTest : public QObject {
    Q_OBJECT

private slots:
    void lastChunk_data();
    void lastChunk();
    void sentences_data();
    void sentences();
    void windows();
    void saysWhatItDoesNotShow_data();
    void saysWhatItDoesNotShow();
    void pageShowsSteps();
    void pageFollowsTheSlider();
    void emptyPageSaysSo();
};

void InsideTest::lastChunk_data() {
    QTest::addColumn<int>("chunk");
    QTest::addColumn<QList<int>>("partition");
    QTest::addColumn<int>("prompt");
    QTest::addColumn<int>("expected");
    QTest::newRow("whole prompt") << 0 << QList<int>{} << 12 << 12;
    QTest::newRow("divides") << 4 << QList<int>{} << 12 << 4;
    QTest::newRow("leaves a rest") << 5 << QList<int>{} << 12 << 2;
    QTest::newRow("larger than the prompt") << 50 << QList<int>{} << 12 << 12;
    QTest::newRow("explicit sizes") << 5 << QList<int>{8, 3, 1} << 12 << 1;
}

void InsideTest::lastChunk() {
    QFETCH(int, chunk);
    QFETCH(QList<int>, partition);
    QFETCH(int, prompt);
    QFETCH(int, expected);
    QCOMPARE(lastPrefillChunk(lane("static", chunk, {partition.begin(), partition.end()}), prompt), expected);
}

void InsideTest::sentences_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("chunk");
    QTest::addColumn<int>("step");
    QTest::addColumn<QString>("heading");
    QTest::addColumn<QString>("keys");
    QTest::addColumn<int>("query");
    QTest::addColumn<int>("key");
    QTest::addColumn<QString>("cell");
    QTest::newRow("naive prefill") << "naive" << 0 << 0 << "query × key · prefill: the whole prompt of 5"
                                   << "keys 0–4 are computed in this call" << 1 << 3
                                   << "Query 1 cannot see key 3: it lies in the future.";
    QTest::newRow("naive step") << "naive" << 0 << 3 << "query × key · step 3: all 8 tokens once more"
                                << "keys 0–7 are computed in this call" << 7 << 7
                                << "Query 7 sees key 7: it is its own (from this call).";
    QTest::newRow("cached step") << "static" << 0 << 3 << "query × key · step 3: one token after 7 cached"
                                 << "keys 0–6 come from the cache, key 7 from this call" << 0 << 2
                                 << "Query 7 sees key 2, 5 positions back (from the cache).";
    QTest::newRow("cached chunk") << "static" << 2 << 0
                                  << "query × key · prefill: the last chunk of 1 after 4 cached"
                                  << "keys 0–3 come from the cache, key 4 from this call" << 0 << 4
                                  << "Query 4 sees key 4: it is its own (from this call).";
    QTest::newRow("larger chunk") << "static" << 3 << 0
                                  << "query × key · prefill: the last chunk of 2 after 3 cached"
                                  << "keys 0–2 come from the cache, 3–4 from this call" << 0 << 4
                                  << "Query 3 cannot see key 4: it lies in the future.";
    QTest::newRow("outside") << "static" << 0 << 1 << "query × key · step 1: one token after 5 cached"
                             << "keys 0–4 come from the cache, key 5 from this call" << 3 << 99 << "";
}

void InsideTest::sentences() {
    QFETCH(QString, name);
    QFETCH(int, chunk);
    QFETCH(int, step);
    QFETCH(QString, heading);
    QFETCH(QString, keys);
    QFETCH(int, query);
    QFETCH(int, key);
    QFETCH(QString, cell);
    const StepFacts facts = stepFacts(lane(name.toUtf8().constData(), chunk), 0, 5, step);
    QCOMPARE(facts.heading(), heading);
    QCOMPARE(facts.keysSentence(), keys);
    QCOMPARE(facts.cellSentence(query, key), cell);
    QCOMPARE(facts.wrongPositions(), 0);
}

void InsideTest::windows() {
    LaneSpec spec = lane("static", 2);
    spec.window = {.size = 3, .sinks = 1};
    const StepFacts facts = stepFacts(spec, 0, 5, 3);  // position 7 sees 0, 5, 6 and 7
    QCOMPARE(facts.plan.n_allowed(), std::int64_t{4});
    QCOMPARE(facts.cellSentence(0, 4), QString("Query 7 cannot see key 4: it lies outside the window."));
    QCOMPARE(facts.cellSentence(0, 0), QString("Query 7 sees key 0, 7 positions back (from the cache)."));
    spec = lane("naive");
    spec.window = {.size = 2};
    QCOMPARE(stepFacts(spec, 0, 5, 0).plan.n_allowed(), std::int64_t{1 + 4 * 2});
    // A lane without a window of its own has the model's; one that names another has that.
    QCOMPARE(stepFacts(lane("static", 2), 3, 5, 3).plan.n_allowed(), std::int64_t{3});
    QCOMPARE(stepFacts(lane("static", 2), 3, 5, 3).cellSentence(0, 4),
             QString("Query 7 cannot see key 4: it lies outside the window."));
    QCOMPARE(stepFacts(spec, 3, 5, 0).plan.n_allowed(), std::int64_t{1 + 4 * 2});
}

void InsideTest::saysWhatItDoesNotShow_data() {
    QTest::addColumn<QString>("word");
    QTest::addColumn<int>("requests");
    QTest::addColumn<QString>("fragment");
    for (const char* word : {"naive", "concat", "static", "paged", "int8", "kivi2", "f16", "batch"})
        QTest::newRow(word) << word << 1 << "";
    QTest::newRow("one after another") << "static" << 4 << "one after another";
    QTest::newRow("batch of 4") << "batch" << 4 << "into one call";
    QTest::newRow("continuous, one request") << "continuous" << 1 << "mixes";
    QTest::newRow("speculative") << "speculative" << 1 << "drafts";
    QTest::newRow("beam") << "beam" << 1 << "continuations";
    QTest::newRow("forgetting window") << "window" << 1 << "forgets";
}

// Never a wrong picture: what cannot be rebuilt from lengths is not drawn, and one sentence says why.
void InsideTest::saysWhatItDoesNotShow() {
    QFETCH(QString, word);
    QFETCH(int, requests);
    QFETCH(QString, fragment);
    const LaneSpec spec = lane(word.toUtf8().constData());
    const QString why = whyNotShown(spec, requests);
    QCOMPARE(why.isEmpty(), fragment.isEmpty());
    QVERIFY2(why.contains(fragment), qPrintable(why));

    Record record = *smallRecord();
    record.prompts.resize(static_cast<std::size_t>(requests), record.prompts.front());
    record.lanes[1].spec = spec;
    RunData data;
    InsidePage page(data);
    page.resize(1100, 700);
    page.show();
    data.show(std::make_shared<const Record>(record), nullptr);
    page.setStep(1, 3);
    QCOMPARE(page.mask()->isEmpty(), !fragment.isEmpty());
    QCOMPARE(page.positions()->isEmpty(), !fragment.isEmpty());
    if (!fragment.isEmpty()) QCOMPARE(page.sentence(), why);
}

void InsideTest::pageShowsSteps() {
    RunData data;
    InsidePage page(data);
    page.resize(1100, 700);
    page.show();
    data.show(smallRecord(), nullptr);
    // The cached lane is what people want to see first, at its last step.
    QCOMPARE(page.lane(), 1);
    QCOMPARE(page.step(), 3);
    QCOMPARE(page.mask()->rowCount(), 1);
    QCOMPARE(page.mask()->columnCount(), 8);
    QCOMPARE(page.sentence(), QString("8 of 8 query-key pairs are visible."));

    page.setStep(0, 2);
    QCOMPARE(page.mask()->rowCount(), 7);
    QCOMPARE(page.mask()->columnCount(), 7);
    QCOMPARE(page.sentence(), QString("28 of 49 query-key pairs are visible."));
    for (int query = 0; query < 7; ++query) {
        for (int key = 0; key < 7; ++key)
            QCOMPARE(page.mask()->cell(query, key),
                     static_cast<std::uint8_t>(key <= query ? CellState::visible : CellState::future));
    }
    emit page.mask()->cellHovered(2, 5);
    QCOMPARE(page.sentence(),
             QString("Query 2 cannot see key 5: it lies in the future. It sees 3 keys in all."));
    QVERIFY(page.positions()->selectedCell().has_value());
    emit page.mask()->cellHovered(-1, -1);
    QVERIFY(!page.positions()->selectedCell().has_value());
    emit page.positions()->cellHovered(0, 4);
    QCOMPARE(page.sentence(), QString("Slot 4: key at position 4, query at position 4. Expected: 4."));
    QCOMPARE(page.mask()->selectedCell(), std::optional<QPoint>(QPoint(4, 4)));
}

void InsideTest::pageFollowsTheSlider() {
    RunData data;
    InsidePage page(data);
    page.resize(1100, 700);
    page.show();
    data.show(smallRecord(), nullptr);
    auto* slider = page.findChild<QSlider*>("stepSlider");
    QVERIFY(slider != nullptr);
    QTest::keyClick(slider, Qt::Key_Left);
    QCOMPARE(page.step(), 2);
    QCOMPARE(page.mask()->columnCount(), 7);
    QTest::keyClick(slider, Qt::Key_Home);
    QCOMPARE(page.step(), 0);
    // The last prefill chunk of 5 tokens in pieces of 2 is one token.
    QCOMPARE(page.mask()->rowCount(), 1);
    QCOMPARE(page.mask()->columnCount(), 5);
    QTest::keyClick(slider, Qt::Key_End);
    QCOMPARE(page.step(), 3);
    page.findChild<QComboBox*>("insideLane")->setCurrentIndex(0);
    QCOMPARE(page.mask()->rowCount(), 8);
}

void InsideTest::emptyPageSaysSo() {
    RunData data;
    InsidePage page(data);
    page.show();
    QVERIFY(page.mask()->isEmpty());
    QVERIFY(page.positions()->isEmpty());
    QCOMPARE(page.sentence(), QString("Nothing has run yet."));
    QVERIFY(!page.findChild<QSlider*>("stepSlider")->isEnabled());
}

QTEST_MAIN(InsideTest)
#include "tst_inside.moc"
