// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

using namespace decodescope;
using Ids = std::vector<std::int32_t>;
using namespace std::string_literals;

namespace {

Ids repeated(int n, std::int32_t id) {
    return Ids(static_cast<std::size_t>(n), id);
}

QByteArray shown(const Ids& ids) {
    QByteArray text;
    for (const std::int32_t id : ids) text += QByteArray::number(id) + ' ';
    return text;
}

std::filesystem::path source_dir() {
    return DECODESCOPE_SOURCE_DIR;
}

/// Texts whose GPT-2 ids two independent programs agree on.
struct Case {
    const char* name;
    std::string text;
    Ids ids;
};

const std::vector<Case>& gpt2_cases() {
    static const std::vector<Case> cases = {
        {"empty", "", {}},
        {"two words", "Hello world", {15496, 995}},
        {"leading space", " Hello world", {18435, 995}},
        {"trailing space", "Hello world ", {15496, 995, 220}},
        {"two spaces", "a  b", {64, 220, 275}},
        {"trailing run", "a   ", {64, 220, 220, 220}},
        {"tab", "\tx", {197, 87}},
        {"space and tab", " \tx", {220, 197, 87}},
        {"CR LF", "a\r\nb", {64, 201, 198, 65}},
        {"two LF", "\n\n", {628}},
        {"three LF", "\n\n\n", {628, 198}},
        {"LF space LF", "\n \n", {198, 220, 198}},
        {"LF and indent", "\n\n  x", {628, 220, 2124}},
        {"contractions",
         "I'll we've he's they're I'm you'd don't",
         {40, 1183, 356, 1053, 339, 338, 484, 821, 314, 1101, 345, 1549, 836, 470}},
        {"upper-case contractions", "I'LL WE'VE DON'T", {40, 6, 3069, 12887, 6, 6089, 23917, 6, 51}},
        {"curly apostrophe", "don\u2019t", {9099, 447, 247, 83}},
        {"digits", "1234567890", {10163, 2231, 30924, 3829}},
        {"numbers", "123 456", {10163, 604, 3980}},
        {"decimal", "1,234.56", {16, 11, 24409, 13, 3980}},
        {"mixed word", "abc123def", {39305, 10163, 4299}},
        {"underscore", "foo_bar", {21943, 62, 5657}},
        {"code",
         "def f(x):\n    return x+1\n",
         {4299, 277, 7, 87, 2599, 198, 220, 220, 220, 1441, 2124, 10, 16, 198}},
        {"signs", "!!!???...", {10185, 28358, 986}},
        {"space and dots", " ...", {2644}},
        {"composed accent", "caf\u00e9", {66, 1878, 2634}},
        {"combining accent", "cafe\u0301", {66, 8635, 136, 223}},
        {"emoji", "\U0001F600", {47249, 222}},
        {"joined emoji",
         "\U0001F468\u200D\U0001F469\u200D\U0001F467",
         {41840, 101, 447, 235, 41840, 102, 447, 235, 41840, 100}},
        {"Chinese",
         "\u4f60\u597d\uff0c\u4e16\u754c",
         {19526, 254, 25001, 121, 171, 120, 234, 10310, 244, 45911, 234}},
        {"Arabic", "\u0645\u0631\u062d\u0628\u0627", {25405, 26897, 148, 255, 39848, 12919}},
        {"marks split words",
         "\u0928\u092e\u0938\u094d\u0924\u0947",
         {11976, 101, 11976, 106, 11976, 116, 24231, 235, 11976, 97, 24231, 229}},
        {"no-break space", "a\u00a0b", {64, 1849, 65}},
        {"two no-break spaces", "x\u00a0\u00a0y", {87, 1849, 1849, 88}},
        {"next line", "a\u0085"s + "b", {64, 126, 227, 65}},
        {"ideographic space", "a\u3000"s + "b", {64, 5099, 222, 65}},
        {"line separator", "a\u2028"s + "b", {64, 447, 101, 65}},
        {"zero-width space", "a\u200b"s + "b", {64, 9525, 65}},
        {"BOM is text", "\ufeffHello", {171, 119, 123, 15496}},
        {"NUL inside", "a\0b"s, {64, 188, 65}},
        {"NUL first", "\0Hello"s, {188, 15496}},
        {"file separator", "a\x1c"s + "b", {64, 216, 65}},
        {"delete", "\x7f", {221}},
        {"control token as text", "<|endoftext|>", {27, 91, 437, 1659, 5239, 91, 29}},
        {"control token inside", "Hi<|endoftext|>there", {17250, 27, 91, 437, 1659, 5239, 91, 29, 8117}},
        {"control token between spaces",
         "Hi <|endoftext|> there",
         {17250, 1279, 91, 437, 1659, 5239, 91, 29, 612}},
        {"one rare token", " SolidGoldMagikarp", {43453}},
        {"other numbers", "\u00bd \u2167 \u0663", {23141, 2343, 227, 100, 18923, 96}},
        {"the space symbol itself", "\u0120Hello", {128, 254, 15496}},
        {"64 a", std::string(64, 'a'), repeated(16, 24794)},
        {"1000 a", std::string(1000, 'a'), repeated(250, 24794)},
        {"long word", "antidisestablishmentarianism", {415, 29207, 44390, 3699, 1042}},
        {"address",
         "https://example.com/a?b=c&d=1",
         {5450, 1378, 20688, 13, 785, 14, 64, 30, 65, 28, 66, 5, 67, 28, 16}},
        {"hash space hash", "# #", {2, 1303}},
        {"two hashes", "##", {2235}},
        {"LF hash", "\n#", {198, 2}},
        {"replacement character", "\ufffd", {4210}},
        {"two replacement characters", "\ufffd\ufffd", {6353}},
        {"LF space equals", "\n =", {198, 796}},
        {"apostrophe word", "' era", {6, 6980}},
        {"no words", "w048 7tuijk dsdfhu", {86, 47202, 767, 28047, 45961, 288, 82, 7568, 13415}},
        {"broken UTF-8: cut sequence", "\xC3(", {127, 7}},
        {"broken UTF-8: FF FE", "\xFF\xFE", {187, 186}},
    };
    return cases;
}

std::string random_bytes(std::mt19937& random, std::size_t n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i) bytes.push_back(static_cast<char>(random() & 0xFF));
    return bytes;
}

std::string bytes_of(const Tokenizer& tokenizer, const Ids& ids) {
    std::string bytes;
    for (const std::int32_t id : ids) bytes += tokenizer.token_bytes(id);
    return bytes;
}

/// What every byte-level tokenizer owes, whatever its vocabulary.
void check_round_trips(const Tokenizer& tokenizer) {
    for (const Case& c : gpt2_cases()) {
        QCOMPARE(bytes_of(tokenizer, tokenizer.encode_text(c.text)), c.text);
        QCOMPARE(bytes_of(tokenizer, tokenizer.encode_prompt(c.text)), c.text);
    }
    std::mt19937 random(7);
    for (std::size_t n = 0; n < 300; ++n) {
        const std::string bytes = random_bytes(random, n);
        QCOMPARE(bytes_of(tokenizer, tokenizer.encode_text(bytes)), bytes);
    }
    std::string letters;
    for (int i = 0; i < 100'000; ++i) letters.push_back(static_cast<char>('a' + random() % 26));
    QCOMPARE(bytes_of(tokenizer, tokenizer.encode_text(letters)), letters);
}

}  // namespace

class TestTokenizer : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        const auto folder = source_dir() / ".." / "shared" / "data" / "gpt2-tokenizer";
        if (std::filesystem::exists(folder)) {
            auto loaded = load_byte_level_bpe(folder);
            QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
            m_gpt2 = *loaded;
        }
        auto loaded = load_byte_level_bpe(source_dir() / "resources" / "models" / "demo");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        m_demo = *loaded;
    }

    void gpt2_ids_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < gpt2_cases().size(); ++i) {
            QTest::newRow(gpt2_cases()[i].name) << static_cast<int>(i);
        }
    }
    void gpt2_ids() {
        if (!m_gpt2) QSKIP("../shared/data/gpt2-tokenizer is not there");
        QFETCH(int, index);
        const Case& c = gpt2_cases()[static_cast<std::size_t>(index)];
        QCOMPARE(shown(m_gpt2->encode_text(c.text)), shown(c.ids));
    }

    void gpt2_control_tokens() {
        if (!m_gpt2) QSKIP("../shared/data/gpt2-tokenizer is not there");
        QCOMPARE(m_gpt2->n_token(), 50257);
        QVERIFY(m_gpt2->is_special(50256));
        QVERIFY(!m_gpt2->is_special(50255));
        QVERIFY(!m_gpt2->is_special(-1));
        QCOMPARE(shown(m_gpt2->encode_prompt("<|endoftext|>")), shown({50256}));
        QCOMPARE(shown(m_gpt2->encode_prompt("Hi<|endoftext|>there")), shown({17250, 50256, 8117}));
        QCOMPARE(shown(m_gpt2->encode_prompt("Hi <|endoftext|> there")), shown({17250, 220, 50256, 612}));
        QCOMPARE(m_gpt2->decode(Ids{17250, 50256, 8117}), "Hi<|endoftext|>there"s);
        QCOMPARE(m_gpt2->token_bytes(50257), std::string_view());
        QCOMPARE(m_gpt2->token_bytes(-1), std::string_view());
    }

    void gpt2_round_trips() {
        if (!m_gpt2) QSKIP("../shared/data/gpt2-tokenizer is not there");
        check_round_trips(*m_gpt2);
    }

    void demo_round_trips() { check_round_trips(*m_demo); }

    void demo_pieces_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArrayList>("apart");  // encoding these one by one gives the same ids
        QTest::newRow("words") << QByteArray("the man and the house")
                               << QByteArrayList{"the", " man", " and", " the", " house"};
        QTest::newRow("contraction") << QByteArray("he's she'll don't")
                                     << QByteArrayList{"he", "'s", " she", "'ll", " don", "'t"};
        QTest::newRow("upper-case apostrophe") << QByteArray("DON'T") << QByteArrayList{"DON", "'", "T"};
        QTest::newRow("numbers") << QByteArray("in 1811 and2") << QByteArrayList{"in", " 1811", " and", "2"};
        QTest::newRow("signs") << QByteArray("\"Oh!\" said") << QByteArrayList{"\"", "Oh", "!\"", " said"};
        QTest::newRow("last blank joins") << QByteArray("a   b") << QByteArrayList{"a", "  ", " b"};
        QTest::newRow("blanks at the end") << QByteArray("a   ") << QByteArrayList{"a", "   "};
        QTest::newRow("line ends") << QByteArray("a\n\nb") << QByteArrayList{"a", "\n", "\n", "b"};
        QTest::newRow("marks") << QByteArray("e\xCC\x81t") << QByteArrayList{"e", "\xCC\x81", "t"};
    }
    void demo_pieces() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArrayList, apart);
        Ids expected;
        for (const QByteArray& piece : apart) {
            for (const std::int32_t id : m_demo->encode_text(piece.toStdString())) expected.push_back(id);
        }
        QCOMPARE(apart.join(), text);
        QCOMPARE(shown(m_demo->encode_text(text.toStdString())), shown(expected));
    }

    void demo_control_tokens() {
        const Ids prompt = m_demo->encode_prompt("a<|endoftext|>b");
        QCOMPARE(prompt.size(), std::size_t{3});
        QVERIFY(m_demo->is_special(prompt[1]));
        const Ids text = m_demo->encode_text("a<|endoftext|>b");
        QVERIFY(text.size() > 3);
        for (const std::int32_t id : text) QVERIFY(!m_demo->is_special(id));
    }

    void decode_is_the_stream_of_tokens() {
        const std::string text = "caf\u00e9 \U0001F600 \xFF!\xE2\x82";
        const Ids ids = m_demo->encode_text(text);
        QCOMPARE(m_demo->decode(ids), "caf\u00e9 \U0001F600 \ufffd!\ufffd"s);
    }

private:
    std::shared_ptr<const Tokenizer> m_gpt2;
    std::shared_ptr<const Tokenizer> m_demo;
};

QTEST_APPLESS_MAIN(TestTokenizer)
#include "tst_tokenizer.moc"
