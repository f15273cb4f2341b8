// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using namespace decodescope::test;

class TestBarriers : public QObject {
    Q_OBJECT

private slots:
    void aStepHasFew_data() {
        QTest::addColumn<int>("n_kv_head");
        QTest::addColumn<int>("most_per_layer");
        QTest::newRow("heads that two threads share evenly") << 4 << 4;
        QTest::newRow("heads that they do not") << 3 << 5;
    }
    // Below this a step waits for its threads more than it computes.
    void aStepHasFew() {
        QFETCH(int, n_kv_head);
        QFETCH(int, most_per_layer);
        ModelConfig config = *preset_config("tiny");
        config.n_head = config.n_kv_head = n_kv_head;
        config.head_dim = 64;
        config.d_model = 64 * n_kv_head;
        config.d_ff = 1024;
        config.n_layer = 6;
        config.vocab = 2000;
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto backend = make_cpu_backend(2);
        const auto weights = prepared(*random_weights(config, 1, ledger), *backend);
        const auto lane = make_lane(named("static"), {weights, nullptr, backend.get(), ledger});
        QVERIFY(lane);
        QVERIFY((*lane)->start(
            {.requests = {{.prompt = {1, 2, 3}, .new_tokens = 12}}, .sampling = {}, .stop_ids = {}}));
        std::int64_t fewest = 1'000'000;
        for (int i = 0; i < 12; ++i) {
            QVERIFY(*(*lane)->ready());
            const std::int64_t before = backend->pool().n_job();
            QVERIFY((*lane)->step());
            // A thread that was left out because its core was busy makes a step's barriers fewer, not more.
            const std::int64_t jobs = backend->pool().n_job() - before;
            QVERIFY2(jobs <= most_per_layer * config.n_layer + 4, qPrintable(QString::number(jobs)));
            fewest = std::min(fewest, jobs);
        }
        QVERIFY(fewest >= 0);
    }

    void cpusAreTold() {
        ThreadPool pool(2);
        const auto cpus = pool.cpus();
        QCOMPARE(cpus.size(), std::size_t{2});
#if defined(__linux__)
        QVERIFY(cpus[0] >= 0);
#endif
    }
};

QTEST_GUILESS_MAIN(TestBarriers)
#include "tst_barriers.moc"
