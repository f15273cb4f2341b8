// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>
#include <QTest>

#include <limits>

#include "tests/patience.h"
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
    void columnsOfSpecialLanes();
    void approximateLanesRaiseNoAlarm();
    void weightsHaveAColumn();
    void tellsHowLongTheGpuWorked();
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

void LaneTableTest::columnsOfSpecialLanes() {
    Record record = twoLanes();
    record.experiment.prompts.resize(2);
    LaneRecord& lane = record.lanes[1];
    lane.spec.mode = LaneMode::speculative;
    record.lanes[0].spec.batching = Batching::continuous;
    for (StepEvent& step : lane.repetitions[0].steps) {
        if (step.phase == Phase::prefill) continue;
        step.n_token = 2;  // one draft of two is kept
        step.n_drafted = 2;
        step.n_accepted = 1;
    }
    RequestRecord request;
    request.arrived_ns = 1 * ms;
    request.started_ns = 4 * ms;
    request.first_token_ns = 9 * ms;
    record.lanes[0].repetitions[0].requests = {request};
    LaneTableModel model;
    int others = 0;
    connect(&model, &LaneTableModel::columnsChanged, this, [&] { ++others; });
    model.setRecord(record);
    model.setRecord(record);
    QCOMPARE(others, 1);
    QCOMPARE(model.columns().size(), static_cast<std::size_t>(model.columnCount()));
    PlainTable table;
    table.setTable(&model, model.columns());
    const QStringList lines = table.toText().trimmed().replace(QChar::Nbsp, ' ').split('\n');
    QCOMPARE(lines[0].section('\t', 0, 8),
             QString("Lane\tQueue wait\tFirst token\tPer token (median)\tTokens / s\tWith prefill\t"
                     "Against naive\tDrafts kept\tRead rate, share of limit"));
    QCOMPARE(lines[1].section('\t', 0, 4), QString("naive\t3.00 ms\t5.00 ms\t20.0 ms\t50.0"));
    // Two tokens in 2 ms.
    QCOMPARE(lines[2].section('\t', 0, 4), QString("cached\t–\t5.00 ms\t1.00 ms\t1,000"));
    QCOMPARE(lines[2].section('\t', 7, 7), QString("2.00 / step 100 0 %"));
    const QString tip = model.index(1, 7).data(Qt::ToolTipRole).toString().replace(QChar::Nbsp, ' ');
    QCOMPARE(tip, QString("draft 1: 3 of 3 kept, 100 %\ndraft 2: 0 of 3 kept, 0 %"));
}

void LaneTableTest::approximateLanesRaiseNoAlarm() {
    Record record = twoLanes();
    LaneRecord& lane = record.lanes[1];
    lane.spec.cache = {.kind = CacheKind::int8};
    auto& chosen = lane.repetitions[0].chosen;
    chosen[2].token = 7;
    for (TokenEvent& token : chosen) {
        token.comparison.relative_error = 0.1;
        token.comparison.kl_divergence = 2e-3;
        token.comparison.same_argmax = token.index != 2;
        token.comparison.reference_probability = 0.5;
        token.comparison.lane_probability = 0.4;
    }
    LaneTableModel model;
    model.setRecord(record);
    const int last = model.columnCount() - 1;
    const auto cell = [&](int column, int role) { return model.index(1, column).data(role); };
    QCOMPARE(cell(last, Qt::DisplayRole).toString(), QString("8-bit entries"));
    QCOMPARE(cell(last, toneRole).toInt(), static_cast<int>(ColorRef::Role::text));
    QCOMPARE(model.columnAt(last - 1), LaneTableModel::quality);
    QCOMPARE(cell(last - 1, Qt::DisplayRole).toString(), QString("KL 2e-3"));
    QCOMPARE(cell(last - 1, figureRole).toString().replace(QChar::Nbsp, ' '), QString("top-1 75 %"));
    const QString tip = cell(last, Qt::ToolTipRole).toString();
    QVERIFY2(tip.contains("First other token: 3."), qPrintable(tip));
    QVERIFY2(tip.contains("1e-1 (RMS)"), qPrintable(tip));
    // It is still said how much faster it is, and that it is not the same computation.
    QVERIFY(model.lanes()[1].againstReference > 9.9);
    QVERIFY(cell(4, Qt::ToolTipRole).toString().contains("8-bit entries"));
    // A lane that is equal all the same is called exact.
    Record equal = twoLanes();
    equal.lanes[1].spec.cache = {.kind = CacheKind::int8};
    model.setRecord(equal);
    QCOMPARE(model.lanes()[1].agreement, Agreement::exact);
    // Naming the window that the model was trained with is no approximation: a difference is an alarm.
    Record own = twoLanes();
    own.model.window = 6;
    own.lanes[1].spec.window = {.size = 6, .sinks = 0};
    own.lanes[1].repetitions[0].chosen[2].token = 7;
    model.setRecord(own);
    QCOMPARE(model.lanes()[1].agreement, Agreement::differs);
    for (int column = 0; column < model.columnCount(); ++column)
        QVERIFY(model.columnAt(column) != LaneTableModel::quality);
}

// Where a lane multiplies by something else than packed f32 weights, every lane says by what.
void LaneTableTest::weightsHaveAColumn() {
    Record record = twoLanes();
    LaneTableModel model;
    model.setRecord(record);
    for (int column = 0; column < model.columnCount(); ++column)
        QVERIFY(model.columnAt(column) != LaneTableModel::weights);
    record.lanes[0].spec.kernels = Kernels::openblas;
    record.lanes[1].spec.weights = WeightType::int8;
    record.lanes[1].weight_bytes = 3 << 20;
    model.setRecord(record);
    QCOMPARE(model.columnAt(1), LaneTableModel::weights);
    QCOMPARE(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), QString("Weights"));
    const auto shown = [&](int lane, int role) { return model.data(model.index(lane, 1), role).toString(); };
    QCOMPARE(shown(0, Qt::DisplayRole), QString("f32, OpenBLAS"));
    QCOMPARE(shown(1, Qt::DisplayRole), QString("int8"));
    QCOMPARE(shown(1, Qt::ToolTipRole), QStringLiteral("Matrices and head: 3.00\u00A0MiB"));
    QVERIFY(!shown(0, Qt::ToolTipRole).contains(QLatin1String("Matrices and head")));  // not known
}

void LaneTableTest::tellsHowLongTheGpuWorked() {
    Record record = twoLanes();
    for (StepEvent& event : record.lanes[1].repetitions[0].steps) event.device_ns = ms / 2;
    LaneTableModel model;
    model.setRecord(record);
    QCOMPARE(model.columnAt(2), LaneTableModel::perToken);
    const auto tip = [&](int lane) { return model.data(model.index(lane, 2), Qt::ToolTipRole).toString(); };
    QVERIFY(!tip(0).contains(QLatin1String("GPU")));  // not measured
    const QString worked = tip(1).replace(QChar::Nbsp, QLatin1Char(' '));
    QVERIFY2(worked.endsWith(QLatin1String("\nBy its own clock the GPU worked 0.500 ms of 2.00 ms.")),
             qPrintable(worked));
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
        QVERIFY(QTest::qWaitForWindowExposed(&table, test::patience));
        int sum = 0;
        for (int column = 0; column < model.columnCount(); ++column) sum += table.columnWidth(column);
        QVERIFY2(sum <= table.viewport()->width() && sum > table.viewport()->width() - 10,
                 qPrintable(QString::number(sum)));
    }
}

QTEST_MAIN(LaneTableTest)
#include "tst_lane_table.moc"
