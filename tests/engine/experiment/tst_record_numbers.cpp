// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <limits>

#include "engine/experiment/record.h"
#include "engine/experiment/report_text.h"
#include "tests/engine/experiment/sample_record.h"

using namespace decodescope;
using namespace decodescope::test;

class TestRecordNumbers : public QObject {
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

    /// A GPU rounds what a CPU does not: f16 weights' inputs, and everything with TF32.
    void limits_of_lanes_on_gpus() {
        Record record = sample_record();
        LaneRecord& reference = record.lanes[0];
        LaneRecord& lane = record.lanes[1];
        const auto limit = [&] {
            const double mine = lane.error_limit_against(reference);
            return mine == reference.error_limit_against(lane) ? mine : -1.0;
        };
        lane.on_gpu = true;
        QCOMPARE(limit(), f32_error_limit);
        lane.spec.tf32 = true;
        QCOMPARE(limit(), 0.02);
        reference.on_gpu = reference.spec.tf32 = true;
        QCOMPARE(limit(), 0.02);
        reference.on_gpu = reference.spec.tf32 = lane.spec.tf32 = false;
        reference.spec.weights = lane.spec.weights = WeightType::f16;
        QCOMPARE(limit(), 0.02);
        lane.on_gpu = false;
        QCOMPARE(limit(), f32_error_limit);
        lane.on_gpu = true;
        reference.spec.weights = lane.spec.weights = WeightType::bf16;
        QCOMPARE(limit(), 0.07);
        lane.spec.weights = WeightType::f16;
        QCOMPARE(limit(), f32_error_limit);  // another model, whatever rounds
        // Draws are where rounding may put them.
        reference.spec.weights = WeightType::f16;
        QVERIFY(approximation(record, 1).empty());
        record.experiment.sampling.kind = SamplingKind::sample;
        QCOMPARE(approximation(record, 1), std::string("sampled with f16 weights"));
        reference.spec.weights = lane.spec.weights = WeightType::f32;
        QVERIFY(approximation(record, 1).empty());
        lane.spec.tf32 = true;
        QCOMPARE(approximation(record, 1), std::string("sampled with TF32"));
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
        QVERIFY(rows[0].trimmed().endsWith("weight_type,kernels,device,device_ns"));
        QVERIFY(rows[1].trimmed().endsWith("f32,openblas,cpu,"));

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
};

QTEST_GUILESS_MAIN(TestRecordNumbers)
#include "tst_record_numbers.moc"
