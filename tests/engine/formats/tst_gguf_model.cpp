// SPDX-License-Identifier: GPL-3.0-or-later
#include <QRegularExpression>
#include <QTest>

#include "engine/formats/gguf_file.h"
#include "engine/formats/gguf_model.h"
#include "engine/formats/model_source.h"
#include "tests/engine/formats/gguf_bytes.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

using B = GgufBytes;

/// The keys of a small model without a tokenizer.
GgufBytes keys_without_eps(const QByteArray& architecture) {
    GgufBytes bytes;
    bytes.key("general.architecture", architecture.constData())
        .key(architecture + ".context_length", 10u)
        .key(architecture + ".embedding_length", 8u)
        .key(architecture + ".block_count", 3u)
        .key(architecture + ".feed_forward_length", 12u)
        .key(architecture + ".attention.head_count", 4u);
    return bytes;
}

GgufBytes model_keys(const QByteArray& architecture) {
    const QByteArray eps = architecture == "gpt2" ? "layer_norm_epsilon" : "layer_norm_rms_epsilon";
    return keys_without_eps(architecture).key(architecture + ".attention." + eps, 1e-6f);
}

QByteArray with_embedding(GgufBytes bytes) {
    return bytes.tensor("token_embd.weight", {8, 2}, 0, 0).file(QByteArray(64, '\0'));
}

ModelRef ref_of(const std::filesystem::path& path) {
    return {.path = path.string(), .preset = {}, .seed = 0};
}

}  // namespace

class GgufModelTest : public QObject {
    Q_OBJECT

private slots:
    void refuses_wrong_values_data();
    void refuses_wrong_values();
    void notes_what_is_unusual_data();
    void notes_what_is_unusual();
    void says_why_a_model_cannot_be_run_data();
    void says_why_a_model_cannot_be_run();
    void reads_every_number();
    void gpt2_is_described_wholly();
    void numbers_may_have_any_integer_type_data();
    void numbers_may_have_any_integer_type();
    void end_tokens_are_united();
    void what_is_not_stated_stays_zero();
    void inspects_a_real_file();
    void a_file_behind_a_link_is_found_by_its_bytes();
};

void GgufModelTest::refuses_wrong_values_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("sentence");  // after the path
    const auto row = [](const char* name, const GgufBytes& bytes, const char* sentence) {
        QTest::newRow(name) << with_embedding(bytes) << sentence;
    };
    row("no architecture", B(), ": lacks general.architecture.");
    row("architecture is a number", B().key("general.architecture", 5u),
        ": general.architecture is of type u32, expected a string.");
    row("architecture is empty", B().key("general.architecture", ""),
        ": general.architecture is \"\", expected a short name.");
    row("architecture with a line feed", B().key("general.architecture", "lla\nma"),
        ": general.architecture is \"lla\\x0ama\", expected a short name.");
    row("block_count is text", model_keys("qwen2").key("qwen2.vocab_size", "2"),
        ": qwen2.vocab_size is of type string, expected a whole number.");
    row("head_count_kv is a float", model_keys("llama").key("llama.attention.head_count_kv", 2.f),
        ": llama.attention.head_count_kv is of type f32, expected a whole number.");
    row("head_count_kv is an array of strings",
        model_keys("llama").array("llama.attention.head_count_kv", GgufType::string, 1, B::string("2")),
        ": llama.attention.head_count_kv is of type array of string, expected a whole number.");
    row("head_count_kv is an empty array",
        model_keys("llama").array("llama.attention.head_count_kv", GgufType::u32, 0, {}),
        ": llama.attention.head_count_kv is of type array of u32, expected a whole number.");
    row("head_count_kv has more elements than there can be layers",
        model_keys("llama").array("llama.attention.head_count_kv", GgufType::u8, 1'001,
                                  QByteArray(1'001, '\1')),
        ": llama.attention.head_count_kv has 1001 elements, expected one number or at most 1000.");
    row("head_count_kv is 0", model_keys("llama").key("llama.attention.head_count_kv", 0u),
        ": llama.attention.head_count_kv is 0, expected a number from 1 to 1048576.");
    row("head_count_kv is negative",
        model_keys("llama").key("llama.attention.head_count_kv", GgufType::i32, B::u32(0xffffffff)),
        ": llama.attention.head_count_kv is -1, expected a number from 1 to 1048576.");
    row("key_length of 2^64 - 1",
        model_keys("llama").key("llama.attention.key_length", GgufType::u64, B::u64(~std::uint64_t{0})),
        ": llama.attention.key_length is above 2^63, expected a number from 1 to 1048576.");
    row("a billion layers", B().key("general.architecture", "x").key("x.block_count", 1'000'000'000u),
        ": x.block_count is 1000000000, expected a number from 1 to 1000.");
    row("eps 0", keys_without_eps("llama").key("llama.attention.layer_norm_rms_epsilon", 0.f),
        ": llama.attention.layer_norm_rms_epsilon is 0, expected a value from 1e-12 to 0.01.");
    row("eps NaN",
        keys_without_eps("llama").key("llama.attention.layer_norm_rms_epsilon", GgufType::f32,
                                      B::u32(0x7fc00000)),
        ": llama.attention.layer_norm_rms_epsilon is nan, expected a value from 1e-12 to 0.01.");
    row("eps is text", keys_without_eps("llama").key("llama.attention.layer_norm_rms_epsilon", "1e-5"),
        ": llama.attention.layer_norm_rms_epsilon is of type string, expected a number.");
}

void GgufModelTest::refuses_wrong_values() {
    QFETCH(QByteArray, file);
    QFETCH(QString, sentence);
    const TestFolder folder;
    const auto path = folder.write("model.gguf", file);
    const auto summary = inspect_model(ref_of(path));
    QVERIFY(!summary);
    QCOMPARE(QString::fromStdString(summary.error().message),
             QString::fromStdString(path.string()) + sentence);
    QCOMPARE(summary.error().kind, ErrorKind::bad_input);
}

void GgufModelTest::notes_what_is_unusual_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QStringList>("notes");  // each after "f: "
    const auto row = [](const char* name, const GgufBytes& bytes, const QStringList& notes) {
        QTest::newRow(name) << with_embedding(bytes) << notes;
    };
    const GgufBytes llama = model_keys("llama");
    row("nothing", llama, {});
    row("no experts", GgufBytes(llama).key("llama.expert_count", 0u), {});
    row("scaled positions",
        GgufBytes(llama).key("llama.rope.scaling.type", "yarn").key("llama.rope.scaling.factor", 4.f),
        {"rotary positions are scaled (\"yarn\")."});
    row("scaled positions of an old file", GgufBytes(llama).key("llama.rope.scale_linear", 2.f),
        {"rotary positions are scaled (\"linear\")."});
    row("positions not scaled", GgufBytes(llama).key("llama.rope.scaling.type", "none"), {});
    row("vocab_size and rows differ", GgufBytes(llama).key("llama.vocab_size", 3u),
        {"llama.vocab_size is 3, but token_embd.weight has 2 rows."});
    row("end token beyond the vocabulary", GgufBytes(llama).key("tokenizer.ggml.eos_token_id", 2u),
        {"tokenizer.ggml.eos_token_id is 2, but the vocabulary has 2 tokens; it is ignored."});
    QTest::newRow("types that are not read")
        << GgufBytes(llama)
               .tensor("token_embd.weight", {8, 2}, 0, 0)
               .tensor("a", {32}, 20, 64)
               .tensor("b", {32}, 20, 96)
               .file(QByteArray(128, '\0'))
        << QStringList{"2 tensors are of type IQ4_NL, which this version cannot read."};
    QTest::newRow("rope_freqs") << GgufBytes(llama)
                                       .tensor("token_embd.weight", {8, 2}, 0, 0)
                                       .tensor("rope_freqs.weight", {1}, 0, 64)
                                       .file(QByteArray(68, '\0'))
                                << QStringList{"rotary frequencies are divided by rope_freqs.weight."};
    QTest::newRow("no tensors") << llama.file() << QStringList{"holds no tensors."};
    const GgufBytes gpt2 = model_keys("gpt2");
    row("gpt2", gpt2, {});
}

void GgufModelTest::says_why_a_model_cannot_be_run_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("sentence");  // after the path
    const auto row = [](const char* name, const GgufBytes& bytes, const char* sentence) {
        QTest::newRow(name) << with_embedding(bytes) << sentence;
    };
    const GgufBytes llama = model_keys("llama");
    row("another architecture", model_keys("bert"),
        "the architecture bert is not one of gpt2, llama, qwen2.");
    row("no eps", keys_without_eps("llama"), "lacks llama.attention.layer_norm_rms_epsilon.");
    row("the other kind of eps", keys_without_eps("llama").key("llama.attention.layer_norm_epsilon", 1e-6f),
        "lacks llama.attention.layer_norm_rms_epsilon.");
    row("no eps of gpt2", keys_without_eps("gpt2"), "lacks gpt2.attention.layer_norm_epsilon.");
    row("no context length", B().key("general.architecture", "llama").key("llama.embedding_length", 8u),
        "lacks llama.context_length.");
    row("experts", GgufBytes(llama).key("llama.expert_count", 8u), "is a mixture of 8 experts.");
    row("heads differ between layers",
        GgufBytes(llama).array("llama.attention.head_count_kv", GgufType::u32, 3,
                               B::u32(4) + B::u32(2) + B::u32(4)),
        "llama.attention.head_count_kv differs between layers.");
    row("a part of each head turns", GgufBytes(llama).key("llama.rope.dimension_count", 1u),
        "llama.rope.dimension_count is 1, but heads are 2 wide; positions that turn a part of a head are not "
        "supported.");
    row("keys and values of different widths", GgufBytes(llama).key("llama.attention.value_length", 4u),
        "keys are 2 wide and values 4, expected the same width.");
    row("another scaling",
        GgufBytes(llama).key("llama.rope.scaling.type", "longrope").key("llama.rope.scaling.factor", 2.f),
        "llama.rope.scaling.type is \"longrope\", expected none, linear or yarn.");
    row("attention looks ahead",
        GgufBytes(llama).key("llama.attention.causal", GgufType::boolean, QByteArray(1, '\0')),
        "llama.attention.causal is not true: the model does not predict text.");
    row("logits are scaled", GgufBytes(llama).key("llama.logit_scale", 8.f),
        "llama.logit_scale is 8, which this version does not apply.");
    row("KV heads do not divide heads", GgufBytes(llama).key("llama.attention.head_count_kv", 3u),
        "Model config: num_key_value_heads = 3 does not divide num_attention_heads = 4.");
    row("gpt2 with a width that the heads do not divide",
        model_keys("gpt2").key("gpt2.attention.key_length", 3u).key("gpt2.attention.value_length", 3u),
        "Model config: n_embd is 8, which n_head = 4 does not divide.");
    QTest::newRow("no embedding")
        << GgufBytes(llama).tensor("output_norm.weight", {8}, 0, 0).file(QByteArray(32, '\0'))
        << "lacks token_embd.weight.";
}

void GgufModelTest::says_why_a_model_cannot_be_run() {
    QFETCH(QByteArray, file);
    QFETCH(QString, sentence);
    const TestFolder folder;
    const auto path = folder.write("model.gguf", file);
    const auto loaded = load_model(ref_of(path), std::make_shared<MemoryLedger>());
    QVERIFY(!loaded);
    const QString expected = QString::fromStdString(path.string()) + ": " + sentence;
    QCOMPARE(QString::fromStdString(loaded.error().message), expected);
    const auto summary = inspect_model(ref_of(path));
    QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
    QVERIFY(!summary->config_is_complete);
    QCOMPARE(QString::fromStdString(summary->notes.back()),
             expected.chopped(1) + "; the model can be inspected, but not run.");
    for (const ModelSummary::Tensor& tensor : summary->tensors)
        QCOMPARE(tensor.use, std::string("not loaded"));
}

void GgufModelTest::notes_what_is_unusual() {
    QFETCH(QByteArray, file);
    QFETCH(QStringList, notes);
    const TestFolder folder;
    const auto opened = GgufFile::open(folder.write("model.gguf", file));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const auto model = read_gguf_model((*opened)->header(), "f");
    QVERIFY2(model, model ? "" : model.error().message.c_str());
    QStringList got;
    for (const std::string& note : model->notes) got << QString::fromStdString(note);
    QCOMPARE(got, notes.replaceInStrings(QRegularExpression("^"), "f: "));
}

void GgufModelTest::reads_every_number() {
    const QByteArray file = model_keys("llama")
                                .key("llama.attention.head_count_kv", 2u)
                                .key("llama.attention.key_length", 6u)
                                .key("llama.attention.sliding_window", 7u)
                                .key("tokenizer.ggml.eos_token_id", 1u)
                                .tensor("token_embd.weight", {32, 5}, 0, 0)
                                .tensor("output.weight", {32, 5}, 8, 640)
                                .tensor("rope_freqs.weight", {3}, 0, 832)
                                .file(QByteArray(844, '\0'));
    const TestFolder folder;
    const auto summary = inspect_model(ref_of(folder.write("tiny.model.gguf", file)));
    QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
    QCOMPARE(summary->architecture, std::string("llama"));
    QCOMPARE(summary->config.name, std::string("tiny.model"));
    QCOMPARE(summary->config.n_positions, 10);
    QCOMPARE(summary->config.d_model, 8);
    QCOMPARE(summary->config.n_layer, 3);
    QCOMPARE(summary->config.d_ff, 12);
    QCOMPARE(summary->config.n_head, 4);
    QCOMPARE(summary->config.n_kv_head, 2);
    QCOMPARE(summary->config.head_dim, 6);
    QCOMPARE(summary->config.norm_eps, 1e-6f);
    QCOMPARE(summary->config.window, 7);
    QCOMPARE(summary->config.vocab, 5);
    QCOMPARE(summary->config.eos_ids, (std::vector<std::int32_t>{1}));
    QCOMPARE(summary->config.kv_bytes_per_token(DType::f32), std::int64_t{2 * 3 * 2 * 6 * 4});
    QVERIFY(summary->tied_head == false);
    QVERIFY(!summary->config_is_complete);
    QCOMPARE(summary->n_parameter, std::uint64_t{2 * 32 * 5});  // without rope_freqs
    QCOMPARE(summary->config.stored_as, std::string("F32, Q8_0"));
    QCOMPARE(summary->file_bytes, static_cast<std::uint64_t>(file.size()));
    QCOMPARE(summary->tensors.size(), std::size_t{3});
    QCOMPARE(summary->tensors[1].name, std::string("output.weight"));
    QCOMPARE(summary->tensors[1].dtype, std::string("Q8_0"));
    QCOMPARE(summary->tensors[1].shape, (std::vector<std::uint64_t>{5, 32}));
    QCOMPARE(summary->tensors[1].bytes, std::uint64_t{5 * 34});
    QCOMPARE(QString::fromStdString(summary->notes.back()),
             QString::fromStdString(folder.path("tiny.model.gguf").string()) +
                 ": keys are 6 wide and values 2, expected the same width; the model can be inspected, but "
                 "not run.");
}

void GgufModelTest::gpt2_is_described_wholly() {
    const TestFolder folder;
    const auto summary = inspect_model(ref_of(folder.write("m.gguf", with_embedding(model_keys("gpt2")))));
    QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
    QVERIFY(!summary->config_is_complete);  // tensors are missing
    QCOMPARE(summary->config.family, Family::gpt2);
    QCOMPARE(summary->config.activation, Activation::gelu_tanh);
    QCOMPARE(summary->config.n_kv_head, 4);
    QCOMPARE(summary->config.head_dim, 2);
    QVERIFY(summary->tied_head == true);
}

void GgufModelTest::numbers_may_have_any_integer_type_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("n_byte");
    QTest::newRow("u8") << static_cast<int>(GgufType::u8) << 1;
    QTest::newRow("i8") << static_cast<int>(GgufType::i8) << 1;
    QTest::newRow("u16") << static_cast<int>(GgufType::u16) << 2;
    QTest::newRow("i16") << static_cast<int>(GgufType::i16) << 2;
    QTest::newRow("i32") << static_cast<int>(GgufType::i32) << 4;
    QTest::newRow("u64") << static_cast<int>(GgufType::u64) << 8;
    QTest::newRow("i64") << static_cast<int>(GgufType::i64) << 8;
    QTest::newRow("array, the same for each layer") << static_cast<int>(GgufType::array) << 4;
}

void GgufModelTest::numbers_may_have_any_integer_type() {
    QFETCH(int, type);
    QFETCH(int, n_byte);
    GgufBytes bytes = model_keys("llama");
    if (static_cast<GgufType>(type) == GgufType::array) {
        bytes.array("llama.attention.head_count_kv", GgufType::u32, 3, B::u32(2) + B::u32(2) + B::u32(2));
    } else {
        bytes.key("llama.attention.head_count_kv", static_cast<GgufType>(type), B::number(2, n_byte));
    }
    const TestFolder folder;
    const auto summary = inspect_model(ref_of(folder.write("m.gguf", with_embedding(bytes))));
    QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
    QCOMPARE(summary->config.n_kv_head, 2);
}

void GgufModelTest::end_tokens_are_united() {
    const GgufBytes bytes = model_keys("llama")
                                .key("tokenizer.ggml.eos_token_id", 1u)
                                .key("tokenizer.ggml.eot_token_id", 0u)
                                .key("tokenizer.ggml.eom_token_id", 1u);
    const TestFolder folder;
    const auto summary = inspect_model(ref_of(folder.write("m.gguf", with_embedding(bytes))));
    QVERIFY(summary);
    QCOMPARE(summary->config.eos_ids, (std::vector<std::int32_t>{1, 0}));
}

void GgufModelTest::what_is_not_stated_stays_zero() {
    const TestFolder folder;
    const auto path = folder.write(
        "m.gguf", B().key("general.architecture", "clip").tensor("v", {4}, 0, 0).file(QByteArray(16, '\0')));
    const auto summary = inspect_model(ref_of(path));
    QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
    QCOMPARE(summary->architecture, std::string("clip"));
    QCOMPARE(summary->config.n_layer, 0);
    QCOMPARE(summary->config.n_head, 0);
    QCOMPARE(summary->config.vocab, 0);
    QVERIFY(!summary->tied_head);
    QVERIFY(!summary->config_is_complete);
    QCOMPARE(summary->n_parameter, std::uint64_t{4});
}

void GgufModelTest::inspects_a_real_file() {
    const std::filesystem::path path =
        std::filesystem::path(DECODESCOPE_SOURCE_DIR) / "../shared/data/stories260K/stories260K-q8_0.gguf";
    if (!std::filesystem::exists(path)) QSKIP("the stories260K files are not there");
    const auto summary = inspect_model(ref_of(path));
    QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
    QCOMPARE(summary->architecture, std::string("llama"));
    QCOMPARE(summary->n_parameter, std::uint64_t{260'032});
    QCOMPARE(summary->config.kv_bytes_per_token(DType::f32), std::int64_t{2 * 5 * 4 * 8 * 4});
    QCOMPARE(summary->config.stored_as, std::string("Q8_0, F16, F32"));
    QVERIFY(summary->tied_head == true);
    QVERIFY(summary->has_tokenizer);
    QVERIFY(summary->config_is_complete);
    QVERIFY(summary->notes.empty());
}

void GgufModelTest::a_file_behind_a_link_is_found_by_its_bytes() {
    const TestFolder folder;
    folder.write("blob", with_embedding(model_keys("gpt2")));
    std::filesystem::create_symlink("blob", folder.path("link.gguf"));
    std::filesystem::create_symlink("gone", folder.path("dangling.gguf"));
    QVERIFY(inspect_model(ref_of(folder.path("blob"))));
    QVERIFY(inspect_model(ref_of(folder.path("link.gguf"))));
    QCOMPARE(inspect_model(ref_of(folder.path("dangling.gguf"))).error().message,
             folder.path("dangling.gguf").string() +
                 ": links to gone, which does not exist; the download is incomplete.");
}

QTEST_APPLESS_MAIN(GgufModelTest)
#include "tst_gguf_model.moc"
