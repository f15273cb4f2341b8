// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <nlohmann/json.hpp>

#include "engine/experiment/memory_text.h"
#include "engine/experiment/memory_use.h"
#include "engine/experiment/report_text.h"
#include "tests/engine/experiment/sample_record.h"

using namespace decodescope;

namespace {

constexpr std::int64_t MiB = 1 << 20;

/// The sample record with memory figures: resident bytes peak in the naive lane, tensors in the other.
Record record_with_memory() {
    Record record = test::sample_record();
    std::int64_t faults = 1000;
    std::int64_t now = 100;
    for (std::size_t r = 0; r < 2; ++r) {
        for (LaneRecord& lane : record.lanes) {
            for (StepEvent& step : lane.repetitions[r].steps) {
                step.start_ns = now;
                step.end_ns = now += 1'000'000'000;
                step.tensor_bytes = {10 * MiB, 2 * MiB, 0, 0, 0};
                step.memory = {.rss = 40 * MiB,
                               .heap_in_use = 20 * MiB,
                               .heap_free = 3 * MiB,
                               .heap_mapped = 5 * MiB,
                               .minor_faults = faults};
                step.minor_faults_step = 4;
                faults += 10;
            }
        }
    }
    for (const std::size_t r : {0u, 1u}) {
        record.lanes[0].repetitions[r].steps[1].memory.rss = 50 * MiB;
        record.lanes[1].repetitions[r].steps[2].tensor_bytes[1] = 6 * MiB;
        record.lanes[1].repetitions[r].steps[1].kv_bytes_copied = 512;
    }
    return record;
}

}  // namespace

class TestMemoryUse : public QObject {
    Q_OBJECT

private slots:
    void unaccounted_data() {
        QTest::addColumn<qint64>("rss");
        QTest::addColumn<qint64>("heapFree");
        QTest::addColumn<quint64>("tensors");
        QTest::addColumn<qint64>("expected");
        QTest::addColumn<bool>("known");
        QTest::newRow("ordinary") << qint64{100} << qint64{10} << quint64{60} << qint64{30} << true;
        QTest::newRow("allocator silent") << qint64{100} << qint64{-1} << quint64{60} << qint64{40} << true;
        QTest::newRow("reserved, not resident")
            << qint64{100} << qint64{0} << quint64{101} << qint64{-1} << true;
        QTest::newRow("system silent") << qint64{-1} << qint64{10} << quint64{60} << qint64{0} << false;
    }
    void unaccounted() {
        QFETCH(qint64, rss);
        QFETCH(qint64, heapFree);
        QFETCH(quint64, tensors);
        QFETCH(qint64, expected);
        QFETCH(bool, known);
        ProcessMemory memory;
        memory.rss = rss;
        memory.heap_free = heapFree;
        OwnerBytes bytes{};
        bytes[1] = tensors / 2;
        bytes[3] = tensors - tensors / 2;
        QCOMPARE(unaccounted_bytes(memory, bytes).has_value(), known);
        if (known) QCOMPARE(*unaccounted_bytes(memory, bytes), std::int64_t{expected});
    }

    void samplesAreInOrderOfTime() {
        Record record = record_with_memory();
        std::swap(record.lanes[0].repetitions, record.lanes[1].repetitions);
        const auto samples = memory_samples(record);
        QCOMPARE(samples.size(), std::size_t{12});
        for (std::size_t i = 0; i < samples.size(); ++i)
            QCOMPARE(samples[i].at_ns, static_cast<std::int64_t>(i + 1) * 1'000'000'000);
        QVERIFY(memory_samples(Record()).empty());
        QVERIFY(!memory_use(Record()));
    }

    void peaksAreWhereTheyWereFirst() {
        const auto use = memory_use(record_with_memory());
        QVERIFY(use && use->peaks.rss && use->peaks.tensors);
        QCOMPARE(use->peaks.rss->memory.rss, 50 * MiB);
        QCOMPARE(use->peaks.rss->lane, 0);
        QCOMPARE(use->peaks.rss->repetition, 0);
        QCOMPARE(use->peaks.rss->step, 1);
        QCOMPARE(use->peaks.rss->at_ns, std::int64_t{2'000'000'000});
        QCOMPARE(use->peaks.tensors->tensor_total(), static_cast<std::uint64_t>(16 * MiB));
        QCOMPARE(use->peaks.tensors->lane, 1);
        QCOMPARE(use->peaks.tensors->step, 2);
        QCOMPARE(use->minor_faults, std::int64_t{110});
        QCOMPARE(*use->last.unaccounted(), (40 - 16 - 3) * MiB);
    }

    void silentSystem() {
        Record record = test::sample_record();
        const auto use = memory_use(record);
        QVERIFY(use && !use->peaks.rss && use->peaks.tensors);
        QCOMPARE(use->minor_faults, std::int64_t{ProcessMemory::not_measured});
        const auto lines = memory_lines(record);
        QCOMPARE(lines.size(), std::size_t{5});
        for (const std::size_t i : {0u, 3u, 4u}) QCOMPARE(lines[i].second, std::string("not measured"));
    }

    void formulaBesideMeasured() {
        Record record = record_with_memory();
        const CacheUse naive = cache_use(record, 0);
        QVERIFY(naive.any && !naive.cached() && !naive.formula);
        const CacheUse cached = cache_use(record, 1);
        // Two layers, two heads of 8, K and V, f32: 256 bytes per token; 5 tokens.
        QCOMPARE(*cached.formula, std::int64_t{256 * 5});
        QVERIFY(cached.agrees());
        QCOMPARE(cached.copied, std::int64_t{512});
        QCOMPARE(cached.faults_per_step, std::int64_t{4});
        QCOMPARE(cached.heap_allocations, std::int64_t{-1});
        record.lanes[1].repetitions[1].steps[2].kv_bytes_live -= 1;
        QVERIFY(!cache_use(record, 1).agrees());
        record.lanes[1].repetitions.clear();
        QVERIFY(!cache_use(record, 1).any);
    }

    void inWords() {
        const Record record = record_with_memory();
        const auto lines = memory_lines(record);
        const std::vector<std::pair<std::string, std::string>> expected = {
            {"Resident", "40.0 MiB, peak 50.0 MiB after 2 s: naive, repetition 1, step 1"},
            {"Tensors", "16.0 MiB, peak 16.0 MiB after 6 s: static, repetition 1, step 2"},
            {"Allocator", "in use 20.0 MiB, keeps 3.00 MiB, mapped 5.00 MiB"},
            {"Unaccounted", "21.0 MiB: resident less tensors less what the allocator keeps"},
            {"Page faults", "110 since the end of the first step"}};
        for (std::size_t i = 0; i < expected.size(); ++i) {
            QCOMPARE(QString::fromStdString(lines.at(i).first), QString::fromStdString(expected[i].first));
            QCOMPARE(QString::fromStdString(lines[i].second), QString::fromStdString(expected[i].second));
        }
        const TextTable table = memory_table(record);
        QCOMPARE(table.rows.size(), std::size_t{2});
        for (const auto& row : table.rows) QCOMPARE(row.size(), table.header.size());
        QCOMPARE(table.right.size(), table.header.size());
        QCOMPARE(table.rows[0][1], std::string("no cache"));
        QCOMPARE(table.rows[1][1], std::string("1280"));
        QCOMPARE(table.rows[1][3], std::string("yes"));
        for (const std::string& text : {to_plain_text(record), to_markdown(record)})
            QVERIFY(text.find("peak 50.0 MiB after 2 s") != std::string::npos);
    }

    void inJson() {
        const auto json = nlohmann::json::parse(to_json(record_with_memory()));
        QCOMPARE(json["memory"]["rss_peak"]["bytes"].get<std::int64_t>(), 50 * MiB);
        QCOMPARE(json["memory"]["rss_peak"]["lane"].get<std::string>(), std::string("naive"));
        QCOMPARE(json["memory"]["tensor_peak"]["step"].get<int>(), 2);
        QCOMPARE(json["memory"]["unaccounted"].get<std::int64_t>(), 21 * MiB);
        const auto cache = json["lanes"][1]["summary"]["memory"];
        QCOMPARE(cache["formula"].get<int>(), 1280);
        QCOMPARE(cache["unshared"].get<int>(), 1280);
        QVERIFY(cache["heap_allocations_step"].is_null());
        std::vector<std::string> warnings;
        QVERIFY(parse_record(to_json(record_with_memory()), &warnings).ok());
        QVERIFY2(warnings.empty(), warnings.empty() ? "" : warnings.front().c_str());
    }
};

QTEST_GUILESS_MAIN(TestMemoryUse)
#include "tst_memory_use.moc"
