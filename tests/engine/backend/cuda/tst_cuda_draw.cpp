// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels know slots of another kind.
#define QT_NO_KEYWORDS
#include <QTest>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "engine/backend/cuda/kernels.h"
#include "engine/core/as_index.h"
#include "engine/decode/sampler.h"
#include "tests/engine/backend/cuda/device_array.h"
#include "tests/engine/backend/random_floats.h"
#include "tests/sanitized.h"

using namespace decodescope;
using test::DeviceArray;
using test::random_floats;

namespace {

constexpr float most_f = std::numeric_limits<float>::max();

/// Rows of n logits of every kind that order and sums could get wrong.
std::vector<std::vector<float>> hard_rows(int n) {
    std::vector<std::vector<float>> rows;
    const auto add = [&](auto&& logit) {
        const auto random = random_floats(rows.size() + 1, n);
        std::vector<float> row(as_index(n));
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = logit(random[i], i);
        rows.push_back(row);
    };
    add([](float x, std::size_t) { return 3 * x; });
    add([](float x, std::size_t) { return 4 * x - 90; });         // none is positive
    add([](float x, std::size_t) { return std::round(2 * x); });  // many are equal
    add([](float, std::size_t) { return -0.75f; });               // all are
    add([](float x, std::size_t i) { return i % 3 == 0 ? -0.0f : i % 3 == 1 ? 0.0f : -std::abs(x); });
    add([](float x, std::size_t i) { return i % 7 == 5 ? 2000 + x : x > 0 ? -most_f : -1e-40f; });
    add([n](float x, std::size_t i) {
        return x + (i + 1 == as_index(n) ? 9.0f : 0.0f);
    });  // the last is likely
    return rows;
}

/// Draws rows [rows, n], and sees to it that nothing else is written.
std::vector<std::int32_t> drawn_from(const std::vector<std::vector<float>>& rows,
                                     const std::vector<TokenDraw>& draws) {
    const auto n_row = static_cast<int>(rows.size());
    const auto n = static_cast<int>(rows.front().size());
    std::vector<float> x;
    for (const auto& row : rows) x.insert(x.end(), row.begin(), row.end());
    DeviceArray<float> logits(x);
    DeviceArray<TokenDraw> device_draws(draws);
    DeviceArray<std::uint64_t> weights(x.size());
    DeviceArray<std::int32_t> largest(rows.size());
    DeviceArray<std::int32_t> drawn(std::vector<std::int32_t>(rows.size(), -77));
    cuda::find_largest(nullptr, logits.data(), n_row, n, largest.data());
    cuda::draw_tokens(nullptr, logits.data(), n_row, n, largest.data(), device_draws.data(), weights.data(),
                      drawn.data());
    auto tokens = drawn.read();
    const bool intact =
        logits.intact() && device_draws.intact() && weights.intact() && largest.intact() && drawn.intact();
    return intact ? tokens : std::vector<std::int32_t>();
}

struct Named {
    const char* name;
    Sampling sampling;
};
Sampling sampled(double temperature, int top_k = 0, double top_p = 1, double min_p = 0) {
    return {SamplingKind::sample, temperature, top_k, 17, top_p, min_p, 1};
}
const Named settings[] = {
    {"everything", sampled(0.8, 40, 0.95, 0.02)},
    {"plain", sampled(1)},
    {"cold", sampled(0.1)},
    {"hot", sampled(5)},
    {"top 1", sampled(1, 1)},
    {"top 5", sampled(2, 5)},
    {"top of more than there are", sampled(1, 1 << 30)},
    {"top-p of nothing", sampled(1, 0, 1e-12)},
    {"top-p 0.3", sampled(1, 0, 0.3)},
    {"top-p 0.9", sampled(3, 0, 0.9)},
    {"top-p of nearly all", sampled(1, 0, 1 - 1e-6)},
    {"min-p 0.05", sampled(1, 0, 1, 0.05)},
    {"min-p 0.9", sampled(5, 0, 1, 0.9)},
    {"min-p 1", sampled(1, 0, 1, 1)},
    {"top-p after top-k", sampled(3, 300, 0.5)},
    {"min-p after top-k", sampled(5, 30, 1, 0.2)},
};

/// Filters of every kind, and none: a GPU's threads one by one take their time.
constexpr int some_settings[] = {0, 1, 9, 14};

/// The tokens that the sampler leaves, in falling order.
std::vector<std::int32_t> kept_of(const Sampling& sampling, const std::vector<float>& logits) {
    std::vector<double> p(logits.size());
    if (!Sampler(sampling).distribution(logits, {}, p)) return {};
    std::vector<std::int32_t> kept;
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (p[i] > 0) kept.push_back(static_cast<std::int32_t>(i));
    }
    std::stable_sort(kept.begin(), kept.end(), [&](std::int32_t a, std::int32_t b) {
        return logits[as_index(a)] > logits[as_index(b)];
    });
    return kept;
}

class TestCudaDraw : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void drawsWhatTheSamplerDraws_data() {
        QTest::addColumn<int>("n");
        QTest::addColumn<int>("setting");
        for (int i = 0; i < static_cast<int>(std::size(settings)); ++i)
            QTest::addRow("1025, %s", settings[i].name) << 1025 << i;
        for (const int n : {1, 2, 31, 33, 1000, 1024, 4099, 50257}) {
            if (test::sanitized && n > 10'000) continue;
            for (const int i : some_settings) QTest::addRow("%d, %s", n, settings[i].name) << n << i;
        }
        if (!test::sanitized) QTest::addRow("262144, %s", settings[0].name) << 262144 << 0;
    }
    void drawsWhatTheSamplerDraws() {
        QFETCH(int, n);
        QFETCH(int, setting);
        const Sampling& sampling = settings[setting].sampling;
        std::vector<std::vector<float>> rows = hard_rows(n);
        if (n == 262144) rows.resize(2);
        std::vector<TokenDraw> draws;
        std::vector<std::int32_t> expected;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            Sampler sampler(sampling, static_cast<int>(row));
            const std::int64_t token = 100 * setting + n;
            draws.push_back(sampler.draw(token).value());
            expected.push_back(*sampler.choose(rows[row], token, {}));
        }
        QCOMPARE(drawn_from(rows, draws), expected);
    }

    // One row with many draws: what is chosen differs, and where the filters leave one token, never.
    void everyDrawIsItsOwn_data() {
        QTest::addColumn<int>("setting");
        for (const int i : {0, 1, 3, 4}) QTest::addRow("%s", settings[i].name) << i;
    }
    void everyDrawIsItsOwn() {
        QFETCH(int, setting);
        constexpr int n = 97;
        const Sampling& sampling = settings[setting].sampling;
        const std::vector<std::vector<float>> rows(24, hard_rows(n).front());
        std::vector<TokenDraw> draws;
        std::vector<std::int32_t> expected;
        Sampler sampler(sampling);
        for (int token = 0; token < std::ssize(rows); ++token) {
            draws.push_back(sampler.draw(token).value());
            expected.push_back(*sampler.choose(rows.front(), token, {}));
        }
        QCOMPARE(drawn_from(rows, draws), expected);
        const bool differ = std::any_of(expected.begin(), expected.end(),
                                        [&](std::int32_t token) { return token != expected.front(); });
        QCOMPARE(differ, kept_of(sampling, rows.front()).size() > 1);
    }

    void bothEndsOfTheDraw_data() {
        QTest::addColumn<int>("n");
        QTest::addColumn<int>("setting");
        for (const int n : {1, 33, 1025}) {
            for (const int i : some_settings) QTest::addRow("%d, %s", n, settings[i].name) << n << i;
        }
    }
    void bothEndsOfTheDraw() {
        QFETCH(int, n);
        QFETCH(int, setting);
        const Sampling& sampling = settings[setting].sampling;
        const auto rows = hard_rows(n);
        TokenDraw draw = Sampler(sampling).draw(0).value();
        draw.uniform = 0;
        const auto first = drawn_from(rows, std::vector<TokenDraw>(rows.size(), draw));
        draw.uniform = std::nextafter(1.0, 0.0);
        const auto last = drawn_from(rows, std::vector<TokenDraw>(rows.size(), draw));
        QCOMPARE(first.size(), rows.size());
        QCOMPARE(last.size(), rows.size());
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const auto kept = kept_of(sampling, rows[row]);
            QCOMPARE(first[row], kept.front());
            const auto found = std::find(kept.begin(), kept.end(), last[row]);
            QVERIFY(found != kept.end());
            // What comes after it is too little to be drawn by a number with 53 bits.
            std::vector<double> p(rows[row].size());
            QVERIFY(Sampler(sampling).distribution(rows[row], {}, p));
            const double behind =
                std::accumulate(found + 1, kept.end(), 0.0,
                                [&](double sum, std::int32_t token) { return sum + p[as_index(token)]; });
            QVERIFY2(behind < 1e-13, qPrintable(QString::number(behind)));
        }
    }

    void whatIsNotFiniteIsNotDrawn_data() {
        QTest::addColumn<float>("bad");
        QTest::newRow("nan") << std::numeric_limits<float>::quiet_NaN();
        QTest::newRow("inf") << std::numeric_limits<float>::infinity();
        QTest::newRow("-inf") << -std::numeric_limits<float>::infinity();
    }
    void whatIsNotFiniteIsNotDrawn() {
        QFETCH(float, bad);
        for (const int n : {1, 2050}) {
            const auto rows = hard_rows(n);
            const TokenDraw draw = Sampler(settings[0].sampling).draw(3).value();
            const std::vector<TokenDraw> draws(rows.size(), draw);
            const auto whole = drawn_from(rows, draws);
            QCOMPARE(whole.size(), rows.size());
            for (const std::size_t row : {std::size_t{0}, rows.size() / 2, rows.size() - 1}) {
                auto spoilt = rows;
                spoilt[row][as_index(n * 2 / 3)] = bad;
                auto expected = whole;
                expected[row] = -1;
                QCOMPARE(drawn_from(spoilt, draws), expected);
            }
        }
    }

    void noRowsAreNoError() {
        cuda::draw_tokens(nullptr, nullptr, 0, 8, nullptr, nullptr, nullptr, nullptr);
        QCOMPARE(cudaGetLastError(), cudaSuccess);
        QCOMPARE(cudaDeviceSynchronize(), cudaSuccess);
    }
};

}  // namespace

QTEST_APPLESS_MAIN(TestCudaDraw)
#include "tst_cuda_draw.moc"
