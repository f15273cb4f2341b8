// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

#include "engine/formats/model_source.h"
#include "engine/plan/shape_reader.h"
#include "tests/engine/formats/tiny_gguf.h"

using namespace decodescope;

namespace {

/// What the header of a file with this content says.
Result<PlanShape> read_gguf(const QByteArray& content) {
    QTemporaryDir folder;
    const std::string path = folder.filePath("m.gguf").toStdString();
    std::ofstream(path, std::ios::binary).write(content.constData(), content.size());
    return shape_from_gguf(path);
}

bool has_note(const PlanShape& shape, const char* part) {
    for (const std::string& note : shape.notes) {
        if (note.find(part) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

class ShapeReaderTest : public QObject {
    Q_OBJECT

private slots:
    void widths_come_from_the_file() {
        // Case S13: hidden / heads would be 64.
        const auto shape =
            shape_from_config(R"({"model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 28,
            "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072,
            "vocab_size": 151936, "max_position_embeddings": 40960, "tie_word_embeddings": true})",
                              "c");
        QVERIFY2(shape, shape ? "" : shape.error().message.c_str());
        QCOMPARE(shape->kv_elements() * 2, std::int64_t{114'688});
        QCOMPARE(shape->n_parameter(), std::int64_t{596'049'920});
        QVERIFY(!shape->config);
        QCOMPARE(shape->notes.size(), std::size_t{1});
        QVERIFY(has_note(*shape, "does not run it"));
    }

    void what_the_file_leaves_out_is_told() {
        const auto shape =
            shape_from_config(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 99, "max_position_embeddings": 128})",
                              "c");
        QVERIFY2(shape, shape ? "" : shape.error().message.c_str());
        QCOMPARE(shape->n_kv_head, 4);
        QCOMPARE(shape->key_dim, 16);
        QVERIFY(shape->config);
        QVERIFY(has_note(*shape, "num_key_value_heads is not in the file"));
        QVERIFY(has_note(*shape, "head_dim is not in the file"));
    }

    void pictures_are_left_aside() {
        const auto shape =
            shape_from_config(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
            "hidden_size": 2560, "num_hidden_layers": 34, "num_attention_heads": 8, "num_key_value_heads": 4,
            "head_dim": 256, "intermediate_size": 10240, "vocab_size": 262208, "sliding_window": 1024}})",
                              "c");
        QVERIFY2(shape, shape ? "" : shape.error().message.c_str());
        QCOMPARE(shape->n_window_layer, 29);
        QCOMPARE(shape->window, 1024);
        QCOMPARE(shape->n_parameter(), std::int64_t{3'880'263'168});
        QVERIFY(has_note(*shape, "5 of 6 layers"));
    }

    void layers_with_a_window_are_counted_data() {
        QTest::addColumn<QByteArray>("fields");
        QTest::addColumn<int>("layers");
        QTest::newRow("listed") << QByteArray(R"("model_type": "x", "sliding_window": 8, "layer_types":
                          ["sliding_attention", "full_attention", "sliding_attention", "full_attention"])")
                                << 2;
        QTest::newRow("pattern")
            << QByteArray(R"("model_type": "x", "sliding_window": 8, "sliding_window_pattern": 3)") << 3;
        QTest::newRow("from a layer on")
            << QByteArray(
                   R"("model_type": "qwen3", "intermediate_size": 9, "sliding_window": 8, "use_sliding_window": true,
               "max_window_layers": 3)")
            << 1;
        QTest::newRow("switched off")
            << QByteArray(
                   R"("model_type": "qwen3", "intermediate_size": 9, "sliding_window": 8, "use_sliding_window": false)")
            << 0;
        QTest::newRow("none") << QByteArray(R"("model_type": "x", "sliding_window": null)") << 0;
        QTest::newRow("not said") << QByteArray(R"("model_type": "x", "sliding_window": 8)") << 4;
    }
    void layers_with_a_window_are_counted() {
        QFETCH(const QByteArray, fields);
        const std::string text = R"({"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4,
            "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 50, )" +
                                 fields.toStdString() + "}";
        const auto shape = shape_from_config(text, "c");
        QVERIFY2(shape, shape ? "" : shape.error().message.c_str());
        QTEST(shape->n_window_layer, "layers");
        QCOMPARE(shape->window, shape->n_window_layer > 0 ? 8 : 0);
    }

    void types_that_are_not_known_have_no_weights() {
        const auto shape =
            shape_from_config(R"({"model_type": "new", "hidden_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 24, "vocab_size": 99})",
                              "c");
        QVERIFY(shape);
        QCOMPARE(shape->n_parameter(), std::int64_t{0});
        QCOMPARE(shape->kv_elements(), std::int64_t{2 * 2 * 2 * 24});
        QVERIFY(has_note(*shape, "the tensors of model_type \"new\" are not known here"));
    }

    void broken_configs_are_refused_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* name, const char* text, const char* sentence) {
            QTest::newRow(name) << QByteArray(text) << QString(sentence);
        };
        row("no object", "[1]", "c: ");
        row("empty", "{}", "c: num_hidden_layers is missing, expected a whole number.");
        row("layers", R"({"model_type": "x", "num_hidden_layers": -1})",
            "c: num_hidden_layers is \"-1\", expected a whole number from 1 to 1000.");
        row("fraction", R"({"model_type": "x", "num_hidden_layers": 2, "hidden_size": 6.5})",
            "c: hidden_size is \"6.5\", expected a whole number from 1 to 1048576.");
        row("a list", R"({"model_type": "x", "num_hidden_layers": 2, "hidden_size": [6]})",
            "c: hidden_size is not a number, expected a whole number from 1 to 1048576.");
        row("no heads", R"({"model_type": "x", "num_hidden_layers": 2, "hidden_size": 64})",
            "c: num_attention_heads is missing, expected a whole number.");
        row("groups",
            R"({"model_type": "x", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
                "num_key_value_heads": 3, "vocab_size": 9})",
            "c: num_key_value_heads = 3 does not divide num_attention_heads = 4.");
        row("width",
            R"({"model_type": "x", "num_hidden_layers": 2, "hidden_size": 66, "num_attention_heads": 4,
                "num_key_value_heads": 2, "vocab_size": 9})",
            "c: head_dim is missing, and num_attention_heads = 4 does not divide hidden_size = 66.");
        row("latent without its key",
            R"({"model_type": "deepseek_v3", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
                "kv_lora_rank": 16, "vocab_size": 9})",
            "c: qk_rope_head_dim is missing, expected a whole number.");
        row("width of the feed-forward block",
            R"({"model_type": "qwen3", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
                "head_dim": 16, "vocab_size": 9})",
            "c: intermediate_size is missing, expected a whole number.");
        row("gpt2", R"({"model_type": "gpt2", "n_embd": 64})", "c: ");
        row("wide heads",
            R"({"model_type": "x", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 1048576,
                "num_key_value_heads": 1, "head_dim": 1048576, "vocab_size": 9})",
            "c: all heads together are 1099511627776 wide, expected at most 16777216.");
        row("parameters",
            R"({"model_type": "mixtral", "num_hidden_layers": 1000, "hidden_size": 1048576, "num_attention_heads": 8,
                "num_key_value_heads": 1, "head_dim": 64, "vocab_size": 9, "intermediate_size": 1048576,
                "num_local_experts": 60000})",
            "c: there are more than 10^16 parameters.");
        row("flag",
            R"({"model_type": "qwen3", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
                "head_dim": 16, "vocab_size": 9, "tie_word_embeddings": 1, "intermediate_size": 4})",
            "c: tie_word_embeddings is not true or false.");
    }
    void broken_configs_are_refused() {
        QFETCH(const QByteArray, text);
        const auto shape = shape_from_config(text.toStdString(), "c");
        QVERIFY(!shape);
        QFETCH(const QString, sentence);
        QVERIFY2(QString::fromStdString(shape.error().message).startsWith(sentence),
                 shape.error().message.c_str());
        QVERIFY(shape.error().message.ends_with('.'));
    }

    void gguf_headers_are_read_data() {
        QTest::addColumn<QString>("file");
        for (const char* file :
             {"gpt2.plain-f32", "llama.one-kv-head-f32", "llama.mistral-f32", "llama.qwen2-f32"})
            QTest::newRow(file) << QString(DECODESCOPE_TEST_DATA "/gguf/%1.gguf").arg(file);
    }
    void gguf_headers_are_read() {
        QFETCH(const QString, file);
        const auto shape = read_shape(file.toStdString());
        QVERIFY2(shape, shape ? "" : shape.error().message.c_str());
        QVERIFY(shape->loadable);
        const auto summary = inspect_model({.path = file.toStdString(), .preset = {}, .seed = 0});
        QVERIFY(summary);
        QCOMPARE(shape->kv_elements() * 4, summary->config.kv_bytes_per_token(DType::f32));
        QCOMPARE(shape->n_parameter(), static_cast<std::int64_t>(summary->n_parameter));
        std::uint64_t bytes = 0;
        for (const auto& tensor : summary->tensors) bytes += tensor.bytes;
        QCOMPARE(shape->file_tensor_bytes, bytes);
    }

    void headers_of_other_architectures_are_read() {
        // A latent of 16 + 4, heads of 12 and 8, as newer writers say it.
        test::TinyGguf latent("deepseek2");
        latent.with([](test::GgufBytes& keys) {
            keys.key("deepseek2.attention.kv_lora_rank", 16u)
                .key("deepseek2.rope.dimension_count", 4u)
                .key("deepseek2.attention.key_length", 20u)
                .key("deepseek2.attention.value_length", 16u)
                .key("deepseek2.attention.key_length_mla", 12u)
                .key("deepseek2.attention.value_length_mla", 8u);
        });
        const auto shape = read_gguf(latent.file());
        QVERIFY2(shape, shape ? "" : shape.error().message.c_str());
        QCOMPARE(QString(to_string(shape->attention())), QString("MLA"));
        QCOMPARE(shape->kv_elements(), std::int64_t{2 * 20});
        QCOMPARE(shape->key_dim, 12);
        QCOMPARE(shape->value_dim, 8);
        QVERIFY(!shape->loadable);
        QVERIFY(shape->file_tensor_bytes > 0);
        QCOMPARE(shape->n_parameter() * 4, static_cast<std::int64_t>(shape->file_tensor_bytes));
        QVERIFY(has_note(*shape, "does not run it"));

        test::TinyGguf local("gemma3");
        local.with([](test::GgufBytes& keys) {
            keys.key("gemma3.attention.sliding_window", 3u)
                .key("gemma3.attention.key_length", 16u)
                .key("gemma3.attention.value_length", 6u);
        });
        const auto windowed = read_gguf(local.file());
        QVERIFY2(windowed, windowed ? "" : windowed.error().message.c_str());
        QCOMPARE(windowed->kv_elements(), std::int64_t{2 * (16 + 6)});
        QCOMPARE(windowed->window, 3);
        QCOMPARE(windowed->n_window_layer, 2);
    }

    void headers_that_cannot_be_planned_are_refused_data() {
        QTest::addColumn<int>("case_number");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("heads differ")
            << 0 << "other.attention.head_count_kv differs between layers, which cannot be";
        QTest::newRow("no layers") << 1 << "lacks other.block_count.";
        QTest::newRow("no rotary key") << 2 << "lacks other.rope.dimension_count.";
        QTest::newRow("wide heads") << 3 << "heads are wider than the model.";
    }
    void headers_that_cannot_be_planned_are_refused() {
        QFETCH(const int, case_number);
        test::GgufBytes keys;
        keys.key("general.architecture", "other").key("other.embedding_length", 8u);
        if (case_number != 1) keys.key("other.block_count", 2u);
        keys.key("other.attention.head_count", case_number == 3 ? 16u : 2u);
        if (case_number == 0) {
            keys.array("other.attention.head_count_kv", GgufType::u32, 2,
                       test::GgufBytes::u32(1) + test::GgufBytes::u32(2));
        }
        if (case_number == 2) keys.key("other.attention.kv_lora_rank", 16u);
        const auto shape = read_gguf(keys.file());
        QVERIFY(!shape);
        QFETCH(const QString, sentence);
        QVERIFY2(QString::fromStdString(shape.error().message).contains(sentence),
                 shape.error().message.c_str());
    }

    void names_are_resolved() {
        const auto demo = read_shape("demo");
        QVERIFY(demo);
        QVERIFY(demo->loadable);
        QCOMPARE(demo->n_parameter(), std::int64_t{3'259'392});
        const auto preset = read_shape("preset:gpt2-xl,seed=3");
        QVERIFY(preset);
        QCOMPARE(preset->kv_elements() * 2 * 1024, std::int64_t{314'572'800});
        const auto known = read_shape("Llama-3-70B");
        QVERIFY(known);
        QVERIFY(!known->loadable);
        QTemporaryDir folder;
        const std::string path = folder.filePath("config.json").toStdString();
        std::ofstream(path)
            << R"({"model_type": "x", "hidden_size": 8, "num_hidden_layers": 1, "vocab_size": 9,
            "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4})";
        QVERIFY(read_shape(path));
        QVERIFY(read_shape(folder.path().toStdString()));
        QVERIFY(!read_shape(folder.path().toStdString())->loadable);
    }

    void names_that_are_nothing_are_refused_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("known") << "known:gpt5"
                               << "\"gpt5\" is not a known configuration";
        QTest::newRow("any") << "gpt5"
                             << "\"gpt5\" is neither a folder, a config.json, a GGUF file, a bundled";
        QTest::newRow("preset") << "preset:gpt5"
                                << "Unknown preset \"gpt5\"";
        QTest::newRow("empty") << ""
                               << "The model is empty";
    }
    void names_that_are_nothing_are_refused() {
        QFETCH(const QString, name);
        const auto shape = read_shape(name.toStdString());
        QVERIFY(!shape);
        QFETCH(const QString, sentence);
        QVERIFY2(QString::fromStdString(shape.error().message).startsWith(sentence),
                 shape.error().message.c_str());
    }
};

QTEST_APPLESS_MAIN(ShapeReaderTest)
#include "tst_shape_reader.moc"
