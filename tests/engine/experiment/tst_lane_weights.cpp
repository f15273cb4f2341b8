// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/decode/lane_weights.h"
#include "engine/experiment/judge_lane.h"
#include "engine/experiment/runner.h"
#include "engine/experiment/serve_again.h"
#include "engine/model/preset.h"
#include "engine/model/weight_size.h"
#include "engine/verify/logit_comparison.h"

using namespace decodescope;

namespace {

constexpr std::size_t owner_weights = static_cast<std::size_t>(Owner::weights);

struct Fixture {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    LoadedModel model{*random_weights(*preset_config("tiny"), 5, ledger), nullptr};
    OwnerBytes weights_only = ledger->live();
    EventSink sink;

    const ModelConfig& config() const { return model.weights->config; }
    Result<Record> run(const QString& lanes, int new_tokens = 12, Drive drive = Drive::forced) {
        Experiment experiment;
        experiment.model = {.path = {}, .preset = "tiny", .seed = 5};
        experiment.prompts[0].kind = PromptSpec::Kind::ids;
        experiment.prompts[0].ids = {3, 1, 4, 15, 9, 2, 6};
        experiment.new_tokens = new_tokens;
        experiment.drive = drive;
        experiment.threads = 2;
        experiment.repetitions = 2;
        for (const QString& lane : lanes.split(','))
            experiment.lanes.push_back(*lane_from_name(lane.toStdString()));
        return run_experiment(experiment, model, ledger, sink, {}, {10.0, 10.0, ""});
    }
};

QString sentence_of(const Result<Record>& record) {
    return record ? QString() : QString::fromStdString(record.error().message);
}

using LogitsByToken = std::map<std::pair<int, int>, std::vector<float>>;  // request, index

Result<LogitsByToken> serve(const Record& record, std::size_t lane, const Fixture& fixture) {
    auto again = serve_again(record, lane, fixture.model, fixture.ledger, {});
    if (!again) return again.error();
    auto served = make_lane(again->spec, again->context);
    if (!served) return served.error();
    DS_TRY((*served)->start(again->workload, again->feed.get()));
    LogitsByToken logits;
    while (true) {
        const auto ready = (*served)->ready();
        if (!ready) return ready.error();
        if (!*ready) return logits;
        const auto step = (*served)->step();
        if (!step) return step.error();
        for (const ChosenToken& token : step->chosen) {
            const auto row = step->logits_of(token, fixture.config().vocab);
            logits[{token.request, token.index}].assign(row.begin(), row.end());
        }
    }
}

}  // namespace

class TestLaneWeights : public QObject {
    Q_OBJECT

private slots:
    void sizes_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("n_in");
        QTest::addColumn<int>("n_out");
        QTest::addColumn<quint64>("bytes");
        const auto row = [](const char* name, WeightType type, int n_in, int n_out, quint64 bytes) {
            QTest::newRow(name) << static_cast<int>(type) << n_in << n_out << bytes;
        };
        row("f32", WeightType::f32, 64, 16, 4096);
        row("f32, a panel begun", WeightType::f32, 64, 17, 8192);
        row("f16, a pair begun", WeightType::f16, 7, 16, 8 * 16 * 2);
        row("bf16", WeightType::bf16, 64, 32, 4096);
        row("int8", WeightType::int8, 64, 16, 2 * 16 * 34);
        row("int8, a panel begun", WeightType::int8, 64, 50, 2 * 64 * 34);
        row("int8, two groups begun", WeightType::int8, 32, 16, 2 * 16 * 34);
        row("int4", WeightType::int4, 96, 16, 4 * 16 * 18);
    }
    void sizes() {
        QFETCH(int, type);
        QFETCH(int, n_in);
        QFETCH(int, n_out);
        QFETCH(quint64, bytes);
        QCOMPARE(prepared_matrix_bytes(static_cast<WeightType>(type), n_in, n_out), std::uint64_t{bytes});
    }

    void openblasIsAnotherWayToTheSameNumbers() {
        Fixture fixture;
        const auto record = fixture.run("static,static+openblas,naive+openblas");
        QVERIFY2(record.ok(), qPrintable(sentence_of(record)));
        for (std::size_t i = 1; i < 3; ++i) {
            const LaneRecord& lane = record->lanes[i];
            QVERIFY2(lane.agrees_with(record->reference()), lane.spec.name.c_str());
            QVERIFY(approximation(*record, i).empty());
            QCOMPARE(lane.weight_bytes, matrix_bytes(*fixture.model.weights));
        }
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
    }

    void typesSideBySide() {
        Fixture fixture;
        const auto record = fixture.run(
            "static,static+weights-f16,static+weights-bf16,static+weights-int8,static+weights-int4");
        QVERIFY2(record.ok(), qPrintable(sentence_of(record)));
        QCOMPARE(record->status, FinishReason::length);
        std::uint64_t prepared = 0;
        for (std::size_t i = 0; i < record->lanes.size(); ++i) {
            const LaneRecord& lane = record->lanes[i];
            const WeightType type = lane.spec.weights;
            QCOMPARE(lane.weight_bytes, prepared_bytes(fixture.config(), type));
            prepared += lane.weight_bytes;
            if (i == 0) continue;
            QCOMPARE(approximation(*record, i), std::string(to_string(type)) + " weights");
            QCOMPARE(lane.quality().n, std::int64_t{24});
            QVERIFY(lane.max_relative_error() > 0);
            QVERIFY(why_not_comparable(*record, i).empty());
            // Biases, norms and entries are the same; only matrices are read in another form.
            const StepEvent& mine = lane.repetitions[0].steps[3];
            const StepEvent& theirs = record->reference().repetitions[0].steps[3];
            QCOMPARE(theirs.bytes_moved - mine.bytes_moved,
                     static_cast<std::int64_t>(record->reference().weight_bytes - lane.weight_bytes));
        }
        // Coarser types are further away.
        QVERIFY(record->lanes[1].max_relative_error() < record->lanes[2].max_relative_error());
        QVERIFY(record->lanes[2].quality().mean_kl < record->lanes[4].quality().mean_kl);
        QVERIFY(record->lanes[3].quality().mean_kl < record->lanes[4].quality().mean_kl);
        const auto& during = record->lanes[0].repetitions[0].steps[0].tensor_bytes;
        QCOMPARE(during[owner_weights], fixture.weights_only[owner_weights] + prepared);
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
    }

    void lanesOfOneTypeShareIt() {
        Fixture fixture;
        const auto record = fixture.run("naive+weights-int8,static+weights-int8,paged+weights-int8");
        QVERIFY2(record.ok(), qPrintable(sentence_of(record)));
        const auto& during = record->lanes[0].repetitions[0].steps[0].tensor_bytes;
        QCOMPARE(during[owner_weights],
                 fixture.weights_only[owner_weights] + prepared_bytes(fixture.config(), WeightType::int8));
    }

    void ofOneTypeTheyAgree_data() {
        QTest::addColumn<QString>("type");
        for (const WeightType type : all_weight_types) QTest::newRow(to_string(type)) << to_string(type);
    }
    void ofOneTypeTheyAgree() {
        QFETCH(QString, type);
        Fixture fixture;
        const auto record = fixture.run(
            QString("naive+weights-%1,static+weights-%1,paged+weights-%1,static+weights-%1+position-restart")
                .arg(type),
            30);
        QVERIFY2(record.ok(), qPrintable(sentence_of(record)));
        for (std::size_t i = 1; i < 3; ++i) {
            const LaneRecord& lane = record->lanes[i];
            QVERIFY2(
                lane.agrees_with(record->reference()),
                qPrintable(QString("%1: %2").arg(lane.spec.name.c_str()).arg(lane.max_relative_error())));
            QVERIFY(approximation(*record, i).empty());
            const auto judged = judge_lane(*record, i, fixture.model, fixture.ledger);
            QVERIFY2(judged.ok(), judged.ok() ? "" : judged.error().message.c_str());
            QVERIFY2(judged->verdict.word == VerdictWord::equal, judged->verdict.summary.c_str());
        }
        QVERIFY(!record->lanes[3].agrees_with(record->reference()));
        const auto judged = judge_lane(*record, 3, fixture.model, fixture.ledger);
        QVERIFY2(judged.ok(), judged.ok() ? "" : judged.error().message.c_str());
        QVERIFY2(judged->verdict.word == VerdictWord::fault, judged->verdict.summary.c_str());
        QVERIFY(judged->verdict.kind == FaultKind::position);
        QCOMPARE(fixture.ledger->live(), fixture.weights_only);
    }

    /// Each following its own choices, lanes of one type may part where two tokens are as good as tied; that
    /// is seen in the logits of the token where they do, drafted or not.
    void partingAtATieIsNoDifference() {
        Fixture fixture;
        for (const char* type : {"bf16", "int8", "int4"}) {
            const auto record = fixture.run(
                QString("naive+weights-%1,static+weights-%1,speculative-layers+weights-%1").arg(type), 50,
                Drive::free);
            QVERIFY2(record.ok(), qPrintable(sentence_of(record)));
            for (std::size_t i = 1; i < record->lanes.size(); ++i) {
                const LaneRecord& lane = record->lanes[i];
                QVERIFY2(lane.agrees_with(record->reference()), lane.spec.name.c_str());
                const int first = lane.first_different_token(record->reference());
                if (first < 0) continue;
                const auto& chosen = lane.repetitions[0].chosen;
                const auto token = std::find_if(chosen.begin(), chosen.end(),
                                                [&](const TokenEvent& each) { return each.index == first; });
                QVERIFY(token != chosen.end());
                QVERIFY(token->comparison.compared);
                QVERIFY(is_nearly_tied(token->comparison, error_limit(lane.spec.weights)));
            }
        }
    }

    /// A lane of f32 that drafts and goes wrong is compared at the token where it does, too.
    void aWrongDraftIsCompared() {
        Fixture fixture;
        const auto record =
            fixture.run("naive,speculative-layers,speculative-layers+position-restart", 40, Drive::free);
        QVERIFY2(record.ok(), qPrintable(sentence_of(record)));
        QVERIFY(record->lanes[1].agrees_with(record->reference()));
        const LaneRecord& wrong = record->lanes[2];
        const int first = wrong.first_different_token(record->reference());
        QVERIFY(first >= 0);
        QVERIFY(!wrong.agrees_with(record->reference()));
        for (const TokenEvent& token : wrong.repetitions[0].chosen)
            QCOMPARE(token.comparison.compared, token.index <= first);
    }

    void servedAgainWithTheSameNumbers() {
        Fixture fixture;
        const auto record = fixture.run("naive,static+openblas,static+weights-bf16,static+weights-int4");
        QVERIFY2(record.ok(), qPrintable(sentence_of(record)));
        const auto reference = serve(*record, 0, fixture);
        QVERIFY(reference.ok());
        for (std::size_t i = 1; i < record->lanes.size(); ++i) {
            const auto mine = serve(*record, i, fixture);
            QVERIFY(mine.ok());
            for (const TokenEvent& token : record->lanes[i].repetitions[0].chosen) {
                const std::pair at(token.request, token.index);
                const LogitComparison again = compare_logits(mine->at(at), reference->at(at));
                QCOMPARE(again.max_abs_error, token.comparison.max_abs_error);
                QCOMPARE(again.kl_divergence, token.comparison.kl_divergence);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestLaneWeights)
#include "tst_lane_weights.moc"
