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
    void derived_numbers() {
        const Record record = sample_record();
        const LaneRecord& naive = record.lanes[0];
        const LaneRecord& cached = record.lanes[1];
        QCOMPARE(naive.repetitions[0].ttft_ns(), 7000);
        QCOMPARE(naive.repetitions[0].decode_ns(), 20000);
        QCOMPARE(naive.repetitions[1].e2e_ns(), 27001);
        QCOMPARE(naive.repetitions[0].n_decode(), 2);
        QCOMPARE(naive.repetitions[0].tokens(), (std::vector<std::int32_t>{10, 11, 12}));
        QCOMPARE(naive.ttft_ns().median, 7000.5);
        QCOMPARE(naive.step_ns().n, std::size_t{4});
        QCOMPARE(naive.step_ns().min, 5000.0);
        QCOMPARE(naive.step_ns().max, 15000.0);
        QCOMPARE(naive.tpot_ns().median, 10000.0);
        QCOMPARE(naive.decode_tok_s(), 100000.0);
        QCOMPARE(naive.read_gb_s(), (3000.0 / 5000 + 3000.0 / 15000) / 2);
        QVERIFY(naive.max_relative_error() < 0);
        QCOMPARE(cached.max_relative_error(), 6e-6);
        QCOMPARE(cached.first_different_token(naive), -1);
        QVERIFY(cached.agrees_with(naive));
        QCOMPARE(speed_up(record, 1).factor, 5.0);
        QCOMPARE(speed_up(record, 0).why_not, std::string("the reference"));
    }

    void several_requests() {
        // Two requests in a batch: a prefill, a step that also lets request 1's last tokens through, and one
        // step of speculation that chose three tokens.
        RepetitionRecord repetition;
        repetition.steps = {step_of(0, 0, 0, 100, 50, 9), step_of(0, 0, 1, 200, 10, 8),
                            step_of(0, 0, 2, 300, 30, 7)};
        repetition.steps[0].n_row = repetition.steps[1].n_row = 2;
        repetition.steps[0].n_token = repetition.steps[1].n_token = 2;
        repetition.steps[1].phase = Phase::mixed;
        repetition.steps[2].n_token = 3;
        repetition.steps[2].n_drafted = 4;
        repetition.steps[2].n_accepted = 2;
        const auto add = [&](int step, int request, int index, int token) {
            TokenEvent event;
            event.step = step;
            event.request = request;
            event.index = index;
            event.token = token;
            repetition.chosen.push_back(event);
        };
        add(0, 0, 0, 9);
        add(0, 1, 0, 19);
        add(1, 0, 1, 8);
        add(1, 1, 1, 18);
        add(2, 0, 2, 7);
        add(2, 0, 3, 6);
        add(2, 0, 4, 5);
        QCOMPARE(repetition.ttft_ns(0), 50);
        QCOMPARE(repetition.ttft_ns(1), 50);
        QCOMPARE(repetition.n_decode(), 2);
        QCOMPARE(repetition.n_decode_token(), 5);
        QCOMPARE(repetition.decode_ns(), 40);
        QCOMPARE(repetition.e2e_ns(), 90);
        QCOMPARE(repetition.tpot_ns(), (10.0 * 2 + 30.0 * 1) / 5);
        QCOMPARE(repetition.tokens(0), (std::vector<std::int32_t>{9, 8, 7, 6, 5}));
        QCOMPARE(repetition.tokens(1), (std::vector<std::int32_t>{19, 18}));
        LaneRecord lane;
        lane.repetitions = {repetition};
        QCOMPARE(lane.decode_tok_s(), 5e9 / 40);
        QCOMPARE(lane.total_tok_s(), 7e9 / 90);
        const auto counts = lane.acceptance();
        QCOMPARE(counts.size(), std::size_t{4});
        QCOMPARE(counts[1].accepted, 1);
        QCOMPARE(counts[2].drafted, 1);
        QCOMPARE(counts[2].accepted, 0);
    }

    void queue_wait_is_counted_apart() {
        Record record = sample_record();
        QCOMPARE(record.lanes[0].queue_ns().median, 50.0);
        record.lanes[0].repetitions[0].requests[0].started_ns = 0;  // never served
        record.lanes[0].repetitions[0].requests[0].first_token_ns = 0;
        QCOMPARE(record.lanes[0].queue_ns().n, std::size_t{1});
        QCOMPARE(record.lanes[0].repetitions[0].ttft_ns(), 0);
    }

    void quality_of_an_approximate_lane() {
        Record record = sample_record();
        LaneRecord& lane = record.lanes[1];
        lane.spec.cache.dtype = DType::f16;
        record.experiment.lanes[1].cache.dtype = DType::f16;
        for (RepetitionRecord& repetition : lane.repetitions) {
            for (TokenEvent& token : repetition.chosen) {
                token.comparison.relative_error = 1e-3;
                token.comparison.kl_divergence = 2e-4;
                token.comparison.lane_probability = 0.35;
            }
            repetition.chosen[0].comparison.same_argmax = false;
        }
        const Quality quality = lane.quality();
        QCOMPARE(quality.n, 6);
        QCOMPARE(quality.mean_kl, 2e-4);
        QCOMPARE(quality.top1_agreement, 4.0 / 6);
        QVERIFY(std::abs(quality.rms_probability_change - 0.1) < 1e-12);
        QVERIFY(!lane.agrees_with(record.lanes[0]));
        QCOMPARE(approximation(record, 1), std::string("f16 entries"));
        const SpeedUp faster = speed_up(record, 1);
        QCOMPARE(faster.factor, 5.0);
        QCOMPARE(faster.approximation, std::string("f16 entries"));
        const QString table = QString::fromStdString(to_plain_text(record));
        QVERIFY2(table.contains("5.00x [5.00..5.00] (f16 entries)"), qPrintable(table));
        QVERIFY2(table.contains("KL 2.0e-04, top-1 66.7 %, p 1.0e-01"), qPrintable(table));
    }

    void what_is_not_meant_to_agree_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QString>("why");
        QTest::newRow("static") << "static"
                                << "";
        QTest::newRow("paged") << "paged"
                               << "";
        QTest::newRow("batch") << "batch"
                               << "";
        QTest::newRow("speculative") << "speculative"
                                     << "";
        QTest::newRow("bf16") << "bf16"
                              << "bf16 entries";
        QTest::newRow("int8") << "int8"
                              << "8-bit entries";
        QTest::newRow("kivi2") << "kivi2"
                               << "2-bit entries";
        QTest::newRow("int8 weights") << "static+weights-int8"
                                      << "int8 weights";
        QTest::newRow("bf16 weights, no cache") << "naive+weights-bf16"
                                                << "bf16 weights";
        QTest::newRow("both") << "int8+weights-int4"
                              << "int4 weights, 8-bit entries";
        QTest::newRow("OpenBLAS") << "static+openblas"
                                  << "";
        QTest::newRow("window") << "window"
                                << "streaming: sees 64 tokens and 4 sinks";
        QTest::newRow("beam") << "beam"
                              << "beam search";
    }
    void what_is_not_meant_to_agree() {
        QFETCH(QString, lane);
        QFETCH(QString, why);
        const auto spec = lane_from_name(lane.toStdString());
        QVERIFY(spec);
        QCOMPARE(QString::fromStdString(approximation(*spec, *lane_from_name("naive"), 0)), why);
    }

    /// Weights of one type on both sides: what the type rounds is allowed, and nothing else.
    void equal_by_the_type_of_the_weights_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("reference_type");
        QTest::addColumn<double>("error");
        QTest::addColumn<bool>("agrees");
        const auto row = [](const char* name, WeightType type, WeightType reference, double error,
                            bool agrees) {
            QTest::newRow(name) << static_cast<int>(type) << static_cast<int>(reference) << error << agrees;
        };
        using enum WeightType;
        row("f32", f32, f32, 9e-5, true);
        row("f32 beyond", f32, f32, 2e-4, false);
        row("f16", f16, f16, 9e-5, true);
        row("f16 beyond", f16, f16, 2e-4, false);
        row("bf16", bf16, bf16, 6e-2, true);
        row("bf16 beyond", bf16, bf16, 8e-2, false);
        row("int8", int8, int8, 0.19, true);
        row("int8 beyond", int8, int8, 0.21, false);
        row("int4", int4, int4, 0.19, true);
        row("int8 against f32", int8, f32, 1e-3, false);
        row("f32 against int8", f32, int8, 1e-3, false);
        row("not a number", int8, int8, NAN, false);
    }
    void equal_by_the_type_of_the_weights() {
        QFETCH(int, type);
        QFETCH(int, reference_type);
        QFETCH(double, error);
        QFETCH(bool, agrees);
        Record record = sample_record();
        record.lanes[0].spec.weights = static_cast<WeightType>(reference_type);
        LaneRecord& lane = record.lanes[1];
        lane.spec.weights = static_cast<WeightType>(type);
        for (RepetitionRecord& repetition : lane.repetitions) {
            for (TokenEvent& token : repetition.chosen) {
                token.comparison.relative_error = error;
                token.comparison.max_abs_error = 2 * error;  // a deviation of 2
                token.comparison.top2_margin = 5;
            }
        }
        QCOMPARE(lane.agrees_with(record.lanes[0]), agrees);
        QCOMPARE(lane.first_divergence(record.lanes[0]).has_value(), !agrees);
        const bool rounds = error_limit(lane.spec.weights) > f32_error_limit;
        if (type != reference_type || !agrees || !rounds) return;
        // Another token is a difference, unless rounding may have decided between two.
        TokenEvent& token = lane.repetitions[0].chosen.back();
        token.token += 1;
        QVERIFY(!lane.agrees_with(record.lanes[0]));
        token.comparison.top2_margin = 2 * error_limit(lane.spec.weights) * 2;
        QVERIFY(lane.agrees_with(record.lanes[0]));
        token.comparison.top2_margin *= 1.01;
        QVERIFY(!lane.agrees_with(record.lanes[0]));
    }

    void weights_are_recorded() {
        Record record = sample_record();
        record.lanes[1].spec.weights = record.experiment.lanes[1].weights = WeightType::int4;
        record.lanes[1].weight_bytes = 12345;
        record.lanes[0].spec.kernels = record.experiment.lanes[0].kernels = Kernels::openblas;
        const std::string json = to_json(record);
        std::vector<std::string> warnings;
        const auto parsed = parse_record(json, &warnings);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(warnings.empty());
        QVERIFY(parsed->lanes[1].spec.weights == WeightType::int4);
        QVERIFY(parsed->lanes[1].spec.kernels == Kernels::packed);
        QVERIFY(parsed->lanes[0].spec.kernels == Kernels::openblas);
        QCOMPARE(parsed->lanes[1].weight_bytes, std::uint64_t{12345});
        QCOMPARE(parsed->lanes[0].weight_bytes, std::uint64_t{0});
        QCOMPARE(to_json(*parsed), json);

        const QString table = QString::fromStdString(to_plain_text(record));
        QVERIFY2(table.contains("f32, OpenBLAS"), qPrintable(table));
        QVERIFY2(table.contains("int4, 12.1 KiB"), qPrintable(table));
        const QStringList lines = QString::fromStdString(to_jsonl(record)).split('\n');
        QVERIFY(lines[1].contains("\"type_w\":\"int4\""));
        QVERIFY(lines[1].contains("\"weight_bytes\":12345"));
        QVERIFY(lines[0].contains("\"kernels\":\"openblas\""));
        const QStringList rows = QString::fromStdString(to_csv(record)).split('\n');
        QVERIFY(rows[0].trimmed().endsWith("weight_type,kernels"));
        QVERIFY(rows[1].trimmed().endsWith("f32,openblas"));

        // Of versions that had no choice: f32 by OpenBLAS.
        QString old = QString::fromStdString(json);
        old.remove(QRegularExpression(",\\s*\"kernels\": \"(packed|openblas)\""));
        old.remove(QRegularExpression(",\\s*\"weights\": \"(f32|int4)\""));
        old.remove(QRegularExpression("\"weight_bytes\": (12345|null),"));
        const auto before = parse_record(old.toStdString());
        QVERIFY2(before.ok(), before.ok() ? "" : before.error().message.c_str());
        QVERIFY(before->lanes[1].spec.weights == WeightType::f32);
        QVERIFY(before->lanes[1].spec.kernels == Kernels::openblas);
        QCOMPARE(before->lanes[1].weight_bytes, std::uint64_t{0});
    }

    void nothing_measured() {
        Record record = sample_record();
        record.status = FinishReason::cancelled;
        record.reason = "Stopped.";
        for (LaneRecord& lane : record.lanes) {
            lane.repetitions.resize(1);
            lane.repetitions[0] = {{}, {}, {}, FinishReason::cancelled, "Stopped."};
            lane.texts.clear();
        }
        const LaneRecord& lane = record.lanes[1];
        QCOMPARE(lane.repetitions[0].ttft_ns(), 0);
        QCOMPARE(lane.step_ns().n, std::size_t{0});
        QCOMPARE(lane.ttft_ns().n, std::size_t{0});
        QCOMPARE(lane.decode_tok_s(), 0.0);
        QCOMPARE(lane.read_gb_s(), 0.0);
        QVERIFY(!lane.agrees_with(record.lanes[0]));
        QCOMPARE(speed_up(record, 1).why_not, std::string("not shown: no decode steps"));
        const auto parsed = parse_record(to_json(record));
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(parsed->status == FinishReason::cancelled);
        const QString table = QString::fromStdString(to_plain_text(record));
        QVERIFY(table.contains("Status  cancelled: Stopped."));
        QVERIFY(table.contains("not measured"));
        QVERIFY(!QString::fromStdString(to_json(record)).contains("\"median\""));
    }

    void speed_up_is_shown_only_for_the_same_result() {
        Record record = sample_record();
        record.lanes[1].repetitions[1].chosen[2].token = 33;
        QCOMPARE(record.lanes[1].first_different_token(record.lanes[0]), 2);
        QCOMPARE(speed_up(record, 1).why_not, std::string("not shown: output differs"));
        QVERIFY(QString::fromStdString(to_plain_text(record)).contains("not shown: output differs"));

        record = sample_record();
        record.lanes[1].repetitions[0].chosen[1].comparison.relative_error = 2e-4;
        QCOMPARE(speed_up(record, 1).why_not, std::string("not shown: output differs"));
        record.lanes[1].repetitions[0].chosen[1].comparison.relative_error =
            std::numeric_limits<double>::quiet_NaN();
        QVERIFY(std::isnan(record.lanes[1].max_relative_error()));
        QCOMPARE(speed_up(record, 1).why_not, std::string("not shown: output differs"));

        record = sample_record();
        record.lanes[1].repetitions[1].steps.pop_back();
        record.lanes[1].repetitions[1].chosen.pop_back();
        QCOMPARE(record.lanes[1].first_different_token(record.lanes[0]), -1);
        QCOMPARE(speed_up(record, 1).why_not, std::string("not shown: not the same tokens"));
    }

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
