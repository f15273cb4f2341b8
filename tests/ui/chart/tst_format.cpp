// SPDX-License-Identifier: GPL-3.0-or-later
#include <QLocale>
#include <QTest>

#include <limits>

#include "ui/chart/axis_scale.h"
#include "ui/chart/format.h"
#include "ui/chart/table.h"

using namespace decodescope;

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// Texts of the rows are easier to read with plain spaces.
QString plain(QString text) {
    return text.replace(QChar(QChar::Nbsp), QLatin1Char(' '));
}

}  // namespace

class FormatTest : public QObject {
    Q_OBJECT

private slots:
    void values_data();
    void values();
    void durations_data();
    void durations();
    void ticks_data();
    void ticks();
    void axisEnds_data();
    void axisEnds();
    void systemLocaleDoesNotMatter();
    void csvNumbersReadBack();
    void csvQuotes();
    void identifiers();
};

void FormatTest::values_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<Unit>("unit");
    QTest::addColumn<QString>("text");
    QTest::newRow("not measured") << notANumber << Unit::milliseconds << "not measured";
    QTest::newRow("infinite") << std::numeric_limits<double>::infinity() << Unit::none << "not measured";
    QTest::newRow("zero ms") << 0.0 << Unit::milliseconds << "0 ms";
    QTest::newRow("ms") << 21.84 << Unit::milliseconds << "21.8 ms";
    QTest::newRow("small ms") << 0.4123 << Unit::milliseconds << "0.412 ms";
    QTest::newRow("microseconds") << 0.0041234 << Unit::milliseconds << "4.12 µs";
    QTest::newRow("large ms") << 12345.6 << Unit::milliseconds << "12,346 ms";
    QTest::newRow("negative time") << -1.0 << Unit::milliseconds << "not measured";
    QTest::newRow("rounds up a digit") << 9.996 << Unit::milliseconds << "10.0 ms";
    QTest::newRow("rounds up to 100") << 99.96 << Unit::milliseconds << "100 ms";
    QTest::newRow("bytes") << 0.0 << Unit::bytes << "0 B";
    QTest::newRow("512 B") << 512.0 << Unit::bytes << "512 B";
    QTest::newRow("KiB") << 12288.0 << Unit::bytes << "12.0 KiB";
    QTest::newRow("no four digits") << 1023.0 * 1024 << Unit::bytes << "0.999 MiB";
    QTest::newRow("MiB") << 4.86 * 1048576 << Unit::bytes << "4.86 MiB";
    QTest::newRow("count") << 1234567.0 << Unit::count << "1,234,567";
    QTest::newRow("ratio") << 53.21 << Unit::ratio << "53.2×";
    QTest::newRow("percent") << 25.5 << Unit::percent << "26 %";
    QTest::newRow("difference of bytes") << -2048.0 << Unit::bytes << "−2.00 KiB";
    QTest::newRow("error") << 1.12e-6 << Unit::error << "1.1e-6";
    QTest::newRow("error rounds up") << 9.97e-7 << Unit::error << "1e-6";
    QTest::newRow("no error") << 0.0 << Unit::error << "0";
    QTest::newRow("tok/s") << 2440.4 << Unit::tokens_per_second << "2,440 tok/s";
    QTest::newRow("GB/s") << 53.04 << Unit::gigabytes_per_second << "53.0 GB/s";
}

void FormatTest::values() {
    QFETCH(double, value);
    QFETCH(Unit, unit);
    QTEST(plain(formatValue(value, unit)), "text");
}

void FormatTest::durations_data() {
    QTest::addColumn<double>("ns");
    QTest::addColumn<QString>("text");
    QTest::newRow("us") << 1500.0 << "1.50 µs";
    QTest::newRow("ms") << 2.1e6 << "2.10 ms";
    QTest::newRow("just below a second") << 999.4e6 << "999 ms";
    QTest::newRow("s") << 4.3e9 << "4.30 s";
    QTest::newRow("none") << notANumber << "not measured";
}

void FormatTest::durations() {
    QFETCH(double, ns);
    QTEST(plain(formatDuration(ns)), "text");
}

void FormatTest::ticks_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<double>("step");
    QTest::addColumn<Unit>("unit");
    QTest::addColumn<double>("largest");
    QTest::addColumn<QString>("text");
    QTest::newRow("whole") << 24.0 << 8.0 << Unit::milliseconds << 32.0 << "24";
    QTest::newRow("half") << 1.5 << 0.5 << Unit::seconds << 2.0 << "1.5";
    QTest::newRow("same decimals on all") << 1.0 << 0.25 << Unit::seconds << 1.0 << "1.00";
    QTest::newRow("zero") << 0.0 << 0.25 << Unit::seconds << 1.0 << "0";
    QTest::newRow("nearly zero") << -1e-17 << 0.1 << Unit::seconds << 1.0 << "0";
    QTest::newRow("thousands") << 12000.0 << 4000.0 << Unit::count << 16000.0 << "12,000";
    QTest::newRow("bytes in the axis' unit")
        << 0.4 * 0x1p20 << 0.4 * 0x1p20 << Unit::bytes << 1.6 * 0x1p20 << "0.4 MiB";
    QTest::newRow("decade") << 1e-6 << 1e-6 << Unit::error << 1e-6 << "1e-6";
    QTest::newRow("plain decade") << 0.1 << 0.1 << Unit::error << 0.1 << "0.1";
    QTest::newRow("one") << 1.0 << 1.0 << Unit::error << 1.0 << "1";
}

void FormatTest::ticks() {
    QFETCH(double, value);
    QFETCH(double, step);
    QFETCH(Unit, unit);
    QFETCH(double, largest);
    QTEST(plain(formatTick(value, step, unit, largest)), "text");
}

void FormatTest::axisEnds_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<Unit>("unit");
    QTest::addColumn<bool>("whole");
    QTest::addColumn<double>("end");
    QTest::newRow("32") << 26.5 << Unit::milliseconds << false << 32.0;
    QTest::newRow("exactly") << 40.0 << Unit::milliseconds << false << 40.0;
    QTest::newRow("small") << 0.0071 << Unit::seconds << false << 0.008;
    QTest::newRow("nothing") << 0.0 << Unit::seconds << false << 1.0;
    QTest::newRow("nothing, whole") << 0.0 << Unit::count << true << 4.0;
    QTest::newRow("whole") << 3.0 << Unit::count << true << 3.0;
    QTest::newRow("whole steps") << 312.0 << Unit::count << true << 400.0;
    QTest::newRow("bytes") << 1.4 * 0x1p20 << Unit::bytes << false << 1.6 * 0x1p20;
}

void FormatTest::axisEnds() {
    QFETCH(double, value);
    QFETCH(Unit, unit);
    QFETCH(bool, whole);
    QFETCH(double, end);
    QCOMPARE(niceMaximum(value, 4, unit, whole), end);
    // The end carries a label: it is a whole number of steps of its own range.
    const double step = niceStep(end, 4, unit, whole);
    QVERIFY(std::abs(end / step - std::round(end / step)) < 1e-9);
}

void FormatTest::systemLocaleDoesNotMatter() {
    const QLocale before;
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    QCOMPARE(formatNumber(1234.5), QStringLiteral("1,235"));
    QCOMPARE(csvNumber(0.5), QStringLiteral("0.5"));
    QLocale::setDefault(before);
}

void FormatTest::csvNumbersReadBack() {
    for (const double value : {0.1, 1.0 / 3, 1e-300, 123456789.0, -2.5, 4503599627370497.5, 1e22}) {
        QCOMPARE(csvNumber(value).toDouble(), value);
    }
    QCOMPARE(csvNumber(notANumber), QString());
}

void FormatTest::csvQuotes() {
    Table table;
    table.columns = {QStringLiteral("a"), QStringLiteral("b,c")};
    table.rows = {{QStringLiteral("1"), QStringLiteral("say \"x\"")},
                  {QString(), QStringLiteral("two\nlines")}};
    QCOMPARE(toCsv(table), QByteArray("a,\"b,c\"\r\n1,\"say \"\"x\"\"\"\r\n,\"two\nlines\"\r\n"));
    QCOMPARE(toTabSeparated(table), QStringLiteral("a\tb,c\n1\tsay \"x\"\n\ttwo lines\n"));
}

void FormatTest::identifiers() {
    QCOMPARE(identifier(QStringLiteral("Latency per token")), QStringLiteral("latency_per_token"));
    QCOMPARE(identifier(QStringLiteral(" KV (live) ")), QStringLiteral("kv_live"));
    QCOMPARE(identifier(QStringLiteral("...")), QString());
}

QTEST_APPLESS_MAIN(FormatTest)
#include "tst_format.moc"
