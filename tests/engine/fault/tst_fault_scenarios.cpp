// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <numeric>

#include "engine/fault/faulty_forward.h"
#include "tests/engine/fault/fault_case.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// `n` different tokens.
Ids distinct(int n) {
    Ids ids;
    for (int i = 0; i < n; ++i) ids.push_back((5 + 23 * i) % 61);
    return ids;
}

/// Stands in front of a faulty call and keeps two tensors of the first layer.
class Watch final : public ForwardHook {
public:
    explicit Watch(FaultyForward* inner) : inner_(inner) {}
    void positions(const CallTokens& call, const KvCache* cache, std::span<std::int32_t> query,
                   std::span<std::int32_t> key) override {
        if (inner_ != nullptr) inner_->positions(call, cache, query, key);
    }
    void plan(const CallTokens& call, const KvCache* cache, AttentionPlan& plan) override {
        if (inner_ != nullptr) inner_->plan(call, cache, plan);
    }
    void computed(ForwardTensor tensor, int layer, std::span<float> values) override {
        if (layer != 0) return;
        if (tensor == ForwardTensor::qkv) qkv.assign(values.begin(), values.end());
        if (tensor == ForwardTensor::mixed) mixed.assign(values.begin(), values.end());
    }
    std::vector<float> qkv, mixed;

private:
    FaultyForward* inner_;
};

/// Calls of one row, each right or with a fault.
class Calls {
public:
    Calls(LaneFixture& fixture, Fault fault)
        : fixture_(fixture),
          workspace_(fixture.ledger),
          truth_(fixture.weights, *fixture.backend, fixture.ledger) {
        FaultSet faults;
        faults.add(fault);
        faulty_ = std::make_unique<FaultyForward>(faults, fixture.weights, Window{});
        const ModelConfig& config = fixture.weights->config;
        cache_ =
            *make_cache({.kind = CacheKind::static_}, {config.n_layer, 1, config.n_kv_head, config.head_dim},
                        {64, 16, 0, {}}, fixture.ledger);
    }

    /// Errors of all tokens of a call.
    std::vector<double> feed(const Ids& ids, bool faulty, Watch* watch = nullptr) {
        call_.clear();
        call_.add_row(ids, cache_->next_position());
        const CallRow row{.request = 0, .text_start = cache_->next_position()};
        if (faulty) faulty_->begin_call(call_, std::span(&row, 1), cache_.get());
        ForwardHook* hook = watch != nullptr ? static_cast<ForwardHook*>(watch)
                            : faulty         ? faulty_.get()
                                             : nullptr;
        const auto output = forward(*fixture_.weights, call_, all_rows(call_), cache_.get(), {}, workspace_,
                                    *fixture_.backend, {}, hook);
        std::vector<double> errors;
        const auto vocab = static_cast<std::size_t>(fixture_.weights->config.vocab);
        std::vector<float> logits(output->logits.begin(), output->logits.end());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            text_.push_back(ids[i]);
            errors.push_back(
                compare_logits(std::span(logits).subspan(i * vocab, vocab), truth_.after(text_, {}))
                    .relative_error);
        }
        return errors;
    }
    FaultyForward* faulty() { return faulty_.get(); }
    const AttentionPlan& plan() const { return workspace_.plan(); }

private:
    LaneFixture& fixture_;
    Workspace workspace_;
    TraceTruth truth_;
    std::unique_ptr<FaultyForward> faulty_;
    std::unique_ptr<KvCache> cache_;
    CallTokens call_;
    Ids text_;
};

bool all_right(const std::vector<double>& errors) {
    return std::all_of(errors.begin(), errors.end(), [](double error) { return error <= f32_error_limit; });
}
bool all_wrong(const std::vector<double>& errors) {
    return std::none_of(errors.begin(), errors.end(), [](double error) { return error <= f32_error_limit; });
}

int forwarded(const Trace& trace) {
    int n = 0;
    for (const TraceCall& call : trace.calls) n += std::accumulate(call.real.begin(), call.real.end(), 0);
    return n;
}

Ids positions_of(const TraceCall& call, int row) {
    const auto first = call.position_ids.begin() + row * call.width;
    return {first, first + call.width};
}

}  // namespace

/// The cases of the scenarios, with their numbers; every one for both families.
class TestFaultScenarios : public QObject {
    Q_OBJECT

    static void families() {
        QTest::addColumn<QString>("preset");
        QTest::newRow("gpt2") << "tiny";
        QTest::newRow("llama") << "tiny-llama";
    }
    static std::string pattern(LaneFixture& fixture, const Trace& trace, Window window = {}) {
        TraceTruth truth(fixture.weights, *fixture.backend, fixture.ledger);
        return pattern_of(trace, truth, window);
    }

private slots:
    void s1_control_data() { families(); }
    void s1_control() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        const auto naive = case_of(named("naive"), {prompt_of_7}, 6).record(fixture);
        const auto cached = case_of(named("static"), {prompt_of_7}, 6).record(fixture);
        QVERIFY(naive && cached);
        QCOMPARE(forwarded(*naive), 57);
        QCOMPARE(forwarded(*cached), 12);
        QCOMPARE(cached->calls.back().cache_length_after[0], std::int64_t{12});
        QCOMPARE(pattern(fixture, *cached).find('x'), std::string::npos);
    }

    void s2_positionRestart_data() { families(); }
    void s2_positionRestart() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        LaneSpec spec = named("static+position-restart");
        const auto single = case_of(spec, {prompt_of_7}, 4).record(fixture);
        QVERIFY(single);
        QCOMPARE(pattern(fixture, *single), std::string("A: ....... x x x"));
        QCOMPARE(positions_of(single->calls[1], 0), Ids{0});
        spec.prefill_partition = {7, 5};
        const auto append = case_of(spec, {distinct(12)}, 1).record(fixture);
        QVERIFY(append);
        QCOMPARE(pattern(fixture, *append), std::string("A: ....... xxxxx"));
        QCOMPARE(positions_of(append->calls[1], 0), Ids({0, 1, 2, 3, 4}));
        QCOMPARE(append->calls[1].cache_length_before[0], std::int64_t{7});
        QVERIFY(!fault_fits_lane(Fault::position_restart, named("naive")));
    }

    void s3_upperLeftMask_data() { families(); }
    void s3_upperLeftMask() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        const ModelConfig& config = fixture.weights->config;
        Calls single(fixture, Fault::mask_upper_left);
        Watch prefill(nullptr);
        QVERIFY(all_right(single.feed(prompt_of_7, false, &prefill)));
        Watch step(single.faulty());
        QVERIFY(all_wrong(single.feed({20}, true, &step)));
        // What the query gets is the value of key 0.
        for (int head = 0; head < config.n_head; ++head) {
            const int group = config.n_head / config.n_kv_head;
            const auto value =
                prefill.qkv.begin() + config.q_width() + config.kv_width() + head / group * config.head_dim;
            const auto got = step.mixed.begin() + head * config.head_dim;
            QVERIFY(std::equal(got, got + config.head_dim, value,
                               [](float x, float y) { return std::abs(x - y) <= 1e-6f; }));
        }
        Calls append(fixture, Fault::mask_upper_left);
        QVERIFY(all_right(append.feed(prompt_of_7, true)));
        QVERIFY(all_wrong(append.feed({20, 21, 22, 23, 24}, true)));
        for (int q = 0; q < 5; ++q) {
            const auto visible = append.plan().visible(0, q);
            QCOMPARE(visible.size(), std::size_t{1});
            QCOMPARE(visible[0].begin, 0);
            QCOMPARE(visible[0].end, q + 1);  // expected 7 + q + 1
        }
        // A right step after it reads what wrong ones have stored.
        QVERIFY(all_wrong(append.feed({25}, false)));
    }

    void s4_maskForgottenOnAppend_data() { families(); }
    void s4_maskForgottenOnAppend() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        LaneSpec spec = named("static+mask-none-on-append");
        const auto single = case_of(spec, {prompt_of_7}, 7).record(fixture);
        QVERIFY(single);
        QCOMPARE(pattern(fixture, *single), std::string("A: ....... . . . . . ."));
        spec.prefill_partition = {7, 5};
        const auto append = case_of(spec, {distinct(12)}, 1).record(fixture);
        QVERIFY(append);
        QCOMPARE(pattern(fixture, *append), std::string("A: ....... xxxxx"));
    }

    void s5_leftPadsCounted() {
        LaneFixture fixture;
        const auto trace = fault_case(Fault::pad_slot_positions).record(fixture);
        QVERIFY(trace);
        QCOMPARE(pattern(fixture, *trace), std::string("A: xxx x x x; B: ....... . . ."));
        // Expected 0, 1, 2 on the real tokens, then 3 and 4.
        QCOMPARE(positions_of(trace->calls[0], 0), Ids({0, 1, 2, 3, 4, 5, 6}));
        QCOMPARE(positions_of(trace->calls[1], 0), Ids{7});
        QCOMPARE(positions_of(trace->calls[1], 1), Ids{7});
        const auto right = fault_case(Fault::pad_slot_positions, true).record(fixture);
        QVERIFY(right);
        QCOMPARE(positions_of(right->calls[0], 0), Ids({0, 0, 0, 0, 0, 1, 2}));
        QCOMPARE(positions_of(right->calls[1], 0), Ids{3});
    }

    void s6_paddingMaskLost_data() { families(); }
    void s6_paddingMaskLost() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        const auto trace = fault_case(Fault::pad_mask_dropped).record(fixture);
        QVERIFY(trace);
        QCOMPARE(pattern(fixture, *trace), std::string("A: ... x x x; B: ....... . . ."));
        const auto pads_visible = [&](std::size_t c) {
            const TraceCall& call = trace->calls[c];
            return std::accumulate(call.attention_mask.begin(), call.attention_mask.begin() + 4, 0);
        };
        QCOMPARE(pads_visible(0), 0);
        QCOMPARE(pads_visible(1), 4);
        QCOMPARE(positions_of(trace->calls[1], 0), Ids{3});
    }

    void s7_rightPadding_data() { families(); }
    void s7_rightPadding() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        const auto wrong = fault_case(Fault::pad_last_column).record(fixture);
        const auto right = fault_case(Fault::pad_last_column, true).record(fixture);
        QVERIFY(wrong && right);
        QCOMPARE(wrong->calls[0].logits_columns, Ids({6, 6}));
        QCOMPARE(right->calls[0].logits_columns, Ids({2, 6}));
        QCOMPARE(pattern(fixture, *right), std::string("A: ... . . .; B: ....... . . ."));
    }

    void s8_sharedAcrossRequests_data() { families(); }
    void s8_sharedAcrossRequests() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        const auto trace =
            case_of(named("static+cache-kept"), {distinct(9), prompt_of_7, distinct(9)}, 1).record(fixture);
        QVERIFY(trace);
        QCOMPARE(pattern(fixture, *trace), std::string("A: .........; B: xxxxxxx; C: xxxxxxxxx"));
        QCOMPARE(trace->calls[1].cache_length_before[0], std::int64_t{9});  // expected 0
        QCOMPARE(trace->calls[1].text_start[0], 0);
        std::vector<float> first(static_cast<std::size_t>(trace->vocab)), again(first);
        QVERIFY(trace->logits->read(0, 0, 8, first));
        QVERIFY(trace->logits->read(2, 0, 8, again));
        QVERIFY(compare_logits(again, first).relative_error > f32_error_limit);
    }

    void s9_rollback_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("fault");
        QTest::addColumn<int>("kept");
        QTest::addColumn<int>("position");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            QTest::addRow("%s, right", preset) << preset << "" << 7 << 7;
            QTest::addRow("%s, kept", preset) << preset << "drafts-kept" << 10 << 10;
            QTest::addRow("%s, one too few", preset) << preset << "rollback-short" << 8 << 8;
            QTest::addRow("%s, one too many", preset) << preset << "rollback-long" << 6 << 6;
            QTest::addRow("%s, position only", preset) << preset << "rollback-position-only" << 10 << 7;
        }
    }
    void s9_rollback() {
        QFETCH(QString, preset);
        QFETCH(QString, fault);
        QFETCH(int, kept);
        QFETCH(int, position);
        LaneFixture fixture(64, preset.toStdString());
        LaneSpec spec = named("speculative");
        spec.draft.tokens = 3;
        if (!fault.isEmpty()) spec.faults = {fault.toStdString()};
        const auto trace = speculation(spec).record(fixture);
        QVERIFY(trace);
        const TraceCall& verify = trace->calls[1];
        QCOMPARE(verify.cache_length_before[0], std::int64_t{6});
        QCOMPARE(verify.cache_length_after[0], std::int64_t{10});
        QCOMPARE(verify.accepted, Ids{0});
        const TraceCall& next = trace->calls[2];
        QCOMPARE(next.cache_length_before[0], std::int64_t{kept});
        QCOMPARE(next.text_start[0], 7);
        QCOMPARE(next.position_ids[0], position);
        const std::string found = pattern(fixture, *trace);
        QVERIFY2(found.starts_with(fault.isEmpty() ? "A: ...... .... . ." : "A: ...... .... x x"),
                 found.c_str());
    }

    void s10_window_data() { families(); }
    void s10_window() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        const Ids prompt = distinct(4);
        const Window window{6, 0};
        LaneSpec mask = named("static");
        mask.window = window;
        LaneSpec evict = named("window");
        evict.window = window;
        const auto masked = case_of(mask, {prompt}, 9).record(fixture);
        const auto evicted = case_of(evict, {prompt}, 9).record(fixture);
        QVERIFY(masked && evicted);
        QCOMPARE(pattern(fixture, *masked, window), std::string("A: .... . . . . . . . ."));
        QCOMPARE(pattern(fixture, *evicted, window), std::string("A: .... . . . . . . . ."));
        for (const TraceCall& call : evicted->calls) QVERIFY(call.cache_length_after[0] <= 6);
        QCOMPARE(evicted->calls.back().cache_seen_after[0], std::int64_t{12});
        // Position 6 is the first whose window begins behind token 0.
        const auto first_wrong = [&](LaneSpec spec, const char* fault) {
            spec.faults = {fault};
            const auto trace = case_of(spec, {prompt}, 9).record(fixture);
            const std::string all = trace ? pattern(fixture, *trace, window) : "";
            std::string marks;
            std::copy_if(all.begin(), all.end(), std::back_inserter(marks),
                         [](char c) { return c == '.' || c == 'x'; });
            return static_cast<int>(marks.find('x'));
        };
        QCOMPARE(first_wrong(mask, "window-ignored"), 6);
        QCOMPARE(first_wrong(mask, "window-too-wide"), 6);
        QCOMPARE(first_wrong(evict, "window-too-wide"), 6);
        QCOMPARE(first_wrong(mask, "window-too-narrow"), 5);
        QCOMPARE(first_wrong(evict, "window-too-narrow"), 5);
        QCOMPARE(first_wrong(evict, "window-position"), 6);
        // A chunk of 4 needs the 5 keys before its first query and its own 4.
        evict.prefill_partition = {6, 4};
        const auto chunk = case_of(evict, {distinct(10)}, 1).record(fixture);
        QVERIFY(chunk);
        QCOMPARE(chunk->calls[1].mask_columns, 9);
        QCOMPARE(pattern(fixture, *chunk, window), std::string("A: ...... ...."));
    }

    void s11_promptReprocessed_data() { families(); }
    void s11_promptReprocessed() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        const auto right = case_of(named("static"), {distinct(10)}, 8).record(fixture);
        const auto again = case_of(named("static+prompt-reprocessed"), {distinct(10)}, 8).record(fixture);
        QVERIFY(right && again);
        QCOMPARE(forwarded(*right), 17);
        QCOMPARE(forwarded(*again), 108);
        QCOMPARE(pattern(fixture, *again).find('x'), std::string::npos);
        QCOMPARE(again->texts.at("A").ids, right->texts.at("A").ids);
        // A second turn of 5 tokens: 17 of the text's 18 tokens are stored, so 6 are to be forwarded.
        LaneSpec turns = named("continuous");
        turns.cache.share_prefixes = true;
        turns.cache.block = 4;
        turns.max_rows = 1;
        Ids second = right->texts.at("A").ids;
        QCOMPARE(second.size(), std::size_t{18});
        for (const std::int32_t id : {40, 41, 42, 43, 44}) second.push_back(id);
        FaultCase two = case_of(turns, {distinct(10), second}, 8);
        const auto trace = two.record(fixture);
        QVERIFY(trace);
        const auto turn = std::find_if(trace->calls.begin(), trace->calls.end(),
                                       [](const TraceCall& call) { return call.requests[0] == "B"; });
        QVERIFY(turn != trace->calls.end());
        QCOMPARE(turn->cache_length_before[0], std::int64_t{17});
        QCOMPARE(std::accumulate(turn->real.begin(), turn->real.end(), 0), 6);
    }

    void s12_capacity_data() { families(); }
    void s12_capacity() {
        QFETCH(QString, preset);
        LaneFixture fixture(64, preset.toStdString());
        LaneSpec spec = named("static");
        spec.cache.capacity = 16;
        const Workload work = work_of({distinct(10)}, 8);
        const auto lane = fixture.lane(spec);
        const Trail trail = follow(*lane, work);
        QCOMPARE(trail.tokens[0].size(), std::size_t{7});
        QCOMPARE(lane->requests()[0].finish, FinishReason::capacity);
        for (const char* fault : {"overflow-last-slot", "ring-without-window"}) {
            spec.faults = {fault};
            const auto trace = case_of(spec, {distinct(10)}, 8).record(fixture);
            QVERIFY(trace);
            QCOMPARE(trace->calls.size(), std::size_t{8});
            QCOMPARE(trace->calls.back().cache_length_after[0], std::int64_t{16});
            QCOMPARE(trace->calls.back().cache_capacity, std::int64_t{16});
            QCOMPARE(pattern(fixture, *trace), std::string("A: .......... . . . . . . x"));
        }
    }
};

QTEST_APPLESS_MAIN(TestFaultScenarios)
#include "tst_fault_scenarios.moc"
