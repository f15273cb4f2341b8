// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/decode/lane_weights.h"
#include "tests/engine/backend/cuda/cuda_fixture.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using test::CudaFixture;
using test::follow;
using test::Trail;

namespace {

/// The same random model on the processor and on the pretended GPU.
struct TwoMachines {
    CudaFixture cuda;
    std::unique_ptr<Backend> cpu = make_cpu_backend(1);
    std::shared_ptr<MemoryLedger> host = std::make_shared<MemoryLedger>();
    std::shared_ptr<const Weights> weights;

    explicit TwoMachines(const char* preset, int head_dim = 0, int n_positions = 64, int vocab = 0) {
        ModelConfig config = *preset_config(preset);
        config.n_positions = n_positions;
        if (head_dim > 0) config.head_dim = head_dim;
        if (vocab > 0) config.vocab = vocab;
        weights = test::lively_weights(config, 5, host);
    }

    std::unique_ptr<Lane> lane(const LaneSpec& spec, bool gpu, std::string* error = nullptr) {
        Backend& backend = gpu ? *cuda.backend : *cpu;
        const auto& ledger = gpu ? cuda.ledger : host;
        auto context = prepared_context(spec, {weights, nullptr, &backend, ledger, host});
        if (!context) {
            if (error != nullptr) *error = context.error().message;
            return nullptr;
        }
        auto made = make_lane(spec, *context);
        if (!made && error != nullptr) *error = made.error().message;
        return made ? *std::move(made) : nullptr;
    }
};

/// Lanes that round on both machines, each what it has computed itself: an entry or an input in the middle
/// between two roundings falls to either side. Limits are of the logits' deviation. Inputs of f16 products
/// are f16 on a GPU and f32 on the processor; those of bf16 are bf16 on both.
struct RoundedLane {
    const char* name;
    double limit;
};
constexpr RoundedLane rounded[] = {
    {"f16", 1e-3},
    {"bf16", 8e-3},
    {"int8", 8e-3},
    {"static+weights-f16", 0.01},
    {"static+weights-bf16", 0.07},
};

Workload three_requests(int new_tokens) {
    return test::work_of({test::prompt_of_3, test::prompt_of_7, test::repeating}, new_tokens);
}

}  // namespace

class TstCudaLanes : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { QCOMPARE(cuda_shim::live(), cuda_shim::Live{}); }

    void computeWhatTheProcessorComputes_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<int>("headDim");
        QTest::addColumn<QString>("lane");
        QTest::addColumn<double>("limit");
        for (const char* preset : {"tiny", "tiny-window", "tiny-llama"}) {
            for (const char* lane :
                 {"naive", "concat", "static", "paged", "window", "batch", "batch-right", "batch-packed",
                  "naive-batch", "continuous", "speculative", "speculative-layers", "beam"})
                QTest::addRow("%s, %s", preset, lane) << QString(preset) << 0 << QString(lane) << 1e-4;
            for (const auto& [lane, limit] : rounded)
                QTest::addRow("%s, %s", preset, lane) << QString(preset) << 0 << QString(lane) << limit;
        }
        for (const int head_dim : {24, 64, 80, 128, 256}) {
            for (const char* lane : {"static", "paged", "batch"})
                QTest::addRow("heads of %d, %s", head_dim, lane)
                    << "tiny-llama" << head_dim << QString(lane) << 1e-4;
            for (const auto& [lane, limit] : rounded)
                QTest::addRow("heads of %d, %s", head_dim, lane)
                    << "tiny-llama" << head_dim << QString(lane) << limit;
        }
    }
    void computeWhatTheProcessorComputes() {
        QFETCH(QString, preset);
        QFETCH(int, headDim);
        QFETCH(QString, lane);
        QFETCH(double, limit);
        TwoMachines machines(preset.toUtf8().constData(), headDim);
        const LaneSpec spec = test::named(lane.toStdString());
        std::string error;
        DeviceMemory& memory = *machines.cuda.backend->memory();
        const std::uint64_t base = memory.use()->device_used;
        const auto reference_lane = machines.lane(spec, false, &error);
        auto gpu_lane = machines.lane(spec, true, &error);
        QVERIFY2(reference_lane && gpu_lane, error.c_str());
        const Trail reference = follow(*reference_lane, three_requests(9));
        const Trail found = follow(*gpu_lane, three_requests(9));
        QCOMPARE(found.error, std::string());
        QCOMPARE(reference.error, std::string());
        QCOMPARE(found.allowed, reference.allowed);
        const double worst = test::worst_error(found, reference);
        QVERIFY2(worst < limit, qPrintable(QString::number(worst)));
        if (limit < 1e-3) QCOMPARE(found.tokens, reference.tokens);
        QVERIFY(machines.cuda.backend->device_seconds().value_or(-1) >= 0);
        QCOMPARE(cuda_shim::counts().open_ranges, 0);
        QVERIFY(memory.use()->device_used > base);
        gpu_lane.reset();
        memory.trim();
        QCOMPARE(machines.cuda.ledger->total(), std::uint64_t{0});
        QCOMPARE(memory.use()->device_used, base);
        QCOMPARE(memory.use()->allocated, std::uint64_t{0});
    }

    void withAGraphTheyComputeTheSameBits_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("lane");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            for (const char* lane :
                 {"static", "f16", "static+weights-bf16", "batch", "batch-right", "batch-packed"})
                QTest::addRow("%s, %s", preset, lane) << QString(preset) << QString(lane);
        }
    }
    void withAGraphTheyComputeTheSameBits() {
        QFETCH(QString, preset);
        QFETCH(QString, lane);
        TwoMachines machines(preset.toUtf8().constData());
        LaneSpec spec = test::named(lane.toStdString());
        const Trail plain = follow(*machines.lane(spec, true), three_requests(9));
        QCOMPARE(cuda_shim::counts().graph_launches, std::int64_t{0});
        spec.cuda_graph = true;
        const Trail graph = follow(*machines.lane(spec, true), three_requests(9));
        QCOMPARE(graph.error, std::string());
        QCOMPARE(graph.rows, plain.rows);
        QCOMPARE(graph.tokens, plain.tokens);
        // Of every request, or of the batch, the prompt and the first token of all are launched plainly.
        QVERIFY(cuda_shim::counts().graph_launches >= 7);
    }

    void sampledTokensAreDrawnWhereTheLogitsAre_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<bool>("graph");
        QTest::addColumn<int>("vocab");
        for (const char* lane : {"naive", "static", "batch", "batch-right", "batch-packed", "continuous"})
            QTest::addRow("%s", lane) << QString(lane) << false << 0;
        for (const char* lane : {"static", "batch", "batch-packed"})
            QTest::addRow("%s, graph", lane) << QString(lane) << true << 0;
        QTest::addRow("an odd vocabulary") << QString("batch-packed") << true << 1501;
    }
    void sampledTokensAreDrawnWhereTheLogitsAre() {
        QFETCH(QString, lane);
        QFETCH(bool, graph);
        QFETCH(int, vocab);
        TwoMachines machines("tiny-llama", 0, 64, vocab);
        const auto followed = [&](bool gpu, const Sampling& sampling) {
            LaneSpec spec = test::named(lane.toStdString());
            spec.cuda_graph = gpu && graph;
            Workload work = three_requests(9);
            work.sampling = sampling;
            return follow(*machines.lane(spec, gpu), work);
        };
        // And the kernels that ran for it.
        const auto counted = [&](const Sampling& sampling) {
            const std::int64_t before = cuda_shim::counts().kernels_run;
            Trail trail = followed(true, sampling);
            return std::pair(std::move(trail), cuda_shim::counts().kernels_run - before);
        };
        const Sampling sampling{SamplingKind::sample, 1.3, 50, 23, 0.95, 0.01, 1};
        Sampling with_penalty = sampling;
        with_penalty.repetition_penalty = 1.3;
        (void)followed(true, {});  // what is made once is made
        const auto [greedy, greedy_kernels] = counted({});
        const auto [drawn, drawn_kernels] = counted(sampling);
        const auto [punished, punished_kernels] = counted(with_penalty);
        QCOMPARE(drawn.error, std::string());
        QCOMPARE(drawn.tokens, followed(false, sampling).tokens);
        QVERIFY(drawn.tokens != greedy.tokens);
        QCOMPARE(cuda_shim::counts().graph_launches > 0, graph);
        // Every call draws once. What the text so far decides too stays with the processor.
        std::int64_t calls = 0;
        for (const LaneStep& step : drawn.steps) {
            calls += step.n_call;
            if (lane != "naive" && step.phase == Phase::decode)
                QCOMPARE(step.tensor_allocations, std::int64_t{0});
        }
        QCOMPARE(drawn_kernels - greedy_kernels, calls);
        QCOMPARE(punished_kernels, greedy_kernels);
        QCOMPARE(punished.tokens, followed(false, with_penalty).tokens);
        QVERIFY(punished.tokens != drawn.tokens);
    }
};

QTEST_GUILESS_MAIN(TstCudaLanes)
#include "tst_cuda_lanes.moc"
