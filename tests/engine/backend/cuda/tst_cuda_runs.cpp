// SPDX-License-Identifier: GPL-3.0-or-later
// Whole runs with a (pretended) GPU beside the CPU: experiments, records and `verify`.
#include <QTest>

#include "engine/experiment/lane_engines.h"
#include "engine/experiment/record_json.h"
#include "engine/experiment/runner.h"
#include "engine/experiment/token_times.h"
#include "engine/model/preset.h"
#include "engine/model/weight_size.h"
#include "engine/plan/measured_run.h"
#include "engine/verify/verify_model.h"
#include "tests/cuda_shim/shim.h"

using namespace decodescope;

namespace {

class NobodyLooks final : public EventSink {
public:
    void run_started(const RunStarted&) override {}
    void step_done(const StepEvent&) override {}
    void token_done(const TokenEvent&) override {}
    void repetition_done(std::int32_t, std::int32_t, FinishReason) override {}
    void run_finished(FinishReason) override {}
};

Result<Record> run(const char* preset, const std::vector<const char*>& lanes) {
    const auto ledger = std::make_shared<MemoryLedger>();
    const LoadedModel model{*random_weights(*preset_config(preset), 5, ledger), nullptr};
    Experiment experiment;
    experiment.model = {.path = {}, .preset = preset, .seed = 5};
    experiment.prompts[0].kind = PromptSpec::Kind::ids;
    experiment.prompts[0].ids = {3, 1, 4, 15, 9, 2, 6};
    experiment.new_tokens = 20;
    experiment.threads = 1;
    experiment.repetitions = 2;
    for (const char* name : lanes) {
        auto lane = lane_from_name(name);
        if (!lane) return lane.error();
        experiment.lanes.push_back(*std::move(lane));
    }
    if (const auto valid = experiment.validate(); !valid) return valid.error();
    NobodyLooks sink;
    return run_experiment(experiment, model, ledger, sink, {}, {10.0, 10.0, ""});
}

}  // namespace

class TestCudaRuns : public QObject {
    Q_OBJECT

private slots:
    void init() { cuda_shim::configure({}); }
    void cleanup() { QCOMPARE(cuda_shim::live(), cuda_shim::Live{}); }

    void lanesOnBothDevicesAgree_data() {
        QTest::addColumn<QString>("preset");
        QTest::newRow("gpt2") << "tiny";
        QTest::newRow("llama") << "tiny-llama";
    }
    void lanesOnBothDevicesAgree() {
        QFETCH(QString, preset);
        const std::vector<const char*> lanes{"naive",         "naive+cuda:0",        "concat+cuda:0",
                                             "static+cuda:0", "static+cuda:0+graph", "paged+cuda:0"};
        const auto record = run(preset.toUtf8().constData(), lanes);
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        QCOMPARE(record->status, FinishReason::length);
        const auto expected = record->lanes[0].repetitions[0].tokens();
        QCOMPARE(expected.size(), std::size_t{20});
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            const LaneRecord& lane = record->lanes[i];
            for (const RepetitionRecord& repetition : lane.repetitions) {
                QCOMPARE(repetition.tokens(), expected);
                for (const StepEvent& step : repetition.steps)
                    QVERIFY2(step.comparison.relative_error < 1e-4, lanes[i]);
            }
            QCOMPARE(lane.gpu_memory.has_value(), i > 0);
            if (i == 0) continue;
            QVERIFY(lane.gpu_memory->allocated > 0);
            QVERIFY(lane.gpu_memory->peak_allocated >= lane.gpu_memory->allocated);
            QVERIFY(lane.gpu_memory->reserved >= lane.gpu_memory->allocated);
        }
        QCOMPARE(record->environment.gpus.size(), std::size_t{1});
        QCOMPARE(record->environment.gpu_precision, std::string("f32, TF32 off"));
        QVERIFY(!record->environment.cuda_driver.empty());
    }

    /// Every step of a lane on a GPU tells how long the GPU worked, its drafts' calls included, and no other.
    void stepsTellHowLongTheGpuWorked() {
        const auto record = run("tiny", {"static", "static+cuda:0", "static+cuda:0+graph",
                                         "speculative-layers+cuda:0", "naive+cuda:0"});
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        const auto read = parse_record(to_json(*record));
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        constexpr std::int64_t slack_ns = 1000;  // of times that are floats
        for (const LaneRecord& lane : record->lanes) {
            const bool gpu = record->experiment.device_of(lane.spec).is_gpu();
            const LaneRecord& same = read->lanes[static_cast<std::size_t>(&lane - record->lanes.data())];
            for (std::size_t r = 0; r < lane.repetitions.size(); ++r) {
                for (std::size_t i = 0; i < lane.repetitions[r].steps.size(); ++i) {
                    const StepEvent& step = lane.repetitions[r].steps[i];
                    QCOMPARE(same.repetitions[r].steps[i].device_ns, step.device_ns);
                    if (!gpu) QCOMPARE(step.device_ns, ProcessMemory::not_measured);
                    if (gpu) QVERIFY(step.device_ns > 0);
                    QVERIFY(step.device_ns <= step.end_ns - step.start_ns + slack_ns);
                }
            }
            QCOMPARE(lane.device_ns().n, gpu ? lane.step_ns().n : std::size_t{0});
            QCOMPARE(device_token_ns(lane).n, gpu ? token_ns(lane).n : std::size_t{0});
            if (gpu) QVERIFY(device_token_ns(lane).median <= token_ns(lane).median + slack_ns);
        }
    }

    /// Where a GPU rounds what the CPU does not, or lanes round each on their own, they agree within the
    /// limit that is stated for it, and it is the rounding that the limit is for.
    void roundedLanesAgreeWithinTheirLimits_data() {
        QTest::addColumn<QString>("reference");
        QTest::addColumn<QStringList>("others");
        QTest::addColumn<double>("limit");
        QTest::addColumn<QString>("precision");
        const QStringList f16{"static+weights-f16+cuda:0", "naive+weights-f16+cuda:0"};
        QTest::newRow("f16") << "static+weights-f16" << f16 << 0.02 << "f32, TF32 off";
        QTest::newRow("bf16") << "static+weights-bf16" << QStringList{"static+weights-bf16+cuda:0"} << 0.07
                              << "f32, TF32 off";
        QTest::newRow("TF32") << "static" << QStringList{"static+cuda:0+tf32", "static+cuda:0+graph+tf32"}
                              << 0.02 << "f32, TF32 on";
        QTest::newRow("TF32 beside f32 on a GPU")
            << "static+cuda:0" << QStringList{"naive+cuda:0+tf32", "speculative-layers+cuda:0+tf32"} << 0.02
            << "f32, TF32 on in naive+cuda:0+tf32, speculative-layers+cuda:0+tf32";
    }
    void roundedLanesAgreeWithinTheirLimits() {
        QFETCH(QString, reference);
        QFETCH(QStringList, others);
        QFETCH(double, limit);
        std::vector<QByteArray> names{reference.toUtf8()};
        for (const QString& name : others) names.push_back(name.toUtf8());
        for (const char* preset : {"tiny", "tiny-llama"}) {
            const auto record = run(preset, {names.begin(), names.end()});
            QVERIFY2(record, record ? "" : record.error().message.c_str());
            QTEST(QString::fromStdString(record->environment.gpu_precision), "precision");
            for (std::size_t i = 1; i < record->lanes.size(); ++i) {
                const LaneRecord& lane = record->lanes[i];
                QCOMPARE(lane.error_limit_against(record->reference()), limit);
                QVERIFY2(lane.agrees_with(record->reference()), names[i]);
                QVERIFY(approximation(*record, i).empty());
                // Much more than f32 rounds to.
                QVERIFY2(lane.max_relative_error() > f32_error_limit,
                         qPrintable(QString::number(lane.max_relative_error())));
            }
            // A record that was read knows the same.
            const auto read = parse_record(to_json(*record));
            QVERIFY(read);
            QCOMPARE(read->lanes[1].error_limit_against(read->reference()), limit);
        }
    }

    void aGraphChangesNoBit() {
        const auto record = run("tiny", {"static+cuda:0", "static+cuda:0+graph"});
        QVERIFY2(record, record ? "" : record.error().message.c_str());
        for (const RepetitionRecord& repetition : record->lanes[1].repetitions) {
            for (const StepEvent& step : repetition.steps) QCOMPARE(step.comparison.max_abs_error, 0.0);
        }
        QVERIFY(cuda_shim::counts().graph_launches > 0);
    }

    void whatAGpuCannotDoIsRefusedBeforeTheRun_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QString>("says");
        QTest::newRow("int8") << "static+cuda:0+weights-int8"
                              << "expected \"f32\", \"f16\" or \"bf16\"";
        QTest::newRow("kivi") << "kivi+cuda:0"
                              << "stored on the CPU alone";
        QTest::newRow("fault") << "static+cuda:0+position-restart"
                               << "faults are made on the CPU alone";
        QTest::newRow("graph of concat") << "concat+cuda:0+graph"
                                         << "moves its storage at every step";
        QTest::newRow("graph of the CPU") << "static+graph"
                                          << "needs a GPU";
        QTest::newRow("TF32 of the CPU") << "static+tf32"
                                         << "TF32 needs a GPU";
        QTest::newRow("TF32 of f16 weights") << "static+cuda:0+weights-f16+tf32"
                                             << "products with f16 weights are none of f32";
    }
    void whatAGpuCannotDoIsRefusedBeforeTheRun() {
        QFETCH(QString, lane);
        QFETCH(QString, says);
        const auto record = run("tiny", {lane.toUtf8().constData()});
        QVERIFY(!record);
        QCOMPARE(exit_code(record.error().kind), 2);
        QVERIFY2(QString::fromStdString(record.error().message).contains(says),
                 record.error().message.c_str());
    }

    void aGpuThatFailsEndsTheRunWithASentence() {
        cuda_shim::Settings settings;
        settings.memory_bytes = std::uint64_t{1} << 20;
        cuda_shim::configure(settings);
        const auto record = run("tiny", {"static+cuda:0"});
        const std::string said =
            record ? record->reason + record->lanes[0].repetitions[0].reason : record.error().message;
        QVERIFY2(QString::fromStdString(said).contains("memory"), said.c_str());
    }

    /// `account` on a GPU: cells, FLOPs and bytes are those of its own kernels and matrices, which have no
    /// rows that fill a panel.
    void countsAreThoseOfTheFormulas_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<int>("headDim");
        QTest::addColumn<QString>("lane");
        QTest::addColumn<int>("prompt");
        QTest::addColumn<int>("chunk");
        const auto row = [](const char* preset, int head_dim, const char* lane, int prompt, int chunk = 0) {
            QTest::addRow("%s %d, %s, %d by %d", preset, head_dim, lane, prompt, chunk)
                << QString(preset) << head_dim << QString(lane) << prompt << chunk;
        };
        for (const char* preset : {"tiny", "tiny-llama", "tiny-window"}) {
            row(preset, 8, "naive", 2);
            row(preset, 8, "static+weights-bf16", 11);
            row(preset, 8, "static", 37, 4);
        }
        row("tiny-llama", 128, "static+weights-f16", 58, 33);
        row("tiny-llama", 256, "paged", 40);
        row("tiny", 8, "int8", 40, 7);
    }
    void countsAreThoseOfTheFormulas() {
        QFETCH(QString, preset);
        QFETCH(int, headDim);
        QFETCH(QString, lane);
        QFETCH(int, prompt);
        QFETCH(int, chunk);
        ModelConfig config = *preset_config(preset.toStdString());
        config.vocab = 61;  // no multiple of anything
        config.head_dim = headDim;
        const auto host = std::make_shared<MemoryLedger>();
        const auto weights = *random_weights(config, 5, host);
        LaneSpec spec = *lane_from_name(lane.toStdString());
        spec.prefill_chunk = chunk;
        spec.device = Device{Device::Kind::cuda, 0};
        const auto engine = make_engine(*spec.device, 1, host);
        QVERIFY(engine);
        const LaneContext context{weights, nullptr, engine->backend.get(), engine->ledger, host};
        constexpr int n_new = 5;
        const auto run = run_counted(spec, context, {1, prompt, n_new, 3});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        const WorkRequest request{prompt, n_new, chunk, spec.weights, true};
        const bool cached = spec.mode == LaneMode::cached;
        const WorkCount formula =
            cached ? cached_work(config, request, spec.cache) : naive_work(config, request);
        for (const WorkLine& line : work_lines(cached, true))
            QVERIFY2((*run).*line.count == formula.*line.count,
                     qPrintable(QStringLiteral("%1: %2, expected %3")
                                    .arg(QString::fromStdString(line.what))
                                    .arg((*run).*line.count)
                                    .arg(formula.*line.count)));
        // Every matrix once, as it is stored.
        const auto prepared = *engine->backend->prepare(weights, spec.weights, engine->ledger);
        QCOMPARE(matrix_bytes(*prepared), prepared_bytes(config, spec.weights, true));
        // Whoever forgets to say where the processor's memory is counted is told.
        const auto forgotten = run_counted(spec, {weights, nullptr, engine->backend.get(), engine->ledger},
                                           {1, prompt, n_new, 3});
        QVERIFY(!forgotten);
        QVERIFY(QString::fromStdString(forgotten.error().message).contains("no ledger of the processor"));
    }

    void verifyHolds_data() {
        QTest::addColumn<QString>("preset");
        for (const char* preset : {"tiny-llama", "tiny-window"}) QTest::newRow(preset) << preset;
    }
    void verifyHolds() {
        QFETCH(QString, preset);
        const auto ledger = std::make_shared<MemoryLedger>();
        const LoadedModel model{*random_weights(*preset_config(preset.toStdString()), 1, ledger), nullptr};
        VerifyOptions options;
        options.threads = 1;
        options.prompt_length = 12;
        options.steps = 5;  // a pretended GPU is slow
        options.device = Device{Device::Kind::cuda, 0};
        const auto report = verify_model(model, options, ledger);
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        QVERIFY(report->checks.size() >= 10);
        for (const VerifyCheck& check : report->checks)
            QVERIFY2(check.held, (check.name + ": " + check.found).c_str());
    }
};

QTEST_GUILESS_MAIN(TestCudaRuns)
#include "tst_cuda_runs.moc"
