// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/formats/model_source.h"
#include "engine/formats/safetensors.h"
#include "engine/model/forward.h"
#include "tests/engine/model/golden_models.h"

using namespace decodescope;

namespace {

/// One prompt and the reference's logits for it (tests/data/make_goldens.py).
struct Golden {
    std::vector<std::int32_t> ids;
    std::vector<float> logits;  // [ids.size(), vocab]
};

template <class T>
std::vector<T> read_tensor(const SafetensorsFile& file, const SafetensorsEntry& entry) {
    std::vector<T> values(static_cast<std::size_t>(entry.size() / sizeof(T)));
    if (!file.read(entry, 0, std::as_writable_bytes(std::span(values)))) values.clear();
    return values;
}

std::vector<Golden> read_goldens(const SafetensorsFile& file) {
    std::vector<Golden> goldens;
    while (const SafetensorsEntry* prompt = file.find("prompt." + std::to_string(goldens.size()))) {
        const auto ids = read_tensor<std::int64_t>(file, *prompt);
        const SafetensorsEntry* logits = file.find("logits." + std::to_string(goldens.size()));
        if (logits == nullptr) return {};
        goldens.push_back({{ids.begin(), ids.end()}, read_tensor<float>(file, *logits)});
    }
    return goldens;
}

/// Largest error of a row / standard deviation of the reference's row, over all rows. NaN counts as infinite.
double relative_error(const std::vector<float>& logits, const std::vector<float>& reference,
                      std::size_t vocab) {
    double worst = 0;
    for (std::size_t row = 0; row < reference.size(); row += vocab) {
        double sum = 0, squares = 0, error = 0;
        for (std::size_t i = row; i < row + vocab; ++i) {
            sum += double{reference[i]};
            squares += double{reference[i]} * double{reference[i]};
            const double difference = std::abs(double{logits[i]} - double{reference[i]});
            error = std::isnan(difference) ? INFINITY : std::max(error, difference);
        }
        const double n = static_cast<double>(vocab);
        worst = std::max(worst, error / std::sqrt(squares / n - sum / n * (sum / n)));
    }
    return worst;
}

struct Feeding {
    CacheKind cache = CacheKind::none;
    std::vector<int> chunks;  // repeated until the prompt is used up; empty = all at once
};

/// Feeds `ids` as `feeding` says and returns the logits of every position; empty when a call failed.
std::vector<float> feed(const Weights& weights, const std::vector<std::int32_t>& ids, const Feeding& feeding,
                        Backend& backend) {
    const auto ledger = std::make_shared<MemoryLedger>();
    Workspace workspace(ledger);
    const ModelConfig& config = weights.config;
    const int n = static_cast<int>(ids.size());
    std::vector<float> logits;
    const Window window{config.window, 0};
    if (feeding.cache == CacheKind::none) {
        CallTokens call;
        call.add_row(ids, 0);
        const auto out = forward(weights, call, all_rows(call), nullptr, window, workspace, backend);
        if (out) logits.assign(out->logits.begin(), out->logits.end());
        return logits;
    }
    const KvShape shape{config.n_layer, 1, config.n_kv_head, config.head_dim};
    CacheSpec spec;
    spec.kind = feeding.cache;
    const Window kept = config.window > 0 ? window : Window{n, 0};
    auto cache = make_cache(spec, shape, {n, n, 0, kept}, ledger);
    if (!cache) return {};
    std::size_t next_chunk = 0;
    for (int fed = 0; fed < n;) {
        const int wanted = feeding.chunks.empty() ? n : feeding.chunks[next_chunk++ % feeding.chunks.size()];
        const int chunk = std::min(wanted, n - fed);
        CallTokens call;
        call.add_row(std::span(ids).subspan(static_cast<std::size_t>(fed), static_cast<std::size_t>(chunk)),
                     fed);
        const auto out = forward(weights, call, all_rows(call), cache->get(), window, workspace, backend);
        if (!out) return {};
        logits.insert(logits.end(), out->logits.begin(), out->logits.end());
        fed += chunk;
    }
    return logits;
}

}  // namespace

class TestGoldens : public QObject {
    Q_OBJECT

private slots:
    void logitsAreTheReferences_data();
    void logitsAreTheReferences();
    void demoLogitsAreTheReferences();
    void storiesAreTheReferences_data();
    void storiesAreTheReferences();
    void quantisedStoriesAreNearTheReferences();

private:
    const double limit_ = 1e-4;
    const std::filesystem::path stories_ =
        std::filesystem::path(DECODESCOPE_TEST_DATA) / "../../../shared/data/stories260K";
    std::unique_ptr<Backend> backend_ = make_cpu_backend(2);
};

void TestGoldens::logitsAreTheReferences_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<CacheKind>("cache");
    QTest::addColumn<std::vector<int>>("chunks");
    for (const std::string& model : test::golden_models()) {
        const auto row = [&](const char* feeding, CacheKind cache, std::vector<int> chunks) {
            QTest::addRow("%s, %s", model.c_str(), feeding)
                << QString::fromStdString(model) << cache << std::move(chunks);
        };
        row("all at once without a cache", CacheKind::none, {});
        row("all at once, static", CacheKind::static_, {});
        row("one by one, static", CacheKind::static_, {1});
        row("one by one, concat", CacheKind::concat, {1});
        row("chunks of 5, 1 and 9, static", CacheKind::static_, {5, 1, 9});
        row("chunks of 3 and 8, concat", CacheKind::concat, {3, 8});
        row("chunks of 7 and 2, paged", CacheKind::paged, {7, 2});
        row("one by one, paged", CacheKind::paged, {1});
        row("chunks of 4 and 1, the model's window or one as wide as the text", CacheKind::window, {4, 1});
    }
}

void TestGoldens::logitsAreTheReferences() {
    QFETCH(QString, model);
    QFETCH(CacheKind, cache);
    QFETCH(std::vector<int>, chunks);
    const auto folder = std::filesystem::path(DECODESCOPE_TEST_DATA) / model.toStdString();
    const auto file = SafetensorsFile::open(test::golden_logits(model.toStdString()));
    QVERIFY2(file, file ? "" : file.error().message.c_str());
    const auto loaded =
        load_model({.path = folder.string(), .preset = {}, .seed = 0}, std::make_shared<MemoryLedger>());
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const Weights& weights = *loaded->weights;
    const auto vocab = static_cast<std::size_t>(weights.config.vocab);
    const auto goldens = read_goldens(**file);
    QCOMPARE(goldens.size(), std::size_t{3});
    for (const Golden& golden : goldens) {
        QCOMPARE(golden.logits.size(), golden.ids.size() * vocab);
        const auto logits = feed(weights, golden.ids, {cache, chunks}, *backend_);
        QCOMPARE(logits.size(), golden.logits.size());
        const double error = relative_error(logits, golden.logits, vocab);
        QVERIFY2(error <= limit_, qPrintable(QString("error %1 of the standard deviation").arg(error)));
    }
    // The measure itself can fail: one logit off by a thousandth of the spread is seen.
    std::vector<float> wrong = goldens.back().logits;
    wrong[wrong.size() / 2] += 0.01f;
    QVERIFY(relative_error(wrong, goldens.back().logits, vocab) > limit_);
}

void TestGoldens::demoLogitsAreTheReferences() {
    const auto file =
        SafetensorsFile::open(std::filesystem::path(DECODESCOPE_TEST_DATA) / "demo.safetensors");
    QVERIFY2(file, file ? "" : file.error().message.c_str());
    const auto loaded =
        load_model({.path = "demo", .preset = {}, .seed = 0}, std::make_shared<MemoryLedger>());
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const Weights& weights = *loaded->weights;
    QVERIFY2(weights_hash(weights) == (*file)->metadata().at("model"),
             "the demo model was replaced: run tests/data/make_goldens.py --demo resources/models/demo");
    const auto vocab = static_cast<std::size_t>(weights.config.vocab);
    const auto goldens = read_goldens(**file);
    QCOMPARE(goldens.size(), std::size_t{1});
    QVERIFY(loaded->tokenizer != nullptr);
    QCOMPARE(loaded->tokenizer->encode_prompt((*file)->metadata().at("text")), goldens[0].ids);
    for (const Feeding& feeding :
         {Feeding{}, Feeding{CacheKind::static_, {1}}, Feeding{CacheKind::concat, {4}}}) {
        const auto logits = feed(weights, goldens[0].ids, feeding, *backend_);
        QCOMPARE(logits.size(), goldens[0].logits.size());
        const double error = relative_error(logits, goldens[0].logits, vocab);
        QVERIFY2(error <= limit_, qPrintable(QString("error %1 of the standard deviation").arg(error)));
    }
}

// A trained model with grouped heads, its greedy answer to the token 1, and the first
// logits, computed by a program of a few lines that shares nothing with this one.
void TestGoldens::storiesAreTheReferences_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("Hugging Face") << "hf";
    QTest::newRow("GGUF") << "stories260K-f32.gguf";
}

void TestGoldens::storiesAreTheReferences() {
    QFETCH(QString, name);
    const auto path = stories_ / name.toStdString();
    if (!std::filesystem::exists(path)) QSKIP("../shared/data/stories260K is not there");
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto loaded = load_model({.path = path.string(), .preset = {}, .seed = 0}, ledger);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    const Weights& weights = *loaded->weights;
    const ModelConfig& config = weights.config;
    const std::vector<std::int32_t> expected{
        403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426, 338, 401, 396, 267, 337,
        410, 408, 419, 292, 411, 322, 265, 282, 295, 433, 426, 385, 328, 432, 358, 394, 261, 370, 432, 352};
    const int n = static_cast<int>(expected.size());
    CacheSpec spec;
    spec.kind = CacheKind::static_;
    auto cache =
        make_cache(spec, {config.n_layer, 1, config.n_kv_head, config.head_dim}, {n + 1, 1, 0, {}}, ledger);
    QVERIFY(cache);
    Workspace workspace(ledger);
    std::vector<std::int32_t> found{1};
    for (int i = 0; i < n; ++i) {
        CallTokens call;
        call.add(found.back(), i);
        call.end_row();
        const auto out = forward(weights, call, last_rows(call), cache->get(), {}, workspace, *backend_);
        QVERIFY2(out, out ? "" : out.error().message.c_str());
        if (i == 0) {
            const float first[] = {-6.22291f, 8.40434f, -6.22374f, -6.22254f, -6.22195f, -6.22288f};
            for (std::size_t k = 0; k < std::size(first); ++k) {
                QVERIFY(std::abs(out->logits[k] - first[k]) < 2e-5f);
            }
        }
        const auto best = std::max_element(out->logits.begin(), out->logits.end());
        found.push_back(static_cast<std::int32_t>(best - out->logits.begin()));
    }
    found.erase(found.begin());
    QCOMPARE(found, expected);
}

// 8 bits with a scale for each 32 weights are off by up to a 254th of the largest: the logits move by 1 % of
// their spread, while an error of the reading (a scale, an order of rows) moves them by its whole.
void TestGoldens::quantisedStoriesAreNearTheReferences() {
    if (!std::filesystem::exists(stories_)) QSKIP("../shared/data/stories260K is not there");
    const std::vector<std::int32_t> ids{1, 403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421};
    std::vector<std::vector<float>> logits;
    for (const char* name : {"stories260K-f32.gguf", "stories260K-q8_0.gguf"}) {
        const auto loaded = load_model({.path = (stories_ / name).string(), .preset = {}, .seed = 0},
                                       std::make_shared<MemoryLedger>());
        QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
        logits.push_back(feed(*loaded->weights, ids, {}, *backend_));
        QCOMPARE(logits.back().size(), ids.size() * 512);
    }
    const double error = relative_error(logits[1], logits[0], 512);
    QVERIFY2(error > 1e-4 && error < 0.1,
             qPrintable(QString("error %1 of the standard deviation").arg(error)));
}

QTEST_APPLESS_MAIN(TestGoldens)
#include "tst_goldens.moc"
