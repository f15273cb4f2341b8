// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of finished runs looked at again: who saw whom and how much, at which positions, out of which cells.
#include <QTest>

#include <cmath>
#include <random>
#include <set>
#include <stop_token>

#include "engine/core/as_index.h"
#include "engine/experiment/inspect_step.h"
#include "engine/experiment/runner.h"
#include "engine/formats/safetensors.h"
#include "tests/engine/experiment/random_prompts.h"

using namespace decodescope;

namespace {

struct Setup {
    const char* lane = "static";
    int n_request = 1;
    int chunk = 0;
    Window window{};
    Drive drive = Drive::forced;
    const char* preset = "tiny-llama";
};

Experiment experiment_of(const Setup& setup) {
    Experiment made;
    made.model = {.path = {}, .preset = setup.preset, .seed = 2};
    made.threads = 1;
    made.drive = setup.drive;
    made.prompts = test::random_prompts(setup.n_request);
    made.new_tokens = 8;
    made.warmup = 0;
    made.repetitions = 1;
    LaneSpec lane = *lane_from_name(setup.lane);
    lane.prefill_chunk = setup.chunk;
    lane.window = setup.window;
    if (lane.cache.kind == CacheKind::kivi) lane.cache.group = lane.cache.residual = 8;
    for (const LaneSpec& spec : {*lane_from_name("naive"), lane}) made.lanes.push_back(spec);
    made.lanes[0].name = "reference";
    made.lanes[0].window = setup.window;
    return made;
}

}  // namespace

class InspectStepTest : public QObject {
    Q_OBJECT

private slots:
    void everyKindOfLane_data();
    void everyKindOfLane();
    void agreesWithTransformers_data();
    void agreesWithTransformers();
    void tellsRightFromWrong_data();
    void tellsRightFromWrong();
    void sameCellsInAnyOrder();
    void jumpsInNaiveLanes();
    void growingRecordsWillDo();
    void storage();
    void sharedBlocks();
    void evictedEntries();
    void drafts();
    void reducesWithoutHiding();
    void timeSplitAddsUp();
    void refuses();
    void canBeStopped();

private:
    struct Run {
        std::shared_ptr<const Record> record;
        std::shared_ptr<const LoadedModel> model;
    };
    std::optional<Run> run(const Experiment& experiment) {
        auto model = load_model(experiment.model, m_ledger);
        if (!model) return std::nullopt;
        auto shared = std::make_shared<const LoadedModel>(*std::move(model));
        EventSink sink;
        auto record = run_experiment(experiment, *shared, m_ledger, sink, {}, {1.0, 1.0, ""});
        if (!record) {
            qWarning("%s", record.error().message.c_str());
            return std::nullopt;
        }
        return Run{std::make_shared<const Record>(*std::move(record)), shared};
    }
    std::unique_ptr<StepInspector> inspector(const Run& run, std::size_t lane = 1) {
        auto made = StepInspector::make(run.record, lane, run.model, m_ledger);
        return made ? *std::move(made) : nullptr;
    }

    std::shared_ptr<MemoryLedger> m_ledger = std::make_shared<MemoryLedger>();
};

void InspectStepTest::everyKindOfLane_data() {
    QTest::addColumn<QByteArray>("lane");
    QTest::addColumn<int>("requests");
    QTest::addColumn<int>("chunk");
    QTest::addColumn<int>("window");
    const auto row = [](const char* lane, int requests, int chunk = 0, int window = 0) {
        QTest::addRow("%s, %d requests, chunks of %d, window of %d", lane, requests, chunk, window)
            << QByteArray(lane) << requests << chunk << window;
    };
    for (const char* lane : {"naive", "concat", "static", "paged", "int8", "kivi2", "f16", "speculative"}) {
        row(lane, 1);
        row(lane, 2);
    }
    for (const char* lane : {"naive-batch", "batch", "batch-right", "batch-packed", "continuous"})
        row(lane, 3);
    row("static", 1, 3);
    row("static", 1, 0, 4);
    row("window", 1, 3, 4);
    row("batch", 3, 4, 5);
    row("beam", 1);
}

// Of every step and call: the right tokens at the right positions, and weights that the mask allows.
void InspectStepTest::everyKindOfLane() {
    QFETCH(QByteArray, lane);
    QFETCH(int, requests);
    QFETCH(int, chunk);
    QFETCH(int, window);
    Experiment experiment = experiment_of({lane.constData(), requests, chunk, {window, window > 0 ? 1 : 0}});
    if (lane == "beam") experiment.drive = Drive::free;
    const auto made = run(experiment);
    QVERIFY(made);
    const auto inspect = inspector(*made);
    QVERIFY(inspect != nullptr);
    const auto& recorded = made->record->lanes[1].repetitions.front();
    std::int64_t n_query = 0;
    for (std::size_t step = 0; step < recorded.steps.size(); ++step) {
        std::int64_t forwarded = 0;
        std::int64_t allowed = 0;
        const auto first = inspect->look({.step = static_cast<int>(step), .call = 0});
        QVERIFY2(first.ok(), first.ok() ? "" : first.error().message.c_str());
        QCOMPARE(first->phase, recorded.steps[step].phase);
        for (int call = 0; call < first->n_call; ++call) {
            const auto view = inspect->look({.step = static_cast<int>(step),
                                             .call = call,
                                             .layer = static_cast<int>(step) % 2,
                                             .head = static_cast<int>(step) % 4,
                                             .all_heads = true});
            QVERIFY(view.ok());
            const CallView& seen = view->view;
            QCOMPARE(seen.n_wrong_positions(), 0);
            QVERIFY(view->weights.has_value());
            QCOMPARE(view->weights->rows(), seen.plan.n_query());
            QCOMPARE(view->weights->columns(), seen.plan.max_slot());
            QCOMPARE(view->heads.size(), std::size_t{4});
            QCOMPARE(view->heads[step % 4].values.size(), view->weights->values.size());
            forwarded += seen.plan.n_query();
            allowed += seen.plan.n_allowed();
            QCOMPARE(view->n_visible, seen.plan.n_allowed());
            QCOMPARE(view->n_wrong_cell, std::int64_t{0});
            for (int b = 0; b < static_cast<int>(seen.rows.size()); ++b) {
                const RowView& row = seen.rows[as_index(b)];
                QCOMPARE(static_cast<int>(row.queries.size()), seen.plan.n_query(b));
                if (seen.plan.n_query(b) == 0) continue;
                QCOMPARE(static_cast<int>(row.keys.size()), seen.plan.n_slot(b));
                std::vector<std::int32_t> text;
                if (row.request >= 0) {
                    text = made->record->prompts[as_index(row.request)].ids;
                    const auto& source = lane == "beam" ? recorded : made->record->reference().repetitions[0];
                    const auto chosen = source.tokens(row.request);
                    text.insert(text.end(), chosen.begin(), chosen.end());
                }
                for (std::size_t s = 0; s < row.keys.size(); ++s) {
                    const SlotView& slot = row.keys[s];
                    if (slot.position < 0) continue;
                    QCOMPARE(slot.request, row.request);
                    QVERIFY(slot.step >= 0 && slot.step <= static_cast<int>(step));
                    QVERIFY(!slot.from_call || slot.step == static_cast<int>(step));
                    // Beams cross and drafts are guesses: only what is known to be kept is compared.
                    if (lane != "beam" && !(lane == "speculative" && slot.from_call))
                        QCOMPARE(slot.token, text.at(as_index(slot.expected)));
                }
                for (int q = 0; q < seen.plan.n_query(b); ++q) {
                    ++n_query;
                    const auto line =
                        as_index(seen.plan.first_query(b) + q) * as_index(view->weights->columns());
                    double sum = 0;
                    for (int slot = 0; slot < seen.plan.n_slot(b); ++slot) {
                        QCOMPARE(view->mask[line + as_index(slot)],
                                 static_cast<std::uint8_t>(seen.cell(b, q, slot)));
                        const float weight = view->weights->values[line + as_index(slot)];
                        QVERIFY(std::isfinite(weight));
                        QVERIFY(seen.cell(b, q, slot) == MaskCell::visible || weight == 0);
                        QVERIFY(seen.cell(b, q, slot) < MaskCell::wrongly_seen);
                        sum += weight;
                    }
                    const bool pad = row.queries[as_index(q)].expected == slot_padding;
                    QVERIFY(std::abs(sum - (pad ? 0 : 1)) < 1e-5);
                    QCOMPARE(seen.n_seen(b, q) == 0, pad);
                }
                for (int slot = seen.plan.n_slot(b); slot < view->weights->columns(); ++slot)
                    QVERIFY(std::isnan(view->weights->values[as_index(seen.plan.first_query(b)) *
                                                                 as_index(view->weights->columns()) +
                                                             as_index(slot)]));
            }
        }
        QCOMPARE(forwarded, recorded.steps[step].positions_forwarded);
        QCOMPARE(allowed, recorded.steps[step].score_cells_allowed);
    }
    QVERIFY(n_query > 7);
}

void InspectStepTest::agreesWithTransformers_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QByteArray>("lane");
    for (const char* model : {"gpt2/plain-f32", "gpt2/scaled-bf16", "llama/two-kv-heads-bf16",
                              "llama/mistral-f32", "llama/yarn-mscale-f32", "llama/qwen2-f32"}) {
        for (const char* lane : {"naive", "static", "paged"})
            QTest::addRow("%s, %s", model, lane) << QString(model) << QByteArray(lane);
    }
}

void InspectStepTest::agreesWithTransformers() {
    QFETCH(QString, model);
    QFETCH(QByteArray, lane);
    const std::filesystem::path data(DECODESCOPE_TEST_DATA);
    const auto file = SafetensorsFile::open(data / "attentions.safetensors");
    QVERIFY(file.ok());
    const auto* ids = (*file)->find(model.toStdString() + ".ids");
    const auto* weights = (*file)->find(model.toStdString() + ".weights");
    QVERIFY(ids != nullptr && weights != nullptr);
    std::vector<std::int64_t> tokens(7);
    std::vector<float> golden(as_index(weights->shape[0] * weights->shape[1] * 7 * 7));
    QVERIFY((*file)->read(*ids, 0, std::as_writable_bytes(std::span(tokens))).ok());
    QVERIFY((*file)->read(*weights, 0, std::as_writable_bytes(std::span(golden))).ok());
    const auto n_layer = static_cast<int>(weights->shape[0]);
    const auto n_head = static_cast<int>(weights->shape[1]);

    Experiment experiment = experiment_of({lane.constData()});
    experiment.model = {.path = (data / model.toStdString()).string(), .preset = {}, .seed = 0};
    experiment.prompts.resize(1);
    experiment.prompts[0].kind = PromptSpec::Kind::ids;
    experiment.prompts[0].ids.assign(tokens.begin(), tokens.begin() + 3);
    experiment.drive = Drive::fixed;
    experiment.fixed_ids.assign(tokens.begin() + 3, tokens.end());
    experiment.new_tokens = 5;
    const auto made = run(experiment);
    QVERIFY(made);
    const auto inspect = inspector(*made);
    double worst = 0;
    int n = 0;
    for (int step = 0; step < 5; ++step) {
        for (int layer = 0; layer < n_layer; ++layer) {
            for (int head = 0; head < n_head; ++head) {
                const auto view = inspect->look({.step = step, .layer = layer, .head = head});
                QVERIFY(view.ok());
                for (int q = 0; q < view->weights->rows(); ++q) {
                    const int position = view->view.rows[0].queries[as_index(q)].expected;
                    for (int key = 0; key < view->weights->columns(); ++key, ++n) {
                        const double expected =
                            golden[as_index(((layer * n_head + head) * 7 + position) * 7 + key)];
                        const double weight =
                            view->weights->values[as_index(q * view->weights->columns() + key)];
                        worst = std::max(worst, std::abs(weight - expected));
                    }
                }
            }
        }
    }
    QVERIFY(n > 100);
    QVERIFY2(worst < 2e-6, qPrintable(QString::number(worst)));
}

void InspectStepTest::tellsRightFromWrong_data() {
    QTest::addColumn<QByteArray>("lane");
    QTest::addColumn<int>("requests");
    QTest::addColumn<bool>("positions");
    QTest::addColumn<bool>("mask");
    const auto row = [](const char* lane, int requests, bool positions, bool mask) {
        QTest::newRow(lane) << QByteArray(lane) << requests << positions << mask;
    };
    row("static+position-restart", 1, true, false);
    row("static+position-plus-one", 1, true, false);
    row("static+query-offset", 1, true, false);
    row("batch+pad-slot-positions", 3, true, false);
    row("static+token-missing", 1, false, false);
    row("static+mask-upper-left", 1, false, true);
    row("static+mask-self-hidden", 1, false, true);
    row("batch+pad-mask-dropped", 3, false, true);
    row("static+heads-tiled", 1, false, false);
}

void InspectStepTest::tellsRightFromWrong() {
    QFETCH(QByteArray, lane);
    QFETCH(int, requests);
    QFETCH(bool, positions);
    QFETCH(bool, mask);
    const auto made = run(experiment_of({lane.constData(), requests}));
    QVERIFY(made);
    const auto inspect = inspector(*made);
    const auto view = inspect->look({.step = 4});
    QVERIFY2(view.ok(), view.ok() ? "" : view.error().message.c_str());
    QCOMPARE(view->view.n_wrong_positions() > 0, positions);
    bool wrong = false;
    for (int b = 0; b < view->view.plan.batch(); ++b) {
        for (int slot = 0; slot < view->view.plan.n_slot(b); ++slot)
            wrong = wrong || view->view.cell(b, 0, slot) >= MaskCell::wrongly_seen;
    }
    QCOMPARE(wrong, mask);
    QCOMPARE(view->n_wrong_cell > 0, mask);
    if (lane == "batch+pad-slot-positions") {
        // Prompts of 7, 10 and 13 in a batch padded to 13 columns: the first has six pads in front.
        const RowView& row = view->view.rows[0];
        QCOMPARE(row.queries[0].expected, 7 + 3);
        QCOMPARE(row.queries[0].used, 13 + 3);
        QCOMPARE(row.keys[0].position, slot_padding);
        QCOMPARE(row.keys[6].expected, 0);
        QCOMPARE(row.keys[6].used, 6);
        QCOMPARE(view->view.rows[2].queries[0].used, view->view.rows[2].queries[0].expected);
    }
}

void InspectStepTest::sameCellsInAnyOrder() {
    const auto made = run(experiment_of({"batch", 3}));
    QVERIFY(made);
    const auto forward = inspector(*made);
    const auto jumping = inspector(*made);
    std::vector<std::vector<float>> expected;
    for (int step = 0; step < 8; ++step) {
        const auto view = forward->look({.step = step, .layer = 1, .head = 2});
        QVERIFY(view.ok());
        expected.push_back(view->weights->values);
    }
    std::minstd_rand random(3);
    for (int i = 0; i < 30; ++i) {
        const int step = static_cast<int>(random() % 8);
        const auto view = jumping->look({.step = step, .layer = 1, .head = 2});
        QVERIFY(view.ok());
        QCOMPARE(view->step, step);
        const auto& values = view->weights->values;
        QCOMPARE(values.size(), expected[as_index(step)].size());
        for (std::size_t k = 0; k < values.size(); ++k)
            QVERIFY(values[k] == expected[as_index(step)][k] ||
                    (std::isnan(values[k]) && std::isnan(expected[as_index(step)][k])));
    }
}

// A naive lane's step is made with its text alone: what is seen is what is seen when all steps are made.
void InspectStepTest::jumpsInNaiveLanes() {
    for (const Drive drive : {Drive::forced, Drive::free}) {
        Experiment experiment = experiment_of({"naive", 2, 0, {}, drive});
        experiment.lanes[0] = *lane_from_name("static");
        const auto made = run(experiment);
        QVERIFY(made);
        auto without = std::make_shared<Record>(*made->record);
        without->lanes[1].repetitions.clear();  // so that nothing tells which step had which text
        const auto slow = StepInspector::make(without, 1, made->model, m_ledger);
        QVERIFY(slow.ok());
        const auto fast = inspector(*made);
        for (const int step : {0, 5, 7, 8, 12, 15}) {
            const StepQuery query{.step = step, .layer = 1, .head = 3};
            const auto expected = (*slow)->look(query);
            const auto view = fast->look(query);
            QVERIFY(expected.ok() && view.ok());
            QCOMPARE(view->phase, expected->phase);
            QCOMPARE(view->weights->values, expected->weights->values);
            const RowView& row = view->view.rows[0];
            const RowView& other = expected->view.rows[0];
            QCOMPARE(row.request, other.request);
            QCOMPARE(row.queries.size(), other.queries.size());
            for (std::size_t i = 0; i < row.queries.size(); ++i) {
                QCOMPARE(row.queries[i].token, other.queries[i].token);
                QCOMPARE(row.queries[i].expected, other.queries[i].expected);
                QCOMPARE(row.keys[i].request, other.keys[i].request);
                QCOMPARE(row.keys[i].step, other.keys[i].step);
            }
        }
        QVERIFY(!fast->look({.step = 16}).ok());
        QVERIFY(fast->look({.step = 3}).ok());
    }
}

// What a window has of a run that goes on: the tokens of the reference so far.
void InspectStepTest::growingRecordsWillDo() {
    const auto made = run(experiment_of({"static"}));
    QVERIFY(made);
    Record growing;
    growing.experiment = made->record->experiment;
    growing.prompts = made->record->prompts;
    growing.model = made->record->model;
    for (const LaneRecord& lane : made->record->lanes) growing.lanes.push_back({lane.spec, {}, {}});
    auto& chosen = growing.lanes[0].repetitions.emplace_back().chosen;
    const auto& all = made->record->lanes[0].repetitions[0].chosen;
    chosen.assign(all.begin(), all.begin() + 4);
    const auto live = StepInspector::make(std::make_shared<const Record>(growing), 1, made->model, m_ledger);
    QVERIFY(live.ok());
    const auto whole = inspector(*made);
    const auto here = (*live)->look({.step = 4});
    const auto there = whole->look({.step = 4});
    QVERIFY(here.ok() && there.ok());
    QCOMPARE(here->weights->values, there->weights->values);
    QCOMPARE(here->view.rows[0].queries[0].token, all[3].token);
    QVERIFY(!(*live)->look({.step = 5}).ok());
}

void InspectStepTest::storage() {
    Experiment experiment = experiment_of({"kivi2"});
    experiment.prompts[0].length = 15;
    const auto kivi = run(experiment);
    QVERIFY(kivi);
    const auto view = inspector(*kivi)->look({.step = 6});
    QVERIFY(view.ok());
    const RowView& row = view->view.rows[0];
    QCOMPARE(row.keys.size(), std::size_t{21});
    int quantised = 0;
    for (std::size_t slot = 0; slot < row.keys.size(); ++slot) {
        quantised += row.keys[slot].bits == 2;
        QVERIFY(row.keys[slot].bits == 0 || row.keys[slot].bits == 2);
        // The newest stay as they are; a prompt of 15, then one a step.
        if (slot > 12) QCOMPARE(row.keys[slot].bits, std::int8_t{0});
        QCOMPARE(row.keys[slot].step, std::max(0, static_cast<int>(slot) - 14));
    }
    QCOMPARE(quantised, kivi_quantised_tokens(view->view.cache, 21));
    QVERIFY(quantised > 0);
    QVERIFY(row.keys.back().from_call);
    const auto int8 = run(experiment_of({"int8"}));
    const auto eight = inspector(*int8)->look({.step = 1});
    QCOMPARE(eight->view.rows[0].keys[0].bits, std::int8_t{8});
    QCOMPARE(eight->view.bytes.live,
             static_cast<std::uint64_t>(int8->record->lanes[1].repetitions[0].steps[1].kv_bytes_live));
}

void InspectStepTest::sharedBlocks() {
    Experiment experiment = experiment_of({"continuous", 3});
    for (PromptSpec& prompt : experiment.prompts) {
        prompt.length = 12;
        prompt.seed = 9;
    }
    experiment.lanes[1].cache.block = 4;
    experiment.lanes[1].cache.share_prefixes = true;
    experiment.prompts[1].arrival_step = 1;
    experiment.prompts[2].arrival_step = 2;
    const auto made = run(experiment);
    QVERIFY(made);
    const auto view = inspector(*made)->look({.step = 4});
    QVERIFY(view.ok());
    QVERIFY(!view->view.blocks.empty());
    int shared = 0;
    for (const BlockView& block : view->view.blocks) {
        QCOMPARE(static_cast<int>(block.rows.size()), block.references);
        shared += block.references > 1;
    }
    QVERIFY(shared > 0);
    QVERIFY(view->view.bytes.shared > 0);
    int taken_over = 0;
    for (const RowView& row : view->view.rows) {
        for (const SlotView& slot : row.keys) {
            taken_over += slot.position >= 0 && slot.step < 0;
            if (slot.position >= 0) {
                QVERIFY(slot.block >= 0);
                QCOMPARE(slot.token, slot.expected < 12
                                         ? made->record->prompts[0].ids[as_index(slot.expected)]
                                         : slot.token);
            }
        }
    }
    QVERIFY(taken_over > 0);
    QCOMPARE(view->view.n_wrong_positions(), 0);
}

void InspectStepTest::evictedEntries() {
    const auto made = run(experiment_of({"window", 1, 0, {4, 1}}));
    QVERIFY(made);
    const auto inspect = inspector(*made);
    const auto view = inspect->look({.step = 5});
    QVERIFY(view.ok());
    const RowView& row = view->view.rows[0];
    std::set<int> held;
    int evicted = 0;
    for (const SlotView& slot : row.keys) {
        if (slot.position >= 0) held.insert(slot.expected);
        evicted += slot.evicted;
    }
    // Position 11 sees the sink and 8 to 11; what lies outside is forgotten.
    QVERIFY(held.contains(0) && held.contains(8) && held.contains(11));
    QVERIFY(!held.contains(5));
    QVERIFY(evicted > 0 || !held.contains(7));
    QVERIFY(row.forgotten > 0);
    QCOMPARE(view->view.n_seen(0, 0), std::int64_t{5});
    QCOMPARE(view->view.n_wrong_positions(), 0);
}

void InspectStepTest::drafts() {
    const auto made = run(experiment_of({"speculative-layers"}));
    QVERIFY(made);
    const auto inspect = inspector(*made);
    const auto& steps = made->record->lanes[1].repetitions[0].steps;
    for (std::size_t step = 1; step < steps.size(); ++step) {
        const auto view = inspect->look({.step = static_cast<int>(step)});
        QVERIFY(view.ok());
        QCOMPARE(view->view.n_accepted, steps[step].n_accepted);
        QCOMPARE(static_cast<int>(view->view.rows[0].queries.size()), steps[step].n_drafted + 1);
    }
}

void InspectStepTest::reducesWithoutHiding() {
    const auto made = run(experiment_of({"naive"}));
    QVERIFY(made);
    const auto inspect = inspector(*made);
    const auto whole = inspect->look({.step = 7});
    const auto reduced = inspect->look({.step = 7, .most_side = 4});
    QVERIFY(whole.ok() && reduced.ok());
    const WeightMatrix& small = *reduced->weights;
    QCOMPARE(small.query_bin, 4);
    QCOMPARE(small.rows(), 4);
    QCOMPARE(small.columns(), 4);
    std::vector<float> expected(16, 0.0f);
    for (int q = 0; q < 14; ++q) {
        for (int key = 0; key < 14; ++key) {
            float& most = expected[as_index(q / 4 * 4 + key / 4)];
            most = std::max(most, whole->weights->values[as_index(q * 14 + key)]);
        }
    }
    QCOMPARE(small.values, expected);
}

void InspectStepTest::timeSplitAddsUp() {
    const auto made = run(experiment_of({"static", 1, 3}));
    QVERIFY(made);
    const auto profile = profile_lane(*made->record, 1, *made->model, m_ledger, {.plain_pass = false});
    QVERIFY(profile.ok());
    QCOMPARE(profile->steps.size(), std::size_t{8});
    for (const StepProfile& step : profile->steps) {
        const TimeSplit split = time_split(step, made->record->model.n_layer);
        QCOMPARE(split.layers.size(), as_index(made->record->model.n_layer));
        const LayerTime all = split.all_layers();
        QCOMPARE(all.attention_ns + all.mlp_ns + all.other_ns + split.head_ns + split.other_ns,
                 split.total_ns);
        QCOMPARE(split.total_ns, step.profiled_ns);
        QVERIFY(all.attention_ns > 0 && all.mlp_ns > 0 && split.head_ns > 0);
        QVERIFY(all.other_ns >= 0 && split.other_ns >= 0);
        QCOMPARE(all.mlp_ns, step.ns_of(SpanKind::feed_forward));
    }
}

void InspectStepTest::refuses() {
    const auto made = run(experiment_of({"static"}));
    QVERIFY(made);
    const auto inspect = inspector(*made);
    const auto sentence = [&](const StepQuery& query) {
        const auto view = inspect->look(query);
        return view.ok() ? QString() : QString::fromStdString(view.error().message);
    };
    QCOMPARE(sentence({.step = -1}), QString("A step is numbered from 0."));
    QCOMPARE(sentence({.step = 99}), QString("Step 99 does not exist: lane \"static\" made 8 steps."));
    QCOMPARE(sentence({.layer = 2}), QString("Layer 2 does not exist, expected 0 to 1."));
    QCOMPARE(sentence({.head = 4}), QString("Head 4 does not exist, expected 0 to 3."));
    QCOMPARE(sentence({.call = 1}), QString("Call 1 does not exist, expected 0 to 0."));
    QCOMPARE(sentence({.step = 3}), QString());
    QVERIFY(!StepInspector::make(made->record, 7, made->model, m_ledger).ok());
    Record other = *made->record;
    other.model_hash = "another";
    QVERIFY(!StepInspector::make(std::make_shared<const Record>(other), 1, made->model, m_ledger).ok());
}

void InspectStepTest::canBeStopped() {
    const auto made = run(experiment_of({"static"}));
    QVERIFY(made);
    const auto inspect = inspector(*made);
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = inspect->look({.step = 5}, stop.get_token());
    QVERIFY(!stopped.ok());
    QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
    const auto view = inspect->look({.step = 5});
    QVERIFY(view.ok());
    QCOMPARE(view->view.plan.max_slot(), 12);
}

QTEST_APPLESS_MAIN(InspectStepTest)
#include "tst_inspect_step.moc"
