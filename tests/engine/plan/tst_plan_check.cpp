// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/experiment/experiment.h"
#include "engine/formats/model_source.h"
#include "engine/plan/plan_check.h"
#include "engine/plan/shape_reader.h"
#include "tests/sanitized.h"

using namespace decodescope;

/// The plan beside a real run of it.
class PlanCheckTest : public QObject {
    Q_OBJECT

private slots:
    void plans_come_true_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("cache");
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("context");
        QTest::addColumn<int>("tokens");
        QTest::addColumn<int>("chunk");
        const auto row = [](const char* model, const char* cache, int batch, int context, int tokens,
                            int chunk = 0) {
            QTest::addRow("%s %s %dx%d", model, cache, batch, context)
                << QString(model) << QString(cache) << batch << context << tokens << chunk;
        };
        row("demo", "static", 1, 1024, 4);
        row("demo", "concat", 1, 300, 50);
        row("demo", "concat", 3, 200, 10, 60);
        row("demo", "f16", 4, 100, 8);
        row("demo", "paged", 2, 101, 8);
        row("demo", "window", 1, 200, 9, 20);
        row("demo", "int8", 3, 120, 8);
        row("demo", "kivi4", 2, 200, 8, 64);
        row("demo", "kivi2", 1, 150, 20);
        row("demo", "static+openblas", 1, 64, 9);
        row("demo", "static+weights-bf16", 1, 64, 9);
        row("demo", "paged+weights-int4", 2, 64, 9);
        row("preset:tiny-llama", "static", 1, 64, 9);
        row("preset:tiny-window", "window", 2, 60, 20);
    }
    void plans_come_true() {
        QFETCH(const QString, model);
        QFETCH(const QString, cache);
        QFETCH(const int, batch);
        QFETCH(const int, context);
        QFETCH(const int, tokens);
        QFETCH(const int, chunk);
        const auto shape = read_shape(model.toStdString());
        const auto ref = parse_model_ref(model.toStdString());
        const auto lane = lane_from_name(cache.toStdString());
        QVERIFY(shape && ref && lane);
        PlanRequest request;
        request.cache = lane->cache;
        if (lane->kernels == Kernels::packed) request.prepared = {lane->weights};
        if (request.cache.kind == CacheKind::window && shape->window == 0) request.window = {40, 4};
        if (shape->window > 0) request.window = {shape->window, 0};
        request.batch = batch;
        request.context = context;
        request.new_tokens = tokens;
        request.prefill_chunk = chunk;
        request.threads = 2;
        request.huge_pages = huge_pages_offered();
        const auto check = check_plan(*ref, *shape, request);
        QVERIFY2(check, check ? "" : check.error().message.c_str());
        QVERIFY(check->rows.size() >= 8);
        for (const CheckRow& row : check->rows) {
            if (row.wanted == CheckAgreement::exact)
                QVERIFY2(row.planned == row.measured, qPrintable(QString("%1: planned %2, measured %3")
                                                                     .arg(row.part.c_str())
                                                                     .arg(row.planned)
                                                                     .arg(row.measured)));
        }
        if (test::sanitized) return;
        for (const CheckRow& row : check->rows) {
            QVERIFY2(row.holds(), qPrintable(QString("%1: planned %2, measured %3")
                                                 .arg(row.part.c_str())
                                                 .arg(row.planned)
                                                 .arg(row.measured)));
        }
        std::int64_t sum = check->remainder;
        for (const MemoryLine& line : check->memory) sum += line.bytes;
        if (!check->memory.empty()) QCOMPARE(sum, check->rss);
        QVERIFY2(check->memory_is_explained(), qPrintable(QString::number(check->remainder)));
        QVERIFY(check->holds());
    }

    void a_wrong_plan_is_seen() {
        const CheckRow exact{"KV live", 100, 101, CheckAgreement::exact};
        QVERIFY(!exact.holds());
        const std::int64_t planned = std::int64_t{100} << 20;
        const auto within = [&](std::int64_t measured) {
            return CheckRow{"private memory", planned, measured, CheckAgreement::within_limit}.holds();
        };
        QVERIFY(within(planned + planned / 25));
        QVERIFY(within(planned - planned / 25));
        QVERIFY(!within(planned + planned / 15));
        QVERIFY(!within(planned - planned / 15));
        PlanCheck check;
        check.rows = {{"KV live", 100, 100, CheckAgreement::exact}};
        check.memory = {{"tensors", 1, ""}};
        check.rss = planned;
        check.remainder = planned / 25;
        QVERIFY(check.holds());
        check.remainder = planned / 15;
        QVERIFY(!check.holds());
        check.remainder = 0;
        check.rows.push_back(exact);
        QVERIFY(!check.holds());
    }

    void what_cannot_be_checked_is_refused() {
        const auto unknown = read_shape("known:deepseek-v3");
        QVERIFY(unknown);
        PlanRequest request;
        request.cache.kind = CacheKind::static_;
        request.context = 16;
        const auto check = check_plan({}, *unknown, request);
        QVERIFY(!check);
        QCOMPARE(QString::fromStdString(check.error().message),
                 QString("Plan: deepseek-v3 cannot be run by this program, so the plan cannot be checked."));
        const auto demo = read_shape("demo");
        QVERIFY(demo);
        request.batch = 60'000;
        request.context = 1024;
        const auto huge = check_plan({.path = "demo", .preset = {}, .seed = 0}, *demo, request);
        QVERIFY(!huge);
        QCOMPARE(huge.error().kind, ErrorKind::out_of_memory);
        QVERIFY(huge.error().message.find("are available here, so it is not run.") != std::string::npos);
        request.batch = 1;
        request.weights = *stored_type("int8");
        const auto other = check_plan({.path = "demo", .preset = {}, .seed = 0}, *demo, request);
        QVERIFY(!other);
        QVERIFY(other.error().message.find("so a plan for Q8_0 cannot be checked") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(PlanCheckTest)
#include "tst_plan_check.moc"
