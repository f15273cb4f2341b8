// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

#include "engine/core/random.h"
#include "engine/model/preset.h"
#include "engine/verify/logit_comparison.h"
#include "engine/verify/verify_model.h"
#include "tests/engine/model/golden_models.h"

using namespace decodescope;

class TestVerifyModel : public QObject {
    Q_OBJECT

private slots:
    void everythingHolds_data() {
        QTest::addColumn<int>("n_head");
        QTest::addColumn<int>("n_positions");
        QTest::newRow("tiny") << 4 << 64;
        QTest::newRow("one head") << 1 << 64;
        QTest::newRow("few positions") << 4 << 9;
        QTest::newRow("two positions") << 4 << 2;
    }
    void everythingHolds() {
        QFETCH(int, n_head);
        QFETCH(int, n_positions);
        ModelConfig config = *preset_config("tiny");
        config.n_head = config.n_kv_head = n_head;
        config.head_dim = config.d_model / n_head;
        config.n_positions = n_positions;
        const auto ledger = std::make_shared<MemoryLedger>();
        const LoadedModel model{*random_weights(config, 1, ledger), nullptr};
        const auto report = verify_model(model, {}, ledger);
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        QVERIFY(report->checks.size() >= 14);
        for (const VerifyCheck& check : report->checks) {
            QVERIFY2(check.held, qPrintable(QString::fromStdString(check.name + ": " + check.found)));
        }
        QVERIFY(report->all_held());
        QCOMPARE(ledger->total(), std::uint64_t{model.weights->storage.size_bytes()});
    }

    void everythingHoldsForTheGoldenModels_data() {
        QTest::addColumn<QString>("model");
        for (const std::string& model : test::golden_models())
            QTest::newRow(model.c_str()) << QString::fromStdString(model);
    }
    void everythingHoldsForTheGoldenModels() {
        QFETCH(QString, model);
        const auto folder = std::filesystem::path(DECODESCOPE_TEST_DATA) / model.toStdString();
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto loaded = load_model({.path = folder.string(), .preset = {}, .seed = 0}, ledger);
        QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
        const auto report = verify_model(*loaded, {}, ledger);
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        for (const VerifyCheck& check : report->checks) {
            QVERIFY2(check.held, qPrintable(QString::fromStdString(check.name + ": " + check.found)));
        }
        QVERIFY(report->checks.size() > 100);
    }

    void everythingHoldsForOtherPresets_data() {
        QTest::addColumn<QString>("preset");
        QTest::newRow("a window of its own") << "tiny-window";
        QTest::newRow("the Llama family") << "tiny-llama";
    }
    void everythingHoldsForOtherPresets() {
        QFETCH(QString, preset);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto config = preset_config(preset.toStdString());
        QVERIFY(config);
        const LoadedModel model{*random_weights(*config, 3, ledger), nullptr};
        const auto report = verify_model(model, {}, ledger);
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        for (const VerifyCheck& check : report->checks) {
            QVERIFY2(check.held, qPrintable(QString::fromStdString(check.name + ": " + check.found)));
        }
    }

    void nothingReadsWhatWasNotWritten() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const LoadedModel model{*random_weights(*preset_config("tiny"), 2, ledger), nullptr};
        ledger->set_poison(true);  // spare slots, tiles and work buffers begin as NaN
        const auto report = verify_model(model, {}, ledger);
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        for (const VerifyCheck& check : report->checks) {
            QVERIFY2(check.held, qPrintable(QString::fromStdString(check.name + ": " + check.found)));
        }
    }

    void everyCheckIsTold() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const LoadedModel model{*random_weights(*preset_config("tiny"), 2, ledger), nullptr};
        VerifyOptions options;
        std::size_t n = 0;
        options.on_check = [&](const VerifyCheck& check) { n += !check.name.empty(); };
        const auto report = verify_model(model, options, ledger);
        QVERIFY(report);
        QCOMPARE(n, report->checks.size());
    }

    void brokenWeightsAreReported() {
        const auto ledger = std::make_shared<MemoryLedger>();
        auto weights = *allocate_weights(*preset_config("tiny"), ledger);
        tensor_slots(*weights).back().data[3] = std::numeric_limits<float>::infinity();
        const auto report = verify_model({weights, nullptr}, {}, ledger);
        // Either a check that does not hold, or no report because sampling met the infinity: never a pass.
        QVERIFY(!report || !report->all_held());
    }

    void aConstantModelFailsCausality() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto weights =
            *allocate_weights(*preset_config("tiny"), ledger);  // all zero: every row is the same
        const auto report = verify_model({weights, nullptr}, {}, ledger);
        QVERIFY(report);
        QVERIFY(!report->all_held());
    }

    void cancelling() {
        const auto ledger = std::make_shared<MemoryLedger>();
        std::stop_source stop;
        stop.request_stop();
        const LoadedModel model{*random_weights(*preset_config("tiny"), 1, ledger), nullptr};
        const auto report = verify_model(model, {}, ledger, stop.get_token());
        QVERIFY(!report);
        QCOMPARE(report.error().kind, ErrorKind::cancelled);
    }

    void comparisonOfLogits() {
        const std::vector<float> reference{1.0f, 3.0f, -1.0f, 1.0f};
        const std::vector<float> logits{1.0f, 3.5f, -1.0f, 4.0f};
        const LogitComparison found = compare_logits(logits, reference);
        QVERIFY(found.compared);
        QCOMPARE(found.max_abs_error, 3.0);
        QCOMPARE(found.relative_error, 3.0 / std::sqrt(2.0));
        QVERIFY(!found.same_argmax);
        QCOMPARE(found.top2_margin, 2.0);
        QVERIFY(!compare_logits(logits, {}).compared);
    }

    void divergenceOfLogits_data() {
        QTest::addColumn<int>("vocab");
        for (const int vocab : {1, 2, 7, 8, 33, 1000}) QTest::addRow("%d", vocab) << vocab;
    }
    void divergenceOfLogits() {
        QFETCH(int, vocab);
        std::vector<float> x;
        std::vector<float> y;
        for (int i = 0; i < vocab; ++i) {
            x.push_back(5 * random_normal(1, 1, static_cast<std::uint64_t>(i)));
            y.push_back(x.back() + 0.5f * random_normal(1, 2, static_cast<std::uint64_t>(i)) + 3);
        }
        const auto softmax = [](const std::vector<float>& logits) {
            long double sum = 0;
            for (const float logit : logits) sum += std::exp(static_cast<long double>(logit));
            std::vector<long double> p;
            for (const float logit : logits) p.push_back(std::exp(static_cast<long double>(logit)) / sum);
            return p;
        };
        const auto p = softmax(x);
        const auto q = softmax(y);
        long double divergence = 0;
        for (std::size_t i = 0; i < p.size(); ++i) divergence += p[i] * std::log(p[i] / q[i]);
        const int right = vocab / 2;
        const LogitComparison found = compare_logits(y, x, right);
        QVERIFY(std::abs(found.kl_divergence - static_cast<double>(divergence)) < 1e-12);
        QVERIFY(std::abs(found.reference_probability -
                         static_cast<double>(p[static_cast<std::size_t>(right)])) < 1e-12);
        QVERIFY(std::abs(found.lane_probability - static_cast<double>(q[static_cast<std::size_t>(right)])) <
                1e-12);
        QVERIFY(compare_logits(x, x).kl_divergence < 1e-14);
    }

    void notANumberIsNotEqual() {
        const std::vector<float> reference{1.0f, 3.0f, -1.0f};
        const std::vector<float> logits{1.0f, std::numeric_limits<float>::quiet_NaN(), -1.0f};
        const LogitComparison found = compare_logits(logits, reference);
        QVERIFY(std::isnan(found.max_abs_error));
        QVERIFY(!(found.relative_error <= f32_error_limit));
    }
};

QTEST_APPLESS_MAIN(TestVerifyModel)
#include "tst_verify_model.moc"
