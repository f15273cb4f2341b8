// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/core/quote.h"

using namespace decodescope;

class QuoteTest : public QObject {
    Q_OBJECT

private slots:
    void quote_escapes_and_cuts_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("expected");
        QTest::newRow("plain") << QByteArray("wte.weight") << QByteArray("\"wte.weight\"");
        QTest::newRow("empty") << QByteArray("") << QByteArray("\"\"");
        QTest::newRow("control") << QByteArray("a\0\n\x7f", 4) << QByteArray("\"a\\x00\\x0a\\x7f\"");
        QTest::newRow("quote and backslash") << QByteArray("a\"\\") << QByteArray("\"a\\\"\\\\\"");
        QTest::newRow("utf-8") << QByteArray("caf\xc3\xa9") << QByteArray("\"caf\xc3\xa9\"");
        QTest::newRow("not utf-8") << QByteArray("\xff\xc3") << QByteArray("\"\\xff\\xc3\"");
        QTest::newRow("long") << QByteArray("1234567890123") << QByteArray("\"1234567890...\"");
        QTest::newRow("cut before a character")
            << QByteArray("123456789\xc3\xa9") << QByteArray("\"123456789...\"");
    }
    void quote_escapes_and_cuts() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, expected);
        QCOMPARE(QByteArray::fromStdString(quote(text.toStdString(), 10)), expected);
    }

    void finds_the_first_byte_that_is_not_utf8_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("offset");  // -1: all is well-formed
        QTest::newRow("ascii") << QByteArray("abc") << -1;
        QTest::newRow("2, 3 and 4 bytes")
            << QByteArray("\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf") << -1;
        QTest::newRow("lone continuation") << QByteArray("ab\x80") << 2;
        QTest::newRow("overlong 2") << QByteArray("a\xc0\xaf") << 1;
        QTest::newRow("overlong 3") << QByteArray("\xe0\x9f\xbf") << 0;
        QTest::newRow("overlong 4") << QByteArray("\xf0\x8f\xbf\xbf") << 0;
        QTest::newRow("surrogate") << QByteArray("\xed\xa0\x80") << 0;
        QTest::newRow("above U+10FFFF") << QByteArray("\xf4\x90\x80\x80") << 0;
        QTest::newRow("cut short") << QByteArray("abc\xe2\x82") << 3;
        QTest::newRow("bad third byte") << QByteArray("\xe2\x82(") << 0;
    }
    void finds_the_first_byte_that_is_not_utf8() {
        QFETCH(QByteArray, text);
        QFETCH(int, offset);
        const auto found = find_invalid_utf8(text.toStdString());
        QCOMPARE(found ? static_cast<int>(*found) : -1, offset);
    }
};

QTEST_APPLESS_MAIN(QuoteTest)
#include "tst_quote.moc"
