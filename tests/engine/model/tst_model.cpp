// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/model/forward.h"
#include "engine/model/preset.h"
#include "engine/model/rotary.h"
#include "tests/engine/prepared.h"

using namespace decodescope;

class TestModel : public QObject {
    Q_OBJECT

private slots:
    void aHashIsComputedOnce() {
        int n = 0;
        std::string answer;
        const auto hash = computed_once([&] {
            ++n;
            return answer;
        });
        const auto copy = hash;
        // An empty answer is a file that could not be read; it is asked for again.
        QCOMPARE(hash(), std::string());
        answer = "sha256:1";
        QCOMPARE(hash(), answer);
        QCOMPARE(copy(), answer);
        QCOMPARE(hash(), answer);
        QCOMPARE(n, 2);
    }

    void presetsHaveThePublishedShapes_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<qint64>("parameters");
        QTest::addColumn<qint64>("kv_bytes_f16");
        QTest::newRow("tiny") << "tiny" << qint64{64 * 32 * 2 + 2 * 12704 + 64} << qint64{256};
        QTest::newRow("llama") << "tiny-llama"
                               << qint64{64 * 32 + 2 * (2 * 32 + 64 * 32 + 32 * 32 + 3 * 80 * 32) + 32}
                               << qint64{128};
        QTest::newRow("small") << "gpt2-small" << qint64{124439808} << qint64{36864};
        QTest::newRow("medium") << "gpt2-medium" << qint64{354823168} << qint64{98304};
        QTest::newRow("large") << "gpt2-large" << qint64{774030080} << qint64{184320};
        // 1,024 tokens of the XL size: 314,572,800 bytes in f16.
        QTest::newRow("xl") << "gpt2-xl" << qint64{1557611200} << qint64{314572800 / 1024};
    }
    void presetsHaveThePublishedShapes() {
        QFETCH(QString, name);
        const auto config = preset_config(name.toStdString());
        QVERIFY(config);
        QVERIFY(config->validate());
        QTEST(static_cast<qint64>(config->n_parameter()), "parameters");
        QTEST(static_cast<qint64>(config->kv_bytes_per_token(DType::f16)), "kv_bytes_f16");
    }

    void unknownPresetsNameTheKnownOnes() {
        const auto config = preset_config("gpt3");
        QVERIFY(!config);
        QCOMPARE(config.error().kind, ErrorKind::bad_input);
        QVERIFY(QString::fromStdString(config.error().message)
                    .contains("tiny, one-block, tiny-window, tiny-llama, gpt2-small"));
    }

    // The documented seed gives these bits on every machine.
    void randomWeightsAreTheSameEverywhere() {
        const auto weights = *random_weights(*preset_config("tiny"), 0, std::make_shared<MemoryLedger>());
        QCOMPARE(weights->token_embedding[0], -0x1.ed101cp-7f);
        QCOMPARE(weights->token_embedding[1], -0x1.70af3p-7f);
        QCOMPARE(weights->layers[1].ff_down.weight[100], 0x1.076262p-7f);
        QCOMPARE(weights->layers[0].attn_norm.weight[3], 1.0f);
        QVERIFY(weights->layers[0].attn_norm.bias[3] != 0.0f);
        const auto again = *random_weights(*preset_config("tiny"), 0, std::make_shared<MemoryLedger>());
        const std::size_t n = weights->storage.size_bytes() / sizeof(float);
        QVERIFY(std::equal(weights->storage.f32(), weights->storage.f32() + n, again->storage.f32()));
        const auto other = *random_weights(*preset_config("tiny"), 1, std::make_shared<MemoryLedger>());
        QVERIFY(weights->token_embedding[0] != other->token_embedding[0]);
    }

    void randomWeightsHaveTheStatedSpread() {
        const auto weights = *random_weights(*preset_config("tiny"), 3, std::make_shared<MemoryLedger>());
        const int n = 64 * 32;
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < n; ++i) {
            sum += double{weights->token_embedding[i]};
            squares += std::pow(double{weights->token_embedding[i]}, 2);
        }
        QVERIFY(std::abs(sum / n) < 0.002);
        QVERIFY(std::abs(std::sqrt(squares / n) - 0.02) < 0.001);
    }

    void configsAreChecked_data() {
        QTest::addColumn<int>("d_model");
        QTest::addColumn<int>("n_head");
        QTest::addColumn<int>("n_layer");
        QTest::addColumn<int>("vocab");
        QTest::addColumn<float>("eps");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("heads do not divide")
            << 32 << 5 << 2 << 64 << 1e-5f << "n_embd is 32, which n_head = 5";
        QTest::newRow("no layer") << 32 << 4 << 0 << 64 << 1e-5f
                                  << "n_layer is 0, expected a number from 1 to 1000";
        QTest::newRow("a billion layers") << 32 << 4 << 1000000000 << 64 << 1e-5f << "n_layer is 1000000000";
        QTest::newRow("negative vocab") << 32 << 4 << 2 << -1 << 1e-5f << "vocab_size is -1";
        QTest::newRow("huge width") << (1 << 30) << 4 << 2 << 64 << 1e-5f << "n_embd";
        QTest::newRow("eps 0") << 32 << 4 << 2 << 64 << 0.0f << "layer_norm_epsilon is 0";
        QTest::newRow("eps nan") << 32 << 4 << 2 << 64 << std::nanf("") << "layer_norm_epsilon is nan";
    }
    void configsAreChecked() {
        QFETCH(int, d_model);
        QFETCH(int, n_head);
        QFETCH(int, n_layer);
        QFETCH(int, vocab);
        QFETCH(float, eps);
        QFETCH(QString, sentence);
        ModelConfig config = *preset_config("tiny");
        config.d_model = d_model;
        config.n_head = config.n_kv_head = n_head;
        config.head_dim = d_model / n_head;
        config.n_layer = n_layer;
        config.vocab = vocab;
        config.norm_eps = eps;
        const auto checked = config.validate();
        QVERIFY(!checked);
        QCOMPARE(checked.error().kind, ErrorKind::bad_input);
        QVERIFY2(QString::fromStdString(checked.error().message).contains(sentence),
                 checked.error().message.c_str());
    }

    void everyTensorIsListedOnce() {
        std::vector<ModelConfig> configs;
        for (const char* preset : {"tiny", "tiny-llama"}) {
            configs.insert(configs.end(), 5, *preset_config(preset));
            configs.back().tied_head = !configs.back().tied_head;
            configs[configs.size() - 2].qkv_bias = !configs.back().qkv_bias;
            configs[configs.size() - 3].attn_out_bias = !configs.back().attn_out_bias;
            configs[configs.size() - 4].ff_bias = !configs.back().ff_bias;
        }
        configs.back().head_dim = 10;  // wider than the model together
        for (const ModelConfig& config : configs) {
            auto weights = *allocate_weights(config, std::make_shared<MemoryLedger>());
            std::int64_t n = 0;
            std::vector<const float*> begins;
            for (const TensorSlot& slot : tensor_slots(*weights)) {
                n += slot.rows * slot.columns;
                begins.push_back(slot.data);
            }
            QCOMPARE(n, config.n_parameter());
            std::sort(begins.begin(), begins.end());
            QVERIFY(std::adjacent_find(begins.begin(), begins.end()) == begins.end());
        }
    }

    void bytesReadPerStepCountTheHeadAndLeaveOutTheTables() {
        const ModelConfig config = *preset_config("tiny");
        const auto weights = *allocate_weights(config, std::make_shared<MemoryLedger>());
        // Tied: every parameter but the position table is read once; the embedding table as the head.
        const std::int64_t expected = (config.n_parameter() - 64 * 32) * 4;
        QCOMPARE(weights->bytes_read_per_step(), static_cast<std::uint64_t>(expected));
    }

    void rotaryPositionsAreChecked_data() {
        QTest::addColumn<Rotary>("rotary");
        QTest::addColumn<int>("head_dim");
        QTest::addColumn<QString>("sentence");
        const double nan = std::nan("");
        const auto add = [](const char* name, const auto& change, const char* sentence, int head_dim = 8) {
            Rotary rotary;
            rotary.factor = 8;
            rotary.original_positions = 16;
            change(rotary);
            QTest::newRow(name) << rotary << head_dim << sentence;
        };
        add(
            "odd head", [](Rotary&) {}, "head_dim is 7, expected an even number", 7);
        add(
            "theta 1", [](Rotary& r) { r.theta = 1; }, "rope_theta is 1, expected a value from");
        add(
            "theta NaN", [&](Rotary& r) { r.theta = nan; }, "rope_theta is nan, expected a value from");
        add(
            "factor 0", [](Rotary& r) { r.factor = 0; }, "factor is 0, expected");
        add(
            "factor negative", [](Rotary& r) { r.factor = -2; }, "factor is -2, expected");
        add(
            "factor NaN", [&](Rotary& r) { r.factor = nan; }, "factor is nan, expected");
        add(
            "amplitude 0", [](Rotary& r) { r.amplitude = 0; }, "attention_factor is 0, expected");
        const auto llama3 = [&](const char* name, const auto& change, const char* sentence) {
            add(
                name, [&](Rotary& r) { r.scaling = RotaryScaling::llama3, change(r); }, sentence);
        };
        llama3(
            "high = low", [](Rotary& r) { r.high_freq_factor = r.low_freq_factor = 2; },
            "high_freq_factor is 2, expected more than low_freq_factor = 2");
        llama3(
            "low 0", [](Rotary& r) { r.low_freq_factor = 0; }, "low_freq_factor is 0, expected");
        llama3(
            "original 0", [](Rotary& r) { r.original_positions = 0; },
            "original_max_position_embeddings is 0, expected");
        add(
            "yarn", [](Rotary& r) { r.scaling = RotaryScaling::yarn, r.beta_fast = 1; },
            "beta_fast is 1, expected more than beta_slow = 1");
        add(
            "divisors",
            [](Rotary& r) {
                r.divisors = {1, 2, 3};
            },
            "there are 3 divisors");
        add(
            "divisor 0",
            [](Rotary& r) {
                r.divisors = {1, 2, 0, 3};
            },
            "is not a positive number");
    }
    void rotaryPositionsAreChecked() {
        QFETCH(Rotary, rotary);
        QFETCH(int, head_dim);
        QFETCH(QString, sentence);
        ModelConfig config = *preset_config("tiny-llama");
        QVERIFY(config.validate());
        config.head_dim = head_dim;
        config.rotary = rotary;
        const auto checked = config.validate();
        QVERIFY(!checked);
        QCOMPARE(checked.error().kind, ErrorKind::bad_input);
        QVERIFY2(QString::fromStdString(checked.error().message).contains(sentence),
                 checked.error().message.c_str());
    }

    void rotaryDivisorsSlowThePairsDown() {
        Rotary rotary;
        const auto plain = rotary_frequencies(rotary, 8);
        QCOMPARE(plain.size(), std::size_t{4});
        QCOMPARE(plain[0], 1.0);
        QVERIFY(std::abs(plain[2] - 0.01) < 1e-15);
        rotary.divisors = {1, 2, 4, 8};
        const auto slowed = rotary_frequencies(rotary, 8);
        for (std::size_t i = 0; i < 4; ++i) QCOMPARE(slowed[i] * double{rotary.divisors[i]}, plain[i]);
        const std::vector<std::int32_t> positions{3, slot_padding};
        std::vector<float> turns(16);
        rotary_turns(plain, 2.0, positions, turns.data());
        QCOMPARE(turns[1], static_cast<float>(2 * std::cos(3 * plain[1])));
        QCOMPARE(turns[5], static_cast<float>(2 * std::sin(3 * plain[1])));
        QCOMPARE(turns[8], 2.0f);
        QCOMPARE(turns[12], 0.0f);
    }

    // Rows of queries and keys in the other order, turned the other way, are the same model (GGUF keeps them
    // so).
    void bothWaysOfPairingAreTheSameModel() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const ModelConfig config = *preset_config("tiny-llama");
        const auto halves = std::const_pointer_cast<Weights>(*random_weights(config, 4, ledger));
        for (const TensorSlot& slot : tensor_slots(*halves)) {
            for (std::int64_t i = 0; slot.rows > 1 && i < slot.rows * slot.columns; ++i) slot.data[i] *= 10;
        }
        ModelConfig other = config;
        other.rotary->pairs = RotaryPairs::neighbours;
        const auto neighbours = *allocate_weights(other, ledger);
        const auto from = tensor_slots(*halves);
        const auto to = tensor_slots(*neighbours);
        QCOMPARE(from.size(), to.size());
        for (std::size_t s = 0; s < to.size(); ++s) {
            const bool turned =
                to[s].name.ends_with("q_proj.weight") || to[s].name.ends_with("k_proj.weight");
            const int half = config.head_dim / 2;
            for (std::int64_t r = 0; r < to[s].rows; ++r) {
                const std::int64_t in_head = r % config.head_dim;
                const std::int64_t row = turned ? r - in_head + in_head % 2 * half + in_head / 2 : r;
                std::copy_n(from[s].data + row * to[s].columns, to[s].columns,
                            to[s].data + r * to[s].columns);
            }
        }
        const auto backend = make_cpu_backend(1);
        std::vector<std::vector<float>> found;
        for (const Weights* weights : {halves.get(), neighbours.get()}) {
            Workspace workspace(ledger);
            CallTokens call;
            call.add_row(std::vector<std::int32_t>{3, 1, 4, 1, 5, 9, 2, 6}, 20);
            const auto out = forward(*weights, call, all_rows(call), nullptr, {}, workspace, *backend);
            QVERIFY(out);
            found.emplace_back(out->logits.begin(), out->logits.end());
        }
        for (std::size_t i = 0; i < found[0].size(); ++i) {
            QVERIFY(std::abs(found[0][i] - found[1][i]) < 1e-4f);
        }
        const auto [least, most] = std::minmax_element(found[0].begin(), found[0].end());
        QVERIFY(*most - *least > 1);
    }

    void forwardChecksItsInput_data() {
        QTest::addColumn<int>("token");
        QTest::addColumn<int>("n_before");
        QTest::addColumn<int>("error_kind");
        QTest::newRow("token too large") << 64 << 0 << static_cast<int>(ErrorKind::bad_input);
        QTest::newRow("token negative") << -1 << 0 << static_cast<int>(ErrorKind::bad_input);
        QTest::newRow("position beyond the table") << 1 << 64 << static_cast<int>(ErrorKind::capacity);
    }
    void forwardChecksItsInput() {
        QFETCH(int, token);
        QFETCH(int, n_before);
        QFETCH(int, error_kind);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto backend = make_cpu_backend(1);
        const auto weights = test::prepared(*random_weights(*preset_config("tiny"), 1, ledger), *backend);
        Workspace workspace(ledger);
        CallTokens call;
        call.add_row(std::vector<std::int32_t>{token}, n_before);
        const auto output = forward(*weights, call, last_rows(call), nullptr, {}, workspace, *backend);
        QVERIFY(!output);
        QCOMPARE(static_cast<int>(output.error().kind), error_kind);
    }

    void onlyTheLogitsThatAreAskedFor() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto backend = make_cpu_backend(1);
        const auto weights = test::prepared(*random_weights(*preset_config("tiny"), 1, ledger), *backend);
        Workspace workspace(ledger);
        CallTokens call;
        call.add_row(std::vector<std::int32_t>{1, 2, 3}, 0);
        call.end_row();
        call.add_row(std::vector<std::int32_t>{4, 5}, 0);
        const auto all = forward(*weights, call, all_rows(call), nullptr, {}, workspace, *backend);
        QVERIFY(all);
        const std::vector<float> rows(all->logits.begin(), all->logits.end());
        QCOMPARE(rows.size(), std::size_t{5 * 64});
        QCOMPARE(last_rows(call), (std::vector<std::int32_t>{2, 4}));
        const std::vector<std::int32_t> wanted{4, 1};
        const auto some = forward(*weights, call, wanted, nullptr, {}, workspace, *backend);
        QVERIFY(some);
        QCOMPARE(some->logits.size(), std::size_t{2 * 64});
        for (std::size_t i = 0; i < 64; ++i) {
            QVERIFY(std::abs(some->logits[i] - rows[4 * 64 + i]) < 1e-5f);
            QVERIFY(std::abs(some->logits[64 + i] - rows[64 + i]) < 1e-5f);
        }
        const auto none = forward(*weights, call, {}, nullptr, {}, workspace, *backend);
        QVERIFY(none);
        QVERIFY(none->logits.empty());
        QCOMPARE(none->score_cells_allowed, std::int64_t{6 + 3});
    }

    void theFirstLayersShareTheWholeModel() {
        const auto ledger = std::make_shared<MemoryLedger>();
        std::shared_ptr<const Weights> whole = *random_weights(*preset_config("tiny"), 1, ledger);
        const std::uint64_t bytes = ledger->total();
        const float* embedding = whole->token_embedding;
        const auto first = first_layers(std::move(whole), 1);
        QCOMPARE(first->config.n_layer, 1);
        QCOMPARE(first->layers.size(), std::size_t{1});
        QCOMPARE(first->token_embedding, embedding);
        QCOMPARE(ledger->total(), bytes);  // kept alive, not copied
    }

    void threadsDoNotChangeTheResult_data() {
        QTest::addColumn<int>("type");
        for (const WeightType type : all_weight_types)
            QTest::newRow(to_string(type)) << static_cast<int>(type);
    }
    void threadsDoNotChangeTheResult() {
        QFETCH(int, type);
        const auto ledger = std::make_shared<MemoryLedger>();
        ModelConfig config = *preset_config("tiny");
        config.d_ff = 1024;  // enough to do for several threads
        const auto weights = *random_weights(config, 1, ledger);
        std::vector<std::int32_t> tokens(48);
        for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * 7 % 64);
        std::vector<std::vector<float>> rows;
        for (const int threads : {1, 2, 2, 5}) {
            const auto backend = make_cpu_backend(threads);
            const auto packed = test::prepared(weights, *backend, static_cast<WeightType>(type));
            Workspace workspace(ledger);
            CallTokens call;
            call.add_row(tokens, 0);
            const auto output = forward(*packed, call, all_rows(call), nullptr, {}, workspace, *backend);
            QVERIFY(output);
            rows.emplace_back(output->logits.begin(), output->logits.end());
        }
        for (const auto& other : rows) QVERIFY(other == rows[0]);
    }
};

QTEST_APPLESS_MAIN(TestModel)
#include "tst_model.moc"
