// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <string>

#include "engine/core/utf8.h"
#include "engine/tokenizer/tokenizer.h"

using namespace decodescope;

class TestUtf8 : public QObject {
    Q_OBJECT

private slots:
    void stream_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("decoded");
        const QByteArray r = "\xEF\xBF\xBD";
        QTest::newRow("empty") << QByteArray() << QByteArray();
        QTest::newRow("text") << QByteArray("na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\x98\x80")
                              << QByteArray("na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\x98\x80");
        QTest::newRow("NUL") << QByteArray("a\0b", 3) << QByteArray("a\0b", 3);
        QTest::newRow("lone continuation") << QByteArray("a\x80z") << "a" + r + "z";
        QTest::newRow("FF FE") << QByteArray("\xFF\xFE") << r + r;
        QTest::newRow("overlong") << QByteArray("\xC0\xAF") << r + r;
        QTest::newRow("overlong of three") << QByteArray("\xE0\x80\xAF") << r + r + r;
        QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << r + r + r;
        QTest::newRow("above U+10FFFF") << QByteArray("\xF4\x90\x80\x80") << r + r + r + r;
        QTest::newRow("cut, then a letter") << QByteArray("\xE2\x82z") << r + "z";
        QTest::newRow("cut, then another start") << QByteArray("\xF0\x9F\xC3\xA9") << r + "\xC3\xA9";
        QTest::newRow("cut at the end") << QByteArray("z\xF0\x9F\x98") << "z" + r;
        // The example of the Unicode Standard, table 3-11.
        QTest::newRow("maximal subparts")
            << QByteArray("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64")
            << "a" + r + r + r + "b" + r + "c" + r + r + "d";
    }
    void stream() {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, decoded);
        const std::string all = bytes.toStdString();
        for (std::size_t cut = 0; cut <= all.size(); ++cut) {
            Utf8Stream stream;
            std::string out = stream.push(all.substr(0, cut));
            out += stream.push(all.substr(cut));
            out += stream.finish();
            QCOMPARE(QByteArray::fromStdString(out), decoded);
        }
        Utf8Stream stream;
        std::string out;
        for (const char byte : all) out += stream.push(std::string_view(&byte, 1));
        out += stream.finish();
        QCOMPARE(QByteArray::fromStdString(out), decoded);
        QVERIFY(stream.finish().empty());
    }

    void nothing_is_shown_before_a_character_is_complete() {
        Utf8Stream stream;
        QCOMPARE(stream.push("\xF0\x9F"), std::string());
        QCOMPARE(stream.push("\x98"), std::string());
        QCOMPARE(stream.push("\x80!"), std::string("\xF0\x9F\x98\x80!"));
    }

    void append_and_read_back() {
        for (char32_t c = 0; c <= 0x10FFFF; c = c < 0x3000 ? c + 1 : c + 97) {
            if (c >= 0xD800 && c <= 0xDFFF) continue;
            std::string bytes;
            append_utf8(bytes, c);
            const Utf8Step step = utf8_at(bytes, 0);
            QVERIFY(step.kind == Utf8Step::Kind::character);
            QCOMPARE(step.length, bytes.size());
            QCOMPARE(step.code_point, c);
        }
    }
};

QTEST_APPLESS_MAIN(TestUtf8)
#include "tst_utf8.moc"
