// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/experiment/record.h"
#include "tests/engine/experiment/sample_record.h"

using namespace decodescope;
using namespace decodescope::test;

class TestRecordModel : public QObject {
    Q_OBJECT

private slots:
    void every_kind_of_model_comes_back_data() {
        QTest::addColumn<ModelConfig>("model");
        const auto row = [](const char* name, const auto& change) {
            ModelConfig model = tiny_model();
            model.family = Family::llama;
            model.norm = NormKind::rms_norm;
            model.activation = Activation::silu;
            model.gated_ff = true;
            model.n_kv_head = 1;
            model.qkv_bias = model.attn_out_bias = model.ff_bias = false;
            change(model, model.rotary.emplace());
            QTest::newRow(name) << model;
        };
        row("plain", [](ModelConfig&, Rotary&) {});
        row("biases, pairs, divisors", [](ModelConfig& model, Rotary& rotary) {
            model.qkv_bias = true;
            model.window = 6;
            rotary.theta = 5e5;
            rotary.pairs = RotaryPairs::neighbours;
            rotary.divisors = {1, 1.1f, 2, 8};
        });
        row("linear", [](ModelConfig&, Rotary& rotary) {
            rotary.scaling = RotaryScaling::linear;
            rotary.factor = 2.5;
        });
        row("llama3", [](ModelConfig&, Rotary& rotary) {
            rotary.scaling = RotaryScaling::llama3;
            rotary.factor = 8;
            rotary.original_positions = 16;
            rotary.low_freq_factor = 1.5;
            rotary.high_freq_factor = 3;
        });
        row("yarn", [](ModelConfig&, Rotary& rotary) {
            rotary.scaling = RotaryScaling::yarn;
            rotary.factor = 4;
            rotary.original_positions = 16;
            rotary.beta_fast = 16;
            rotary.beta_slow = 2;
            rotary.truncate = false;
            rotary.amplitude = 1.25;
        });
    }
    void every_kind_of_model_comes_back() {
        QFETCH(ModelConfig, model);
        Record record = sample_record();
        record.model = model;
        const auto parsed = parse_record(to_json(record));
        QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
        const ModelConfig& found = parsed->model;
        QCOMPARE(found.family, model.family);
        QCOMPARE(found.norm, model.norm);
        QCOMPARE(found.activation, model.activation);
        QCOMPARE(found.gated_ff, model.gated_ff);
        QCOMPARE(found.qkv_bias, model.qkv_bias);
        QCOMPARE(found.attn_out_bias, model.attn_out_bias);
        QCOMPARE(found.ff_bias, model.ff_bias);
        QCOMPARE(found.n_kv_head, model.n_kv_head);
        QCOMPARE(found.window, model.window);
        QVERIFY(found.rotary == model.rotary);
        QCOMPARE(to_json(*parsed), to_json(record));
    }
};

QTEST_APPLESS_MAIN(TestRecordModel)
#include "tst_record_model.moc"
