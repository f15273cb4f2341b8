// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QProcess>
#include <QTest>

#include <functional>
#include <utility>

#include "tests/app/cli_process.h"
#include "tests/engine/formats/gguf_bytes.h"
#include "tests/engine/formats/tiny_model.h"
#include "tests/patience.h"

using namespace decodescope::test;

namespace {

using Breakage = std::function<void(const TestFolder&)>;

Breakage weights(const QByteArray& file) {
    return [file](const TestFolder& folder) { folder.write("model.safetensors", file); };
}

QByteArray header(const QByteArray& entries) {
    return "{" + entries + "}";
}

}  // namespace

Q_DECLARE_METATYPE(Breakage)

/// Model folders that somebody broke, on purpose or by a bad download, through the real program.
class TestCliHostileFiles : public QObject {
    Q_OBJECT

private slots:
    void oneSentenceAndExitCode2_data();
    void oneSentenceAndExitCode2();
    void ggufFiles_data();
    void ggufFiles();
    void ggufModels_data();
    void ggufModels();
};

void TestCliHostileFiles::oneSentenceAndExitCode2_data() {
    QTest::addColumn<Breakage>("breakage");
    QTest::addColumn<QString>("sentence");
    const QByteArray sixteen(16, '\0');
    const QByteArray square = R"("a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})";
    const QByteArray other = R"("b":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})";
    const auto shaped = [](const char* shape) {
        return header(R"("a":{"dtype":"I32","shape":[)" + QByteArray(shape) + R"(],"data_offsets":[0,16]})");
    };
    QTest::newRow("S1 empty") << weights("") << "is empty (0 bytes)";
    QTest::newRow("S1 seven bytes") << weights("1234567") << "has 7 bytes, too small";
    QTest::newRow("S1 eight bytes of FF") << weights(QByteArray(8, '\xff')) << "too large for safetensors";
    QTest::newRow("S2") << weights(little_endian64(3) + "{}") << "longer than the file";
    QTest::newRow("S3") << weights(safetensors("{}")) << "holds no tensors";
    QTest::newRow("S4") << weights(safetensors(header(square + "," + other), sixteen))
                        << "lets tensors \"a\" (bytes 0 to 16) and \"b\" (bytes 0 to 16) overlap";
    QTest::newRow("S5 elements") << weights(safetensors(shaped("2,18446744073709551614"), sixteen))
                                 << "whose size overflows 64 bits";
    QTest::newRow("S5 bytes") << weights(safetensors(shaped("2,9223372036854775807"), sixteen))
                              << "whose size overflows 64 bits";
    QTest::newRow("S6 short") << weights(safetensors(header(square), sixteen.first(14)))
                              << "describes 16 bytes of data, but the file holds 14";
    QTest::newRow("S6 long") << weights(safetensors(header(square), sixteen + "abc"))
                             << "describes 16 bytes of data, but the file holds 19";
    QTest::newRow("S7 and a foreign tensor")
        << weights(safetensors("\t\n" + header(square) + "\r\n", sixteen))
        << "one tensor is not part of a gpt2 model";
    QTest::newRow("S8") << Breakage([](const TestFolder& folder) {
        std::filesystem::remove(folder.path("model.safetensors"));
        folder.write("model.safetensors.index.json", R"({"weight_map": {"wte.weight": "m-1.safetensors"}})");
    }) << "1 of 1 weight files are missing: \"m-1.safetensors\"";
    QTest::newRow("S14") << weights("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
                         << "is a Git LFS pointer";
    QTest::newRow("S15 mamba") << Breakage([](const TestFolder& folder) {
        folder.write("config.json", R"({"model_type": "mamba"})");
    }) << "model_type \"mamba\" is not supported";
    QTest::newRow("S15 T5") << Breakage([](const TestFolder& folder) {
        TinyModel model;
        model.config["architectures"] = QJsonArray{"T5ForConditionalGeneration"};
        model.write(folder);
    }) << "architecture \"T5ForConditionalGeneration\" is not supported";
    QTest::newRow("a billion layers") << Breakage([](const TestFolder& folder) {
        TinyModel model;
        model.config["n_layer"] = 1'000'000'000;
        model.write(folder);
    }) << "n_layer is 1000000000, expected a number from 1 to 1000";
    QTest::newRow("depth bomb") << weights(safetensors("{\"a\":" + QByteArray("{\"b\":").repeated(1'000'000)))
                                << "nested deeper than 4 levels";
}

void TestCliHostileFiles::oneSentenceAndExitCode2() {
    QFETCH(Breakage, breakage);
    QFETCH(QString, sentence);
    const TestFolder folder;
    TinyModel().write(folder);
    breakage(folder);
    const QString path = QString::fromStdString(folder.path().string());
    for (const QStringList& arguments :
         {QStringList{"inspect", "--model", path}, QStringList{"run", "--model", path, "--ids", "1,2"}}) {
        QProcess process;
        process.start(DECODESCOPE_BIN_DIR "/decodescope-cli", arguments);
        QVERIFY(process.waitForFinished(patience));
        const QString err = QString::fromUtf8(process.readAllStandardError());
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 2);
        QVERIFY2(err.contains(sentence), qPrintable(err));
        QVERIFY2(err.startsWith("decodescope-cli: " + path + "/"), qPrintable(err));
        QVERIFY2(err.count('\n') == 1 && err.endsWith(".\n"), qPrintable(err));
        QVERIFY(process.readAllStandardOutput().isEmpty());
    }
}

void TestCliHostileFiles::ggufFiles_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("sentence");
    using B = GgufBytes;
    const QByteArray data(64, 'd');
    QTest::newRow("S9 magic only") << QByteArray("GGUF")
                                   << "is cut short or damaged: the version takes 4 bytes";
    QTest::newRow("S9 version 1") << B().version(1).file() << "is a GGUF file of version 1, expected 2 or 3";
    QTest::newRow("S9 big-endian") << B().version(0x03000000).file() << "is a big-endian GGUF file";
    QTest::newRow("S10") << "GGUF" + B::u32(3) + B::u64(0) + B::u64(1) + B::u64(std::uint64_t{1} << 63) + data
                         << "metadata key 1 of 1 takes 9223372036854775808 bytes, of which the file holds 64";
    QTest::newRow("S11") << B().tensor("a", {33}, 2, 0).file(data)
                         << "rows of 33 elements, expected a multiple of 32 for type Q4_0";
    QTest::newRow("S12") << B().key("general.alignment", 24u).file() << "general.alignment is 24, expected";
    QTest::newRow("split") << B().key("split.count", 2u).file() << "is one of 2 parts of a split GGUF file";
    QTest::newRow("no architecture") << B().tensor("a", {4}, 0, 0).file(data) << "lacks general.architecture";
    QTest::newRow("safetensors named gguf") << safetensors("{}") << "does not begin with \"GGUF\"";
}

void TestCliHostileFiles::ggufFiles() {
    QFETCH(QByteArray, file);
    QFETCH(QString, sentence);
    const TestFolder folder;
    const QString path = QString::fromStdString(folder.write("model.gguf", file).string());
    QProcess process;
    process.start(DECODESCOPE_BIN_DIR "/decodescope-cli", {"inspect", path});
    QVERIFY(process.waitForFinished(patience));
    const QString err = QString::fromUtf8(process.readAllStandardError());
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 2);
    QVERIFY2(err.startsWith("decodescope-cli: " + path + ": "), qPrintable(err));
    QVERIFY2(err.contains(sentence), qPrintable(err));
    QVERIFY2(err.count('\n') == 1 && err.endsWith(".\n"), qPrintable(err));
    QVERIFY(process.readAllStandardOutput().isEmpty());
}

// Files whose header is right, but not the model in them.
void TestCliHostileFiles::ggufModels_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, const char* from, const char* to, const char* sentence) {
        QTest::newRow(name) << QByteArray(from) << QByteArray(to) << sentence;
    };
    row("a tensor has another name", "blk.1.ffn_up.weight", "blk.1.ffn_uq.weight",
        "one tensor is not part of a qwen2 model of 2 blocks: \"blk.1.ffn_uq.weight\".");
    row("a tensor twice", "blk.1.ffn_up.weight", "blk.0.ffn_up.weight",
        "lists tensor \"blk.0.ffn_up.weight\" twice.");
    row("no eps", "qwen2.attention.layer_norm_rms_epsilon", "qwen2.attention.layer_norm_rms_epsilom",
        "lacks qwen2.attention.layer_norm_rms_epsilon.");
    row("no number of KV heads", "qwen2.attention.head_count_kv", "qwen2.attention.head_count_kx",
        "tensor \"blk.0.attn_k.bias\" has the shape [8], expected [16] from the metadata.");
}

void TestCliHostileFiles::ggufModels() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, sentence);
    QCOMPARE(from.size(), to.size());
    QFile file(DECODESCOPE_TEST_DATA "/gguf/llama.qwen2-f32.gguf");
    QVERIFY(file.open(QIODevice::ReadOnly));
    QByteArray bytes = file.readAll();
    QCOMPARE(bytes.count(from), qsizetype{1});
    const TestFolder folder;
    const auto run = [&](const QByteArray& content) {
        const QString path = QString::fromStdString(folder.write("m.gguf", content).string());
        return std::pair(
            path, cli({"run", "--model", path, "--ids", "1,2,3", "--tokens", "2", "--lanes", "static"}));
    };
    QCOMPARE(run(bytes).second.exitCode, 0);
    const auto [path, broken] = run(bytes.replace(from, to));
    const QString err = QString::fromUtf8(broken.err);
    QCOMPARE(broken.exitCode, 2);
    QVERIFY2(err.startsWith("decodescope-cli: " + path + ": ") && err.contains(sentence), qPrintable(err));
    QVERIFY2(err.count('\n') == 1 && err.endsWith(".\n"), qPrintable(err));
    QVERIFY(broken.out.isEmpty());
}

QTEST_GUILESS_MAIN(TestCliHostileFiles)
#include "tst_cli_hostile_files.moc"
