// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include "tests/patience.h"
#include "tests/ui/experiment_panel/panel_fixture.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/lane_card.h"
#include "ui/experiment_panel/lane_kinds.h"
#include "ui/experiment_panel/model_card.h"

using namespace decodescope;
using namespace decodescope::test;

class ExperimentPanelTest : public QObject {
    Q_OBJECT

private slots:
    void roundTrip_data();
    void roundTrip();
    void formChangesTheExperiment();
    void lanesAreAddedAndRemoved();
    void oneLaneIsTheReference();
    void promptsAreAddedCopiedAndRemoved();
    void problemsStandWhereTheyBelong_data();
    void problemsStandWhereTheyBelong();
    void modelsWithoutTokenizerTakeIds();
    void readOnlyWhileRunning();
    void wheelChangesNothingWithoutFocus();
    void everyControlHasANameForReaders();
    void modelCardTellsTheFacts();
};

void ExperimentPanelTest::roundTrip_data() {
    QTest::addColumn<QString>("json");
    const auto row = [](const char* name, auto change) {
        Experiment experiment = base();
        change(experiment);
        QTest::newRow(name) << QString::fromStdString(to_json(experiment));
    };
    row("plain", [](Experiment&) {});
    row("text with lines and other scripts",
        [](Experiment& e) { e.prompts[0].text = "Ünïcode\n\nдва \"строки\"\t "; });
    row("ids", [](Experiment& e) {
        e.prompts = {PromptSpec()};
        e.prompts[0].kind = PromptSpec::Kind::ids;
        e.prompts[0].ids = {0, 7, 2047};
    });
    row("random", [](Experiment& e) {
        e.prompts = {PromptSpec()};
        e.prompts[0].kind = PromptSpec::Kind::random;
        e.prompts[0].length = 128;
        e.prompts[0].seed = 9'007'199'254'740'993;
    });
    row("sampling", [](Experiment& e) { e.sampling = {SamplingKind::sample, 0.85, 40, 18'110'000'000'001}; });
    row("every kind of sampling", [](Experiment& e) {
        e.sampling = {SamplingKind::sample, 0.123456789, 7, 5, 0.95, 0.05, 1.3};
        e.stop_ids = {0, 17};
    });
    row("greedy with a penalty", [](Experiment& e) { e.sampling.repetition_penalty = 1.1; });
    row("requests", [](Experiment& e) {
        e.lanes.push_back(*lane_from_name("continuous"));
        e.prompts.resize(3);
        e.prompts[1] = {.kind = PromptSpec::Kind::ids, .text = {}, .ids = {4, 5}, .isolation = "b c"};
        e.prompts[1].arrival_step = 3;
        e.prompts[2] = {.kind = PromptSpec::Kind::random, .text = {}, .ids = {}, .length = 5, .seed = 8};
        e.prompts[2].cancel_after = 9;
    });
    row("control tokens", [](Experiment& e) { e.prompts[0].control = true; });
    row("turns every step", [](Experiment& e) { e.interleave = Interleave::step; });
    row("many repetitions", [](Experiment& e) { e.repetitions = 9999; });
    row("free", [](Experiment& e) { e.drive = Drive::free; });
    row("fixed", [](Experiment& e) {
        e.drive = Drive::fixed;
        e.new_tokens = 4;
        e.fixed_ids = {3, 1, 4};
    });
    row("preset", [](Experiment& e) {
        e.model = {.path = {}, .preset = "gpt2-small", .seed = 42};
        e.prompts = {PromptSpec()};
        e.prompts[0].kind = PromptSpec::Kind::ids;
        e.prompts[0].ids = {1};
    });
    row("measuring", [](Experiment& e) {
        e.repetitions = 7;
        e.warmup = 0;
        e.threads = 3;
        e.interleave = Interleave::repetition;
        e.stop_at_eos = true;
    });
    row("lanes", [](Experiment& e) {
        e.lanes.push_back(*lane_from_name("concat"));
        e.lanes[1].cache.capacity = 512;
        e.lanes[1].prefill_chunk = 16;
        e.lanes[2].prefill_partition = {2, 1};
        e.lanes[2].allocation = AllocationPolicy::fresh;
        e.lanes[0].name = "the naive one";
        e.reference = e.lanes[2].name;
    });
}

void ExperimentPanelTest::roundTrip() {
    QFETCH(QString, json);
    Result<Experiment> experiment = parse_experiment(json.toStdString());
    QVERIFY2(experiment.ok(), experiment.ok() ? "" : experiment.error().message.c_str());
    ExperimentPanel panel;
    panel.setExperiment(*experiment);
    // The panel always names the reference; leaving it out means the first lane.
    if (experiment->reference.empty()) experiment->reference = experiment->lanes.front().name;
    QCOMPARE(QString::fromStdString(to_json(panel.experiment())),
             QString::fromStdString(to_json(*experiment)));
}

void ExperimentPanelTest::formChangesTheExperiment() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    QSignalSpy edited(&panel, &ExperimentPanel::edited);
    panel.findChild<QPlainTextEdit*>("promptEdit")->setPlainText("Call me");
    panel.findChild<QSpinBox*>("newTokens")->setValue(77);
    panel.findChild<QComboBox*>("drive")->setCurrentIndex(1);
    panel.findChild<QComboBox*>("sampling")->setCurrentIndex(1);
    panel.findChild<QDoubleSpinBox*>("temperature")->setValue(0.5);
    panel.findChild<QSpinBox*>("topK")->setValue(20);
    panel.findChild<QLineEdit*>("seed")->setText("18446744073709551");
    panel.findChild<QSpinBox*>("repetitions")->setValue(3);
    panel.findChild<QSpinBox*>("threads")->setValue(2);
    auto* card = panel.findChild<LaneCard*>("lane1");
    chooseKind(card, "concat");
    card->findChild<QComboBox*>("laneAllocation")->setCurrentIndex(1);
    const Experiment experiment = panel.experiment();
    QCOMPARE(experiment.prompts[0].text, std::string("Call me"));
    QCOMPARE(experiment.new_tokens, 77);
    QCOMPARE(experiment.drive, Drive::free);
    QCOMPARE(experiment.sampling.kind, SamplingKind::sample);
    QCOMPARE(experiment.sampling.temperature, 0.5);
    QCOMPARE(experiment.sampling.top_k, 20);
    QCOMPARE(experiment.sampling.seed, std::uint64_t{18446744073709551});
    QCOMPARE(experiment.repetitions, 3);
    QCOMPARE(experiment.threads, 2);
    QCOMPARE(experiment.lanes[1].cache.kind, CacheKind::concat);
    QCOMPARE(experiment.lanes[1].allocation, AllocationPolicy::fresh);
    QVERIFY(experiment.validate().ok());
    QVERIFY(edited.count() >= 9);
}

void ExperimentPanelTest::lanesAreAddedAndRemoved() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.show();
    auto* add = panel.findChild<QPushButton*>("addLane");
    add->click();
    add->click();
    Experiment experiment = panel.experiment();
    QCOMPARE(experiment.lanes.size(), std::size_t{4});
    QCOMPARE(experiment.lanes[2].batching, Batching::static_);
    QCOMPARE(experiment.lanes[3].cache.kind, CacheKind::concat);
    QVERIFY2(experiment.validate().ok(), "names of added lanes must differ");
    panel.findChild<LaneCard*>("lane0")->findChild<QToolButton*>("laneRemove")->click();
    QTRY_COMPARE_WITH_TIMEOUT(panel.experiment().lanes.size(), std::size_t{3}, test::patience);
    experiment = panel.experiment();
    QCOMPARE(experiment.lanes[0].cache.kind, CacheKind::static_);
    QCOMPARE(experiment.reference, experiment.lanes[0].name);
    for (int i = 0; i < 5; ++i) {
        emit panel.findChild<LaneCard*>("lane0")->removeRequested();
        QCoreApplication::processEvents();
    }
    QCOMPARE(panel.experiment().lanes.size(), std::size_t{1});
}

void ExperimentPanelTest::oneLaneIsTheReference() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    auto* first = panel.findChild<LaneCard*>("lane0")->findChild<QCheckBox*>("laneReference");
    auto* second = panel.findChild<LaneCard*>("lane1")->findChild<QCheckBox*>("laneReference");
    QVERIFY(first->isChecked() && !second->isChecked());
    second->click();
    QVERIFY(!first->isChecked() && second->isChecked());
    QCOMPARE(panel.experiment().reference_index(), std::size_t{1});
    second->click();  // there must be one
    QVERIFY(second->isChecked());
    // A reference keeps its role under another name.
    auto* name = panel.findChild<LaneCard*>("lane1")->findChild<QLineEdit*>("laneName");
    name->selectAll();
    QTest::keyClicks(name, "mine");
    QCOMPARE(panel.experiment().reference, std::string("mine"));
}

void ExperimentPanelTest::promptsAreAddedCopiedAndRemoved() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.show();
    QSignalSpy edited(&panel, &ExperimentPanel::edited);
    auto* first = panel.findChild<QWidget*>("prompt0");
    QVERIFY(first->findChild<QToolButton*>("promptRemove")->isHidden());
    first->findChild<QLineEdit*>("promptIsolation")->setText("a group");
    first->findChild<QToolButton*>("promptDuplicate")->click();
    QTRY_COMPARE_WITH_TIMEOUT(panel.experiment().prompts.size(), std::size_t{2}, test::patience);
    QCOMPARE(panel.experiment().prompts[1].text, std::string("It is a truth"));
    QCOMPARE(panel.experiment().prompts[1].isolation, std::string("a group"));
    QVERIFY(panel.problem().isEmpty());
    panel.findChild<QPushButton*>("addPrompt")->click();
    QCOMPARE(panel.experiment().prompts.size(), std::size_t{3});
    // The new one is empty, which is said under it; nothing can run until it has a text.
    QVERIFY2(panel.problem().contains("prompts[2]"), qPrintable(panel.problem()));
    auto* third = panel.findChild<QWidget*>("prompt2");
    third->findChild<QPlainTextEdit*>("promptEdit")->setPlainText("third");
    QVERIFY(panel.problem().isEmpty());
    first->findChild<QToolButton*>("promptRemove")->click();
    QTRY_COMPARE_WITH_TIMEOUT(panel.experiment().prompts.size(), std::size_t{2}, test::patience);
    QCOMPARE(panel.experiment().prompts[1].text, std::string("third"));
    QVERIFY(edited.count() >= 4);
}

void ExperimentPanelTest::problemsStandWhereTheyBelong_data() {
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("label");
    QTest::addColumn<QString>("fragment");
    QTest::newRow("block") << "block"
                           << "lane1/laneProblem"
                           << "cache.block is 0";
    QTest::newRow("no name") << "name"
                             << "lane1/laneProblem"
                             << "name is empty";
    QTest::newRow("beam with sampling") << "beam"
                                        << "lane1/laneProblem"
                                        << "greedy";
    QTest::newRow("arrival without a continuous lane") << "arrival"
                                                       << "prompt0/promptProblem"
                                                       << "arrival_step";
    QTest::newRow("turns") << "turns"
                           << "runProblem"
                           << "interleave";
    QTest::newRow("given tokens") << "fixed"
                                  << "generationProblem"
                                  << "fixed_ids";
    QTest::newRow("top p") << "topP"
                           << "generationProblem"
                           << "sampling.top_p";
    QTest::newRow("layers of the model") << "layers"
                                         << "lane1/laneProblem"
                                         << "draft.layers";
    QTest::newRow("token of the model") << "stop"
                                        << "generationProblem"
                                        << "stop_ids";
}

void ExperimentPanelTest::problemsStandWhereTheyBelong() {
    QFETCH(QString, field);
    QFETCH(QString, label);
    QFETCH(QString, fragment);
    Experiment experiment = base();
    experiment.lanes[1] = *lane_from_name(field == "layers" ? "speculative-layers" : "paged");
    ExperimentPanel panel;
    panel.setExperiment(experiment);
    ModelConfig config;
    config.vocab = 100;
    config.n_layer = 2;
    config.head_dim = 32;
    panel.setModel(config, true);
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    QSignalSpy checked(&panel, &ExperimentPanel::checked);
    auto* lane = panel.findChild<LaneCard*>("lane1");
    auto* sampling = panel.findChild<QComboBox*>("sampling");
    if (field == "block") lane->findChild<QSpinBox*>("laneBlock")->setValue(0);
    if (field == "layers") lane->findChild<QSpinBox*>("laneDraftLayers")->setValue(2);
    if (field == "name") {
        lane->findChild<QLineEdit*>("laneName")->selectAll();
        QTest::keyClick(lane->findChild<QLineEdit*>("laneName"), Qt::Key_Delete);
    }
    if (field == "beam") {
        panel.findChild<QComboBox*>("drive")->setCurrentIndex(1);
        sampling->setCurrentIndex(1);
        chooseKind(lane, "beam");
    }
    if (field == "arrival") panel.findChild<QSpinBox*>("promptArrival")->setValue(2);
    if (field == "turns") {
        chooseKind(lane, "speculative");
        panel.findChild<QComboBox*>("interleave")->setCurrentIndex(1);
    }
    if (field == "fixed") panel.findChild<QComboBox*>("drive")->setCurrentIndex(2);
    if (field == "topP") {
        sampling->setCurrentIndex(1);
        panel.findChild<QDoubleSpinBox*>("topP")->setValue(0);
    }
    if (field == "stop") {
        auto* edit = panel.findChild<QLineEdit*>("stopIds");
        QTest::keyClicks(edit, "5, 100");
    }
    QVERIFY2(panel.problem().contains(fragment), qPrintable(panel.problem()));
    QVERIFY(checked.count() >= 1);
    int shown = 0;
    for (const QLabel* each : panel.findChildren<QLabel*>()) {
        if (!each->objectName().endsWith("Problem") || each->text().isEmpty()) continue;
        ++shown;
        QVERIFY(!each->isHidden());
        QVERIFY2(each->text().contains(fragment.section('.', -1)), qPrintable(each->text()));
        QCOMPARE(each->objectName(), label.section('/', -1));
        if (label.contains('/')) {
            const QWidget* place = panel.findChild<QWidget*>(label.section('/', 0, 0));
            QVERIFY(place->isAncestorOf(each));
        }
    }
    QCOMPARE(shown, 1);
}

void ExperimentPanelTest::modelsWithoutTokenizerTakeIds() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.setModel(ModelConfig(), false);
    QCOMPARE(panel.experiment().prompts[0].kind, PromptSpec::Kind::random);
    QVERIFY(panel.experiment().validate().ok());
    panel.setModel(ModelConfig(), true);
    QCOMPARE(panel.experiment().prompts[0].kind, PromptSpec::Kind::text);
    QCOMPARE(panel.experiment().prompts[0].text, std::string("It is a truth"));
}

void ExperimentPanelTest::readOnlyWhileRunning() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.setRunning(true);
    QVERIFY(!panel.findChild<QPlainTextEdit*>("promptEdit")->isEnabled());
    QVERIFY(!panel.findChild<QPushButton*>("addLane")->isEnabled());
    QVERIFY(!panel.findChild<QToolButton*>("modelChoose")->isEnabled());
    panel.setRunning(false);
    QVERIFY(panel.findChild<QPlainTextEdit*>("promptEdit")->isEnabled());
}

void ExperimentPanelTest::wheelChangesNothingWithoutFocus() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.show();
    auto* tokens = panel.findChild<QSpinBox*>("newTokens");
    tokens->clearFocus();
    const int before = tokens->value();
    const QPointF middle = tokens->rect().center();
    QWheelEvent wheel(middle, tokens->mapToGlobal(middle), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(tokens, &wheel);
    QCOMPARE(tokens->value(), before);
}

void ExperimentPanelTest::everyControlHasANameForReaders() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    int n = 0;
    for (const QWidget* widget : panel.findChildren<QWidget*>()) {
        const bool control =
            qobject_cast<const QAbstractSpinBox*>(widget) || qobject_cast<const QComboBox*>(widget) ||
            qobject_cast<const QPlainTextEdit*>(widget) || qobject_cast<const QAbstractButton*>(widget) ||
            (qobject_cast<const QLineEdit*>(widget) &&
             !qobject_cast<const QAbstractSpinBox*>(widget->parentWidget()));
        if (!control || widget->objectName().startsWith("qt_") || widget->objectName() == "ScrollLeftButton")
            continue;
        ++n;
        QVERIFY2(!widget->objectName().isEmpty(), widget->metaObject()->className());
        QVERIFY2(!widget->accessibleName().isEmpty() || !widget->property("text").toString().isEmpty(),
                 qPrintable(widget->objectName()));
    }
    QVERIFY(n > 20);
}

void ExperimentPanelTest::modelCardTellsTheFacts() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    ModelConfig config;
    config.vocab = 2048;
    config.n_positions = 1024;
    config.d_model = 256;
    config.n_layer = 6;
    config.n_head = config.n_kv_head = 8;
    config.head_dim = 32;
    config.d_ff = 1024;
    config.stored_as = "f16";
    panel.setModel(config, true);
    QCOMPARE(panel.findChild<QLabel*>("modelName")->text(), QString("demo"));
    const QString details = panel.findChild<QLabel*>("modelDetails")->text().replace(QChar::Nbsp, ' ');
    QCOMPARE(details,
             QString("GPT-2 family · 5.5 M · 6 layers · 8 heads\nF16 · KV 12,288 B per token (f32)"));
}

QTEST_MAIN(ExperimentPanelTest)
#include "tst_experiment_panel.moc"
