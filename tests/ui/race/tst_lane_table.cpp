// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>
#include <QTest>

#include <limits>

#include "ui/race/lane_table.h"
#include "ui/widgets/plain_table.h"

using namespace decodescope;

namespace {

constexpr std::int64_t ms = 1'000'000;

StepEvent step(int number, std::int64_t duration, int token) {
    StepEvent event;
    event.step = number;
    event.phase = number == 0 ? Phase::prefill : Phase::decode;
    event.start_ns = number * 1000 * ms;
    event.end_ns = event.start_ns + duration;
    event.token = token;
    event.n_token = event.n_row = 1;
    event.positions_forwarded = 1;
    event.bytes_moved = 10'000'000;
    event.kv_bytes_live = 1 << 20;
    return event;
}

/// Two lanes with a first token of 5 ms and three decode steps each: 20 ms and 2 ms.
Record twoLanes() {
    Record record;
    record.experiment.reference = "naive";
    record.environment.read_bandwidth_gb_s = 10;
    for (const char* name : {"naive", "cached"}) {
        const bool naive = std::string_view(name) == "naive";
        LaneRecord lane;
        lane.spec.name = name;
        lane.spec.mode = naive ? LaneMode::naive : LaneMode::cached;
        record.experiment.lanes.push_back(lane.spec);
        lane.repetitions.emplace_back();
        for (int i = 0; i < 4; ++i) {
            StepEvent event = step(i, (i == 0 ? 5 : naive ? 20 : 2) * ms, 100 + i);
            if (naive) event.positions_forwarded = 20 + i;
            if (naive) event.kv_bytes_live = 0;
            event.comparison = {.compared = !naive, .max_abs_error = 1e-6, .relative_error = 1.1e-6};
            lane.repetitions.back().steps.push_back(event);
            TokenEvent chosen;
            chosen.step = chosen.index = i;
            chosen.token = 100 + i;
            chosen.comparison = event.comparison;
            lane.repetitions.back().chosen.push_back(chosen);
        }
        record.lanes.push_back(lane);
    }
    return record;
}

}  // namespace

class LaneTableTest : public QObject {
    Q_OBJECT

private slots:
    void readsAsText_data();
    void readsAsText();
    void growsWithoutReset();
    void fitsItsRows();
};

void LaneTableTest::readsAsText_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<QString>("naive");
    QTest::addColumn<QString>("cached");
    const QString naive = "naive|5.00 ms|20.0 ms|50.0|1×|compute-bound|0 B|reference";
    QTest::newRow("exact") << "" << naive
                           << "cached|5.00 ms|2.00 ms|500|10.0×|5.00 GB/s|1.00 MiB|exact ✓ 1.1e-6";
    QTest::newRow("another token") << "token" << naive
                                   << "cached|5.00 ms|2.00 ms|500|–|5.00 GB/s|1.00 MiB|differs at token 3";
    QTest::newRow("logits too far away")
        << "error" << naive << "cached|5.00 ms|2.00 ms|500|–|5.00 GB/s|1.00 MiB|same text 1e-2";
    QTest::newRow("nothing yet") << "empty"
                                 << "naive|–|–|–|–|–|–|reference"
                                 << "cached|–|–|–|–|–|–|–";
    QTest::newRow("first token alone") << "prefill"
                                       << "naive|5.00 ms|–|–|–|–|0 B|reference"
                                       << "cached|5.00 ms|–|–|–|–|1.00 MiB|exact ✓ 1.1e-6";
}

void LaneTableTest::readsAsText() {
    QFETCH(QString, change);
    QFETCH(QString, naive);
    QFETCH(QString, cached);
    Record record = twoLanes();
    auto& chosen = record.lanes[1].repetitions[0].chosen;
    if (change == "token") chosen[2].token = 7;
    if (change == "error") chosen[3].comparison.relative_error = 1e-2;
    for (LaneRecord& lane : record.lanes) {
        if (change == "empty") lane.repetitions.clear();
        if (change == "prefill") lane.repetitions[0].steps.resize(1);
        if (change == "prefill") lane.repetitions[0].chosen.resize(1);
    }
    LaneTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRecord(record);
    PlainTable table;
    table.setTable(&model, model.columns());
    const QStringList lines = table.toText().trimmed().split('\n');
    QCOMPARE(lines.size(), 3);
    QCOMPARE(lines[0], QString("Lane\tFirst token\tPer token (median)\tTokens / s\tAgainst naive\t"
                               "Read rate, share of limit\tKV live\tExact?"));
    const auto plain = [](QString line) { return line.replace('\t', '|').replace(QChar::Nbsp, ' '); };
    QCOMPARE(plain(lines[1]), naive);
    QCOMPARE(plain(lines[2]), cached);
}

void LaneTableTest::growsWithoutReset() {
    LaneTableModel model;
    Record record = twoLanes();
    model.setRecord(record);
    int resets = 0;
    int changes = 0;
    connect(&model, &QAbstractItemModel::modelReset, this, [&] { ++resets; });
    connect(&model, &QAbstractItemModel::dataChanged, this, [&] { ++changes; });
    record.lanes[0].repetitions[0].steps.push_back(step(4, 30 * ms, 104));
    model.setRecord(record);
    QCOMPARE(resets, 0);
    QCOMPARE(changes, 1);
    record.lanes.pop_back();
    model.setRecord(record);
    QCOMPARE(resets, 1);
    QCOMPARE(model.rowCount(), 1);
}

void LaneTableTest::fitsItsRows() {
    LaneTableModel model;
    PlainTable table;
    table.setTable(&model, model.columns());
    const int before = table.sizeHint().height();
    model.setRecord(twoLanes());
    QVERIFY(table.sizeHint().height() > before);
    for (const int width : {700, 1100, 2000}) {
        table.resize(width, table.sizeHint().height());
        table.show();
        QVERIFY(QTest::qWaitForWindowExposed(&table));
        int sum = 0;
        for (int column = 0; column < model.columnCount(); ++column) sum += table.columnWidth(column);
        QVERIFY2(sum <= table.viewport()->width() && sum > table.viewport()->width() - 10,
                 qPrintable(QString::number(sum)));
    }
}

QTEST_MAIN(LaneTableTest)
#include "tst_lane_table.moc"
