// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <limits>

#include "engine/formats/gguf_weights.h"
#include "engine/formats/model_source.h"
#include "tests/engine/formats/test_files.h"
#include "tests/engine/formats/tiny_gguf.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

using B = GgufBytes;

ModelRef ref_of(const std::filesystem::path& path) {
    return {.path = path.string(), .preset = {}, .seed = 0};
}

}  // namespace

class TestGgufWeights : public QObject {
    Q_OBJECT

private slots:
    void wholeModelsLoad_data();
    void wholeModelsLoad();
    void brokenModelsAreRefused_data();
    void brokenModelsAreRefused();
    void optionalPartsAreFoundByTheirTensors();
    void ropeDivisorsReachTheFrequencies();
    void nonFiniteWeightsAreCounted();
    void aFileThatIsCutWhileItIsOpen();
    void nothingIsAllocatedForARefusedModel();
    void loadingTellsItsProgressAndStops();
};

void TestGgufWeights::wholeModelsLoad_data() {
    QTest::addColumn<QByteArray>("arch");
    for (const char* arch : {"gpt2", "llama", "qwen2"}) QTest::newRow(arch) << QByteArray(arch);
}

void TestGgufWeights::wholeModelsLoad() {
    QFETCH(QByteArray, arch);
    const TestFolder folder;
    const auto path = folder.write("tiny.gguf", TinyGguf(arch).file());
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto loaded = load_model(ref_of(path), ledger);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const Weights& weights = *loaded->weights;
    QCOMPARE(weights.config.name, std::string("tiny"));
    QCOMPARE(weights.config.qkv_bias, arch != "llama");
    QCOMPARE(weights.config.n_kv_head, arch == "gpt2" ? 2 : 1);
    QCOMPARE(weights.config.stored_as, std::string("F32"));
    QCOMPARE(weights.source, path.string());
    QVERIFY(weights.hash.starts_with("sha256:"));
    QCOMPARE(weights.head.weight, weights.token_embedding);
    // The folder that holds only this file stands for it.
    QCOMPARE(load_model(ref_of(folder.path()), ledger)->weights->hash, weights.hash);
}

void TestGgufWeights::brokenModelsAreRefused_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");  // after the path
    const auto row = [](const char* name, const TinyGguf& gguf, ErrorKind kind, const char* sentence) {
        QTest::newRow(name) << gguf.file() << kind << sentence;
    };
    using enum ErrorKind;
    row("missing tensor", TinyGguf("llama").drop("blk.1.attn_k.weight"), bad_input,
        "1 of the 20 tensors that the metadata asks for are missing: \"blk.1.attn_k.weight\".");
    row("missing embedding", TinyGguf("llama").drop("token_embd.weight"), bad_input,
        "lacks token_embd.weight.");
    row("missing embedding beside a head",
        TinyGguf("llama").drop("token_embd.weight").with({"output.weight", {5, 8}}), bad_input,
        "lacks token_embd.weight.");
    row("a block too few",
        TinyGguf("gpt2").with([](B& keys) { keys.key("x", 1u); }).drop("blk.1.ffn_up.weight"), bad_input,
        "1 of the 28 tensors that the metadata asks for are missing: \"blk.1.ffn_up.weight\".");
    row("unknown tensor", TinyGguf("llama").with({"blk.0.attn_q_norm.weight", {4}}), unsupported,
        "one tensor is not part of a llama model of 2 blocks: \"blk.0.attn_q_norm.weight\".");
    row("a block too many",
        TinyGguf("gpt2").with({"blk.2.ffn_norm.weight", {8}}).with({"blk.2.ffn_norm.bias", {8}}), unsupported,
        "2 tensors are not part of a gpt2 model of 2 blocks: \"blk.2.ffn_norm.weight\", "
        "\"blk.2.ffn_norm.bias\".");
    row("a block number with a zero in front", TinyGguf("llama").with({"blk.00.ffn_norm.weight", {8}}),
        unsupported, "one tensor is not part of a llama model of 2 blocks: \"blk.00.ffn_norm.weight\".");
    row("rope divisors of a model with a position table", TinyGguf("gpt2").with({"rope_freqs.weight", {2}}),
        unsupported, "one tensor is not part of a gpt2 model of 2 blocks: \"rope_freqs.weight\".");
    row("a bias of gpt2 is left out", TinyGguf("gpt2").drop("blk.0.attn_qkv.bias"), bad_input,
        "1 of the 28 tensors that the metadata asks for are missing: \"blk.0.attn_qkv.bias\".");
    row("a bias of qwen2 is left out", TinyGguf("qwen2").drop("blk.1.attn_v.bias"), bad_input,
        "1 of the 26 tensors that the metadata asks for are missing: \"blk.1.attn_v.bias\".");
    row("one bias of many", TinyGguf("llama").with({"blk.0.attn_q.bias", {8}}), bad_input,
        "5 of the 26 tensors that the metadata asks for are missing: \"blk.0.attn_k.bias\", "
        "\"blk.0.attn_v.bias\", \"blk.1.attn_k.bias\" and 2 more.");
    const auto shaped = [](const char* arch, const char* name, std::vector<std::uint64_t> shape) {
        TinyGguf gguf(arch);
        gguf.at(name).shape = std::move(shape);
        return gguf;
    };
    row("wrong shape", shaped("llama", "blk.0.attn_k.weight", {8, 8}), bad_input,
        "tensor \"blk.0.attn_k.weight\" has the shape [8, 8], expected [4, 8] from the metadata.");
    row("turned", shaped("gpt2", "blk.0.attn_qkv.weight", {8, 24}), bad_input,
        "tensor \"blk.0.attn_qkv.weight\" has the shape [8, 24], expected [24, 8] from the metadata.");
    row("another rank", shaped("llama", "output_norm.weight", {1, 8}), bad_input,
        "tensor \"output_norm.weight\" has the shape [1, 8], expected [8] from the metadata.");
    row("an embedding of rank 1", shaped("llama", "token_embd.weight", {40}), bad_input,
        "lacks token_embd.weight.");
    row("a position table of another length", shaped("gpt2", "position_embd.weight", {5, 8}), bad_input,
        "tensor \"position_embd.weight\" has the shape [5, 8], expected [6, 8] from the metadata.");
    TinyGguf integers("llama");
    integers.at("output_norm.weight").type = 26;
    row("a type of whole numbers", integers, unsupported,
        "tensor \"output_norm.weight\" is of type I32, which this version cannot read.");
    row("duplicate", TinyGguf("llama").with({"output_norm.weight", {8}}), bad_input,
        "lists tensor \"output_norm.weight\" twice.");
    row("rope divisors of another length", TinyGguf("llama").with({"rope_freqs.weight", {4}}), bad_input,
        "tensor \"rope_freqs.weight\" has the shape [4], expected [2] from the metadata.");
    TinyGguf halves("llama");
    halves.with({"rope_freqs.weight", {2}, 1.f, 26});
    row("rope divisors of another type", halves, bad_input,
        "tensor \"rope_freqs.weight\" is of type I32, expected F32.");
    row("rope divisors are 0", TinyGguf("llama").with({"rope_freqs.weight", {2}, 0.f}), bad_input,
        "Model config: a divisor of the rope frequencies is not a positive number.");
    row("rope divisors are NaN",
        TinyGguf("llama").with({"rope_freqs.weight", {2}, std::numeric_limits<float>::quiet_NaN()}),
        bad_input, "Model config: a divisor of the rope frequencies is not a positive number.");
    row("a broken tokenizer", TinyGguf("llama").with([](B& keys) { keys.key("tokenizer.ggml.model", 1u); }),
        bad_input, "tokenizer.ggml.model is of type u32, expected a string.");
    row("base frequency 0", TinyGguf("llama").with([](B& keys) { keys.key("llama.rope.freq_base", 0.f); }),
        bad_input, "llama.rope.freq_base is 0, expected a value from 1.5 to 1000000000000.");
    row("negative scaling",
        TinyGguf("llama").with([](B& keys) { keys.key("llama.rope.scaling.factor", -2.f); }), bad_input,
        "llama.rope.scaling.factor is -2, expected a value from 0 to 1000000.");
}

void TestGgufWeights::brokenModelsAreRefused() {
    QFETCH(QByteArray, file);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const TestFolder folder;
    const auto path = folder.write("m.gguf", file);
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto loaded = load_model(ref_of(path), ledger);
    QVERIFY(!loaded);
    QCOMPARE(QString::fromStdString(loaded.error().message),
             QString::fromStdString(path.string()) + ": " + sentence);
    QCOMPARE(loaded.error().kind, kind);
    QCOMPARE(ledger->n_allocation(), std::uint64_t{0});
}

void TestGgufWeights::optionalPartsAreFoundByTheirTensors() {
    TinyGguf gguf("llama");
    gguf.with({"output.weight", {5, 8}, 0.25f}).with({"blk.0.attn_rot_embd.weight", {2}});
    for (const QByteArray block : {"blk.0.", "blk.1."}) {
        gguf.with({block + "attn_q.bias", {8}, 1.f})
            .with({block + "attn_k.bias", {4}, 2.f})
            .with({block + "attn_v.bias", {4}, 3.f})
            .with({block + "attn_output.bias", {8}, 4.f});
    }
    const TestFolder folder;
    const auto path = folder.write("m.gguf", gguf.file());
    const auto loaded = load_model(ref_of(path), std::make_shared<MemoryLedger>());
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const Weights& weights = *loaded->weights;
    QVERIFY(!weights.config.tied_head);
    QCOMPARE(weights.head.weight[39], 0.25f);
    QCOMPARE(weights.token_embedding[39], 0.5f);
    const float* bias = weights.layers[1].attn_qkv.bias;
    QCOMPARE(std::vector<float>(bias, bias + 16),
             (std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
    QCOMPARE(weights.layers[0].attn_out.bias[7], 4.f);
    QVERIFY(weights.layers[0].ff_up.bias == nullptr);
    const auto summary = inspect_model(ref_of(path));
    QVERIFY(summary);
    for (const ModelSummary::Tensor& tensor : summary->tensors) {
        const QString name = QString::fromStdString(tensor.name);
        const bool joined = name.contains("attn_q.") || name.contains("attn_k.") || name.contains("attn_v.");
        QCOMPARE(tensor.use, std::string(name == "blk.0.attn_rot_embd.weight" ? "skipped: rope buffer"
                                         : joined                             ? "used"
                                                                              : "used in place"));
    }
}

void TestGgufWeights::ropeDivisorsReachTheFrequencies() {
    const TestFolder folder;
    const auto path =
        folder.write("m.gguf", TinyGguf("llama")
                                   .with({"rope_freqs.weight", {2}, 4.f})
                                   .with([](B& keys) { keys.key("llama.rope.freq_base", 100.f); })
                                   .file());
    const auto loaded = load_model(ref_of(path), std::make_shared<MemoryLedger>());
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QCOMPARE(loaded->weights->rotary_frequencies, (std::vector<double>{0.25, 0.1 / 4}));
    QCOMPARE(loaded->weights->config.rotary->pairs, RotaryPairs::neighbours);
}

void TestGgufWeights::nonFiniteWeightsAreCounted() {
    TinyGguf gguf("llama");
    gguf.at("blk.0.ffn_up.weight").value = std::numeric_limits<float>::infinity();
    const TestFolder folder;
    const auto path = folder.write("m.gguf", gguf.file());
    const auto loaded = load_model(ref_of(path), std::make_shared<MemoryLedger>());
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QCOMPARE(loaded->weights->notes.back(), path.string() + ": 96 of the weights are NaN or infinite.");
}

void TestGgufWeights::aFileThatIsCutWhileItIsOpen() {
    const TestFolder folder;
    const auto path = folder.write("m.gguf", TinyGguf("llama").file());
    const auto source = open_gguf(path);
    QVERIFY(source && !source->model.obstacle);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto loaded = load_gguf_weights(*source, ledger);
    QVERIFY(!loaded);
    QCOMPARE(loaded.error().kind, ErrorKind::io);
    QVERIFY(loaded.error().message.starts_with(path.string() + ": became shorter while it was read: "));
    QCOMPARE(ledger->total(), std::uint64_t{0});
}

void TestGgufWeights::nothingIsAllocatedForARefusedModel() {
    // The metadata asks for a million times more than the file holds.
    TinyGguf gguf("llama");
    gguf.keys = B().key("general.architecture", "llama")
                    .key("llama.context_length", 1u << 20)
                    .key("llama.embedding_length", 8u)
                    .key("llama.block_count", 1000u)
                    .key("llama.feed_forward_length", 1u << 20)
                    .key("llama.attention.head_count", 1u)
                    .key("llama.attention.key_length", 1u << 20)
                    .key("llama.attention.value_length", 1u << 20)
                    .key("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    const TestFolder folder;
    const auto path = folder.write("m.gguf", gguf.file());
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto loaded = load_model(ref_of(path), ledger);
    QVERIFY(!loaded);
    QCOMPARE(QString::fromStdString(loaded.error().message),
             QString::fromStdString(path.string()) +
                 ": tensor \"blk.0.attn_q.weight\" has the shape [8, 8], expected [1048576, 8] from the "
                 "metadata.");
    QCOMPARE(ledger->n_allocation(), std::uint64_t{0});
}

void TestGgufWeights::loadingTellsItsProgressAndStops() {
    // A head of 8 MiB makes eight pieces.
    TinyGguf gguf("llama");
    gguf.at("token_embd.weight").shape = {std::uint64_t{1} << 18, 8};
    const TestFolder folder;
    const auto path = folder.write("m.gguf", gguf.file());
    std::vector<LoadProgress> seen;
    const auto ledger = std::make_shared<MemoryLedger>();
    LoadWatch watch;
    watch.progress = [&](const LoadProgress& progress) { seen.push_back(progress); };
    QVERIFY(load_model(ref_of(path), ledger, watch));
    QVERIFY(seen.size() >= 2);
    QCOMPARE(seen.back().bytes_done, seen.back().bytes_total);
    QVERIFY(seen.back().bytes_total > std::uint64_t{8} << 20);
    for (std::size_t i = 1; i < seen.size(); ++i) QVERIFY(seen[i].bytes_done >= seen[i - 1].bytes_done);

    std::stop_source stop;
    seen.clear();
    watch.stop = stop.get_token();
    watch.progress = [&](const LoadProgress& progress) {
        seen.push_back(progress);
        stop.request_stop();
    };
    const auto stopped = load_model(ref_of(path), ledger, watch);
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
    QCOMPARE(ledger->total(), std::uint64_t{0});
}

QTEST_APPLESS_MAIN(TestGgufWeights)
#include "tst_gguf_weights.moc"
