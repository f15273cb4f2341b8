// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>
#include <QTest>

#include "engine/model/preset.h"
#include "ui/memory/cache_table.h"
#include "ui/memory/memory_series.h"
#include "ui/widgets/plain_table.h"

using namespace decodescope;

class MemoryPageTest : public QObject {
    Q_OBJECT

private slots:
    void keepsPeaksWhenThinning_data();
    void keepsPeaksWhenThinning();
    void sortsLanesByTime();
    void countsWhatIsUnaccounted_data();
    void countsWhatIsUnaccounted();
    void tableShowsFormulaAndMeasured();
    void tableSplitsTheBytes_data();
    void tableSplitsTheBytes();
};

void MemoryPageTest::keepsPeaksWhenThinning_data() {
    QTest::addColumn<int>("limit");
    QTest::addColumn<int>("steps");
    QTest::newRow("fits") << 100 << 50;
    QTest::newRow("once") << 100 << 150;
    QTest::newRow("many times") << 64 << 50'000;
    QTest::newRow("smallest limit") << 2 << 1000;
}

void MemoryPageTest::keepsPeaksWhenThinning() {
    QFETCH(int, limit);
    QFETCH(int, steps);
    MemorySeries series(static_cast<std::size_t>(limit));
    const int peak = steps / 3;
    for (int i = 0; i < steps; ++i) {
        StepEvent event;
        event.start_ns = i * 1'000'000'000LL;
        event.end_ns = event.start_ns + 500'000'000;
        event.tensor_bytes[0] = i == peak ? 1'000'000'000u : 1000u;
        series.add(event);
    }
    QVERIFY(series.samples().size() <= static_cast<std::size_t>(limit));
    if (steps < limit) QCOMPARE(series.samples().size(), static_cast<std::size_t>(steps));
    bool found = false;
    double before = -1;
    for (const MemorySeries::Sample& sample : series.samples()) {
        found = found || (sample.tensors[0] == 1'000'000'000u && sample.seconds == peak + 0.5);
        QVERIFY(sample.seconds >= before);
        before = sample.seconds;
    }
    QVERIFY(found);
}

void MemoryPageTest::sortsLanesByTime() {
    Record record;
    for (int lane = 0; lane < 2; ++lane) {
        record.lanes.emplace_back();
        record.lanes.back().repetitions.emplace_back();
        for (int i = 0; i < 3; ++i) {
            StepEvent event;
            event.lane = lane;
            event.start_ns = 1'000'000'000LL * (2 * i + lane);
            event.end_ns = event.start_ns + 1'000'000'000;
            event.tensor_bytes[0] = static_cast<std::uint64_t>(2 * i + lane);
            record.lanes.back().repetitions.back().steps.push_back(event);
        }
    }
    MemorySeries series;
    series.setRecord(record);
    QCOMPARE(series.samples().size(), std::size_t{6});
    for (std::size_t i = 0; i < 6; ++i) {
        QCOMPARE(series.samples()[i].tensors[0], std::uint64_t{i});
        QCOMPARE(series.samples()[i].seconds, static_cast<double>(i + 1));
    }
}

void MemoryPageTest::countsWhatIsUnaccounted_data() {
    QTest::addColumn<qint64>("rss");
    QTest::addColumn<qint64>("heapFree");
    QTest::addColumn<quint64>("tensors");
    QTest::addColumn<qint64>("expected");
    QTest::newRow("ordinary") << qint64{100} << qint64{10} << quint64{60} << qint64{30};
    QTest::newRow("allocator silent") << qint64{100} << qint64{-1} << quint64{60} << qint64{40};
    QTest::newRow("reserved, not resident") << qint64{100} << qint64{0} << quint64{150} << qint64{-50};
    QTest::newRow("system silent") << qint64{-1} << qint64{10} << quint64{60}
                                   << qint64{ProcessMemory::not_measured};
}

void MemoryPageTest::countsWhatIsUnaccounted() {
    QFETCH(qint64, rss);
    QFETCH(qint64, heapFree);
    QFETCH(quint64, tensors);
    QFETCH(qint64, expected);
    ProcessMemory memory;
    memory.rss = rss;
    memory.heap_free = heapFree;
    OwnerBytes bytes{};
    bytes[1] = tensors / 2;
    bytes[3] = tensors - tensors / 2;
    QCOMPARE(unaccountedBytes(memory, bytes), std::int64_t{expected});
}

void MemoryPageTest::tableShowsFormulaAndMeasured() {
    Record record;
    record.model.n_layer = 6;
    record.model.n_head = record.model.n_kv_head = 8;
    record.model.head_dim = 32;
    for (const char* name : {"naive", "static", "concat"}) {
        LaneRecord lane;
        lane.spec = *lane_from_name(name);
        StepEvent event;
        event.phase = Phase::decode;
        event.step = 1;
        if (lane.spec.mode == LaneMode::cached) {
            event.cache_length = 10;
            // One lane holds a byte too few.
            event.kv_bytes_live = 122'880 - (lane.spec.cache.kind == CacheKind::concat ? 1 : 0);
            event.kv_bytes_reserved = 1 << 20;
            event.kv_bytes_slack = event.kv_bytes_reserved - event.kv_bytes_live;
            event.kv_bytes_copied = 2048;
            event.minor_faults_step = 3;
        }
        lane.repetitions.emplace_back();
        lane.repetitions.back().steps = {event};
        record.lanes.push_back(lane);
    }
    CacheTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRecord(record);
    PlainTable table;
    table.setTable(&model, model.columns());
    const QStringList lines =
        table.toText().replace('\t', '|').replace(QChar::Nbsp, ' ').trimmed().split('\n');
    QCOMPARE(lines.size(), 4);
    QCOMPARE(lines[1], QString("naive|no cache|–|–|–|–|not measured"));
    QCOMPARE(lines[2],
             QString("static|2 × 6 × 8 × 32 × 10 × 4 B = 122,880 B|122,880 B ✓|904 KiB|1.00 MiB|2.00 KiB|3"));
    QCOMPARE(lines[3],
             QString("concat|2 × 6 × 8 × 32 × 10 × 4 B = 122,880 B|122,879 B ≠|904 KiB|1.00 MiB|2.00 KiB|3"));
    const auto tone = [&](int row) { return model.index(row, 2).data(toneRole).toInt(); };
    QCOMPARE(tone(1), static_cast<int>(ColorRef::Role::good));
    QCOMPARE(tone(2), static_cast<int>(ColorRef::Role::bad));
}

void MemoryPageTest::tableSplitsTheBytes_data() {
    QTest::addColumn<QString>("word");
    QTest::addColumn<int>("live");
    QTest::addColumn<int>("scales");
    QTest::addColumn<int>("residual");
    QTest::addColumn<int>("shared");
    QTest::addColumn<QString>("formula");
    // Two layers, two heads of 32: 128 elements of K and 128 of V per token; 70 tokens.
    QTest::newRow("f16") << "f16" << 70 * 256 * 2 << 0 << 0 << 0 << "2 × 2 × 2 × 32 × 70 × 2 B = 35,840 B";
    QTest::newRow("int8") << "int8" << 70 * (256 + 32) << 70 * 32 << 0 << 0
                          << "2 × 2 × 2 × 70 × (32 + 4) B = 20,160 B";
    // 32 tokens in 4 bits with their scales, 38 in f32.
    QTest::newRow("kivi") << "kivi4" << 32 * 128 + 4 * (32 + 32) * 8 + 38 * 1024 << 4 * (32 + 32) * 8
                          << 38 * 1024 << 0 << "32 of 70 tokens in 4 bits = 45,056 B";
    QTest::newRow("shared blocks") << "paged" << 60 * 1024 << 0 << 0 << 10 * 1024
                                   << "2 × 2 × 2 × 32 × 70 × 4 B = 71,680 B";
}

void MemoryPageTest::tableSplitsTheBytes() {
    QFETCH(QString, word);
    QFETCH(int, live);
    QFETCH(int, scales);
    QFETCH(int, residual);
    QFETCH(int, shared);
    QFETCH(QString, formula);
    Record record;
    record.model.n_layer = 2;
    record.model.n_head = record.model.n_kv_head = 2;
    record.model.head_dim = 32;
    record.prompts.resize(1);
    LaneRecord lane;
    lane.spec = *lane_from_name(word.toStdString());
    StepEvent event;
    event.phase = Phase::decode;
    event.cache_length = 70;
    event.kv_bytes_live = live;
    event.kv_bytes_scales = scales;
    event.kv_bytes_residual = residual;
    event.kv_bytes_shared = shared;
    event.kv_bytes_reserved = live;
    event.tensor_allocations = 4;
    StepEvent emptied = event;  // a request has left: the fullest step is the one that counts
    emptied.kv_bytes_live = 10;
    lane.repetitions.emplace_back();
    lane.repetitions.back().steps = {event, emptied};
    record.lanes = {lane};
    const CacheRow row = cacheRows(record).front();
    QVERIFY2(row.agrees(), qPrintable(QString::number(row.formula.value_or(-1))));
    QCOMPARE(row.payload(), std::int64_t{live - scales - residual});
    QCOMPARE(row.free(), std::int64_t{0});
    QCOMPARE(row.tensorAllocations, std::int64_t{4});
    CacheTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRecord(record);
    QCOMPARE(model.index(0, 1).data(Qt::ToolTipRole).toString().replace(QChar::Nbsp, ' '), formula);
    QVERIFY(model.index(0, 2).data().toString().endsWith("✓"));
    bool hasScales = false;
    bool hasShared = false;
    for (int column = 0; column < model.columnCount(); ++column) {
        hasScales = hasScales || model.columnAt(column) == CacheTableModel::scales;
        hasShared = hasShared || model.columnAt(column) == CacheTableModel::shared;
        QVERIFY(model.columnAt(column) != CacheTableModel::padding);
        QVERIFY(!model.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
    }
    QCOMPARE(hasScales, scales > 0);
    QCOMPARE(hasShared, shared > 0);
}

QTEST_MAIN(MemoryPageTest)
#include "tst_memory_page.moc"
