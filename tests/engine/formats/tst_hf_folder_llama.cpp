// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <functional>

#include "engine/formats/hf_folder.h"
#include "engine/formats/model_source.h"
#include "tests/engine/formats/tiny_model.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// A small valid llama folder that a test can break: one layer, 4 heads of 2 over 2 KV heads, 6 wide.
TinyModel tiny_llama() {
    TinyModel model;
    model.tensors.clear();
    model.config = QJsonDocument::fromJson(R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
        "vocab_size": 7, "max_position_embeddings": 5, "hidden_size": 6, "num_hidden_layers": 1,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 2, "intermediate_size": 3,
        "eos_token_id": 6})")
                       .object();
    model.add("model.embed_tokens.weight", {7, 6});
    const QString layer = "model.layers.0.";
    model.add(layer + "input_layernorm.weight", {6});
    model.add(layer + "self_attn.q_proj.weight", {8, 6});
    model.add(layer + "self_attn.k_proj.weight", {4, 6});
    model.add(layer + "self_attn.v_proj.weight", {4, 6});
    model.add(layer + "self_attn.o_proj.weight", {6, 8});
    model.add(layer + "post_attention_layernorm.weight", {6});
    model.add(layer + "mlp.gate_proj.weight", {3, 6});
    model.add(layer + "mlp.up_proj.weight", {3, 6});
    model.add(layer + "mlp.down_proj.weight", {6, 3});
    model.add("model.norm.weight", {6});
    model.add("lm_head.weight", {7, 6});
    return model;
}

}  // namespace

class TestHfFolderLlama : public QObject {
    Q_OBJECT

private slots:
    void everyTensorFindsItsPlace();
    void tiedHeads();
    void tokenizersThatAreNotRead();
    void brokenFolders_data();
    void brokenFolders();
};

void TestHfFolderLlama::everyTensorFindsItsPlace() {
    TestFolder folder;
    tiny_llama().write(folder);
    const auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    const LayerWeights& layer = (*weights)->layers.at(0);
    const auto is = [](const float* data, const char* name, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            if (data[i] != TinyModel::value(name, i)) return false;
        }
        return true;
    };
    QVERIFY(is((*weights)->token_embedding, "model.embed_tokens.weight", 42));
    QVERIFY((*weights)->position_embedding == nullptr);
    QVERIFY(is(layer.attn_norm.weight, "model.layers.0.input_layernorm.weight", 6));
    QVERIFY(layer.attn_norm.bias == nullptr);
    QCOMPARE(layer.attn_qkv.n_out, 16);
    QVERIFY(is(layer.attn_qkv.weight, "model.layers.0.self_attn.q_proj.weight", 48));
    QVERIFY(is(layer.attn_qkv.weight + 48, "model.layers.0.self_attn.k_proj.weight", 24));
    QVERIFY(is(layer.attn_qkv.weight + 72, "model.layers.0.self_attn.v_proj.weight", 24));
    QCOMPARE(layer.attn_out.n_in, 8);
    QVERIFY(is(layer.attn_out.weight, "model.layers.0.self_attn.o_proj.weight", 48));
    QVERIFY(is(layer.ff_norm.weight, "model.layers.0.post_attention_layernorm.weight", 6));
    QVERIFY(is(layer.ff_gate.weight, "model.layers.0.mlp.gate_proj.weight", 18));
    QVERIFY(is(layer.ff_up.weight, "model.layers.0.mlp.up_proj.weight", 18));
    QVERIFY(is(layer.ff_down.weight, "model.layers.0.mlp.down_proj.weight", 18));
    QVERIFY(is((*weights)->final_norm.weight, "model.norm.weight", 6));
    QVERIFY(is((*weights)->head.weight, "lm_head.weight", 42));
    QVERIFY((*weights)->notes.empty());
}

void TestHfFolderLlama::tiedHeads() {
    TinyModel model = tiny_llama();
    model.config["tie_word_embeddings"] = true;
    TestFolder different;
    model.write(different);
    auto weights = load(different);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QCOMPARE((*weights)->notes.size(), std::size_t{1});
    QVERIFY2(
        (*weights)->notes[0].find("lm_head.weight differs from embed_tokens.weight") != std::string::npos,
        (*weights)->notes[0].c_str());
    QCOMPARE((*weights)->head.weight, (*weights)->token_embedding);
    // Only the other name of the shared pair was stored.
    model.remove("model.embed_tokens.weight");
    TestFolder head_alone;
    model.write(head_alone);
    weights = load(head_alone);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QCOMPARE((*weights)->token_embedding[5], TinyModel::value("lm_head.weight", 5));
}

void TestHfFolderLlama::tokenizersThatAreNotRead() {
    for (const auto& [file, said] :
         {std::pair{"",
                    "no tokenizer.json or vocab.json; prompts must be given as token "
                    "ids."},
          std::pair{"tokenizer.model", "tokenizer.model is not read, only"}}) {
        TestFolder folder;
        tiny_llama().write(folder);
        if (*file != '\0') folder.write(file, "x");
        const auto loaded = load_model({.path = folder.path().string(), .preset = {}, .seed = 0},
                                       std::make_shared<MemoryLedger>());
        QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
        QVERIFY(loaded->tokenizer == nullptr);
        QCOMPARE(loaded->weights->notes.size(), std::size_t{1});
        QVERIFY2(loaded->weights->notes[0].find(said) != std::string::npos,
                 loaded->weights->notes[0].c_str());
    }
}

void TestHfFolderLlama::brokenFolders_data() {
    using Change = std::function<void(TinyModel&)>;
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, Change change, const char* sentence) {
        QTest::newRow(name) << std::move(change) << sentence;
    };
    row(
        "no tensors", [](TinyModel& m) { m.tensors.clear(); },
        "holds no tensors, expected the weights of a llama model.");
    row(
        "untied without a head", [](TinyModel& m) { m.remove("lm_head.weight"); },
        "tie_word_embeddings is false, but the weights hold no lm_head.weight");
    row(
        "a bias nobody asked for", [](TinyModel& m) { m.add("model.layers.0.self_attn.q_proj.bias", {8}); },
        "one tensor is not part of a llama model with n_layer = 1: "
        "\"model.layers.0.self_attn.q_proj.bias\".");
    row(
        "a layer too many", [](TinyModel& m) { m.add("model.layers.1.input_layernorm.weight", {6}); },
        "one tensor is not part of a llama model with n_layer = 1");
    row(
        "biases missing",
        [](TinyModel& m) { m.config["model_type"] = "qwen2", m.config.remove("architectures"); },
        "3 of the 15 tensors that config.json asks for are missing: \"layers.0.self_attn.q_proj.bias\", "
        "\"layers.0.self_attn.k_proj.bias\", \"layers.0.self_attn.v_proj.bias\".");
    row(
        "head_dim ignored", [](TinyModel& m) { m.config["head_dim"] = 4; },
        "tensor \"model.layers.0.self_attn.q_proj.weight\" has the shape [8, 6], expected [16, 6]");
    row(
        "kv heads", [](TinyModel& m) { m.config["num_key_value_heads"] = 4; },
        "tensor \"model.layers.0.self_attn.k_proj.weight\" has the shape [4, 6], expected [8, 6]");
    row(
        "mixed prefixes", [](TinyModel& m) { m.at("model.norm.weight").name = "norm.weight"; },
        "some tensor names start with \"model.\" and some do not");
    row(
        "gpt2 weights", [](TinyModel& m) { m.tensors = TinyModel().tensors; },
        "28 tensors are not part of a llama model with n_layer = 1: \"wte.weight\"");
}

void TestHfFolderLlama::brokenFolders() {
    QFETCH(std::function<void(TinyModel&)>, change);
    QFETCH(QString, sentence);
    TinyModel model = tiny_llama();
    change(model);
    TestFolder folder;
    model.write(folder);
    const auto opened = open_hf_folder(folder.path());
    QVERIFY(!opened);
    QVERIFY2(QString::fromStdString(opened.error().message).contains(sentence),
             opened.error().message.c_str());
}

QTEST_APPLESS_MAIN(TestHfFolderLlama)
#include "tst_hf_folder_llama.moc"
