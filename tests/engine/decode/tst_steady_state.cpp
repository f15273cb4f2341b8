// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <optional>

#include "engine/measure/allocation_count.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// Large enough that caches and work buffers are blocks of the system's own, with several pages of each.
ModelConfig config_of(const char* preset) {
    ModelConfig config = *preset_config(preset);
    config.vocab = 1024;
    config.n_positions = 512;
    config.d_model = 256;
    config.n_layer = 4;
    config.n_head = 8;
    config.n_kv_head = config.rotary ? 2 : 8;
    config.head_dim = 32;
    config.d_ff = 512;
    return config;
}

/// What the steps of a decode asked of the system.
struct Asked {
    std::int64_t heap = 0;
    std::int64_t tensors = 0;
    std::int64_t faults = 0;
};

}  // namespace

/// Once a decode runs, its steps ask nothing of the system: no memory and, so, no page faults. What else a
/// step may not ask for is in scripts/steadycheck.
class TestSteadyState : public QObject {
    Q_OBJECT

private slots:
    void stepsNeitherAllocateNorFault_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<WeightType>("type");
        QTest::addColumn<DType>("kv");
        QTest::addColumn<int>("threads");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            for (const WeightType type : all_weight_types) {
                for (const DType kv : {DType::f32, DType::f16}) {
                    for (const int threads : {1, 2}) {
                        QTest::addRow("%s, %s, %s cache, %d threads", preset, to_string(type), to_string(kv),
                                      threads)
                            << preset << type << kv << threads;
                    }
                }
            }
        }
    }

    void stepsNeitherAllocateNorFault() {
        QFETCH(QString, preset);
        QFETCH(WeightType, type);
        QFETCH(DType, kv);
        QFETCH(int, threads);
        if (read_allocation_count() < 0) QSKIP("this build counts no allocations and has pages of its own");
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto weights = random_weights(config_of(qPrintable(preset)), 1, ledger);
        QVERIFY(weights.ok());
        const auto backend = make_cpu_backend(threads);
        const auto prepared = backend->prepare(*weights, type, ledger);
        QVERIFY2(prepared.ok(), prepared ? "" : prepared.error().message.c_str());
        LaneSpec spec = named("static");
        spec.cache.dtype = kv;
        const auto lane = make_lane(spec, {*prepared, nullptr, backend.get(), ledger});
        QVERIFY(lane.ok());

        // What a step does by itself it does every time; the system moves pages about now and then.
        constexpr int n_try = 3;
        Asked least{1, 1, 1};
        for (int i = 0; i < n_try && least.faults > 0; ++i) {
            const auto asked = decode(**lane);
            QVERIFY(asked.has_value());
            QCOMPARE(asked->heap, 0);
            QCOMPARE(asked->tensors, 0);
            least = *asked;
        }
        QCOMPARE(least.faults, 0);
    }

private:
    static std::optional<Asked> decode(Lane& lane) {
        constexpr int n_token = 100;
        constexpr std::size_t n_warm_up = 8;
        const Trail trail = follow(lane, work_of({prompt_of_7}, n_token));
        if (!trail.error.empty() || trail.steps.size() != n_token) return std::nullopt;
        Asked asked;
        for (std::size_t i = n_warm_up; i < trail.steps.size(); ++i) {
            const LaneStep& step = trail.steps[i];
            if (step.minor_faults < 0) return std::nullopt;
            asked.heap += step.heap_allocations;
            asked.tensors += step.tensor_allocations;
            asked.faults += step.minor_faults;
        }
        return asked;
    }
};

QTEST_APPLESS_MAIN(TestSteadyState)
#include "tst_steady_state.moc"
