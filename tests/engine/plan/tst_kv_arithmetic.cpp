// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <numeric>

#include "engine/cache/concat_cache.h"
#include "engine/measure/memory_map.h"
#include "engine/plan/kv_arithmetic.h"
#include "tests/engine/cache/cache_driver.h"

using namespace decodescope;

Q_DECLARE_METATYPE(decodescope::CacheSpec)

namespace {

PlanShape shape_of(int n_layer, int n_head, int n_kv_head, int head_dim) {
    PlanShape shape;
    shape.n_layer = n_layer;
    shape.n_head = n_head;
    shape.n_kv_head = n_kv_head;
    shape.key_dim = shape.value_dim = head_dim;
    return shape;
}

CacheSpec plain(DType dtype, CacheKind kind = CacheKind::static_) {
    CacheSpec cache;
    cache.kind = kind;
    cache.dtype = dtype;
    return cache;
}

PlanShape deepseek_v3() {
    PlanShape shape = shape_of(61, 128, 128, 192);
    shape.value_dim = 128;
    shape.latent = 512;
    shape.rope_dim = 64;
    return shape;
}

}  // namespace

/// KV bytes in closed form: published totals, and what the caches themselves report for the same content.
class KvArithmeticTest : public QObject {
    Q_OBJECT

private slots:
    void published_totals_hold_data() {
        QTest::addColumn<int>("case_number");
        QTest::addColumn<qint64>("tokens");
        QTest::addColumn<qint64>("per_token");
        QTest::addColumn<qint64>("total");
        QTest::newRow("one layer, 4 heads x 8, f32") << 0 << qint64{128} << qint64{256} << qint64{32'768};
        QTest::newRow("Llama-3-70B, f16") << 1 << qint64{4096} << qint64{327'680} << qint64{1'342'177'280};
        QTest::newRow("GPT-2 XL, f16") << 2 << qint64{1024} << qint64{307'200} << qint64{314'572'800};
        QTest::newRow("DeepSeek-V3, MLA, 16 bits")
            << 3 << qint64{4096} << qint64{70'272} << qint64{287'834'112};
        QTest::newRow("S13: 4 of 32 heads, f16") << 4 << qint64{2048} << qint64{22'528} << qint64{46'137'344};
        QTest::newRow("S13: with query heads by mistake")
            << 5 << qint64{2048} << qint64{180'224} << qint64{369'098'752};
        QTest::newRow("S13: head_dim 128 of the file")
            << 6 << qint64{1} << qint64{114'688} << qint64{114'688};
        QTest::newRow("S13: hidden / heads by mistake") << 7 << qint64{1} << qint64{57'344} << qint64{57'344};
    }
    void published_totals_hold() {
        QFETCH(const int, case_number);
        QFETCH(const qint64, tokens);
        const PlanShape shapes[] = {shape_of(1, 4, 4, 8),     shape_of(80, 64, 8, 128),
                                    shape_of(48, 25, 25, 64), deepseek_v3(),
                                    shape_of(22, 32, 4, 64),  shape_of(22, 32, 32, 64),
                                    shape_of(28, 16, 8, 128), shape_of(28, 16, 8, 64)};
        const DType dtype = case_number == 0 ? DType::f32 : DType::f16;
        const auto bytes = kv_arithmetic(shapes[case_number], {.cache = plain(dtype), .length = tokens});
        QVERIFY(bytes);
        QTEST(qint64{bytes->per_token}, "per_token");
        QTEST(qint64{bytes->live}, "total");
        QTEST(qint64{bytes->reserved}, "total");
    }

    void a_latent_saves_what_was_published() {
        // Against keys of 128 + 64 and values of 128 in each of the 128 heads.
        const double full =
            static_cast<double>(deepseek_v3().with_attention(AttentionKind::mha).kv_elements());
        const double kept = static_cast<double>(deepseek_v3().kv_elements());
        QCOMPARE(full, 61.0 * 128 * (192 + 128));
        QCOMPARE(100.0 * (full - kept) / full, 98.59375);
    }

    void caches_report_the_same_data() {
        QTest::addColumn<CacheSpec>("cache");
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("prompt");
        QTest::addColumn<int>("steps");
        QTest::addColumn<int>("chunk");
        QTest::addColumn<int>("capacity");
        const auto row = [](const char* name, const CacheSpec& cache, int batch, int prompt, int steps,
                            int chunk = 0, int capacity = 0) {
            QTest::newRow(name) << cache << batch << prompt << steps << chunk << capacity;
        };
        row("concat f32", plain(DType::f32, CacheKind::concat), 1, 7, 5);
        row("concat f16, batch, chunks", plain(DType::f16, CacheKind::concat), 3, 20, 9, 6);
        row("concat, one token", plain(DType::bf16, CacheKind::concat), 1, 1, 0);
        row("static f32", plain(DType::f32), 2, 9, 4);
        row("static f16 with room", plain(DType::f16), 1, 9, 4, 0, 40);
        row("paged, whole blocks", plain(DType::f32, CacheKind::paged), 1, 32, 0);
        CacheSpec paged = plain(DType::bf16, CacheKind::paged);
        paged.block = 5;
        row("paged, slack", paged, 3, 11, 3);
        row("paged with room", paged, 2, 11, 3, 0, 33);
        paged.blocks = 40;
        row("paged, own pool", paged, 2, 11, 3);
        row("window", plain(DType::f32, CacheKind::window), 2, 4, 20);
        row("window, chunks", plain(DType::f16, CacheKind::window), 1, 30, 3, 8);
        row("window, not filled", plain(DType::f32, CacheKind::window), 1, 3, 1);
        CacheSpec cache;
        cache.kind = CacheKind::int8;
        row("int8", cache, 2, 13, 4);
        row("int8 with room", cache, 1, 13, 4, 0, 64);
        cache.kind = CacheKind::kivi;
        cache.group = 8;
        cache.residual = 8;
        row("kivi4", cache, 2, 30, 11);
        row("kivi4, chunks", cache, 1, 30, 11, 7);
        row("kivi4, nothing quantised yet", cache, 1, 10, 2);
        cache.bits = 2;
        cache.residual = 3;
        row("kivi2", cache, 1, 40, 25);
        row("kivi2 with room", cache, 2, 40, 5, 16, 100);
        cache.group = 32;
        row("kivi2, groups wider than a head", cache, 1, 90, 5);
    }
    void caches_report_the_same() {
        QFETCH(const CacheSpec, cache);
        QFETCH(const int, batch);
        QFETCH(const int, prompt);
        QFETCH(const int, steps);
        QFETCH(const int, chunk);
        QFETCH(const int, capacity);
        const Window window{6, 2};
        const int length = prompt + steps;
        const int max_call = chunk > 0 ? chunk : prompt;
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto made = make_cache(cache, {3, batch, 2, 16},
                                     {capacity > 0 ? capacity : length, max_call, 0, window}, ledger);
        QVERIFY(made);
        test::CacheDriver driver(**made);
        std::int32_t token = 0;
        const auto append = [&](int n) {
            test::Ids ids(static_cast<std::size_t>(n));
            std::iota(ids.begin(), ids.end(), token);
            token += n;
            return driver.append(std::vector<test::Ids>(static_cast<std::size_t>(batch), ids)).ok();
        };
        for (int done = 0; done < prompt; done += max_call)
            QVERIFY(append(std::min(max_call, prompt - done)));
        for (int i = 0; i < steps; ++i) QVERIFY(append(1));

        const auto planned =
            kv_arithmetic(shape_of(3, 4, 2, 16),
                          {cache, window, batch, length, std::int64_t{capacity}, std::int64_t{max_call}});
        QVERIFY2(planned, planned ? "" : planned.error().message.c_str());
        const KvBytes real = (*made)->bytes();
        QCOMPARE(planned->live, static_cast<std::int64_t>(real.live));
        QCOMPARE(planned->reserved, static_cast<std::int64_t>(real.reserved));
        QCOMPARE(planned->reserved, static_cast<std::int64_t>(ledger->live(Owner::kv)));
        QCOMPARE(planned->meta, static_cast<std::int64_t>(real.meta));
        if (cache.kind != CacheKind::concat) {
            QCOMPARE((*made)->copied_bytes(), std::uint64_t{0});
            QCOMPARE(planned->peak, planned->reserved);
            return;
        }
        QCOMPARE(static_cast<std::int64_t>((*made)->copied_bytes()),
                 concat_copied_tokens(prompt, steps, chunk) * batch * planned->per_token);
        const auto* growing = dynamic_cast<const ConcatCache*>(made->get());
        QVERIFY(growing != nullptr);
        if (steps > 0) QCOMPARE(planned->peak, static_cast<std::int64_t>(growing->peak_bytes()));
    }

    void copying_of_gpt2_in_f16_is_4_5_gib() {
        // 400 tokens behind a prompt of 128. Each of 400 appends copies what is there ...
        constexpr std::int64_t per_token = 2 * 12 * 768 * 2;
        QCOMPARE(concat_copied_tokens(128, 400) * per_token, std::int64_t{4'829'184'000});
        // ... and a run makes 399, because the last token is never stored.
        constexpr std::int64_t expected = 4'809'756'672;
        QCOMPARE(concat_copied_tokens(128, 399) * per_token, expected);
        const auto gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
        QCOMPARE(qRound(10 * gib(4'829'184'000)), 45);
        QCOMPARE(qRound(10 * gib(expected)), 45);

        // The counter of a cache of that shape that really does it.
        const KvShape shape{12, 1, 12, 64};
        const auto cache = make_cache(plain(DType::f16, CacheKind::concat), shape, {527, 128, 0, {}},
                                      std::make_shared<MemoryLedger>());
        QVERIFY(cache);
        const std::vector<float> entries(128 * 768, 0.5f);
        const KeyValueBlock block{entries.data(), entries.data(), 768};
        CallTokens call;
        for (int stored = 0; stored < 527;) {
            const int n = stored == 0 ? 128 : 1;
            call.clear();
            call.add_row(std::vector<std::int32_t>(static_cast<std::size_t>(n), 7), stored);
            QVERIFY((*cache)->begin(call));
            for (int layer = 0; layer < shape.n_layer; ++layer) QVERIFY((*cache)->append(layer, block));
            QVERIFY((*cache)->commit());
            stored += n;
        }
        QCOMPARE(static_cast<std::int64_t>((*cache)->copied_bytes()), expected);
        QCOMPARE(static_cast<std::int64_t>((*cache)->bytes().live), 527 * per_token);
    }

    void the_system_sees_old_and_new_at_once() {
        // One layer of 16 MiB: while it grows, both of its tensors are resident twice.
        const KvShape shape{1, 1, 4, 64};
        const int length = 8192;
        const auto cache = make_cache(plain(DType::f32, CacheKind::concat), shape,
                                      {length + 1, length, 0, {}}, std::make_shared<MemoryLedger>());
        QVERIFY(cache);
        const std::vector<float> entries(static_cast<std::size_t>(length) * 256, 0.5f);
        const KeyValueBlock block{entries.data(), entries.data(), 256};
        const auto append = [&](int n) {
            CallTokens call;
            call.clear();
            call.add_row(std::vector<std::int32_t>(static_cast<std::size_t>(n), 7),
                         (*cache)->next_position());
            return (*cache)->begin(call).ok() && (*cache)->append(0, block).ok() && (*cache)->commit().ok();
        };
        QVERIFY(append(length));
        const auto steady = read_memory_map();
        QVERIFY(steady);
        if (!reset_peak_rss()) QSKIP("this system does not let the peak be reset");
        QVERIFY(append(1));
        const auto after = read_memory_map();
        QVERIFY(after);
        const auto held = static_cast<std::int64_t>((*cache)->bytes().live);
        const auto* growing = dynamic_cast<const ConcatCache*>(cache->get());
        QVERIFY(growing != nullptr);
        const std::int64_t transient = static_cast<std::int64_t>(growing->peak_bytes()) - held;
        QCOMPARE(transient, std::int64_t{length} * 2048);
        // Steady before and after; in between more by the old tensors.
        QVERIFY(std::abs(after->own() - steady->own()) < transient / 2);
        QVERIFY2(read_peak_rss() - after->rss > transient * 3 / 4,
                 qPrintable(QString("peak %1, after %2").arg(read_peak_rss()).arg(after->rss)));
    }

    void a_program_with_one_tensor_needs_old_and_new_at_once() {
        const auto bytes = kv_arithmetic(shape_of(12, 12, 12, 64),
                                         {.cache = plain(DType::f16, CacheKind::concat), .length = 528});
        QVERIFY(bytes);
        QCOMPARE(bytes->peak_of_one_tensor, (528 + 527) * std::int64_t{36'864});
        QCOMPARE(bytes->peak, 528 * std::int64_t{36'864} + 527 * std::int64_t{36'864} / 12);
    }

    void windows_of_some_layers_only_save_there() {
        // As Gemma 3 has it: 5 of 6 layers see 512 tokens.
        PlanShape shape = shape_of(26, 4, 1, 256);
        shape.window = 512;
        shape.n_window_layer = 22;
        const auto whole = kv_arithmetic(shape, {.cache = plain(DType::f16), .length = 32'768});
        const auto forgets = kv_arithmetic(
            shape, {.cache = plain(DType::f16, CacheKind::window), .length = 32'768, .max_call = 1});
        QVERIFY(whole && forgets);
        QCOMPARE(whole->live, std::int64_t{26 * 1024} * 32'768);
        QCOMPARE(forgets->live, std::int64_t{1024} * (4 * 32'768 + 22 * 512));
        QCOMPARE(tokens_in_window(100, {16, 4}), 20);
        QCOMPARE(tokens_in_window(18, {16, 4}), 18);
        QCOMPARE(tokens_in_window(18, {}), 18);
    }

    void what_cannot_be_held_is_refused_data() {
        QTest::addColumn<int>("case_number");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("kivi of a latent")
            << 0 << "Plan: a kivi cache quantises keys and values apart, but MLA keeps a latent of both.";
        QTest::newRow("kivi groups")
            << 1 << "Plan: groups of 24 channels do not divide head_dim = 64 into whole bytes.";
        QTest::newRow("window without a window")
            << 2 << "Plan: a window cache was asked for, but the model has no window; give one.";
        QTest::newRow("no tokens") << 3 << "Plan: got a batch of 1 with 0 tokens each, expected 1 to 1048576";
        QTest::newRow("room") << 4 << "Plan: 9 tokens do not fit a cache of 8.";
        QTest::newRow("overflow") << 5 << "Plan: the cache would need more than 10^18 bytes.";
        QTest::newRow("bits") << 6 << "Plan: got 3 bits, groups of 32 and a residual of 32, expected 2 or 4";
    }
    void what_cannot_be_held_is_refused() {
        QFETCH(const int, case_number);
        PlanShape shape = shape_of(2, 4, 2, 64);
        KvLoad load{.cache = plain(DType::f32), .length = 9};
        switch (case_number) {
            case 0: shape = deepseek_v3(); [[fallthrough]];
            case 6:
                load.cache.kind = CacheKind::kivi;
                if (case_number == 6) load.cache.bits = 3;
                break;
            case 1:
                load.cache.kind = CacheKind::kivi;
                load.cache.group = 24;
                break;
            case 2: load.cache.kind = CacheKind::window; break;
            case 3: load.length = 0; break;
            case 4: load.capacity = 8; break;
            default:
                shape.n_layer = 1000;
                load.batch = 1 << 20;
                load.length = std::int64_t{1} << 31;
        }
        const auto bytes = kv_arithmetic(shape, load);
        QVERIFY(!bytes);
        QFETCH(const QString, sentence);
        QVERIFY2(QString::fromStdString(bytes.error().message).startsWith(sentence),
                 bytes.error().message.c_str());
    }
};

QTEST_APPLESS_MAIN(KvArithmeticTest)
#include "tst_kv_arithmetic.moc"
