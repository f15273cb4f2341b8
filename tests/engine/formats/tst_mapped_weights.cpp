// SPDX-License-Identifier: GPL-3.0-or-later
// Weights that are used where they lie in a mapped model file.
#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/core/mapped_file.h"
#include "engine/decode/lane.h"
#include "engine/experiment/experiment.h"
#include "engine/formats/gguf_weights.h"
#include "engine/formats/model_source.h"
#include "engine/formats/weight_loader.h"
#include "engine/model/forward.h"
#include "tests/engine/formats/tiny_gguf.h"
#include "tests/engine/formats/tiny_model.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

TinyModel gpt2_folder() {
    return {40, 16, 32, 64, 4};
}

/// The same with weights of ordinary size, so that the logits are finite.
TinyModel runnable_folder() {
    TinyModel model = gpt2_folder();
    std::uint32_t state = 1;
    for (TinyTensor& tensor : model.tensors) {
        for (qsizetype i = 0; i < tensor.data.size(); i += 4) {
            state = state * 1664525u + 1013904223u;
            const float value = static_cast<float>(state >> 8) / (1 << 24) - 0.5f;
            std::memcpy(tensor.data.data() + i, &value, 4);
        }
    }
    return model;
}

/// The folder's weights as two shards, whose data misses a multiple of 64 by `shift` bytes in the second.
void write_sharded(const TestFolder& folder, const TinyModel& model, int shift) {
    const QJsonObject map = write_shards(folder, model, shift);
    folder.write("model.safetensors.index.json",
                 QJsonDocument(QJsonObject{{"metadata", QJsonObject()}, {"weight_map", map}}).toJson());
}

std::filesystem::path write_folder(const TestFolder& folder, const TinyModel& model, int shift) {
    folder.write("config.json", QJsonDocument(model.config).toJson());
    return folder.write("model.safetensors", TinyModel::file(model.tensors, shift));
}

QByteArray gguf_bytes(const char* architecture) {
    TinyGguf gguf(architecture);
    gguf.varied = true;
    return gguf.file();
}

Result<LoadedModel> load_path(const std::filesystem::path& path, std::shared_ptr<MemoryLedger> ledger) {
    return load_model({.path = path.string(), .preset = {}, .seed = 0}, std::move(ledger));
}

/// Logits of all tokens of a short text.
Result<std::vector<float>> logits_of(const Weights& weights) {
    const auto ledger = std::make_shared<MemoryLedger>();
    Workspace workspace(ledger);
    const auto backend = make_cpu_backend(1);
    CallTokens call;
    call.add_row(std::vector<std::int32_t>{3, 1, 4, 1, 2}, 0);
    const auto output = forward(weights, call, all_rows(call), nullptr, {}, workspace, *backend);
    if (!output) return output.error();
    return std::vector<float>(output->logits.begin(), output->logits.end());
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::uint64_t bytes_used(const ModelSummary& summary, const char* use) {
    std::uint64_t bytes = 0;
    for (const ModelSummary::Tensor& tensor : summary.tensors) {
        if (tensor.use == use) bytes += tensor.bytes;
    }
    return bytes;
}

/// A GGUF file's weights as they are where the system maps no files.
Result<std::shared_ptr<Weights>> copied(const GgufSource& source, std::shared_ptr<MemoryLedger> ledger) {
    std::vector<StoredTensor> tensors;
    for (const GgufTensorUse& one : source.tensors) {
        tensors.push_back({one.slot, one.tensor->type, false,
                           [&, tensor = one.tensor](std::uint64_t offset, std::span<std::byte> out) {
                               return source.file->read(*tensor, offset, out);
                           },
                           0, source.file->offset_in_file(*one.tensor)});
    }
    const MapFile refuse = []() -> Result<MappedFile> { return Error{ErrorKind::unsupported, "No."}; };
    return load_weights(source.model.config, tensors, {refuse}, "m", std::move(ledger), {});
}

}  // namespace

class TestMappedWeights : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { survive_shrinking_files(); }
    void tensorsAreUsedWhereTheyLie_data();
    void tensorsAreUsedWhereTheyLie();
    void foldersGiveTheSameBits_data();
    void foldersGiveTheSameBits();
    void ggufFilesGiveTheSameBits_data();
    void ggufFilesGiveTheSameBits();
    void shardsAreMappedOneByOne();
    void nonFiniteWeightsAreCounted();
    void aDeletedFileStaysInUse();
    void aChangedFileEndsTheLane_data();
    void aChangedFileEndsTheLane();
    void firstLayersShareTheFiles();
};

void TestMappedWeights::tensorsAreUsedWhereTheyLie_data() {
    QTest::addColumn<QByteArray>("gguf");  // empty: a gpt2 folder
    QTest::addColumn<int>("shift");
    QTest::addColumn<bool>("halves");
    QTest::addColumn<QString>("in_place");  // names of these tensors, as a pattern
    const QString unturned = "wte.*|wpe.*|.*ln_.*|.*bias";
    QTest::newRow("folder, aligned") << QByteArray() << 0 << false << unturned;
    QTest::newRow("folder, a multiple of 4") << QByteArray() << 4 << false << unturned;
    QTest::newRow("folder, odd") << QByteArray() << 1 << false << QString();
    QTest::newRow("folder, even") << QByteArray() << 2 << false << QString();
    QTest::newRow("folder, embedding in 16 bits")
        << QByteArray() << 0 << true << QString("wpe.*|.*ln_.*|.*bias");
    QTest::newRow("GGUF gpt2") << QByteArray("gpt2") << 0 << false << QString(".*");
    QTest::newRow("GGUF llama") << QByteArray("llama") << 0 << false
                                << QString("token.*|.*norm.*|.*attn_output.*|.*ffn_.*");
    QTest::newRow("GGUF qwen2") << QByteArray("qwen2") << 0 << false
                                << QString("token.*|.*norm.*|.*attn_output.*|.*ffn_.*");
}

void TestMappedWeights::tensorsAreUsedWhereTheyLie() {
    QFETCH(QByteArray, gguf);
    QFETCH(int, shift);
    QFETCH(bool, halves);
    QFETCH(QString, in_place);
    const TestFolder folder;
    if (gguf.isEmpty()) {
        TinyModel model = gpt2_folder();
        if (halves) TinyModel::store_as_bf16(model.at("wte.weight"));
        write_folder(folder, model, shift);
    } else {
        folder.write("m.gguf", gguf_bytes(gguf));
    }
    const auto summary = inspect_model({.path = folder.path().string(), .preset = {}, .seed = 0});
    QVERIFY2(summary, summary ? "" : summary.error().message.c_str());
    const QRegularExpression pattern(QRegularExpression::anchoredPattern(in_place));
    for (const ModelSummary::Tensor& tensor : summary->tensors) {
        const bool matches = pattern.match(QString::fromStdString(tensor.name)).hasMatch();
        QVERIFY2(tensor.use == (matches ? "used in place" : "used"), tensor.name.c_str());
    }

    const auto ledger = std::make_shared<MemoryLedger>();
    {
        const auto model = load_path(folder.path(), ledger);
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        const Weights& weights = *model->weights;
        QCOMPARE(weights.mapped.size_bytes(), bytes_used(*summary, "used in place"));
        QCOMPARE(weights.files.size(), std::size_t{in_place.isEmpty() ? 0u : 1u});
        QCOMPARE(ledger->mapped(), weights.mapped.size_bytes());
        QCOMPARE(ledger->live(Owner::weights), weights.bytes());
        // The private block has the rest, each tensor up to the next cache line.
        const auto n_parameter = static_cast<std::uint64_t>(weights.config.n_parameter());
        QVERIFY(weights.bytes() >= n_parameter * 4);
        QVERIFY(weights.bytes() < n_parameter * 4 + 64 * summary->tensors.size());
        QVERIFY(weights.check_files());
        for (const TensorSlot& slot : tensor_slots(const_cast<Weights&>(weights))) {
            const bool lies_in_file = weights.storage.empty() || slot.data == nullptr;
            QVERIFY(!slot.part || !lies_in_file);
        }
    }
    QCOMPARE(ledger->total(), std::uint64_t{0});
    QCOMPARE(ledger->mapped(), std::uint64_t{0});
}

void TestMappedWeights::foldersGiveTheSameBits_data() {
    QTest::addColumn<int>("shift");
    for (const int shift : {0, 2, 3, 4, 8, 20, 60, 63}) QTest::addRow("%d", shift) << shift;
}

void TestMappedWeights::foldersGiveTheSameBits() {
    QFETCH(int, shift);
    const TestFolder folder, other;
    const TinyModel model = runnable_folder();
    write_folder(folder, model, shift);
    write_folder(other, model, 1);
    const auto weights = load(folder);
    const auto all_copied = load(other);
    QVERIFY2(weights && all_copied, weights ? "" : weights.error().message.c_str());
    QCOMPARE((*weights)->files.empty(), shift % 4 != 0);
    QVERIFY((*all_copied)->files.empty());
    const auto a = logits_of(**weights);
    const auto b = logits_of(**all_copied);
    QVERIFY2(a && b, a ? "" : a.error().message.c_str());
    QVERIFY(std::ranges::all_of(*a, [](float logit) { return std::isfinite(logit); }));
    QCOMPARE(a->size(), std::size_t{5 * 40});
    QVERIFY(same_bits(*a, *b));
}

void TestMappedWeights::ggufFilesGiveTheSameBits_data() {
    QTest::addColumn<QByteArray>("architecture");
    for (const char* name : {"gpt2", "llama", "qwen2"}) QTest::newRow(name) << QByteArray(name);
}

void TestMappedWeights::ggufFilesGiveTheSameBits() {
    QFETCH(QByteArray, architecture);
    const TestFolder folder;
    const auto source = open_gguf(folder.write("m.gguf", gguf_bytes(architecture)));
    QVERIFY2(source, source ? "" : source.error().message.c_str());
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto mapped = load_gguf_weights(*source, ledger);
    const auto private_ledger = std::make_shared<MemoryLedger>();
    const auto all_copied = copied(*source, private_ledger);
    QVERIFY2(mapped && all_copied, mapped ? "" : mapped.error().message.c_str());
    QVERIFY(ledger->mapped() > 0);
    QCOMPARE(private_ledger->mapped(), std::uint64_t{0});
    QVERIFY((*all_copied)->files.empty());
    const auto a = logits_of(**mapped);
    const auto b = logits_of(**all_copied);
    QVERIFY2(a && b, a ? "" : a.error().message.c_str());
    QVERIFY(same_bits(*a, *b));
    QVERIFY(std::ranges::all_of(*a, [](float logit) { return std::isfinite(logit); }));
    QVERIFY((*a)[0] != (*a)[1]);
}

void TestMappedWeights::shardsAreMappedOneByOne() {
    const TestFolder folder, whole;
    const TinyModel model = gpt2_folder();
    write_sharded(folder, model, 0);
    write_folder(whole, model, 0);
    const auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QCOMPARE((*weights)->files.size(), std::size_t{2});
    QVERIFY(holds_model(**weights));
    QCOMPARE((*weights)->mapped.size_bytes(), (*load(whole))->mapped.size_bytes());
    write_sharded(folder, model, 2);
    const auto one = load(folder);
    QVERIFY2(one, one ? "" : one.error().message.c_str());
    QCOMPARE((*one)->files.size(), std::size_t{1});
    QVERIFY(holds_model(**one));
    QVERIFY((*one)->mapped.size_bytes() > 0);
    QVERIFY((*one)->mapped.size_bytes() < (*load(whole))->mapped.size_bytes());
}

void TestMappedWeights::nonFiniteWeightsAreCounted() {
    const TestFolder folder;
    TinyModel model = gpt2_folder();
    const float infinity = std::numeric_limits<float>::infinity();
    std::memcpy(model.at("wpe.weight").data.data() + 8, &infinity, 4);
    std::memcpy(model.at("h.1.mlp.c_fc.weight").data.data(), &infinity, 4);
    write_folder(folder, model, 0);
    const auto weights = load(folder);
    QVERIFY(weights);
    QCOMPARE((*weights)->notes.back(), folder.path().string() + ": 2 of the weights are NaN or infinite.");
}

void TestMappedWeights::aDeletedFileStaysInUse() {
    const TestFolder folder;
    const auto path = folder.write("m.gguf", gguf_bytes("llama"));
    const auto model = load_path(path, std::make_shared<MemoryLedger>());
    QVERIFY(model);
    const auto before = logits_of(*model->weights);
    std::filesystem::rename(path, folder.path("other"));
    const auto renamed = logits_of(*model->weights);
    std::filesystem::remove(folder.path("other"));
    const auto deleted = logits_of(*model->weights);
    QVERIFY(before && renamed && deleted);
    QVERIFY(same_bits(*before, *renamed));
    QVERIFY(same_bits(*before, *deleted));
}

void TestMappedWeights::aChangedFileEndsTheLane_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<bool>("cut");  // else written to
    for (const char* kind : {"folder", "shards", "gguf"}) {
        QTest::addRow("%s, cut", kind) << QString(kind) << true;
        QTest::addRow("%s, written to", kind) << QString(kind) << false;
    }
}

void TestMappedWeights::aChangedFileEndsTheLane() {
    QFETCH(QString, kind);
    QFETCH(bool, cut);
    const TestFolder folder;
    std::filesystem::path path;
    if (kind == "gguf") {
        path = folder.write("m.gguf", gguf_bytes("llama"));
    } else if (kind == "folder") {
        path = write_folder(folder, runnable_folder(), 0);
    } else {
        write_sharded(folder, runnable_folder(), 0);
        path = folder.path("b.safetensors");
    }
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto model = load_path(folder.path(), ledger);
    QVERIFY2(model, model ? "" : model.error().message.c_str());
    const auto backend = make_cpu_backend(2);
    auto lane = make_lane(*lane_from_name("static"), {model->weights, nullptr, backend.get(), ledger});
    QVERIFY(lane);
    Workload workload;
    workload.requests.push_back({{1, 2}, 4, 0, 0, 0});
    QVERIFY((*lane)->start(workload));
    for (int i = 0; i < 2; ++i) {
        QVERIFY(*(*lane)->ready());
        QVERIFY((*lane)->step());
    }
    QVERIFY(*(*lane)->ready());
    if (cut) {
        std::filesystem::resize_file(path, 100);
    } else {
        std::filesystem::last_write_time(path,
                                         std::filesystem::last_write_time(path) + std::chrono::seconds(1));
    }
    const auto step = (*lane)->step();
    QVERIFY(!step);
    QCOMPARE(step.error().kind, ErrorKind::io);
    QVERIFY2(step.error().message.starts_with(
                 path.string() + (cut ? ": became shorter while it was read: " : ": was changed while ")),
             step.error().message.c_str());
    const auto ready = (*lane)->ready();
    QVERIFY(!ready);
    QCOMPARE(ready.error().message, step.error().message);
    (*lane)->finish();
    QCOMPARE(ledger->total(), ledger->live(Owner::weights));
}

void TestMappedWeights::firstLayersShareTheFiles() {
    const TestFolder folder;
    const auto path = folder.write("m.gguf", gguf_bytes("llama"));
    const auto ledger = std::make_shared<MemoryLedger>();
    auto model = load_path(path, ledger);
    QVERIFY(model);
    const std::uint64_t bytes = ledger->total();
    const auto first = first_layers(std::move(model->weights), 1);
    QCOMPARE(ledger->total(), bytes);
    QVERIFY(logits_of(*first));
    std::filesystem::resize_file(path, 100);
    const auto logits = logits_of(*first);
    QVERIFY(!logits);
    QVERIFY(logits.error().message.starts_with(path.string()));
}

QTEST_APPLESS_MAIN(TestMappedWeights)
#include "tst_mapped_weights.moc"
