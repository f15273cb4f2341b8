// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <fmt/format.h>

#include "engine/formats/model_source.h"
#include "engine/verify/diagnose.h"
#include "tests/engine/fault/fault_case.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

constexpr int n_weight_set = 20;

/// What a verdict comes to in the matrix: its word, of a fault its kind.
std::string word_of(const Verdict& verdict) {
    if (verdict.word != VerdictWord::fault) return to_string(verdict.word);
    return verdict.kind ? to_string(*verdict.kind) : "fault";
}

/// The verdicts that a run with `fault` may have.
std::vector<std::string> expected_words(Fault fault, bool rotary) {
    switch (fault) {
        // A uniform shift of rotary positions shows in no logit.
        case Fault::pad_slot_positions:
            if (rotary) return {to_string(VerdictWord::harmless)};
            break;
        case Fault::counter_kept:
            if (rotary) return {to_string(FaultKind::isolation), to_string(VerdictWord::harmless)};
            break;
        // Nothing that the target model computes is wrong.
        case Fault::draft_cache_trim: return {to_string(VerdictWord::equal)};
        default: break;
    }
    return {to_string(fault_info(fault).kind)};
}

struct Cell {
    std::map<std::string, int> verdicts;
    int n = 0;
    int n_right = 0;
    int n_unsure = 0;  // cannot tell
};

LaneFixture fixture_of(int n_positions, const char* preset, std::uint64_t seed) {
    LaneFixture fixture(n_positions, preset);
    fixture.weights = lively_weights(fixture.weights->config, seed, fixture.ledger);
    return fixture;
}

void print(const std::string& name, const Cell& cell) {
    std::string verdicts;
    for (const auto& [word, n] : cell.verdicts) verdicts += fmt::format("  {} x {}", n, word);
    fmt::print("{:28} {:3}/{:<3}{}\n", name, cell.n_right, cell.n, verdicts);
    std::fflush(stdout);
}

/// Runs that are right: every cache, partition and batch.
std::vector<std::pair<std::string, FaultCase>> healthy_runs() {
    std::vector<std::pair<std::string, FaultCase>> runs;
    const Ids other{5, 17, 8, 30, 40};
    for (const char* name : {"naive", "concat", "static", "paged", "window", "int8", "f16", "bf16", "kivi"}) {
        for (const int chunk : {0, 1, 3}) {
            LaneSpec spec = named(name);
            if (chunk != 0 && spec.mode == LaneMode::naive) continue;
            if (spec.cache.kind == CacheKind::window) spec.window = {6, 1};
            spec.prefill_chunk = chunk;
            runs.emplace_back(fmt::format("{}, chunk {}", name, chunk),
                              case_of(spec, {prompt_of_7, prompt_of_3, prompt_of_7}, 6));
        }
    }
    for (const char* name : {"batch", "batch-right", "batch-packed", "naive-batch", "continuous"}) {
        runs.emplace_back(name, case_of(named(name), {prompt_of_3, prompt_of_7, other}, 6));
    }
    for (const CacheKind kind : {CacheKind::int8, CacheKind::window}) {
        LaneSpec spec = named("batch");
        spec.cache.kind = kind;
        if (kind == CacheKind::window) spec.window = {5, 0};
        runs.emplace_back(fmt::format("batch, {}", to_string(kind)),
                          case_of(spec, {prompt_of_3, prompt_of_7, other}, 6));
    }
    for (const DType dtype : {DType::f16, DType::bf16}) {
        LaneSpec spec = named("continuous");
        spec.cache.dtype = dtype;
        spec.max_rows = 2;
        spec.prefill_chunk = 3;
        runs.emplace_back(fmt::format("continuous, {}", to_string(dtype)),
                          case_of(spec, {prompt_of_3, prompt_of_7, other, prompt_of_7}, 6));
    }
    FaultCase arrivals = case_of(named("continuous"), {prompt_of_7, prompt_of_3, other}, 8);
    arrivals.workload.requests[1].arrival_step = 2;
    arrivals.workload.requests[2].arrival_step = 3;
    arrivals.workload.requests[0].cancel_after = 4;
    runs.emplace_back("continuous, arrivals and a cancel", arrivals);
    FaultCase uneven = case_of(named("batch"), {prompt_of_7, other, prompt_of_3}, 7);
    uneven.workload.requests[1].new_tokens = 2;
    runs.emplace_back("batch, one leaves early", uneven);
    LaneSpec full = named("static");
    full.cache.capacity = 12;
    runs.emplace_back("static, runs out of room", case_of(full, {prompt_of_7}, 10));
    LaneSpec sharing = named("continuous");
    sharing.cache.share_prefixes = true;
    sharing.cache.block = 4;
    sharing.max_rows = 2;
    sharing.prefill_chunk = 3;
    runs.emplace_back("continuous, shared prefixes",
                      case_of(sharing, {prompt_of_7, {3, 1, 4, 15, 9, 33, 34}, prompt_of_3, prompt_of_7}, 6));
    runs.emplace_back("speculative", speculation(named("speculative")));
    for (const char* name : {"speculative-layers", "beam"}) {
        runs.emplace_back(name, case_of(named(name), {prompt_of_7}, 6));
        runs.back().second.fed.clear();
    }
    return runs;
}

}  // namespace

/// Every fault by the verdicts that its runs get, over many sets of random weights and both families; and
/// runs that are right by theirs.
class TestFaultMatrix : public QObject {
    Q_OBJECT

    static Result<Verdict> judge(LaneFixture& fixture, const Trace& trace) {
        return diagnose(trace, fixture.weights, *fixture.backend, fixture.ledger);
    }

private slots:
    void healthyRunsAreNoFaults_data() {
        QTest::addColumn<QString>("preset");
        for (const char* preset : {"tiny", "tiny-llama", "tiny-window", "one-block"})
            QTest::newRow(preset) << preset;
    }
    void healthyRunsAreNoFaults() {
        QFETCH(QString, preset);
        const QByteArray name = preset.toLatin1();
        int n_false = 0;
        for (const auto& [what, run] : healthy_runs()) {
            // A model of one block has no fewer layers to draft with.
            if (preset == "one-block" && run.spec.draft.kind == DraftKind::layers) continue;
            Cell cell;
            for (std::uint64_t seed = 1; seed <= n_weight_set; ++seed) {
                LaneFixture fixture = fixture_of(run.n_positions, name.constData(), seed);
                const int variant = static_cast<int>(seed) - 1;
                const auto trace = with_tokens(run, variant, variant % 4).record(fixture);
                QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
                const auto verdict = judge(fixture, *trace);
                QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
                ++cell.n;
                ++cell.verdicts[word_of(*verdict)];
                const bool right =
                    verdict->word == VerdictWord::equal || verdict->word == VerdictWord::precision;
                cell.n_right += right;
                cell.n_unsure += verdict->word == VerdictWord::cannot_tell;
                if (!right && cell.n - cell.n_right == 1)
                    fmt::print("  {} seed {}: {}\n", what, seed, verdict->summary);
            }
            n_false += cell.n - cell.n_right - cell.n_unsure;
            print(what, cell);
        }
        QCOMPARE(n_false, 0);
    }

    // The same on a trained model: every fault once.
    void faultsAreFoundInTheDemoModel() {
        LaneFixture fixture;
        const auto model = load_model({.path = "demo"}, fixture.ledger);
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        fixture.weights = model->weights;
        Cell all;
        for (const FaultInfo& info : fault_catalogue()) {
            const FaultCase run = fault_case(info.fault);
            if (!fault_fits_model(info.fault, run.spec, fixture.weights->config)) continue;
            const auto trace = run.record(fixture);
            QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
            const auto verdict = judge(fixture, *trace);
            QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
            const auto expected = expected_words(info.fault, fixture.weights->config.rotary.has_value());
            const bool right =
                std::find(expected.begin(), expected.end(), word_of(*verdict)) != expected.end();
            ++all.n;
            all.n_right += right;
            if (!right) fmt::print("  {}: {} ({})\n", info.id, word_of(*verdict), verdict->summary);
        }
        print("demo", all);
        QVERIFY(all.n_right >= all.n * 0.95);
    }

    void faultsAreFound_data() {
        QTest::addColumn<QString>("preset");
        for (const char* preset : {"tiny", "tiny-llama"}) QTest::newRow(preset) << preset;
    }
    void faultsAreFound() {
        QFETCH(QString, preset);
        const QByteArray name = preset.toLatin1();
        const bool rotary = preset == "tiny-llama";
        int n = 0;
        int n_right = 0;
        int n_wrong = 0;
        for (const FaultInfo& info : fault_catalogue()) {
            const auto expected = expected_words(info.fault, rotary);
            Cell cell;
            for (std::uint64_t seed = 1; seed <= n_weight_set; ++seed) {
                const FaultCase run = varied(fault_case(info.fault), info.fault, static_cast<int>(seed) - 1);
                LaneFixture fixture = fixture_of(run.n_positions, name.constData(), seed);
                if (!fault_fits_model(info.fault, run.spec, fixture.weights->config)) break;
                const auto trace = run.record(fixture);
                QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
                const auto verdict = judge(fixture, *trace);
                QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
                ++cell.n;
                ++cell.verdicts[word_of(*verdict)];
                const bool right =
                    std::find(expected.begin(), expected.end(), word_of(*verdict)) != expected.end();
                cell.n_right += right;
                cell.n_unsure += verdict->word == VerdictWord::cannot_tell;
                if (!right && cell.n - cell.n_right == 1)
                    fmt::print("  {} seed {}: {}\n", info.id, seed, verdict->summary);
            }
            if (cell.n == 0) continue;
            n += cell.n;
            n_right += cell.n_right;
            n_wrong += cell.n - cell.n_right - cell.n_unsure;
            print(info.id, cell);
        }
        fmt::print("{}: {} of {} have the right kind, {} cannot be told, {} are wrong\n", name.constData(),
                   n_right, n, n - n_right - n_wrong, n_wrong);
        QVERIFY2(n_right >= n * 0.95, qPrintable(QString("%1 of %2").arg(n_right).arg(n)));
    }
};

QTEST_APPLESS_MAIN(TestFaultMatrix)
#include "tst_fault_matrix.moc"
