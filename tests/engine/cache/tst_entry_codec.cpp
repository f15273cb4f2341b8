// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/cache/entry_codec.h"
#include "engine/core/random.h"
#include "tests/only_target.h"

using namespace decodescope;

namespace {

constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity_f = std::numeric_limits<float>::infinity();

/// A 16-bit format, from its definition: `fraction` bits behind the point, smallest normal 2^`lowest`.
struct Format {
    DType dtype;
    int fraction;
    int exponent_bits;
    int lowest;
    double overflow;  ///< finite magnitudes from here on round to infinity
};
const Format half{DType::f16, 10, 5, -14, 65520.0};
const Format brain{DType::bf16, 7, 8, -126, 0x1.ffp127};

/// The value that 16 bits of `format` stand for.
double value_of(const Format& format, std::uint16_t bits) {
    const int exponent_mask = (1 << format.exponent_bits) - 1;
    const int exponent = (bits >> format.fraction) & exponent_mask;
    const int fraction = bits & ((1 << format.fraction) - 1);
    const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
    if (exponent == exponent_mask) return fraction != 0 ? std::nan("") : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, format.lowest - format.fraction);
    return sign *
           std::ldexp((1 << format.fraction) + fraction, format.lowest + exponent - 1 - format.fraction);
}

/// `x` rounded to the format, ties to even: in units of the last place of its binade.
double rounded(const Format& format, float x) {
    const double magnitude = std::abs(double{x});
    if (std::isnan(x) || std::isinf(x)) return double{x};
    if (magnitude >= format.overflow) return std::copysign(INFINITY, x);
    const int exponent = magnitude == 0 ? format.lowest : std::max(std::ilogb(magnitude), format.lowest);
    const double unit = std::ldexp(1.0, exponent - format.fraction);
    return std::copysign(std::nearbyint(magnitude / unit) * unit, x);
}

bool same(double a, double b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

std::vector<float> there_and_back(DType dtype, const std::vector<float>& from) {
    std::vector<std::byte> coded(from.size() * size_of(dtype));
    std::vector<float> back(from.size());
    encode_entries(dtype, from.data(), static_cast<std::int64_t>(from.size()), coded.data());
    decode_entries(dtype, coded.data(), static_cast<std::int64_t>(from.size()), back.data());
    return back;
}

/// Every step of the format's ladder: each value, the middle between it and the next, and the floats just
/// below and above that; then large, small and special ones.
std::vector<float> hard_values(const Format& format) {
    std::vector<float> values;
    for (std::uint32_t bits = 0; bits < 0x8000u; ++bits) {
        const double here = value_of(format, static_cast<std::uint16_t>(bits));
        const double next = value_of(format, static_cast<std::uint16_t>(bits + 1));
        if (!std::isfinite(here)) break;
        values.push_back(static_cast<float>(here));
        const auto middle =
            static_cast<float>(std::isfinite(next) ? here + (next - here) / 2 : format.overflow);
        for (const float x : {std::nextafterf(middle, 0), middle, std::nextafterf(middle, infinity_f)})
            values.push_back(x);
    }
    for (const float x :
         {FLT_MIN, FLT_TRUE_MIN, FLT_MAX, 1e-30f, 65519.996f, 65520.0f, 1e5f, infinity_f, nan_f})
        values.push_back(x);
    const std::size_t n = values.size();
    for (std::size_t i = 0; i < n; ++i) values.push_back(-values[i]);
    return values;
}

}  // namespace

class TestEntryCodec : public QObject {
    Q_OBJECT

private:
    static void formats() {
        QTest::addColumn<int>("dtype");
        QTest::addColumn<qint64>("target");
        for (const std::int64_t target : kernel_targets()) {
            for (const DType dtype : {DType::f16, DType::bf16}) {
                QTest::addRow("%s, %s", to_string(dtype), hwy::TargetName(target))
                    << static_cast<int>(dtype) << qint64{target};
            }
        }
    }
    static const Format& format() {
        QFETCH(int, dtype);
        return static_cast<DType>(dtype) == DType::f16 ? half : brain;
    }

private slots:
    void everyPatternIsReadRight_data() { formats(); }
    void everyPatternIsReadRight() {
        QFETCH(qint64, target);
        const OnlyTarget only(target);
        const Format& expected = format();
        std::vector<std::uint16_t> patterns(0x10000);
        for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
        std::vector<float> values(patterns.size());
        decode_entries(expected.dtype, reinterpret_cast<const std::byte*>(patterns.data()), 0x10000,
                       values.data());
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (same(double{values[i]}, value_of(expected, patterns[i]))) continue;
            QFAIL(qPrintable(QString("%1 was read as %2").arg(i, 0, 16).arg(double{values[i]})));
        }
        // What was read is written back as it was; a NaN may change its payload only.
        std::vector<std::uint16_t> again(patterns.size());
        encode_entries(expected.dtype, values.data(), 0x10000, reinterpret_cast<std::byte*>(again.data()));
        for (std::size_t i = 0; i < again.size(); ++i) {
            const bool kept =
                std::isnan(values[i]) ? std::isnan(value_of(expected, again[i])) : again[i] == patterns[i];
            if (!kept) QFAIL(qPrintable(QString("%1 was written as %2").arg(i, 0, 16).arg(again[i], 0, 16)));
        }
    }

    void roundsToNearestEven_data() { formats(); }
    void roundsToNearestEven() {
        QFETCH(qint64, target);
        const OnlyTarget only(target);
        const Format& rule = format();
        std::vector<float> values = hard_values(rule);
        for (std::uint64_t i = 0; i < 20000; ++i)  // any bits at all
            values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random_bits(1, 2, i))));
        const std::vector<float> found = there_and_back(rule.dtype, values);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double expected = rounded(rule, values[i]);
            if (same(double{found[i]}, expected)) continue;
            QFAIL(qPrintable(QString("%1 became %2, expected %3")
                                 .arg(double{values[i]}, 0, 'g', 12)
                                 .arg(double{found[i]}, 0, 'g', 12)
                                 .arg(expected, 0, 'g', 12)));
        }
    }

    // Tails of every length, and no byte written behind them.
    void oddLengths_data() { formats(); }
    void oddLengths() {
        QFETCH(qint64, target);
        const OnlyTarget only(target);
        const DType dtype = format().dtype;
        for (int n = 0; n <= 70; ++n) {
            std::vector<float> from(static_cast<std::size_t>(n) + 1, 3.0f);
            for (int i = 0; i < n; ++i)
                from[static_cast<std::size_t>(i)] = random_normal(4, 5, static_cast<std::uint64_t>(i));
            constexpr std::byte untouched{0x5a};
            std::vector<std::byte> coded(static_cast<std::size_t>(n + 1) * size_of(dtype), untouched);
            encode_entries(dtype, from.data(), n, coded.data());
            QCOMPARE(coded[coded.size() - 2], untouched);
            QCOMPARE(coded[coded.size() - 1], untouched);
            std::vector<float> back(static_cast<std::size_t>(n) + 1, -1.0f);
            decode_entries(dtype, coded.data(), n, back.data());
            QCOMPARE(back.back(), -1.0f);
            for (int i = 0; i < n; ++i) {
                const auto at = static_cast<std::size_t>(i);
                QCOMPARE(double{back[at]}, rounded(format(), from[at]));
            }
        }
    }

    void plainFloatsAreKept() {
        const std::vector<float> values = hard_values(half);
        const std::vector<float> found = there_and_back(DType::f32, values);
        QCOMPARE(std::memcmp(found.data(), values.data(), values.size() * sizeof(float)), 0);
    }

    // Report 114 of the notes: bits of one format read as the other.
    void formatsAreNotMixedUp() {
        QVERIFY(std::abs(double{there_and_back(DType::bf16, {0.162f})[0]} - 0.162) < 0.001);
        std::byte coded[2];
        const float x = 0.162f;
        encode_entries(DType::bf16, &x, 1, coded);
        float misread = 0;
        decode_entries(DType::f16, coded, 1, &misread);
        QVERIFY(std::abs(double{misread} - 1.54) < 0.01);
    }

    void eightBits_data() {
        QTest::addColumn<QVector<float>>("from");
        QTest::newRow("one") << QVector<float>{-3.5f};
        QTest::newRow("zeros") << QVector<float>{0, 0, 0};
        QTest::newRow("negative zeros") << QVector<float>{-0.0f, -0.0f};
        QTest::newRow("symmetric") << QVector<float>{-1, 1, 0.5f, -0.25f};
        QTest::newRow("ties") << QVector<float>{127, 0.5f, 1.5f, 2.5f, -0.5f};
        QTest::newRow("large") << QVector<float>{3e38f, -3e38f, 1e38f};
        QTest::newRow("smallest normal") << QVector<float>{FLT_MIN, 0, -FLT_MIN / 2};
        QTest::newRow("inverse of the scale too large") << QVector<float>{1e-37f, 0, -5e-38f};
        QTest::newRow("subnormal") << QVector<float>{3e-40f, 1e-40f, 0, -2e-40f};
        QTest::newRow("smallest of all") << QVector<float>{FLT_TRUE_MIN, 0, -FLT_TRUE_MIN};
        for (const int n : {1, 7, 64, 129}) {
            QVector<float> from;
            for (int i = 0; i < n; ++i)
                from.push_back(
                    random_normal(8, static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(i)));
            QTest::addRow("%d random ones", n) << from;
        }
    }
    void eightBits() {
        QFETCH(QVector<float>, from);
        std::vector<std::int8_t> codes(static_cast<std::size_t>(from.size()), 99);
        const float scale = encode_int8(from.constData(), from.size(), codes.data());
        std::vector<float> back(codes.size());
        decode_int8(codes.data(), from.size(), scale, back.data());
        double largest = 0;
        for (const float x : from) largest = std::max(largest, std::abs(double{x}));
        // A scale below the smallest normal float has no digits left: such values are stored as zeros.
        const bool tiny = largest / 127 < double{FLT_MIN};
        const double limit = tiny ? largest : largest / 127 * 0.50001;
        QVERIFY(tiny ? scale == 0 : std::abs(double{scale} - largest / 127) <= largest / 127 * 1e-6);
        for (qsizetype i = 0; i < from.size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            QVERIFY(codes[at] >= -127);
            QVERIFY2(std::abs(double{back[at]} - double{from[i]}) <= limit,
                     qPrintable(QString("%1 became %2").arg(double{from[i]}).arg(double{back[at]})));
            QVERIFY(codes[at] == 0 || (codes[at] > 0) == (from[i] > 0));
            if (!tiny) QCOMPARE(int{codes[at]}, int(std::nearbyint(double{from[i]} / largest * 127)));
        }
    }

    void notFiniteIsNotHidden_data() {
        QTest::addColumn<float>("value");
        QTest::addColumn<int>("at");
        for (const int at : {0, 3, 6}) {
            QTest::addRow("NaN at %d", at) << nan_f << at;
            QTest::addRow("infinity at %d", at) << infinity_f << at;
            QTest::addRow("-infinity at %d", at) << -infinity_f << at;
        }
    }
    void notFiniteIsNotHidden() {
        QFETCH(float, value);
        QFETCH(int, at);
        std::vector<float> from{1, -2, 0, 4, -5, 6, 7};
        from[static_cast<std::size_t>(at)] = value;
        std::int8_t codes[7];
        const float scale = encode_int8(from.data(), 7, codes);
        QVERIFY(std::isnan(scale));
        float back[7];
        decode_int8(codes, 7, scale, back);
        for (const float x : back) QVERIFY(std::isnan(x));
        for (const int bits : {2, 4}) {
            const GroupScale group = group_scale(from.data(), 7, 1, bits);
            QVERIFY(std::isnan(group.scale) && std::isnan(group.zero));
            for (const float x : from) {
                const float read = group.zero + static_cast<float>(group_code(x, group, bits)) * group.scale;
                QVERIFY(std::isnan(read));
            }
        }
    }

    void groups_data() {
        QTest::addColumn<int>("bits");
        QTest::addColumn<int>("n");
        QTest::addColumn<int>("stride");
        for (const int bits : {2, 4}) {
            for (const int n : {1, 2, 32, 33}) {
                for (const int stride : {1, 5})
                    QTest::addRow("%d bits, %d, stride %d", bits, n, stride) << bits << n << stride;
            }
        }
    }
    void groups() {
        QFETCH(int, bits);
        QFETCH(int, n);
        QFETCH(int, stride);
        const int most = (1 << bits) - 1;
        std::vector<float> values(static_cast<std::size_t>(n) * static_cast<std::size_t>(stride), 1e6f);
        float smallest = infinity_f;
        float largest = -infinity_f;
        for (int i = 0; i < n; ++i) {
            float& x = values[static_cast<std::size_t>(i * stride)];
            x = 3.0f + random_normal(6, static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(i));
            smallest = std::min(smallest, x);
            largest = std::max(largest, x);
        }
        const GroupScale group = group_scale(values.data(), n, stride, bits);
        QCOMPARE(group.zero, smallest);
        QVERIFY(std::abs(double{group.scale} * most - (double{largest} - double{smallest})) < 1e-6);
        for (int i = 0; i < n; ++i) {
            const float x = values[static_cast<std::size_t>(i * stride)];
            const int code = group_code(x, group, bits);
            QVERIFY(code >= 0 && code <= most);
            const double back = double{group.zero} + code * double{group.scale};
            QVERIFY2(std::abs(back - double{x}) <= double{group.scale} * 0.50001 + 1e-9,
                     qPrintable(QString("%1 became %2").arg(double{x}).arg(back)));
            if (x == smallest) QCOMPARE(code, 0);
            if (x == largest && n > 1) QCOMPARE(code, most);
        }
        // Values outside the group's range, which rounding can bring about, stay codes.
        QCOMPARE(int{group_code(smallest - 100, group, bits)}, 0);
        if (n > 1) QCOMPARE(int{group_code(largest + 100, group, bits)}, most);
    }

    void constantGroupsAreExact() {
        for (const float x : {0.0f, -7.25f, 1e-30f, FLT_MAX}) {
            const std::vector<float> values(9, x);
            for (const int bits : {2, 4}) {
                const GroupScale group = group_scale(values.data(), 9, 1, bits);
                const int code = group_code(x, group, bits);
                QCOMPARE(code, 0);
                QCOMPARE(group.zero + static_cast<float>(code) * group.scale, x);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestEntryCodec)
#include "tst_entry_codec.moc"
