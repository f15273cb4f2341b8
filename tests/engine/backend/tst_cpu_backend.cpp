// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/vector_math.h"
#include "tests/engine/backend/random_floats.h"

using namespace decodescope;
using test::random_floats;

namespace {

double largest_difference(const std::vector<float>& x, const std::vector<double>& y) {
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(double{x[i]} - y[i]));
    return worst;
}

}  // namespace

class TestCpuBackend : public QObject {
    Q_OBJECT

private slots:
    void linear_data() {
        QTest::addColumn<int>("threads");
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("n_in");
        QTest::addColumn<int>("n_out");
        QTest::addColumn<bool>("bias");
        QTest::addColumn<bool>("accumulate");
        int i = 0;
        for (const int threads : {1, 3}) {
            for (const int rows : {1, 2, 3, 17}) {
                for (const auto& [n_in, n_out] :
                     {std::pair{7, 5}, std::pair{256, 768}, std::pair{300, 1001}}) {
                    const bool bias = i % 2 == 0;
                    const bool accumulate = i % 3 == 0;
                    QTest::addRow("%d threads, %d x %d -> %d", threads, rows, n_in, n_out)
                        << threads << rows << n_in << n_out << bias << accumulate;
                    ++i;
                }
            }
        }
    }
    void linear() {
        QFETCH(int, threads);
        QFETCH(int, rows);
        QFETCH(int, n_in);
        QFETCH(int, n_out);
        QFETCH(bool, bias);
        QFETCH(bool, accumulate);
        const auto backend = make_cpu_backend(threads);
        const auto x = random_floats(1, std::int64_t{rows} * n_in);
        const auto w = random_floats(2, std::int64_t{n_in} * n_out);
        const auto b = random_floats(3, n_out);
        auto y = random_floats(4, std::int64_t{rows} * n_out);
        std::vector<double> expected(y.size());
        for (int r = 0; r < rows; ++r) {
            for (int o = 0; o < n_out; ++o) {
                const auto at = static_cast<std::size_t>(r * n_out + o);
                double sum = (accumulate ? double{y[at]} : 0.0) +
                             (bias ? double{b[static_cast<std::size_t>(o)]} : 0.0);
                for (int i = 0; i < n_in; ++i) {
                    sum += double{x[static_cast<std::size_t>(r * n_in + i)]} *
                           double{w[static_cast<std::size_t>(o * n_in + i)]};
                }
                expected[at] = sum;
            }
        }
        backend->linear(x.data(), rows, {w.data(), bias ? b.data() : nullptr, n_in, n_out}, y.data(),
                        accumulate);
        const double error = largest_difference(y, expected);
        QVERIFY2(error < 2e-6 * std::sqrt(n_in) * 8, qPrintable(QString::number(error)));
    }

    void gelu() {
        auto x = random_floats(6, 1003, 4.0f);
        x[0] = 0.0f;
        x[1] = 80.0f;
        x[2] = -80.0f;
        std::vector<double> expected(x.begin(), x.end());
        for (double& e : expected)
            e = 0.5 * e * (1 + std::tanh(0.7978845608028654 * (e + 0.044715 * e * e * e)));
        vector_math::gelu_tanh(x.data(), 1003);
        QVERIFY(largest_difference(x, expected) < 2e-6);
    }

    void activations_data() {
        QTest::addColumn<int>("activation");
        QTest::newRow("erf") << static_cast<int>(Activation::gelu_erf);
        QTest::newRow("tanh") << static_cast<int>(Activation::gelu_tanh);
        QTest::newRow("relu") << static_cast<int>(Activation::relu);
        QTest::newRow("silu") << static_cast<int>(Activation::silu);
    }
    void activations() {
        QFETCH(int, activation);
        const auto kind = static_cast<Activation>(activation);
        auto x = random_floats(7, 20000, 2.0f);
        std::vector<double> expected(x.begin(), x.end());
        for (double& e : expected) {
            if (kind == Activation::relu) e = std::max(e, 0.0);
            if (kind == Activation::silu) e = e / (1 + std::exp(-e));
            if (kind == Activation::gelu_erf) e = 0.5 * e * (1 + std::erf(e / std::sqrt(2.0)));
            if (kind == Activation::gelu_tanh) {
                e = 0.5 * e * (1 + std::tanh(0.7978845608028654 * (e + 0.044715 * e * e * e)));
            }
        }
        make_cpu_backend(2)->activation(x.data(), 20000, kind);
        QVERIFY(largest_difference(x, expected) < 2e-6);
    }

    void layerNorm() {
        constexpr int d = 77;
        const auto x = random_floats(8, 3 * d, 5.0f);
        const auto weight = random_floats(9, d);
        const auto bias = random_floats(10, d);
        std::vector<float> y(x.size());
        make_cpu_backend(2)->layer_norm(x.data(), 3, d, {weight.data(), bias.data()}, 1e-5f, y.data());
        std::vector<double> expected(x.size());
        for (std::size_t r = 0; r < 3; ++r) {
            double mean = 0;
            double variance = 0;
            for (std::size_t i = 0; i < d; ++i) mean += double{x[r * d + i]} / d;
            for (std::size_t i = 0; i < d; ++i) variance += std::pow(double{x[r * d + i]} - mean, 2) / d;
            for (std::size_t i = 0; i < d; ++i) {
                expected[r * d + i] =
                    (double{x[r * d + i]} - mean) / std::sqrt(variance + 1e-5) * double{weight[i]} +
                    double{bias[i]};
            }
        }
        QVERIFY(largest_difference(y, expected) < 5e-6);
    }

    void rmsNorm_data() {
        QTest::addColumn<int>("d");
        for (const int d : {1, 7, 16, 77, 2048}) QTest::addRow("%d", d) << d;
    }
    void rmsNorm() {
        QFETCH(int, d);
        auto x = random_floats(8, 3 * d, 5.0f);
        const auto weight = random_floats(9, d);
        std::vector<double> expected(x.size());
        for (int r = 0; r < 3; ++r) {
            const auto row = static_cast<std::size_t>(r * d);
            double squares = 0;
            for (std::size_t i = row; i < row + static_cast<std::size_t>(d); ++i)
                squares += double{x[i]} * double{x[i]} / d;
            for (std::size_t i = 0; i < static_cast<std::size_t>(d); ++i) {
                expected[row + i] = double{x[row + i]} / std::sqrt(squares + 1e-3) * double{weight[i]};
            }
        }
        std::vector<float> y(x.size());
        const auto backend = make_cpu_backend(2);
        backend->rms_norm(x.data(), 3, d, {weight.data(), nullptr}, 1e-3f, y.data());
        QVERIFY(largest_difference(y, expected) < 5e-6);
        backend->rms_norm(x.data(), 3, d, {weight.data(), nullptr}, 1e-3f, x.data());  // in place
        QVERIFY(x == y);
    }

    void gate_data() {
        QTest::addColumn<int>("activation");
        QTest::addColumn<int>("n");
        for (const int n : {1, 15, 16, 1003, 20000}) {
            QTest::addRow("silu, %d", n) << static_cast<int>(Activation::silu) << n;
        }
        QTest::newRow("relu") << static_cast<int>(Activation::relu) << 1003;
    }
    void gate() {
        QFETCH(int, activation);
        QFETCH(int, n);
        const auto kind = static_cast<Activation>(activation);
        auto x = random_floats(11, n, 4.0f);
        auto y = random_floats(12, n);
        // Far outside of what exp can hold.
        x[0] = -500.0f;
        if (n > 2) x[1] = 500.0f;
        if (n > 20) x[20] = -90.0f;
        std::vector<double> expected(y.begin(), y.end());
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double v = double{x[i]};
            expected[i] *= kind == Activation::silu ? v / (1 + std::exp(-v)) : std::max(v, 0.0);
        }
        make_cpu_backend(2)->gate(x.data(), n, kind, y.data());
        for (std::size_t i = 0; i < y.size(); ++i) {
            QVERIFY(std::abs(double{y[i]} - expected[i]) <= 1e-6 * (1 + std::abs(expected[i])));
        }
    }

    void gateHidesNothing() {
        std::vector<float> x(40, 1.0f);
        std::vector<float> y(40, 1.0f);
        x[3] = x[37] = std::numeric_limits<float>::quiet_NaN();
        y[17] = std::numeric_limits<float>::quiet_NaN();
        make_cpu_backend(1)->gate(x.data(), 40, Activation::silu, y.data());
        for (const std::size_t i : {3u, 17u, 37u}) QVERIFY(std::isnan(y[i]));
        QVERIFY(std::isfinite(y[16]));
    }

    void rotate_data() {
        QTest::addColumn<int>("head_dim");
        QTest::addColumn<bool>("neighbours");
        QTest::addColumn<int>("rows");
        for (const int head_dim : {2, 6, 16, 34, 64, 128}) {
            for (const bool neighbours : {false, true}) {
                const int rows = head_dim == 64 ? 200 : 3;  // enough for several threads
                QTest::addRow("%d, %s", head_dim, neighbours ? "neighbours" : "halves")
                    << head_dim << neighbours << rows;
            }
        }
    }
    void rotate() {
        QFETCH(int, head_dim);
        QFETCH(bool, neighbours);
        QFETCH(int, rows);
        constexpr int n_head = 3;
        const int stride = n_head * head_dim + 5;
        auto x = random_floats(13, std::int64_t{rows} * stride);
        std::vector<double> expected(x.begin(), x.end());
        std::vector<float> turns(static_cast<std::size_t>(rows * head_dim));
        const int half = head_dim / 2;
        for (int r = 0; r < rows; ++r) {
            for (int i = 0; i < half; ++i) {
                const double angle = 0.37 * r + i;
                turns[static_cast<std::size_t>(r * head_dim + i)] = static_cast<float>(std::cos(angle));
                turns[static_cast<std::size_t>(r * head_dim + half + i)] =
                    static_cast<float>(std::sin(angle));
                for (int h = 0; h < n_head; ++h) {
                    const int head = r * stride + h * head_dim;
                    const auto a = static_cast<std::size_t>(head + (neighbours ? 2 * i : i));
                    const auto b = static_cast<std::size_t>(head + (neighbours ? 2 * i + 1 : i + half));
                    const double before_a = expected[a];
                    const double before_b = expected[b];
                    expected[a] = before_a * std::cos(angle) - before_b * std::sin(angle);
                    expected[b] = before_b * std::cos(angle) + before_a * std::sin(angle);
                }
            }
        }
        make_cpu_backend(3)->rotate({x.data(), stride, rows, n_head, head_dim}, turns.data(),
                                    neighbours ? RotaryPairs::neighbours : RotaryPairs::halves);
        QVERIFY(largest_difference(x, expected) < 1e-6);  // and what lies between the tokens is left alone
    }
};

QTEST_APPLESS_MAIN(TestCpuBackend)
#include "tst_cpu_backend.moc"
