// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/packed_matrix.h"
#include "engine/core/as_index.h"
#include "engine/model/preset.h"
#include "tests/engine/backend/random_floats.h"
#include "tests/only_target.h"

using namespace decodescope;
using test::random_floats;

namespace {

/// A packed matrix with the bytes it lies in.
struct Packed {
    Buffer bytes;
    PackedMatrix matrix;

    Packed(WeightType type, int n_in, int n_out, const std::vector<float>& weight)
        : bytes(*Buffer::allocate(std::make_shared<MemoryLedger>(), Owner::weights,
                                  PackedMatrix::bytes(type, n_in, n_out))),
          matrix(type, n_in, n_out, bytes.data()) {
        for (int panel = 0; panel < matrix.n_panel(); ++panel) matrix.pack(weight.data(), panel);
    }
    std::vector<float> unpacked() const {
        std::vector<float> all(as_index(matrix.n_out()) * as_index(matrix.n_in()));
        for (int row = 0; row < matrix.n_out(); ++row)
            matrix.unpack(row, all.data() + as_index(row) * as_index(matrix.n_in()));
        return all;
    }
};

/// Scratch of a product, as a workspace gives it.
Buffer scratch_of(const Backend& backend, const Linear& linear, int rows, const Linear* gate) {
    return *Buffer::floats(std::make_shared<MemoryLedger>(), Owner::workspace,
                           as_index(backend.product_floats(linear, rows, gate)));
}

double activated(Activation activation, double x) {
    switch (activation) {
        case Activation::gelu_tanh:
            return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
        case Activation::gelu_erf: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
        case Activation::silu: return x / (1 + std::exp(-x));
        case Activation::relu: return std::max(x, 0.0);
    }
    return x;
}

std::vector<double> normed(const std::vector<float>& x, int rows, int n, const ProductCall& call) {
    std::vector<double> out(x.begin(), x.end());
    if (call.norm == nullptr) return out;
    for (int r = 0; r < rows; ++r) {
        double* row = out.data() + as_index(r) * as_index(n);
        double mean = 0;
        if (call.norm_kind == NormKind::layer_norm) {
            for (int i = 0; i < n; ++i) mean += row[i] / n;
        }
        double square = 0;
        for (int i = 0; i < n; ++i) square += (row[i] - mean) * (row[i] - mean) / n;
        for (int i = 0; i < n; ++i) {
            row[i] = (row[i] - mean) / std::sqrt(square + double{call.eps}) * double{call.norm->weight[i]};
            if (call.norm_kind == NormKind::layer_norm) row[i] += double{call.norm->bias[i]};
        }
    }
    return out;
}

std::vector<double> products(const std::vector<double>& x, int rows, const std::vector<float>& w,
                             const float* bias, int n_in, int n_out) {
    std::vector<double> y(as_index(rows) * as_index(n_out));
    for (int r = 0; r < rows; ++r) {
        for (int o = 0; o < n_out; ++o) {
            double sum = bias != nullptr ? double{bias[o]} : 0.0;
            for (int i = 0; i < n_in; ++i)
                sum += x[as_index(r) * as_index(n_in) + as_index(i)] *
                       double{w[as_index(o) * as_index(n_in) + as_index(i)]};
            y[as_index(r) * as_index(n_out) + as_index(o)] = sum;
        }
    }
    return y;
}

/// Largest difference over the root of the mean square of what is right.
double relative_error(const std::vector<float>& y, const std::vector<double>& right) {
    double worst = 0;
    double square = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double difference = std::abs(double{y[i]} - right[i]);
        worst = difference <= worst ? worst : difference;  // a NaN stays
        square += right[i] * right[i];
    }
    return worst / std::sqrt(square / static_cast<double>(y.size()));
}

/// What rounding the inputs may cost: nothing for f32 inputs, 2^-9 of each for bf16, 1/254 of the largest of
/// 32 for bytes; sums of many such errors stay well below their largest value.
double error_limit(WeightType type, int rows) {
    // Tiles multiply many rows with codes that became bf16.
    if (has_groups(type) && rows >= 48 && has_tiles()) return 0.02;
    if (has_groups(type)) return has_byte_dots() ? 0.05 : 1e-5;
    return type == WeightType::bf16 && rows > 8 && (has_fast_bf16_dots() || has_tiles()) ? 0.02 : 1e-5;
}

}  // namespace

class TestPackedProduct : public QObject {
    Q_OBJECT

private:
    static void addTypes() {
        QTest::addColumn<int>("type");
        for (const WeightType type : all_weight_types)
            QTest::newRow(to_string(type)) << static_cast<int>(type);
    }

private slots:
    void packsEveryWeight_data() { addTypes(); }
    void packsEveryWeight() {
        QFETCH(int, type);
        const auto kind = static_cast<WeightType>(type);
        for (const auto& [n_in, n_out] : {std::pair{64, 16}, std::pair{96, 37}, std::pair{7, 3}}) {
            if (!PackedMatrix::fits(kind, n_in)) continue;
            const auto w = random_floats(1, std::int64_t{n_in} * n_out);
            const auto back = Packed(kind, n_in, n_out, w).unpacked();
            for (int o = 0; o < n_out; ++o) {
                for (int i = 0; i < n_in; ++i) {
                    const std::size_t place = as_index(o) * as_index(n_in) + as_index(i);
                    float largest = 0;  // of its group
                    for (int k = i / 32 * 32; k < std::min(n_in, i / 32 * 32 + 32); ++k)
                        largest = std::max(largest, std::abs(w[as_index(o) * as_index(n_in) + as_index(k)]));
                    const float step = kind == WeightType::f32    ? 0.0f
                                       : kind == WeightType::f16  ? std::abs(w[place]) * 0x1p-11f
                                       : kind == WeightType::bf16 ? std::abs(w[place]) * 0x1p-8f
                                       : kind == WeightType::int8 ? largest / 127 * 0.51f
                                                                  : largest / 8 * 1.01f;
                    QVERIFY2(std::abs(back[place] - w[place]) <= step,
                             qPrintable(QString::number(back[place])));
                }
            }
        }
    }

    void largestOfAGroupIsKept() {
        // Scales that f16 holds exactly: nothing is lost.
        std::vector<float> w(64);
        for (int i = 0; i < 64; ++i)
            w[as_index(i)] = static_cast<float>(i % 32 - 8) * (i < 32 ? 0.25f : -2.0f);
        for (int i = 0; i < 64; ++i) w[as_index(i)] = i % 32 < 16 ? w[as_index(i)] : 0.0f;
        QCOMPARE(Packed(WeightType::int4, 64, 1, w).unpacked(), w);
    }

    void hidesNothing_data() { addTypes(); }
    void hidesNothing() {
        QFETCH(int, type);
        const auto kind = static_cast<WeightType>(type);
        const auto backend = make_cpu_backend(1);
        for (const bool in_weight : {true, false}) {
            for (const float bad :
                 {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
                auto w = random_floats(1, 64 * 20);
                auto x = random_floats(2, 64);
                (in_weight ? w[3 * 64 + 40] : x[40]) = bad;
                const Packed packed(kind, 64, 20, w);
                const Linear linear{w.data(), nullptr, 64, 20, &packed.matrix};
                std::vector<float> y(20);
                Buffer scratch = scratch_of(*backend, linear, 1, nullptr);
                std::int32_t largest = 0;
                ProductCall call;
                call.x = x.data();
                call.rows = 1;
                call.w = &linear;
                call.y = y.data();
                call.scratch = scratch.f32();
                call.largest = &largest;
                backend->product(call);
                for (int o = 0; o < 20; ++o) QCOMPARE(std::isfinite(y[as_index(o)]), in_weight && o != 3);
                QCOMPARE(largest, -1);
            }
        }
    }

    void product_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<qint64>("target");
        QTest::addColumn<int>("n_in");
        QTest::addColumn<int>("n_out");
        for (const std::int64_t target : kernel_targets(HWY_SSSE3 | HWY_SSE4)) {
            for (const WeightType type : all_weight_types) {
                for (const auto& [n_in, n_out] : {std::pair{7, 5}, std::pair{96, 40}, std::pair{320, 201}}) {
                    if (!PackedMatrix::fits(type, n_in)) continue;
                    QTest::addRow("%s, %s, %d -> %d", hwy::TargetName(target), to_string(type), n_in, n_out)
                        << static_cast<int>(type) << qint64{target} << n_in << n_out;
                }
            }
        }
    }
    void product() {
        QFETCH(int, type);
        QFETCH(qint64, target);
        QFETCH(int, n_in);
        QFETCH(int, n_out);
        const OnlyTarget only(target);
        const auto kind = static_cast<WeightType>(type);
        const auto w = random_floats(1, std::int64_t{n_in} * n_out);
        const auto g = random_floats(2, std::int64_t{n_in} * n_out);
        const auto b = random_floats(3, n_out);
        const auto scale = random_floats(4, n_in);
        const auto shift = random_floats(5, n_in);
        const Packed packed_w(kind, n_in, n_out, w);
        const Packed packed_g(kind, n_in, n_out, g);
        const auto used_w = packed_w.unpacked();
        const auto used_g = packed_g.unpacked();
        const Norm norm{scale.data(), shift.data()};
        const auto backend = make_cpu_backend(2);
        const auto alone = make_cpu_backend(1);
        int i = 0;
        for (const int rows : {1, 2, 3, 5, 8, 11, 12, 13, 16, 30, 51}) {
            for (const int what : {0, 1, 2, 3, 4}) {
                ++i;
                const auto x = random_floats(as_index(100 + i), std::int64_t{rows} * n_in);
                auto y = random_floats(as_index(200 + i), std::int64_t{rows} * n_out);
                const Linear linear{w.data(), i % 2 == 0 ? b.data() : nullptr, n_in, n_out, &packed_w.matrix};
                const Linear gate{g.data(), nullptr, n_in, n_out, &packed_g.matrix};
                Buffer scratch = scratch_of(*backend, linear, rows, &gate);
                std::vector<std::int32_t> largest(as_index(rows));
                ProductCall call;
                call.x = x.data();
                call.rows = rows;
                call.w = &linear;
                call.scratch = scratch.f32();
                call.eps = 1e-5f;
                call.accumulate = what == 0;
                if (what >= 1) call.norm = &norm;
                call.norm_kind = what % 2 == 0 ? NormKind::rms_norm : NormKind::layer_norm;
                if (what == 2) call.activation = Activation::gelu_tanh;
                if (what == 3) call.activation = Activation::gelu_erf;
                if (what == 4) {
                    call.gate = &gate;
                    call.activation = Activation::silu;
                }
                call.largest = largest.data();

                const auto in = normed(x, rows, n_in, call);
                auto right = products(in, rows, used_w, linear.bias, n_in, n_out);
                const auto gates = products(in, rows, used_g, nullptr, n_in, n_out);
                for (std::size_t k = 0; k < right.size(); ++k) {
                    if (call.gate != nullptr)
                        right[k] *= activated(*call.activation, gates[k]);
                    else if (call.activation)
                        right[k] = activated(*call.activation, right[k]);
                    if (call.accumulate) right[k] += double{y[k]};
                }
                auto second = y;
                call.y = y.data();
                backend->product(call);
                const double error = relative_error(y, right);
                // Two sums that are multiplied are wrong by both, and far from their middle.
                QVERIFY2(error < error_limit(kind, rows) * (call.gate != nullptr ? 4 : 1),
                         qPrintable(QStringLiteral("%1 rows, case %2: %3").arg(rows).arg(what).arg(error)));
                for (int r = 0; r < rows; ++r) {
                    const auto row = y.begin() + std::ptrdiff_t{r} * n_out;
                    QCOMPARE(largest[as_index(r)], std::max_element(row, row + n_out) - row);
                }
                call.y = second.data();
                alone->product(call);
                QVERIFY2(y == second, "differs with the number of threads");
                if (rows > 3 || kind == WeightType::bf16) continue;
                // A row does not depend on what is computed beside it.
                std::vector<float> first(as_index(n_out));
                auto fresh = random_floats(as_index(200 + i), std::int64_t{rows} * n_out);
                std::copy_n(fresh.begin(), n_out, first.begin());
                call.rows = 1;
                call.y = first.data();
                alone->product(call);
                QVERIFY(std::equal(first.begin(), first.end(), y.begin()));
            }
        }
    }

    // Replays change one matrix of a prepared model, which then lies in f32 beside the others.
    void gateAndUpNeedNotBothBePrepared() {
        const auto w = random_floats(1, 96 * 40);
        const auto g = random_floats(2, 96 * 40);
        const Packed packed(WeightType::f32, 96, 40, w);
        const auto x = random_floats(3, 5 * 96);
        const auto backend = make_cpu_backend(2);
        const Linear prepared{w.data(), nullptr, 96, 40, &packed.matrix};
        const Linear plain{g.data(), nullptr, 96, 40, nullptr};
        const auto in = std::vector<double>(x.begin(), x.end());
        for (const bool gate_is_prepared : {false, true}) {
            const Linear& up = gate_is_prepared ? plain : prepared;
            const Linear& gate = gate_is_prepared ? prepared : plain;
            Buffer scratch = scratch_of(*backend, up, 5, &gate);
            std::vector<float> y(5 * 40);
            ProductCall call;
            call.x = x.data();
            call.rows = 5;
            call.w = &up;
            call.gate = &gate;
            call.activation = Activation::silu;
            call.y = y.data();
            call.scratch = scratch.f32();
            backend->product(call);
            auto right = products(in, 5, gate_is_prepared ? g : w, nullptr, 96, 40);
            const auto gates = products(in, 5, gate_is_prepared ? w : g, nullptr, 96, 40);
            for (std::size_t k = 0; k < right.size(); ++k) right[k] *= activated(Activation::silu, gates[k]);
            QVERIFY(relative_error(y, right) < 4e-5);
        }
    }

    void preparedModelsAreShared() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto backend = make_cpu_backend(2);
        auto config = *preset_config("tiny");
        const auto weights = *random_weights(config, 1, ledger);
        const std::uint64_t before = ledger->live(Owner::weights);
        auto a = *backend->prepare(weights, WeightType::int8, ledger);
        const auto b = *backend->prepare(weights, WeightType::int8, ledger);
        const auto c = *backend->prepare(weights, WeightType::f32, ledger);
        QCOMPARE(a.get(), b.get());
        QVERIFY(a->head.packed != nullptr && c->head.packed != nullptr && weights->head.packed == nullptr);
        QCOMPARE(ledger->live(Owner::weights), before + a->prepared_bytes + c->prepared_bytes);
        QVERIFY(a->bytes_read_per_step() < c->bytes_read_per_step() / 2);
        QCOMPARE(first_layers(a, 1)->layers.front().attn_qkv.packed, a->layers.front().attn_qkv.packed);
    }

    void refusesWhatDoesNotFit() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto backend = make_cpu_backend(1);
        auto config = *preset_config("tiny");
        config.d_ff = 100;
        const auto weights = *random_weights(config, 1, ledger);
        const auto refused = backend->prepare(weights, WeightType::int4, ledger);
        QVERIFY(!refused);
        QVERIFY(refused.error().message.find("100") != std::string::npos);
        ledger->set_limit(ledger->total() + 1000);
        QCOMPARE(backend->prepare(weights, WeightType::f32, ledger).error().kind, ErrorKind::out_of_memory);
        ledger->set_limit(0);
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(backend->prepare(weights, WeightType::f32, ledger, stop.get_token()).error().kind,
                 ErrorKind::cancelled);
    }
};

QTEST_GUILESS_MAIN(TestPackedProduct)
#include "tst_packed_product.moc"
