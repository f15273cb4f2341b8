// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/random.h"
#include "engine/formats/model_source.h"
#include "engine/model/forward.h"
#include "engine/model/preset.h"
#include "engine/verify/logit_comparison.h"
#include "gguf_writer.h"
#include "tests/engine/decode/lane_fixture.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope;
using namespace decodescope::bench;
using namespace decodescope::test;

namespace {

/// Logits of every token of a short text, row after row.
std::vector<float> logits_of(const Weights& weights) {
    const auto backend = make_cpu_backend(1);
    Workspace workspace(std::make_shared<MemoryLedger>());
    std::vector<std::int32_t> tokens(12);
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * 5 % 31);
    CallTokens call;
    call.add_row(tokens, 0);
    const auto output = forward(weights, call, all_rows(call), nullptr, {}, workspace, *backend);
    return output ? std::vector<float>(output->logits.begin(), output->logits.end()) : std::vector<float>();
}

/// The largest difference between the logits of two models, as `LogitComparison::relative_error` of a row.
double difference(const Weights& a, const Weights& b) {
    const std::vector<float> of_a = logits_of(a);
    const std::vector<float> of_b = logits_of(b);
    const auto vocab = static_cast<std::size_t>(a.config.vocab);
    if (of_a.empty() || of_a.size() != of_b.size()) return 1e9;
    double worst = 0;
    for (std::size_t at = 0; at < of_a.size(); at += vocab) {
        const auto row =
            compare_logits(std::span(of_b).subspan(at, vocab), std::span(of_a).subspan(at, vocab));
        worst = std::max(worst, static_cast<double>(row.relative_error));
    }
    return worst;
}

/// The same model with every matrix as `type` keeps it.
std::shared_ptr<const Weights> rounded(const Weights& weights, WeightType type,
                                       const std::shared_ptr<MemoryLedger>& ledger) {
    auto result = *allocate_weights(weights.config, ledger);
    const auto to = tensor_slots(*result);
    const auto from = tensor_slots(const_cast<Weights&>(weights));
    const GgmlType stored = ggml_type_of(type);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const auto n = static_cast<std::size_t>(to[i].rows * to[i].columns);
        const std::span<float> out(to[i].data, n);
        if (to[i].rows == 1 || to[i].role == TensorRole::position_embedding) {
            std::copy_n(from[i].data, n, out.begin());
        } else if (!dequantize(*find_ggml_type(static_cast<std::uint32_t>(stored)),
                               encode_blocks(stored, {from[i].data, n}), out)) {
            return nullptr;
        }
    }
    return result;
}

ModelConfig gpt2_config() {
    ModelConfig config = *preset_config("tiny");
    config.vocab = 300;  // room for all bytes
    return config;
}
ModelConfig llama_config() {
    ModelConfig config = *preset_config("tiny-llama");
    config.vocab = 300;
    config.d_ff = 96;  // whole groups of 32
    return config;
}

}  // namespace

class TestGgufWriter : public QObject {
    Q_OBJECT

private slots:
    void aModelComesBack_data();
    void aModelComesBack();
    void encodedBlocksAreNear_data();
    void encodedBlocksAreNear();
    void groupsOfZerosStayZero();
    void modelsThatDoNotFitAreRefused_data();
    void modelsThatDoNotFitAreRefused();
    void aFolderThatIsNotThere();
};

void TestGgufWriter::aModelComesBack_data() {
    QTest::addColumn<ModelConfig>("config");
    QTest::addColumn<WeightType>("type");
    QTest::addColumn<double>("limit");
    ModelConfig untied = llama_config();
    untied.tied_head = false;
    untied.qkv_bias = true;
    ModelConfig neighbours = llama_config();
    neighbours.rotary->pairs = RotaryPairs::neighbours;
    ModelConfig stretched = llama_config();
    stretched.rotary->scaling = RotaryScaling::llama3;
    stretched.rotary->factor = 4;
    stretched.rotary->original_positions = 16;
    const auto row = [](const char* name, const ModelConfig& config, WeightType type, double limit) {
        QTest::newRow(name) << config << type << limit;
    };
    using enum WeightType;
    row("gpt2 f32", gpt2_config(), f32, 0);
    row("gpt2 f32, too few tokens for text", *preset_config("tiny"), f32, 0);
    row("llama f32, neighbours: nothing moves", neighbours, f32, 0);
    // The pairs lie elsewhere in a head, so its sums are made in another order.
    row("llama f32, halves", llama_config(), f32, 1e-5);
    row("llama f32, untied, with biases", untied, f32, 1e-5);
    row("llama f32, stretched positions", stretched, f32, 1e-4);
    for (const WeightType type : {f16, bf16, int8, int4}) {
        QTest::addRow("gpt2 %s", to_string(type)) << gpt2_config() << type << 0.0;
        QTest::addRow("llama %s", to_string(type)) << llama_config() << type << 1e-5;
    }
}

void TestGgufWriter::aModelComesBack() {
    QFETCH(ModelConfig, config);
    QFETCH(WeightType, type);
    QFETCH(double, limit);
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = lively_weights(config, 3, ledger);
    const TestFolder folder;
    const auto path = folder.path("model.gguf");
    const auto written = write_gguf(*weights, type, path);
    QVERIFY2(written, written ? "" : written.error().message.c_str());

    const auto loaded = load_model({.path = path.string(), .preset = {}, .seed = 0}, ledger);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const ModelConfig& found = loaded->weights->config;
    QCOMPARE(found.vocab, config.vocab);
    QCOMPARE(found.n_positions, config.n_positions);
    QCOMPARE(found.n_kv_head, config.n_kv_head);
    QCOMPARE(found.tied_head, config.tied_head);
    QCOMPARE(found.norm_eps, config.norm_eps);
    const auto* stored = find_ggml_type(static_cast<std::uint32_t>(ggml_type_of(type)));
    QVERIFY2(found.stored_as.starts_with(stored->name), found.stored_as.c_str());
    QCOMPARE(loaded->tokenizer != nullptr, config.vocab == 300);
    if (loaded->tokenizer != nullptr) {
        QCOMPARE(loaded->tokenizer->n_token(), config.vocab);
        QCOMPARE(loaded->tokenizer->decode(loaded->tokenizer->encode_text("cab <\n")),
                 std::string("cab <\n"));
    }

    const auto expected = rounded(*weights, type, ledger);
    QVERIFY(expected != nullptr);
    const double worst = difference(*expected, *loaded->weights);
    QVERIFY2(worst <= limit, qPrintable(QString::number(worst)));
    // Fewer bits must show, and 8 of them must still be near.
    const double lost = difference(*weights, *loaded->weights);
    if (type != WeightType::f32) QVERIFY(lost > 0);
    if (type == WeightType::int8) QVERIFY2(lost < 0.3, qPrintable(QString::number(lost)));
}

void TestGgufWriter::encodedBlocksAreNear_data() {
    QTest::addColumn<WeightType>("type");
    QTest::addColumn<double>("limit");  // as a share of the largest magnitude of a group
    QTest::newRow("f32") << WeightType::f32 << 0.0;
    QTest::newRow("f16") << WeightType::f16 << std::ldexp(1.0, -11);
    QTest::newRow("bf16") << WeightType::bf16 << std::ldexp(1.0, -8);
    // Half a step, and what rounding the scale to f16 adds at the largest code.
    QTest::newRow("int8") << WeightType::int8 << 0.5 / 127 + std::ldexp(1.0, -11);
    // One step, for what would need the code +8.
    QTest::newRow("int4") << WeightType::int4 << 1.0 / 8 + std::ldexp(1.0, -11);
}

void TestGgufWriter::encodedBlocksAreNear() {
    QFETCH(WeightType, type);
    QFETCH(double, limit);
    constexpr std::size_t n = 64 * weight_group;
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = random_normal(7, 0, i) * 0.02f;
    const GgmlType stored = ggml_type_of(type);
    const auto blocks = encode_blocks(stored, values);
    std::vector<float> back(n);
    const auto read = dequantize(*find_ggml_type(static_cast<std::uint32_t>(stored)), blocks, back);
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    for (std::size_t group = 0; group < n; group += weight_group) {
        double largest = 0;
        for (std::size_t i = group; i < group + weight_group; ++i) {
            largest = std::max(largest, std::abs(static_cast<double>(values[i])));
        }
        for (std::size_t i = group; i < group + weight_group; ++i) {
            const double error = std::abs(static_cast<double>(values[i]) - static_cast<double>(back[i]));
            QVERIFY2(error <= limit * largest * 1.0001, qPrintable(QString::number(error / largest)));
        }
    }
}

void TestGgufWriter::groupsOfZerosStayZero() {
    const std::vector<float> zeros(weight_group, 0.0f);
    for (const WeightType type : all_weight_types) {
        const GgmlType stored = ggml_type_of(type);
        std::vector<float> back(zeros.size(), 1.0f);
        QVERIFY(dequantize(*find_ggml_type(static_cast<std::uint32_t>(stored)), encode_blocks(stored, zeros),
                           back)
                    .ok());
        QCOMPARE(back, zeros);
    }
}

void TestGgufWriter::modelsThatDoNotFitAreRefused_data() {
    QTest::addColumn<ModelConfig>("config");
    QTest::addColumn<WeightType>("type");
    QTest::addColumn<QString>("sentence");
    ModelConfig erf = gpt2_config();
    erf.activation = Activation::gelu_erf;
    QTest::newRow("another activation")
        << erf << WeightType::f32
        << "tiny: a GGUF file of the architecture gpt2 cannot hold a model with the activation gelu.";
    ModelConfig scaled = gpt2_config();
    scaled.scale_attention_by_layer = true;
    QTest::newRow("scores scaled by layer")
        << scaled << WeightType::f32
        << "tiny: a GGUF file of the architecture gpt2 cannot hold a model with other attention scales than "
           "1 / sqrt(head_dim).";
    QTest::newRow("rows that are not whole groups")
        << *preset_config("tiny-llama") << WeightType::int8
        << "tiny-llama: a GGUF file of the architecture llama cannot hold a model with rows of 80 elements "
           "as Q8_0, expected a multiple of 32.";
}

void TestGgufWriter::modelsThatDoNotFitAreRefused() {
    QFETCH(ModelConfig, config);
    QFETCH(WeightType, type);
    QFETCH(QString, sentence);
    const auto weights = random_weights(config, 0, std::make_shared<MemoryLedger>());
    const TestFolder folder;
    const auto written = write_gguf(**weights, type, folder.path("model.gguf"));
    QVERIFY(!written);
    QCOMPARE(written.error().kind, ErrorKind::unsupported);
    QCOMPARE(QString::fromStdString(written.error().message), sentence);
    QVERIFY(!std::filesystem::exists(folder.path("model.gguf")));
}

void TestGgufWriter::aFolderThatIsNotThere() {
    const auto weights = random_weights(gpt2_config(), 0, std::make_shared<MemoryLedger>());
    const TestFolder folder;
    const auto written = write_gguf(**weights, WeightType::f32, folder.path("no") / "model.gguf");
    QVERIFY(!written);
    QCOMPARE(written.error().kind, ErrorKind::io);
}

QTEST_APPLESS_MAIN(TestGgufWriter)
#include "tst_gguf_writer.moc"
