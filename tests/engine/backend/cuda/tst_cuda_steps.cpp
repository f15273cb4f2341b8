// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <map>
#include <string>

#include "engine/cache/kv_cache.h"
#include "engine/decode/sampler.h"
#include "engine/model/forward.h"
#include "engine/model/workspace.h"
#include "tests/engine/backend/cuda/cuda_fixture.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using test::CudaFixture;

namespace {

constexpr int n_row = 3;
constexpr int n_prompt = 5;

/// What a number of steps computed, and which of them failed.
struct Steps {
    std::vector<std::vector<float>> logits;
    std::vector<std::vector<std::int32_t>> largest;
    std::vector<std::vector<std::int32_t>> drawn;
    int failed = -1;
    Error error;
};

/// The same object whenever it is asked for, so that decoders share it on the device.
std::shared_ptr<const Weights> host_model(const std::string& preset) {
    static std::map<std::string, std::shared_ptr<const Weights>> models;
    auto& model = models[preset];
    if (model == nullptr)
        model = test::lively_weights(*preset_config(preset), 5, std::make_shared<MemoryLedger>());
    return model;
}

/// Rows of tokens that are decoded step by step, each with a token of its own choice.
class Decoder {
public:
    Decoder(CudaFixture& cuda, const char* preset, const CacheSpec& cache, bool graph,
            AllocationPolicy policy = AllocationPolicy::reused)
        : backend_(*cuda.backend), workspace_(cuda.ledger, policy) {
        weights_ = *backend_.prepare(host_model(preset), WeightType::f32, cuda.ledger);
        const ModelConfig& config = weights_->config;
        KvRoom room;
        room.capacity = 32;
        room.max_call = n_prompt;
        room.window = {8, 2};
        cache_ =
            *make_cache(cache, {config.n_layer, n_row, config.n_kv_head, config.head_dim}, room, cuda.ledger);
        workspace_.set_graph(graph);
        window_ = cache.kind == CacheKind::window ? room.window : Window{};
    }

    /// One call of `n` tokens per row, the `step`-th.
    Result<ForwardOutput> call(int n, int step, std::stop_token stop = {}) {
        tokens_.clear();
        for (int b = 0; b < n_row; ++b) {
            std::vector<std::int32_t> row;
            for (int i = 0; i < n; ++i) row.push_back((7 * step + 5 * b + 3 * i) % weights_->config.vocab);
            tokens_.add_row(row, position_);
        }
        draws_.clear();
        for (int b = 0; b < n_row && sampling_.kind == SamplingKind::sample; ++b)
            draws_.push_back(*Sampler(sampling_, b).draw(step));
        const std::vector<std::int32_t> last = last_rows(tokens_);
        auto output = forward(*weights_, tokens_, WantedLogits(last, draws_), cache_.get(), window_,
                              workspace_, backend_, std::move(stop));
        if (output) position_ += n;
        return output;
    }

    /// Tokens are drawn like this from now on.
    void sample(const Sampling& sampling) { sampling_ = sampling; }

    /// A prompt, then `n` single tokens; ends at the first failure.
    Steps decode(int n) {
        Steps steps;
        for (int step = 0; step <= n; ++step) {
            const auto output = call(step == 0 ? n_prompt : 1, step);
            if (!output) {
                steps.failed = step;
                steps.error = output.error();
                return steps;
            }
            steps.logits.emplace_back(output->logits.begin(), output->logits.end());
            steps.largest.emplace_back(output->largest.begin(), output->largest.end());
            steps.drawn.emplace_back(output->drawn.begin(), output->drawn.end());
        }
        return steps;
    }

private:
    Backend& backend_;
    std::shared_ptr<const Weights> weights_;
    Workspace workspace_;
    std::unique_ptr<KvCache> cache_;
    Window window_;
    CallTokens tokens_;
    int position_ = 0;
    Sampling sampling_;
    std::vector<TokenDraw> draws_;
};

CacheSpec cache_of(CacheKind kind, DType dtype = DType::f32) {
    CacheSpec spec;
    spec.kind = kind;
    spec.dtype = dtype;
    return spec;
}

}  // namespace

Q_DECLARE_METATYPE(CacheSpec)

class TstCudaSteps : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { QCOMPARE(cuda_shim::live(), cuda_shim::Live{}); }

    void graphsComputeTheSame_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<CacheSpec>("cache");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            const auto row = [&](const char* name, const CacheSpec& cache) {
                QTest::addRow("%s, %s", preset, name) << QString(preset) << cache;
            };
            row("static", cache_of(CacheKind::static_));
            row("static f16", cache_of(CacheKind::static_, DType::f16));
            row("int8", cache_of(CacheKind::int8));
            row("paged", cache_of(CacheKind::paged));
        }
    }
    void graphsComputeTheSame() {
        QFETCH(QString, preset);
        QFETCH(CacheSpec, cache);
        constexpr int n = 8;
        CudaFixture cuda;
        Steps plain = Decoder(cuda, preset.toUtf8().constData(), cache, false).decode(n);
        QCOMPARE(plain.failed, -1);
        QCOMPARE(cuda_shim::counts().graph_launches, std::int64_t{0});
        const std::int64_t run = cuda_shim::counts().kernels_run;
        const std::int64_t launched = cuda_shim::counts().launches;
        Decoder decoder(cuda, preset.toUtf8().constData(), cache, true);
        const std::int64_t uploads = cuda_shim::counts().launches - launched;
        const Steps graph = decoder.decode(n);
        QCOMPARE(graph.failed, -1);
        QCOMPARE(graph.logits, plain.logits);
        QCOMPARE(graph.largest, plain.largest);
        for (std::size_t i = 0; i < graph.largest.size(); ++i) {
            for (int b = 0; b < n_row; ++b) {
                const auto vocab = static_cast<std::ptrdiff_t>(graph.logits[i].size()) / n_row;
                const auto from = graph.logits[i].begin() + b * vocab;
                QCOMPARE(graph.largest[i][static_cast<std::size_t>(b)],
                         static_cast<std::int32_t>(std::max_element(from, from + vocab) - from));
            }
        }
        // The prompt and the first step are launched kernel by kernel, all others as a graph.
        QCOMPARE(cuda_shim::counts().graph_launches, std::int64_t{n - 1});
        QCOMPARE(cuda_shim::counts().kernels_run, 2 * run);
        const std::int64_t of_graphs = cuda_shim::counts().launches - launched - uploads;
        QVERIFY(of_graphs * 2 < launched);
    }

    void whatCannotBeAGraphIsNone_data() {
        QTest::addColumn<CacheSpec>("cache");
        QTest::addColumn<bool>("fresh");
        QTest::newRow("concat") << cache_of(CacheKind::concat) << false;
        QTest::newRow("window") << cache_of(CacheKind::window) << false;
        QTest::newRow("static, buffers allocated afresh") << cache_of(CacheKind::static_) << true;
    }
    void whatCannotBeAGraphIsNone() {
        QFETCH(CacheSpec, cache);
        QFETCH(bool, fresh);
        const AllocationPolicy policy = fresh ? AllocationPolicy::fresh : AllocationPolicy::reused;
        CudaFixture cuda;
        const Steps plain = Decoder(cuda, "tiny", cache, false, policy).decode(6);
        const Steps asked = Decoder(cuda, "tiny", cache, true, policy).decode(6);
        QCOMPARE(asked.failed, -1);
        QCOMPARE(asked.logits, plain.logits);
        QCOMPARE(cuda_shim::counts().graph_launches, std::int64_t{0});
    }

    // Two lanes take turns: each step is launched from its own graph.
    void lanesDoNotTakeEachOthersGraphs() {
        CudaFixture cuda;
        const CacheSpec cache = cache_of(CacheKind::static_);
        const Steps plain = Decoder(cuda, "tiny", cache, false).decode(8);
        Decoder first(cuda, "tiny", cache, true);
        Decoder second(cuda, "tiny", cache, true);
        for (int step = 0; step <= 8; ++step) {
            // The second lane is one step ahead, so that wrong memory shows.
            if (step == 0) QVERIFY(second.call(n_prompt, 0));
            for (int repeat = 0; repeat < 2; ++repeat) {
                Decoder& lane = repeat == 0 ? first : second;
                const int mine = repeat == 0 ? step : step + 1;
                if (mine > 8) continue;
                const auto output = lane.call(mine == 0 ? n_prompt : 1, mine);
                QVERIFY(output);
                const std::vector<float> logits(output->logits.begin(), output->logits.end());
                QCOMPARE(logits, plain.logits[static_cast<std::size_t>(mine)]);
            }
        }
    }

    void trimmingBetweenStepsChangesNothing() {
        CudaFixture cuda;
        const CacheSpec cache = cache_of(CacheKind::static_);
        const Steps plain = Decoder(cuda, "tiny", cache, false).decode(8);
        Decoder decoder(cuda, "tiny", cache, true);
        for (int step = 0; step <= 8; ++step) {
            const auto output = decoder.call(step == 0 ? n_prompt : 1, step);
            QVERIFY(output);
            const std::vector<float> logits(output->logits.begin(), output->logits.end());
            QCOMPARE(logits, plain.logits[static_cast<std::size_t>(step)]);
            if (step == 4) cuda.backend->memory()->trim();
        }
        // Steps 2 to 4, and 6 to 8 after another one that was launched plainly.
        QCOMPARE(cuda_shim::counts().graph_launches, std::int64_t{6});
        QCOMPARE(cuda_shim::live().graphs, std::size_t{1});
    }

    void stoppingLeavesEverythingUsable_data() {
        QTest::addColumn<int>("at");
        for (const int at : {1, 2, 3, 4}) QTest::addRow("step %d", at) << at;
    }
    void stoppingLeavesEverythingUsable() {
        QFETCH(int, at);
        CudaFixture cuda;
        const CacheSpec cache = cache_of(CacheKind::static_);
        const Steps plain = Decoder(cuda, "tiny", cache, false).decode(6);
        Decoder decoder(cuda, "tiny", cache, true);
        for (int step = 0; step <= 6; ++step) {
            if (step == at) {
                std::stop_source stop;
                stop.request_stop();
                const auto stopped = decoder.call(1, step, stop.get_token());
                QVERIFY(!stopped);
                QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
            }
            const auto output = decoder.call(step == 0 ? n_prompt : 1, step);
            QVERIFY(output);
            const std::vector<float> logits(output->logits.begin(), output->logits.end());
            QCOMPARE(logits, plain.logits[static_cast<std::size_t>(step)]);
        }
        QCOMPARE(cuda_shim::counts().open_ranges, 0);
    }

    // A kernel of step 4 fails: steps 0 to 3 are fine, step 4 says so, and nothing is left behind.
    void aFailureSurfacesAtItsStep_data() {
        QTest::addColumn<bool>("graph");
        QTest::addColumn<int>("kernel");
        for (const bool graph : {false, true}) {
            for (const int kernel : {1, 9, 20})
                QTest::addRow("%s, kernel %d", graph ? "graph" : "plain", kernel) << graph << kernel;
        }
    }
    void aFailureSurfacesAtItsStep() {
        QFETCH(bool, graph);
        QFETCH(int, kernel);
        CudaFixture cuda;
        {
            Decoder decoder(cuda, "tiny", cache_of(CacheKind::static_), graph);
            for (int step = 0; step < 4; ++step) QVERIFY(decoder.call(step == 0 ? n_prompt : 1, step));
            cuda_shim::fail_launch(kernel);
            const auto failed = decoder.call(1, 4);
            QVERIFY(!failed);
            QCOMPARE(failed.error().kind, ErrorKind::device);
            QCOMPARE(
                failed.error().message,
                std::string("cuda:0, call of 3 tokens: CUDA: cudaStreamSynchronize failed: illegal memory "
                            "access (cudaErrorIllegalAddress)."));
            const auto after = decoder.call(1, 4);
            QVERIFY(!after);
            QCOMPARE(after.error().kind, ErrorKind::device);
        }
        cuda.backend.reset();
        cuda.ledger.reset();
    }

    void profilersSeeStepsLayersAndBlocks() {
        CudaFixture cuda;
        QCOMPARE(Decoder(cuda, "tiny", cache_of(CacheKind::static_), false).decode(2).failed, -1);
        for (const char* name : {"step of 15 tokens", "step of 3 tokens", "layer 0", "layer 1", "embedding",
                                 "attention", "feed-forward", "head"})
            QVERIFY2(cuda_shim::had_range(name), name);
        QVERIFY(!cuda_shim::had_range("layer 2"));
        QCOMPARE(cuda_shim::counts().open_ranges, 0);
        // Per step: itself, the embedding, two layers of two blocks, the head.
        QCOMPARE(cuda_shim::counts().ranges, std::int64_t{3 * 9});
    }

    // As it would be chosen from the logits that come back; draws that change from step to step are no other
    // graph.
    void tokensAreDrawn_data() {
        QTest::addColumn<bool>("graph");
        QTest::addColumn<bool>("fresh");
        QTest::newRow("plain") << false << false;
        QTest::newRow("graph") << true << false;
        QTest::newRow("fresh memory") << false << true;
    }
    void tokensAreDrawn() {
        QFETCH(bool, graph);
        QFETCH(bool, fresh);
        constexpr int n = 8;
        const Sampling sampling{SamplingKind::sample, 1.5, 60, 3, 0.98, 0.001, 1};
        CudaFixture cuda;
        Decoder decoder(cuda, "tiny", cache_of(CacheKind::static_), graph,
                        fresh ? AllocationPolicy::fresh : AllocationPolicy::reused);
        decoder.sample(sampling);
        const Steps steps = decoder.decode(n);
        QCOMPARE(steps.failed, -1);
        int different = 0;
        for (std::size_t step = 0; step < steps.drawn.size(); ++step) {
            QCOMPARE(steps.drawn[step].size(), std::size_t{n_row});
            const std::size_t vocab = steps.logits[step].size() / n_row;
            for (std::size_t row = 0; row < n_row; ++row) {
                const std::span logits = std::span(steps.logits[step]).subspan(row * vocab, vocab);
                Sampler sampler(sampling, static_cast<int>(row));
                QCOMPARE(steps.drawn[step][row], *sampler.choose(logits, std::int64_t(step), {}));
                different += steps.drawn[step][row] != steps.largest[step][row];
            }
        }
        QVERIFY(different > n);
        // The prompt and the first step of a token are launched plainly.
        QCOMPARE(cuda_shim::counts().graph_launches, std::int64_t{graph ? n - 1 : 0});
        // What nobody draws is not said to be drawn.
        QVERIFY(Decoder(cuda, "tiny", cache_of(CacheKind::static_), graph).decode(1).drawn.back().empty());
    }

    void drawsWithoutLogitsAreRefused() {
        CudaFixture cuda;
        const auto weights = *cuda.backend->prepare(host_model("tiny"), WeightType::f32, cuda.ledger);
        Workspace workspace(cuda.ledger);
        CallTokens tokens;
        tokens.add_row(std::vector<std::int32_t>{1, 2, 3}, 0);
        const std::vector<TokenDraw> draws(2);
        const std::vector<std::int32_t> rows = last_rows(tokens);
        const auto output =
            forward(*weights, tokens, WantedLogits(rows, draws), nullptr, {}, workspace, *cuda.backend);
        QVERIFY(!output);
        QCOMPARE(output.error().message,
                 std::string("Forward: 2 draws from 1 rows of logits were asked for."));
    }

    // Wherever memory runs out, what was there before is there again, and the next one has enough.
    void memoryThatRunsOutLeavesTheDeviceUsable() {
        CudaFixture cuda;
        const Steps plain = Decoder(cuda, "tiny-llama", cache_of(CacheKind::concat), false).decode(3);
        const auto host =
            test::lively_weights(*preset_config("tiny-llama"), 5, std::make_shared<MemoryLedger>());
        const auto kept = *cuda.backend->prepare(host, WeightType::f32, cuda.ledger);
        cuda.backend->memory()->trim();
        const std::uint64_t base = cuda.backend->memory()->use()->device_used;
        const std::uint64_t live = cuda.ledger->total();
        int failures = 0;
        for (int nth = 1; nth < 60; ++nth) {
            {
                const ModelConfig& config = kept->config;
                Workspace workspace(cuda.ledger);
                auto cache = make_cache(cache_of(CacheKind::concat),
                                        {config.n_layer, 1, config.n_kv_head, config.head_dim},
                                        {32, 8, 0, {}}, cuda.ledger);
                QVERIFY(cache);
                CallTokens tokens;
                cuda_shim::fail_allocation(nth);
                for (int step = 0; step < 3; ++step) {
                    tokens.clear();
                    tokens.add_row(std::vector<std::int32_t>{step + 1}, step);
                    const auto output =
                        forward(*kept, tokens, last_rows(tokens), cache->get(), {}, workspace, *cuda.backend);
                    if (output) continue;
                    QCOMPARE(output.error().kind, ErrorKind::out_of_memory);
                    ++failures;
                    break;
                }
                cuda_shim::fail_allocation(0);
            }
            QCOMPARE(cuda.ledger->total(), live);
            cuda.backend->memory()->trim();
            QCOMPARE(cuda.backend->memory()->use()->device_used, base);
        }
        QVERIFY(failures > 10);
        QCOMPARE(Decoder(cuda, "tiny-llama", cache_of(CacheKind::concat), false).decode(3).logits,
                 plain.logits);
    }
};

QTEST_GUILESS_MAIN(TstCudaSteps)
#include "tst_cuda_steps.moc"
