// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/tokenizer_json.h"

using namespace decodescope;
using Ids = std::vector<std::int32_t>;
using Json = nlohmann::json;

namespace {

/// A byte-level tokenizer: the 256 bytes (ids 0 to 255), "ab" (256) and an added token "<s>" (257).
Json good() {
    Json json = Json::parse(R"({"version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [{"id": 257, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
                          "normalized": false, "special": true}],
        "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
        "post_processor": {"type": "ByteLevel", "trim_offsets": false}, "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                  "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                  "vocab": {"ab": 256}, "merges": [["a", "b"]]}})");
    const ByteAlphabet alphabet;
    for (int byte = 0; byte < 256; ++byte) {
        json["model"]["vocab"][alphabet.symbol(static_cast<unsigned char>(byte))] = byte;
    }
    return json;
}

/// The good file with the members of `patch` in place of its own.
QByteArray with(const char* patch) {
    Json json = good();
    json.merge_patch(Json::parse(patch));
    return QByteArray::fromStdString(json.dump());
}

struct File {
    QTemporaryDir folder;
    std::string path = folder.filePath("tokenizer.json").toStdString();
    explicit File(const QByteArray& content) {
        QFile file(QString::fromStdString(path));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) path.clear();
    }
};

}  // namespace

class TestTokenizerJson : public QObject {
    Q_OBJECT

private slots:
    void broken_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("sentence");  // after the file's path; may end early
        const auto row = [](const char* name, const QByteArray& content, const QString& sentence) {
            QTest::newRow(name) << content << ": " + sentence;
        };
        row("empty", "", "is not valid JSON (at byte 1).");
        row("cut", with("{}").chopped(1), "is not valid JSON (at byte ");
        row("trailing", with("{}") + "x", "is not valid JSON (at byte ");
        row("NUL", QByteArray("{}\0{}", 5), "is not valid JSON (a NUL byte at 2).");
        row("UTF-16", QByteArray("\xFF\xFE{\0}\0", 6), "is UTF-16 text, expected UTF-8.");
        row("not UTF-8", "{\"a\": \"\xFF\"}", "is not valid JSON (at byte ");
        row("a list", "[]", "holds array, expected an object.");
        row("a number", "7", "holds number, expected an object.");
        row("deep", "{\"a\":" + QByteArray(100'000, '['), "is nested deeper than 64 levels.");
        row("many values", "{\"a\":[" + QByteArray("0,").repeated(600'000) + "0]}",
            "holds more than 500000 values.");
        row("long string", "{\"a\":\"" + QByteArray(17 << 20, 'a') + "\"}",
            "holds a string of more than 16777216 bytes.");
        row("key twice", R"({"model": {}, "model": {}})", "the key \"model\" is listed twice.");
        row("vocabulary twice", R"({"model": {"vocab": {}, "vocab": {}}})", "model.vocab is listed twice.");
        row("merges twice", R"({"model": {"merges": [], "merges": []}})", "model.merges is listed twice.");
        row("no model", "{}", "model is missing.");
        row("model a list", with(R"({"model": []})"), "model is missing.");
        row("model type", with(R"({"model": {"type": 5}})"), "model.type is 5, expected a string.");

        row("no vocabulary", with(R"({"model": {"vocab": null}})"), "model.vocab holds no tokens.");
        row("empty vocabulary", R"({"model": {"type": "BPE", "vocab": {}, "merges": []}})",
            "model.vocab holds no tokens.");
        row("id text", with(R"({"model": {"vocab": {"x y": "7"}}})"),
            "model.vocab: token \"x y\" has a string where a whole id was expected.");
        row("id list", with(R"({"model": {"vocab": {"x y": [7]}}})"),
            "model.vocab: token \"x y\" has a list where a whole id was expected.");
        row("id object", with(R"({"model": {"vocab": {"x y": {"a": 1}}}})"),
            "model.vocab: token \"x y\" has an object where a whole id was expected.");
        row("id negative", with(R"({"model": {"vocab": {"x y": -1}}})"),
            "model.vocab: token \"x y\" has a negative number where a whole id was expected.");
        row("id fraction", with(R"({"model": {"vocab": {"x y": 7.5}}})"),
            "model.vocab: token \"x y\" has a fraction where a whole id was expected.");
        row("id huge", with(R"({"model": {"vocab": {"x y": 1048576}}})"),
            "model.vocab: token \"x y\" has the id 1048576, expected less than 1048576.");
        row("id twice", with(R"({"model": {"vocab": {"x y": 256}}})"),
            "model.vocab: tokens \"ab\" and \"x y\" share the id 256.");
        row("token twice", R"({"model": {"vocab": {"a": 0, "a": 1}}})",
            "model.vocab: token \"a\" is listed twice.");
        row("bytes missing", R"({"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": 0}}})",
            "has no token for the byte 0x00 (spelt \"\u0100\") and 254 others, so most texts could not be");

        row("merged token missing (S13)",
            R"({"version": "1.0", "pre_tokenizer": {"type": "ByteLevel"},
                "model": {"type": "BPE", "vocab": {"aa": 0, "bb": 1}, "merges": [["aa", "bb"]]}})",
            "model.merges: merge 1 merges \"aa\" and \"bb\", but \"aabb\" is not in model.vocab.");
        row("merge result missing", with(R"({"model": {"merges": [["a", "b"], ["b", "c"]]}})"),
            "model.merges: merge 2 merges \"b\" and \"c\", but \"bc\" is not in model.vocab.");
        row("merge part missing", with(R"({"model": {"merges": ["ab xy"]}})"),
            "model.merges: merge 1 merges \"ab\" and \"xy\", but \"xy\" is not in model.vocab.");
        const QString one_space = ", expected two tokens with one space between.";
        row("merge without space", with(R"({"model": {"merges": ["ab"]}})"),
            "model.merges: merge 1 is \"ab\"" + one_space);
        row("merge with two spaces", with(R"({"model": {"merges": ["a b", "a  b"]}})"),
            "model.merges: merge 2 is \"a  b\"" + one_space);
        row("merge of nothing", with(R"({"model": {"merges": [["", "a"]]}})"),
            "model.merges: merge 1 is without one of its parts, expected two tokens.");
        row("merge a number", with(R"({"model": {"merges": [5]}})"),
            "model.merges: merge 1 is a number, expected two tokens.");
        row("merge an object", with(R"({"model": {"merges": [{}]}})"),
            "model.merges: merge 1 is an object, expected two tokens.");
        row("merge of one", with(R"({"model": {"merges": [["a"]]}})"),
            "model.merges: merge 1 is a list of fewer than two, expected two tokens.");
        row("merge of three", with(R"({"model": {"merges": [["a", "b", "c"]]}})"),
            "model.merges: merge 1 is a list of more than two, expected two tokens.");
        row("merge of numbers", with(R"({"model": {"merges": [[1, 2]]}})"),
            "model.merges: merge 1 is a number, expected two tokens.");
        row("merge nested", with(R"({"model": {"merges": [["a", ["b"]]]}})"),
            "model.merges: merge 1 is a list, expected two tokens.");
        row("merges a string", with(R"({"model": {"merges": "a b"}})"),
            "model.merges is \"a b\", expected a list.");

        row("flag", with(R"({"model": {"ignore_merges": 1}})"),
            "model.ignore_merges is 1, expected true or false.");
        row("normalizer a string", with(R"({"normalizer": "NFC"})"),
            "normalizer is \"NFC\", expected an object or null.");
        row("normalizer without type", with(R"({"normalizer": {"a": 1}})"), "normalizer.type is missing.");
        row("sequence without list", with(R"({"pre_tokenizer": {"type": "Sequence"}})"),
            "pre_tokenizer.pretokenizers is not a list.");
        row("template without text",
            with(R"({"post_processor": {"type": "TemplateProcessing", "single": []}})"),
            "post_processor.single has no place for the text.");
        row("template without ids", with(R"({"post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]}})"),
            "post_processor.special_tokens[\"<s>\"].ids is not a list.");
        row("template with two texts", with(R"({"post_processor": {"type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A"}}, {"Sequence": {"id": "A"}}]}})"),
            "post_processor.single has {\"Sequence\":{\"id\":\"A\"}}, expected special tokens around one");
        row("template of no token", with(R"({"post_processor": {"type": "TemplateProcessing",
            "special_tokens": {"<s>": {"ids": [999]}},
            "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]}})"),
            "the token 999, which belongs around a prompt, does not exist.");

        row("added tokens an object", with(R"({"added_tokens": {"a": 1}})"), "added_tokens is not a list.");
        row("added token a string", with(R"({"added_tokens": ["<s>"]})"),
            "added_tokens[0] is \"<s>\", expected an object.");
        row("added token without id", with(R"({"added_tokens": [{"content": "<s>"}]})"),
            "added_tokens[0].id is null, expected a whole number below 1048576.");
        row("added id huge", with(R"({"added_tokens": [{"id": 4294967297, "content": "<s>"}]})"),
            "added_tokens[0].id is 4294967297, expected a whole number below 1048576.");
        row("added token without content", with(R"({"added_tokens": [{"id": 300}]})"),
            "added_tokens[0].content is missing.");
        row("added flag", with(R"({"added_tokens": [{"id": 300, "content": "x", "lstrip": "no"}]})"),
            "added_tokens[0].lstrip is \"no\", expected true or false.");
        row("added id of another token", with(R"({"added_tokens": [{"id": 256, "content": "<s>"}]})"),
            "the added token \"<s>\" has the id 256, which is the token \"ab\".");
        row("added id is not the vocabulary's", with(R"({"added_tokens": [{"id": 300, "content": "ab"}]})"),
            "the added token \"ab\" has the id 300, but the vocabulary gives it 256.");
        row("added id twice",
            with(R"({"added_tokens": [{"id": 300, "content": "<x>"}, {"id": 300, "content": "<y>"}]})"),
            "the added token \"<y>\" shares the id 300 with \"<x>\".");
        row("added token long",
            with(("{\"added_tokens\": [{\"id\": 300, \"content\": \"" + QByteArray(5000, 'x') + "\"}]}")
                     .data()),
            "the added token \"xxxx");
    }
    void broken() {
        QFETCH(QByteArray, content);
        QFETCH(QString, sentence);
        const File file(content);
        const auto loaded = load_tokenizer_json(file.path);
        QVERIFY(!loaded.ok());
        const QString message = QString::fromStdString(loaded.error().message);
        QVERIFY2(message.startsWith(QString::fromStdString(file.path) + sentence), qPrintable(message));
        QVERIFY(message.endsWith('.'));
        QVERIFY(loaded.error().kind == ErrorKind::bad_input);
    }

    void unsupported_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const QByteArray& content, const QString& words) {
            QTest::newRow(name) << content << words;
        };
        row("version", with(R"({"version": "2.0"})"), "version is \"2.0\", this program reads \"1.0\"");
        row("Unigram", R"({"version": "1.0", "model": {"type": "Unigram", "vocab": [["a", -1.5]]}})",
            "the tokenizer's model is \"Unigram\"");
        row("WordPiece", with(R"({"model": {"type": "WordPiece"}})"), "model is \"WordPiece\"");
        row("dropout", with(R"({"model": {"dropout": 0.1}})"), "model.dropout is 0.1");
        row("prefix", with(R"({"model": {"continuing_subword_prefix": "##"}})"),
            "model.continuing_subword_prefix is \"##\"");
        row("suffix", with(R"({"model": {"end_of_word_suffix": "</w>"}})"),
            "model.end_of_word_suffix is \"</w>\"");
        row("normalizer", with(R"({"normalizer": {"type": "Lowercase"}})"),
            "normalizer {\"type\":\"Lowercase\"}");
        row("normalizer in a sequence",
            with(
                R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "NFKC"}]}})"),
            "normalizer {\"type\":\"NFKC\"}");
        row("nested sequences", with(R"({"normalizer": {"type": "Sequence", "normalizers":
            [{"type": "Sequence", "normalizers": []}]}})"),
            "normalizer {\"normalizers\":[],\"type\":\"Sequence\"}");
        row("pre-tokenizer", with(R"({"pre_tokenizer": {"type": "Whitespace"}})"), "pre_tokenizer {");
        row("no pre-tokenizer", with(R"({"pre_tokenizer": null, "decoder": null})"),
            "neither byte-level (ByteLevel) nor");
        row("unknown rule", with(R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split",
            "pattern": {"Regex": "\\p{L}+"}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "use_regex": false}]}})"),
            "splits text by a rule that is not known to this program, \"\\\\p{L}+\"");
        row("digits together", with(R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": false}, {"type": "ByteLevel"}]}})"),
            "pre_tokenizer {\"individual_digits\":false,\"type\":\"Digits\"}");
        row("spaces before digits", with(R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": true}, {"type": "ByteLevel", "add_prefix_space": true}]}})"),
            "behind another one is not known");
        row("split twice", with(R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "ByteLevel"}, {"type": "Digits", "individual_digits": true}]}})"),
            "is not known to this program");
        row("decoder", with(R"({"decoder": {"type": "WordPiece", "prefix": "##"}})"), "the decoder {");
        row("post-processor", with(R"({"post_processor": {"type": "BertProcessing"}})"),
            "the post_processor {\"trim_offsets\":false,\"type\":\"BertProcessing\"}");
    }
    void unsupported() {
        QFETCH(QByteArray, content);
        QFETCH(QString, words);
        const File file(content);
        const auto loaded = load_tokenizer_json(file.path);
        QVERIFY(!loaded.ok());
        const QString message = QString::fromStdString(loaded.error().message);
        QVERIFY2(message.startsWith(QString::fromStdString(file.path) + ": "), qPrintable(message));
        QVERIFY2(message.contains(words), qPrintable(message));
        QVERIFY(message.endsWith('.'));
        QVERIFY(loaded.error().kind == ErrorKind::unsupported);
    }

    void accepted_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("as it is") << with("{}");
        QTest::newRow("merges as strings") << with(R"({"model": {"merges": ["a b"]}})");
        QTest::newRow("no type, no version") << with(R"({"version": null, "model": {"type": null}})");
        QTest::newRow("neutral fields") << with(
            R"({"model": {"dropout": 0.0, "continuing_subword_prefix": "", "end_of_word_suffix": ""}})");
        QTest::newRow("unknown fields") << with(R"({"new": [1, {"a": []}], "model": {"new": {"vocab": 5}}})");
        QTest::newRow("empty normalizer")
            << with(R"({"normalizer": {"type": "Sequence", "normalizers": []}, "decoder": null,
                        "post_processor": null})");
        QTest::newRow("byte order mark") << "\xEF\xBB\xBF" + with("{}");
        // As dump() writes it, "merges" comes first already; here the whole model comes last.
        QTest::newRow("a vocabulary after the merges") << QByteArray::fromStdString(
            R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "added_tokens": )" +
            good()["added_tokens"].dump() + R"(, "model": {"merges": [["a", "b"]], "vocab": )" +
            good()["model"]["vocab"].dump() + "}}");
    }
    void accepted() {
        QFETCH(QByteArray, content);
        const File file(content);
        std::vector<std::string> notes;
        const auto loaded = load_tokenizer_json(file.path, &notes);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        QVERIFY(notes.empty());
        QCOMPARE((*loaded)->encode_text("ab<s>"), (Ids{256, '<', 's', '>'}));
        QCOMPARE((*loaded)->encode_prompt("ab<s>"), (Ids{256, 257}));
        QCOMPARE((*loaded)->n_token(), 258);
        QVERIFY((*loaded)->is_special(257) && !(*loaded)->is_special(256));
        QCOMPARE((*loaded)->token_bytes(257), std::string_view("<s>"));
    }

    void ids_around_a_prompt() {
        const File file(with(R"({"post_processor": {"type": "TemplateProcessing",
            "special_tokens": {"<s>": {"id": "<s>", "ids": [257, 97], "tokens": ["<s>", "a"]}},
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "<s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "B", "type_id": 0}}]}})"));
        const auto loaded = load_tokenizer_json(file.path);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        QCOMPARE((*loaded)->encode_prompt("x"), (Ids{257, 97, 'x', 257, 97}));
        QCOMPARE((*loaded)->encode_text("x"), (Ids{'x'}));
    }

    void bytes_that_are_missing_are_told() {
        Json json = good();
        const ByteAlphabet alphabet;
        for (int byte : {0xC0, 0xC1, 0xF5, 0xFF}) {
            json["model"]["vocab"].erase(alphabet.symbol(static_cast<unsigned char>(byte)));
        }
        const File file(QByteArray::fromStdString(json.dump()));
        std::vector<std::string> notes;
        const auto loaded = load_tokenizer_json(file.path, &notes);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        QCOMPARE(notes,
                 std::vector{file.path + ": has no token for 4 of the 256 bytes, 0xC0 first; texts are "
                                         "encoded without them."});
        QCOMPARE((*loaded)->encode_text("x\xFFy"), (Ids{'x', 'y'}));
    }
};

QTEST_APPLESS_MAIN(TestTokenizerJson)
#include "tst_tokenizer_json.moc"
