// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>

#include "engine/experiment/record.h"
#include "engine/experiment/report_text.h"
#include "tests/engine/experiment/sample_record.h"

using namespace decodescope;
using namespace decodescope::test;

class TestRecord : public QObject {
    Q_OBJECT

private slots:
    void round_trip() {
        Record record = sample_record();
        record.status = FinishReason::capacity;
        record.reason = "The cache is full.";
        record.environment = {.program_version = "1.2",
                              .commit = "abc",
                              .compiler = "GCC",
                              .compiler_flags = "-O2",
                              .cpu_model = "CPU",
                              .instruction_sets = {"avx2"},
                              .physical_cores = 4,
                              .logical_cores = 8,
                              .governor = "powersave",
                              .blas = "OpenBLAS",
                              .kernels = "AVX2",
                              .gpus = {{"cuda:1", "Some GPU", "9.0", 1u << 31, 4800.5, 1'980'000, -1}},
                              .cuda_driver = "13.0",
                              .cuda_runtime = "12.4",
                              .gpu_precision = "f32, TF32 off",
                              .os = "Linux",
                              .memory_bytes = 1u << 30,
                              .threads = 2,
                              .thread_reductions = 3,
                              .thread_cpus = {0, -1},
                              .read_bandwidth_gb_s = 12.5,
                              .peak_gflop_s = 100.5,
                              .peak_instructions = "AVX2",
                              .load_average = 0,
                              .use = {0.25, 0.125, 3000, 2900}};
        record.tensor_bytes_after = {1, 2, 3, 4, 5};
        record.weight_bytes_mapped = 3456;
        StepEvent& step = record.lanes[1].repetitions[0].steps[1];
        step.fed_first = 10;
        step.first_call_end_ns = step.start_ns + 3;
        step.device_ns = 2;
        step.positions_forwarded = 1;
        step.score_cells_allowed = 4;
        step.score_cells_computed = 5;
        step.kv_bytes_meta = 6;
        step.kv_bytes_copied = 7;
        step.tensor_bytes = {10, 20, 30, 40, 50};
        step.memory = {.rss = 11, .heap_in_use = 12, .heap_free = 13, .heap_mapped = 14, .minor_faults = 15};
        step.minor_faults_step = 0;
        step.n_token = 3;
        step.n_row = 2;
        step.request = 1;
        step.n_drafted = 4;
        step.n_accepted = 2;
        step.padding_forwarded = 5;
        step.kv_bytes_scales = 6;
        step.kv_bytes_shared = 7;
        step.heap_allocations = 8;
        step.tensor_allocations = 9;
        TokenEvent& token = record.lanes[1].repetitions[0].chosen[1];
        token.request = 1;
        token.drafted = true;
        record.lanes[1].repetitions[0].requests[0].n_adopted = 12;
        record.lanes[1].repetitions[1].finish = FinishReason::capacity;
        record.lanes[1].repetitions[1].reason = "The cache is full.";

        record.experiment.device = {Device::Kind::cuda, 1};
        record.lanes[1].gpu_memory = {.allocated = 100,
                                      .reserved = 200,
                                      .peak_allocated = 150,
                                      .peak_reserved = 250,
                                      .device_used = 300,
                                      .device_total = -1,
                                      .baseline_used = 30,
                                      .owners = {40, 30, 20, 9, 1}};

        std::vector<std::string> warnings;
        const std::string json = to_json(record);
        const auto parsed = parse_record(json, &warnings);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY2(warnings.empty(), warnings.empty() ? "" : warnings.front().c_str());
        QCOMPARE(QByteArray::fromStdString(to_json(*parsed)), QByteArray::fromStdString(json));

        const StepEvent& read = parsed->lanes[1].repetitions[0].steps[1];
        QCOMPARE(read.lane, 1);
        QCOMPARE(read.repetition, 0);
        QVERIFY(read.phase == Phase::decode);
        QCOMPARE(read.end_ns, step.end_ns);
        QCOMPARE(read.score_cells_computed, 5);
        QCOMPARE(read.tensor_bytes, step.tensor_bytes);
        QCOMPARE(read.memory.minor_faults, 15);
        QCOMPARE(read.minor_faults_step, 0);
        QCOMPARE(read.comparison.relative_error, step.comparison.relative_error);
        QCOMPARE(read.n_accepted, 2);
        QCOMPARE(read.kv_bytes_shared, 7);
        QCOMPARE(read.heap_allocations, 8);
        const TokenEvent& read_token = parsed->lanes[1].repetitions[0].chosen[1];
        QVERIFY(read_token.drafted);
        QCOMPARE(read_token.lane, 1);
        QCOMPARE(read_token.comparison.kl_divergence, 1e-9);
        QCOMPARE(parsed->lanes[1].repetitions[0].requests[0].n_adopted, 12);
        const StepEvent& other = parsed->lanes[0].repetitions[1].steps[0];
        QCOMPARE(other.memory.rss, ProcessMemory::not_measured);
        QVERIFY(!other.comparison.compared);
        QCOMPARE(read.device_ns, 2);
        QCOMPARE(other.device_ns, ProcessMemory::not_measured);
        QCOMPARE(parsed->environment.load_average, 0.0);
        QCOMPARE(parsed->lanes[1].repetitions[0].steps[1].first_call_end_ns, step.first_call_end_ns);
        QCOMPARE(parsed->environment.peak_gflop_s, 100.5);
        QCOMPARE(parsed->environment.peak_instructions, std::string("AVX2"));
        QCOMPARE(parsed->environment.use.others, 0.25);
        QCOMPARE(parsed->environment.use.stolen, 0.125);
        QCOMPARE(parsed->environment.use.mhz_before, 3000.0);
        QCOMPARE(parsed->environment.use.mhz_after, 2900.0);
        QCOMPARE(parsed->environment.thread_reductions, 3);
        QCOMPARE(parsed->environment.thread_cpus, (std::vector<int>{0, -1}));
        QCOMPARE(parsed->model.norm_eps, record.model.norm_eps);
        QCOMPARE(parsed->lanes[1].texts, std::vector<std::string>{"a b c"});
        QVERIFY(parsed->lanes[1].repetitions[1].finish == FinishReason::capacity);
        QCOMPARE(parsed->tensor_bytes_after, record.tensor_bytes_after);
        QCOMPARE(parsed->weight_bytes_mapped, 3456u);
        QVERIFY(parsed->environment.gpus == record.environment.gpus);
        QCOMPARE(parsed->environment.gpus[0].memory_clock_khz, -1);
        QCOMPARE(parsed->environment.cuda_driver, std::string("13.0"));
        QCOMPARE(parsed->environment.cuda_runtime, std::string("12.4"));
        QCOMPARE(parsed->environment.gpu_precision, std::string("f32, TF32 off"));
        QVERIFY(!parsed->lanes[0].gpu_memory);
        QVERIFY(parsed->lanes[1].gpu_memory == record.lanes[1].gpu_memory);
        QVERIFY(parsed->experiment.device == record.experiment.device);
    }

    void records_of_versions_that_mapped_nothing() {
        QString json = QString::fromStdString(to_json(sample_record()));
        QVERIFY(json.contains("    \"weight_bytes_mapped\": 0,\n"));
        json.remove("    \"weight_bytes_mapped\": 0,\n");
        std::vector<std::string> warnings;
        const auto parsed = parse_record(json.toStdString(), &warnings);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(warnings.empty());
        QCOMPARE(parsed->weight_bytes, 123456u);
        QCOMPARE(parsed->weight_bytes_mapped, 0u);
    }

    void notes_stay_with_the_record() {
        Record record = sample_record();
        const std::string plain = to_json(record);
        QVERIFY(!QByteArray::fromStdString(plain).contains("\"notes\""));  // as before there were any
        record.notes = {"Before the fix", "The *window* was 7, not 8.\n\n- \"quoted\"\n"};
        std::vector<std::string> warnings;
        const auto parsed = parse_record(to_json(record), &warnings);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(warnings.empty());
        QVERIFY(parsed->notes == record.notes);
        // What is written now takes the place of what was; nothing takes it away.
        QVERIFY(parse_record(to_json(record, {"After", ""}))->notes == (RecordNotes{"After", ""}));
        QCOMPARE(to_json(record, {}), plain);

        const QString markdown = QString::fromStdString(to_markdown(record));
        QVERIFY(markdown.startsWith(
            "# Before the fix\n\nThe *window* was 7, not 8.\n\n- \"quoted\"\n\n- **Model**"));
        QVERIFY(QString::fromStdString(to_markdown(record, {"Two\nlines\x1b[2J", ""}))
                    .startsWith("# Two lines\\x1b[2J\n\n- **Model**"));
        const QString text = QString::fromStdString(to_plain_text(record));
        QVERIFY(text.startsWith("Before the fix\n\nThe *window* was 7, not 8.\n"));
        record.notes = {};
        QVERIFY(QString::fromStdString(to_plain_text(record)).startsWith("Model"));
        QVERIFY(QString::fromStdString(to_markdown(record)).startsWith("- **Model**"));
    }

    void unknown_values_are_null() {
        const QString json = QString::fromStdString(to_json(sample_record()));
        QVERIFY(json.contains("\"rss\": null"));
        QVERIFY(json.contains("\"minor_faults\": null"));
        QVERIFY(json.contains("\"governor\": null"));
        QVERIFY(json.contains("\"comparison\": null"));
        QVERIFY(json.contains("\"first_different_token\": null"));
        QVERIFY(!json.contains(": -1"));
    }

    void not_a_number_survives() {
        Record record = sample_record();
        record.lanes[1].repetitions[0].chosen[1].comparison.relative_error =
            std::numeric_limits<double>::infinity();
        const auto parsed = parse_record(to_json(record));
        QVERIFY(parsed.ok());
        QVERIFY(!parsed->lanes[1].agrees_with(parsed->lanes[0]));
    }

    void broken_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("schema")
            << "decodescope.record/1"
            << "decodescope.record/9"
            << "schema is \"decodescope.record/9\", which this version cannot read, expected "
               "\"decodescope.record/1\".";
        QTest::newRow("status")
            << "\"status\": \"length\""
            << "\"status\": \"fine\""
            << "status is \"fine\", expected \"length\" or \"stop_token\" or \"capacity\" or "
               "\"cancelled\" or \"failed\".";
        QTest::newRow("experiment") << "\"repetitions\": 2\n"
                                    << "\"repetitions\": 0\n"
                                    << "experiment.repetitions is 0, expected 1 to 10000.";
        QTest::newRow("inner schema")
            << "decodescope.experiment/1"
            << "decodescope.experiment/2"
            << "experiment.schema is \"decodescope.experiment/2\", which this version cannot read, expected "
               "\"decodescope.experiment/1\".";
        QTest::newRow("lane mode")
            << "\"spec\": {\n        \"name\": \"static\",\n        \"mode\": \"cached\""
            << "\"spec\": {\n        \"name\": \"static\",\n        \"mode\": 3"
            << "lanes[1].spec.mode is 3, expected \"naive\" or \"cached\" or";
        QTest::newRow("lane name")
            << "\"spec\": {\n        \"name\": \"static\""
            << "\"spec\": {\n        \"name\": \"x\""
            << "lanes[1].spec.name is \"x\", expected \"static\" as in the experiment.";
        QTest::newRow("step time") << "\"step_ns\": 7001"
                                   << "\"step_ns\": -1"
                                   << "lanes[0].repetitions[1].steps[0].step_ns is out of range.";
        QTest::newRow("step time missing") << "\"step_ns\": 7001"
                                           << "\"other\": 1"
                                           << "lanes[0].repetitions[1].steps[0].step_ns is missing.";
        QTest::newRow("device time") << "\"step_ns\": 7001"
                                     << "\"step_ns\": 7001, \"device_ns\": -2"
                                     << "lanes[0].repetitions[1].steps[0].device_ns is out of range.";
        QTest::newRow("drafts") << "\"token\": 11,"
                                << "\"token\": 11, \"n_drafted\": 2000000000,"
                                << "lanes[0].repetitions[0].steps[1].n_drafted is out of range.";
        QTest::newRow("bytes")
            << "\"kv_bytes_live\": 1024"
            << "\"kv_bytes_live\": \"many\""
            << "lanes[1].repetitions[0].steps[1].kv_bytes_live is \"many\", expected a whole "
               "number.";
        QTest::newRow("model") << "\"n_layer\": 2"
                               << "\"n_layer\": 1000000000"
                               << "Model config: n_layer is 1000000000, expected a number from 1 to 1000.";
        QTest::newRow("title") << "\"started_at\""
                               << "\"title\": 3,\n  \"started_at\""
                               << "title is 3, expected a text";
        QTest::newRow("notes") << "\"started_at\""
                               << "\"notes\": [],\n  \"started_at\""
                               << "notes is ";
        QTest::newRow("cut") << "\"tensor_bytes_after\""
                             << ""
                             << "Not valid JSON at line ";
    }
    void broken() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, sentence);
        QString json = QString::fromStdString(to_json(sample_record()));
        const auto at = json.indexOf(from);
        QVERIFY(at >= 0);
        json.replace(at, from.size(), to);
        const auto parsed = parse_record(json.toStdString());
        QVERIFY(!parsed.ok());
        const QString message = QString::fromStdString(parsed.error().message);
        QVERIFY2(message.startsWith(sentence), qPrintable(message));
    }

    void a_lane_is_missing() {
        Record record = sample_record();
        record.lanes.pop_back();
        const auto parsed = parse_record(to_json(record));
        QVERIFY(!parsed.ok());
        QCOMPARE(QString::fromStdString(parsed.error().message),
                 QString("lanes holds 1, expected the 2 of the experiment."));
    }

    void unknown_members_are_warned_about_but_not_for_ever() {
        QString json = QString::fromStdString(to_json(sample_record()));
        json.replace("\"phase\":", "\"zz\": 1, \"phase\":");
        std::vector<std::string> warnings;
        QVERIFY(parse_record(json.toStdString(), &warnings).ok());
        QCOMPARE(warnings.size(), std::size_t{12});
        QCOMPARE(warnings.front(),
                 std::string("lanes[0].repetitions[0].steps[0].zz is not known and was ignored."));
        json.replace("\"phase\":", "\"yy\": 1, \"phase\":");
        warnings.clear();
        QVERIFY(parse_record(json.toStdString(), &warnings).ok());
        QCOMPARE(warnings.size(), std::size_t{21});
        QCOMPARE(warnings.back(), std::string("More members are not known and were ignored."));
    }

    void csv_has_one_row_per_step() {
        Record record = sample_record();
        record.experiment.lanes[1].name = record.lanes[1].spec.name = "a,\"b\"";
        const QStringList lines = QString::fromStdString(to_csv(record)).split('\n');
        QCOMPARE(lines.size(), 1 + 12 + 1);
        const auto columns = lines[0].split(',');
        QVERIFY(columns.contains("step_ns"));
        QVERIFY(columns.contains("kv_live_bytes"));
        const auto naive = lines[1].split(',');
        QCOMPARE(naive.size(), columns.size());
        QCOMPARE(naive[columns.indexOf("step_ns")], QString("7000"));
        QCOMPARE(naive[columns.indexOf("rss_bytes")], QString());
        QCOMPARE(naive[columns.indexOf("relative_error")], QString());
        QCOMPARE(naive[columns.indexOf("device_ns")], QString());
        QVERIFY(lines[7].startsWith("\"a,\"\"b\"\"\",0,0,prefill,0,10,1,1,7000,"));
        QVERIFY(lines[7].contains("2e-06"));
    }

    void tables_show_the_spread() {
        Record record = sample_record();
        QString plain = QString::fromStdString(to_plain_text(record));
        QVERIFY2(plain.contains("121 KiB weights)"), qPrintable(plain));
        record.weight_bytes_mapped = 100000;
        plain = QString::fromStdString(to_plain_text(record));
        QVERIFY2(plain.contains("121 KiB weights, 97.7 KiB of them mapped)"), qPrintable(plain));
        QVERIFY2(plain.contains("0.0100 (0.0050..0.0150, IQR 0.0100)"), qPrintable(plain));
        QVERIFY2(plain.contains("5.00x"), qPrintable(plain));
        QVERIFY2(plain.contains("of naive, static:\na b c"), qPrintable(plain));
        const QString markdown = QString::fromStdString(to_markdown(record));
        const QStringList rows = markdown.split('\n').filter(QRegularExpression("^\\|"));
        QCOMPARE(rows.size(), 8);  // the lanes, and what their caches hold
        for (int i = 0; i < rows.size(); ++i) QCOMPARE(rows[i].count('|'), rows[i / 4 * 4].count('|'));
    }

    /// A lane on a GPU is told from one on the CPU, held against what its GPU reads, and its memory is shown.
    void lanes_on_gpus() {
        Record record = sample_record();
        for (const std::string& text : {to_plain_text(record), to_markdown(record), to_csv(record)})
            QVERIFY(text.find("cuda") == std::string::npos && text.find("GPU") == std::string::npos);
        QVERIFY(to_plain_text(record).find("device [ms]") == std::string::npos);
        QVERIFY(to_jsonl(record).find("device_ns") == std::string::npos);
        record.experiment.lanes[1].device = record.lanes[1].spec.device = Device{Device::Kind::cuda, 0};
        record.environment.gpus = {{"cuda:0", "Some GPU", "9.0", 1u << 30, 4000, -1, -1}};
        record.environment.cuda_driver = "13.0";
        record.environment.gpu_precision = "f32, TF32 off";
        record.lanes[1].gpu_memory = {.allocated = 1 << 20, .owners = {3 << 10, 0, 0, 0, 0}};
        for (RepetitionRecord& repetition : record.lanes[1].repetitions)
            for (StepEvent& step : repetition.steps) {
                step.bytes_moved = 40 * (step.end_ns - step.start_ns);
                step.device_ns = 1'234'000;
            }
        const QString plain = QString::fromStdString(to_plain_text(record));
        QVERIFY2(plain.contains("GPU     cuda:0: Some GPU (9.0), 1.00 GiB, driver 13.0, CUDA not known, "
                                "f32, TF32 off"),
                 qPrintable(plain));
        QVERIFY2(plain.contains("f32, cuda:0"), qPrintable(plain));
        QVERIFY2(plain.contains("40.0 (1 % of 4000.0"), qPrintable(plain));
        const QStringList rows = plain.split('\n').filter(QRegularExpression("^static +cuda:0 "));
        QCOMPARE(rows.size(), 1);
        QVERIFY2(rows[0].contains(QRegularExpression("^static +cuda:0 +1.00 MiB +not measured")),
                 qPrintable(rows[0]));
        QVERIFY2(rows[0].contains("3.00 KiB"), qPrintable(rows[0]));
        const QStringList lines = QString::fromStdString(to_csv(record)).split('\n');
        QVERIFY(lines[1].endsWith(",cpu,"));
        QVERIFY(lines[7].endsWith(",cuda:0,1234000"));
        QVERIFY2(plain.contains(QRegularExpression("step \\[ms\\] +device \\[ms\\]")), qPrintable(plain));
        QVERIFY2(plain.contains("1.23 (1.23..1.23, IQR 0.0000)"), qPrintable(plain));
        QVERIFY2(plain.contains(QRegularExpression("naive .*\\) +not measured ")), qPrintable(plain));
        QVERIFY(to_jsonl(record).find("\"device_ns\":{\"median\":1234000.0") != std::string::npos);
        QVERIFY(to_jsonl(record).find("\"device\":\"cuda:0\"") != std::string::npos);
    }

    void doubts_are_said() {
        Record record = sample_record();
        QVERIFY(to_plain_text(record).find("Doubt") == std::string::npos);
        record.environment.use.others = 0.5;
        record.experiment.precision = {0.001, 1};
        record.lanes[0].repetitions[1].steps[1].end_ns += 5000;
        const QString text = QString::fromStdString(to_plain_text(record));
        QVERIFY2(text.contains("Doubt   Other programs took 50 % of the machine's processors"),
                 qPrintable(text));
        QVERIFY2(text.contains("Doubt   After 2 repetitions the median of lane "), qPrintable(text));
        QVERIFY(to_markdown(record).find("- **Doubt**: Other programs") != std::string::npos);
    }

    void control_characters_are_shown_not_sent() {
        Record record = sample_record();
        for (LaneRecord& lane : record.lanes) lane.texts = {"a\x1b[2Jb\n\x7f"};
        for (const std::string& text : {to_plain_text(record), to_markdown(record)}) {
            QVERIFY(!QString::fromStdString(text).contains(QChar(0x1b)));
            QVERIFY(QString::fromStdString(text).contains("a\\x1b[2Jb"));
        }
    }

    void jsonl_has_one_object_per_lane() {
        const QStringList lines = QString::fromStdString(to_jsonl(sample_record())).split('\n');
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[0].startsWith("{\"schema\":\"decodescope.lane/1\",\"lane\":\"naive\""));
        QVERIFY(lines[1].contains(
            "\"n_prompt\":3,\"n_gen\":3,\"n_depth\":0,\"n_parallel\":1,\"n_batch\":3,\"n_threads\":2"));
        QVERIFY(lines[1].contains("\"samples_ns\":[11000,11001]"));
        QVERIFY(lines[1].contains("\"speed_up\":5.0"));
        QVERIFY(lines[0].contains("\"speed_up\":null"));
    }

    void saving_is_atomic() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("r.json").toStdString();
        const Record record = sample_record();
        QVERIFY(write_file_atomically(path, "old").ok());
        QVERIFY(save_record(record, path).ok());
        const auto loaded = load_record(path);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        QCOMPARE(to_json(*loaded), to_json(record));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList{"r.json"});

        const auto failed = save_record(record, folder.filePath("none/r.json").toStdString());
        QVERIFY(!failed.ok());
        QCOMPARE(QString::fromStdString(failed.error().message),
                 folder.filePath("none/r.json") + ": cannot be written: No such file or directory.");

        QVERIFY(QFile::link("r.json", folder.filePath("link.json")));
        QVERIFY(write_file_atomically(folder.filePath("link.json").toStdString(), "new").ok());
        QVERIFY(QFileInfo(folder.filePath("link.json")).isSymLink());
        QCOMPARE(*read_text_file(path, 100), std::string("new"));
        QVERIFY(write_file_atomically("/dev/null", "x").ok());
        QVERIFY(!QFileInfo("/dev/null").isFile());
    }
};

QTEST_APPLESS_MAIN(TestRecord)
#include "tst_record.moc"
