// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/plan/known_models.h"
#include "engine/plan/shape_reader.h"

using namespace decodescope;

/// The bundled table of published configurations.
class KnownModelsTest : public QObject {
    Q_OBJECT

private slots:
    void every_entry_has_as_many_parameters_as_published() {
        const auto models = load_known_models();
        QVERIFY2(models, models ? "" : models.error().message.c_str());
        QVERIFY(models->size() >= 40);
        for (const KnownModel& model : *models) {
            QVERIFY2(model.shape.n_parameter() == model.parameters, model.name.c_str());
            QVERIFY2(model.source.starts_with("huggingface.co/"), model.name.c_str());
            QVERIFY2(model.shape.n_positions > 0, model.name.c_str());
            QCOMPARE(model.shape.name, model.name);
            QVERIFY(!model.shape.loadable);
            // What this program runs is described as the engine would.
            if (model.shape.config) QCOMPARE(model.shape.config->n_parameter(), model.parameters);
        }
    }

    void bytes_of_one_token_are_as_published_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("attention");
        QTest::addColumn<qint64>("elements");  // all layers
        QTest::addColumn<int>("window_layers");
        const auto row = [](const char* name, const char* attention, qint64 elements, int window_layers = 0) {
            QTest::newRow(name) << QString(name) << QString(attention) << elements << window_layers;
        };
        row("gpt2-small", "MHA", 2 * 12 * 768);
        row("gpt2-xl", "MHA", 307'200 / 2);
        row("llama-3-70b", "GQA", 327'680 / 2);
        row("tinyllama-1.1b", "GQA", 22'528 / 2);
        row("qwen3-0.6b", "GQA", 114'688 / 2);  // hidden / heads would give half
        row("mistral-7b", "GQA", 131'072 / 2, 32);
        row("gemma-2-9b", "GQA", 42 * 2 * 8 * 256, 21);
        row("gemma-3-1b", "MQA", 26 * 2 * 256, 22);
        row("falcon-7b", "MQA", 32 * 2 * 64);
        row("deepseek-v3", "MLA", 61 * 576);
        row("phi-3-mini-4k", "MHA", 32 * 2 * 32 * 96, 32);
    }
    void bytes_of_one_token_are_as_published() {
        QFETCH(const QString, name);
        const auto shape = read_shape("known:" + name.toStdString());
        QVERIFY2(shape, shape ? "" : shape.error().message.c_str());
        QTEST(QString(to_string(shape->attention())), "attention");
        QTEST(qint64{shape->kv_elements()}, "elements");
        QTEST(shape->n_window_layer, "window_layers");
    }

    void broken_tables_are_refused_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("sentence");
        const auto table = [](const char* models) {
            return QByteArray(R"({"schema": "decodescope.models/1", "models": )") + models + "}";
        };
        QTest::newRow("no schema") << QByteArray(R"({"models": []})")
                                   << "table: schema is not \"decodescope.models/1\".";
        QTest::newRow("no list") << table("3") << "table: models is not a list.";
        QTest::newRow("no object") << table("[3]") << "table: models[0] is not an object.";
        QTest::newRow("no source") << table(R"([{"name": "a", "title": "A"}])")
                                   << "table: models[0] lacks its name, title or source.";
        QTest::newRow("no parameters")
            << table(R"([{"name": "a", "title": "A", "source": "s", "parameters": "3"}])")
            << "table: models[0] (\"a\") lacks its parameters, a whole number.";
        QTest::newRow("no config") << table(
                                          R"([{"name": "a", "title": "A", "source": "s", "parameters": 3}])")
                                   << "table: models[0] (\"a\") lacks its config, an object.";
        const char* whole =
            R"({"name": "a", "title": "A", "source": "s", "parameters": 3, "config": {"model_type": "x",
                "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
                "head_dim": 4, "vocab_size": 9}})";
        QTest::newRow("twice") << table(QByteArray("[").append(whole).append(",").append(whole).append("]"))
                               << "table: models[1] has the name \"a\" of another.";
        QTest::newRow("bad config")
            << table(
                   R"([{"name": "a", "title": "A", "source": "s", "parameters": 3, "config": {"hidden_size": 0}}])")
            << "table: models[0] (\"a\"): num_hidden_layers is missing";
    }
    void broken_tables_are_refused() {
        QFETCH(const QByteArray, text);
        const auto models = parse_known_models(text.toStdString(), "table");
        QVERIFY(!models);
        QFETCH(const QString, sentence);
        QVERIFY2(QString::fromStdString(models.error().message).startsWith(sentence),
                 models.error().message.c_str());
    }
};

QTEST_APPLESS_MAIN(KnownModelsTest)
#include "tst_known_models.moc"
