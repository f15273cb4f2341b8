// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <string_view>

#include "engine/formats/hf_config.h"

using namespace decodescope;

namespace {

/// A valid config of `type` with `fields` added at its end, where they win over the earlier ones.
QByteArray config(const QByteArray& type, const QByteArray& fields) {
    return "{\"model_type\": \"" + type +
           "\", \"vocab_size\": 32000, \"max_position_embeddings\": 2048, \"hidden_size\": 512, "
           "\"intermediate_size\": 1376, \"num_hidden_layers\": 8, \"num_attention_heads\": 8" +
           (fields.isEmpty() ? QByteArray() : ", " + fields) + "}";
}

QByteArray llama(const QByteArray& fields) {
    return config("llama", fields);
}

/// rope_scaling of a kind whose settings are all there, with `fields` added.
QByteArray llama3(const QByteArray& fields) {
    return llama(
        "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, "
        "\"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192" +
        fields + "}");
}

}  // namespace

class TestHfConfigLlama : public QObject {
    Q_OBJECT

private slots:
    void refusesWhatItCannotRun_data();
    void refusesWhatItCannotRun();
    void readsEveryField();
    void absentFieldsTakeTheReferencesDefaults();
    void ropeSettings_data();
    void ropeSettings();
    void windows_data();
    void windows();
    void biases_data();
    void biases();
};

void TestHfConfigLlama::refusesWhatItCannotRun_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");
    const auto bad = [](const char* name, const QByteArray& text, const char* sentence) {
        QTest::newRow(name) << text << ErrorKind::bad_input << sentence;
    };
    const auto unsupported = [](const char* name, const QByteArray& text, const char* sentence) {
        QTest::newRow(name) << text << ErrorKind::unsupported << sentence;
    };
    for (const char* field : {"vocab_size", "max_position_embeddings", "hidden_size", "intermediate_size",
                              "num_hidden_layers", "num_attention_heads"}) {
        QTest::addRow("%s is null", field)
            << llama("\"" + QByteArray(field) + "\": null") << ErrorKind::bad_input
            << QString("%1 is missing, expected a whole number.").arg(field);
        QTest::addRow("%s is 0", field) << llama("\"" + QByteArray(field) + "\": 0") << ErrorKind::bad_input
                                        << QString("%1 is 0, expected a number from 1 to").arg(field);
    }
    unsupported("mixtral", config("mixtral", {}),
                "model_type \"mixtral\" is not supported, expected \"gpt2\"");
    unsupported("another family's architecture", llama("\"architectures\": [\"GPT2LMHeadModel\"]"),
                "architecture \"GPT2LMHeadModel\" is not supported, expected \"LlamaForCausalLM\".");
    unsupported("classifier", config("qwen2", "\"architectures\": [\"Qwen2ForTokenClassification\"]"),
                "architecture \"Qwen2ForTokenClassification\" is not supported, expected "
                "\"Qwen2ForCausalLM\".");
    bad("more kv heads", llama("\"num_key_value_heads\": 16"),
        "num_key_value_heads is 16, expected a number from 1 to 8.");
    bad("kv heads do not divide", llama("\"num_key_value_heads\": 3"),
        "num_key_value_heads = 3 does not divide num_attention_heads = 8.");
    bad("heads do not divide", llama("\"num_attention_heads\": 7"),
        "hidden_size is 512, which num_attention_heads = 7 does not divide, and head_dim is missing.");
    bad("odd head_dim", llama("\"head_dim\": 65"), "head_dim is 65, expected an even number");
    bad("head_dim 0", llama("\"head_dim\": 0"), "head_dim is 0, expected a number from 1 to");
    bad("huge heads", llama("\"head_dim\": 1048576"), "8 heads of head_dim = 1048576 are wider than");
    unsupported("gelu", llama("\"hidden_act\": \"gelu\""),
                "hidden_act \"gelu\" is not supported, expected silu.");
    bad("eps 0", llama("\"rms_norm_eps\": 0"), "rms_norm_eps is 0, expected a value from");
    bad("theta 0", llama("\"rope_theta\": 0"), "rope_theta is 0, expected a value from");
    bad("theta is a string", llama("\"rope_theta\": \"1e4\""), "rope_theta is \"1e4\", expected a number.");
    bad("scaling is a number", llama("\"rope_scaling\": 2"), "rope_scaling is 2, expected an object.");
    unsupported("dynamic", llama("\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2.0}"),
                "rope_scaling.rope type \"dynamic\" is not supported, expected default, linear, llama3 or "
                "yarn.");
    unsupported("longrope", llama("\"rope_parameters\": {\"rope_type\": \"longrope\"}"),
                "rope_parameters.rope type \"longrope\" is not supported");
    unsupported("partial", llama("\"partial_rotary_factor\": 0.5"),
                "partial_rotary_factor is not 1, which is not supported.");
    unsupported("partial, inside", llama("\"rope_parameters\": {\"partial_rotary_factor\": 0.5}"),
                "rope_parameters.partial_rotary_factor is not 1, which is not supported.");
    bad("linear without a factor", llama("\"rope_scaling\": {\"type\": \"linear\"}"),
        "rope_scaling.factor is missing, expected a number.");
    bad("factor 0", llama("\"rope_scaling\": {\"type\": \"linear\", \"factor\": 0}"),
        "factor is 0, expected");
    bad("factor NaN", llama("\"rope_scaling\": {\"type\": \"linear\", \"factor\": NaN}"),
        "rope_scaling.factor is \"NaN\", expected a number.");
    bad("llama3 without original", llama("\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0}"),
        "rope_scaling.original_max_position_embeddings is missing, expected a number.");
    bad("llama3, high == low", llama3(", \"low_freq_factor\": 4.0"),
        "high_freq_factor is 4, expected more than low_freq_factor = 4.");
    bad("llama3, original 0", llama3(", \"original_max_position_embeddings\": 0"),
        "original_max_position_embeddings is 0, expected");
    bad("yarn, betas", llama("\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2, \"beta_fast\": 0.5}"),
        "beta_fast is 0.5, expected more than beta_slow = 1.");
    unsupported("mixed windows", config("qwen2", "\"use_sliding_window\": true, \"max_window_layers\": 4"),
                "4 of 8 layers have a sliding window, which is not supported, expected all or none.");
    bad("negative window", config("mistral", "\"sliding_window\": -1"), "sliding_window is -1, expected");
    unsupported("quantised", llama("\"quantization_config\": {}"), "quantization_config is set");
}

void TestHfConfigLlama::refusesWhatItCannotRun() {
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

void TestHfConfigLlama::readsEveryField() {
    const auto parsed = parse_hf_config(
        llama("\"architectures\": [\"LlamaForCausalLM\"], \"num_key_value_heads\": 2, \"head_dim\": 80, "
              "\"rms_norm_eps\": 1e-5, \"hidden_act\": \"silu\", \"rope_theta\": 500000.0, "
              "\"tie_word_embeddings\": true, \"pretraining_tp\": 2, \"eos_token_id\": [5, 6], "
              "\"torch_dtype\": \"bfloat16\"")
            .toStdString(),
        "config.json", nullptr);
    QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    QCOMPARE(parsed->family, Family::llama);
    QCOMPARE(parsed->vocab, 32000);
    QCOMPARE(parsed->n_positions, 2048);
    QCOMPARE(parsed->d_model, 512);
    QCOMPARE(parsed->n_layer, 8);
    QCOMPARE(parsed->n_head, 8);
    QCOMPARE(parsed->n_kv_head, 2);
    QCOMPARE(parsed->head_dim, 80);
    QCOMPARE(parsed->d_ff, 1376);
    QCOMPARE(parsed->norm, NormKind::rms_norm);
    QCOMPARE(parsed->norm_eps, 1e-5f);
    QCOMPARE(parsed->activation, Activation::silu);
    QVERIFY(parsed->gated_ff && parsed->tied_head && parsed->scale_attention);
    QVERIFY(parsed->rotary.has_value());
    QCOMPARE(parsed->rotary->theta, 500000.0);
    QCOMPARE(parsed->rotary->pairs, RotaryPairs::halves);
    QCOMPARE(parsed->eos_ids, (std::vector<std::int32_t>{5, 6}));
}

void TestHfConfigLlama::absentFieldsTakeTheReferencesDefaults() {
    for (const char* type : {"llama", "mistral", "qwen2"}) {
        const auto parsed = parse_hf_config(config(type, {}).toStdString(), "config.json", nullptr);
        QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
        QCOMPARE(parsed->n_kv_head, 8);
        QCOMPARE(parsed->head_dim, 64);
        QCOMPARE(parsed->norm_eps, 1e-6f);
        QVERIFY(!parsed->tied_head);
        QVERIFY(*parsed->rotary == Rotary());
        const bool none = type == std::string_view("qwen2");
        QCOMPARE(parsed->eos_ids, none ? std::vector<std::int32_t>{} : std::vector<std::int32_t>{2});
    }
    // Old files say what they are by their architecture alone.
    const QByteArray old =
        llama("\"architectures\": [\"MistralModel\"]").replace("\"model_type\": \"llama\", ", "");
    const auto parsed = parse_hf_config(old.toStdString(), "config.json", nullptr);
    QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    QCOMPARE(parsed->window, 4096);
}

void TestHfConfigLlama::ropeSettings_data() {
    QTest::addColumn<QByteArray>("fields");
    QTest::addColumn<Rotary>("rotary");
    const auto row = [](const char* name, const QByteArray& fields, const auto& change) {
        Rotary rotary;
        change(rotary);
        QTest::newRow(name) << fields << rotary;
    };
    row("null", "\"rope_scaling\": null", [](Rotary&) {});
    row("default", "\"rope_scaling\": {\"rope_type\": \"default\"}", [](Rotary&) {});
    row("theta inside", "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 1000000.0}",
        [](Rotary& r) { r.theta = 1e6; });
    const auto linear = [](Rotary& r) { r.scaling = RotaryScaling::linear, r.factor = 2.5; };
    row("linear, old name", "\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.5}", linear);
    row("linear, new name", "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.5}", linear);
    row("linear, both names",
        "\"rope_scaling\": {\"rope_type\": \"linear\", \"type\": \"x\", \"factor\": 2.5}", linear);
    row("linear, new object", "\"rope_parameters\": {\"rope_type\": \"linear\", \"factor\": 2.5}", linear);
    row("llama3",
        "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 32.0, \"low_freq_factor\": 1.5, "
        "\"high_freq_factor\": 3, \"original_max_position_embeddings\": 8192}",
        [](Rotary& r) {
            r.scaling = RotaryScaling::llama3;
            r.factor = 32;
            r.low_freq_factor = 1.5;
            r.high_freq_factor = 3;
            r.original_positions = 8192;
        });
    const auto yarn = [](Rotary& r) {
        r.scaling = RotaryScaling::yarn;
        r.factor = 4;
        r.original_positions = 512;
    };
    row("yarn",
        "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4, "
        "\"original_max_position_embeddings\": 512}",
        [&](Rotary& r) {
            yarn(r);
            r.amplitude = 0.1 * std::log(4.0) + 1;
        });
    row("yarn, all fields",
        "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4, \"beta_fast\": 16, "
        "\"beta_slow\": 2, \"attention_factor\": 1.5, \"truncate\": false, "
        "\"original_max_position_embeddings\": 512}",
        [&](Rotary& r) {
            yarn(r);
            r.beta_fast = 16;
            r.beta_slow = 2;
            r.amplitude = 1.5;
            r.truncate = false;
        });
    row("yarn without a factor",
        "\"rope_scaling\": {\"type\": \"yarn\", \"original_max_position_embeddings\": 512}", [&](Rotary& r) {
            yarn(r);
            r.amplitude = 0.1 * std::log(4.0) + 1;
        });
}

void TestHfConfigLlama::ropeSettings() {
    QFETCH(QByteArray, fields);
    QFETCH(Rotary, rotary);
    const auto parsed = parse_hf_config(llama(fields).toStdString(), "config.json", nullptr);
    QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    QVERIFY(std::abs(parsed->rotary->amplitude - rotary.amplitude) < 1e-6);
    Rotary found = *parsed->rotary;
    found.amplitude = rotary.amplitude;  // goes through a float
    QVERIFY(found == rotary);
}

void TestHfConfigLlama::windows_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("window");
    QTest::newRow("llama") << llama("\"sliding_window\": 99") << 0;
    QTest::newRow("mistral") << config("mistral", "\"sliding_window\": 1024") << 1024;
    QTest::newRow("mistral, null") << config("mistral", "\"sliding_window\": null") << 0;
    QTest::newRow("mistral, silent") << config("mistral", {}) << 4096;
    QTest::newRow("qwen2, unused") << config("qwen2", "\"use_sliding_window\": false, \"sliding_window\": 7")
                                   << 0;
    QTest::newRow("qwen2, silent") << config("qwen2", "\"sliding_window\": 7") << 0;
    const QByteArray used = "\"use_sliding_window\": true, \"sliding_window\": 7";
    QTest::newRow("qwen2, all layers") << config("qwen2", used + ", \"max_window_layers\": 0") << 7;
    QTest::newRow("qwen2, no layers") << config("qwen2", used + ", \"max_window_layers\": 8") << 0;
    QTest::newRow("qwen2, fewer layers than windows begin at") << config("qwen2", used) << 0;
    const QByteArray kinds = QByteArray("\"sliding_attention\", ").repeated(7) + "\"sliding_attention\"";
    QTest::newRow("qwen2, listed") << config("qwen2", used + ", \"layer_types\": [" + kinds + "]") << 7;
}

void TestHfConfigLlama::windows() {
    QFETCH(QByteArray, text);
    const auto parsed = parse_hf_config(text.toStdString(), "config.json", nullptr);
    QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    QTEST(parsed->window, "window");
}

void TestHfConfigLlama::biases_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("qkv");
    QTest::addColumn<bool>("attn_out");
    QTest::addColumn<bool>("ff");
    QTest::newRow("llama") << llama({}) << false << false << false;
    QTest::newRow("llama, attention") << llama("\"attention_bias\": true") << true << true << false;
    QTest::newRow("llama, ff") << llama("\"mlp_bias\": true") << false << false << true;
    QTest::newRow("mistral") << config("mistral", {}) << false << false << false;
    QTest::newRow("qwen2") << config("qwen2", {}) << true << false << false;
}

void TestHfConfigLlama::biases() {
    QFETCH(QByteArray, text);
    const auto parsed = parse_hf_config(text.toStdString(), "config.json", nullptr);
    QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    QTEST(parsed->qkv_bias, "qkv");
    QTEST(parsed->attn_out_bias, "attn_out");
    QTEST(parsed->ff_bias, "ff");
}

QTEST_APPLESS_MAIN(TestHfConfigLlama)
#include "tst_hf_config_llama.moc"
