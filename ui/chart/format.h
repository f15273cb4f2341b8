// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>

namespace decodescope {

/// What a number on an axis, in a value box or in a table column is measured in.
enum class Unit {
    none,
    count,         ///< whole numbers with thousands separators
    milliseconds,  ///< values in ms
    seconds,       ///< values in s
    bytes,         ///< values in bytes, shown in binary units (KiB = 1,024 B)
    percent,       ///< values in percent
    ratio,         ///< "53x" with a multiplication sign
    error,         ///< small dimensionless numbers: "1.1e-6"
    tokens_per_second,
    gigabytes_per_second,  ///< 1 GB = 10^9 B
};

// Every number of the program is written by these functions, the same on every system: a point as decimal
// mark, commas between thousands, three significant digits unless whole.

/// What is shown where there is no number.
QString notMeasured();
/// "1,234,567".
QString formatCount(std::int64_t value);
/// Three significant digits, thousands separated: "0.0123", "4.56", "78.9", "2,440".
QString formatNumber(double value, int significant = 3);
/// "0.412 ms", "21.8 ms", "1,240 ms"; below 0.01 ms in microseconds; "not measured" unless finite and >= 0.
QString formatMilliseconds(double ms);
/// A time in ns with the unit that suits it: us, ms or s.
QString formatDuration(double ns);
/// "0 B", "4.86 MiB"; negative = not measured.
QString formatBytes(double bytes);
/// "1,048,576 B".
QString formatBytesExactly(std::int64_t bytes);
/// "53.2x", with a multiplication sign.
QString formatRatio(double ratio);
/// "1.1e-6", "0".
QString formatError(double error);
/// "64 %".
QString formatPercent(double share);
/// The value with its unit, as in value boxes and tables. NaN = "not measured". Bytes may be negative here: a
/// difference.
QString formatValue(double value, Unit unit);
/// The label of a tick; `step` between ticks decides how many decimals are needed, and for bytes `largest`,
/// the upper end of the axis, which unit all labels have.
QString formatTick(double value, double step, Unit unit, double largest);
/// What a CSV column name ends with: "_ms", "_bytes", ... ; empty for plain numbers.
QString columnSuffix(Unit unit);
/// A number as it stands in a CSV file: shortest text that reads back to the same value; empty when NaN.
QString csvNumber(double value);

}  // namespace decodescope
