// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <filesystem>

#include "engine/decode/beam_lane.h"
#include "engine/formats/model_source.h"
#include "engine/formats/safetensors.h"
#include "tests/engine/decode/lane_fixture.h"
#include "tests/sanitized.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// A file of tests/data/make_goldens.py.
class Goldens {
public:
    explicit Goldens(const char* name)
        : file_(*SafetensorsFile::open(std::filesystem::path(DECODESCOPE_TEST_DATA) / name)) {}

    template <class T>
    std::vector<T> read(const std::string& name) const {
        const SafetensorsEntry* entry = file_->find(name);
        if (entry == nullptr) return {};
        std::vector<T> values(static_cast<std::size_t>(entry->size() / sizeof(T)));
        if (!file_->read(*entry, 0, std::as_writable_bytes(std::span(values)))) values.clear();
        return values;
    }
    Ids ids(const std::string& name) const {
        const auto wide = read<std::int64_t>(name);
        return {wide.begin(), wide.end()};
    }
    std::string model() const { return file_->metadata().at("model"); }

private:
    std::shared_ptr<const SafetensorsFile> file_;
};

}  // namespace

/// The demo model's answers against those of transformers.
class TestGenerations : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        const auto loaded =
            load_model({.path = "demo", .preset = {}, .seed = 0}, std::make_shared<MemoryLedger>());
        QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
        weights_ = test::prepared(loaded->weights, *backend_);
        for (const char* name : {"demo_generations.safetensors", "demo_beams.safetensors"}) {
            QVERIFY2(
                weights_hash(*weights_) == Goldens(name).model(),
                "the demo model was replaced: run tests/data/make_goldens.py --demo resources/models/demo");
        }
    }

    void greedyAnswers_data() {
        QTest::addColumn<QString>("lane");
        // Computing everything again for every token takes longest.
        if (!sanitized) QTest::newRow("naive-batch") << "naive-batch";
        for (const char* name : {"naive", "static", "concat", "paged", "batch", "batch-right", "batch-packed",
                                 "continuous", "speculative", "speculative-layers"})
            QTest::newRow(name) << name;
    }
    void greedyAnswers() {
        QFETCH(QString, lane);
        const Goldens goldens("demo_generations.safetensors");
        std::vector<Ids> prompts;
        for (int i = 0; i < 4; ++i) prompts.push_back(goldens.ids("prompt." + std::to_string(i)));
        const auto steps = goldens.ids("logits.steps");
        QCOMPARE(steps.size(), std::size_t{3});
        const auto alone = goldens.read<float>("logits.alone");
        const auto batch = goldens.read<float>("logits.batch");
        const int vocab = weights_->config.vocab;
        QCOMPARE(alone.size(), static_cast<std::size_t>(4 * 3 * vocab));

        LaneSpec spec = named(lane.toStdString());
        const auto tried = *make_lane(spec, {weights_, nullptr, backend_.get(), ledger_});
        std::vector<Ids> tokens(4);
        double worst = 0;
        QVERIFY(tried->start(work_of(prompts, 64)));
        while (*tried->ready()) {
            const auto step = tried->step();
            QVERIFY2(step, step ? "" : step.error().message.c_str());
            for (const ChosenToken& token : step->chosen) {
                tokens[static_cast<std::size_t>(token.request)].push_back(token.token);
                const auto at = std::find(steps.begin(), steps.end(), token.index);
                if (at == steps.end()) continue;
                const auto row = static_cast<std::size_t>((token.request * 3 + (at - steps.begin())) * vocab);
                for (const auto* expected : {&alone, &batch}) {
                    const auto logits = step->logits_of(token, vocab);
                    const auto golden = std::span(*expected).subspan(row, static_cast<std::size_t>(vocab));
                    worst = std::max(worst, compare_logits(logits, golden).relative_error);
                }
            }
        }
        for (int i = 0; i < 4; ++i) {
            QCOMPARE(tokens[static_cast<std::size_t>(i)], goldens.ids("alone." + std::to_string(i)));
            QCOMPARE(tokens[static_cast<std::size_t>(i)], goldens.ids("batch." + std::to_string(i)));
        }
        QVERIFY2(worst > 0 && worst <= 1e-4, qPrintable(QString::number(worst)));
    }

    void beamSearch_data() {
        QTest::addColumn<CacheKind>("kind");
        for (const CacheKind kind : {CacheKind::static_, CacheKind::concat, CacheKind::paged})
            QTest::newRow(to_string(kind)) << kind;
    }
    void beamSearch() {
        QFETCH(CacheKind, kind);
        const Goldens goldens("demo_beams.safetensors");
        LaneSpec spec = named("beam");
        spec.cache.kind = kind;
        for (int i = 0; i < 2; ++i) {
            const std::string number = std::to_string(i);
            const auto lane = *make_lane(spec, {weights_, nullptr, backend_.get(), ledger_});
            const Trail trail = follow_one(*lane, goldens.ids("prompt." + number), 16);
            QVERIFY2(trail.error.empty(), trail.error.c_str());
            Ids best = goldens.ids("sequences." + number);
            best.resize(16);
            QCOMPARE(trail.tokens[0], best);
            const double expected = goldens.read<double>("log_probs." + number)[0];
            const double found = static_cast<BeamLane&>(*lane).best_score();
            QVERIFY2(std::abs(found - expected) < 1e-3,
                     qPrintable(QString("%1, not %2").arg(found).arg(expected)));
        }
    }

private:
    std::shared_ptr<MemoryLedger> ledger_ = std::make_shared<MemoryLedger>();
    std::unique_ptr<Backend> backend_ = make_cpu_backend(2);
    std::shared_ptr<const Weights> weights_;
};

QTEST_APPLESS_MAIN(TestGenerations)
#include "tst_generations.moc"
