// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QLabel>
#include <QTest>

#include <algorithm>
#include <cmath>

#include "engine/model/preset.h"
#include "tests/patience.h"
#include "ui/chart/line_chart.h"
#include "ui/memory/cache_table.h"
#include "ui/memory/memory_page.h"
#include "ui/memory/memory_series.h"
#include "ui/widgets/plain_table.h"

using namespace decodescope;

class MemoryPageTest : public QObject {
    Q_OBJECT

private slots:
    void keepsPeaksWhenThinning_data();
    void keepsPeaksWhenThinning();
    void sortsLanesByTime();
    void tableShowsFormulaAndMeasured();
    void tableSplitsTheBytes_data();
    void tableSplitsTheBytes();
    void keepsBothPeaksWhenThinning();
    void peaksAndRemainderAreSeen();
    void sharesAndBytes();
    void copiesAppearWithTheFirst();
    void silentSystemShowsNoNumbers();
    void lanesOnGpus();
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
    std::int64_t before = -1;
    for (const MemorySample& sample : series.samples()) {
        found = found ||
                (sample.tensors[0] == 1'000'000'000u && sample.at_ns == peak * 1'000'000'000LL + 500'000'000);
        QVERIFY(sample.at_ns >= before);
        before = sample.at_ns;
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
        QCOMPARE(series.samples()[i].at_ns, std::int64_t{1'000'000'000} * static_cast<std::int64_t>(i + 1));
    }
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
    QCOMPARE(row.tensor_allocations, std::int64_t{4});
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

namespace {

constexpr std::int64_t MiB = 1 << 20;

/// A record of one lane whose resident memory peaks in step 3 and whose tensors peak in step 7.
std::shared_ptr<Record> makeRecord() {
    auto record = std::make_shared<Record>();
    record->model.n_layer = 2;
    record->model.n_head = record->model.n_kv_head = 2;
    record->model.head_dim = 8;
    record->prompts.resize(1);
    LaneRecord lane;
    lane.spec = *lane_from_name("concat");
    record->experiment.lanes = {lane.spec};
    lane.repetitions.emplace_back();
    for (int i = 0; i < 10; ++i) {
        StepEvent event;
        event.step = i;
        event.phase = i == 0 ? Phase::prefill : Phase::decode;
        event.start_ns = i * 1'000'000'000LL;
        event.end_ns = event.start_ns + 500'000'000;
        event.tensor_bytes = {10u * MiB, static_cast<std::uint64_t>(i == 7 ? 8 : 2) * MiB, 0, 0, 0};
        event.memory = {.rss = (i == 3 ? 48 : 40) * MiB,
                        .heap_in_use = 20 * MiB,
                        .heap_free = 4 * MiB,
                        .heap_mapped = 0,
                        .minor_faults = 500 + 3 * i};
        event.kv_bytes_copied = i < 5 ? 0 : 1024 * i;
        lane.repetitions.back().steps.push_back(event);
    }
    record->lanes = {lane};
    return record;
}

QString plain(QString text) {
    return text.replace(QChar::Nbsp, ' ');
}

double cellOf(const Chart& chart, std::size_t row, const QString& column) {
    const Table table = chart.table(DataRange::all);
    return table.rows.at(row).at(table.columns.indexOf(column)).toDouble();
}

}  // namespace

void MemoryPageTest::keepsBothPeaksWhenThinning() {
    MemorySeries series(32);
    for (int i = 0; i < 5000; ++i) {
        StepEvent event;
        event.step = i;
        event.start_ns = i * 1'000'000'000LL;
        event.end_ns = event.start_ns + 1;
        event.tensor_bytes[0] = i == 1234 ? 500u : 100u;
        event.memory.rss = i == 4321 ? 5000 : 1000;
        event.memory.minor_faults = i;
        series.add(event);
    }
    QVERIFY(series.samples().size() <= 33);
    const auto kept = [&](int step) {
        return std::any_of(series.samples().begin(), series.samples().end(),
                           [&](const MemorySample& sample) { return sample.step == step; });
    };
    QVERIFY(kept(1234));
    QVERIFY(kept(4321));
    QCOMPARE(series.peaks().rss->step, 4321);
    QCOMPARE(series.peaks().tensors->step, 1234);
    QCOMPARE(series.newest()->step, 4999);
    QCOMPARE(series.minorFaults(), std::int64_t{4999});
}

void MemoryPageTest::peaksAndRemainderAreSeen() {
    RunData run;
    MemoryPage page(run);
    page.resize(1000, 700);
    page.show();
    for (Chart* chart : page.charts()) QVERIFY(chart->isEmpty());
    run.show(makeRecord(), nullptr);
    QCOMPARE(plain(page.findChild<QLabel*>("memoryPeaks")->text()),
             QString("RSS peak 48.0 MiB after 3.50 s in concat, repetition 1, step 3 · tensor peak 18.0 MiB "
                     "after 7.50 s in concat, repetition 1, step 7"));
    const auto& marks = page.chart()->marks();
    QCOMPARE(marks.size(), std::size_t{2});
    QCOMPARE(marks[0].x, 3.5);
    QCOMPARE(marks[0].y, 48.0 * MiB);
    QCOMPARE(marks[1].x, 7.5);
    QCOMPARE(marks[1].y, 18.0 * MiB);
    QCOMPARE(cellOf(*page.chart(), 3, "unaccounted_bytes"), (48.0 - 12 - 4) * MiB);
    QCOMPARE(cellOf(*page.chart(), 3, "allocator_keeps_bytes"), 4.0 * MiB);
    // The band is in the picture, in a colour of its own.
    const QColor rest = themeColors(page.palette()).color({ColorRef::Role::accent_soft, 0});
    const QImage picture = page.chart()->grab().toImage();
    int n = 0;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x) n += picture.pixelColor(x, y) == rest ? 1 : 0;
    QVERIFY2(n > picture.width() * picture.height() / 10, qPrintable(QString::number(n)));
    // Figures, formula against measured, the other charts.
    QCOMPARE(cellOf(*page.charts()[1], 0, "in_use_bytes"), 20.0 * MiB);
    QCOMPARE(cellOf(*page.charts()[2], 9, "process"), 27.0);
    QCOMPARE(cellOf(*page.charts()[3], 9, "concat_bytes"), 9 * 1024.0);
}

void MemoryPageTest::sharesAndBytes() {
    RunData run;
    MemoryPage page(run);
    page.resize(1000, 700);
    page.show();
    QVERIFY(QTest::qWaitForWindowActive(&page, test::patience));
    run.show(makeRecord(), nullptr);
    const QStringList inBytes = page.chart()->table(DataRange::all).columns;
    QTest::keyClick(page.chart(), Qt::Key_P);
    QCOMPARE(page.scale(), MemoryScale::share);
    QVERIFY(page.findChild<QAbstractButton*>("memoryShareButton")->isChecked());
    QCOMPARE(cellOf(*page.chart(), 3, "weights_percent"), 100 * 10.0 / 48);
    QCOMPARE(page.chart()->marks()[1].y, 100 * 18.0 / 40);
    double sum = 0;
    const QStringList row = page.chart()->table(DataRange::all).rows[3];
    for (int i = 1; i < row.size(); ++i) sum += row[i].toDouble();
    QVERIFY(std::abs(sum - 100) < 1e-9);
    // Another run is shown in the same way.
    run.show(makeRecord(), nullptr);
    QCOMPARE(cellOf(*page.chart(), 3, "weights_percent"), 100 * 10.0 / 48);
    page.findChild<QAbstractButton*>("memoryBytesButton")->click();
    QCOMPARE(page.scale(), MemoryScale::bytes);
    QCOMPARE(page.chart()->table(DataRange::all).columns, inBytes);
    for (const char* name : {"memoryShareButton", "memoryBytesButton"}) {
        const auto* button = page.findChild<QAbstractButton*>(name);
        QVERIFY(!button->toolTip().isEmpty());
        QVERIFY(!button->accessibleName().isEmpty());
        QVERIFY(button->focusPolicy() & Qt::TabFocus);
    }
}

void MemoryPageTest::copiesAppearWithTheFirst() {
    const auto record = makeRecord();
    RunData run;
    MemoryPage page(run);
    page.show();
    LoadedModel model;
    model.weights = std::make_shared<Weights>();
    RunStarted started;
    run.begin(record->experiment, started, model, nullptr);
    const Chart* copied = page.charts()[3];
    for (const StepEvent& step : record->lanes[0].repetitions[0].steps) {
        run.append({step});
        QCOMPARE(copied->isEmpty(), step.kv_bytes_copied == 0);
    }
    QCOMPARE(copied->table(DataRange::all).rows.size(), std::size_t{10});
    QCOMPARE(page.chart()->table(DataRange::all).rows.size(), std::size_t{10});
}

void MemoryPageTest::silentSystemShowsNoNumbers() {
    const auto record = makeRecord();
    for (StepEvent& step : record->lanes[0].repetitions[0].steps) step.memory = {};
    RunData run;
    MemoryPage page(run);
    page.show();
    run.show(record, nullptr);
    QVERIFY(page.charts()[1]->isEmpty());
    QVERIFY(page.charts()[2]->isEmpty());
    QVERIFY(plain(page.chart()->summary()).contains("unaccounted: not measured."));
    QVERIFY(!page.findChild<QLabel*>("memoryPeaks")->text().contains("RSS"));
    page.setScale(MemoryScale::share);  // of nothing
    QVERIFY(page.chart()->marks().empty());
}

// What lanes took of a GPU is shown for those that were on one, and nothing of it without any.
void MemoryPageTest::lanesOnGpus() {
    RunData run;
    MemoryPage page(run);
    page.show();
    auto* card = page.findChild<QWidget*>("gpuCard");
    run.show(makeRecord(), nullptr);
    QVERIFY(!card->isVisible());

    const auto record = makeRecord();
    record->experiment.device = {Device::Kind::cuda, 1};
    GpuMemoryUse& use = record->lanes[0].gpu_memory.emplace();
    use.allocated = 3 << 20;
    use.peak_allocated = 4 << 20;
    use.owners = {1 << 20, 2 << 20, 0, 0, 0};
    run.show(record, nullptr);
    QVERIFY(card->isVisible());
    const QAbstractItemModel* table = page.findChild<PlainTable*>("gpuTable")->model();
    QCOMPARE(table->rowCount(), 1);
    QStringList cells;
    for (int i = 0; i < table->columnCount(); ++i) cells << plain(table->index(0, i).data().toString());
    QCOMPARE(cells.mid(1), (QStringList{"cuda:1", "3.00 MiB", "4.00 MiB", "not measured", "not measured",
                                        "not measured", "1.00 MiB", "2.00 MiB", "0 B", "0 B", "0 B"}));
    for (int i = 2; i < table->columnCount(); ++i)
        QVERIFY(!table->headerData(i, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
    run.show(makeRecord(), nullptr);
    QVERIFY(!card->isVisible());
}

QTEST_MAIN(MemoryPageTest)
#include "tst_memory_page.moc"
