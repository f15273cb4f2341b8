// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/core/dtype.h"

using namespace decodescope;

namespace {

/// A half float from its definition, in double arithmetic, without looking at float's bits.
double half_by_definition(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 0x1f;
    const int mantissa = bits & 0x3ff;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

}  // namespace

class DTypeTest : public QObject {
    Q_OBJECT

private slots:
    void every_finite_half_is_exact() {
        for (std::uint32_t b = 0; b < 0x10000; ++b) {
            const auto bits = static_cast<std::uint16_t>(b);
            if (((bits >> 10) & 0x1f) == 0x1f) continue;
            const float value = f16_to_f32(bits);
            if (static_cast<double>(value) != half_by_definition(bits) ||
                std::signbit(value) != ((bits & 0x8000) != 0)) {
                QFAIL(
                    qPrintable(QString("half 0x%1 became %2").arg(b, 4, 16).arg(static_cast<double>(value))));
            }
        }
    }

    void special_values_data() {
        QTest::addColumn<DType>("dtype");
        QTest::addColumn<quint16>("bits");
        QTest::addColumn<quint32>("f32_bits");
        const auto row = [](const char* name, DType dtype, quint16 bits, quint32 f32_bits) {
            QTest::newRow(name) << dtype << bits << f32_bits;
        };
        row("f16 one", DType::f16, 0x3c00, 0x3f800000);
        row("f16 largest", DType::f16, 0x7bff, 0x477fe000);
        row("f16 smallest normal", DType::f16, 0x0400, 0x38800000);
        row("f16 largest subnormal", DType::f16, 0x03ff, 0x387fc000);
        row("f16 smallest subnormal", DType::f16, 0x0001, 0x33800000);
        row("f16 minus smallest subnormal", DType::f16, 0x8001, 0xb3800000);
        row("f16 minus zero", DType::f16, 0x8000, 0x80000000);
        row("f16 infinity", DType::f16, 0x7c00, 0x7f800000);
        row("f16 minus infinity", DType::f16, 0xfc00, 0xff800000);
        row("f16 quiet NaN", DType::f16, 0x7e00, 0x7fc00000);
        row("f16 NaN with payload and sign", DType::f16, 0xfe55, 0xffcaa000);
        row("bf16 one", DType::bf16, 0x3f80, 0x3f800000);
        row("bf16 largest", DType::bf16, 0x7f7f, 0x7f7f0000);
        row("bf16 smallest subnormal", DType::bf16, 0x0001, 0x00010000);
        row("bf16 minus zero", DType::bf16, 0x8000, 0x80000000);
        row("bf16 infinity", DType::bf16, 0x7f80, 0x7f800000);
        row("bf16 NaN with payload", DType::bf16, 0xffc1, 0xffc10000);
    }
    void special_values() {
        QFETCH(DType, dtype);
        QFETCH(quint16, bits);
        std::array<std::byte, 2> bytes{std::byte(bits & 0xff), std::byte(bits >> 8)};
        std::array<float, 1> out{};
        convert_to_f32(dtype, bytes.data(), out);
        QTEST(std::bit_cast<quint32>(out[0]), "f32_bits");
    }

    void converts_unaligned_runs_data() {
        QTest::addColumn<DType>("dtype");
        QTest::newRow("f32") << DType::f32;
        QTest::newRow("f16") << DType::f16;
        QTest::newRow("bf16") << DType::bf16;
    }
    void converts_unaligned_runs() {
        QFETCH(DType, dtype);
        // 1, -2, 0.5 at an odd address.
        const std::array<std::uint32_t, 3> f32{0x3f800000, 0xc0000000, 0x3f000000};
        const std::array<std::uint16_t, 3> f16{0x3c00, 0xc000, 0x3800};
        const std::array<std::uint16_t, 3> bf16{0x3f80, 0xc000, 0x3f00};
        std::vector<std::byte> bytes(1 + 3 * size_of(dtype));
        const void* source = dtype == DType::f32   ? static_cast<const void*>(f32.data())
                             : dtype == DType::f16 ? static_cast<const void*>(f16.data())
                                                   : static_cast<const void*>(bf16.data());
        std::memcpy(bytes.data() + 1, source, 3 * size_of(dtype));
        std::array<float, 3> out{};
        convert_to_f32(dtype, bytes.data() + 1, out);
        QCOMPARE(out, (std::array{1.0f, -2.0f, 0.5f}));
    }

    void empty_run_touches_nothing() {
        convert_to_f32(DType::f32, nullptr, {});
        convert_to_f32(DType::f16, nullptr, {});
    }

    void sizes_and_names() {
        QCOMPARE(size_of(DType::f32), std::size_t{4});
        QCOMPARE(size_of(DType::f16), std::size_t{2});
        QCOMPARE(size_of(DType::bf16), std::size_t{2});
        QCOMPARE(QString(to_string(DType::f32)), QString("f32"));
        QCOMPARE(QString(to_string(DType::f16)), QString("f16"));
        QCOMPARE(QString(to_string(DType::bf16)), QString("bf16"));
    }
};

QTEST_APPLESS_MAIN(DTypeTest)
#include "tst_dtype.moc"
