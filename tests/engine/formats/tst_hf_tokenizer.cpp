// SPDX-License-Identifier: GPL-3.0-or-later
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <string>
#include <vector>

#include "engine/formats/hf_tokenizer.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope;
using namespace decodescope::test;
using Ids = std::vector<std::int32_t>;

namespace {

/// The 256 bytes, "ab" (256), "<|endoftext|>" (257) and "<pad>" (258).
QByteArray vocab() {
    const ByteAlphabet alphabet;
    QJsonObject json{{"ab", 256}, {"<|endoftext|>", 257}, {"<pad>", 258}};
    for (int byte = 0; byte < 256; ++byte) {
        json[QString::fromStdString(alphabet.symbol(static_cast<unsigned char>(byte)))] = byte;
    }
    return QJsonDocument(json).toJson(QJsonDocument::Compact);
}

void write_vocab_and_merges(const TestFolder& folder) {
    folder.write("vocab.json", vocab());
    folder.write("merges.txt", "#version: 0.2\na b\n");
}

void write_tokenizer_json(const TestFolder& folder) {
    folder.write("tokenizer.json", R"({"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": )" +
                                       vocab() + R"(, "merges": []}})");
}

QByteArray shown(const Ids& ids) {
    QByteArray text;
    for (const std::int32_t id : ids) text += QByteArray::number(id) + ' ';
    return text;
}

std::vector<std::string> notes_of(const HfTokenizer& read, const TestFolder& folder) {
    std::vector<std::string> notes = read.notes;
    for (std::string& note : notes) note.erase(0, folder.path().string().size());
    return notes;
}

}  // namespace

class TestHfTokenizer : public QObject {
    Q_OBJECT

private slots:
    void tokenizer_json_comes_first() {
        const TestFolder folder;
        write_vocab_and_merges(folder);
        auto read = load_hf_tokenizer(folder.path());
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QCOMPARE(shown(read->tokenizer->encode_text("ab")), shown({256}));
        write_tokenizer_json(folder);
        read = load_hf_tokenizer(folder.path());
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QCOMPARE(shown(read->tokenizer->encode_text("ab")), shown({'a', 'b'}));
        QVERIFY(read->notes.empty());
    }

    void another_kind_is_a_note_and_a_broken_file_an_error() {
        const TestFolder folder;
        write_vocab_and_merges(folder);
        folder.write("tokenizer.json", R"({"model": {"type": "Unigram", "vocab": []}})");
        auto read = load_hf_tokenizer(folder.path());
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QVERIFY(read->tokenizer == nullptr);
        QCOMPARE(
            notes_of(*read, folder),
            std::vector<std::string>{"/tokenizer.json: the tokenizer's model is \"Unigram\", this program "
                                     "reads BPE; prompts must be given as token ids."});
        folder.write("tokenizer.json", "{");
        read = load_hf_tokenizer(folder.path());
        QVERIFY(!read.ok());
        QVERIFY(read.error().kind == ErrorKind::bad_input);
        folder.write("tokenizer.json", "version https://git-lfs.github.com/spec/v1\n");
        read = load_hf_tokenizer(folder.path());
        QVERIFY(!read.ok());
        QVERIFY(read.error().message.ends_with(
            "is a Git LFS pointer, not the file itself; fetch it with \"git lfs pull\"."));
    }

    void without_files() {
        const TestFolder folder;
        auto read = load_hf_tokenizer(folder.path());
        QVERIFY(read.ok() && read->tokenizer == nullptr && read->chat_template.empty() && !read->eos_id);
        QCOMPARE(notes_of(*read, folder),
                 std::vector<std::string>{
                     ": no tokenizer.json or vocab.json; prompts must be given as token ids."});
        folder.write("tokenizer.model", "x");
        read = load_hf_tokenizer(folder.path());
        QVERIFY(read.ok() && read->tokenizer == nullptr);
        QCOMPARE(
            notes_of(*read, folder),
            std::vector<std::string>{": tokenizer.model is not read, only tokenizer.json or vocab.json with "
                                     "merges.txt; prompts must be given as token ids."});
    }

    void split_rule_follows_the_model_type() {
        const TestFolder folder;
        write_vocab_and_merges(folder);
        const std::string accent = "e\u0301";
        folder.write("config.json", R"({"model_type": "qwen2"})");
        auto read = load_hf_tokenizer(folder.path());
        QVERIFY(read.ok() && read->notes.empty());
        QCOMPARE(shown(read->tokenizer->encode_text(accent)), shown({0xC3, 0xA9}));
        folder.write("config.json", R"({"model_type": "llama"})");
        read = load_hf_tokenizer(folder.path());
        QVERIFY(read.ok());
        QCOMPARE(read->notes.size(), std::size_t{1});
        QVERIFY(read->notes[0].find("split by GPT-2's rule") != std::string::npos);
        QCOMPARE(shown(read->tokenizer->encode_text(accent)), shown({'e', 0xCC, 0x81}));
    }

    void special_tokens_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QByteArray>("text");  // ids
        QTest::addColumn<QByteArray>("prompt");
        const QByteArray ordinary = shown({'<', 'p', 'a', 'd', '>', 'x'});
        QTest::newRow("none") << "a" << QByteArray() << ordinary << ordinary;
        QTest::newRow("pad_token") << "tokenizer_config.json" << QByteArray(R"({"pad_token": "<pad>"})")
                                   << ordinary << shown({258, 'x'});
        QTest::newRow("special_tokens_map")
            << "special_tokens_map.json"
            << QByteArray(R"({"pad_token": {"content": "<pad>"}, "additional_special_tokens": ["<x>"]})")
            << ordinary << shown({258, 'x'});
        QTest::newRow("additional") << "special_tokens_map.json"
                                    << QByteArray(R"({"additional_special_tokens": ["<pad>"]})") << ordinary
                                    << shown({258, 'x'});
        // A token that is not special is one in every text.
        QTest::newRow("added_tokens.json")
            << "added_tokens.json" << QByteArray(R"({"<pad>x": 300})") << shown({300}) << shown({300});
        QTest::newRow("added_tokens_decoder")
            << "tokenizer_config.json"
            << QByteArray(R"({"added_tokens_decoder": {"258": {"content": "<pad>", "special": true}}})")
            << ordinary << shown({258, 'x'});
        QTest::newRow("flags of added_tokens_decoder")
            << "tokenizer_config.json"
            << QByteArray(
                   R"({"added_tokens_decoder": {"258": {"content": "<pad>", "special": true, "single_word": true}}})")
            << ordinary << ordinary;
        QTest::newRow("beginning of text")
            << "tokenizer_config.json" << QByteArray(R"({"bos_token": "<pad>", "add_bos_token": true})")
            << ordinary << shown({258, 258, 'x'});
        QTest::newRow("a token of plain text is none")
            << "tokenizer_config.json" << QByteArray(R"({"eos_token": "ab", "pad_token": "x"})") << ordinary
            << ordinary;
    }
    void special_tokens() {
        QFETCH(QString, name);
        QFETCH(QByteArray, content);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, prompt);
        const TestFolder folder;
        write_vocab_and_merges(folder);
        folder.write(name, content);
        const auto read = load_hf_tokenizer(folder.path());
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QCOMPARE(shown(read->tokenizer->encode_text("<pad>x")), text);
        QCOMPARE(shown(read->tokenizer->encode_prompt("<pad>x")), prompt);
        QVERIFY(read->tokenizer->is_special(257));
        QVERIFY(!read->tokenizer->is_special(256) && !read->tokenizer->is_special('x'));
    }

    void broken_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("sentence");  // after the file's path
        const auto row = [](const char* test, const char* name, const char* content, const char* sentence) {
            QTest::newRow(test) << name << QByteArray(content) << sentence;
        };
        const char* config = "tokenizer_config.json";
        row("not JSON", config, "{", ": is not valid JSON in line 1.");
        row("decoder a list", config, R"({"added_tokens_decoder": []})",
            ": added_tokens_decoder is not an object.");
        row("decoder without id", config, R"({"added_tokens_decoder": {"x": {"content": "a"}}})",
            ": added_tokens_decoder[\"x\"] is not an id with a content.");
        row("decoder without content", config, R"({"added_tokens_decoder": {"300": {}}})",
            ": added_tokens_decoder[\"300\"] is not an id with a content.");
        row("decoder's flag", config, R"({"added_tokens_decoder": {"300": {"content": "a", "lstrip": 1}}})",
            ": added_tokens_decoder[\"300\"].lstrip is not true or false.");
        row("bos a number", config, R"({"bos_token": 5})", ": bos_token is 5, expected a string.");
        row("bos missing", config, R"({"add_bos_token": true})",
            ": add_bos_token is true, but bos_token names no token.");
        row("add_bos_token", config, R"({"add_bos_token": "yes"})", ": add_bos_token is not true or false.");
        row("template a number", config, R"({"chat_template": 5})",
            ": chat_template is neither a string nor a list.");
        row("template without text", config, R"({"chat_template": [{"name": "default"}]})",
            ": chat_template has an entry without a template.");
        row("added id", "added_tokens.json", R"({"<x>": -1})",
            ": the id of \"<x>\" is not a whole number below 1048576.");
        row("map", "special_tokens_map.json", R"({"pad_token": []})",
            ": pad_token is [], expected a string.");
        row("model type", "config.json", "[]", ": holds array, expected an object.");
    }
    void broken() {
        QFETCH(QString, name);
        QFETCH(QByteArray, content);
        QFETCH(QString, sentence);
        const TestFolder folder;
        write_vocab_and_merges(folder);
        folder.write(name, content);
        const auto read = load_hf_tokenizer(folder.path());
        QVERIFY(!read.ok());
        QCOMPARE(QString::fromStdString(read.error().message),
                 QString::fromStdString(folder.path(name).string()) + sentence);
        QVERIFY(read.error().kind == ErrorKind::bad_input);
    }

    void ids_that_disagree_are_refused() {
        const TestFolder folder;
        write_vocab_and_merges(folder);
        folder.write("added_tokens.json", R"({"<pad>": 300})");
        const auto read = load_hf_tokenizer(folder.path());
        QVERIFY(!read.ok());
        QVERIFY(read.error().message.ends_with(
            "the added token \"<pad>\" has the id 300, but the vocabulary gives it 258."));
    }

    void chat_templates() {
        const TestFolder folder;
        write_tokenizer_json(folder);
        folder.write("tokenizer_config.json", R"({"chat_template": "{{ x }}\n"})");
        QCOMPARE(load_hf_tokenizer(folder.path())->chat_template, std::string("{{ x }}\n"));
        folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "tools", "template": "t"},
                                                                    {"name": "default", "template": "d"}]})");
        const auto read = load_hf_tokenizer(folder.path());
        QCOMPARE(read->chat_template, std::string("d"));
        QCOMPARE(read->notes.size(), std::size_t{1});
        folder.write("tokenizer_config.json", R"({"chat_template": []})");
        QCOMPARE(load_hf_tokenizer(folder.path())->chat_template, std::string());
        folder.write("chat_template.jinja", "own file");
        QCOMPARE(load_hf_tokenizer(folder.path())->chat_template, std::string("own file"));
    }

    void end_of_text() {
        const TestFolder folder;
        write_vocab_and_merges(folder);
        folder.write("tokenizer_config.json", R"({"eos_token": {"content": "<pad>"}})");
        QCOMPARE(load_hf_tokenizer(folder.path())->eos_id.value_or(-1), 258);
        folder.write("tokenizer_config.json", R"({"eos_token": "</s>"})");
        QVERIFY(!load_hf_tokenizer(folder.path())->eos_id);
    }
};

QTEST_APPLESS_MAIN(TestHfTokenizer)
#include "tst_hf_tokenizer.moc"
