// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels know slots of another kind.
#define QT_NO_KEYWORDS
#include <QTest>

#include <cmath>
#include <numeric>
#include <set>

#include "tests/engine/backend/cuda/attention_scene.h"
#include "tests/engine/backend/plan_holes.h"
#include "tests/sanitized.h"

using namespace decodescope;
using cuda::Stored;
using test::AttentionScene;
using test::HeadShape;
using test::Place;

namespace {

/// Who sees whom, beside causality.
enum class Sight { causal, window, pads, spare, ring, holes, ragged, continuous };

/// Rows of `n_query` queries over `n_slot` slots.
AttentionPlan plan_of(Sight sight, int batch, int n_query, int n_slot) {
    AttentionPlan plan;
    plan.clear(sight == Sight::window || sight == Sight::ring ? Window{37, 3} : Window{});
    for (int b = 0; b < batch; ++b) {
        int queries_here = n_query;
        // Ragged: all, one fewer, none. Continuous: one row is prefilled while the others decode.
        if (sight == Sight::ragged) queries_here = b % 3 == 2 ? 0 : n_query - b % 3;
        if (sight == Sight::continuous && b != 1) queries_here = 1;
        const int used = n_slot - (sight == Sight::ragged || sight == Sight::continuous ? 3 * b : 0);
        const int pads = sight == Sight::pads ? 5 * b : 0;
        const int spare = sight == Sight::spare ? std::min(11 + b, n_slot - n_query) : 0;
        std::vector<std::int32_t> held;
        std::vector<std::int32_t> queries;
        for (int s = 0; s < used; ++s) {
            held.push_back(s < pads ? slot_padding : s < used - spare ? s - pads : slot_empty);
            // What was stored last has taken the slots in the middle.
            if (sight == Sight::ring) held.back() = (s + used / 2) % used;
        }
        const int last = used - spare - pads;
        for (int q = 0; q < queries_here; ++q) {
            const int position = last - queries_here + q;
            queries.push_back(position < 0 ? slot_padding : position);
        }
        plan.add_row(queries, held);
    }
    if (sight == Sight::holes) test::punch_holes(plan, n_slot);
    return plan;
}

/// Pairs of queries and slots, where `block` queries of a row share what any of them sees.
std::int64_t shared_pairs(const AttentionPlan& plan, int block) {
    std::int64_t pairs = 0;
    for (int b = 0; b < plan.batch(); ++b) {
        for (int first = 0; first < plan.n_query(b); first += block) {
            const int n = std::min(block, plan.n_query(b) - first);
            std::set<int> joint;
            for (int q = first; q < first + n; ++q) {
                for (const SlotRange& range : plan.visible(b, q)) {
                    for (int s = range.begin; s < range.end; ++s) joint.insert(s);
                }
            }
            pairs += n * static_cast<std::int64_t>(joint.size());
        }
    }
    return pairs;
}

class TestCudaAttention : public QObject {
    Q_OBJECT

private:
    static void columns() {
        QTest::addColumn<HeadShape>("shape");
        QTest::addColumn<Sight>("sight");
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("n_query");
        QTest::addColumn<int>("n_slot");
        QTest::addColumn<Stored>("type");
        QTest::addColumn<Place>("place");
    }
    static void add(const char* name, HeadShape shape, Sight sight, int batch, int n_query, int n_slot,
                    Stored type = Stored::f32, Place place = Place::rows) {
        QTest::newRow(name) << shape << sight << batch << n_query << n_slot << type << place;
    }
    static AttentionPlan plan_of_row() {
        QFETCH(Sight, sight);
        QFETCH(int, batch);
        QFETCH(int, n_query);
        QFETCH(int, n_slot);
        return plan_of(sight, batch, n_query, n_slot);
    }
    static AttentionScene scene_of_row() {
        QFETCH(HeadShape, shape);
        QFETCH(Stored, type);
        QFETCH(Place, place);
        return AttentionScene(shape, type, place, plan_of_row());
    }
    /// The largest difference; infinite where nothing was written.
    static double worst(const std::vector<float>& out, const std::vector<double>& expected) {
        double worst = out.size() == expected.size() ? 0 : INFINITY;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double difference = std::abs(double{out[i]} - expected[i]);
            worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
            if (expected[i] == 0 && out[i] != 0.0f) worst = INFINITY;  // nothing seen
        }
        return worst;
    }

private Q_SLOTS:
    void matchesTheRule_data() {
        columns();
        add("decode", {4, 4, 8}, Sight::causal, 3, 1, 9);
        add("decode, first token", {4, 2, 16}, Sight::causal, 1, 1, 1);
        add("decode, head of 24", {4, 2, 24}, Sight::causal, 3, 1, 70);
        add("decode, head of 64", {4, 4, 64}, Sight::causal, 2, 1, 300);
        add("decode, head of 80", {4, 1, 80}, Sight::causal, 2, 1, 200, Stored::f16);
        add("decode, head of 128", {8, 4, 128}, Sight::causal, 2, 1, 150, Stored::bf16);
        add("decode, head of 256", {2, 1, 256}, Sight::causal, 2, 1, 90, Stored::int8);
        add("decode, groups of 3", {6, 2, 32}, Sight::causal, 2, 1, 150, Stored::f16);
        add("decode, groups of 7", {14, 2, 64}, Sight::causal, 1, 1, 150, Stored::bf16);
        add("decode, groups of 8", {8, 1, 64}, Sight::causal, 1, 1, 150, Stored::int8);
        add("decode, groups of 20", {20, 1, 16}, Sight::causal, 2, 1, 150);
        add("decode, long", {4, 2, 64}, Sight::causal, 1, 1, 5000);
        add("decode, long, f16 in blocks", {2, 2, 128}, Sight::causal, 1, 1, 3001, Stored::f16,
            Place::blocks);
        add("decode, long, int8", {4, 1, 64}, Sight::causal, 2, 1, 3000, Stored::int8);
        add("decode, window", {4, 2, 16}, Sight::window, 3, 1, 300);
        add("decode, window in a ring", {4, 2, 16}, Sight::ring, 3, 1, 300, Stored::bf16);
        add("decode, pads", {4, 2, 16}, Sight::pads, 3, 1, 60);
        add("decode, spare slots", {4, 2, 16}, Sight::spare, 3, 1, 60, Stored::int8);
        add("decode, holes", {4, 2, 16}, Sight::holes, 3, 1, 700, Stored::f16);
        add("decode, blocks", {4, 2, 32}, Sight::causal, 3, 1, 203, Stored::f32, Place::blocks);
        add("decode, blocks of int8", {4, 2, 32}, Sight::spare, 3, 1, 203, Stored::int8, Place::blocks);
        add("few queries", {4, 2, 64}, Sight::causal, 3, 4, 300, Stored::bf16);
        add("few queries, ragged", {4, 2, 64}, Sight::ragged, 5, 4, 150);
        add("few queries, holes", {2, 2, 16}, Sight::holes, 3, 4, 300);
        add("prefill", {4, 4, 64}, Sight::causal, 2, 130, 130);
        add("prefill of five tokens", {4, 2, 64}, Sight::causal, 3, 5, 5);
        add("prefill by token", {4, 2, 64}, Sight::causal, 3, 70, 70, Stored::f32, Place::tokens);
        add("prefill by token, ragged", {4, 2, 24}, Sight::ragged, 4, 70, 70, Stored::f32, Place::tokens);
        add("prefill behind others", {2, 2, 64}, Sight::causal, 2, 65, 200, Stored::f16);
        add("prefill behind many", {2, 1, 16}, Sight::causal, 1, 20, 3000, Stored::bf16);
        add("prefill, int8", {4, 2, 32}, Sight::causal, 2, 70, 97, Stored::int8);
        add("prefill, blocks", {4, 2, 32}, Sight::causal, 3, 70, 101, Stored::f16, Place::blocks);
        add("prefill, blocks of int8", {4, 2, 8}, Sight::ragged, 3, 70, 101, Stored::int8, Place::blocks);
        add("prefill, head of 8", {8, 4, 8}, Sight::causal, 2, 100, 100);
        add("prefill, head of 80", {3, 1, 80}, Sight::causal, 2, 66, 66);
        add("prefill, head of 128", {4, 2, 128}, Sight::causal, 1, 70, 90, Stored::bf16);
        add("prefill, head of 256", {2, 1, 256}, Sight::causal, 1, 33, 50, Stored::f16);
        add("prefill, head of 256, int8", {2, 2, 256}, Sight::window, 1, 40, 90, Stored::int8);
        add("prefill, groups of 7", {14, 2, 16}, Sight::causal, 2, 40, 61);
        add("prefill, groups of 20", {20, 1, 256}, Sight::causal, 1, 6, 20);
        add("prefill, groups of 70", {70, 1, 16}, Sight::causal, 1, 9, 40);
        add("prefill, window", {2, 2, 16}, Sight::window, 2, 130, 150);
        add("prefill, window far behind", {2, 2, 16}, Sight::window, 1, 40, 2500, Stored::bf16);
        add("prefill, ring", {2, 2, 16}, Sight::ring, 2, 70, 120, Stored::f16);
        add("prefill, pads", {2, 2, 16}, Sight::pads, 3, 80, 80);
        add("prefill, spare slots", {2, 2, 16}, Sight::spare, 2, 40, 100);
        add("prefill, holes", {2, 1, 16}, Sight::holes, 2, 90, 200);
        add("prefill, ragged", {2, 1, 16}, Sight::ragged, 7, 70, 130);
        add("one prefills, others decode", {4, 2, 64}, Sight::continuous, 4, 60, 900, Stored::f16,
            Place::blocks);
    }
    void matchesTheRule() {
        AttentionScene scene = scene_of_row();
        const std::vector<double> expected = scene.expected();
        const double difference = worst(scene.run(), expected);
        QVERIFY2(difference < 3e-6, qPrintable(QString::number(difference)));
        QVERIFY(scene.intact());
        QFETCH(int, n_query);
        if (test::sanitized && n_query > 4) return;  // its thousands of blocks take minutes
        // A graph is captured for the longest context, and gives the same.
        const double later = worst(scene.run(8192), expected);
        QVERIFY2(later < 3e-6, qPrintable(QString::number(later)));
        QVERIFY(scene.intact());
    }

    void aGraphStaysRightWhenContentsChange_data() {
        columns();
        add("decode", {4, 2, 64}, Sight::causal, 3, 1, 900);
        add("decode, window", {4, 2, 16}, Sight::window, 3, 1, 700, Stored::int8);
        add("prefill", {4, 2, 16}, Sight::causal, 2, 40, 600, Stored::bf16);
    }
    void aGraphStaysRightWhenContentsChange() {
        QFETCH(HeadShape, shape);
        QFETCH(int, batch);
        QFETCH(int, n_query);
        QFETCH(int, n_slot);
        QFETCH(Stored, type);
        AttentionScene scene = scene_of_row();
        // The first steps of the same lane: most slots are empty yet.
        AttentionPlan early;
        early.clear();
        for (int b = 0; b < batch; ++b) {
            std::vector<std::int32_t> held(static_cast<std::size_t>(n_slot), slot_empty);
            std::vector<std::int32_t> queries(static_cast<std::size_t>(n_query));
            std::iota(queries.begin(), queries.end(), 7 * b);
            std::iota(held.begin(), held.begin() + n_query + 7 * b, 0);
            early.add_row(queries, held);
        }
        const AttentionScene other(shape, type, Place::rows, early, 5);
        scene.upload();
        cudaStream_t stream = nullptr;
        QCOMPARE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        scene.make_room();
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t exec = nullptr;
        QCOMPARE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
        scene.enqueue(stream);
        QCOMPARE(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        QCOMPARE(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
        QCOMPARE(cudaGraphLaunch(exec, stream), cudaSuccess);
        QCOMPARE(cudaStreamSynchronize(stream), cudaSuccess);
        QVERIFY(worst(scene.output(), scene.expected()) < 3e-6);
        scene.replace_by(other);
        QCOMPARE(cudaGraphLaunch(exec, stream), cudaSuccess);
        QCOMPARE(cudaStreamSynchronize(stream), cudaSuccess);
        QVERIFY(worst(scene.output(), scene.expected()) < 3e-6);
        QVERIFY(scene.intact());
        QCOMPARE(cudaGraphExecDestroy(exec), cudaSuccess);
        QCOMPARE(cudaGraphDestroy(graph), cudaSuccess);
        QCOMPARE(cudaStreamDestroy(stream), cudaSuccess);
    }

    void whatIsNotFiniteIsSeenByThoseWhoLook_data() {
        columns();
        for (const Stored type : {Stored::f32, Stored::f16, Stored::bf16, Stored::int8}) {
            for (const int n_query : {1, 4, 40, 100}) {
                for (const int n_slot : {100, 1500}) {
                    if (test::sanitized && n_query * n_slot > 10'000 && type != Stored::f16) continue;
                    QTest::addRow("type %d, %d queries, %d slots", static_cast<int>(type), n_query, n_slot)
                        << HeadShape{4, 2, 16} << Sight::causal << 3 << n_query << n_slot << type
                        << Place::rows;
                }
            }
        }
    }
    void whatIsNotFiniteIsSeenByThoseWhoLook() {
        QFETCH(int, n_query);
        QFETCH(int, n_slot);
        QFETCH(Stored, type);
        // A slot that all queries of row 0 see, or half of those of row 1; none in row 2.
        const int late = n_slot - (n_query + 1) / 2;
        const int early = n_slot - n_query;
        for (const bool value : {false, true}) {
            AttentionScene scene = scene_of_row();
            if (value) {
                scene.spoil_value(0, early, 5);
                scene.spoil_value(1, late, 5);
            } else {
                scene.spoil_key(0, early, 5);
                scene.spoil_key(1, late, 5);
            }
            const std::vector<float> out = scene.run();
            for (std::size_t i = 0; i < out.size(); ++i) {
                const auto token = static_cast<int>(i / scene.width());
                const int row = token / n_query;
                const int position = n_slot - n_query + token % n_query;
                const bool sees = row == 0 || (row == 1 && position >= late);
                const bool spoilt = sees && (!value || i % 16 == 5 || type == Stored::int8);
                QVERIFY2(std::isnan(out[i]) == spoilt,
                         qPrintable(QString("%1 of token %2").arg(i % scene.width()).arg(token)));
            }
        }
    }

    void aBadScoreIsNotHidden_data() {
        QTest::addColumn<int>("n_query");
        QTest::addColumn<float>("bad");
        for (const int n_query : {1, 70}) {
            for (const float bad : {INFINITY, -INFINITY})
                QTest::addRow("%d, %g", n_query, double{bad}) << n_query << bad;
        }
    }
    void aBadScoreIsNotHidden() {
        QFETCH(int, n_query);
        QFETCH(float, bad);
        AttentionScene scene({2, 2, 16}, Stored::f32, Place::rows, plan_of(Sight::causal, 1, n_query, 600));
        scene.spoil_key(0, 200, 3, bad);
        for (const float x : scene.run()) QVERIFY(std::isnan(x));
    }

    void scoresMayBeLarge_data() {
        QTest::addColumn<int>("n_query");
        QTest::newRow("decode") << 1;
        QTest::newRow("prefill") << 70;
    }
    void scoresMayBeLarge() {
        QFETCH(int, n_query);
        AttentionScene scene({2, 2, 16}, Stored::f32, Place::rows, plan_of(Sight::causal, 2, n_query, 700));
        scene.enlarge_queries(1000.0f);
        // A score of thousands is known to about 1e-4, and with it each weight.
        QVERIFY(worst(scene.run(), scene.expected()) < 4e-3);
    }

    void cellsAreWhatBlocksShare_data() {
        columns();
        add("decode", {4, 2, 16}, Sight::causal, 3, 1, 300);
        add("decode, holes", {4, 2, 16}, Sight::holes, 3, 1, 300);
        add("prefill", {4, 2, 64}, Sight::causal, 2, 130, 150);
        add("prefill, one head", {4, 4, 128}, Sight::causal, 2, 130, 150);
        add("prefill, window", {4, 2, 64}, Sight::window, 2, 130, 150);
        add("prefill, holes", {4, 4, 16}, Sight::holes, 3, 130, 200);
        add("prefill, ragged", {4, 1, 256}, Sight::ragged, 3, 70, 130);
        add("prefill, ring", {4, 1, 16}, Sight::ring, 3, 70, 130);
    }
    void cellsAreWhatBlocksShare() {
        QFETCH(HeadShape, shape);
        QFETCH(int, n_query);
        const AttentionPlan plan = plan_of_row();
        const int rows = shape.head_dim <= 64 ? 64 : shape.head_dim <= 128 ? 32 : 16;
        const int block = n_query == 1 ? 1 : rows / (shape.n_head / shape.n_kv_head);
        QCOMPARE(cuda::attention_cells(plan, shape.n_head, shape.n_kv_head, shape.head_dim),
                 shared_pairs(plan, block));
    }

    void scratchSufficesForFewerTokensAndSlots() {
        const auto floats = [](int n_token, int most_slots) {
            return cuda::attention_floats(n_token, most_slots, 8, 2, 64);
        };
        for (const int n_token : {1, 2, 7, 33, 600}) {
            for (const int most_slots : {1, 100, 3000}) {
                QVERIFY(floats(n_token, most_slots) <= floats(n_token + 1, most_slots));
                QVERIFY(floats(n_token, most_slots) <= floats(n_token, most_slots + 128));
            }
        }
        QCOMPARE(floats(1, 100), 0);
        // A bounded share, however long the prompt is.
        QVERIFY(floats(100'000, 100'000) < 20'000'000);
    }
};

}  // namespace

QTEST_APPLESS_MAIN(TestCudaAttention)
#include "tst_cuda_attention.moc"
