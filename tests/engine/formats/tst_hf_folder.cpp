// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <functional>

#include "engine/formats/hf_folder.h"
#include "tests/engine/formats/tiny_model.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

using Change = std::function<void(TinyModel&)>;

}  // namespace

Q_DECLARE_METATYPE(Change)

class TestHfFolder : public QObject {
    Q_OBJECT

private slots:
    void everyElementLandsInItsPlace_data();
    void everyElementLandsInItsPlace();
    void matricesLargerThanOnePiece();
    void halfPrecisionIsConvertedExactly();
    void refusesFoldersThatDoNotFit_data();
    void refusesFoldersThatDoNotFit();
    void notesWhatIsUnusual_data();
    void notesWhatIsUnusual();
    void headIsUsedAsTheConfigSays();
    void manyLayersFailBeforeAnythingIsAllocated();
    void weightFilesThatAreMissing_data();
    void weightFilesThatAreMissing();
    void hubCacheLayout();
    void loadingCanBeStopped();
    void aFileCutShortWhileLoadingIsAnError();
    void theMemoryLimitIsKept();
    void hashNamesTheFile();
};

void TestHfFolder::everyElementLandsInItsPlace_data() {
    QTest::addColumn<Change>("change");
    QTest::newRow("plain") << Change([](TinyModel&) {});
    QTest::newRow("prefix") << Change([](TinyModel& m) { m.prefix_all(); });
    QTest::newRow("any order") << Change(
        [](TinyModel& m) { std::reverse(m.tensors.begin(), m.tensors.end()); });
    QTest::newRow("odd offsets") << Change([](TinyModel& m) {
        m.tensors.insert(m.tensors.begin(), {"h.0.attn.bias", "U8", {1, 1, 1, 1}, "\1"});
    });
    QTest::newRow("mask buffers") << Change([](TinyModel& m) {
        m.tensors.push_back({"h.0.attn.bias", "BOOL", {1, 1, 5, 5}, QByteArray(25, '\1')});
        m.tensors.push_back({"h.1.attn.bias", "F32", {1, 1, 5, 5}, QByteArray(100, '\0')});
        m.tensors.push_back({"h.1.attn.masked_bias", "F32", {}, QByteArray(4, '\0')});
        m.prefix_all();
    });
}

void TestHfFolder::everyElementLandsInItsPlace() {
    QFETCH(Change, change);
    const TestFolder folder;
    TinyModel model;
    change(model);
    model.write(folder);
    const auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QVERIFY(holds_model(**weights));
    QCOMPARE((*weights)->head.weight, (*weights)->token_embedding);
    QVERIFY((*weights)->notes.empty());
    QCOMPARE((*weights)->config.stored_as, std::string("f32"));
    QCOMPARE((*weights)->config.eos_ids, std::vector<std::int32_t>{6});
    QCOMPARE((*weights)->source, folder.path().string());
}

void TestHfFolder::matricesLargerThanOnePiece() {
    const TestFolder folder;
    TinyModel model(1500, 7, 300, 1500, 3);
    model.write(folder);
    auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QVERIFY(holds_model(**weights));
    // The values need more bits than BF16 has: what is left is their upper half.
    TinyModel::store_as_bf16(model.at("wte.weight"));
    TinyModel::store_as_bf16(model.at("h.0.mlp.c_fc.weight"));
    model.write(folder);
    weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    const auto upper = [](float value) {
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000u);
    };
    const float* embedding = (*weights)->token_embedding;
    const float* up = (*weights)->layers[0].ff_up.weight;
    int wrong = 0;
    for (std::size_t i = 0; i < 1500 * 300; ++i)
        wrong += embedding[i] != upper(TinyModel::value("wte.weight", i));
    for (std::size_t o = 0; o < 1500; ++o) {
        for (std::size_t i = 0; i < 300; ++i) {
            wrong += up[o * 300 + i] != upper(TinyModel::value("h.0.mlp.c_fc.weight", i * 1500 + o));
        }
    }
    QCOMPARE(wrong, 0);
}

void TestHfFolder::halfPrecisionIsConvertedExactly() {
    const TestFolder folder;
    TinyModel model;
    const auto store = [&](const char* name, const char* dtype, std::array<std::uint16_t, 4> bits) {
        TinyTensor& tensor = model.at(name);
        tensor.dtype = dtype;
        tensor.data = QByteArray(reinterpret_cast<const char*>(bits.data()), 8);
    };
    store("ln_f.weight", "F16", {0x0001, 0x8000, 0x3c01, 0xfbff});
    store("ln_f.bias", "BF16", {0x0001, 0x8000, 0x3f81, 0xff7f});
    model.write(folder);
    const auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    const float* f16 = (*weights)->final_norm.weight;
    const float* bf16 = (*weights)->final_norm.bias;
    QCOMPARE(f16[0], 0x1p-24f);
    QVERIFY(f16[1] == 0 && std::signbit(f16[1]));
    QCOMPARE(f16[2], 1.0f + 0x1p-10f);
    QCOMPARE(f16[3], -65504.0f);
    QCOMPARE(std::bit_cast<std::uint32_t>(bf16[0]), 0x00010000u);
    QVERIFY(bf16[1] == 0 && std::signbit(bf16[1]));
    QCOMPARE(bf16[2], 1.0f + 0x1p-7f);
    QCOMPARE(std::bit_cast<std::uint32_t>(bf16[3]), 0xff7f0000u);
    QCOMPARE((*weights)->config.stored_as, std::string("f32"));
}

void TestHfFolder::refusesFoldersThatDoNotFit_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");  // %1 stands for the folder
    const auto bad = [](const char* name, Change change, const char* sentence) {
        QTest::newRow(name) << std::move(change) << ErrorKind::bad_input << sentence;
    };
    const auto unsupported = [](const char* name, Change change, const char* sentence) {
        QTest::newRow(name) << std::move(change) << ErrorKind::unsupported << sentence;
    };
    bad(
        "S3 no tensors", [](TinyModel& m) { m.tensors.clear(); },
        "%1/model.safetensors: holds no tensors, expected the weights of a gpt2 model.");
    unsupported(
        "S15 other family", [](TinyModel& m) { m.config["model_type"] = "mamba"; },
        "%1/config.json: model_type \"mamba\" is not supported, expected \"gpt2\", \"llama\", \"mistral\" or "
        "\"qwen2\".");
    bad(
        "mixed prefixes", [](TinyModel& m) { m.at("ln_f.bias").name = "transformer.ln_f.bias"; },
        "%1/model.safetensors: some tensor names start with \"transformer.\" and some do not "
        "(\"transformer.ln_f.bias\" and \"ln_f.weight\"), expected one or the other.");
    unsupported(
        "prefix twice",
        [](TinyModel& m) {
            m.prefix_all();
            m.prefix_all();
        },
        "%1/model.safetensors: 28 tensors are not part of a gpt2 model with n_layer = 2: "
        "\"transformer.transformer.wte.weight\", \"transformer.transformer.wpe.weight\", "
        "\"transformer.transformer.h.0.ln_1.weight\" and 25 more.");
    unsupported(
        "compiled module",
        [](TinyModel& m) {
            for (TinyTensor& t : m.tensors) t.name.prepend("_orig_mod.");
        },
        "%1/model.safetensors: tensor names start with \"_orig_mod.\" (a compiled module was saved), "
        "expected names such as \"h.0.ln_1.weight\".");
    unsupported(
        "a layer too many", [](TinyModel& m) { m.add("h.2.ln_1.weight", {4}); },
        "%1/model.safetensors: one tensor is not part of a gpt2 model with n_layer = 2: "
        "\"h.2.ln_1.weight\".");
    unsupported(
        "a bias of the head", [](TinyModel& m) { m.add("lm_head.bias", {7}); },
        "%1/model.safetensors: one tensor is not part of a gpt2 model with n_layer = 2: \"lm_head.bias\".");
    unsupported(
        "a name like a mask buffer", [](TinyModel& m) { m.add("h.x.attn.bias", {1}); },
        "%1/model.safetensors: one tensor is not part of a gpt2 model with n_layer = 2: \"h.x.attn.bias\".");
    bad(
        "a bias is missing", [](TinyModel& m) { m.remove("h.1.attn.c_attn.bias"); },
        "%1/model.safetensors: 1 of the 28 tensors that config.json asks for are missing: "
        "\"h.1.attn.c_attn.bias\".");
    bad(
        "a layer is missing",
        [](TinyModel& m) {
            std::erase_if(m.tensors, [](const auto& t) { return t.name.startsWith("h.1."); });
        },
        "%1/model.safetensors: 12 of the 28 tensors that config.json asks for are missing: "
        "\"h.1.ln_1.weight\", "
        "\"h.1.ln_1.bias\", \"h.1.attn.c_attn.weight\" and 9 more.");
    bad(
        "no embedding", [](TinyModel& m) { m.remove("wte.weight"); },
        "%1/model.safetensors: 1 of the 28 tensors that config.json asks for are missing: \"wte.weight\".");
    bad(
        "width differs", [](TinyModel& m) { m.config["n_embd"] = 8; },
        "%1/model.safetensors: tensor \"wte.weight\" has the shape [7, 4], expected [7, 8] from "
        "config.json.");
    bad(
        "fewer rows than vocab_size", [](TinyModel& m) { m.config["vocab_size"] = 9; },
        "%1/model.safetensors: tensor \"wte.weight\" has the shape [7, 4], expected [9, 4] from "
        "config.json.");
    bad(
        "positions differ", [](TinyModel& m) { m.config["n_positions"] = 1024; },
        "%1/model.safetensors: tensor \"wpe.weight\" has the shape [5, 4], expected [1024, 4] from "
        "config.json.");
    bad(
        "n_inner left out", [](TinyModel& m) { m.config.remove("n_inner"); },
        "%1/model.safetensors: tensor \"h.0.mlp.c_fc.weight\" has the shape [4, 6], expected [4, 16] from "
        "config.json.");
    bad(
        "Linear layout",
        [](TinyModel& m) {
            m.at("h.0.attn.c_attn.weight").shape = {12, 4};
        },
        "%1/model.safetensors: tensor \"h.0.attn.c_attn.weight\" has the shape [12, 4], expected [4, 12] "
        "from "
        "config.json (GPT-2 keeps the input dimension first).");
    bad(
        "rank 0 weight",
        [](TinyModel& m) {
            m.at("ln_f.bias").shape = {};
            m.at("ln_f.bias").data.truncate(4);
        },
        "%1/model.safetensors: tensor \"ln_f.bias\" has the shape [], expected [4] from config.json.");
    bad(
        "empty weight",
        [](TinyModel& m) {
            m.at("ln_f.bias").shape = {0};
            m.at("ln_f.bias").data.clear();
        },
        "%1/model.safetensors: tensor \"ln_f.bias\" has the shape [0], expected [4] from config.json.");
    bad(
        "vector as a row",
        [](TinyModel& m) {
            m.at("ln_f.bias").shape = {1, 4};
        },
        "%1/model.safetensors: tensor \"ln_f.bias\" has the shape [1, 4], expected [4] from config.json.");
    unsupported(
        "F64 weight",
        [](TinyModel& m) {
            m.at("ln_f.bias").dtype = "F64";
            m.at("ln_f.bias").data.resize(32, '\0');
        },
        "%1/model.safetensors: tensor \"ln_f.bias\" has the dtype F64, expected F32, F16 or BF16.");
    unsupported(
        "8-bit weight",
        [](TinyModel& m) {
            m.at("ln_f.bias").dtype = "F8_E4M3";
            m.at("ln_f.bias").data.resize(4);
        },
        "%1/model.safetensors: tensor \"ln_f.bias\" has the dtype F8_E4M3, expected F32, F16 or BF16.");
    bad(
        "untied without a head", [](TinyModel& m) { m.config["tie_word_embeddings"] = false; },
        "%1/config.json: tie_word_embeddings is false, but the weights hold no lm_head.weight; set it to "
        "true to "
        "load the model with a tied output projection.");
    bad(
        "untied without an embedding",
        [](TinyModel& m) {
            m.config["tie_word_embeddings"] = false;
            m.remove("wte.weight");
            m.add("lm_head.weight", {7, 4});
        },
        "%1/model.safetensors: 1 of the 29 tensors that config.json asks for are missing: \"wte.weight\".");
    bad(
        "untied head of another shape",
        [](TinyModel& m) {
            m.config["tie_word_embeddings"] = false;
            m.add("lm_head.weight", {8, 4});
        },
        "%1/model.safetensors: tensor \"lm_head.weight\" has the shape [8, 4], expected [7, 4] from "
        "config.json.");
}

void TestHfFolder::refusesFoldersThatDoNotFit() {
    QFETCH(Change, change);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const TestFolder folder;
    TinyModel model;
    change(model);
    model.write(folder);
    const auto opened = open_hf_folder(folder.path());
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             sentence.arg(QString::fromStdString(folder.path().string())));
    QCOMPARE(opened.error().kind, kind);
    QCOMPARE(exit_code(opened.error().kind), 2);
}

void TestHfFolder::notesWhatIsUnusual_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("note");  // %1 stands for the folder; empty: no note
    QTest::newRow("tied head stored again") << Change([](TinyModel& m) {
        m.add("lm_head.weight", {7, 4}).data = m.at("wte.weight").data;
    }) << QString();
    QTest::newRow("tied head that differs")
        << Change([](TinyModel& m) {
               m.add("lm_head.weight", {7, 4});
           })
        << QString(
               "%1/model.safetensors: lm_head.weight differs from wte.weight "
               "and is ignored, because config.json ties them.");
    QTest::newRow("tied head of another shape")
        << Change([](TinyModel& m) {
               m.add("lm_head.weight", {9, 4});
           })
        << QString(
               "%1/model.safetensors: lm_head.weight differs from "
               "wte.weight and is ignored, because config.json ties them.");
    QTest::newRow("only the head is stored")
        << Change([](TinyModel& m) { m.at("wte.weight").name = "lm_head.weight"; })
        << QString(
               "%1/model.safetensors: wte.weight is not there; the tied "
               "lm_head.weight is used for both.");
    QTest::newRow("mixed dtypes") << Change([](TinyModel& m) {
        TinyModel::store_as_bf16(m.at("ln_f.bias"));
    }) << QString("%1/model.safetensors: the weights mix dtypes: BF16 8 bytes, F32 1440 bytes.");
    QTest::newRow("NaN and infinity") << Change([](TinyModel& m) {
        m.at("ln_f.bias").data.replace(0, 4, QByteArray("\0\0\xc0\x7f", 4));
        m.at("h.1.mlp.c_fc.weight").data.replace(8, 4, QByteArray("\0\0\x80\xff", 4));
    }) << QString("%1: 2 of the weights are NaN or infinite.");
    QTest::newRow("eos outside the vocabulary")
        << Change([](TinyModel& m) { m.config["eos_token_id"] = 50256; })
        << QString(
               "%1/config.json: the end-of-text id 50256 is outside the "
               "vocabulary of 7 and is ignored.");
}

void TestHfFolder::notesWhatIsUnusual() {
    QFETCH(Change, change);
    QFETCH(QString, note);
    const TestFolder folder;
    TinyModel model;
    change(model);
    model.write(folder);
    const auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QStringList notes;
    for (const std::string& said : (*weights)->notes) notes << QString::fromStdString(said);
    QCOMPARE(notes, note.isEmpty() ? QStringList()
                                   : QStringList(note.arg(QString::fromStdString(folder.path().string()))));
    QVERIFY((*weights)->token_embedding[1] != 0.0f);
}

void TestHfFolder::headIsUsedAsTheConfigSays() {
    const TestFolder folder;
    TinyModel model;
    model.add("lm_head.weight", {7, 4});
    model.config["tie_word_embeddings"] = false;
    model.prefix_all();
    model.write(folder);
    auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QVERIFY(holds_model(**weights));
    QVERIFY((*weights)->head.weight != (*weights)->token_embedding);
    QVERIFY(holds((*weights)->head.weight, "lm_head.weight", 7 * 4));

    TinyModel only_head;
    only_head.remove("wte.weight");
    only_head.add("lm_head.weight", {7, 4});
    only_head.write(folder);
    weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QVERIFY(holds((*weights)->token_embedding, "lm_head.weight", 7 * 4));
}

void TestHfFolder::manyLayersFailBeforeAnythingIsAllocated() {
    const TestFolder folder;
    TinyModel model;
    const auto ledger = std::make_shared<MemoryLedger>();
    ledger->set_limit(1);  // any allocation would fail with another sentence
    model.config["n_layer"] = 1'000'000'000;
    model.write(folder);
    auto weights = load(folder, ledger);
    QVERIFY(!weights);
    QCOMPARE(QString::fromStdString(weights.error().message),
             QString::fromStdString(folder.path("config.json").string()) +
                 ": n_layer is 1000000000, expected a number from 1 to 1000.");
    model.config["n_layer"] = 1000;
    model.write(folder);
    weights = load(folder, ledger);
    QVERIFY(!weights);
    QCOMPARE(QString::fromStdString(weights.error().message),
             QString::fromStdString(folder.path("model.safetensors").string()) +
                 ": 11976 of the 12004 tensors that config.json asks for are missing: \"h.2.ln_1.weight\", "
                 "\"h.2.ln_1.bias\", \"h.2.attn.c_attn.weight\" and 11973 more.");
    QCOMPARE(weights.error().kind, ErrorKind::bad_input);
}

void TestHfFolder::weightFilesThatAreMissing_data() {
    using Prepare = std::function<void(const TestFolder&)>;
    QTest::addColumn<Prepare>("prepare");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");
    const auto remove = [](const TestFolder& f, const char* name) { std::filesystem::remove(f.path(name)); };
    QTest::newRow("no config") << Prepare([=](const TestFolder& f) { remove(f, "config.json"); })
                               << ErrorKind::io << "%1/config.json: there is no such file.";
    QTest::newRow("no weights") << Prepare([=](const TestFolder& f) { remove(f, "model.safetensors"); })
                                << ErrorKind::io << "%1/model.safetensors: there is no such file.";
    QTest::newRow("PyTorch's format")
        << Prepare([=](const TestFolder& f) {
               remove(f, "model.safetensors");
               f.write("pytorch_model.bin", "PK");
           })
        << ErrorKind::unsupported
        << "%1/pytorch_model.bin: is in PyTorch's own format, expected model.safetensors.";
    QTest::newRow("dangling weights")
        << Prepare([=](const TestFolder& f) {
               remove(f, "model.safetensors");
               std::filesystem::create_symlink("../../blobs/abc", f.path("model.safetensors"));
           })
        << ErrorKind::io
        << "%1/model.safetensors: links to ../../blobs/abc, which does not exist; the "
           "download is incomplete.";
    QTest::newRow("S14 pointer for the weights")
        << Prepare([](const TestFolder& f) {
               f.write("model.safetensors",
                       "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n");
           })
        << ErrorKind::bad_input
        << "%1/model.safetensors: is a Git LFS pointer, not the file itself; "
           "fetch it with \"git lfs pull\".";
    QTest::newRow("pointer for the config")
        << Prepare([](const TestFolder& f) {
               f.write("config.json", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n");
           })
        << ErrorKind::bad_input
        << "%1/config.json: is a Git LFS pointer, not the file itself; fetch it "
           "with \"git lfs pull\".";
    QTest::newRow("empty config") << Prepare([](const TestFolder& f) { f.write("config.json", ""); })
                                  << ErrorKind::bad_input
                                  << "%1/config.json: is empty (0 bytes); the download did not finish.";
    QTest::newRow("huge config") << Prepare([](const TestFolder& f) {
        f.write("config.json", QByteArray(1'048'577, ' '));
    }) << ErrorKind::bad_input << "%1/config.json: has 1048577 bytes, expected at most 1048576.";
    QTest::newRow("broken generation config")
        << Prepare([](const TestFolder& f) { f.write("generation_config.json", "{"); })
        << ErrorKind::bad_input << "%1/generation_config.json: is not valid JSON in line 1.";
}

void TestHfFolder::weightFilesThatAreMissing() {
    QFETCH(std::function<void(const TestFolder&)>, prepare);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const TestFolder folder;
    TinyModel().write(folder);
    prepare(folder);
    const auto opened = open_hf_folder(folder.path());
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             sentence.arg(QString::fromStdString(folder.path().string())));
    QCOMPARE(opened.error().kind, kind);
}

void TestHfFolder::hubCacheLayout() {
    const TestFolder folder;
    namespace fs = std::filesystem;
    const TestFolder source;
    TinyModel().write(source);
    const fs::path root = folder.path("models--org--tiny");
    const fs::path snapshot = root / "snapshots" / "0123abcd";
    fs::create_directories(snapshot);
    fs::create_directories(root / "blobs");
    fs::copy_file(source.path("config.json"), root / "blobs" / "c0");
    fs::copy_file(source.path("model.safetensors"), root / "blobs" / "w0");
    fs::create_symlink("../../blobs/c0", snapshot / "config.json");
    fs::create_symlink("../../blobs/w0", snapshot / "model.safetensors");
    auto opened = open_hf_folder(snapshot);
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE(opened->config.name, std::string("org/tiny"));
    opened = open_hf_folder(snapshot / "");
    QVERIFY(opened);
    QCOMPARE(opened->config.name, std::string("org/tiny"));
    opened = open_hf_folder(source.path());
    QVERIFY(opened);
    QCOMPARE(opened->config.name, source.path().filename().string());
}

void TestHfFolder::loadingCanBeStopped() {
    const TestFolder folder;
    TinyModel().write(folder);
    std::stop_source stop;
    stop.request_stop();
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = load(folder, ledger, stop.get_token());
    QVERIFY(!weights);
    QCOMPARE(weights.error().kind, ErrorKind::cancelled);
    QCOMPARE(ledger->total(), std::uint64_t{0});
}

void TestHfFolder::aFileCutShortWhileLoadingIsAnError() {
    const TestFolder folder;
    TinyModel(3000, 5, 64, 64, 2).write(folder);
    const auto opened = open_hf_folder(folder.path());
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    std::filesystem::resize_file(folder.path("model.safetensors"), 5000);
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = load_hf_weights(*opened, ledger);
    QVERIFY(!weights);
    QCOMPARE(weights.error().kind, ErrorKind::io);
    QVERIFY(QString::fromStdString(weights.error().message)
                .contains("model.safetensors: became shorter while it was read"));
    QCOMPARE(ledger->total(), std::uint64_t{0});
}

void TestHfFolder::theMemoryLimitIsKept() {
    const TestFolder folder;
    TinyModel().write(folder);
    const auto ledger = std::make_shared<MemoryLedger>();
    ledger->set_limit(1000);
    const auto weights = load(folder, ledger);
    QVERIFY(!weights);
    QCOMPARE(weights.error().kind, ErrorKind::out_of_memory);
}

void TestHfFolder::hashNamesTheFile() {
    const TestFolder folder;
    TinyModel model(70'000, 5, 64, 4, 2);  // above 16 MiB
    model.write(folder);
    auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QVERIFY((*weights)->hash.empty());
    const auto file = SafetensorsFile::open(folder.path("model.safetensors"));
    QVERIFY(file);
    QCOMPARE(weights_hash(**weights), *(*file)->sha256());

    TinyModel().write(folder);
    weights = load(folder);
    QVERIFY(weights);
    QCOMPARE((*weights)->hash, *(*SafetensorsFile::open(folder.path("model.safetensors")))->sha256());
    QCOMPARE(weights_hash(**weights), (*weights)->hash);
}

QTEST_APPLESS_MAIN(TestHfFolder)
#include "tst_hf_folder.moc"
