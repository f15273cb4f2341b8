// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

#include "engine/core/random.h"
#include "tests/engine/verify/foreign_decoder.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// Distinct token ids.
Ids ids(int n, std::uint64_t stream = 1) {
    Ids out;
    for (std::uint64_t i = 0; static_cast<int>(out.size()) < n; ++i) {
        const auto id = static_cast<std::int32_t>(random_bits(7, stream, i) % 64);
        if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
    }
    return out;
}

Ids part(const Ids& from, int begin, int end) {
    return {from.begin() + begin, from.begin() + end};
}

Ids padded_left(const Ids& row, int width) {
    Ids out(static_cast<std::size_t>(width) - row.size(), -1);
    out.insert(out.end(), row.begin(), row.end());
    return out;
}

Ids padded_right(Ids row, int width) {
    row.resize(static_cast<std::size_t>(width), -1);
    return row;
}

void renumber(std::vector<std::int32_t>& positions, int first) {
    std::iota(positions.begin(), positions.end(), first);
}

/// Query `q` of a call over `held` slots sees slots 0 .. `last(q)`.
auto sees_up_to(std::function<int(int)> last) {
    return [last](int, int q, std::vector<SlotRange>& visible) { visible = {{0, last(q) + 1}}; };
}

}  // namespace

/// The cases of the notes on KV cache faults, played by a foreign decoder and judged through the trace.
class TestDiagnoseCases : public QObject {
    Q_OBJECT

    struct Case {
        LaneFixture fixture;
        ForeignDecoder decoder;
        explicit Case(const char* preset, int batch = 1, int capacity = 64, int window = 0)
            : fixture(64, preset),
              decoder(weights(fixture, window), *fixture.backend, fixture.ledger, batch, capacity) {}
        static std::shared_ptr<const Weights> weights(LaneFixture& fixture, int window) {
            if (window == 0) return fixture.weights;
            ModelConfig config = fixture.weights->config;
            config.window = window;
            return lively_weights(config, 5, fixture.ledger);
        }
        Verdict verdict() {
            const auto found = decoder.diagnose();
            if (!found) throw std::runtime_error(found.error().message);
            return *found;
        }
    };

    static void both_families(bool statements = true) {
        QTest::addColumn<QByteArray>("preset");
        QTest::addColumn<bool>("stated");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            QTest::addRow("%s, everything stated", preset) << QByteArray(preset) << true;
            if (statements)
                QTest::addRow("%s, tokens and logits alone", preset) << QByteArray(preset) << false;
        }
    }
    static void expect(Case& c, bool stated, VerdictWord word, std::optional<FaultKind> kind = {},
                       int call = -1, int row = -1) {
        if (!stated) c.decoder.state_only_tokens();
        const Verdict verdict = c.verdict();
        const QByteArray said = told(verdict).toUtf8();
        QVERIFY2(verdict.word == word, said.constData());
        if (kind) QVERIFY2(verdict.kind == kind, said.constData());
        if (call >= 0) QVERIFY2(verdict.first.call == call, said.constData());
        if (row >= 0) QVERIFY2(verdict.first.row == row, said.constData());
    }

    /// The masks of a program that hides the pads of the first call, and nothing else.
    static void state_masks(Case& c) {
        const TraceCall& first = c.decoder.trace.calls.front();
        for (TraceCall& call : c.decoder.trace.calls) {
            call.mask_columns = static_cast<int>(call.cache_length_before[0]) + call.width;
            for (int b = 0; b < call.batch; ++b) {
                for (int i = 0; i < call.mask_columns; ++i)
                    call.attention_mask.push_back(
                        i >= first.width || first.real[static_cast<std::size_t>(b * first.width + i)] != 0);
            }
        }
    }

private slots:
    void s1Control_data() { both_families(); }
    void s1Control() {
        QFETCH(QByteArray, preset);
        QFETCH(bool, stated);
        const Ids text = ids(13);
        for (const std::vector<int>& sizes :
             {std::vector<int>{7, 1, 1, 1, 1, 1, 1}, {5, 3, 1, 4}, std::vector<int>(13, 1)}) {
            Case c(preset);
            c.decoder.trace.texts["A"] = {text, 7};
            int at = 0;
            for (const int n : sizes) {
                c.decoder.feed(part(text, at, at + n), {.requests = {"A"}, .text_start = {at}});
                at += n;
            }
            QCOMPARE(c.decoder.cache().length(), 13);
            expect(c, stated, VerdictWord::equal);
        }
    }
    void s1Counts() {
        // 6 new tokens: the last one is never fed.
        const Ids text = ids(13);
        for (const bool cached : {false, true}) {
            Case c("tiny");
            c.decoder.trace.texts["A"] = {text, 7};
            for (int n = 7; n < 13; ++n) {
                const int from = cached && n > 7 ? n - 1 : 0;
                c.decoder.feed(part(text, from, n),
                               {.requests = {"A"}, .text_start = {from}, .without_cache = !cached});
            }
            std::int64_t forwarded = 0;
            for (const TraceCall& call : c.decoder.trace.calls) forwarded += std::ssize(call.input_ids);
            QCOMPARE(forwarded, cached ? 12 : 57);
            if (cached) QCOMPARE(c.decoder.trace.calls.back().cache_length_after[0], std::int64_t{12});
            expect(c, true, VerdictWord::equal);
        }
    }

    void s2PositionRestart_data() { both_families(); }
    void s2PositionRestart() {
        QFETCH(QByteArray, preset);
        QFETCH(bool, stated);
        const Ids text = ids(20);
        const ForeignCall restart{.positions = [](auto& positions) { renumber(positions, 0); }};
        for (const int width : {1, 5}) {
            Case c(preset);
            c.decoder.feed(part(text, 0, 7));
            for (int at = 7; at + width <= 17; at += width)
                c.decoder.feed(part(text, at, at + width), restart);
            expect(c, stated, VerdictWord::fault, FaultKind::position, 1, 0);
            const Verdict verdict = c.verdict();
            QCOMPARE(verdict.first.column, 0);
            QCOMPARE(QString::fromStdString(verdict.expected), QString("position 7"));
            QCOMPARE(QString::fromStdString(verdict.found), QString("position 0"));
            QCOMPARE(verdict.certainty, Certainty::certain);
        }
    }

    void s3UpperLeftMask_data() { both_families(); }
    void s3UpperLeftMask() {
        QFETCH(QByteArray, preset);
        QFETCH(bool, stated);
        const Ids text = ids(20);
        for (const int width : {1, 5}) {
            Case c(preset);
            c.decoder.feed(part(text, 0, 7));
            c.decoder.feed(part(text, 7, 7 + width), {.see = sees_up_to([](int q) { return q; })});
            // Right again, and still wrong: what was stored is.
            c.decoder.feed(part(text, 7 + width, 8 + width));
            expect(c, stated, VerdictWord::fault, FaultKind::mask, 1, 0);
            const Verdict verdict = c.verdict();
            QCOMPARE(QString::fromStdString(verdict.expected), QString("8 keys from 0 to 7 visible"));
            QCOMPARE(QString::fromStdString(verdict.found), QString("only key 0 visible"));
        }
    }

    void s4MaskForgottenOnAppend_data() { both_families(); }
    void s4MaskForgottenOnAppend() {
        QFETCH(QByteArray, preset);
        QFETCH(bool, stated);
        const Ids text = ids(20);
        {
            Case c(preset);
            c.decoder.feed(part(text, 0, 7));
            for (int at = 7; at < 13; ++at)
                c.decoder.feed(part(text, at, at + 1), {.see = sees_up_to([at](int) { return at; })});
            expect(c, stated, VerdictWord::equal);
        }
        Case c(preset);
        c.decoder.feed(part(text, 0, 7));
        c.decoder.feed(part(text, 7, 12), {.see = sees_up_to([](int) { return 11; })});
        expect(c, stated, VerdictWord::fault, FaultKind::mask, 1, 0);
        QVERIFY(c.verdict().found.find("12 keys from 0 to 11") != std::string::npos);
    }

    void s5LeftPadSlotPositions_data() { both_families(); }
    void s5LeftPadSlotPositions() {
        QFETCH(QByteArray, preset);
        QFETCH(bool, stated);
        const Ids a = ids(7, 1);
        const Ids b = ids(11, 2);
        Case c(preset, 2);
        const auto slots_used = [](int first) {
            return [first](std::vector<std::int32_t>& positions) {
                const auto n = positions.size() / 2;
                for (std::size_t i = 0; i < positions.size(); ++i)
                    positions[i] = first + static_cast<std::int32_t>(i % n);
            };
        };
        c.decoder.call({.rows = {padded_left(part(a, 0, 3), 7), part(b, 0, 7)},
                        .requests = {"A", "B"},
                        .positions = slots_used(0)});
        for (int i = 0; i < 4; ++i)
            c.decoder.call(
                {.rows = {{a[3 + i]}, {b[7 + i]}}, .requests = {"A", "B"}, .positions = slots_used(7 + i)});
        if (preset == "tiny") {
            expect(c, stated, VerdictWord::fault, FaultKind::padding, 0, 0);
            const Verdict verdict = c.verdict();
            QCOMPARE(QString::fromStdString(verdict.expected), QString("position 0"));
            QCOMPARE(QString::fromStdString(verdict.found), QString("position 4"));
        } else if (stated) {
            // Rotary positions do not see a shift of a whole row.
            expect(c, stated, VerdictWord::harmless, FaultKind::padding, 0, 0);
        } else {
            expect(c, stated, VerdictWord::equal);
        }
    }

    void s6PaddingMaskLost_data() { both_families(); }
    void s6PaddingMaskLost() {
        QFETCH(QByteArray, preset);
        QFETCH(bool, stated);
        const Ids a = ids(7, 1);
        const Ids b = ids(11, 2);
        Case c(preset, 2);
        c.decoder.call({.rows = {padded_left(part(a, 0, 3), 7), part(b, 0, 7)}, .requests = {"A", "B"}});
        c.decoder.trace.calls[0].mask_columns = 7;
        c.decoder.trace.calls[0].attention_mask = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        for (int i = 0; i < 4; ++i) {
            c.decoder.call({.rows = {{a[3 + i]}, {b[7 + i]}},
                            .requests = {"A", "B"},
                            .see = sees_up_to([i](int) { return 7 + i; })});
            c.decoder.trace.calls.back().mask_columns = 8 + i;
            c.decoder.trace.calls.back().attention_mask.assign(static_cast<std::size_t>(2 * (8 + i)), 1);
        }
        expect(c, stated, VerdictWord::fault, FaultKind::padding, 1, 0);
        if (stated) {
            QCOMPARE(QString::fromStdString(c.verdict().expected), QString("0 pads visible"));
            QCOMPARE(QString::fromStdString(c.verdict().found), QString("4 pads visible"));
        }
    }

    void s7RightPadding_data() { both_families(); }
    void s7RightPadding() {
        QFETCH(QByteArray, preset);
        QFETCH(bool, stated);
        const Ids a = ids(3, 1);
        const Ids b = ids(7, 2);
        for (const bool right : {true, false}) {
            Case c(preset, 2);
            c.decoder.call({.rows = {padded_right(a, 7), b},
                            .requests = {"A", "B"},
                            .columns = right ? std::vector<int>{2, 6} : std::vector<int>{6, 6}});
            if (right) {
                expect(c, stated, VerdictWord::equal);
            } else if (stated) {
                expect(c, stated, VerdictWord::fault, FaultKind::padding, 0, 0);
                QCOMPARE(QString::fromStdString(c.verdict().expected), QString("read at column 2"));
                QCOMPARE(QString::fromStdString(c.verdict().found), QString("read at column 6, a pad"));
            }
        }
    }

    void s8SharedAcrossRequests_data() { both_families(false); }
    void s8SharedAcrossRequests() {
        QFETCH(QByteArray, preset);
        QFETCH(bool, stated);
        const Ids a = ids(9, 1);
        const Ids b = ids(5, 2);
        Case c(preset);
        c.decoder.trace.texts["A"] = {a, 9};
        c.decoder.trace.texts["B"] = {b, 5};
        c.decoder.feed(a, {.requests = {"A"}, .text_start = {0}});
        c.decoder.feed(b, {.requests = {"B"}, .text_start = {0}});
        c.decoder.feed(a, {.requests = {"A"}, .text_start = {0}});
        expect(c, stated, VerdictWord::fault, FaultKind::isolation, 1, 0);
        const Verdict verdict = c.verdict();
        QCOMPARE(QString::fromStdString(verdict.expected), QString("0 entries"));
        QCOMPARE(QString::fromStdString(verdict.found), QString("9 entries"));
        QCOMPARE(verdict.first.column, 0);
        // The second A is not the first.
        const auto said =
            std::find_if(verdict.evidence.begin(), verdict.evidence.end(),
                         [](const VerdictEvidence& item) { return item.claim == "repeatability"; });
        QVERIFY(said != verdict.evidence.end() && !said->held);
    }

    void s9Rollback_data() {
        QTest::addColumn<QByteArray>("preset");
        QTest::addColumn<int>("kept");
        QTest::addColumn<bool>("counter");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            for (const int kept : {7, 10, 8, 6})
                QTest::addRow("%s, keeps %d", preset, kept) << QByteArray(preset) << kept << true;
            QTest::addRow("%s, position 7 but 10 entries", preset) << QByteArray(preset) << 10 << false;
        }
    }
    void s9Rollback() {
        QFETCH(QByteArray, preset);
        QFETCH(int, kept);
        QFETCH(bool, counter);
        const Ids text = ids(10, 1);
        const Ids drafts = ids(13, 3);
        Case c(preset);
        c.decoder.trace.texts["A"] = {text, 6};
        c.decoder.feed(part(text, 0, 6), {.requests = {"A"}, .text_start = {0}});
        // The pending token and three drafts, none of which holds.
        c.decoder.feed({text[6], drafts[10], drafts[11], drafts[12]},
                       {.requests = {"A"}, .text_start = {6}, .accepted = {0}});
        QVERIFY(c.decoder.cache().truncate(0, kept));
        for (int i = 7; i < 9; ++i) {
            ForeignCall call{.requests = {"A"}, .text_start = {i}};
            if (!counter) call.positions = [i](auto& positions) { positions[0] = i; };
            c.decoder.feed({text[static_cast<std::size_t>(i)]}, call);
        }
        if (kept == 7) return expect(c, true, VerdictWord::equal);
        expect(c, true, VerdictWord::fault, FaultKind::rollback, 2, 0);
        QCOMPARE(QString::fromStdString(c.verdict().expected), QString("7 entries"));
        QCOMPARE(QString::fromStdString(c.verdict().found), QString("%1 entries").arg(kept));
    }

    void s10SlidingWindow_data() {
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("first");
        QTest::newRow("right") << 6 << -1;
        QTest::newRow("ignored") << 64 << 6;
        QTest::newRow("one too wide") << 7 << 6;
        QTest::newRow("one too narrow") << 5 << 5;
    }
    void s10SlidingWindow() {
        QFETCH(int, width);
        QFETCH(int, first);
        const Ids text = ids(12);
        for (const bool stated : {true, false}) {
            Case c("tiny-llama", 1, 64, 6);
            c.decoder.feed(part(text, 0, 4));
            for (int at = 4; at < 12; ++at) {
                c.decoder.feed({text[static_cast<std::size_t>(at)]},
                               {.see = [at, width](int, int, std::vector<SlotRange>& visible) {
                                   visible = {{std::max(0, at + 1 - width), at + 1}};
                               }});
            }
            if (first < 0) {
                expect(c, stated, VerdictWord::equal);
                continue;
            }
            expect(c, stated, VerdictWord::fault, FaultKind::window, first - 3, 0);
            QVERIFY(c.verdict().expected.starts_with(fmt::format("6 keys from {}", first - 5)) || first == 5);
        }
    }

    void s11PromptReprocessed() {
        const Ids text = ids(23);
        Case c("tiny");
        c.decoder.trace.texts["A"] = {text, 10};
        std::int64_t held = 0;
        // Everything is fed again, and stored for nothing.
        for (int n = 10; n < 18; ++n) {
            c.decoder.feed(part(text, 0, n), {.requests = {"A"}, .text_start = {0}, .fresh_cache = true});
            c.decoder.trace.calls.back().cache_length_before[0] = held;
            held = n;
        }
        expect(c, true, VerdictWord::fault, FaultKind::cost);
        QCOMPARE(QString::fromStdString(c.verdict().expected), QString("17 tokens"));
        QCOMPARE(QString::fromStdString(c.verdict().found), QString("108 tokens"));
    }
    void s11SecondTurn() {
        // 10 + 8 + 5 tokens, of which 17 are stored: the last generated one was never fed.
        const Ids text = ids(23);
        Case c("tiny-llama");
        c.decoder.trace.texts["A"] = {text, 10};
        c.decoder.feed(part(text, 0, 10), {.requests = {"A"}, .text_start = {0}});
        for (int at = 10; at < 17; ++at)
            c.decoder.feed({text[static_cast<std::size_t>(at)]}, {.requests = {"A"}, .text_start = {at}});
        c.decoder.feed(part(text, 17, 23), {.requests = {"A"}, .text_start = {17}});
        QCOMPARE(c.decoder.trace.calls.back().width, 6);
        expect(c, true, VerdictWord::equal);
    }

    void s12Capacity() {
        const Ids text = ids(18);
        {
            // 10 + 7 - 1 entries fit; the next one is refused.
            Case c("tiny", 1, 16);
            c.decoder.feed(part(text, 0, 10));
            for (int at = 10; at < 17; ++at) c.decoder.feed({text[static_cast<std::size_t>(at)]});
            QVERIFY(!c.decoder.trace.calls.back().error.empty());
            c.decoder.trace.calls.back().cache_capacity = 16;
            expect(c, true, VerdictWord::equal);
        }
        {
            // Cropped silently: the loop without a cache feeds the newest 16.
            Case c("tiny-llama");
            c.decoder.trace.texts["A"] = {text, 10};
            for (int n = 10; n < 19; ++n) {
                const int from = std::max(0, n - 16);
                c.decoder.feed(part(text, from, n),
                               {.requests = {"A"}, .text_start = {from}, .without_cache = true});
            }
            expect(c, true, VerdictWord::fault, FaultKind::capacity, 7, 0);
        }
        {
            // A 17th entry in a cache for 16.
            Case c("tiny", 1, 64);
            c.decoder.feed(part(text, 0, 10));
            for (int at = 10; at < 17; ++at) c.decoder.feed({text[static_cast<std::size_t>(at)]});
            for (TraceCall& call : c.decoder.trace.calls) call.cache_capacity = 16;
            expect(c, true, VerdictWord::fault, FaultKind::capacity, 7, 0);
        }
    }

    void s13Bytes_data() {
        QTest::addColumn<int>("layers");
        QTest::addColumn<int>("d_model");
        QTest::addColumn<int>("heads");
        QTest::addColumn<int>("kv_heads");
        QTest::addColumn<int>("width");
        QTest::addColumn<qint64>("bytes");
        QTest::addColumn<QString>("expected");
        QTest::newRow("as it should be") << 22 << 2048 << 32 << 4 << 64 << qint64{46'137'344} << "";
        QTest::newRow("query heads") << 22 << 2048 << 32 << 4 << 64 << qint64{180'224} * 2048
                                     << "46137344 bytes for 2048 entries in 2 bytes each";
        QTest::newRow("wide heads") << 28 << 1024 << 16 << 8 << 128 << qint64{114'688} * 2048 << "";
        QTest::newRow("hidden / heads") << 28 << 1024 << 16 << 8 << 128 << qint64{57'344} * 2048
                                        << "234881024 bytes for 2048 entries in 2 bytes each";
    }
    void s13Bytes() {
        QFETCH(int, layers);
        QFETCH(int, d_model);
        QFETCH(int, heads);
        QFETCH(int, kv_heads);
        QFETCH(int, width);
        QFETCH(qint64, bytes);
        QFETCH(QString, expected);
        // Bytes and lengths alone: no weights are needed, and no logits are there.
        ModelConfig config = *preset_config("tiny-llama");
        config.n_layer = layers;
        config.d_model = d_model;
        config.n_head = heads;
        config.n_kv_head = kv_heads;
        config.head_dim = width;
        config.n_positions = 4096;
        Weights weights;
        weights.config = config;
        Trace trace;
        TraceCall& call = trace.calls.emplace_back();
        call.batch = 1;
        call.width = 2048;
        for (int i = 0; i < 2048; ++i) call.input_ids.push_back(i % 64);
        call.cache_length_before = {0};
        call.cache_length_after = {2048};
        call.cache_bytes = bytes;
        const auto backend = make_cpu_backend(1);
        const auto verdict = diagnose(trace, std::make_shared<const Weights>(std::move(weights)), *backend,
                                      std::make_shared<MemoryLedger>());
        QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
        const QByteArray said = told(*verdict).toUtf8();
        if (expected.isEmpty()) {
            QVERIFY2(verdict->word == VerdictWord::equal, said.constData());
            return;
        }
        QVERIFY2(verdict->word == VerdictWord::fault && verdict->kind == FaultKind::cost, said.constData());
        QCOMPARE(QString::fromStdString(verdict->expected), expected);
    }
};

QTEST_APPLESS_MAIN(TestDiagnoseCases)
#include "tst_diagnose_cases.moc"
