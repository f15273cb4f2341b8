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

#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/lane_card.h"
#include "ui/experiment_panel/model_card.h"

using namespace decodescope;

namespace {

Experiment base() {
    Experiment experiment;
    for (const char* name : {"naive", "static"}) experiment.lanes.push_back(*lane_from_name(name));
    experiment.prompt.text = "It is a truth";
    return experiment;
}

}  // namespace

class ExperimentPanelTest : public QObject {
    Q_OBJECT

private slots:
    void roundTrip_data();
    void roundTrip();
    void formChangesTheExperiment();
    void lanesAreAddedAndRemoved();
    void oneLaneIsTheReference();
    void prefillTexts_data();
    void prefillTexts();
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
        [](Experiment& e) { e.prompt.text = "Ünïcode\n\nдва \"строки\"\t "; });
    row("ids", [](Experiment& e) {
        e.prompt = {};
        e.prompt.kind = PromptSpec::Kind::ids;
        e.prompt.ids = {0, 7, 2047};
    });
    row("random", [](Experiment& e) {
        e.prompt = {};
        e.prompt.kind = PromptSpec::Kind::random;
        e.prompt.length = 128;
        e.prompt.seed = 9'007'199'254'740'993;
    });
    row("sampling", [](Experiment& e) { e.sampling = {SamplingKind::sample, 0.85, 40, 18'110'000'000'001}; });
    row("free", [](Experiment& e) { e.drive = Drive::free; });
    row("fixed", [](Experiment& e) {
        e.drive = Drive::fixed;
        e.new_tokens = 4;
        e.fixed_ids = {3, 1, 4};
    });
    row("preset", [](Experiment& e) {
        e.model = {.path = {}, .preset = "gpt2-small", .seed = 42};
        e.prompt = {};
        e.prompt.kind = PromptSpec::Kind::ids;
        e.prompt.ids = {1};
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
    card->findChild<QComboBox*>("laneKind")->setCurrentIndex(2);
    card->findChild<QComboBox*>("laneAllocation")->setCurrentIndex(1);
    const Experiment experiment = panel.experiment();
    QCOMPARE(experiment.prompt.text, std::string("Call me"));
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
    QCOMPARE(experiment.lanes[2].cache.kind, CacheKind::concat);
    QVERIFY2(experiment.validate().ok(), "names of added lanes must differ");
    panel.findChild<LaneCard*>("lane0")->findChild<QToolButton*>("laneRemove")->click();
    QTRY_COMPARE(panel.experiment().lanes.size(), std::size_t{3});
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

void ExperimentPanelTest::prefillTexts_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("ok");
    QTest::addColumn<int>("chunk");
    QTest::addColumn<QList<int>>("partition");
    QTest::newRow("whole prompt") << "" << true << 0 << QList<int>{};
    QTest::newRow("one size") << "16" << true << 16 << QList<int>{};
    QTest::newRow("sizes") << "4, 3,2" << true << 0 << QList<int>{4, 3, 2};
    QTest::newRow("zero") << "0" << false << 0 << QList<int>{};
    QTest::newRow("not a number") << "many" << false << 0 << QList<int>{};
    QTest::newRow("one bad size") << "4, x" << false << 0 << QList<int>{};
}

void ExperimentPanelTest::prefillTexts() {
    QFETCH(QString, text);
    QFETCH(bool, ok);
    QFETCH(int, chunk);
    QFETCH(QList<int>, partition);
    LaneSpec lane = *lane_from_name("static");
    QCOMPARE(setPrefill(lane, text), ok);
    if (!ok) return;
    QCOMPARE(lane.prefill_chunk, chunk);
    QCOMPARE(lane.prefill_partition, std::vector<int>(partition.begin(), partition.end()));
    LaneSpec again = *lane_from_name("static");
    QVERIFY(setPrefill(again, prefillText(lane)));
    QCOMPARE(again.prefill_chunk, lane.prefill_chunk);
    QCOMPARE(again.prefill_partition, lane.prefill_partition);
}

void ExperimentPanelTest::modelsWithoutTokenizerTakeIds() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.setModel(ModelConfig(), false);
    QCOMPARE(panel.experiment().prompt.kind, PromptSpec::Kind::random);
    QVERIFY(panel.experiment().validate().ok());
    panel.setModel(ModelConfig(), true);
    QCOMPARE(panel.experiment().prompt.kind, PromptSpec::Kind::text);
    QCOMPARE(panel.experiment().prompt.text, std::string("It is a truth"));
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
    config.stored_dtype = DType::f16;
    panel.setModel(config, true);
    QCOMPARE(panel.findChild<QLabel*>("modelName")->text(), QString("demo"));
    const QString details = panel.findChild<QLabel*>("modelDetails")->text().replace(QChar::Nbsp, ' ');
    QCOMPARE(details,
             QString("GPT-2 family · 5.5 M · 6 layers · 8 heads\nF16 · KV 12,288 B per token (f32)"));
}

QTEST_MAIN(ExperimentPanelTest)
#include "tst_experiment_panel.moc"
