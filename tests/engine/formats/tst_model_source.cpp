// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/formats/model_source.h"
#include "tests/engine/formats/tiny_model.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// Restores DECODESCOPE_DATA at the end of a test.
class DataVariable {
public:
    explicit DataVariable(const std::filesystem::path& value) : before_(qgetenv("DECODESCOPE_DATA")) {
        qputenv("DECODESCOPE_DATA", QByteArray::fromStdString(value.string()));
    }
    ~DataVariable() { qputenv("DECODESCOPE_DATA", before_); }

private:
    QByteArray before_;
};

ModelRef folder_ref(const TestFolder& folder) {
    return {.path = folder.path().string(), .preset = {}, .seed = 0};
}

/// A vocabulary of the 256 bytes and the end of text, and no merges: ids 0 to 256.
void write_byte_tokenizer(const TestFolder& folder) {
    QJsonObject vocab{{"<|endoftext|>", 256}};
    int other = 256;
    for (int byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        vocab[QString(QChar(printable ? byte : other++))] = byte;
    }
    folder.write("vocab.json", QJsonDocument(vocab).toJson());
    folder.write("merges.txt", "#version: 0.2\n");
}

}  // namespace

class TestModelSource : public QObject {
    Q_OBJECT

private slots:
    void modelRefs_data();
    void modelRefs();
    void brokenModelRefs_data();
    void brokenModelRefs();
    void bundledFilesAreLookedForInOrder();
    void anExistingFolderWinsOverABundledName();
    void pathsThatAreNoModel_data();
    void pathsThatAreNoModel();
    void presets();
    void demoModel();
    void tokenizerAndVocabularyMustFit();
    void tokenizerFilesThatAreNone_data();
    void tokenizerFilesThatAreNone();
    void endTokenOfTheTokenizer_data();
    void endTokenOfTheTokenizer();
    void inspectTellsEveryTensorsUse();
};

void TestModelSource::modelRefs_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("preset");
    QTest::addColumn<quint64>("seed");
    QTest::newRow("name") << "demo"
                          << "demo"
                          << "" << quint64{0};
    QTest::newRow("folder") << "/models/gpt2, small"
                            << "/models/gpt2, small"
                            << "" << quint64{0};
    QTest::newRow("preset") << "preset:tiny"
                            << ""
                            << "tiny" << quint64{0};
    QTest::newRow("preset with seed") << "preset:gpt2-small,seed=17"
                                      << ""
                                      << "gpt2-small" << quint64{17};
    QTest::newRow("largest seed") << "preset:tiny,seed=18446744073709551615"
                                  << ""
                                  << "tiny" << ~quint64{0};
}

void TestModelSource::modelRefs() {
    QFETCH(QString, text);
    const auto ref = parse_model_ref(text.toStdString());
    QVERIFY2(ref, ref ? "" : ref.error().message.c_str());
    QTEST(QString::fromStdString(ref->path), "path");
    QTEST(QString::fromStdString(ref->preset), "preset");
    QTEST(quint64{ref->seed}, "seed");
}

void TestModelSource::brokenModelRefs_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    const QString form = "Model \"%1\": expected preset:NAME or preset:NAME,seed=N with a whole number N.";
    QTest::newRow("empty") << ""
                           << "The model is empty, expected a folder or a name.";
    QTest::newRow("no name")
        << "preset:"
        << "Model \"preset:\": the preset's name is missing, expected one of tiny, one-block, tiny-window, "
           "tiny-llama, gpt2-small, gpt2-medium, gpt2-large, gpt2-xl.";
    for (const char* text : {"preset:tiny,", "preset:tiny,seed=", "preset:tiny,seed=x", "preset:tiny,seed=-1",
                             "preset:tiny,seed=1.5", "preset:tiny,seed=18446744073709551616",
                             "preset:tiny,17", "preset:tiny,seed=1,seed=2"}) {
        QTest::newRow(text) << text << form.arg(text);
    }
}

void TestModelSource::brokenModelRefs() {
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    const auto ref = parse_model_ref(text.toStdString());
    QVERIFY(!ref);
    QCOMPARE(QString::fromStdString(ref.error().message), sentence);
    QCOMPARE(ref.error().kind, ErrorKind::bad_input);
}

void TestModelSource::bundledFilesAreLookedForInOrder() {
    const TestFolder data;
    std::filesystem::create_directories(data.path("models/demo"));
    const DataVariable variable(data.path());
    auto found = bundled_file("models/demo");
    QVERIFY(found);
    QCOMPARE(*found, data.path("models/demo"));
    found = bundled_file("experiments/demo.json");  // not there: the next place has it
    QVERIFY(found);
    QVERIFY(std::filesystem::equivalent(
        *found, std::filesystem::path(DECODESCOPE_SOURCE_DIR) / "resources" / "experiments" / "demo.json"));
    found = bundled_file("no/such/file");
    QVERIFY(!found);
    QCOMPARE(found.error().kind, ErrorKind::io);
    const QString message = QString::fromStdString(found.error().message);
    QVERIFY2(message.startsWith("The bundled no/such/file was not found; looked for " +
                                QString::fromStdString(data.path("no/such/file").string()) + ", "),
             qPrintable(message));
}

void TestModelSource::anExistingFolderWinsOverABundledName() {
    const TestFolder here;
    std::filesystem::create_directory(here.path("demo"));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(here.path());
    const auto inside = resolve_model_path("demo");
    std::filesystem::current_path(before);
    QVERIFY(inside);
    QCOMPARE(*inside, std::filesystem::path("demo"));
    const auto bundled = resolve_model_path("demo");
    QVERIFY(bundled);
    QVERIFY(std::filesystem::equivalent(
        *bundled, std::filesystem::path(DECODESCOPE_SOURCE_DIR) / "resources/models/demo"));
}

void TestModelSource::pathsThatAreNoModel_data() {
    QTest::addColumn<QString>("path");  // %1 stands for a folder
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");
    const QString neither =
        "\"%1\" is neither a folder, nor a GGUF file, nor the name of a bundled or fetched model "
        "(\"decodescope-cli get\" lists what can be fetched).";
    QTest::newRow("empty") << "" << ErrorKind::bad_input
                           << "The model is empty, expected a folder or a name.";
    QTest::newRow("unknown name") << "demoo" << ErrorKind::io << neither.arg("demoo");
    QTest::newRow("missing folder") << "%1/none" << ErrorKind::io << neither.arg("%1/none");
    QTest::newRow("a way out of the models folder")
        << "demo/../demo" << ErrorKind::io << neither.arg("demo/../demo");
    QTest::newRow("dots") << ".." + QString("/..").repeated(2) + "/none" << ErrorKind::io
                          << neither.arg("../../../none");
    QTest::newRow("weight file")
        << "%1/model.safetensors" << ErrorKind::bad_input
        << "%1/model.safetensors: is a file, expected a GGUF file or a folder with config.json and "
           "model.safetensors.";
    const QString cut = ": is cut short or damaged: the version takes 4 bytes, of which the file holds 0.";
    QTest::newRow("gguf") << "%1/model.gguf" << ErrorKind::bad_input << "%1/model.gguf" + cut;
    QTest::newRow("gguf without the ending") << "%1/blob" << ErrorKind::bad_input << "%1/blob" + cut;
    QTest::newRow("folder with a gguf") << "%1/one" << ErrorKind::bad_input << "%1/one/a.gguf" + cut;
    QTest::newRow("folder with two") << "%1/two" << ErrorKind::bad_input
                                     << "%1/two: holds 2 GGUF files, expected one; name the file: "
                                        "\"a.gguf\", \"b.gguf\".";
    QTest::newRow("folder with a gguf and a config")
        << "%1/mixed" << ErrorKind::io << "%1/mixed/model.safetensors: there is no such file.";
}

void TestModelSource::pathsThatAreNoModel() {
    QFETCH(QString, path);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const TestFolder folder;
    folder.write("model.safetensors", safetensors("{}"));
    folder.write("model.gguf", "GGUF");
    folder.write("blob", "GGUF");
    for (const char* name : {"one", "two", "mixed"}) {
        std::filesystem::create_directory(folder.path(name));
        folder.write(QString(name) + "/a.gguf", "GGUF");
    }
    folder.write("two/b.gguf", "GGUF");
    TinyModel().write(folder);
    std::filesystem::rename(folder.path("config.json"), folder.path("mixed/config.json"));
    const QString root = QString::fromStdString(folder.path().string());
    const auto ref = ModelRef{.path = path.replace("%1", root).toStdString(), .preset = {}, .seed = 0};
    const auto loaded = load_model(ref, std::make_shared<MemoryLedger>());
    QVERIFY(!loaded);
    QCOMPARE(QString::fromStdString(loaded.error().message), sentence.replace("%1", root));
    QCOMPARE(loaded.error().kind, kind);
    const auto summary = inspect_model(ref);
    QVERIFY(!summary);
    if (kind != ErrorKind::unsupported) QCOMPARE(summary.error().message, loaded.error().message);
}

void TestModelSource::presets() {
    const auto ref = parse_model_ref("preset:tiny,seed=3");
    QVERIFY(ref);
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto model = load_model(*ref, ledger);
    QVERIFY(model);
    QVERIFY(model->tokenizer == nullptr);
    QCOMPARE(model->weights->source, std::string("preset:tiny,seed=3"));
    QVERIFY(ledger->live(Owner::weights) > 0);
    const auto summary = inspect_model(*ref);
    QVERIFY(summary);
    QCOMPARE(summary->tensors.size(), std::size_t{28});
    std::uint64_t bytes = 0;
    for (const auto& tensor : summary->tensors) bytes += tensor.bytes;
    QCOMPARE(bytes, static_cast<std::uint64_t>(summary->config.n_parameter()) * 4);
    const ModelRef unknown{.path = {}, .preset = "huge", .seed = 0};
    QCOMPARE(load_model(unknown, ledger).error().kind, ErrorKind::bad_input);
    QCOMPARE(inspect_model(unknown).error().kind, ErrorKind::bad_input);
}

void TestModelSource::demoModel() {
    const ModelRef ref{.path = "demo", .preset = {}, .seed = 0};
    const auto model = load_model(ref, std::make_shared<MemoryLedger>());
    QVERIFY2(model, model ? "" : model.error().message.c_str());
    QVERIFY(model->tokenizer != nullptr);
    QCOMPARE(model->weights->config.name, std::string("demo"));
    QVERIFY(model->weights->notes.empty());
    QVERIFY(model->weights->hash.starts_with("sha256:"));
    const auto summary = inspect_model(ref);
    QVERIFY(summary);
    QVERIFY(summary->has_tokenizer);
    QVERIFY(summary->notes.empty());
    QCOMPARE(summary->file_bytes, static_cast<std::uint64_t>(std::filesystem::file_size(
                                      *bundled_file("models/demo/model.safetensors"))));
}

void TestModelSource::tokenizerAndVocabularyMustFit() {
    const TestFolder folder;
    const QString root = QString::fromStdString(folder.path().string());
    const auto first_note = [](const LoadedModel& model) {
        return model.weights->notes.empty() ? QString() : QString::fromStdString(model.weights->notes[0]);
    };
    TinyModel(257, 5, 4, 6, 2).write(folder);
    auto model = load_model(folder_ref(folder), std::make_shared<MemoryLedger>());
    QVERIFY(model);
    QVERIFY(model->tokenizer == nullptr);
    QCOMPARE(first_note(*model),
             root + ": no tokenizer.json or vocab.json; prompts must be given as token ids.");

    write_byte_tokenizer(folder);
    model = load_model(folder_ref(folder), std::make_shared<MemoryLedger>());
    QVERIFY2(model, model ? "" : model.error().message.c_str());
    QVERIFY(model->tokenizer != nullptr);
    QCOMPARE(first_note(*model), QString());

    TinyModel(300, 5, 4, 6, 2).write(folder);
    model = load_model(folder_ref(folder), std::make_shared<MemoryLedger>());
    QVERIFY(model);
    QCOMPARE(first_note(*model), root + ": vocab_size is 300, of which the tokenizer names 257.");

    TinyModel(256, 5, 4, 6, 2).write(folder);
    model = load_model(folder_ref(folder), std::make_shared<MemoryLedger>());
    QVERIFY(!model);
    QCOMPARE(QString::fromStdString(model.error().message),
             root + ": the tokenizer has ids up to 256, but vocab_size is 256.");
    QCOMPARE(model.error().kind, ErrorKind::bad_input);

    folder.write("vocab.json", "{");
    model = load_model(folder_ref(folder), std::make_shared<MemoryLedger>());
    QVERIFY(!model);
    QCOMPARE(exit_code(model.error().kind), 2);
}

void TestModelSource::tokenizerFilesThatAreNone_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("sentence");
    const QByteArray pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    const QString fetch = ": is a Git LFS pointer, not the file itself; fetch it with \"git lfs pull\".";
    QTest::newRow("pointer for the vocabulary") << "vocab.json" << pointer << fetch;
    QTest::newRow("pointer for the merges") << "merges.txt" << pointer << fetch;
    QTest::newRow("empty vocabulary")
        << "vocab.json" << QByteArray() << ": is empty (0 bytes); the download did not finish.";
    QTest::newRow("web page") << "merges.txt" << QByteArray("<!doctype html>")
                              << ": is a web page (HTML), not the file itself; download it again.";
    QTest::newRow("broken tokenizer_config")
        << "tokenizer_config.json" << QByteArray("{\"eos_token\":") << ": is not valid JSON in line 1.";
    QTest::newRow("eos_token is a number") << "tokenizer_config.json" << QByteArray("{\"eos_token\": 5}")
                                           << ": eos_token is 5, expected a string.";
}

void TestModelSource::tokenizerFilesThatAreNone() {
    QFETCH(QString, name);
    QFETCH(QByteArray, content);
    QFETCH(QString, sentence);
    const TestFolder folder;
    TinyModel(257, 5, 4, 6, 2).write(folder);
    write_byte_tokenizer(folder);
    folder.write(name, content);
    const auto summary = inspect_model(folder_ref(folder));
    QVERIFY(!summary);
    QCOMPARE(QString::fromStdString(summary.error().message),
             QString::fromStdString(folder.path(name).string()) + sentence);
    QCOMPARE(summary.error().kind, ErrorKind::bad_input);
}

void TestModelSource::endTokenOfTheTokenizer_data() {
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<std::vector<std::int32_t>>("eos");
    using Ids = std::vector<std::int32_t>;
    QTest::newRow("string") << QByteArray(R"({"eos_token": "<|endoftext|>"})") << Ids{6, 256};
    QTest::newRow("object") << QByteArray(R"({"eos_token": {"content": "<|endoftext|>", "lstrip": false}})")
                            << Ids{6, 256};
    QTest::newRow("null") << QByteArray(R"({"eos_token": null})") << Ids{6};
    QTest::newRow("absent") << QByteArray("{}") << Ids{6};
    QTest::newRow("ordinary text") << QByteArray(R"({"eos_token": "a"})") << Ids{6};
    QTest::newRow("not a token") << QByteArray(R"({"eos_token": "</s>"})") << Ids{6};
}

void TestModelSource::endTokenOfTheTokenizer() {
    QFETCH(QByteArray, config);
    QFETCH(std::vector<std::int32_t>, eos);
    const TestFolder folder;
    TinyModel(257, 5, 4, 6, 2).write(folder);
    write_byte_tokenizer(folder);
    folder.write("tokenizer_config.json", config);
    const auto model = load_model(folder_ref(folder), std::make_shared<MemoryLedger>());
    QVERIFY2(model, model ? "" : model.error().message.c_str());
    QCOMPARE(model->weights->config.eos_ids, eos);
    QCOMPARE(inspect_model(folder_ref(folder))->config.eos_ids, eos);
}

void TestModelSource::inspectTellsEveryTensorsUse() {
    const TestFolder folder;
    TinyModel tiny;
    tiny.add("lm_head.weight", {7, 4});
    tiny.tensors.push_back({"h.0.attn.bias", "BOOL", {1, 1, 5, 5}, QByteArray(25, '\1')});
    tiny.write(folder);
    const auto summary = inspect_model(folder_ref(folder));
    QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
    QCOMPARE(summary->tensors.size(), tiny.tensors.size());
    for (const auto& tensor : summary->tensors) {
        const QString name = QString::fromStdString(tensor.name);
        const bool turned = name.contains(".c_") && name.endsWith(".weight");
        const std::string expected = name == "lm_head.weight"  ? "skipped: tied to wte.weight"
                                     : name == "h.0.attn.bias" ? "skipped: mask buffer"
                                     : turned                  ? "used"
                                                               : "used in place";
        QCOMPARE(tensor.use, expected);
    }
    QCOMPARE(summary->tensors[0].name, std::string("wte.weight"));
    QCOMPARE(summary->tensors[0].shape, (std::vector<std::uint64_t>{7, 4}));
    QCOMPARE(summary->tensors[0].bytes, std::uint64_t{112});
    QCOMPARE(summary->tensors[0].dtype, std::string("F32"));
    QVERIFY(!summary->has_tokenizer);
}

QTEST_APPLESS_MAIN(TestModelSource)
#include "tst_model_source.moc"
