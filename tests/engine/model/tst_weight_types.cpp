// SPDX-License-Identifier: GPL-3.0-or-later
// Models whose matrices are prepared in every type, against the same weights in f32 through the reference
// library.
#include <QTest>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/packed_matrix.h"
#include "engine/model/forward.h"
#include "engine/verify/logit_comparison.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;

namespace {

/// A model in f32 whose matrices hold what a prepared model computes with.
struct Dequantised {
    std::shared_ptr<Weights> weights;
    std::vector<std::vector<float>> matrices;

    explicit Dequantised(const std::shared_ptr<const Weights>& prepared) : weights(view_of(prepared)) {
        for (LayerWeights& layer : weights->layers) {
            for_each_product(layer, [&](Linear& linear) {
                if (linear.packed != nullptr) unpack(linear);
            });
        }
        unpack(weights->head);
    }

private:
    void unpack(Linear& linear) {
        const auto n_in = static_cast<std::size_t>(linear.n_in);
        std::vector<float>& matrix = matrices.emplace_back(n_in * static_cast<std::size_t>(linear.n_out));
        for (int row = 0; row < linear.n_out; ++row)
            linear.packed->unpack(row, matrix.data() + static_cast<std::size_t>(row) * n_in);
        linear = linear.with_weight(matrix.data());
    }
};

/// Logits of every token, fed in pieces of `piece` to a cache, or at once without one.
std::vector<float> logits_of(const Weights& weights, int n, int piece, Backend& backend) {
    const auto ledger = std::make_shared<MemoryLedger>();
    const ModelConfig& config = weights.config;
    Workspace workspace(ledger);
    std::unique_ptr<KvCache> cache;
    if (piece > 0) {
        cache =
            *make_cache({.kind = CacheKind::static_}, {config.n_layer, 1, config.n_kv_head, config.head_dim},
                        {n, piece, 0, {}}, ledger);
    }
    std::vector<float> logits;
    for (int begin = 0; begin<n; begin += piece> 0 ? piece : n) {
        CallTokens call;
        const int end = piece > 0 ? std::min(n, begin + piece) : n;
        for (int i = begin; i < end; ++i) call.add(i * 7 % config.vocab, i);
        call.end_row();
        const auto output = forward(weights, call, all_rows(call), cache.get(), {}, workspace, backend);
        if (!output) return {};
        logits.insert(logits.end(), output->logits.begin(), output->logits.end());
    }
    return logits;
}

/// Largest error of any row, relative to its standard deviation.
double largest_error(const std::vector<float>& found, const std::vector<float>& right, std::size_t vocab) {
    double worst = found.size() == right.size() && !right.empty() ? 0 : 1e9;
    for (std::size_t i = 0; i + vocab <= right.size() && worst < 1e9; i += vocab) {
        worst = std::max(worst,
                         compare_logits({found.data() + i, vocab}, {right.data() + i, vocab}).relative_error);
    }
    return worst;
}

/// The limit for f32 inputs is the one of every f32 path; what rounding the inputs costs is stated in
/// engine/README.md.
double limit_of(WeightType type) {
    switch (type) {
        case WeightType::f32:
        case WeightType::f16: return 1e-4;
        case WeightType::bf16: return 0.1;
        case WeightType::int8:
        case WeightType::int4: break;
    }
    return 0.25;
}

}  // namespace

class TestWeightTypes : public QObject {
    Q_OBJECT

private slots:
    void isTheSameModel_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<int>("type");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            for (const WeightType type : all_weight_types)
                QTest::addRow("%s, %s", preset, to_string(type)) << QString(preset) << static_cast<int>(type);
        }
    }
    void isTheSameModel() {
        QFETCH(QString, preset);
        QFETCH(int, type);
        const auto kind = static_cast<WeightType>(type);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto backend = make_cpu_backend(2);
        ModelConfig config = *preset_config(preset.toStdString());
        config.d_ff = 128;  // whole groups
        const auto weights = test::lively_weights(config, 5, ledger);
        const auto packed = test::prepared(weights, *backend, kind);
        QVERIFY(packed != nullptr);
        const Dequantised plain(packed);
        const auto vocab = static_cast<std::size_t>(weights->config.vocab);
        const int n = 40;
        const auto right = logits_of(*plain.weights, n, 0, *backend);
        for (const int piece : {0, 1, 3, 17}) {
            const double error = largest_error(logits_of(*packed, n, piece, *backend), right, vocab);
            QVERIFY2(error <= limit_of(kind),
                     qPrintable(QStringLiteral("pieces of %1: %2").arg(piece).arg(error)));
        }
        // And it is not simply the f32 model.
        const double rounding = largest_error(right, logits_of(*weights, n, 0, *backend), vocab);
        QCOMPARE(rounding > 1e-4, kind != WeightType::f32);
    }
};

QTEST_GUILESS_MAIN(TestWeightTypes)
#include "tst_weight_types.moc"
