// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <set>

#include "tests/engine/fault/fault_case.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// What is right and wrong in the run that shows a fault; see `pattern_of`.
struct Fingerprint {
    Fault fault;
    const char* gpt2;   // null = does not apply
    const char* llama;  // null = the same
};

// clang-format off
constexpr Fingerprint fingerprints[] = {
    {Fault::position_restart, "A: ....... x x x x x", nullptr},
    {Fault::position_plus_one, "A: ....... x x x x x", nullptr},
    {Fault::position_frozen, "A: ....... . x x x x", nullptr},
    {Fault::position_jump, "A: ....... . x x x x", nullptr},
    // The first token only sees itself, wherever it believes to be.
    {Fault::query_offset, nullptr, "A: .xxxxxx x x x x x"},
    {Fault::rotary_base_by_length, nullptr, "A: ....... . . . x x"},
    {Fault::mask_upper_left, "A: ....... x x x x x", nullptr},
    {Fault::mask_none_on_append, "A: .... xxx x x x", nullptr},
    {Fault::mask_self_hidden, "A: ....... x x x x x", nullptr},
    {Fault::spare_slots_visible, "A: ....... x x x", nullptr},
    {Fault::pad_slot_positions, "A: xxx x x x; B: ....... . . .", "A: ... . . .; B: ....... . . ."},
    {Fault::pad_slot_positions_decode, "A: ... x x x; B: ....... . . .", nullptr},
    {Fault::pad_mask_dropped, "A: ... x x x; B: ....... . . .", nullptr},
    {Fault::pad_mask_none, "A: xxx x x x; B: ....... . . .", nullptr},
    {Fault::pad_last_column, "A: ... . . .; B: ....... . . .", nullptr},
    {Fault::cache_kept, "A: ....... . .; B: xxx x x; C: xxxxxxx x x", nullptr},
    {Fault::counter_kept, "A: ....... . .; B: xxx x x; C: xxxxxxx x x", "A: ....... . .; B: ... . .; C: ....... . ."},
    {Fault::blocks_freed_early, "A: ....... . . x x x x x; B: ...... . . . . . x x", nullptr},
    {Fault::token_twice, "A: ....... xx x x x x", nullptr},
    {Fault::token_missing, "A: ....... x x x x x", nullptr},
    {Fault::prefix_fed_again,
     "A: ....... xxxxxxxx xxxxxxxxx xxxxxxxxxx xxxxxxxxxxx xxxxxxxxxxxx", nullptr},
    {Fault::window_ignored, "A: .... . . x x x x x x", nullptr},
    {Fault::window_too_wide, "A: .... . . x x x x x x", nullptr},
    {Fault::window_too_narrow, "A: .... . x x x x x x x", nullptr},
    {Fault::window_position, "A: .... . . x x x x x x", nullptr},
    {Fault::overflow_last_slot, "A: ....... . . . x x x x", nullptr},
    {Fault::ring_without_window, "A: ....... . . . x x x x", nullptr},
    {Fault::naive_crop, "A: ....... ........ ......... .......... xxxxxxxxxx xxxxxxxxxx", nullptr},
    {Fault::drafts_kept, "A: ...... .... x x x x", nullptr},
    {Fault::rollback_position_only, "A: ...... .... x x x x", nullptr},
    {Fault::rollback_short, "A: ...... .... x x x x", nullptr},
    {Fault::rollback_long, "A: ...... .... x x x x", nullptr},
    {Fault::draft_cache_trim, "exact", nullptr},
    {Fault::prefix_mutated, "A: ....... . .; B: ... . .; C: xx x x", nullptr},
    {Fault::stale_weights, "A: ....... x x x x x", nullptr},
    {Fault::dropout_on, "A: xxxxxxx x x; B: xxxxxxx x x", nullptr},
    {Fault::heads_tiled, nullptr, "A: xxxxxxx x x"},
    {Fault::heads_tiled_decode, nullptr, "A: ....... x x x x x"},
    {Fault::heads_not_transposed, "A: xxxxxxx x x", nullptr},
    {Fault::length_from_heads, "A: ....... x x x x x", nullptr},
    {Fault::concat_wrong_axis, "A: ....... !", nullptr},
    {Fault::rows_not_reindexed, "A: ....... . . . . .; B: ..... . .; C: ... . . x x x", nullptr},
    {Fault::beams_not_reordered, "some", nullptr},
    {Fault::positions_bf16, "..x x", nullptr},
    {Fault::scales_dropped, "A: xxxxxxx x x", nullptr},
    {Fault::prompt_reprocessed, "A: ....... ........ ......... .......... ........... ............", nullptr},
    {Fault::blocks_never_freed, "A: ....... . .; B: ... . .; C: .... . .; D: !", nullptr},
};
// clang-format on
static_assert(std::size(fingerprints) == n_fault);

std::string without(std::string text, char c) {
    std::erase(text, c);
    return text;
}

}  // namespace

class TestFaults : public QObject {
    Q_OBJECT

private slots:
    void fingerprint_data() {
        QTest::addColumn<Fault>("fault");
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("expected");
        for (const Fingerprint& known : fingerprints) {
            const char* id = fault_info(known.fault).id;
            const char* llama = known.llama != nullptr ? known.llama : known.gpt2;
            QTest::addRow("%s, gpt2", id) << known.fault << "tiny" << QString(known.gpt2);
            QTest::addRow("%s, llama", id) << known.fault << "tiny-llama" << QString(llama);
        }
    }
    // Without the fault everything in the same run is right; with it, just what its fingerprint says is not.
    void fingerprint() {
        QFETCH(Fault, fault);
        QFETCH(QString, preset);
        QFETCH(QString, expected);
        const FaultCase run = fault_case(fault);
        LaneFixture fixture(run.n_positions, preset.toStdString());
        const ModelConfig& model = fixture.weights->config;
        TraceTruth truth(fixture.weights, *fixture.backend, fixture.ledger);
        const Window window = effective_window(run.spec.window, model.window);
        const double limit = fault == Fault::scales_dropped ? 0.05 : f32_error_limit;

        const auto healthy = fault_case(fault, true).record(fixture);
        QVERIFY2(healthy, healthy ? "" : healthy.error().message.c_str());
        const std::string right = pattern_of(*healthy, truth, window, limit);
        QVERIFY2(right.find_first_of("x!") == std::string::npos, right.c_str());

        const auto trace = run.record(fixture);
        QCOMPARE(trace.ok(), !expected.isEmpty());
        QCOMPARE(fault_fits_model(fault, run.spec, model).ok(), trace.ok());
        if (!trace) {
            QVERIFY(trace.error().message.find(fault_info(fault).id) != std::string::npos);
            return;
        }
        const std::string found = pattern_of(*trace, truth, window, limit);
        if (expected == "exact") {
            QVERIFY2(found.find_first_of("x!") == std::string::npos, found.c_str());
        } else if (expected == "some") {
            // Beams cross at different steps for different weights: the prompt and the first step are right.
            QVERIFY2(found.starts_with("A.1: ....... ."), found.c_str());
            QVERIFY2(found.find('x') != std::string::npos, found.c_str());
        } else if (fault == Fault::positions_bf16) {
            // Positions 255 and 256 are right, 257 is the first that is not.
            const std::string all = without(found, ' ');
            QCOMPARE(all, "A:" + std::string(257, '.') + "xx");
        } else {
            QCOMPARE(QString::fromStdString(found), expected);
        }
    }

    // Where a fault has nothing to bite, what it passes through is the same to the last bit.
    void aFaultThatDoesNotBiteChangesNoBit_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QString>("fault");
        const std::pair<const char*, const char*> runs[] = {
            {"static", "mask-none-on-append"},  // single steps need no mask
            {"static", "cache-kept"},           // one request
            {"static", "counter-kept"},
            {"paged", "blocks-freed-early"},       // one block
            {"batch", "rows-not-reindexed"},       // nobody leaves early
            {"batch-right", "pad-mask-none"},      // no row is shorter
            {"speculative", "rollback-long"},      // nothing is drafted
            {"continuous", "blocks-never-freed"},  // no second request
        };
        for (const auto& [lane, fault] : runs) QTest::addRow("%s, %s", lane, fault) << lane << fault;
    }
    void aFaultThatDoesNotBiteChangesNoBit() {
        QFETCH(QString, lane);
        QFETCH(QString, fault);
        for (const char* preset : {"tiny", "tiny-llama"}) {
            LaneFixture fixture(64, preset);
            LaneSpec spec = named(lane.toStdString());
            const auto healthy = follow_one(*fixture.lane(spec), prompt_of_7, 3);
            spec.faults = {fault.toStdString()};
            const auto faulty = follow_one(*fixture.lane(spec), prompt_of_7, 3);
            QVERIFY2(faulty.error.empty(), faulty.error.c_str());
            QCOMPARE(faulty.tokens, healthy.tokens);
            QCOMPARE(faulty.rows, healthy.rows);
        }
    }

    void aTokenReadAtAPadIsAnother() {
        for (const char* preset : {"tiny", "tiny-llama"}) {
            LaneFixture fixture(64, preset);
            const auto trace = fault_case(Fault::pad_last_column).record(fixture);
            QVERIFY(trace);
            const TraceCall& prefill = trace->calls[0];
            QCOMPARE(prefill.logits_columns, Ids({6, 6}));
            QCOMPARE(prefill.real[6], std::uint8_t{0});
            std::vector<float> logits(static_cast<std::size_t>(trace->vocab));
            QVERIFY(trace->logits->read(0, 0, 6, logits));
            QCOMPARE(trace->texts.at("A").ids[3], argmax(logits));
            const auto right = fault_case(Fault::pad_last_column, true).record(fixture);
            QVERIFY(right);
            QCOMPARE(right->calls[0].logits_columns, Ids({2, 6}));
            QCOMPARE(right->texts.at("B").ids, trace->texts.at("B").ids);
        }
    }

    void aTrimmedDraftCacheOnlyCostsAcceptance() {
        for (const char* preset : {"tiny", "tiny-llama"}) {
            LaneFixture fixture(64, preset);
            int accepted[2]{};
            std::vector<Ids> texts;
            for (const bool healthy : {true, false}) {
                const auto trace = fault_case(Fault::draft_cache_trim, healthy).record(fixture);
                QVERIFY(trace);
                texts.push_back(trace->texts.at("A").ids);
                for (const TraceCall& call : trace->calls) {
                    for (const std::int32_t n : call.accepted) accepted[healthy ? 0 : 1] += n;
                }
            }
            QCOMPARE(texts[0], texts[1]);
            QVERIFY(accepted[1] <= accepted[0]);
        }
    }

    void dropoutDoesNotRepeat() {
        LaneFixture fixture;
        LaneSpec spec = named("static");
        for (const bool on : {false, true}) {
            if (on) spec.faults = {"dropout-on"};
            const auto trace = case_of(spec, {prompt_of_7, prompt_of_7}, 2).record(fixture);
            QVERIFY(trace);
            std::vector<float> first(static_cast<std::size_t>(trace->vocab)), second(first);
            QVERIFY(trace->logits->read(0, 0, 6, first));
            QVERIFY(trace->logits->read(2, 0, 6, second));
            QCOMPARE(first == second, !on);
        }
    }

    void spareSlotsDependOnTheCapacity() {
        LaneFixture fixture;
        std::vector<std::vector<float>> rows;
        for (const int capacity : {16, 64}) {
            FaultCase run = fault_case(Fault::spare_slots_visible);
            run.spec.cache.capacity = capacity;
            const auto trace = run.record(fixture);
            QVERIFY(trace);
            QCOMPARE(trace->calls[1].mask_columns, capacity);
            rows.emplace_back(static_cast<std::size_t>(trace->vocab));
            QVERIFY(trace->logits->read(1, 0, 0, rows.back()));
        }
        QVERIFY(compare_logits(rows[0], rows[1]).relative_error > 0.01);
    }

    void theCatalogueIsWhole() {
        std::set<std::string> ids;
        int i = 0;
        for (const FaultInfo& info : fault_catalogue()) {
            QCOMPARE(static_cast<int>(info.fault), i++);
            QVERIFY2(ids.insert(info.id).second, info.id);
            for (const char* text :
                 {info.title, info.description, info.applies, info.place, info.fingerprint, info.fix})
                QVERIFY2(std::string_view(text).size() > 8, info.id);
            const auto found = fault_from_id(info.id);
            QVERIFY(found);
            QCOMPARE(*found, info.fault);
        }
        QCOMPARE(i, n_fault);
    }

    void badFaultsAreRefused_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QStringList>("faults");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* name, const char* lane, const QStringList& faults,
                            const char* sentence) { QTest::newRow(name) << lane << faults << sentence; };
        row("unknown", "static", {"positon-restart"},
            "[0] is an unknown fault \"positon-restart\", perhaps position-restart is meant");
        row("part of ids", "static", {"window-too"}, "perhaps window-too-wide or window-too-narrow is meant");
        row("empty", "static", {""}, "[0] is an unknown fault \"\"");
        row("twice", "static", {"dropout-on", "dropout-on"}, "[1] is \"dropout-on\" again, expected it once");
        row("naive position", "naive", {"position-restart"},
            "[0] is \"position-restart\", which needs a lane with a cache");
        row("crop with a cache", "static", {"naive-crop"}, "needs a naive lane that serves one request");
        row("pads without a batch", "static", {"pad-mask-dropped"}, "needs a static batch with pads");
        row("left pads on the right", "batch-right", {"pad-slot-positions"}, "padded on the left");
        row("last column on the left", "batch", {"pad-last-column"}, "padded on the right");
        row("packed batch", "batch-packed", {"pad-mask-none"}, "needs a static batch with pads");
        row("rollback without drafts", "static", {"rollback-long"}, "needs a speculative lane");
        row("n-gram draft cache", "speculative", {"draft-cache-trim"}, "drafts with layers or a model");
        row("beams", "static", {"beams-not-reordered"}, "needs a beam lane");
        row("shared prefixes", "continuous", {"prefix-mutated"}, "with shared prefixes");
        row("axis of a static cache", "static", {"concat-wrong-axis"}, "needs a concat cache");
        row("scales of f32", "static", {"scales-dropped"}, "needs an int8 cache");
        row("window cache ignores", "window", {"window-ignored"}, "whose cache keeps everything");
        row("upper left in a window cache", "window", {"mask-upper-left"}, "not window");
        row("overflow of paged", "paged", {"overflow-last-slot"}, "needs a static cache");
        row("second one", "static", {"dropout-on", "scales-dropped"},
            "[1] is \"scales-dropped\", which needs");
        row("kept in a batch", "batch", {"cache-kept"}, "serves one request after another");
        row("rows of single", "static", {"rows-not-reindexed"}, "needs a static batch with a cache");
        row("blocks of static", "continuous-static", {"blocks-never-freed"}, "with a paged cache");
    }
    void badFaultsAreRefused() {
        QFETCH(QString, lane);
        QFETCH(QStringList, faults);
        QFETCH(QString, sentence);
        LaneSpec spec = named(lane == "continuous-static" ? "continuous" : lane.toStdString());
        if (lane == "continuous-static") spec.cache.kind = CacheKind::static_;
        for (const QString& fault : faults) spec.faults.push_back(fault.toStdString());
        const auto set = fault_set(spec);
        QVERIFY(!set);
        QVERIFY2(set.error().message.find(sentence.toStdString()) != std::string::npos,
                 set.error().message.c_str());
        LaneFixture fixture;
        const auto made = make_lane(spec, {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger});
        QVERIFY(!made);
        QCOMPARE(made.error().kind, ErrorKind::bad_input);
        QVERIFY(made.error().message.find(set.error().message) != std::string::npos);
    }

    void badModelsAreRefused_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("fault");
        QTest::addColumn<bool>("fits");
        QTest::newRow("rotary") << "tiny"
                                << "query-offset" << false;
        QTest::newRow("one KV head per query head") << "tiny"
                                                    << "heads-tiled" << false;
        QTest::newRow("no window") << "tiny"
                                   << "window-ignored" << false;
        QTest::newRow("model's window") << "tiny-window"
                                        << "window-ignored" << true;
        QTest::newRow("few positions") << "tiny"
                                       << "positions-bf16" << false;
        QTest::newRow("grouped") << "tiny-llama"
                                 << "heads-tiled-decode" << true;
    }
    void badModelsAreRefused() {
        QFETCH(QString, preset);
        QFETCH(QString, fault);
        QFETCH(bool, fits);
        LaneFixture fixture(64, preset.toStdString());
        LaneSpec spec = named("static");
        spec.faults = {fault.toStdString()};
        const auto made = make_lane(spec, {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger});
        QCOMPARE(made.ok(), fits);
        if (!made) QVERIFY(made.error().message.find("which needs") != std::string::npos);
    }

    // Whatever a lane of this kind can do wrong, alone or together, it ends with an outcome.
    void everyFaultEndsOnEveryLane_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("lane");
        for (const char* preset : {"tiny", "tiny-llama", "tiny-window", "one-block"}) {
            for (const char* lane : {"naive", "concat", "static", "paged", "window", "int8", "kivi", "batch",
                                     "batch-right", "batch-packed", "naive-batch", "continuous", "sharing",
                                     "speculative", "speculative-layers", "beam"}) {
                if (QByteArray(preset) == "one-block" && QByteArray(lane) == "speculative-layers") continue;
                QTest::addRow("%s, %s", preset, lane) << preset << lane;
            }
        }
    }
    void everyFaultEndsOnEveryLane() {
        QFETCH(QString, preset);
        QFETCH(QString, lane);
        LaneFixture fixture(64, preset.toStdString());
        const bool sharing = lane == "sharing";
        LaneSpec spec = named(sharing ? "continuous" : lane.toStdString());
        spec.cache.share_prefixes = sharing;
        if (spec.cache.kind == CacheKind::paged) spec.cache.block = 4;
        if (spec.cache.kind == CacheKind::window) spec.window = {6, 1};
        if (spec.cache.kind == CacheKind::kivi) {
            spec.cache.group = 8;
            spec.cache.residual = 8;
        }
        if (lane == "continuous" || sharing) spec.max_rows = 2;
        std::vector<std::string> all;
        for (const FaultInfo& info : fault_catalogue()) {
            if (fault_fits_lane(info.fault, spec) &&
                fault_fits_model(info.fault, spec, fixture.weights->config))
                all.emplace_back(info.id);
        }
        std::vector<std::vector<std::string>> sets{all};
        for (const std::string& id : all) sets.push_back({id});
        for (std::size_t i = 0; i + 1 < all.size(); ++i) sets.push_back({all[i], all[i + 1]});
        for (const auto& faults : sets) {
            spec.faults = faults;
            const Workload work = work_of({prompt_of_7, prompt_of_3, {1, 2, 3, 1, 2, 3}, prompt_of_7}, 9);
            const auto trace =
                record_trace(spec, work, {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger});
            const std::string names = faults.empty() ? "" : faults.front();
            QVERIFY2(trace, trace ? "" : (names + ": " + trace.error().message).c_str());
            QVERIFY2(!trace->calls.empty(), names.c_str());
            for (const TraceCall& call : trace->calls)
                QVERIFY2(call.error.empty() != (call.logits == LogitRows::none), names.c_str());
        }
    }
};

QTEST_APPLESS_MAIN(TestFaults)
#include "tst_faults.moc"
