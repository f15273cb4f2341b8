// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/attend.h"
#include "engine/cache/entry_codec.h"
#include "tests/engine/backend/plan_holes.h"
#include "tests/engine/backend/random_floats.h"
#include "tests/only_target.h"

using namespace decodescope;
using test::random_floats;

namespace {

constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity_f = std::numeric_limits<float>::infinity();

// By the kernels of attention.
constexpr std::int64_t left_out = HWY_SSSE3 | HWY_SSE4;

std::size_t element(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// How keys and values are handed over: f32 in place, 16 bits in place, or pieces that are asked for.
enum class Form { f32, f16, bf16, pieces };
/// Who sees whom, beside causality.
enum class Sight { causal, window, pads, spare, forgotten, ring, holes, ragged };

struct Shape {
    int n_head = 4;
    int n_kv_head = 4;
    int head_dim = 8;
    int n_query = 1;
    int n_slot = 9;
};

AttentionPlan plan_of(Sight sight, int n_query, int n_slot) {
    AttentionPlan plan;
    plan.clear(sight == Sight::window || sight == Sight::ring ? Window{37, 3} : Window{});
    for (int b = 0; b < 3; ++b) {
        // The last row of a ragged batch has nothing to ask; with pads, row b begins with 5 b of them.
        const int fewer = sight != Sight::ragged ? 0 : b == 2 ? n_query : b;
        const int used = n_slot - (sight == Sight::ragged ? 2 * b : 0);
        const int pads = sight == Sight::pads ? 5 * b : 0;
        const int spare = sight == Sight::spare ? std::min(11 + b, n_slot - n_query) : 0;
        std::vector<std::int32_t> held;
        std::vector<std::int32_t> queries;
        for (int s = 0; s < used; ++s) {
            held.push_back(s < pads ? slot_padding : s < used - spare ? s - pads : slot_empty);
            if (sight == Sight::forgotten && s % 3 == 0) held.back() = slot_empty;
            // What was stored last has taken the slots in the middle.
            if (sight == Sight::ring) held.back() = (s + used / 2) % used;
        }
        const int last = used - spare - pads;
        for (int q = 0; q < n_query - fewer; ++q) {
            const int position = last - n_query + fewer + q;
            queries.push_back(position < 0 ? slot_padding : position);
        }
        plan.add_row(queries, held);
    }
    if (sight == Sight::holes) test::punch_holes(plan, n_slot);
    return plan;
}

/// Keys and values of one call, and what it should give.
class Scene final : public KvCache {
public:
    Scene(const Shape& shape, HeadOrder order, Form form, AttentionPlan plan)
        : KvCache({1, plan.batch(), shape.n_kv_head, shape.head_dim}),
          shape_(shape),
          order_(order),
          form_(form),
          scale_(1.0f / std::sqrt(static_cast<float>(shape.head_dim))),
          plan_(std::move(plan)),
          n_slot_(plan_.max_slot()) {
        // Tokens and slots lie further apart than they are long.
        q_stride_ = shape.n_head * shape.head_dim + 7;
        slot_stride_ = form == Form::pieces ? shape.head_dim : shape.head_dim + 16;
        head_stride_ = slot_stride_ * n_slot_ + 5;
        batch_stride_ = head_stride_ * shape.n_kv_head;
        q_ = random_floats(1, plan_.n_query() * q_stride_);
        k_ = random_floats(2, batch_stride_ * plan_.batch());
        v_ = random_floats(3, batch_stride_ * plan_.batch());
        for (int b = 0; b < plan_.batch(); ++b) {
            for (int s = 0; s < n_slot_; ++s) {
                if (!seen(b, s)) spoil(b, s, nan_f, nan_f);
            }
        }
    }

    const AttentionPlan& plan() const { return plan_; }
    float& query(int token, int head) { return q_[element(token * q_stride_ + head * shape_.head_dim)]; }
    /// Puts a value into every key and value vector of a slot.
    void spoil(int b, int s, float key, float value) {
        for (int h = 0; h < shape_.n_kv_head; ++h) {
            k_[element(at(b, h, s) + shape_.head_dim / 2)] = key;
            v_[element(at(b, h, s) + shape_.head_dim / 2)] = value;
        }
    }
    void spoil_key(int b, int s, float key) {
        for (int h = 0; h < shape_.n_kv_head; ++h) k_[element(at(b, h, s) + shape_.head_dim / 2)] = key;
    }

    AttentionCall call(std::vector<float>& out) {
        out.assign(element(std::int64_t{plan_.n_query()} * shape_.n_head * shape_.head_dim), 99.0f);
        AttentionCall call;
        call.plan = &plan_;
        call.q = q_.data();
        call.q_stride = q_stride_;
        call.kv.slot_stride = slot_stride_;
        call.kv.head_stride = head_stride_;
        call.kv.batch_stride = batch_stride_;
        call.out = out.data();
        call.n_head = shape_.n_head;
        call.n_kv_head = shape_.n_kv_head;
        call.head_dim = shape_.head_dim;
        call.scale = scale_;
        call.head_order = order_;
        if (form_ == Form::f16 || form_ == Form::bf16) {
            call.kv.half = form_ == Form::f16 ? DType::f16 : DType::bf16;
            call.kv.k16 = halved(k_, k16_, call.kv.half);
            call.kv.v16 = halved(v_, v16_, call.kv.half);
        }
        if (form_ == Form::f32) {
            call.kv.k = k_.data();
            call.kv.v = v_.data();
        } else {
            call.kv.source = this;
        }
        return call;
    }

    std::vector<float> run(int threads, std::int64_t& computed) {
        const auto backend = make_cpu_backend(threads);
        std::vector<float> out;
        AttentionCall call = this->call(out);
        ModelConfig config;
        config.head_dim = shape_.head_dim;
        std::vector<float> scores(element(backend->scores_floats(config, plan_.n_query(), plan_.max_slot())),
                                  nan_f);
        call.scores = scores.data();
        computed = backend->attention(call);
        return out;
    }

    /// Attention in double precision, cell by cell, straight from the rule.
    std::vector<double> expected() const {
        std::vector<double> out(element(std::int64_t{plan_.n_query()} * shape_.n_head * shape_.head_dim),
                                0.0);
        const int d = shape_.head_dim;
        for (int b = 0; b < plan_.batch(); ++b) {
            for (int q = 0; q < plan_.n_query(b); ++q) {
                const int token = plan_.first_query(b) + q;
                for (int h = 0; h < shape_.n_head; ++h) {
                    const int kv_head = order_ == HeadOrder::grouped ? h / (shape_.n_head / shape_.n_kv_head)
                                                                     : h % shape_.n_kv_head;
                    std::vector<double> weights;
                    std::vector<std::int64_t> entries;
                    for (const SlotRange& range : plan_.visible(b, q)) {
                        for (int s = range.begin; s < range.end; ++s) {
                            double dot = 0;
                            for (int i = 0; i < d; ++i) {
                                dot += double{q_[element(token * q_stride_ + h * d + i)]} *
                                       double{k_[element(at(b, kv_head, s) + i)]};
                            }
                            weights.push_back(dot * double{scale_});
                            entries.push_back(at(b, kv_head, s));
                        }
                    }
                    if (entries.empty()) continue;
                    const double largest = *std::max_element(weights.begin(), weights.end());
                    double sum = 0;
                    for (double& w : weights) sum += w = std::exp(w - largest);
                    double* to = out.data() + (std::int64_t{token} * shape_.n_head + h) * d;
                    for (std::size_t j = 0; j < entries.size(); ++j) {
                        for (int i = 0; i < d; ++i)
                            to[i] += weights[j] / sum * double{v_[element(entries[j] + i)]};
                    }
                }
            }
        }
        return out;
    }

    /// Pairs of queries and slots, where a block of queries shares what any of them sees.
    std::int64_t pairs() const {
        const int block = query_block(shape_.n_head, shape_.n_kv_head);
        std::int64_t pairs = 0;
        for (int b = 0; b < plan_.batch(); ++b) {
            for (int first = 0; first < plan_.n_query(b); first += block) {
                const int n = std::min(block, plan_.n_query(b) - first);
                std::set<int> joint;
                for (int q = first; q < first + n; ++q) {
                    for (const SlotRange& range : plan_.visible(b, q)) {
                        for (int s = range.begin; s < range.end; ++s) joint.insert(s);
                    }
                }
                pairs += n * static_cast<std::int64_t>(joint.size());
            }
        }
        return pairs;
    }

    int capacity() const override { return n_slot_; }
    KeyValueView view(int) const override { return {}; }
    void read(int, int row, int kv_head, SlotRange range, float* k, float* v) const override {
        const int d = shape_.head_dim;
        for (int s = range.begin; s < range.end; ++s) {
            const std::int64_t from = at(row, kv_head, s);
            const std::int64_t to = std::int64_t{s - range.begin} * d;
            if (k != nullptr) std::copy_n(k_.data() + from, d, k + to);
            if (v != nullptr) std::copy_n(v_.data() + from, d, v + to);
        }
    }
    KvBytes bytes() const override { return {}; }

protected:
    void store(int, int, int, const float*, const float*) override {}
    Result<void> reorder_storage(std::span<const int>) override { return {}; }

private:
    std::int64_t at(int b, int kv_head, int s) const {
        return b * batch_stride_ + kv_head * head_stride_ + s * slot_stride_;
    }
    bool seen(int b, int s) const {
        for (int q = 0; q < plan_.n_query(b); ++q) {
            if (plan_.sees(b, q, s)) return true;
        }
        return false;
    }
    /// The values as 16 bits; `floats` become what those stand for.
    static const std::uint16_t* halved(std::vector<float>& floats, std::vector<std::uint16_t>& bits,
                                       DType dtype) {
        const auto n = static_cast<std::int64_t>(floats.size());
        bits.resize(floats.size());
        auto* bytes = reinterpret_cast<std::byte*>(bits.data());
        encode_entries(dtype, floats.data(), n, bytes);
        decode_entries(dtype, bytes, n, floats.data());
        return bits.data();
    }

    Shape shape_;
    HeadOrder order_;
    Form form_;
    float scale_;
    AttentionPlan plan_;
    int n_slot_;
    std::int64_t q_stride_ = 0;
    std::int64_t slot_stride_ = 0;
    std::int64_t head_stride_ = 0;
    std::int64_t batch_stride_ = 0;
    std::vector<float> q_;
    std::vector<float> k_;
    std::vector<float> v_;
    std::vector<std::uint16_t> k16_;
    std::vector<std::uint16_t> v16_;
};

void shape_columns() {
    QTest::addColumn<int>("n_head");
    QTest::addColumn<int>("n_kv_head");
    QTest::addColumn<int>("head_dim");
    QTest::addColumn<int>("n_query");
    QTest::addColumn<int>("n_slot");
    QTest::addColumn<int>("form");
    QTest::addColumn<int>("sight");
    QTest::addColumn<bool>("tiled");
}

void add_row(const char* name, const Shape& shape, Form form, Sight sight = Sight::causal,
             bool tiled = false) {
    QTest::newRow(name) << shape.n_head << shape.n_kv_head << shape.head_dim << shape.n_query << shape.n_slot
                        << static_cast<int>(form) << static_cast<int>(sight) << tiled;
}

Scene scene_of_row() {
    QFETCH(int, n_head);
    QFETCH(int, n_kv_head);
    QFETCH(int, head_dim);
    QFETCH(int, n_query);
    QFETCH(int, n_slot);
    QFETCH(int, form);
    QFETCH(int, sight);
    QFETCH(bool, tiled);
    return {{n_head, n_kv_head, head_dim, n_query, n_slot},
            tiled ? HeadOrder::tiled : HeadOrder::grouped,
            static_cast<Form>(form),
            plan_of(static_cast<Sight>(sight), n_query, n_slot)};
}

}  // namespace

class TestAttend : public QObject {
    Q_OBJECT

private slots:
    void matchesTheRule_data() {
        shape_columns();
        add_row("decode", {4, 4, 64, 1, 300}, Form::f32);
        add_row("decode, more than two tiles", {2, 2, 16, 1, 700}, Form::f32);
        add_row("decode, one slot", {2, 2, 16, 1, 1}, Form::f32);
        add_row("decode, 16 bits", {4, 4, 64, 1, 300}, Form::f16);
        add_row("decode, bf16", {4, 4, 64, 1, 300}, Form::bf16);
        add_row("decode, pieces", {4, 4, 64, 1, 300}, Form::pieces);
        add_row("decode, two heads per group", {4, 2, 32, 1, 77}, Form::f32);
        add_row("decode, three heads per group", {6, 2, 64, 1, 131}, Form::f16);
        add_row("decode, three heads per group, tiled", {6, 2, 64, 1, 131}, Form::f32, Sight::causal, true);
        add_row("decode, one group", {5, 1, 48, 1, 90}, Form::bf16);
        add_row("decode, one large group", {12, 1, 16, 1, 90}, Form::f32);
        add_row("decode, more heads than rows", {70, 1, 16, 1, 40}, Form::f32);
        add_row("decode, more heads than rows, in two groups", {134, 2, 16, 1, 40}, Form::f16, Sight::causal,
                true);
        add_row("decode, head of 6", {2, 1, 6, 1, 33}, Form::f32);
        add_row("decode, head of 20", {2, 2, 20, 1, 280}, Form::f16);
        add_row("decode, head of 80", {2, 2, 80, 1, 40}, Form::f32);
        add_row("decode, head of 128", {4, 2, 128, 1, 70}, Form::f32);
        add_row("decode, head of 128, 16 bits", {3, 1, 128, 1, 70}, Form::f16);
        add_row("decode, head of 256", {2, 1, 256, 1, 40}, Form::bf16);
        add_row("decode, window", {4, 2, 16, 1, 300}, Form::f32, Sight::window);
        add_row("decode, window in a ring", {4, 2, 16, 1, 90}, Form::f16, Sight::ring);
        add_row("decode, pads", {4, 2, 16, 1, 60}, Form::f32, Sight::pads);
        add_row("decode, spare slots", {4, 2, 16, 1, 60}, Form::bf16, Sight::spare);
        add_row("decode, forgotten slots", {4, 2, 16, 1, 60}, Form::pieces, Sight::forgotten);
        add_row("decode, holes", {4, 2, 16, 1, 300}, Form::f32, Sight::holes);
        add_row("few queries", {4, 4, 64, 5, 300}, Form::f32);
        add_row("few queries, 16 bits", {4, 4, 64, 3, 520}, Form::f16);
        add_row("few queries of a group", {4, 2, 32, 4, 70}, Form::bf16);
        add_row("few queries, holes", {2, 2, 16, 8, 300}, Form::f16, Sight::holes);
        add_row("few queries, pads", {2, 2, 16, 7, 16}, Form::f32, Sight::pads);
        add_row("few queries, ring", {2, 2, 16, 6, 70}, Form::f32, Sight::ring);
        add_row("nine rows", {3, 3, 16, 9, 70}, Form::f32);
        add_row("prefill", {4, 4, 64, 130, 130}, Form::f32);
        add_row("prefill behind others", {2, 2, 64, 65, 200}, Form::f16);
        add_row("prefill, bf16", {2, 2, 32, 64, 64}, Form::bf16);
        add_row("prefill, pieces", {2, 1, 32, 70, 97}, Form::pieces);
        add_row("prefill, three heads per group", {6, 2, 32, 50, 61}, Form::f32);
        add_row("prefill, three heads per group, tiled", {6, 2, 32, 50, 61}, Form::f32, Sight::causal, true);
        add_row("prefill, one group", {5, 1, 16, 40, 90}, Form::f32);
        add_row("prefill, more heads than rows", {70, 1, 16, 3, 40}, Form::f32);
        add_row("prefill, head of 6", {2, 2, 6, 40, 40}, Form::f32);
        add_row("prefill, head of 20", {2, 1, 20, 33, 70}, Form::pieces);
        add_row("prefill, head of 80", {1, 1, 80, 66, 66}, Form::f32);
        add_row("prefill, head of 256", {1, 1, 256, 20, 30}, Form::f16);
        add_row("prefill, window", {2, 2, 16, 130, 150}, Form::f32, Sight::window);
        add_row("prefill, ring", {2, 2, 16, 70, 120}, Form::f16, Sight::ring);
        add_row("prefill, pads", {2, 2, 16, 80, 80}, Form::f32, Sight::pads);
        add_row("prefill, spare slots", {2, 2, 16, 40, 100}, Form::f32, Sight::spare);
        add_row("prefill, forgotten slots", {2, 1, 16, 40, 60}, Form::f16, Sight::forgotten);
        add_row("prefill, holes", {2, 1, 16, 90, 200}, Form::f32, Sight::holes);
        add_row("prefill, ragged", {2, 1, 16, 70, 130}, Form::f32, Sight::ragged);
    }
    void matchesTheRule() {
        Scene scene = scene_of_row();
        std::vector<float> out;
        scene.call(out);  // from here on keys and values are what 16 bits hold
        const std::vector<double> expected = scene.expected();
        for (const std::int64_t target : kernel_targets(left_out)) {
            const OnlyTarget only(target);
            std::int64_t computed = 0;
            out = scene.run(1, computed);
            double worst = 0;
            for (std::size_t i = 0; i < out.size(); ++i) {
                QVERIFY2(std::isfinite(out[i]), hwy::TargetName(target));
                if (expected[i] == 0) QCOMPARE(out[i], 0.0f);  // nothing seen
                worst = std::max(worst, std::abs(double{out[i]} - expected[i]));
            }
            QVERIFY2(worst < 2e-6, qPrintable(QString("%1: %2").arg(hwy::TargetName(target)).arg(worst)));
            QCOMPARE(computed, scene.pairs());
            QVERIFY(computed >= scene.plan().n_allowed());
            std::int64_t again = 0;
            QVERIFY2(scene.run(2, again) == out, hwy::TargetName(target));
            QCOMPARE(again, computed);
        }
    }

    void oneQueryComputesWhatItSees_data() {
        shape_columns();
        add_row("causal", {4, 2, 16, 1, 300}, Form::f32);
        add_row("window", {4, 2, 16, 1, 300}, Form::f16, Sight::window);
        add_row("holes", {4, 4, 16, 1, 300}, Form::f32, Sight::holes);
    }
    void oneQueryComputesWhatItSees() {
        Scene scene = scene_of_row();
        std::int64_t computed = 0;
        scene.run(2, computed);
        QCOMPARE(computed, scene.plan().n_allowed());
    }

    void aBadScoreIsNotHidden_data() {
        shape_columns();
        QTest::addColumn<float>("bad");
        for (const float bad : {nan_f, infinity_f, -infinity_f}) {
            for (const Form form : {Form::f32, Form::f16, Form::bf16, Form::pieces}) {
                for (const int n_query : {1, 4, 30, 100}) {
                    for (const int head_dim : {16, 20}) {
                        QTest::addRow("%g, form %d, %d queries, head of %d", double{bad},
                                      static_cast<int>(form), n_query, head_dim)
                            << 4 << 2 << head_dim << n_query << 300 << static_cast<int>(form)
                            << static_cast<int>(Sight::causal) << false << bad;
                    }
                }
            }
        }
    }
    void aBadScoreIsNotHidden() {
        QFETCH(float, bad);
        QFETCH(int, n_query);
        QFETCH(int, head_dim);
        // One slot that all queries of row 0 see, one that half of those of row 1 see, none in row 2.
        const int late = 300 - (n_query + 1) / 2;
        Scene scene = scene_of_row();
        scene.spoil_key(0, 150, bad);
        scene.spoil_key(1, late, bad);
        for (const std::int64_t target : kernel_targets(left_out)) {
            const OnlyTarget only(target);
            std::int64_t computed = 0;
            const std::vector<float> out = scene.run(1, computed);
            const std::int64_t width = 4 * head_dim;
            for (std::size_t i = 0; i < out.size(); ++i) {
                const auto token = static_cast<int>(static_cast<std::int64_t>(i) / width);
                const int row = token / n_query;
                const int position = 300 - n_query + token % n_query;
                const bool spoilt = row == 0 || (row == 1 && position >= late);
                QVERIFY2(std::isnan(out[i]) == spoilt,
                         qPrintable(QString("%1: token %2").arg(hwy::TargetName(target)).arg(token)));
            }
        }
    }

    void aBadQuerySpoilsItselfAlone() {
        const Shape shape{4, 2, 16, 20, 100};
        Scene scene(shape, HeadOrder::grouped, Form::f32, plan_of(Sight::causal, 20, 100));
        scene.query(7, 1) = nan_f;
        std::int64_t computed = 0;
        const std::vector<float> out = scene.run(1, computed);
        for (std::size_t i = 0; i < out.size(); ++i) QCOMPARE(std::isnan(out[i]), i / 16 == 7 * 4 + 1);
    }

    void scoresMayBeLarge() {
        // Sums that would overflow if they were not taken relative to the largest score.
        const Shape shape{2, 2, 16, 70, 200};
        Scene scene(shape, HeadOrder::grouped, Form::f32, plan_of(Sight::causal, 70, 200));
        for (int token = 0; token < 210; ++token) {
            for (int h = 0; h < 2; ++h) scene.query(token, h) = 1000.0f;
        }
        const std::vector<double> expected = scene.expected();
        std::int64_t computed = 0;
        const std::vector<float> out = scene.run(1, computed);
        for (std::size_t i = 0; i < out.size(); ++i) {
            // A score of thousands is known to about 1e-4, and with it each weight.
            QVERIFY(std::abs(double{out[i]} - expected[i]) < 2e-3);
        }
    }

    /// As a job that computes the heads of one group does it: nothing else is written.
    void groupsCanBeComputedOneByOne_data() {
        QTest::addColumn<bool>("tiled");
        QTest::newRow("grouped") << false;
        QTest::newRow("tiled") << true;
    }
    void groupsCanBeComputedOneByOne() {
        QFETCH(bool, tiled);
        const Shape shape{6, 2, 16, 50, 80};
        Scene scene(shape, tiled ? HeadOrder::tiled : HeadOrder::grouped, Form::f32,
                    plan_of(Sight::causal, 50, 80));
        std::int64_t computed = 0;
        const std::vector<float> all = scene.run(1, computed);
        std::vector<float> out;
        const AttentionCall call = scene.call(out);
        std::vector<float> floats(element(attend_floats(shape.head_dim)), nan_f);
        AttendScratch scratch;
        const int block = query_block(6, 2);
        QCOMPARE(attend(call, 1, 1, block, floats.data(), scratch),
                 std::int64_t{std::min(block, 50 - block)} * std::min(80, 30 + 2 * block));
        for (std::size_t i = 0; i < out.size(); ++i) {
            const int token = static_cast<int>(i) / (6 * 16);
            const int head = static_cast<int>(i) / 16 % 6;
            const bool mine = token >= 50 + block && token < std::min(50 + 2 * block, 100) &&
                              (tiled ? head % 2 : head / 3) == 1;
            QCOMPARE(out[i], mine ? all[i] : 99.0f);
        }
    }
};

QTEST_APPLESS_MAIN(TestAttend)
#include "tst_attend.moc"
