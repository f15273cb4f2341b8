// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/formats/hf_config.h"

using namespace decodescope;

namespace {

/// A valid config with `fields` added at its end, where they win over the earlier ones.
QByteArray config(const QByteArray& fields) {
    return "{\"model_type\": \"gpt2\", \"vocab_size\": 50257, \"n_positions\": 1024, \"n_embd\": 768, "
           "\"n_layer\": 12, \"n_head\": 12" +
           (fields.isEmpty() ? QByteArray() : ", " + fields) + "}";
}

}  // namespace

class TestHfConfig : public QObject {
    Q_OBJECT

private slots:
    void refusesWhatItCannotRun_data();
    void refusesWhatItCannotRun();
    void readsEveryField();
    void absentFieldsTakeTheReferencesDefaults();
    void toleratesWhatProgramsWrite_data();
    void toleratesWhatProgramsWrite();
    void activations_data();
    void activations();
    void endTokens_data();
    void endTokens();
};

void TestHfConfig::refusesWhatItCannotRun_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");
    const auto bad = [](const char* name, const QByteArray& text, const char* sentence) {
        QTest::newRow(name) << text << ErrorKind::bad_input << sentence;
    };
    const auto unsupported = [](const char* name, const QByteArray& text, const char* sentence) {
        QTest::newRow(name) << text << ErrorKind::unsupported << sentence;
    };
    unsupported(
        "S15 mamba", "{\"model_type\": \"mamba\"}",
        "model_type \"mamba\" is not supported, expected \"gpt2\", \"llama\", \"mistral\" or \"qwen2\".");
    unsupported(
        "S15 T5", config("\"architectures\": [\"T5ForConditionalGeneration\"]"),
        "architecture \"T5ForConditionalGeneration\" is not supported, expected \"GPT2LMHeadModel\".");
    unsupported(
        "classifier", config("\"architectures\": [\"GPT2LMHeadModel\", \"GPT2ForSequenceClassification\"]"),
        "architecture \"GPT2ForSequenceClassification\" is not supported, expected \"GPT2LMHeadModel\".");
    bad("no model_type", "{\"n_embd\": 8}",
        "model_type is missing, expected \"gpt2\", \"llama\", \"mistral\" or \"qwen2\".");
    bad("model_type is a number", config("\"model_type\": 2"), "model_type is 2, expected a string.");
    bad("architectures is a string", config("\"architectures\": \"GPT2LMHeadModel\""),
        "architectures is \"GPT2LMHeadModel\", expected a list of names.");
    bad("architectures holds a number", config("\"architectures\": [1]"),
        "architectures holds 1, expected a list of names.");
    for (const char* field : {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head"}) {
        QByteArray text = config({});
        text.replace(field, "other");
        QTest::addRow("no %s", field)
            << text << ErrorKind::bad_input << QString("%1 is missing, expected a whole number.").arg(field);
        QTest::addRow("%s is null", field)
            << config("\"" + QByteArray(field) + "\": null") << ErrorKind::bad_input
            << QString("%1 is missing, expected a whole number.").arg(field);
        QTest::addRow("%s is 0", field) << config("\"" + QByteArray(field) + "\": 0") << ErrorKind::bad_input
                                        << QString("%1 is 0, expected a number from 1 to").arg(field);
    }
    bad("negative", config("\"n_head\": -12"),
        "n_head is -12, expected a whole number from 1 to 2147483647.");
    bad("fraction", config("\"n_head\": 12.0"),
        "n_head is 12.0, expected a whole number from 1 to 2147483647.");
    bad("string", config("\"n_head\": \"12\""),
        "n_head is \"12\", expected a whole number from 1 to 2147483647.");
    bad("2^32 + 12", config("\"n_head\": 4294967308"),
        "n_head is 4294967308, expected a whole number from 1 to 2147483647.");
    bad("2^64", config("\"n_layer\": 18446744073709551616"), "expected a whole number from 1 to 2147483647.");
    bad("Infinity in a field we need", config("\"n_positions\": Infinity"),
        "n_positions is \"Infinity\", expected a whole number from 1 to 2147483647.");
    bad("a billion layers", config("\"n_layer\": 1000000000"),
        "n_layer is 1000000000, expected a number from 1 to 1000.");
    bad("width whose fourfold overflows", config("\"n_embd\": 2147483647"), "n_embd is 2147483647");
    bad("heads do not divide", config("\"n_head\": 7"), "n_embd is 768, which n_head = 7 does not divide.");
    bad("more heads than width", config("\"n_head\": 1000"),
        "n_embd is 768, which n_head = 1000 does not divide.");
    bad("n_inner 0", config("\"n_inner\": 0"), "n_inner is 0, expected a number from 1 to");
    bad("n_inner true", config("\"n_inner\": true"), "n_inner is true, expected a whole number");
    unsupported(
        "unknown activation", config("\"activation_function\": \"silu\""),
        "activation_function \"silu\" is not supported, expected gelu_new, gelu_pytorch_tanh, gelu_fast, "
        "gelu or relu.");
    bad("activation is a number", config("\"activation_function\": 1"),
        "activation_function is 1, expected a string.");
    bad("epsilon 0", config("\"layer_norm_epsilon\": 0"), "layer_norm_epsilon is 0, expected a value from");
    bad("epsilon negative", config("\"layer_norm_epsilon\": -1e-5"),
        "layer_norm_epsilon is -1e-05, expected");
    bad("epsilon NaN", config("\"layer_norm_epsilon\": NaN"),
        "layer_norm_epsilon is \"NaN\", expected a number.");
    bad("epsilon is a string", config("\"layer_norm_epsilon\": \"1e-5\""),
        "layer_norm_epsilon is \"1e-5\", expected a number.");
    bad("epsilon too large for f32", config("\"layer_norm_epsilon\": 1e300"),
        "layer_norm_epsilon is 1e+300, expected a number that fits 32 bits.");
    bad("a number above every double", config("\"x\": 1e999"), "holds a number that is too large.");
    bad("flag is a number", config("\"scale_attn_weights\": 1"),
        "scale_attn_weights is 1, expected true or false.");
    bad("flag is a string", config("\"tie_word_embeddings\": \"false\""),
        "tie_word_embeddings is \"false\", expected true or false.");
    bad("upcast is a list", config("\"reorder_and_upcast_attn\": []"),
        "reorder_and_upcast_attn is a list, expected true or false.");
    unsupported("cross attention", config("\"add_cross_attention\": true"),
                "add_cross_attention is true, which is not supported.");
    unsupported("encoder-decoder", config("\"is_encoder_decoder\": true"),
                "is_encoder_decoder is true, which is not supported.");
    unsupported("quantised", config("\"quantization_config\": {\"bits\": 4}"),
                "quantization_config is set; quantised weights are not supported.");
    bad("eos is a string", config("\"eos_token_id\": \"x\""),
        "eos_token_id is \"x\", expected a token id or a list of them.");
    bad("eos list holds a list", config("\"eos_token_id\": [[1]]"),
        "eos_token_id is a list, expected a token id or a list of them.");
    bad("eos list without end", config("\"eos_token_id\": [" + QByteArray("1,").repeated(100) + "1]"),
        "eos_token_id lists 101 ids, expected at most 100.");
    bad("empty", "", "is empty, expected a JSON object.");
    bad("blank", " \n", "is empty, expected a JSON object.");
    bad("a list", "[1]", "holds array, expected an object.");
    bad("not JSON", "{\n\"model_type\": gpt2\n}", "is not valid JSON in line 2.");
    bad("cut short", "{\"model_type\": \"gpt2\",\n", "is not valid JSON in line 2.");
    bad("NUL", QByteArray("{}\0", 3), "is not valid JSON (it holds a NUL byte).");
    bad("UTF-16", QByteArray("\xff\xfe{\0}\0", 6), "is UTF-16 text, expected UTF-8.");
    bad("not UTF-8", "{\"a\": \"\xff\"}", "is not valid UTF-8 at byte 7.");
    bad("depth bomb", QByteArray(500'000, '['), "is nested deeper than 64 levels.");
    bad("depth bomb of objects", QByteArray("{\"a\":").repeated(100'000), "is nested deeper than 64 levels.");
    bad("too many values", "[" + QByteArray("0,").repeated(500'001) + "0]", "holds more than 500000 values.");
}

void TestHfConfig::refusesWhatItCannotRun() {
    QFETCH(QByteArray, text);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const auto parsed = parse_hf_config(text.toStdString(), "m/config.json", nullptr);
    QVERIFY(!parsed);
    const QString message = QString::fromStdString(parsed.error().message);
    QVERIFY2(message.startsWith("m/config.json: "), qPrintable(message));
    QVERIFY2(message.contains(sentence), qPrintable(message));
    QVERIFY2(message.endsWith('.') && !message.endsWith(".."), qPrintable(message));
    QCOMPARE(parsed.error().kind, kind);
}

void TestHfConfig::readsEveryField() {
    const auto parsed = parse_hf_config(
        config("\"n_inner\": 2048, \"layer_norm_epsilon\": 0.001, \"activation_function\": \"relu\", "
               "\"scale_attn_weights\": false, \"scale_attn_by_inverse_layer_idx\": true, "
               "\"reorder_and_upcast_attn\": true, \"tie_word_embeddings\": false, \"n_ctx\": 7, "
               "\"eos_token_id\": 5")
            .toStdString(),
        "config.json", nullptr);
    QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    QCOMPARE(parsed->family, Family::gpt2);
    QCOMPARE(parsed->vocab, 50257);
    QCOMPARE(parsed->n_positions, 1024);
    QCOMPARE(parsed->d_model, 768);
    QCOMPARE(parsed->n_layer, 12);
    QCOMPARE(parsed->n_head, 12);
    QCOMPARE(parsed->n_kv_head, 12);
    QCOMPARE(parsed->head_dim, 64);
    QCOMPARE(parsed->d_ff, 2048);
    QCOMPARE(parsed->norm_eps, 0.001f);
    QCOMPARE(parsed->activation, Activation::relu);
    QCOMPARE(parsed->scale_attention, false);
    QCOMPARE(parsed->scale_attention_by_layer, true);
    QCOMPARE(parsed->tied_head, false);
    QCOMPARE(parsed->eos_ids, std::vector<std::int32_t>{5});
}

void TestHfConfig::absentFieldsTakeTheReferencesDefaults() {
    const auto parsed = parse_hf_config(config({}).toStdString(), "config.json", nullptr);
    QVERIFY(parsed);
    QCOMPARE(parsed->d_ff, 4 * 768);
    QCOMPARE(parsed->norm_eps, 1e-5f);
    QCOMPARE(parsed->activation, Activation::gelu_tanh);
    QCOMPARE(parsed->scale_attention, true);
    QCOMPARE(parsed->scale_attention_by_layer, false);
    QCOMPARE(parsed->tied_head, true);
    QCOMPARE(parsed->eos_ids, std::vector<std::int32_t>{50256});
}

void TestHfConfig::toleratesWhatProgramsWrite_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("byte order mark") << "\xef\xbb\xbf" + config({});
    QTest::newRow("Python's literals in fields nobody reads")
        << config("\"x\": Infinity, \"y\": [-Infinity, NaN], \"z\": \"NaN, Infinity and \\\" -Infinity\"");
    QTest::newRow("nulls") << config(
        "\"n_inner\": null, \"architectures\": null, \"tie_word_embeddings\": null, \"eos_token_id\": null");
    QTest::newRow("old file without model_type")
        << config("\"architectures\": [\"GPT2LMHeadModel\"]").replace("\"model_type\": \"gpt2\", ", "");
    QTest::newRow("base model") << config("\"architectures\": [\"GPT2Model\"]");
    QTest::newRow("task parameters") << config(
        "\"task_specific_params\": {\"text-generation\": {\"max_length\": 50}}");
    QTest::newRow("the last of two fields wins") << config("\"n_head\": 7, \"n_head\": 12");
}

void TestHfConfig::toleratesWhatProgramsWrite() {
    QFETCH(QByteArray, text);
    std::vector<std::string> notes;
    const auto parsed = parse_hf_config(text.toStdString(), "config.json", &notes);
    QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    QCOMPARE(parsed->n_head, 12);
    QCOMPARE(parsed->d_ff, 3072);
    QCOMPARE(parsed->tied_head, true);
    QVERIFY(notes.empty());
}

void TestHfConfig::activations_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Activation>("activation");
    QTest::newRow("gelu_new") << QByteArray("gelu_new") << Activation::gelu_tanh;
    QTest::newRow("gelu_pytorch_tanh") << QByteArray("gelu_pytorch_tanh") << Activation::gelu_tanh;
    QTest::newRow("gelu_fast") << QByteArray("gelu_fast") << Activation::gelu_tanh;
    QTest::newRow("gelu") << QByteArray("gelu") << Activation::gelu_erf;
    QTest::newRow("relu") << QByteArray("relu") << Activation::relu;
}

void TestHfConfig::activations() {
    QFETCH(QByteArray, name);
    const auto parsed =
        parse_hf_config(config("\"activation_function\": \"" + name + "\"").toStdString(), "c", nullptr);
    QVERIFY(parsed);
    QTEST(parsed->activation, "activation");
}

void TestHfConfig::endTokens_data() {
    using Ids = std::vector<std::int32_t>;
    QTest::addColumn<QByteArray>("fields");
    QTest::addColumn<QByteArray>("generation");
    QTest::addColumn<Ids>("ids");
    QTest::addColumn<QStringList>("notes");
    const QString note = "%1: the end-of-text id %2 is outside the vocabulary of 50257 and is ignored.";
    QTest::newRow("one") << QByteArray("\"eos_token_id\": 7") << QByteArray("{}") << Ids{7} << QStringList();
    QTest::newRow("list") << QByteArray("\"eos_token_id\": [7, 9, 7]") << QByteArray("{}") << Ids{7, 9}
                          << QStringList();
    QTest::newRow("none") << QByteArray("\"eos_token_id\": null") << QByteArray("{}") << Ids{}
                          << QStringList();
    QTest::newRow("union") << QByteArray("\"eos_token_id\": [7, 9]")
                           << QByteArray("{\"eos_token_id\": [9, 11]}") << Ids{7, 9, 11} << QStringList();
    QTest::newRow("generation only") << QByteArray("\"eos_token_id\": null")
                                     << QByteArray("{\"eos_token_id\": 3}") << Ids{3} << QStringList();
    QTest::newRow("out of range") << QByteArray("\"eos_token_id\": [50257, 50256]")
                                  << QByteArray("{\"eos_token_id\": -1}") << Ids{50256}
                                  << QStringList{note.arg("c", "50257"), note.arg("g", "-1")};
    QTest::newRow("2^63") << QByteArray("\"eos_token_id\": 9223372036854775808") << QByteArray("{}") << Ids{}
                          << QStringList{note.arg("c", "9223372036854775808")};
}

void TestHfConfig::endTokens() {
    QFETCH(QByteArray, fields);
    QFETCH(QByteArray, generation);
    QFETCH(std::vector<std::int32_t>, ids);
    QFETCH(QStringList, notes);
    std::vector<std::string> said;
    auto parsed = parse_hf_config(config(fields).toStdString(), "c", &said);
    QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    QVERIFY(add_generation_config(generation.toStdString(), "g", *parsed, &said));
    QCOMPARE(parsed->eos_ids, ids);
    QCOMPARE(static_cast<qsizetype>(said.size()), notes.size());
    for (std::size_t i = 0; i < said.size(); ++i)
        QCOMPARE(QString::fromStdString(said[i]), notes[static_cast<qsizetype>(i)]);
}

QTEST_APPLESS_MAIN(TestHfConfig)
#include "tst_hf_config.moc"
