// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/experiment/runner.h"
#include "engine/model/preset.h"
#include "engine/plan/measured_run.h"

using namespace decodescope;

namespace {

class NoSink final : public EventSink {};

LaneSpec lane_named(const char* name) {
    const auto lane = lane_from_name(name);
    return lane ? *lane : LaneSpec{};
}

WorkCount formula_of(const LaneSpec& lane, const ModelConfig& model, WorkRequest request) {
    request.prepared = prepared_type(lane);
    return lane.mode == LaneMode::naive ? naive_work(model, request)
                                        : cached_work(model, request, lane.cache);
}

}  // namespace

/// Work in closed form beside what runs really did.
class AccountingTest : public QObject {
    Q_OBJECT

private slots:
    void published_counts_hold() {
        const auto model = preset_config("gpt2-small");
        QVERIFY(model);
        // 500 tokens from an empty start: the first is the prompt.
        const WorkCount naive = naive_work(*model, {1, 500, 0});
        const WorkCount cached = cached_work(*model, {1, 500, 0}, {.kind = CacheKind::static_});
        QCOMPARE(naive.rectangle_cells, std::int64_t{41'791'750});
        QCOMPARE(cached.rectangle_cells, std::int64_t{125'250});
        QCOMPARE(cached.allowed_cells, std::int64_t{125'250});
        QCOMPARE(cached.computed_cells, std::int64_t{125'250});
        QCOMPARE(sum_of_squares_to(500), std::int64_t{41'791'750});
        QCOMPARE(sum_to(500), std::int64_t{125'250});
        // Case S1: a prompt of 7 and 6 new tokens.
        QCOMPARE(naive_work(*model, {7, 6, 0}).positions, std::int64_t{57});
        QCOMPARE(cached_work(*model, {7, 6, 0}, {}).positions, std::int64_t{12});
        QCOMPARE(naive_work(*model, {7, 6, 0}).allowed_cells, std::int64_t{308});
        QCOMPARE(cached_work(*model, {7, 6, 0}, {}).allowed_cells, std::int64_t{78});
        // Case S11: a prompt of 10 and 8 new tokens.
        QCOMPARE(naive_work(*model, {10, 8, 0}).positions, std::int64_t{108});
        QCOMPARE(cached_work(*model, {10, 8, 0}, {}).positions, std::int64_t{17});
        QCOMPARE(
            cached_work(*model, {128, 400, 0}, {.kind = CacheKind::concat, .dtype = DType::f16}).copied_bytes,
            std::int64_t{4'809'756'672});
    }

    void closed_forms_are_sums() {
        for (const std::int64_t window : {0, 1, 6, 40}) {
            for (std::int64_t n = 0; n < 100; ++n) {
                std::int64_t cells = 0;
                for (std::int64_t p = 0; p < n; ++p)
                    cells += window == 0 ? p + 1 : std::min<std::int64_t>(p + 1, window);
                QCOMPARE(causal_cells(n, window), cells);
            }
        }
        QCOMPARE(block_cells(0, 32, 32), std::int64_t{32 * 32});
        QCOMPARE(block_cells(0, 33, 32), std::int64_t{32 * 32 + 33});
        QCOMPARE(block_cells(0, 33, 64), std::int64_t{33 * 33});
        QCOMPARE(block_cells(100, 1, 32), std::int64_t{101});
        QCOMPARE(block_cells(100, 1, 32, 6), std::int64_t{6});
    }

    void runs_agree_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("lane");
        QTest::addColumn<int>("prompt");
        QTest::addColumn<int>("tokens");
        QTest::addColumn<int>("chunk");
        const auto row = [](const char* preset, const char* lane, int prompt, int tokens, int chunk = 0) {
            QTest::addRow("%s %s %d+%d by %d", preset, lane, prompt, tokens, chunk)
                << QString(preset) << QString(lane) << prompt << tokens << chunk;
        };
        for (const char* preset : {"tiny", "tiny-llama", "tiny-window"}) {
            row(preset, "naive", 1, 30);
            row(preset, "naive", 33, 20);
            row(preset, "static", 1, 30);
            row(preset, "static", 40, 20);
            row(preset, "static", 40, 9, 7);
            row(preset, "concat", 33, 20);
            row(preset, "concat", 20, 11, 6);
            row(preset, "static", 64, 1);
        }
        row("tiny", "paged", 30, 12);
        row("tiny", "f16", 30, 12);
        row("tiny", "int8", 30, 12);
        row("tiny-llama", "kivi4", 40, 12);
    }
    void runs_agree() {
        QFETCH(const QString, preset);
        QFETCH(const QString, lane);
        QFETCH(const int, prompt);
        QFETCH(const int, tokens);
        QFETCH(const int, chunk);
        const auto model = preset_config(preset.toStdString());
        QVERIFY(model);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto weights = random_weights(*model, 3, ledger);
        QVERIFY(weights);
        LaneSpec spec = lane_named(lane.toUtf8().constData());
        if (spec.mode == LaneMode::cached) spec.prefill_chunk = chunk;
        if (spec.cache.kind == CacheKind::kivi) spec.cache.group = spec.cache.residual = 8;
        const auto backend = make_cpu_backend(2);
        const auto run =
            run_counted(spec, {*weights, nullptr, backend.get(), ledger}, {1, prompt, tokens, 5});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        const WorkCount formula = formula_of(spec, *model, {prompt, tokens, chunk});
        for (const WorkLine& line : work_lines(spec.mode == LaneMode::cached))
            QVERIFY2((*run).*line.count == formula.*line.count, line.what.c_str());
        QVERIFY(*run == formula);
        QVERIFY(formula.computed_cells >= formula.allowed_cells);
        QVERIFY(formula.rectangle_cells >= formula.computed_cells);
    }

    void records_hold_the_same_counts() {
        Experiment experiment;
        experiment.model = {.path = {}, .preset = "tiny", .seed = 1};
        PromptSpec prompt;
        prompt.kind = PromptSpec::Kind::random;
        prompt.length = 20;
        experiment.prompts = {prompt};
        experiment.new_tokens = 12;
        experiment.lanes = {lane_named("naive"), lane_named("concat"), lane_named("static")};
        experiment.warmup = 0;
        experiment.repetitions = 1;
        experiment.threads = 1;
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto model = load_model(experiment.model, ledger);
        QVERIFY(model);
        NoSink sink;
        const auto record = run_experiment(experiment, *model, ledger, sink, {}, {1.0, 1.0, ""});
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        for (const LaneRecord& lane : record->lanes) {
            const WorkCount formula = formula_of(lane.spec, model->weights->config, {20, 12, 0});
            WorkCount summed;
            std::int64_t moved = 0;
            for (const StepEvent& step : lane.repetitions.front().steps) {
                ++summed.calls;
                summed.positions += step.positions_forwarded;
                summed.allowed_cells += step.score_cells_allowed;
                summed.computed_cells += step.score_cells_computed;
                summed.copied_bytes = step.kv_bytes_copied;  // counted since the start
                moved += step.bytes_moved;
            }
            QCOMPARE(summed.calls, formula.calls);
            QCOMPARE(summed.positions, formula.positions);
            QCOMPARE(summed.allowed_cells, formula.allowed_cells);
            QCOMPARE(summed.computed_cells, formula.computed_cells);
            QCOMPARE(summed.copied_bytes, formula.copied_bytes);
            QCOMPARE(moved, formula.weight_bytes + formula.kv_bytes);
        }
    }

    void counts_that_do_not_fit_are_refused() {
        const auto model = preset_config("gpt2-xl");
        QVERIFY(model);
        QVERIFY(check_countable(*model, {1, 1024, 0}));
        QVERIFY(!check_countable(*model, {1, 100'000, 0}));
        QVERIFY(!check_countable(*model, {1'000'000'000, 1, 0}));
    }

    void a_run_without_room_says_so() {
        const auto model = preset_config("tiny");
        QVERIFY(model);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto weights = random_weights(*model, 3, ledger);
        QVERIFY(weights);
        const auto backend = make_cpu_backend(1);
        const auto run =
            run_counted(lane_named("static"), {*weights, nullptr, backend.get(), ledger}, {1, 60, 20, 0});
        QVERIFY(!run);
        QVERIFY2(QString::fromStdString(run.error().message).contains("64"), run.error().message.c_str());
    }
};

QTEST_APPLESS_MAIN(AccountingTest)
#include "tst_accounting.moc"
