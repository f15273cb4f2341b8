// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels know slots of another kind.
#define QT_NO_KEYWORDS
#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/backend/backend.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/cache/entry_codec.h"
#include "engine/core/as_index.h"
#include "engine/model/rotary.h"
#include "tests/engine/backend/cuda/device_array.h"
#include "tests/engine/backend/random_floats.h"

using namespace decodescope;
using cuda::Stored;
using test::DeviceArray;
using test::random_floats;

namespace {

constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity_f = std::numeric_limits<float>::infinity();

bool same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

/// What is farthest off, as a share of the largest expected value; infinite where one is a NaN and the other
/// is not.
double worst(const std::vector<float>& out, const std::vector<float>& expected) {
    double worst = out.size() == expected.size() ? 0 : infinity_f;
    double scale = 1e-30;
    for (const float x : expected) {
        if (std::isfinite(x)) scale = std::max(scale, std::abs(double{x}));
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (same(out[i], expected[i])) continue;
        const double difference = std::abs(double{out[i]} - double{expected[i]}) / scale;
        worst = std::isfinite(difference) ? std::max(worst, difference) : infinity_f;
    }
    return worst;
}

DType dtype_of(Stored type) {
    return type == Stored::f16 ? DType::f16 : type == Stored::bf16 ? DType::bf16 : DType::f32;
}
std::vector<float> decoded(const std::vector<std::byte>& bytes, Stored type) {
    std::vector<float> x(bytes.size() / size_of(dtype_of(type)));
    decode_entries(dtype_of(type), bytes.data(), static_cast<std::int64_t>(x.size()), x.data());
    return x;
}
std::vector<float> rounded(const std::vector<float>& x, Stored type) {
    std::vector<std::byte> bytes(x.size() * size_of(dtype_of(type)));
    encode_entries(dtype_of(type), x.data(), static_cast<std::int64_t>(x.size()), bytes.data());
    return decoded(bytes, type);
}

/// Values that conversions get wrong: ties of every kind, ends of ranges, subnormals.
std::vector<float> hard_floats() {
    std::vector<float> x{0.0f,      -0.0f,         nan_f,     infinity_f,    -infinity_f,  65504.0f,
                         65519.99f, 65520.0f,      -65520.0f, 1e30f,         -3.4e38f,     6e-8f,
                         2.98e-8f,  2.9802322e-8f, 1e-40f,    6.1035156e-5f, 6.097555e-5f, 1e-7f};
    for (std::uint32_t exponent = 90; exponent < 145; ++exponent) {
        for (const std::uint32_t rest :
             {0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0x18000u, 0x7fffffu}) {
            x.push_back(std::bit_cast<float>(exponent << 23 | rest));
        }
    }
    return x;
}

class TestCudaKernels : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void embedsTokensAtTheirPositions_data() {
        QTest::addColumn<int>("d");
        QTest::addColumn<bool>("learned");
        for (const int d : {4, 7, 64, 768, 1030}) {
            for (const bool learned : {false, true}) QTest::addRow("%d, %d", d, learned) << d << learned;
        }
    }
    void embedsTokensAtTheirPositions() {
        QFETCH(int, d);
        QFETCH(bool, learned);
        const auto table = random_floats(1, 11 * d);
        const auto places = random_floats(2, 6 * d);
        const std::vector<std::int32_t> tokens{3, 10, 0, 3, 7};
        const std::vector<std::int32_t> positions{0, 5, 2, 0, 1};
        DeviceArray<float> device_table(table), device_places(places), out(tokens.size() * as_index(d));
        DeviceArray<std::int32_t> device_tokens(tokens), device_positions(positions);
        cuda::CallArrays call;
        call.n_token = static_cast<int>(tokens.size());
        call.tokens = device_tokens.data();
        call.positions = device_positions.data();
        cuda::embed(nullptr, call, device_table.data(), learned ? device_places.data() : nullptr, d,
                    out.data());
        std::vector<float> expected;
        for (std::size_t t = 0; t < tokens.size(); ++t) {
            for (int i = 0; i < d; ++i) {
                expected.push_back(table[as_index(tokens[t] * d + i)] +
                                   (learned ? places[as_index(positions[t] * d + i)] : 0.0f));
            }
        }
        QCOMPARE(out.read(), expected);
        QVERIFY(out.intact());
    }

    void picksRows_data() {
        QTest::addColumn<int>("d");
        for (const int d : {1, 8, 513, 2048}) QTest::addRow("%d", d) << d;
    }
    void picksRows() {
        QFETCH(int, d);
        auto x = random_floats(1, 9 * d);
        x[as_index(4 * d)] = nan_f;
        const std::vector<std::int32_t> rows{8, 4, 4, 0};
        DeviceArray<float> device_x(x), out(rows.size() * as_index(d));
        DeviceArray<std::int32_t> device_rows(rows);
        cuda::pick_rows(nullptr, device_x.data(), device_rows.data(), 4, d, out.data());
        std::vector<float> expected;
        for (const std::int32_t row : rows) {
            expected.insert(expected.end(), x.begin() + row * d, x.begin() + (row + 1) * d);
        }
        QCOMPARE(worst(out.read(), expected), 0.0);
        QVERIFY(out.intact());
    }

    void anglesAreTakenInDouble_data() {
        QTest::addColumn<int>("head_dim");
        for (const int head_dim : {8, 80, 128, 256}) QTest::addRow("%d", head_dim) << head_dim;
    }
    void anglesAreTakenInDouble() {
        QFETCH(int, head_dim);
        const std::vector<std::int32_t> positions{0, 1, 17, 131071, 4095};
        const std::vector<double> frequencies = rotary_frequencies({}, head_dim);
        std::vector<float> expected(positions.size() * as_index(head_dim));
        decodescope::rotary_turns(frequencies, 1.25, positions, expected.data());
        DeviceArray<std::int32_t> device_positions(positions);
        DeviceArray<double> device_frequencies(frequencies);
        DeviceArray<float> turns(expected.size());
        cuda::CallArrays call;
        call.n_token = static_cast<int>(positions.size());
        call.positions = device_positions.data();
        cuda::rotary_turns(nullptr, call, device_frequencies.data(), head_dim / 2, 1.25, turns.data());
        QVERIFY(worst(turns.read(), expected) < 1e-7);
        QVERIFY(turns.intact());
    }

    void turnsPairs_data() {
        QTest::addColumn<int>("head_dim");
        QTest::addColumn<int>("n_head");
        QTest::addColumn<RotaryPairs>("pairs");
        for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::neighbours}) {
            for (const int head_dim : {8, 24, 64, 80, 128, 256}) {
                QTest::addRow("%s, %d", to_string(pairs), head_dim)
                    << head_dim << (head_dim > 64 ? 3 : 12) << pairs;
            }
        }
    }
    void turnsPairs() {
        QFETCH(int, head_dim);
        QFETCH(int, n_head);
        QFETCH(RotaryPairs, pairs);
        constexpr int rows = 7;
        const std::int64_t stride = n_head * head_dim + 16;
        auto x = random_floats(1, rows * stride);
        x[as_index(3 * stride + 1)] = nan_f;
        const auto turns = random_floats(2, rows * head_dim);
        DeviceArray<float> device_x(x), device_turns(turns);
        cuda::rotate(nullptr, device_x.data(), stride, rows, n_head, head_dim, device_turns.data(), pairs);
        const auto backend = make_cpu_backend(1);
        backend->rotate({x.data(), stride, rows, n_head, head_dim}, turns.data(), pairs);
        QVERIFY(worst(device_x.read(), x) < 1e-6);
        QVERIFY(device_x.intact());
    }

    void normalises_data() {
        QTest::addColumn<NormKind>("kind");
        QTest::addColumn<int>("d");
        QTest::addColumn<float>("offset");
        for (const NormKind kind : {NormKind::layer_norm, NormKind::rms_norm}) {
            for (const int d : {1, 4, 7, 64, 129, 768, 4096, 5003}) {
                QTest::addRow("%s, %d", to_string(kind), d) << kind << d << 0.0f;
            }
            // Taken as the difference of two sums, the variance would be gone.
            QTest::addRow("%s, far from 0", to_string(kind)) << kind << 768 << 3000.0f;
        }
    }
    void normalises() {
        QFETCH(NormKind, kind);
        QFETCH(int, d);
        QFETCH(float, offset);
        constexpr int rows = 5;
        auto x = random_floats(1, rows * d);
        for (float& value : x) value += offset;
        x[as_index(2 * d)] = nan_f;
        std::fill_n(x.begin() + 3 * d, d, 0.0f);
        const auto weight = random_floats(2, d);
        const auto bias = random_floats(3, d);
        const bool has_bias = kind == NormKind::layer_norm;
        DeviceArray<float> device_x(x), device_weight(weight), device_bias(bias);
        const auto run = [&](void* y, Stored type) {
            cuda::normalise(nullptr, kind, device_x.data(), rows, d, device_weight.data(),
                            has_bias ? device_bias.data() : nullptr, 1e-5f, y, type);
        };
        std::vector<float> expected;
        for (int row = 0; row < rows; ++row) {
            const float* from = x.data() + row * d;
            const double mean = has_bias ? std::accumulate(from, from + d, 0.0) / d : 0.0;
            double square = 0;
            for (int i = 0; i < d; ++i) square += (double{from[i]} - mean) * (double{from[i]} - mean);
            const double factor = 1 / std::sqrt(square / d + 1e-5);
            for (int i = 0; i < d; ++i) {
                expected.push_back(
                    static_cast<float>((double{from[i]} - mean) * factor * double{weight[as_index(i)]} +
                                       (has_bias ? double{bias[as_index(i)]} : 0.0)));
            }
        }
        // At 3000 a float has steps of 0.0002.
        const double limit = offset > 0 && has_bias ? 1e-4 : 2e-6;
        DeviceArray<float> y(x.size());
        run(y.data(), Stored::f32);
        QVERIFY(worst(y.read(), expected) < limit);
        QVERIFY(y.intact());
        for (const Stored type : {Stored::f16, Stored::bf16}) {
            DeviceArray<std::byte> y16(x.size() * 2);
            run(y16.data(), type);
            QCOMPARE(worst(decoded(y16.read(), type), rounded(y.read(), type)), 0.0);
            QVERIFY(y16.intact());
        }
        run(device_x.data(), Stored::f32);  // in place
        QCOMPARE(worst(device_x.read(), y.read()), 0.0);
    }

    void convertsToNearestEven_data() {
        QTest::addColumn<int>("left_out");
        QTest::addColumn<Stored>("type");
        for (int left_out = 0; left_out < 4; ++left_out) {
            for (const Stored type : {Stored::f16, Stored::bf16}) {
                QTest::addRow("%d, %d", left_out, static_cast<int>(type)) << left_out << type;
            }
        }
    }
    void convertsToNearestEven() {
        QFETCH(int, left_out);
        QFETCH(Stored, type);
        auto x = hard_floats();
        const auto more = random_floats(5, 2000);
        x.insert(x.end(), more.begin(), more.end());
        x.resize(x.size() - as_index(left_out));
        DeviceArray<float> device_x(x);
        DeviceArray<std::byte> y(x.size() * 2);
        cuda::convert(nullptr, device_x.data(), static_cast<std::int64_t>(x.size()), y.data(), type);
        const auto out = decoded(y.read(), type);
        const auto expected = rounded(x, type);
        for (std::size_t i = 0; i < x.size(); ++i) {
            QVERIFY2(same(out[i], expected[i]), qPrintable(QString("%1").arg(double{x[i]}, 0, 'g', 12)));
        }
        QVERIFY(y.intact());
    }

    void finishesProducts_data() {
        QTest::addColumn<int>("activation");
        QTest::addColumn<int>("n");
        QTest::addColumn<bool>("biased");
        for (int activation = -1; activation < 4; ++activation) {
            for (const int n : {1, 12, 515, 3072}) {
                for (const bool biased : {false, true}) {
                    QTest::addRow("%d, %d, %d", activation, n, biased) << activation << n << biased;
                }
            }
        }
    }
    void finishesProducts() {
        QFETCH(int, activation);
        QFETCH(int, n);
        QFETCH(bool, biased);
        constexpr int rows = 3;
        // Also far out, where exponentials overflow.
        auto y = random_floats(1, rows * n, 30.0f);
        y[as_index(n)] = nan_f;
        const auto bias = random_floats(2, n);
        const auto gate = random_floats(3, rows * n, 3.0f);
        DeviceArray<float> device_y(y), device_bias(bias), device_gate(gate), gated(y), alone(y);
        const float* const bias_or_null = biased ? device_bias.data() : nullptr;
        const auto kind = static_cast<Activation>(activation);
        const auto backend = make_cpu_backend(1);
        const auto activated = [&](std::vector<float> x) {
            if (activation >= 0) backend->activation(x.data(), static_cast<std::int64_t>(x.size()), kind);
            return x;
        };
        const auto plus_bias = [&](std::vector<float> x) {
            for (std::size_t i = 0; i < x.size() && biased; ++i) x[i] += bias[i % as_index(n)];
            return x;
        };
        cuda::finish(nullptr, device_y.data(), rows, n, bias_or_null, activation >= 0 ? &kind : nullptr);
        QVERIFY(worst(device_y.read(), activated(plus_bias(y))) < 1e-6);
        QVERIFY(device_y.intact());
        if (activation < 0) return;
        cuda::activate(nullptr, alone.data(), rows * n, kind);
        QVERIFY(worst(alone.read(), activated(y)) < 1e-6);
        QVERIFY(alone.intact());
        cuda::finish_gated(nullptr, device_gate.data(), bias_or_null, kind, gated.data(), rows, n,
                           bias_or_null);
        auto expected = activated(plus_bias(gate));
        const auto other = plus_bias(y);
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= other[i];
        QVERIFY(worst(gated.read(), expected) < 1e-6);
        QVERIFY(gated.intact());
    }

    void smallValuesKeepTheirDigits() {
        // Near 0 an activation is about x / 2: the error must be relative to that.
        std::vector<float> x;
        for (float value = 1e-8f; value < 10; value *= 1.7f) {
            x.push_back(value);
            x.push_back(-value);
        }
        for (const Activation kind : {Activation::gelu_tanh, Activation::gelu_erf, Activation::silu}) {
            DeviceArray<float> device(x);
            cuda::activate(nullptr, device.data(), static_cast<std::int64_t>(x.size()), kind);
            const auto out = device.read();
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double v = x[i];
                const double u = std::sqrt(2 / 3.14159265358979323846) * (v + 0.044715 * v * v * v);
                const double expected = kind == Activation::silu ? v / (1 + std::exp(-v))
                                        : kind == Activation::gelu_erf
                                            ? 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)))
                                            : 0.5 * v * (1 + std::tanh(u));
                // In 1 + erf the sum cancels for large negative x; the result is small against x then.
                QVERIFY2(std::abs(double{out[i]} - expected) < 1e-6 * std::abs(v),
                         qPrintable(QString("%1 of %2").arg(double{out[i]}).arg(v)));
            }
        }
    }

    void findsTheFirstLargest_data() {
        QTest::addColumn<int>("n");
        for (const int n : {1, 2, 3, 4, 5, 31, 1000, 1025, 4099, 50257}) QTest::addRow("%d", n) << n;
    }
    void findsTheFirstLargest() {
        QFETCH(int, n);
        // Rows of an odd length begin at every place within 16 bytes.
        const std::vector<int> wanted{0, n - 1, n / 2, n / 3, std::min(2, n - 1), n / 5};
        const auto rows = static_cast<int>(wanted.size());
        std::vector<float> x;
        std::vector<std::int32_t> expected;
        for (int row = 0; row < rows; ++row) {
            auto values = random_floats(static_cast<std::uint64_t>(row), n);
            // All negative in one row: nothing may win against them from outside.
            if (row == 1) {
                for (float& value : values) value = -1e30f - 1e29f * std::abs(value);
            }
            const float largest = *std::max_element(values.begin(), values.end());
            const int at = wanted[as_index(row)];
            for (int i = 0; i < n; ++i) {
                if (values[as_index(i)] == largest) values[as_index(i)] = largest * (row == 1 ? 2.0f : 0.5f);
            }
            // It stands there again and again.
            for (int i = at; i < n; i += 97) values[as_index(i)] = largest;
            x.insert(x.end(), values.begin(), values.end());
            expected.push_back(
                static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin()));
        }
        DeviceArray<std::int32_t> largest(as_index(rows));
        DeviceArray<float> device_x(x);
        cuda::find_largest(nullptr, device_x.data(), rows, n, largest.data());
        QCOMPARE(largest.read(), expected);
        QVERIFY(largest.intact());
        for (const float bad : {nan_f, infinity_f, -infinity_f}) {
            for (int row = 0; row < rows; ++row) {
                auto spoilt = x;
                spoilt[as_index(std::int64_t{row} * n + wanted[as_index((row + 1) % rows)])] = bad;
                auto answer = expected;
                answer[as_index(row)] = -1;
                device_x.write(spoilt);
                cuda::find_largest(nullptr, device_x.data(), rows, n, largest.data());
                QCOMPARE(largest.read(), answer);
            }
        }
    }

    void storesWhereSlotsSay_data() {
        QTest::addColumn<int>("head_dim");
        QTest::addColumn<int>("n_kv_head");
        QTest::addColumn<Stored>("type");
        QTest::addColumn<bool>("blocks");
        for (const Stored type : {Stored::f32, Stored::f16, Stored::bf16, Stored::int8}) {
            for (const bool blocks : {false, true}) {
                for (const int head_dim : {8, 24, 64, 80, 128, 256}) {
                    QTest::addRow("type %d, %s, %d", static_cast<int>(type), blocks ? "blocks" : "rows",
                                  head_dim)
                        << head_dim << (head_dim == 80 ? 1 : 3) << type << blocks;
                }
            }
        }
    }
    void storesWhereSlotsSay() {
        QFETCH(int, head_dim);
        QFETCH(int, n_kv_head);
        QFETCH(Stored, type);
        QFETCH(bool, blocks);
        // Of three rows the second has nothing new; one token is not stored.
        const std::vector<std::int32_t> row_of{0, 0, 0, 0, 2, 2, 2};
        const std::vector<std::int32_t> slots_of{3, 4, -1, 11, 0, 9, 10};
        const std::vector<std::int32_t> base{1, 0, 2};
        const std::vector<std::int32_t> table{4, 0, 7, 1, 6, 2, 5, 3, 8};  // [3, 3]
        const auto n_token = static_cast<int>(row_of.size());
        constexpr int block = 4;
        constexpr int n_slot = 16;
        const std::int64_t d = head_dim;
        cuda::Entries entries;
        entries.type = type;
        entries.block = blocks ? block : 0;
        entries.slot_stride = 2 * d;
        entries.head_stride = entries.slot_stride * (blocks ? block : n_slot) + d;
        entries.row_stride = entries.head_stride * n_kv_head;
        const std::int64_t n_element = entries.row_stride * (blocks ? 9 : 3);
        const std::int64_t bytes =
            type == Stored::int8 ? 1 : static_cast<std::int64_t>(size_of(dtype_of(type)));

        const std::int64_t stride = n_kv_head * d * 3 + 4;
        auto k = random_floats(1, n_token * stride);
        auto v = random_floats(2, n_token * stride);
        // Vectors that codes are hard for: not finite, all zero, subnormal, one large value, ties.
        k[1] = infinity_f;
        v[as_index(stride)] = nan_f;
        std::fill_n(k.begin() + stride, d, 0.0f);
        std::fill_n(k.begin() + 3 * stride, d, 1e-40f);
        v[as_index(3 * stride + 2)] = 60000.0f;
        for (std::int64_t i = 0; i < d; ++i)
            v[as_index(4 * stride + i)] = static_cast<float>(i % 255) - 127.0f + 0.5f;

        std::vector<std::byte> keys(as_index(n_element * bytes), std::byte{0xFF});
        std::vector<std::byte> values = keys;
        std::vector<float> key_scales(as_index(n_element / d), nan_f);
        std::vector<float> value_scales = key_scales;
        const auto put = [&](const float* from, std::int64_t at, std::vector<std::byte>& to,
                             std::vector<float>& scales) {
            std::byte* place = to.data() + at * bytes;
            if (type == Stored::int8)
                scales[as_index(at / d)] = encode_int8(from, d, reinterpret_cast<std::int8_t*>(place));
            else
                encode_entries(dtype_of(type), from, d, place);
        };
        for (int t = 0; t < n_token; ++t) {
            const std::int32_t slot = slots_of[as_index(t)];
            const std::int32_t row = row_of[as_index(t)];
            if (slot < 0) continue;
            for (int h = 0; h < n_kv_head; ++h) {
                const std::int64_t at = blocks
                                            ? table[as_index(row * 3 + slot / block)] * entries.row_stride +
                                                  h * entries.head_stride + slot % block * entries.slot_stride
                                            : row * entries.row_stride + h * entries.head_stride +
                                                  (base[as_index(row)] + slot) * entries.slot_stride;
                put(k.data() + t * stride + h * d, at, keys, key_scales);
                put(v.data() + t * stride + h * d, at, values, value_scales);
            }
        }

        DeviceArray<float> device_k(k), device_v(v), k_scales(key_scales.size()),
            v_scales(value_scales.size());
        DeviceArray<std::byte> stored_k(keys.size()), stored_v(values.size());
        DeviceArray<std::int32_t> device_rows(row_of), device_slots(slots_of), device_base(base),
            device_table(table);
        entries.k = stored_k.data();
        entries.v = stored_v.data();
        entries.k_scales = k_scales.data();
        entries.v_scales = v_scales.data();
        cuda::CallArrays call;
        call.n_token = n_token;
        call.batch = 3;
        call.row_of = device_rows.data();
        call.slots = device_slots.data();
        call.row_base = blocks ? nullptr : device_base.data();
        call.blocks = blocks ? device_table.data() : nullptr;
        call.block_stride = 3;
        cuda::store(nullptr, call, device_k.data(), device_v.data(), stride, n_kv_head, head_dim, entries);
        if (type == Stored::int8) {
            // Bit by bit, and nothing where nothing is stored.
            QVERIFY(stored_k.read() == keys);
            QVERIFY(stored_v.read() == values);
            const auto got_k = k_scales.read();
            const auto got_v = v_scales.read();
            for (std::size_t i = 0; i < got_k.size(); ++i) {
                QVERIFY(same(got_k[i], key_scales[i]));
                QVERIFY(same(got_v[i], value_scales[i]));
            }
        } else {
            QCOMPARE(worst(decoded(stored_k.read(), type), decoded(keys, type)), 0.0);
            QCOMPARE(worst(decoded(stored_v.read(), type), decoded(values, type)), 0.0);
        }
        QVERIFY(stored_k.intact() && stored_v.intact() && k_scales.intact() && v_scales.intact());
    }

    /// What is lost on the way through a cache, against attention over the floats themselves.
    void whatTypesLose_data() {
        QTest::addColumn<Stored>("type");
        QTest::addColumn<double>("limit");
        QTest::newRow("f32") << Stored::f32 << 1e-30;
        QTest::newRow("f16") << Stored::f16 << 1e-3;
        QTest::newRow("bf16") << Stored::bf16 << 8e-3;
        QTest::newRow("int8") << Stored::int8 << 1e-2;
    }
    void whatTypesLose() {
        QFETCH(Stored, type);
        QFETCH(double, limit);
        constexpr int n = 90;
        constexpr int d = 64;
        constexpr int n_head = 2;
        const auto qkv = random_floats(1, n * 3 * n_head * d);
        const std::int64_t stride = 3 * n_head * d;
        const AttentionPlan plan = plan_single(0, n, n);
        std::vector<std::int32_t> slots_of(n), first(n + 1);
        std::iota(slots_of.begin(), slots_of.end(), 0);
        std::iota(first.begin(), first.end(), 0);
        std::vector<SlotRange> ranges;
        for (int q = 0; q < n; ++q) ranges.push_back(plan.visible(0, q).front());
        DeviceArray<std::int32_t> device_slots(slots_of), device_first(first),
            rows(std::vector<std::int32_t>(std::size_t{n})), row_begin{std::vector<std::int32_t>{0, n}};
        DeviceArray<SlotRange> device_ranges(ranges);
        DeviceArray<float> device_qkv(qkv), out(n * n_head * d), k_scales(n * n_head), v_scales(n * n_head);
        DeviceArray<std::byte> k(n * n_head * d * 4), v(n * n_head * d * 4);
        cuda::CallArrays call;
        call.n_token = n;
        call.batch = 1;
        call.most_slots = n;
        call.slots = device_slots.data();
        call.row_of = rows.data();
        call.row_begin = row_begin.data();
        call.first_range = device_first.data();
        call.ranges = device_ranges.data();
        cuda::Attention attention;
        attention.q = device_qkv.data();
        attention.q_stride = stride;
        attention.out = out.data();
        attention.n_head = attention.n_kv_head = n_head;
        attention.head_dim = d;
        attention.scale = 0.125f;
        DeviceArray<float> scratch(as_index(cuda::attention_floats(n, n, n_head, n_head, d)));
        attention.scratch = scratch.data();
        float* const from_k = device_qkv.data() + n_head * d;
        float* const from_v = from_k + n_head * d;
        attention.entries = {Stored::f32, from_k, from_v, nullptr, nullptr, 0, d, stride, 0};
        cuda::attention(nullptr, call, attention);
        const std::vector<float> expected = out.read();
        attention.entries = {type,  k.data(), v.data(), k_scales.data(), v_scales.data(), n_head * n * d,
                             n * d, d,        0};
        cuda::store(nullptr, call, from_k, from_v, stride, n_head, d, attention.entries);
        cuda::attention(nullptr, call, attention);
        const double difference = worst(out.read(), expected);
        QVERIFY2(difference < limit, qPrintable(QString::number(difference)));
        QVERIFY2(type == Stored::f32 || difference > limit / 100, qPrintable(QString::number(difference)));
        QVERIFY(out.intact() && k.intact() && v.intact());
    }

    void nothingToDoIsNoError() {
        cuda::CallArrays call;
        cuda::embed(nullptr, call, nullptr, nullptr, 8, nullptr);
        cuda::pick_rows(nullptr, nullptr, nullptr, 0, 8, nullptr);
        cuda::convert(nullptr, nullptr, 0, nullptr, Stored::f16);
        cuda::normalise(nullptr, NormKind::rms_norm, nullptr, 0, 8, nullptr, nullptr, 0, nullptr,
                        Stored::f32);
        cuda::finish(nullptr, nullptr, 0, 8, nullptr, nullptr);
        cuda::activate(nullptr, nullptr, 0, Activation::silu);
        cuda::store(nullptr, call, nullptr, nullptr, 8, 1, 8, {});
        cuda::attention(nullptr, call, {});
        cuda::find_largest(nullptr, nullptr, 0, 8, nullptr);
        QCOMPARE(cudaGetLastError(), cudaSuccess);
        QCOMPARE(cudaDeviceSynchronize(), cudaSuccess);
    }
};

}  // namespace

QTEST_APPLESS_MAIN(TestCudaKernels)
#include "tst_cuda_kernels.moc"
