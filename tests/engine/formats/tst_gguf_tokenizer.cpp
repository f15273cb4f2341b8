// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <limits>
#include <utility>

#include "engine/formats/gguf_file.h"
#include "engine/formats/gguf_tokenizer.h"
#include "engine/formats/model_source.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "tests/engine/formats/gguf_bytes.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

using B = GgufBytes;
using Ids = std::vector<std::int32_t>;

/// The lists of a tokenizer that is being written.
struct TestTokens {
    QByteArray kind;
    QByteArrayList texts{};
    std::vector<int> types{};
    std::vector<float> scores{};
    QByteArrayList merges{};

    TestTokens& add(const QByteArray& text, int type = 1, float score = 0) {
        texts << text;
        types.push_back(type);
        scores.push_back(score);
        return *this;
    }
    static QByteArray strings(const QByteArrayList& list) {
        QByteArray bytes;
        for (const QByteArray& one : list) bytes += B::string(one);
        return bytes;
    }
    /// The keys of all lists, of kind "llama" with scores, else with merges.
    B keys() const {
        B bytes;
        QByteArray type_bytes, score_bytes;
        for (const int type : types) type_bytes += B::u32(static_cast<std::uint32_t>(type));
        for (const float score : scores) score_bytes += B::f32(score);
        const auto n = static_cast<std::uint64_t>(texts.size());
        bytes.key("tokenizer.ggml.model", kind.constData())
            .array("tokenizer.ggml.tokens", GgufType::string, n, strings(texts))
            .array("tokenizer.ggml.token_type", GgufType::i32, n, type_bytes);
        if (kind == "llama") {
            bytes.array("tokenizer.ggml.scores", GgufType::f32, n, score_bytes);
        } else {
            bytes.array("tokenizer.ggml.merges", GgufType::string, static_cast<std::uint64_t>(merges.size()),
                        strings(merges));
        }
        return bytes;
    }
};

/// All single bytes as ids 0 to 255, then "ab" and "12", a control token and a word of the user's.
TestTokens byte_level() {
    TestTokens tokens{.kind = "gpt2"};
    const ByteAlphabet alphabet;
    for (int byte = 0; byte < 256; ++byte) {
        tokens.add(QByteArray::fromStdString(alphabet.symbol(static_cast<unsigned char>(byte))));
    }
    tokens.add("ab").add("12").add("<|end|>", 3).add("<tag>", 4).add("[PAD260]", 5);
    tokens.merges << "a b"
                  << "1 2";
    return tokens;
}

/// "<unk>", "<s>", "</s>", the bytes, then pieces.
TestTokens pieces() {
    TestTokens tokens{.kind = "llama"};
    tokens.add("<unk>", 2).add("<s>", 3).add("</s>", 3);
    for (int byte = 0; byte < 256; ++byte) {
        tokens.add("<0x" + QByteArray::number(byte, 16).toUpper().rightJustified(2, '0') + ">", 6);
    }
    tokens.add("\xe2\x96\x81", 1, -3)
        .add("a", 1, -4)
        .add("b", 1, -5)
        .add("ab", 1, -1)
        .add(
            "\xe2\x96\x81"
            "ab",
            1, -2);
    return tokens;
}

Result<GgufTokenizer> read(const B& keys, int n_row = 1000) {
    const TestFolder folder;
    const auto file = GgufFile::open(folder.write("t.gguf", keys.file()));
    if (!file) return file.error();
    return read_gguf_tokenizer((*file)->header(), "f", n_row);
}

}  // namespace

class TestGgufTokenizer : public QObject {
    Q_OBJECT

private slots:
    void preparationsSplitAsTheyShould_data();
    void preparationsSplitAsTheyShould();
    void controlTokensAreFoundInPromptsOnly();
    void piecesAreMergedByScore();
    void endsOfPromptsAreAsked_data();
    void endsOfPromptsAreAsked();
    void othersAreNoted_data();
    void othersAreNoted();
    void brokenOnesAreRefused_data();
    void brokenOnesAreRefused();
    void chatTemplatesAreText();
    void aModelWithoutOneTakesIds();
    void storiesAreTold();
};

void TestGgufTokenizer::preparationsSplitAsTheyShould_data() {
    QTest::addColumn<QByteArray>("pre");
    QTest::addColumn<Ids>("ids");  // of "a12ab e\u0301"
    const auto row = [](const char* pre, const Ids& ids) { QTest::newRow(pre) << QByteArray(pre) << ids; };
    const Ids together = {'a', 257, 256, ' ', 'e', 0xcc, 0x81};
    const Ids apart = {'a', '1', '2', 256, ' ', 'e', 0xcc, 0x81};
    row("gpt-2", together);
    row("llama-bpe", together);
    row("llama3", together);
    row("llama-v3", together);
    row("qwen2", {'a', '1', '2', 256, ' ', 0xc3, 0xa9});  // and in normal form C
    row("smollm", apart);
    row("starcoder", apart);
}

void TestGgufTokenizer::preparationsSplitAsTheyShould() {
    QFETCH(QByteArray, pre);
    const auto made = read(byte_level().keys().key("tokenizer.ggml.pre", pre.constData()));
    QVERIFY2(made, made ? "" : made.error().message.c_str());
    QTEST(made->tokenizer->encode_text("a12ab e\u0301"), "ids");
}

void TestGgufTokenizer::controlTokensAreFoundInPromptsOnly() {
    const auto made = read(byte_level().keys().key("tokenizer.ggml.pre", "gpt-2"));
    QVERIFY2(made, made ? "" : made.error().message.c_str());
    const Tokenizer& tokenizer = *made->tokenizer;
    QCOMPARE(tokenizer.encode_prompt("ab<|end|>ab"), (Ids{256, 258, 256}));
    QCOMPARE(tokenizer.encode_text("<|end|>").size(), std::size_t{7});
    QCOMPARE(tokenizer.encode_text("<tag>ab"), (Ids{259, 256}));
    QVERIFY(tokenizer.is_special(258) && !tokenizer.is_special(259));
    QCOMPARE(tokenizer.decode(Ids{256, 258, 259}), std::string("ab<|end|><tag>"));
    QCOMPARE(tokenizer.n_token(), 261);
    QVERIFY(made->notes.empty());
}

void TestGgufTokenizer::piecesAreMergedByScore() {
    const auto made = read(pieces().keys().key("tokenizer.ggml.bos_token_id", 1u));
    QVERIFY2(made, made ? "" : made.error().message.c_str());
    QCOMPARE(made->tokenizer->encode_text("ab"), (Ids{263}));
    QCOMPARE(made->tokenizer->encode_text("aab z"), (Ids{259, 260, 262, 259, 3 + 'z'}));
    QCOMPARE(made->tokenizer->encode_prompt("ab</s>"), (Ids{1, 263, 2}));
    const auto bare =
        read(pieces().keys().key("tokenizer.ggml.add_space_prefix", GgufType::boolean, QByteArray(1, '\0')));
    QVERIFY2(bare, bare ? "" : bare.error().message.c_str());
    QCOMPARE(bare->tokenizer->encode_text("ab"), (Ids{262}));
}

void TestGgufTokenizer::endsOfPromptsAreAsked_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<Ids>("ids");  // of the prompt "ab"
    const auto yes = QByteArray(1, '\1');
    const auto no = QByteArray(1, '\0');
    const B gpt2 =
        byte_level().keys().key("tokenizer.ggml.bos_token_id", 258u).key("tokenizer.ggml.eos_token_id", 258u);
    const B llama =
        pieces().keys().key("tokenizer.ggml.bos_token_id", 1u).key("tokenizer.ggml.eos_token_id", 2u);
    const auto row = [](const char* name, const B& keys, const Ids& ids) {
        QTest::newRow(name) << keys.file() << ids;
    };
    row("GPT-2 has none", B(gpt2).key("tokenizer.ggml.pre", "gpt-2"), {256});
    row("GPT-2 is asked for one",
        B(gpt2)
            .key("tokenizer.ggml.pre", "gpt-2")
            .key("tokenizer.ggml.add_bos_token", GgufType::boolean, yes),
        {258, 256});
    row("Llama 3 begins with one", B(gpt2).key("tokenizer.ggml.pre", "llama-bpe"), {258, 256});
    row("Llama 3 is asked not to",
        B(gpt2)
            .key("tokenizer.ggml.pre", "llama-bpe")
            .key("tokenizer.ggml.add_bos_token", GgufType::boolean, no),
        {256});
    row("pieces begin with one", llama, {1, 263});
    row("pieces are asked for both", B(llama).key("tokenizer.ggml.add_eos_token", GgufType::boolean, yes),
        {1, 263, 2});
}

void TestGgufTokenizer::endsOfPromptsAreAsked() {
    QFETCH(QByteArray, file);
    const TestFolder folder;
    const auto opened = GgufFile::open(folder.write("t.gguf", file));
    QVERIFY(opened);
    const auto made = read_gguf_tokenizer((*opened)->header(), "f", 1000);
    QVERIFY2(made, made ? "" : made.error().message.c_str());
    QTEST(made->tokenizer->encode_prompt("ab"), "ids");
}

void TestGgufTokenizer::othersAreNoted_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("note");
    const auto row = [](const char* name, const B& keys, const char* note) {
        QTest::newRow(name) << keys.file() << note;
    };
    row("none", B(), "f: no tokenizer; prompts must be given as token ids.");
    TestTokens other = byte_level();
    other.kind = "bert";
    row("another kind", other.keys(),
        "f: the tokenizer is of the kind \"bert\", expected gpt2 or llama; prompts must be given as token "
        "ids.");
    row("another split", byte_level().keys().key("tokenizer.ggml.pre", "tekken"),
        "f: tokenizer.ggml.pre is \"tekken\", expected one of gpt-2, llama-bpe, llama3, llama-v3, qwen2, "
        "smollm, "
        "starcoder; prompts must be given as token ids.");
}

void TestGgufTokenizer::othersAreNoted() {
    QFETCH(QByteArray, file);
    QFETCH(QString, note);
    const TestFolder folder;
    const auto opened = GgufFile::open(folder.write("t.gguf", file));
    QVERIFY(opened);
    const auto made = read_gguf_tokenizer((*opened)->header(), "f", 1000);
    QVERIFY2(made, made ? "" : made.error().message.c_str());
    QVERIFY(made->tokenizer == nullptr);
    QCOMPARE(made->notes.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(made->notes[0]), note);
    const auto old = read(byte_level().keys());
    QVERIFY(old && old->tokenizer != nullptr);
    QVERIFY(old->notes.at(0).starts_with("f: tokenizer.ggml.pre is missing (an old file)"));
}

void TestGgufTokenizer::brokenOnesAreRefused_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, const B& keys, const char* sentence) {
        QTest::newRow(name) << keys.file() << sentence;
    };
    const auto gpt2 = [](const TestTokens& tokens) {
        return tokens.keys().key("tokenizer.ggml.pre", "gpt-2");
    };
    const B kind = B().key("tokenizer.ggml.model", "llama");
    const B two =
        B(kind).array("tokenizer.ggml.tokens", GgufType::string, 2, B::string("a") + B::string("b"));
    row("kind is a number", B().key("tokenizer.ggml.model", 1u),
        "f: tokenizer.ggml.model is of type u32, expected a string.");
    row("tokens are numbers", B(kind).array("tokenizer.ggml.tokens", GgufType::u8, 2, "ab"),
        "f: tokenizer.ggml.tokens is of type array of u8, expected an array of string.");
    row("tokens are one string", B(kind).key("tokenizer.ggml.tokens", "ab"),
        "f: tokenizer.ggml.tokens is of type string, expected an array of string.");
    row("more tokens than rows",
        B(kind).array("tokenizer.ggml.tokens", GgufType::string, 1001, QByteArray(8 * 1001, '\0')),
        "f: tokenizer.ggml.tokens has 1001 elements, but the vocabulary has 1000 rows.");
    row("types of another length", B(two).array("tokenizer.ggml.token_type", GgufType::i32, 1, B::u32(1)),
        "f: tokenizer.ggml.token_type has 1 elements, but tokenizer.ggml.tokens has 2.");
    row("types are one number", B(two).key("tokenizer.ggml.token_type", 1u),
        "f: tokenizer.ggml.token_type is of type u32, expected an array.");
    row("types are floats",
        B(two).array("tokenizer.ggml.token_type", GgufType::f32, 2, B::f32(1) + B::f32(1)),
        "f: tokenizer.ggml.token_type is of type array of f32, expected an array of whole numbers.");
    row("a type out of range", B(two).array("tokenizer.ggml.token_type", GgufType::i8, 2, QByteArray("\1\7")),
        "f: tokenizer.ggml.token_type gives token 1 the type 7, expected one from 1 to 6.");
    row("pieces without types", two, "f: lacks tokenizer.ggml.token_type.");
    const B typed = B(two).array("tokenizer.ggml.token_type", GgufType::u8, 2, QByteArray("\1\1"));
    row("pieces without scores", typed, "f: lacks tokenizer.ggml.scores.");
    row("scores of another length",
        B(typed).array("tokenizer.ggml.scores", GgufType::f32, 3, B::f32(0) + B::f32(0) + B::f32(0)),
        "f: tokenizer.ggml.scores has 3 elements, but tokenizer.ggml.tokens has 2.");
    row("scores are texts",
        B(typed).array("tokenizer.ggml.scores", GgufType::string, 2, B::string("a") + B::string("b")),
        "f: tokenizer.ggml.scores is of type array of string, expected an array of numbers.");
    row("a score is NaN",
        B(typed).array("tokenizer.ggml.scores", GgufType::f32, 2,
                       B::f32(0) + B::f32(std::numeric_limits<float>::quiet_NaN())),
        "f: tokenizer.ggml.scores of token 1 is NaN.");
    TestTokens merged = byte_level();
    merged.merges.clear();
    row("no merges", gpt2(merged), "f: lacks tokenizer.ggml.merges.");
    merged.merges << "ab";
    row("a merge of one token", gpt2(merged),
        "f: tokenizer.ggml.merges: merge 1 is \"ab\", expected two tokens with a space between them.");
    merged.merges = {"a b", " b"};
    row("a merge that begins with the space", gpt2(merged),
        "f: tokenizer.ggml.merges: merge 2 is \" b\", expected two tokens with a space between them.");
    merged.merges = {"a c"};
    row("a merge into nothing", gpt2(merged),
        "f: tokenizer.ggml.merges 1 merges \"a\" and \"c\", but \"ac\" is not in tokenizer.ggml.tokens.");
    row("BOS out of range", gpt2(byte_level()).key("tokenizer.ggml.bos_token_id", 261u),
        "f: tokenizer.ggml.bos_token_id is 261, expected the number of one of 261 tokens.");
    row("BOS is text", gpt2(byte_level()).key("tokenizer.ggml.bos_token_id", "1"),
        "f: tokenizer.ggml.bos_token_id is not a number in range, expected the number of one of 261 tokens.");
    row("BOS is wanted, but not named",
        gpt2(byte_level()).key("tokenizer.ggml.add_bos_token", GgufType::boolean, QByteArray(1, '\1')),
        "f: tokenizer.ggml.add_bos_token is true, but tokenizer.ggml.bos_token_id is missing.");
    row("a flag is a number", pieces().keys().key("tokenizer.ggml.add_space_prefix", 1u),
        "f: tokenizer.ggml.add_space_prefix is of type u32, expected bool.");
    TestTokens bad_byte = pieces();
    bad_byte.texts[10] = "<0x-1>";
    row("a byte token that is none", bad_byte.keys(), "<0x-1>");
}

void TestGgufTokenizer::brokenOnesAreRefused() {
    QFETCH(QByteArray, file);
    QFETCH(QString, sentence);
    const TestFolder folder;
    const auto opened = GgufFile::open(folder.write("t.gguf", file));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const auto made = read_gguf_tokenizer((*opened)->header(), "f", 1000);
    QVERIFY(!made);
    QCOMPARE(made.error().kind, ErrorKind::bad_input);
    const QString message = QString::fromStdString(made.error().message);
    if (sentence.startsWith("f: ")) {
        QCOMPARE(message, sentence);
    } else {
        QVERIFY2(message.startsWith("f: ") && message.contains(sentence), qPrintable(message));
    }
}

void TestGgufTokenizer::chatTemplatesAreText() {
    const auto made = read(B().key("tokenizer.chat_template", "{{ messages }}"));
    QVERIFY(made);
    QCOMPARE(made->chat_template, std::string("{{ messages }}"));
    QCOMPARE(read(B().key("tokenizer.chat_template", 1u)).error().message,
             std::string("f: tokenizer.chat_template is of type u32, expected a string."));
}

void TestGgufTokenizer::aModelWithoutOneTakesIds() {
    const auto whole = std::filesystem::path(DECODESCOPE_TEST_DATA) / "gguf" / "gpt2.plain-f32.gguf";
    const auto loaded =
        load_model({.path = whole.string(), .preset = {}, .seed = 0}, std::make_shared<MemoryLedger>());
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QVERIFY(loaded->tokenizer == nullptr);
    QCOMPARE(loaded->weights->notes.back(),
             whole.string() + ": no tokenizer; prompts must be given as token ids.");
}

void TestGgufTokenizer::storiesAreTold() {
    const auto path = std::filesystem::path(DECODESCOPE_TEST_DATA) /
                      "../../../shared/data/stories260K/stories260K-f32.gguf";
    if (!std::filesystem::exists(path)) QSKIP("../shared/data/stories260K is not there");
    const auto loaded =
        load_model({.path = path.string(), .preset = {}, .seed = 0}, std::make_shared<MemoryLedger>());
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QVERIFY(loaded->tokenizer != nullptr);
    const Ids ids{403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317,
                  426, 338, 401, 396, 267, 337, 410, 408, 419, 292, 411, 322, 265, 282,
                  295, 433, 426, 385, 328, 432, 358, 394, 261, 370, 432, 352};
    const std::string text =
        " Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One "
        "day, she "
        "saw a big, red ball.";
    QVERIFY2(text.starts_with(loaded->tokenizer->decode(ids)), loaded->tokenizer->decode(ids).c_str());
    QVERIFY(loaded->tokenizer->decode(ids).size() > 80);
    QCOMPARE(loaded->tokenizer->encode_text("Once upon a time"), (Ids{403, 407, 261, 378}));
    QCOMPARE(loaded->tokenizer->encode_prompt("Once upon a time"), (Ids{1, 403, 407, 261, 378}));
}

QTEST_APPLESS_MAIN(TestGgufTokenizer)
#include "tst_gguf_tokenizer.moc"
