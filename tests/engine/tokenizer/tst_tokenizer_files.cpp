// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <string>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/tokenizer.h"

using namespace decodescope;

namespace {

/// Members of a vocabulary object: the 256 byte symbols (ids 0 to 255), then `more`.
QByteArray vocab_of(const QByteArray& more) {
    const ByteAlphabet alphabet;
    QByteArray json = "{";
    for (int byte = 0; byte < 256; ++byte) {
        const std::string& symbol = alphabet.symbol(static_cast<unsigned char>(byte));
        if (byte > 0) json += ", ";
        json += symbol == "\"" || symbol == "\\" ? "\"\\" + QByteArray::fromStdString(symbol) + "\""
                                                 : "\"" + QByteArray::fromStdString(symbol) + "\"";
        json += ": " + QByteArray::number(byte);
    }
    if (!more.isEmpty()) json += ", " + more;
    return json + "}";
}

void write(const QString& path, const QByteArray& content) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(content), content.size());
}

}  // namespace

class TestTokenizerFiles : public QObject {
    Q_OBJECT

private slots:
    void broken_data() {
        QTest::addColumn<QByteArray>("vocab");
        QTest::addColumn<QByteArray>("merges");
        QTest::addColumn<QString>("sentence");  // after the folder's path
        const QByteArray good = vocab_of("\"ab\": 256, \"abc\": 257");
        QTest::newRow("vocab empty") << QByteArray() << QByteArray("")
                                     << "/vocab.json: is not valid JSON (at byte 1).";
        QTest::newRow("vocab cut") << good.chopped(1) << QByteArray("")
                                   << "/vocab.json: is not valid JSON (at byte ";
        QTest::newRow("vocab trailing")
            << good + "x" << QByteArray("") << "/vocab.json: is not valid JSON (at byte ";
        QTest::newRow("vocab an array") << QByteArray("[1]") << QByteArray("")
                                        << "/vocab.json: holds an array, expected one object of token: id.";
        QTest::newRow("vocab a number") << QByteArray("7") << QByteArray("")
                                        << "/vocab.json: holds a number, expected one object of token: id.";
        QTest::newRow("vocab {}") << QByteArray("{}") << QByteArray("") << "/vocab.json: holds no tokens.";
        QTest::newRow("deep") << QByteArray("{\"a\":") + QByteArray(100'000, '[') << QByteArray("")
                              << "/vocab.json: token \"a\" has an array where a whole id was expected.";
        QTest::newRow("id text") << vocab_of("\"ab\": \"256\"") << QByteArray("")
                                 << "/vocab.json: token \"ab\" has a string where a whole id was expected.";
        QTest::newRow("id negative") << vocab_of("\"ab\": -1") << QByteArray("")
                                     << "/vocab.json: token \"ab\" has a negative number where";
        QTest::newRow("id fraction") << vocab_of("\"ab\": 256.0") << QByteArray("")
                                     << "/vocab.json: token \"ab\" has a fraction where";
        QTest::newRow("id huge")
            << vocab_of("\"ab\": 1048576") << QByteArray("")
            << "/vocab.json: token \"ab\" has the id 1048576, expected less than 1048576.";
        QTest::newRow("id beyond 64 bits") << vocab_of("\"ab\": 99999999999999999999") << QByteArray("")
                                           << "/vocab.json: token \"ab\" has a fraction where";
        QTest::newRow("id twice") << vocab_of("\"ab\": 65") << QByteArray("")
                                  << "/vocab.json: tokens \"A\" and \"ab\" share the id 65.";
        QTest::newRow("token twice") << vocab_of("\"A\": 256") << QByteArray("")
                                     << "/vocab.json: token \"A\" is listed twice.";
        QTest::newRow("byte missing") << QByteArray("{\"a\": 0}") << QByteArray("")
                                      << QString(
                                             "/vocab.json: has no token for the byte 0x00 (spelt "
                                             "\"\u0100\") and 254 others, so most texts "
                                             "could not be encoded.");
        QTest::newRow("merge part missing")
            << good << QByteArray("ab xy\n")
            << "/merges.txt: line 1 merges \"ab\" and \"xy\", but \"xy\" is not in vocab.json.";
        QTest::newRow("merge result missing")
            << good << QByteArray("#version: 0.2\na b\nb c\n")
            << "/merges.txt: line 3 merges \"b\" and \"c\", but \"bc\" is not in vocab.json.";
        const QString one_space = ", expected two symbols with one space between them.";
        QTest::newRow("no space") << good << QByteArray("ab\n")
                                  << "/merges.txt: line 1 is \"ab\"" + one_space;
        QTest::newRow("two spaces") << good << QByteArray("a  b\n")
                                    << "/merges.txt: line 1 is \"a  b\"" + one_space;
        QTest::newRow("three parts") << good << QByteArray("a b c\n")
                                     << "/merges.txt: line 1 is \"a b c\"" + one_space;
        QTest::newRow("space first") << good << QByteArray(" b\n")
                                     << "/merges.txt: line 1 is \" b\"" + one_space;
        QTest::newRow("space last") << good << QByteArray("a \n")
                                    << "/merges.txt: line 1 is \"a \"" + one_space;
        QTest::newRow("empty line inside")
            << good << QByteArray("a b\n\nab c\n") << "/merges.txt: line 2 is \"\"" + one_space;
        QTest::newRow("late #version")
            << good << QByteArray("a b\n#version\n") << "/merges.txt: line 2 is \"#version\"" + one_space;
        QTest::newRow("CR alone") << good << QByteArray("a b\rab c\n")
                                  << "/merges.txt: line 1 is \"a b\\x0dab c\"" + one_space;
        QTest::newRow("long line") << good << QByteArray(100'000, 'a')
                                   << "/merges.txt: line 1 is \"" + QString(96, 'a') + "...\"" + one_space;
    }
    void broken() {
        QFETCH(QByteArray, vocab);
        QFETCH(QByteArray, merges);
        QFETCH(QString, sentence);
        QTemporaryDir folder;
        write(folder.filePath("vocab.json"), vocab);
        write(folder.filePath("merges.txt"), merges);
        const auto loaded = load_byte_level_bpe(folder.path().toStdString());
        QVERIFY(!loaded.ok());
        QVERIFY(loaded.error().kind == ErrorKind::bad_input);
        const QString message = QString::fromStdString(loaded.error().message);
        QVERIFY2(message.startsWith(folder.path() + sentence), qPrintable(message));
        QVERIFY(message.endsWith('.'));
    }

    void missing_files() {
        QTemporaryDir folder;
        auto loaded = load_byte_level_bpe(folder.path().toStdString());
        QCOMPARE(QString::fromStdString(loaded.error().message),
                 folder.path() + ": has no tokenizer file vocab.json (or encoder.json).");
        write(folder.filePath("vocab.json"), vocab_of({}));
        loaded = load_byte_level_bpe(folder.path().toStdString());
        QCOMPARE(QString::fromStdString(loaded.error().message),
                 folder.path() + ": has no tokenizer file merges.txt (or vocab.bpe).");
        QVERIFY(loaded.error().kind == ErrorKind::io);
        QVERIFY(QDir(folder.path()).mkdir("merges.txt"));
        loaded = load_byte_level_bpe(folder.path().toStdString());
        QCOMPARE(QString::fromStdString(loaded.error().message),
                 folder.path() + "/merges.txt: is not a regular file.");
    }

    void accepted_data() {
        QTest::addColumn<QByteArray>("merges");
        QTest::newRow("with version") << QByteArray("#version: 0.2\na b\nab c\n");
        QTest::newRow("without version") << QByteArray("a b\nab c\n");
        QTest::newRow("no line end") << QByteArray("a b\nab c");
        QTest::newRow("CR LF") << QByteArray("#version: 0.2\r\na b\r\nab c\r\n");
        QTest::newRow("BOM") << QByteArray("\xEF\xBB\xBF#version: 0.2\na b\nab c\n");
        QTest::newRow("empty last line") << QByteArray("a b\nab c\n\n");
        QTest::newRow("listed again: the later place counts") << QByteArray("a b\nab c\na b\n");
    }
    void accepted() {
        QFETCH(QByteArray, merges);
        QTemporaryDir folder;
        write(folder.filePath("encoder.json"), "\xEF\xBB\xBF" + vocab_of("\"ab\": 256, \"abc\": 300"));
        write(folder.filePath("vocab.bpe"), merges);
        const auto loaded = load_byte_level_bpe(folder.path().toStdString());
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        QCOMPARE((*loaded)->encode_text("abcab"), (std::vector<std::int32_t>{300, 256}));
        QCOMPARE((*loaded)->n_token(), 301);
        QCOMPARE((*loaded)->token_bytes(299), std::string_view());  // a hole
        QVERIFY(!(*loaded)->is_special(300));
    }

    void comments_are_only_the_version() {
        QTemporaryDir folder;
        write(folder.filePath("vocab.json"), vocab_of("\"##\": 256, \"####\": 257"));
        write(folder.filePath("merges.txt"), "# #\n## ##\n");
        const auto loaded = load_byte_level_bpe(folder.path().toStdString());
        QVERIFY(loaded.ok());
        QCOMPARE((*loaded)->encode_text("######"), (std::vector<std::int32_t>{257, 256}));
    }

    void lowest_rank_first_then_leftmost() {
        QTemporaryDir folder;
        write(folder.filePath("vocab.json"), vocab_of("\"bc\": 256, \"ab\": 257, \"aa\": 258"));
        write(folder.filePath("merges.txt"), "b c\na b\na a\n");
        const auto loaded = load_byte_level_bpe(folder.path().toStdString());
        QVERIFY(loaded.ok());
        QCOMPARE((*loaded)->encode_text("abc"), (std::vector<std::int32_t>{'a', 256}));
        QCOMPARE((*loaded)->encode_text("aaa"), (std::vector<std::int32_t>{258, 'a'}));
    }

    void added_tokens_are_plain_text() {
        QTemporaryDir folder;
        write(folder.filePath("vocab.json"), vocab_of("\"<|a b|>\": 256, \"<|endoftext|>\": 257"));
        write(folder.filePath("merges.txt"), "");
        const auto loaded = load_byte_level_bpe(folder.path().toStdString());
        QVERIFY(loaded.ok());
        QCOMPARE((*loaded)->token_bytes(256), std::string_view("<|a b|>"));
        QCOMPARE((*loaded)->encode_prompt("<|endoftext|><|endoftext|>"),
                 (std::vector<std::int32_t>{257, 257}));
    }
};

QTEST_APPLESS_MAIN(TestTokenizerFiles)
#include "tst_tokenizer_files.moc"
