// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <random>
#include <string>

#include "engine/tokenizer/nfc.h"
#include "engine/tokenizer/split.h"

using namespace decodescope;
using namespace std::string_literals;

namespace {

QByteArrayList pieces(SplitRule rule, const std::string& text) {
    QByteArrayList list;
    PieceSplitter splitter(rule, text);
    for (std::string_view piece = splitter.next(); !piece.empty(); piece = splitter.next()) {
        list.append(QByteArray(piece.data(), static_cast<qsizetype>(piece.size())));
    }
    return list;
}

}  // namespace

class TestSplit : public QObject {
    Q_OBJECT

private slots:
    void rules_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArrayList>("gpt2");
        QTest::addColumn<QByteArrayList>("llama3");
        QTest::addColumn<QByteArrayList>("qwen2");
        QTest::addColumn<QByteArrayList>("smollm2");
        using L = QByteArrayList;
        const auto row = [](const char* name, const QByteArray& text, const L& gpt2, const L& llama3,
                            const L& qwen2, const L& smollm2) {
            QTest::newRow(name) << text << gpt2 << llama3 << qwen2 << smollm2;
        };
        row("empty", "", {}, {}, {}, {});
        row("numbers", "a1234 56", {"a", "1234", " 56"}, {"a", "123", "4", " ", "56"},
            {"a", "1", "2", "3", "4", " ", "5", "6"}, {"a", "1", "2", "3", "4", " ", "5", "6"});
        const L words = {"He", "'s", " I", "'", "LL"};
        row("contractions", "He's I'LL", words, {"He", "'s", " I", "'LL"}, {"He", "'s", " I", "'LL"}, words);
        row("long s", "a'\u017fx", {"a", "'", "\u017fx"}, {"a", "'\u017f", "x"}, {"a", "'\u017f", "x"},
            {"a", "'", "\u017fx"});
        const L sign = {"(", "x", ")"};
        row("sign before letters", "(x)", sign, {"(x", ")"}, {"(x", ")"}, sign);
        const L tab = {"\t", "x"};
        row("tab before letters", "\tx", tab, {"\tx"}, {"\tx"}, tab);
        const L line_end = {".", "\r\n", "\r", "x"};
        row("line ends behind signs", ".\r\n\rx", {".", "\r\n", "\r", "x"}, {".\r\n\r", "x"},
            {".\r\n\r", "x"}, line_end);
        row("line ends in white space", "a \r\n \n  b", {"a", " \r\n \n ", " b"},
            {"a", " \r\n \n", " ", " b"}, {"a", " \r\n \n", " ", " b"}, {"a", " \r\n \n ", " b"});
        row("white space at the end", "a \n ", {"a", " \n "}, {"a", " \n", " "}, {"a", " \n", " "},
            {"a", " \n "});
        // The end of a line by Unicode, but white space for the rules.
        row("next line",
            "a\u0085\u0085"
            "b",
            {"a", "\u0085", "\u0085", "b"},
            {"a", "\u0085",
             "\u0085"
             "b"},
            {"a", "\u0085",
             "\u0085"
             "b"},
            {"a", "\u0085", "\u0085", "b"});
        row("line separator", "a\u2028.", {"a", "\u2028", "."}, {"a", "\u2028", "."}, {"a", "\u2028", "."},
            {"a", "\u2028", "."});
        row("other numbers", "\u0663\u00bd\u2167\u0664", {"\u0663\u00bd\u2167\u0664"},
            {"\u0663\u00bd\u2167", "\u0664"}, {"\u0663", "\u00bd", "\u2167", "\u0664"},
            {"\u0663", "\u00bd", "\u2167", "\u0664"});
        row("marks", "e\u0301a", {"e", "\u0301", "a"},
            {"e",
             "\u0301"
             "a"},
            {"e",
             "\u0301"
             "a"},
            {"e", "\u0301", "a"});
        row("zero-width space is none", "a\u200b b", {"a", "\u200b", " b"}, {"a", "\u200b", " b"},
            {"a", "\u200b", " b"}, {"a", "\u200b", " b"});
        row("broken UTF-8", " \xff\xe2\x82z", {" \xff\xe2\x82", "z"}, {" \xff\xe2\x82", "z"},
            {" \xff\xe2\x82", "z"}, {" \xff\xe2\x82", "z"});
        row("a broken byte before a letter", "\xffz", {"\xff", "z"}, {"\xffz"}, {"\xffz"}, {"\xff", "z"});
        row("a number after spaces", "  7", {" ", " 7"}, {" ", " ", "7"}, {" ", " ", "7"}, {"  ", "7"});
    }
    void rules() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArrayList, gpt2);
        QFETCH(QByteArrayList, llama3);
        QFETCH(QByteArrayList, qwen2);
        QFETCH(QByteArrayList, smollm2);
        const std::string string = text.toStdString();
        QCOMPARE(pieces(SplitRule::gpt2, string), gpt2);
        QCOMPARE(pieces(SplitRule::llama3, string), llama3);
        QCOMPARE(pieces(SplitRule::qwen2, string), qwen2);
        QCOMPARE(pieces(SplitRule::smollm2, string), smollm2);
        QCOMPARE(pieces(SplitRule::none, string), text.isEmpty() ? QByteArrayList() : QByteArrayList{text});
    }

    void pieces_make_up_the_text() {
        std::mt19937 random(5);
        constexpr std::string_view alphabet = "ab1 '\n\r\t.s\xc3\xa9\xe2\x80\xa8\xff";
        for (int n = 0; n < 2000; ++n) {
            std::string text;
            for (std::size_t i = 0; i < random() % 30; ++i) text += alphabet[random() % alphabet.size()];
            for (const SplitRule rule : {SplitRule::none, SplitRule::gpt2, SplitRule::llama3,
                                         SplitRule::qwen2, SplitRule::smollm2}) {
                QCOMPARE(pieces(rule, text).join(), QByteArray::fromStdString(text));
            }
        }
    }

    void normal_form_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("normal");
        QTest::newRow("empty") << QByteArray() << QByteArray();
        QTest::newRow("ASCII") << QByteArray("a\0b", 3) << QByteArray("a\0b", 3);
        QTest::newRow("accent") << QByteArray("cafe\u0301 e") << QByteArray("caf\u00e9 e");
        QTest::newRow("accent first") << QByteArray("\u0301e") << QByteArray("\u0301e");
        QTest::newRow("two marks in the other order")
            << QByteArray("a\u0301\u0323") << QByteArray("\u1ea1\u0301");
        QTest::newRow("jamo") << QByteArray("\u1100\u1161\u11a8") << QByteArray("\uac01");
        QTest::newRow("excluded from composition") << QByteArray("\u0958") << QByteArray("\u0915\u093c");
        QTest::newRow("singleton") << QByteArray("\u212a") << QByteArray("K");
        QTest::newRow("broken bytes stay")
            << QByteArray("e\xff\u0301\xe2\x82") << QByteArray("e\xff\u0301\xe2\x82");
    }
    void normal_form() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, normal);
        QCOMPARE(QByteArray::fromStdString(to_nfc(text.toStdString())), normal);
    }

    /// Ordering marks one step at a time would take minutes here.
    void nothing_but_marks() {
        std::string text;
        std::string below;
        std::string above;
        for (int i = 0; i < 200'000; ++i) {
            text += "\u0301\u0323";
            below += "\u0323";
            above += "\u0301";
        }
        QVERIFY(to_nfc(text) == below + above);
    }
};

QTEST_APPLESS_MAIN(TestSplit)
#include "tst_split.moc"
