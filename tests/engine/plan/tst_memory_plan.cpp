// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/model/preset.h"
#include "engine/model/weights.h"
#include "engine/plan/memory_plan.h"
#include "engine/plan/shape_reader.h"

using namespace decodescope;

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

PlanShape known(const char* name) {
    const auto shape = read_shape(std::string("known:") + name);
    return shape ? *shape : PlanShape{};
}

PlanRequest request_of(std::int64_t context, int batch = 1) {
    PlanRequest request;
    request.cache.dtype = DType::f16;
    request.batch = batch;
    request.context = context;
    return request;
}

}  // namespace

class MemoryPlanTest : public QObject {
    Q_OBJECT

private slots:
    void weights_by_type_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<double>("bits");  // of a matrix element
        QTest::newRow("f32") << "f32" << 32.0;
        QTest::newRow("f16") << "F16" << 16.0;
        QTest::newRow("bf16") << "bf16" << 16.0;
        QTest::newRow("int8") << "int8" << 8.5;  // 32 codes and a scale of 16 bits
        QTest::newRow("Q8_0") << "q8_0" << 8.5;
        QTest::newRow("int4") << "int4" << 4.5;
        QTest::newRow("Q4_0") << "Q4_0" << 4.5;
        QTest::newRow("Q4_K") << "Q4_K" << 4.5;
        QTest::newRow("Q6_K") << "q6_k" << 6.5625;
        QTest::newRow("Q2_K") << "q2_k" << 2.625;
    }
    void weights_by_type() {
        QFETCH(const QString, type);
        QFETCH(const double, bits);
        const PlanShape shape = known("llama-2-7b");
        const auto kind = stored_type(type.toStdString());
        QVERIFY2(kind, kind ? "" : kind.error().message.c_str());
        // 65 norms of 4096 stay in F32 where matrices have blocks.
        constexpr std::int64_t norms = 65 * 4096;
        const std::int64_t matrices = 6'738'415'616 - norms;
        const double norm_bits = kind->block_elements > 1 ? 32.0 : bits;
        QCOMPARE(static_cast<double>(weight_bytes(shape, *kind)),
                 (static_cast<double>(matrices) * bits + static_cast<double>(norms) * norm_bits) / 8);
    }

    void rows_end_in_whole_blocks() {
        PlanShape shape = known("gpt2-xl");  // rows of 1600 are 6.25 blocks of 256
        const auto kind = stored_type("Q4_K");
        QVERIFY(kind);
        const std::int64_t embedding = std::int64_t{50'257 + 1024} * 7 * 144;
        shape.n_layer = 0;
        QCOMPARE(weight_bytes(shape, *kind), embedding + 2 * 1600 * 4);
    }

    void unknown_types_are_refused_data() {
        QTest::addColumn<QString>("type");
        for (const char* type : {"", "f64", "i8", "q8_k", "int2", "Q4_0 ", "bfloat"})
            QTest::newRow(type) << type;
    }
    void unknown_types_are_refused() {
        QFETCH(const QString, type);
        const auto kind = stored_type(type.toStdString());
        QVERIFY(!kind);
        QVERIFY(QString::fromStdString(kind.error().message)
                    .contains("is not a type of weights, expected one of F32,"));
    }

    void the_engines_own_weights_are_exact_data() {
        QTest::addColumn<QString>("preset");
        for (const char* preset : {"tiny", "one-block", "tiny-llama"}) QTest::newRow(preset) << preset;
    }
    void the_engines_own_weights_are_exact() {
        QFETCH(const QString, preset);
        const auto config = preset_config(preset.toStdString());
        QVERIFY(config);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto weights = allocate_weights(*config, ledger);
        QVERIFY(weights);
        QCOMPARE(engine_weight_bytes(plan_shape(*config, "")),
                 static_cast<std::int64_t>(ledger->live(Owner::weights)));
    }

    void prepared_matrices_are_planned_data() {
        QTest::addColumn<QString>("model");
        for (const char* model :
             {"preset:tiny", "preset:tiny-llama", "known:llama-2-7b", "known:llama-3-70b", "known:gpt2-xl"})
            QTest::newRow(model) << model;
    }
    /// Beside the weights, one copy of every matrix and the head for each type; what is only looked up is
    /// not.
    void prepared_matrices_are_planned() {
        QFETCH(const QString, model);
        const auto shape = read_shape(model.toStdString());
        QVERIFY(shape);
        PlanRequest request = request_of(16);
        const auto plain = plan_memory(*shape, request);
        QVERIFY(plain);
        QCOMPARE(plain->prepared, std::int64_t{0});
        request.prepared = {WeightType::f32, WeightType::int4};
        const auto both = plan_memory(*shape, request);
        QVERIFY(both);
        const std::int64_t f32 = prepared_weight_bytes(*shape, WeightType::f32);
        const std::int64_t int4 = prepared_weight_bytes(*shape, WeightType::int4);
        QCOMPARE(both->prepared, f32 + int4);
        QCOMPARE(both->weights, plain->weights + f32 + int4);
        // Products with prepared weights need other scratch.
        QCOMPARE(both->tensors() - both->workspace, plain->tensors() - plain->workspace + f32 + int4);
        // The models' widths are whole panels and pairs of groups, but for vocabularies, so that the
        // parameters tell it: embeddings of positions and, untied, of tokens are left out, norms and biases
        // are little.
        std::int64_t multiplied = shape->n_parameter();
        if (!shape->tied) multiplied -= std::int64_t{shape->vocab} * shape->d_model;
        if (shape->learned_positions) multiplied -= std::int64_t{shape->n_positions} * shape->d_model;
        if (shape->d_model < 1000) return;
        QVERIFY(std::abs(static_cast<double>(f32) / 4 / static_cast<double>(multiplied) - 1) < 1e-3);
        QVERIFY(std::abs(static_cast<double>(int4) * 2 / static_cast<double>(multiplied) - 1.125) < 2e-2);
        // Other programs' weights are planned as they are.
        request.weights = *stored_type("f16");
        const auto other = plan_memory(*shape, request);
        QVERIFY(other);
        QCOMPARE(other->prepared, std::int64_t{0});
    }

    void capacity_is_what_is_left() {
        const PlanShape shape = known("llama-3-70b");
        PlanRequest request = request_of(4096);
        request.weights = *stored_type("bf16");
        request.memory = 160 * gib;
        request.reserve = 4 * gib;
        const auto plan = plan_memory(shape, request);
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->weights, std::int64_t{141'107'412'992});
        QCOMPARE(plan->kv_per_request, std::int64_t{1'342'177'280});
        QCOMPARE(plan->left_for_kv, 156 * gib - plan->weights - plan->work());
        QCOMPARE(plan->fitting_requests, plan->left_for_kv / 1'342'177'280);
        QCOMPARE(plan->fitting_context, std::int64_t{8192});
        QVERIFY(plan->limited_by_positions);
        QCOMPARE(plan->logits, std::int64_t{128'256 * 4});

        request.batch = 30;
        request.prefill_chunk = 16;
        const auto many = plan_memory(shape, request);
        QVERIFY(many);
        QVERIFY(many->fitting_context < 8192);
        QVERIFY(!many->limited_by_positions);
        const std::int64_t per_token = 30 * 327'680;
        QVERIFY(many->fitting_context * per_token <= many->left_for_kv);
        QVERIFY((many->fitting_context + 1) * per_token > many->left_for_kv);

        request.memory = 100 * gib;
        const auto none = plan_memory(shape, request);
        QVERIFY(none);
        QVERIFY(none->left_for_kv < 0);
        QCOMPARE(none->fitting_requests, std::int64_t{0});
        QCOMPARE(none->fitting_context, std::int64_t{0});
    }

    void the_map_says_what_fits() {
        PlanRequest request = request_of(1024);
        request.weights = *stored_type("f16");
        request.memory = 4 * gib;
        const auto plan = plan_memory(known("gpt2-xl"), request);
        QVERIFY(plan);
        QVERIFY(!plan->map.empty());
        bool some_fit = false;
        bool some_do_not = false;
        for (const PlanCell& cell : plan->map) {
            QCOMPARE(cell.kv_reserved, cell.batch * cell.context * 307'200);
            QVERIFY(cell.total > plan->weights + cell.kv_reserved);
            QCOMPARE(cell.fits, cell.total <= 4 * gib);
            some_fit = some_fit || cell.fits;
            some_do_not = some_do_not || !cell.fits;
        }
        QVERIFY(some_fit && some_do_not);
        // Also of a model with few positions there are contexts to choose from, up to all of them.
        std::vector<std::int64_t> contexts;
        for (const PlanCell& cell : plan->map)
            if (cell.batch == plan->map.front().batch) contexts.push_back(cell.context);
        QCOMPARE(contexts, (std::vector<std::int64_t>{64, 128, 256, 512, 1024}));
        request.memory = 0;
        const auto unknown = plan_memory(known("gpt2-xl"), request);
        QVERIFY(unknown);
        QVERIFY(unknown->map.empty());
    }

    void ends_of_huge_pages_are_counted_where_there_are_any() {
        const auto shape = read_shape("demo");
        QVERIFY(shape);
        PlanRequest request = request_of(1024);
        request.threads = 1;
        const auto with = plan_memory(*shape, request);
        request.huge_pages = false;
        const auto without = plan_memory(*shape, request);
        QVERIFY(with && without);
        QCOMPARE(without->total(), without->tensors());
        QVERIFY(with->page_rounding > 0);
        // What is larger than a huge page lies on whole ones, the rest on the heap.
        QCOMPARE((with->total() - with->heap_tensors) % (2 << 20), std::int64_t{0});
        QCOMPARE(with->tensors(), without->tensors());
    }

    void every_cache_kind_can_be_planned_for_every_known_model() {
        for (const char* name :
             {"gpt2-small", "mistral-7b", "gemma-3-27b", "deepseek-v3", "falcon-7b", "qwen3-30b-a3b"}) {
            for (const CacheKind kind : {CacheKind::concat, CacheKind::static_, CacheKind::paged,
                                         CacheKind::int8, CacheKind::kivi}) {
                const PlanShape shape = known(name);
                if (kind == CacheKind::kivi && shape.latent > 0) continue;
                PlanRequest request = request_of(1000, 3);
                request.cache.kind = kind;
                request.memory = 64 * gib;
                request.weights = *stored_type("int4");
                const auto plan = plan_memory(shape, request);
                QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
                QVERIFY(plan->kv.reserved >= plan->kv.live);
                QVERIFY(plan->kv.live > 0);
                // Slack of the last block of each request.
                if (kind == CacheKind::paged)
                    QCOMPARE(plan->kv.reserved - plan->kv.live, 3 * 8 * plan->kv.per_token);
            }
        }
    }

    void what_makes_no_sense_is_refused_data() {
        QTest::addColumn<qint64>("context");
        QTest::addColumn<qint64>("tokens");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("no context") << qint64{0} << qint64{1}
                                    << "Plan: 1 new tokens leave no prompt in a context of 0";
        QTest::newRow("no prompt") << qint64{8} << qint64{9}
                                   << "Plan: 9 new tokens leave no prompt in a context of 8";
        QTest::newRow("positions")
            << qint64{1025} << qint64{1}
            << "Plan: a context of 1025 tokens is beyond the 1024 positions of gpt2-small.";
        QTest::newRow("huge") << (qint64{1} << 25) << qint64{1}
                              << "Plan: a context of 33554432 tokens is longer than 16777216.";
    }
    void what_makes_no_sense_is_refused() {
        QFETCH(const qint64, context);
        QFETCH(const qint64, tokens);
        PlanRequest request = request_of(context);
        request.new_tokens = tokens;
        const auto plan = plan_memory(known("gpt2-small"), request);
        QVERIFY(!plan);
        QFETCH(const QString, sentence);
        QVERIFY2(QString::fromStdString(plan.error().message).startsWith(sentence),
                 plan.error().message.c_str());
    }

    void calls_that_no_machine_could_make_are_refused() {
        PlanShape shape = known("llama-3.1-405b");
        shape.n_positions = 0;
        const auto plan = plan_memory(shape, request_of(1 << 24, 65'536));
        QVERIFY(!plan);
        QCOMPARE(QString::fromStdString(plan.error().message),
                 QString("Plan: a call of that many tokens would need more than 10^18 bytes."));
    }

    void this_machine_has_memory() { QVERIFY(available_memory() > 0); }
};

QTEST_APPLESS_MAIN(MemoryPlanTest)
#include "tst_memory_plan.moc"
