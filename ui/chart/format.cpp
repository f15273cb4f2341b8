// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/format.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/text.h"

namespace decodescope {

namespace {

const QLocale& numbers() {
    static const QLocale locale(QLocale::English, QLocale::UnitedStates);
    return locale;
}

QString withUnit(const QString& number, const char* unit) {
    return number + QChar(QChar::Nbsp) + QString::fromUtf8(unit);
}

struct ByteUnit {
    const char* name;
    double size;
};

constexpr std::array<ByteUnit, 5> byteUnits{
    {{"B", 1.0}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}}};

const ByteUnit& byteUnitFor(double bytes) {
    // 1000 and not 1024, so that no number needs four digits before the point.
    std::size_t i = 0;
    while (i + 1 < byteUnits.size() && bytes >= 999.5 * byteUnits[i].size) ++i;
    return byteUnits[i];
}

int decimalsOfStep(double step) {
    int decimals = 0;
    while (decimals < 9 && std::abs(step - std::round(step)) > 1e-6 * std::abs(step)) {
        step *= 10;
        ++decimals;
    }
    return decimals;
}

}  // namespace

QString notMeasured() {
    return tr("not measured");
}

QString formatCount(std::int64_t value) {
    return numbers().toString(static_cast<qlonglong>(value));
}

QString formatNumber(double value, int significant) {
    if (!std::isfinite(value)) return notMeasured();
    if (value == 0) return QStringLiteral("0");
    const double magnitude = std::abs(value);
    if (magnitude < 1e-4 || magnitude >= 1e15) return formatError(value);
    int before = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
    // 9.996 has one digit before the point, but rounds to 10.0.
    const double scale = std::pow(10.0, std::max(0, significant - before));
    if (std::round(magnitude * scale) / scale >= std::pow(10.0, before)) ++before;
    return numbers().toString(value, 'f', std::max(0, significant - before));
}

QString formatMilliseconds(double ms) {
    if (!std::isfinite(ms) || ms < 0) return notMeasured();
    if (ms > 0 && ms < 0.01) return withUnit(formatNumber(ms * 1e3), "µs");
    return withUnit(formatNumber(ms), "ms");
}

QString formatDuration(double ns) {
    if (!std::isfinite(ns) || ns < 0) return notMeasured();
    if (ns > 0 && ns < 1e4) return withUnit(formatNumber(ns * 1e-3), "µs");
    if (ns < 999.5e6) return withUnit(formatNumber(ns * 1e-6), "ms");
    return withUnit(formatNumber(ns * 1e-9), "s");
}

QString formatBytes(double bytes) {
    if (!std::isfinite(bytes) || bytes < 0) return notMeasured();
    const ByteUnit& unit = byteUnitFor(bytes);
    return withUnit(formatNumber(bytes / unit.size), unit.name);
}

QString formatBytesExactly(std::int64_t bytes) {
    if (bytes < 0) return notMeasured();
    return withUnit(formatCount(bytes), "B");
}

QString formatRatio(double ratio) {
    if (!std::isfinite(ratio)) return notMeasured();
    return formatNumber(ratio) + QChar(0x00d7);
}

QString formatError(double error) {
    if (!std::isfinite(error)) return notMeasured();
    if (error == 0) return QStringLiteral("0");
    int exponent = static_cast<int>(std::floor(std::log10(std::abs(error))));
    double mantissa = std::round(error / std::pow(10.0, exponent) * 10) / 10;
    if (std::abs(mantissa) >= 10) {
        mantissa /= 10;
        ++exponent;
    }
    return numbers().toString(mantissa, 'g', 2) + QLatin1Char('e') + QString::number(exponent);
}

QString formatPercent(double share) {
    if (!std::isfinite(share)) return notMeasured();
    const double percent = share * 100;
    return withUnit(numbers().toString(percent, 'f', percent != 0 && std::abs(percent) < 9.95 ? 1 : 0), "%");
}

QString formatValue(double value, Unit unit) {
    if (!std::isfinite(value)) return notMeasured();
    switch (unit) {
        case Unit::none: return formatNumber(value);
        case Unit::count: return numbers().toString(value, 'f', value == std::round(value) ? 0 : 1);
        case Unit::milliseconds: return formatMilliseconds(value);
        case Unit::seconds: return withUnit(formatNumber(value), "s");
        case Unit::bytes: return value < 0 ? QChar(0x2212) + formatBytes(-value) : formatBytes(value);
        case Unit::percent: return formatPercent(value / 100);
        case Unit::ratio: return formatRatio(value);
        case Unit::error: return formatError(value);
        case Unit::tokens_per_second: return withUnit(formatNumber(value), "tok/s");
        case Unit::gigabytes_per_second: return withUnit(formatNumber(value), "GB/s");
    }
    return formatNumber(value);
}

QString formatTick(double value, double step, Unit unit, double largest) {
    if (std::abs(value) < 1e-9 * std::abs(step)) return QStringLiteral("0");
    if (unit == Unit::error) {
        // Whole decades are easier to read without a mantissa, and plain from 0.01 to 100.
        const double decade = std::log10(std::abs(value));
        if (std::abs(decade - std::round(decade)) < 1e-9 && std::abs(decade) > 2.5) {
            return QStringLiteral("1e") + QString::number(std::lround(decade));
        }
        return std::abs(decade) > 2.5 ? formatError(value) : numbers().toString(value, 'g', 3);
    }
    if (unit == Unit::bytes) {
        const ByteUnit& byteUnit = byteUnitFor(largest);
        return withUnit(numbers().toString(value / byteUnit.size, 'f', decimalsOfStep(step / byteUnit.size)),
                        byteUnit.name);
    }
    return numbers().toString(value, 'f', decimalsOfStep(step)) +
           (unit == Unit::ratio     ? QString(QChar(0x00d7))
            : unit == Unit::percent ? QString(QChar::Nbsp) + QLatin1Char('%')
                                    : QString());
}

QString columnSuffix(Unit unit) {
    switch (unit) {
        case Unit::none:
        case Unit::count:
        case Unit::error: return {};
        case Unit::milliseconds: return QStringLiteral("_ms");
        case Unit::seconds: return QStringLiteral("_s");
        case Unit::bytes: return QStringLiteral("_bytes");
        case Unit::percent: return QStringLiteral("_percent");
        case Unit::ratio: return QStringLiteral("_ratio");
        case Unit::tokens_per_second: return QStringLiteral("_tok_s");
        case Unit::gigabytes_per_second: return QStringLiteral("_gb_s");
    }
    return {};
}

QString csvNumber(double value) {
    if (std::isnan(value)) return {};
    if (value == std::round(value) && std::abs(value) < 1e15)
        return QString::number(static_cast<qint64>(value));
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

}  // namespace decodescope
