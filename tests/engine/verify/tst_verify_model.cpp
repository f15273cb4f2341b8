// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

#include "engine/model/preset.h"
#include "engine/verify/logit_comparison.h"
#include "engine/verify/verify_model.h"

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
};

QTEST_APPLESS_MAIN(TestVerifyModel)
#include "tst_verify_model.moc"
