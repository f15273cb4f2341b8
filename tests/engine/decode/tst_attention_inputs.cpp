// SPDX-License-Identifier: GPL-3.0-or-later
// Attention weights as they are shown: the values they weigh add up to what the kernel made, for every kind
// of lane; and they are those of transformers.
#include <QTest>

#include <cmath>

#include "engine/decode/attention_inputs.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;

namespace {

/// Compares with every attention that a lane computes.
class Checker final : public CallObserver {
public:
    void called(const SeenCall&) override { ++n_call; }
    bool wants_logits() const override { return false; }

    void attention(int layer, const AttentionCall& call) override {
        const AttentionInputs inputs = copy_inputs(layer, call);
        const AttentionPlan& plan = *call.plan;
        const auto width = static_cast<std::size_t>(call.head_dim);
        std::vector<float> weights;
        std::vector<float> value(width);
        for (int b = 0; b < plan.batch(); ++b) {
            weights.resize(static_cast<std::size_t>(plan.n_slot(b)));
            for (int q = 0; q < plan.n_query(b); ++q) {
                for (int head = 0; head < call.n_head; ++head) {
                    attention_weights(inputs, plan, b, q, head, weights);
                    std::vector<double> mixed(width);
                    double sum = 0;
                    for (int slot = 0; slot < plan.n_slot(b); ++slot) {
                        const double weight = weights[static_cast<std::size_t>(slot)];
                        sum += weight;
                        if (!plan.sees(b, q, slot)) n_leak += weight != 0;
                        if (weight == 0) continue;
                        read_value(call, b, head, slot, value);
                        for (std::size_t i = 0; i < width; ++i) mixed[i] += weight * value[i];
                    }
                    const bool blind = plan.visible(b, q).empty();
                    worst_sum = std::max(worst_sum, std::abs(sum - (blind ? 0 : 1)));
                    const float* out = call.out + (plan.first_query(b) + q) * call.n_head * call.head_dim +
                                       head * call.head_dim;
                    for (std::size_t i = 0; i < width; ++i) {
                        worst = std::max(worst, std::abs(mixed[i] - out[i]));
                        largest = std::max(largest, std::abs(static_cast<double>(out[i])));
                    }
                    ++n_compared;
                }
            }
        }
    }

    int n_call = 0;
    int n_compared = 0;
    int n_leak = 0;
    double worst = 0;
    double largest = 0;
    double worst_sum = 0;

private:
    static void read_value(const AttentionCall& call, int b, int head, int slot, std::vector<float>& value) {
        const int group = call.n_head / call.n_kv_head;
        const int kv_head = call.head_order == HeadOrder::grouped ? head / group : head % call.n_kv_head;
        if (call.kv.source != nullptr) {
            call.kv.source->read(call.kv.layer, b, kv_head, {slot, slot + 1}, nullptr, value.data());
            return;
        }
        const std::int64_t row =
            call.kv.by_token ? call.plan->first_query(b) * call.kv.slot_stride : b * call.kv.batch_stride;
        const float* from =
            call.kv.v + row + kv_head * call.kv.head_stride + std::int64_t{slot} * call.kv.slot_stride;
        std::copy_n(from, value.size(), value.begin());
    }
};

}  // namespace

class AttentionInputsTest : public QObject {
    Q_OBJECT

private slots:
    void weighedValuesAreTheOutput_data();
    void weighedValuesAreTheOutput();
};

void AttentionInputsTest::weighedValuesAreTheOutput_data() {
    QTest::addColumn<QByteArray>("lane");
    QTest::addColumn<QByteArray>("preset");
    for (const char* preset : {"tiny", "tiny-llama"}) {
        for (const char* lane :
             {"naive", "naive-batch", "concat", "static", "paged", "window", "int8", "kivi2", "f16", "batch",
              "batch-right", "batch-packed", "continuous", "speculative", "beam", "static+mask-upper-left",
              "static+spare-slots-visible", "static+heads-tiled", "batch+pad-mask-none"})
            // There is nothing to mix up where every head has keys of its own.
            if (std::string_view(lane) != "static+heads-tiled" || std::string_view(preset) != "tiny")
                QTest::addRow("%s, %s", lane, preset) << QByteArray(lane) << QByteArray(preset);
    }
}

void AttentionInputsTest::weighedValuesAreTheOutput() {
    QFETCH(QByteArray, lane);
    QFETCH(QByteArray, preset);
    test::LaneFixture fixture(64, preset.constData());
    LaneSpec spec = *lane_from_name(lane.constData());
    spec.prefill_chunk = 4;
    if (spec.mode == LaneMode::naive) spec.prefill_chunk = 0;
    if (spec.cache.kind == CacheKind::window) spec.window = {6, 1};
    if (spec.cache.kind == CacheKind::kivi) spec.cache.group = spec.cache.residual = 8;
    if (lane.contains("spare")) spec.cache.capacity = 40;
    const auto made = fixture.lane(spec);
    QVERIFY(made != nullptr);
    Checker checker;
    made->observe(&checker);
    Workload workload;
    const int n_request = spec.mode == LaneMode::beam ? 1 : 3;
    for (int i = 0; i < n_request; ++i) {
        Request request;
        for (int k = 0; k < 9 + 2 * i; ++k) request.prompt.push_back((7 * k + 3 * i + k * k) % 50);
        request.new_tokens = 12;
        workload.requests.push_back(request);
    }
    QVERIFY(made->start(workload).ok());
    while (true) {
        const auto ready = made->ready();
        QVERIFY(ready.ok());
        if (!*ready) break;
        QVERIFY(made->step().ok());
    }
    QVERIFY(checker.n_call > 5);
    QVERIFY(checker.n_compared > 100);
    QCOMPARE(checker.n_leak, 0);
    QVERIFY(checker.worst_sum < 1e-5);
    QVERIFY(checker.largest > 0.01);
    QVERIFY2(checker.worst < 2e-5 * std::max(1.0, checker.largest),
             qPrintable(QString::number(checker.worst)));
}

QTEST_APPLESS_MAIN(AttentionInputsTest)
#include "tst_attention_inputs.moc"
