// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <string>
#include <vector>

#include "engine/tokenizer/sentence_piece_bpe.h"

using namespace decodescope;
using Ids = std::vector<std::int32_t>;
using Prefix = SentencePieceSpec::Prefix;

namespace {

struct Token {
    std::string text;
    PieceType type = PieceType::normal;
    float score = 0;
};

SentencePieceSpec spec_of(const std::vector<Token>& tokens) {
    SentencePieceSpec spec;
    spec.label = "a.gguf";
    spec.prefix = Prefix::none;
    for (const Token& token : tokens) {
        spec.tokens.add(spec.tokens.n_token(), token.text);
        spec.types.push_back(token.type);
        spec.scores.push_back(token.score);
    }
    return spec;
}

/// <unk> 0, <s> 1, </s> 2, the bytes 3 to 258, then `more` from 259.
SentencePieceSpec whole(const std::vector<Token>& more) {
    std::vector<Token> tokens = {
        {"<unk>", PieceType::unknown}, {"<s>", PieceType::control}, {"</s>", PieceType::control}};
    for (int byte = 0; byte < 256; ++byte) {
        tokens.push_back(
            {QString("<0x%1>").arg(byte, 2, 16, QChar('0')).toUpper().replace('X', 'x').toStdString(),
             PieceType::byte});
    }
    tokens.insert(tokens.end(), more.begin(), more.end());
    return spec_of(tokens);
}

const std::vector<Token> letters = {{"a"}, {"b"}, {"c"}, {"\u2581"}};  // 259 to 262

std::shared_ptr<const Tokenizer> made(SentencePieceSpec spec) {
    const auto tokenizer = make_sentence_piece_bpe(std::move(spec));
    if (!tokenizer) qWarning("%s", tokenizer.error().message.c_str());
    return tokenizer ? *tokenizer : nullptr;
}

std::vector<Token> plus(std::vector<Token> tokens, const std::vector<Token>& more) {
    tokens.insert(tokens.end(), more.begin(), more.end());
    return tokens;
}

}  // namespace

class TestSentencePiece : public QObject {
    Q_OBJECT

private slots:
    void highest_score_first() {
        const auto tokenizer =
            made(whole(plus(letters, {{"ab", PieceType::normal, -2}, {"bc", PieceType::normal, -1}})));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->encode_text("abc"), (Ids{259, 264}));
        QCOMPARE(tokenizer->encode_text("ab"), (Ids{263}));
    }

    void leftmost_of_equal_scores() {
        const auto tokenizer = made(whole(plus(
            letters,
            {{"bc", PieceType::normal, -1}, {"ab", PieceType::normal, -1}, {"aa", PieceType::normal, -1}})));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->encode_text("abc"), (Ids{264, 261}));
        QCOMPARE(tokenizer->encode_text("aaa"), (Ids{265, 259}));
        QCOMPARE(tokenizer->encode_text(std::string(101, 'a')).size(),
                 std::size_t{51});  // by way of the heap
    }

    /// A token can be reached through any two of its parts.
    void all_ways_to_a_token() {
        const auto tokenizer = made(whole(plus(
            letters,
            {{"bc", PieceType::normal, -1}, {"ab", PieceType::normal, -3}, {"abc", PieceType::normal, -2}})));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->encode_text("abc"), (Ids{265}));
        QCOMPARE(tokenizer->encode_text("abab"), (Ids{264, 264}));
    }

    /// The z is a token only together with what is before it.
    void characters_without_a_token_of_their_own() {
        const auto tokenizer = made(whole(plus(letters, {{"az", PieceType::normal, -1}})));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->encode_text("az"), (Ids{263}));
        QCOMPARE(tokenizer->encode_text("bz\u00e9"), (Ids{260, 3 + 'z', 3 + 0xC3, 3 + 0xA9}));
    }

    void bytes_that_are_not_utf8() {
        const auto tokenizer = made(whole(letters));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->encode_text("a\xFF\xE2\x96"), (Ids{259, 3 + 0xFF, 3 + 0xE2, 3 + 0x96}));
        const std::string text = "a \xFF\xE2\x96 b\n\u00e9";
        QCOMPARE(tokenizer->decode(Ids{3 + 0xC3, 3 + 0xA9}), std::string("\u00e9"));
        std::string bytes;
        for (const std::int32_t id : tokenizer->encode_text(text)) bytes += tokenizer->token_bytes(id);
        QCOMPARE(bytes, text);
    }

    void prefixes_data() {
        QTest::addColumn<int>("prefix");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Ids>("ids");
        const auto row = [](const char* name, Prefix prefix, const char* text, const Ids& ids) {
            QTest::newRow(name) << static_cast<int>(prefix) << QByteArray(text) << ids;
        };
        const std::int32_t space = 262;
        row("none", Prefix::none, "a</s>a", {259, 2, 259});
        row("first", Prefix::first, "a</s>a", {space, 259, 2, 259});
        row("first, has one", Prefix::first, " a</s>a", {space, 259, 2, 259});
        row("first, after a token", Prefix::first, "</s>a", {2, 259});
        row("every", Prefix::every, "a</s>a", {space, 259, 2, space, 259});
        row("every, has one", Prefix::every, " a", {space, space, 259});
        row("missing", Prefix::every_missing, "a</s> a", {space, 259, 2, space, 259});
        row("empty", Prefix::every, "", {});
    }
    void prefixes() {
        QFETCH(int, prefix);
        QFETCH(QByteArray, text);
        QFETCH(Ids, ids);
        auto spec = whole(letters);
        spec.prefix = static_cast<Prefix>(prefix);
        const auto tokenizer = made(std::move(spec));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->encode_prompt(text.toStdString()), ids);
    }

    void special_tokens() {
        auto spec =
            whole(plus(letters, {{"b\u2581c", PieceType::user_defined}, {"[PAD]", PieceType::unused}}));
        spec.before = {1};
        spec.after = {2};
        const auto tokenizer = made(std::move(spec));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->encode_prompt("a</s><unk>"), (Ids{1, 259, 2, 0, 2}));
        QCOMPARE(tokenizer->encode_text("a</s>").size(), std::size_t{5});
        // To go on from, a prompt has what belongs in front of it, and nothing behind it.
        QCOMPARE(tokenizer->encode_to_continue("a</s>", true), (Ids{1, 259, 2}));
        Ids plain = tokenizer->encode_text("a</s>");
        plain.insert(plain.begin(), 1);
        QCOMPARE(tokenizer->encode_to_continue("a</s>", false), plain);
        // A user-defined token is one in every text, and its mark is a space there.
        QCOMPARE(tokenizer->encode_text("ab cb"), (Ids{259, 263, 260}));
        QCOMPARE(tokenizer->token_bytes(263), std::string_view("b c"));
        QVERIFY(tokenizer->is_special(1) && tokenizer->is_special(0) && !tokenizer->is_special(263));
        QVERIFY(!tokenizer->is_special(3) && !tokenizer->is_special(-1) && !tokenizer->is_special(9999));
        QCOMPARE(tokenizer->token_bytes(262), std::string_view(" "));
        QCOMPARE(tokenizer->token_bytes(3), std::string_view("\0", 1));
        QCOMPARE(tokenizer->token_bytes(1), std::string_view("<s>"));
    }

    void unknown_characters_without_bytes() {
        const auto tokenizer = made(spec_of({{"<unk>", PieceType::unknown}, {"a"}, {"\u2581"}}));
        QVERIFY(tokenizer);
        QCOMPARE(tokenizer->encode_text("a\u00e9\xFFz a\u00e9"), (Ids{1, 0, 2, 1, 0}));
    }

    void shared_texts_are_told() {
        std::vector<std::string> notes;
        const auto tokenizer = make_sentence_piece_bpe(whole(plus(letters, {{"b"}, {"a"}})), &notes);
        QVERIFY(tokenizer.ok());
        QCOMPARE(notes,
                 std::vector<std::string>{"a.gguf: 2 tokens have the text of an earlier one, \"b\" (id 263) "
                                          "first; texts are encoded with the earlier id."});
        QCOMPARE((*tokenizer)->encode_text("ab"), (Ids{259, 260}));
        QCOMPARE((*tokenizer)->token_bytes(264), std::string_view("a"));
    }

    /// With merges across words the whole text is one piece, and comes out the same.
    void merges_across_words() {
        const std::vector<Token> tokens =
            plus(letters, {{"ab", PieceType::normal, -1}, {"\u2581ab", PieceType::normal, -2}});
        const auto apart = made(whole(tokens));
        const auto across = made(whole(plus(tokens, {{"c\u2581", PieceType::normal, -3}})));
        QVERIFY(apart && across);
        QCOMPARE(apart->encode_text("ab ab c ab"), (Ids{263, 264, 262, 261, 264}));
        QCOMPARE(across->encode_text("ab ab c ab"), (Ids{263, 264, 262, 261, 264}));
        QCOMPARE(across->encode_text("c b"), (Ids{265, 260}));
    }

    void broken_data() {
        QTest::addColumn<int>("n");
        QTest::addColumn<QString>("sentence");
        const char* sentences[] = {
            "a.gguf: holds no tokens.",
            "a.gguf: has 258 token types for 259 tokens.",
            "a.gguf: has 258 scores for 259 tokens.",
            "a.gguf: the score of token 5 is NaN.",
            "a.gguf: the type of token 5 is 7, expected a number from 1 to 6.",
            "a.gguf: the type of token 5 is 0, expected a number from 1 to 6.",
            "a.gguf: token 259 is of the type byte and spelt \"<0xG1>\", expected <0xHH>.",
            "a.gguf: token 259 is of the type byte and spelt \"<0x1>\", expected <0xHH>.",
            "a.gguf: has neither a token for the byte 0x00 nor an unknown token, so not every text could be "
            "encoded.",
            "a.gguf: token 259 has 513 bytes, expected at most 512.",
            "a.gguf: the token 300, which belongs around a prompt, does not exist.",
            "a.gguf: merge 1 joins \"a\" and \"x\", but \"x\" is not in the vocabulary.",
            "a.gguf: the added token \"<new>\" has the id 1, which is the token \"<s>\".",
        };
        for (int n = 0; n < static_cast<int>(std::size(sentences)); ++n) {
            QTest::addRow("%d", n) << n << sentences[n];
        }
    }
    void broken() {
        QFETCH(int, n);
        QFETCH(QString, sentence);
        SentencePieceSpec spec = whole({});
        switch (n) {
            case 0: spec = spec_of({}); break;
            case 1: spec.types.pop_back(); break;
            case 2: spec.scores.pop_back(); break;
            case 3: spec.scores[5] = std::nanf(""); break;
            case 4: spec.types[5] = static_cast<PieceType>(7); break;
            case 5: spec.types[5] = static_cast<PieceType>(0); break;
            case 6: spec = whole({{"<0xG1>", PieceType::byte}}); break;
            case 7: spec = whole({{"<0x1>", PieceType::byte}}); break;
            case 8: spec = spec_of({{"a"}}); break;
            case 9: spec = whole({{std::string(513, 'a')}}); break;
            case 10: spec.after = {300}; break;
            case 11:
                spec = whole(letters);
                spec.scores.clear();
                spec.merges.add("a", "x");
                break;
            default: {
                AddedToken token;
                token.id = 1;
                token.content = "<new>";
                spec.added = {token};
            }
        }
        const auto tokenizer = make_sentence_piece_bpe(std::move(spec));
        QVERIFY(!tokenizer.ok());
        QCOMPARE(QString::fromStdString(tokenizer.error().message), sentence);
        QVERIFY(tokenizer.error().kind == ErrorKind::bad_input);
    }
};

QTEST_APPLESS_MAIN(TestSentencePiece)
#include "tst_sentence_piece.moc"
