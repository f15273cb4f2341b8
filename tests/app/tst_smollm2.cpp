// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QJsonArray>
#include <QTest>

#include "engine/decode/lane.h"
#include "engine/formats/model_source.h"
#include "tests/app/cli_process.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

std::vector<std::int32_t> idsOf(const QJsonValue& array) {
    std::vector<std::int32_t> ids;
    for (const QJsonValue& id : array.toArray()) ids.push_back(id.toInt());
    return ids;
}

}  // namespace

/// The small real model that `get` fetches, against what transformers makes of the same file
/// (make_smollm2_goldens.py). Skipped where the package registry cannot be reached.
class TestSmolLm2 : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        QFile file(DECODESCOPE_TEST_DATA "/smollm2.json");
        QVERIFY(file.open(QFile::ReadOnly));
        goldens_ = QJsonDocument::fromJson(file.readAll()).object();
        // Kept between runs, beside the programs.
        const QString folder = DECODESCOPE_BIN_DIR "/../fetched/smollm2";
        const Outcome outcome = cli({"get", "smollm2", "--folder", folder});
        if (outcome.exitCode == 2 && outcome.err.contains("Downloading failed"))
            QSKIP(outcome.err.trimmed().constData());
        if (outcome.exitCode == 2 && outcome.err.contains("is needed"))
            QSKIP(outcome.err.trimmed().constData());
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        path_ = folder + "/" + goldens_["file"].toString();
        const auto loaded = load_model({.path = path_.toStdString(), .preset = {}, .seed = 0}, ledger_);
        QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
        model_ = *loaded;
        QVERIFY(model_.tokenizer != nullptr);
    }

    /// What a cache of 16 bits really holds.
    void measuredKvBytes() {
        const auto backend = make_cpu_backend(2);
        LaneSpec spec;
        spec.name = "f16";
        spec.cache.kind = CacheKind::static_;
        spec.cache.dtype = DType::f16;
        auto lane = make_lane(spec, {model_.weights, nullptr, backend.get(), ledger_});
        QVERIFY(lane);
        Workload workload;
        workload.requests.push_back({{1, 4093, 198}, 3, 0, 0, 0});
        const auto started = (*lane)->start(std::move(workload));
        QVERIFY2(started, started ? "" : started.error().message.c_str());
        for (const int length : {3, 4, 5}) {
            QVERIFY(*(*lane)->ready());
            QVERIFY((*lane)->step());
            QCOMPARE((*lane)->cache()->length(), length);
            QCOMPARE((*lane)->cache()->bytes().live, static_cast<std::uint64_t>(length) * 23'040);
        }
    }

    void whatItIs() {
        const ModelConfig& config = model_.weights->config;
        QCOMPARE(config.n_layer, 30);
        QCOMPARE(config.n_kv_head, 3);
        QCOMPARE(config.kv_bytes_per_token(DType::f16), std::int64_t{23'040});
    }

    void greedyContinuation_data() {
        QTest::addColumn<QJsonObject>("golden");
        for (const QJsonValue& one : goldens_["cases"].toArray())
            QTest::newRow(qPrintable(one["prompt"].toString().simplified())) << one.toObject();
    }

    void greedyContinuation() {
        QFETCH(QJsonObject, golden);
        const std::string prompt = golden["prompt"].toString().toStdString();
        const auto ids = model_.tokenizer->encode_prompt(prompt);
        QCOMPARE(ids, idsOf(golden["prompt_ids"]));
        const auto expected = idsOf(golden["new_ids"]);

        const auto backend = make_cpu_backend(2);
        LaneSpec spec;
        spec.name = "static";
        spec.cache.kind = CacheKind::static_;
        auto lane = make_lane(spec, {model_.weights, nullptr, backend.get(), ledger_});
        QVERIFY(lane);
        Workload workload;
        workload.requests.push_back({ids, static_cast<int>(expected.size()), 0, 0, 0});
        const auto started = (*lane)->start(std::move(workload));
        QVERIFY2(started, started ? "" : started.error().message.c_str());
        std::vector<std::int32_t> found;
        while (true) {
            const auto ready = (*lane)->ready();
            QVERIFY(ready);
            if (!*ready) break;
            const auto step = (*lane)->step();
            QVERIFY2(step, step ? "" : step.error().message.c_str());
            for (const ChosenToken& token : step->chosen) found.push_back(token.token);
            // What is measured is what the formula says, in f32.
            const KvCache& cache = *(*lane)->cache();
            QCOMPARE(cache.bytes().live, static_cast<std::uint64_t>(cache.length()) * 2 * 23'040);
        }
        QCOMPARE(found, expected);
        QCOMPARE(QString::fromStdString(model_.tokenizer->decode(found)), golden["text"].toString());
    }

    void answersAQuestionInEnglish() {
        const QJsonArray cases = goldens_["cases"].toArray();
        const auto chat = std::find_if(cases.begin(), cases.end(), [](const QJsonValue& one) {
            return one["prompt"].toString().contains("<|im_start|>");
        });
        QVERIFY(chat != cases.end());
        QVERIFY2((*chat).toObject()["text"].toString().contains("The capital of France is Paris"),
                 qPrintable((*chat).toObject()["text"].toString()));
    }

    /// The same through the program: control tokens of a text prompt are taken as such on request.
    void chatThroughTheProgram() {
        const QString prompt =
            "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n";
        QStringList words = {"run",      "--model",  path_,      "--lanes", "static",
                             "--prompt", prompt,     "--tokens", "8",       "--repetitions",
                             "1",        "--warmup", "0"};
        QVERIFY(cli(words + QStringList{"--control"}).out.contains("The capital of France is Paris."));
        QVERIFY(cli(words).out.contains("Text of static"));
    }

    void inspected() {
        const Outcome outcome = cli({"inspect", "--model", path_});
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY2(outcome.out.contains("KV bytes per token (16 bits)    23040\n"),
                 outcome.out.left(2000).constData());
    }

private:
    QJsonObject goldens_;
    QString path_;
    std::shared_ptr<MemoryLedger> ledger_ = std::make_shared<MemoryLedger>();
    LoadedModel model_;
};

QTEST_GUILESS_MAIN(TestSmolLm2)
#include "tst_smollm2.moc"
