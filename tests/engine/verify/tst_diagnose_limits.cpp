// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "engine/verify/trace_recorder.h"
#include "tests/engine/verify/foreign_decoder.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

const Ids other_of_7{3, 1, 4, 15, 40, 41, 42};
const Ids text_of_13{3, 1, 4, 15, 9, 2, 6, 20, 21, 22, 23, 24, 25};

Ids part(const Ids& from, int begin, int end) {
    return {from.begin() + begin, from.begin() + end};
}

/// Takes what a program may not record out of a trace: the more, the higher the level.
void thin(Trace& trace, int level) {
    for (TraceCall& call : trace.calls) {
        call.position_ids.clear();
        call.cache_positions.clear();
        call.attention_mask.clear();
        call.mask_known = false;
        if (level < 1) continue;
        for (auto* counts : {&call.cache_length_before, &call.cache_length_after, &call.cache_seen_before,
                             &call.cache_seen_after})
            counts->clear();
        call.cache_bytes = call.cache_bytes_reserved = call.cache_capacity = std::nullopt;
        if (level < 2) continue;
        call.text_start.clear();
        call.accepted.clear();
        if (level >= 4) call.requests.clear();
    }
    if (level >= 3) trace.texts.clear();
}

/// A run of one request whose positions restart in every cached call.
void restart(ForeignDecoder& decoder) {
    decoder.feed(part(text_of_13, 0, 7));
    for (int at = 7; at < 12; ++at)
        decoder.feed(part(text_of_13, at, at + 1), {.positions = [](auto& ids) { ids[0] = 0; }});
}

void right(ForeignDecoder& decoder, bool cached = true) {
    for (int n = 7; n < 12; ++n) {
        const int from = cached && n > 7 ? n - 1 : 0;
        decoder.feed(part(text_of_13, from, n), {.without_cache = !cached});
    }
}

}  // namespace

/// What a trace does not decide, traces that know little, and two runs against each other.
class TestDiagnoseLimits : public QObject {
    Q_OBJECT

    static Verdict judge(ForeignDecoder& decoder) {
        auto verdict = decoder.diagnose();
        if (!verdict) qFatal("%s", verdict.error().message.c_str());
        return *verdict;
    }

private slots:
    // However little a right program records, it is not called faulty.
    void thinTracesOfRightRunsAreNoFaults_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("level");
        for (const char* name : {"naive", "static", "batch", "batch-right", "continuous", "speculative",
                                 "speculative-layers", "beam", "shared prefixes", "int8"}) {
            for (int level = 0; level <= 4; ++level)
                QTest::addRow("%s, level %d", name, level) << name << level;
        }
    }
    void thinTracesOfRightRunsAreNoFaults() {
        QFETCH(QString, name);
        QFETCH(int, level);
        for (const char* preset : {"tiny", "tiny-llama"}) {
            LaneFixture fixture(64, preset);
            LaneSpec spec = named(name == "shared prefixes" ? "continuous" : name.toStdString());
            if (name == "shared prefixes") {
                spec.cache.share_prefixes = true;
                spec.cache.block = 4;
                spec.max_rows = 1;
            }
            auto trace = record_trace(spec, work_of({prompt_of_7, prompt_of_3, repeating, other_of_7}, 5),
                                      {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger});
            QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
            thin(*trace, level);
            const auto verdict = diagnose(*trace, fixture.weights, *fixture.backend, fixture.ledger);
            QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
            QVERIFY2(verdict->word != VerdictWord::fault, qPrintable(told(*verdict)));
            // With the texts there is nothing to guess.
            if (level < 3 && !trace->texts.empty())
                QVERIFY2(verdict->word != VerdictWord::cannot_tell, qPrintable(told(*verdict)));
        }
    }

    void withoutTextsARunIsExactForWhatWasFed() {
        LaneFixture fixture;
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        decoder.feed(part(text_of_13, 0, 7));
        // The last token of the prompt once more: nobody says that this was not meant.
        decoder.feed({text_of_13[6]});
        Verdict verdict = judge(decoder);
        QCOMPARE(verdict.word, VerdictWord::equal);
        QVERIFY(QString::fromStdString(verdict.summary).startsWith("Exact for what was fed"));
        QCOMPARE(QString::fromStdString(verdict.next),
                 QString("Give `texts` to check that the right tokens were fed."));
        // The text says it.
        decoder.trace.texts["A"] = {text_of_13, 7};
        for (TraceCall& call : decoder.trace.calls) call.requests = {"A"};
        decoder.trace.calls[0].text_start = {0};
        decoder.trace.calls[1].text_start = {6};
        verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::fault && verdict.kind == FaultKind::content,
                 qPrintable(told(verdict)));
        QCOMPARE(QString::fromStdString(verdict.expected), QString("6 entries"));
        QCOMPARE(QString::fromStdString(verdict.found), QString("7 entries"));
    }

    void oneTokenAgainAndAgainTellsNothingOfRotaryPositions() {
        LaneFixture fixture(64, "tiny-llama");
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        decoder.feed(Ids(7, 5));
        for (int i = 0; i < 4; ++i) decoder.feed({5}, {.positions = [](auto& ids) { ids[0] = 0; }});
        Verdict verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::cannot_tell, qPrintable(told(verdict)));
        QCOMPARE(verdict.kind, std::optional(FaultKind::position));
        QVERIFY(!verdict.next.empty());
        decoder.state_only_tokens();
        verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::cannot_tell, qPrintable(told(verdict)));
        QCOMPARE(QString::fromStdString(verdict.next), QString("Run it with a text of different tokens."));
    }

    void oneLayerAndLastRowsHideMasks() {
        LaneFixture fixture(64, "one-block");
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        decoder.feed(part(text_of_13, 0, 7));
        decoder.feed(part(text_of_13, 7, 11), {.see = [](int, int, std::vector<SlotRange>& seen) {
                         seen = {{0, 11}};
                     }});
        Verdict verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::fault && verdict.kind == FaultKind::mask,
                 qPrintable(told(verdict)));
        keep_last_rows(decoder.trace);
        verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::cannot_tell, qPrintable(told(verdict)));
        QVERIFY(QString::fromStdString(verdict.next).contains("logits of all rows"));
    }

    void aPromptAsLongAsTheHeads() {
        LaneFixture fixture;
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        decoder.feed(part(text_of_13, 0, 4));
        decoder.feed(part(text_of_13, 4, 5));
        QCOMPARE(judge(decoder).word, VerdictWord::equal);  // the ids are stated
        decoder.state_only_tokens();
        const Verdict verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::cannot_tell, qPrintable(told(verdict)));
        QVERIFY(verdict.summary.find("as many as the model has heads") != std::string::npos);
    }

    void nothingToJudge() {
        LaneFixture fixture;
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        right(decoder);
        drop_logits(decoder.trace);
        QCOMPARE(judge(decoder).word, VerdictWord::equal);  // what is stated is right
        decoder.trace.calls[2].position_ids[0] = 3;
        Verdict verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::fault && verdict.kind == FaultKind::position,
                 qPrintable(told(verdict)));
        QCOMPARE(verdict.first.call, 2);
        decoder.state_only_tokens();
        verdict = judge(decoder);
        QCOMPARE(verdict.word, VerdictWord::cannot_tell);
        QCOMPARE(QString::fromStdString(verdict.next), QString("Record the logits of every call."));
    }

    void lastRowsAreEnoughForMostFaults() {
        LaneFixture fixture;
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        restart(decoder);
        keep_last_rows(decoder.trace);
        decoder.state_only_tokens();
        const Verdict verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::fault && verdict.kind == FaultKind::position,
                 qPrintable(told(verdict)));
        QCOMPARE(QString::fromStdString(verdict.found), QString("position 0"));
        // A position is wrong before anything is computed with it.
        QVERIFY(verdict.first.call == 1 && verdict.first.column == 0);
    }

    void theLayerIsThatOfTheReplay() {
        LaneFixture fixture(64, "tiny-llama");
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        decoder.feed(part(text_of_13, 0, 7));
        decoder.feed(part(text_of_13, 7, 8), {.heads = HeadOrder::tiled});
        const Verdict verdict = judge(decoder);
        QVERIFY2(verdict.kind == FaultKind::head_layout, qPrintable(told(verdict)));
        QCOMPARE(verdict.first.layer, 0);
        QVERIFY2(told(verdict).contains("attention output, layer 0"), qPrintable(told(verdict)));
    }

    void notANumberIsReported() {
        LaneFixture fixture;
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        decoder.feed(part(text_of_13, 0, 7));
        decoder.feed({text_of_13[7]},
                     {.computed = [](ForwardTensor tensor, int layer, std::span<float> values) {
                         if (tensor == ForwardTensor::mixed && layer == 1)
                             values[0] = std::numeric_limits<float>::quiet_NaN();
                     }});
        const Verdict verdict = judge(decoder);
        QVERIFY2(verdict.word == VerdictWord::fault, qPrintable(told(verdict)));
        QCOMPARE(verdict.first.call, 1);
        QCOMPARE(QString::fromStdString(verdict.found), QString("NaN or infinity"));
    }

    void otherWeightsAreAnotherModel() {
        LaneFixture fixture;
        const auto other = lively_weights(fixture.weights->config, 99, fixture.ledger);
        ForeignDecoder decoder(other, *fixture.backend, fixture.ledger);
        decoder.feed(part(text_of_13, 0, 7));
        auto verdict = diagnose(decoder.trace, fixture.weights, *fixture.backend, fixture.ledger);
        QVERIFY(verdict);
        QVERIFY2(verdict->word == VerdictWord::cannot_tell, qPrintable(told(*verdict)));
        QVERIFY(QString::fromStdString(verdict->next).contains("same call twice"));
        decoder.feed(part(text_of_13, 0, 7), {.fresh_cache = true});
        verdict = diagnose(decoder.trace, fixture.weights, *fixture.backend, fixture.ledger);
        QVERIFY(verdict);
        QVERIFY2(verdict->kind == FaultKind::other_model, qPrintable(told(*verdict)));
    }

    void theNaiveSideMayBeTheWrongOne() {
        LaneFixture fixture;
        ForeignDecoder cached(fixture.weights, *fixture.backend, fixture.ledger);
        right(cached);
        cached.trace.label = "cached";
        ForeignDecoder naive(fixture.weights, *fixture.backend, fixture.ledger);
        naive.trace.label = "naive";
        for (int n = 7; n < 12; ++n) {
            naive.feed(part(text_of_13, 0, n),
                       {.without_cache = true, .see = [n](int, int, std::vector<SlotRange>& seen) {
                            seen = {{0, n}};
                        }});
        }
        for (const bool first : {true, false}) {
            const auto verdict =
                compare(first ? naive.trace : cached.trace, first ? cached.trace : naive.trace,
                        fixture.weights, *fixture.backend, fixture.ledger);
            QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
            QVERIFY2(verdict->kind == FaultKind::mask, qPrintable(told(*verdict)));
            QVERIFY(verdict->summary.find("\"naive\" departs from the truth, \"cached\" does not") == 0);
        }
    }

    void agreementSaysNothingWhenBothAreWrong() {
        LaneFixture fixture(64, "tiny-llama");
        ForeignDecoder cached(fixture.weights, *fixture.backend, fixture.ledger);
        ForeignDecoder naive(fixture.weights, *fixture.backend, fixture.ledger);
        for (int n = 7; n < 10; ++n) {
            naive.feed(part(text_of_13, 0, n), {.without_cache = true, .heads = HeadOrder::tiled});
            cached.feed(part(text_of_13, n > 7 ? n - 1 : 0, n), {.heads = HeadOrder::tiled});
        }
        const auto verdict =
            compare(cached.trace, naive.trace, fixture.weights, *fixture.backend, fixture.ledger);
        QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
        QVERIFY2(verdict->kind == FaultKind::head_layout, qPrintable(told(*verdict)));
        QVERIFY(verdict->summary.find("both are wrong: they share a fault") != std::string::npos);
    }

    void neighboursAndCapacityThatMatterAreNamed() {
        LaneFixture fixture;
        // Alone right, beside a longer row wrong: its pads are seen.
        ForeignDecoder alone(fixture.weights, *fixture.backend, fixture.ledger);
        alone.feed(part(text_of_13, 0, 3), {.requests = {"A"}});
        ForeignDecoder batch(fixture.weights, *fixture.backend, fixture.ledger, 2);
        Ids padded(4, -1);
        padded.insert(padded.end(), text_of_13.begin(), text_of_13.begin() + 3);
        batch.call({.rows = {padded, part(text_of_13, 0, 7)},
                    .requests = {"B", "C"},
                    .positions = [](auto& ids) { std::iota(ids.begin(), ids.begin() + 7, 0); }});
        auto both = std::make_shared<StoredLogits>(64);
        for (const Trace* trace : {&alone.trace, &batch.trace}) {
            std::vector<float> row(64);
            std::vector<float> all;
            const TraceCall& call = trace->calls[0];
            for (int b = 0; b < call.batch; ++b) {
                for (int t = 0; t < call.width; ++t) {
                    QVERIFY(trace->logits->read(0, b, t, row));
                    all.insert(all.end(), row.begin(), row.end());
                }
            }
            both->add_call(call.width, std::move(all));
        }
        Trace trace = alone.trace;
        trace.calls.push_back(batch.trace.calls[0]);
        trace.logits = both;
        const auto verdict = diagnose(trace, fixture.weights, *fixture.backend, fixture.ledger);
        QVERIFY(verdict);
        QVERIFY2(verdict->kind == FaultKind::padding && verdict->first.call == 1, qPrintable(told(*verdict)));
        QVERIFY2(told(*verdict).contains("other numbers with other rows beside them"),
                 qPrintable(told(*verdict)));
    }

    void stoppingStops() {
        LaneFixture fixture;
        ForeignDecoder decoder(fixture.weights, *fixture.backend, fixture.ledger);
        restart(decoder);
        std::stop_source source;
        source.request_stop();
        const auto verdict =
            diagnose(decoder.trace, fixture.weights, *fixture.backend, fixture.ledger, source.get_token());
        QVERIFY(!verdict);
        QCOMPARE(verdict.error().kind, ErrorKind::cancelled);
    }

    /// The scanner does not know which mistakes a lane may be told to make.
    void theScannerKnowsNoFaultSwitches() {
        const std::filesystem::path folder = DECODESCOPE_SOURCE_DIR "/engine/verify";
        int n = 0;
        for (const char* name : {"diagnose", "compare_runs", "evidence", "explain_content", "explain_masks",
                                 "explain_positions", "replay", "replay_fit", "replay_search", "stated",
                                 "structure", "structure_verdict", "trace_reading"}) {
            for (const char* ending : {".h", ".cpp"}) {
                std::ifstream file(folder / (std::string(name) + ending), std::ios::binary);
                if (!file) continue;
                const std::string text{std::istreambuf_iterator<char>(file), {}};
                QVERIFY2(text.find("engine/fault") == std::string::npos, name);
                QVERIFY2(text.find("engine/decode") == std::string::npos, name);
                ++n;
            }
        }
        QVERIFY(n >= 18);
    }

private:
    static void drop_logits(Trace& trace) {
        for (TraceCall& call : trace.calls) call.logits = LogitRows::none;
    }
    /// As a program records that keeps only what it samples from.
    static void keep_last_rows(Trace& trace) {
        auto kept = std::make_shared<StoredLogits>(trace.vocab);
        std::vector<float> row(static_cast<std::size_t>(trace.vocab));
        for (std::size_t c = 0; c < trace.calls.size(); ++c) {
            TraceCall& call = trace.calls[c];
            std::vector<float> rows;
            for (int b = 0; b < call.batch; ++b) {
                if (!trace.logits->read(static_cast<int>(c), b, call.width - 1, row)) qFatal("no logits");
                rows.insert(rows.end(), row.begin(), row.end());
            }
            kept->add_call(1, std::move(rows));
            call.logits = LogitRows::last;
        }
        trace.logits = kept;
    }
};

QTEST_APPLESS_MAIN(TestDiagnoseLimits)
#include "tst_diagnose_limits.moc"
