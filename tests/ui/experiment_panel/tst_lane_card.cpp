// SPDX-License-Identifier: GPL-3.0-or-later
// Lane cards: every kind of lane and every setting of it, from the list and from files.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QTest>

#include "tests/ui/experiment_panel/panel_fixture.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/lane_card.h"
#include "ui/experiment_panel/lane_kinds.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// An experiment in which a lane of any kind may take part.
Experiment forAnyLane(const LaneSpec& lane) {
    Experiment experiment = base();
    experiment.drive = Drive::free;
    experiment.lanes[0].name = "the reference";
    experiment.lanes[1] = lane;
    experiment.reference = experiment.lanes[0].name;
    return experiment;
}

CudaDevices twoGpus() {
    CudaDevices two;
    two.driver = two.runtime = "13.0";
    for (const int index : {0, 1}) {
        CudaDevice& gpu = two.devices.emplace_back();
        gpu.index = index;
        gpu.name = index == 0 ? "GPU A" : "GPU B";
        gpu.compute_major = 9;
        gpu.memory_bytes = std::uint64_t{4} << 30;
        gpu.free_bytes = std::uint64_t{1} << 30;
    }
    return two;
}

/// Shows the usual experiment beside two GPUs; its second lane's card, open.
LaneCard* showWithGpus(ExperimentPanel& panel) {
    panel.setExperiment(base());
    panel.resize(400, 2000);
    panel.show();
    panel.setDevices(twoGpus());
    auto* card = panel.findChild<LaneCard*>("lane1");
    card->setFormVisible(true);
    return card;
}

}  // namespace

class LaneCardTest : public QObject {
    Q_OBJECT

private slots:
    void everyKindSurvives_data();
    void everyKindSurvives();
    void everySettingSurvives_data();
    void everySettingSurvives();
    void fieldsOfTheKindAlone_data();
    void fieldsOfTheKindAlone();
    void kindsKeepWhatTheyShare();
    void weightsAndProducts();
    void devices();
    void graphs();
    void tf32();
    void withoutGpu();
    void prefillTexts_data();
    void prefillTexts();
};

void LaneCardTest::everyKindSurvives_data() {
    QTest::addColumn<int>("kind");
    for (int kind = 0; kind < laneKinds().size(); ++kind)
        QTest::newRow(laneKinds().at(kind).lane.name.c_str()) << kind;
}

// Chosen from the list a kind is what its word says; put into the panel it comes out as it went in.
void LaneCardTest::everyKindSurvives() {
    QFETCH(int, kind);
    const LaneSpec& wanted = laneKinds().at(kind).lane;
    QCOMPARE(laneKindOf(wanted), kind);
    QVERIFY(!laneDescription(wanted).isEmpty());
    const Experiment expected = forAnyLane(wanted);
    const Result<void> valid = expected.validate();
    QVERIFY2(valid.ok(), valid.ok() ? "" : valid.error().message.c_str());

    ExperimentPanel panel;
    panel.setExperiment(expected);
    QCOMPARE(QString::fromStdString(to_json(panel.experiment())), QString::fromStdString(to_json(expected)));
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));

    for (const char* before : {"naive", "kivi2", "continuous", "beam", "speculative-layers"}) {
        panel.setExperiment(forAnyLane(laneKinds().at(0).lane));
        auto* card = panel.findChild<LaneCard*>("lane1");
        chooseKind(card, before);
        chooseKind(card, wanted.name.c_str());
        QCOMPARE(QString::fromStdString(to_json(panel.experiment())),
                 QString::fromStdString(to_json(expected)));
        QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    }
}

void LaneCardTest::everySettingSurvives_data() {
    QTest::addColumn<QString>("lane");
    const auto row = [](const char* name, const char* json) { QTest::newRow(name) << QString(json); };
    row("paged", R"("mode": "cached", "cache": {"kind": "paged", "dtype": "bf16", "capacity": 90, "block": 4,
        "blocks": 77})");
    row("masked window", R"("mode": "cached", "cache": {"kind": "concat", "dtype": "f16"},
        "window": {"size": 12, "sinks": 2})");
    row("forgetting window", R"("mode": "cached", "cache": {"kind": "window", "dtype": "f16", "capacity": 80},
        "window": {"size": 12})");
    row("kivi", R"("mode": "cached", "cache": {"kind": "kivi", "bits": 2, "group": 64, "residual": 0},
        "prefill_chunk": 5)");
    row("batch",
        R"("mode": "cached", "cache": {"kind": "int8"}, "batch": {"kind": "static", "padding": "right"})");
    row("packed", R"("mode": "cached", "cache": {"kind": "kivi", "bits": 4},
        "batch": {"kind": "static", "padding": "none"}, "prefill_chunk": 3)");
    row("naive batch", R"("mode": "naive", "batch": {"kind": "static", "padding": "none"},
        "window": {"size": 9}, "allocation": "fresh")");
    row("continuous", R"("mode": "cached", "cache": {"kind": "paged", "block": 8, "blocks": 40,
        "share_prefixes": true}, "batch": {"kind": "continuous", "max_rows": 3, "budget": 500},
        "prefill_chunk": 16)");
    row("continuous int8", R"("mode": "cached", "cache": {"kind": "int8", "capacity": 70},
        "batch": {"kind": "continuous"})");
    row("n-grams", R"("mode": "speculative", "cache": {"kind": "paged"},
        "draft": {"kind": "ngram", "tokens": 7, "ngram": 3})");
    row("layers", R"("mode": "speculative", "cache": {"kind": "concat"},
        "draft": {"kind": "layers", "tokens": 2, "layers": 3, "acceptance": "match"})");
    row("model", R"("mode": "speculative", "cache": {"kind": "static"},
        "draft": {"kind": "model", "tokens": 2, "model": {"preset": "tiny", "seed": 9}})");
    row("model in a folder", R"("mode": "speculative", "cache": {"kind": "static"},
        "draft": {"kind": "model", "model": {"path": "/some/where else"}})");
    row("beams", R"("mode": "beam", "cache": {"kind": "paged", "block": 2}, "beams": 7)");
    row("bf16 weights", R"("mode": "naive", "weights": "bf16")");
    row("int4 weights", R"("mode": "cached", "weights": "int4", "cache": {"kind": "kivi", "bits": 2})");
    row("OpenBLAS", R"("mode": "cached", "kernels": "openblas", "cache": {"kind": "paged"})");
    row("on the CPU", R"("mode": "naive", "device": "cpu")");
    row("on a GPU", R"("mode": "cached", "device": "cuda:1", "cuda_graph": true, "weights": "bf16",
        "cache": {"kind": "static"})");
    row("TF32", R"("mode": "cached", "device": "cuda:1", "tf32": true, "cache": {"kind": "paged"})");
    row("one chunk", R"("mode": "cached", "cache": {"kind": "static"}, "prefill_partition": [3])");
}

void LaneCardTest::everySettingSurvives() {
    QFETCH(QString, lane);
    const QString json = QStringLiteral(
                             R"({"schema": "decodescope.experiment/1", "drive": "free",
        "prompts": [{"text": "It"}], "lanes": [{"name": "naive", "mode": "naive"}, {"name": "x y", %1}]})")
                             .arg(lane);
    const Result<Experiment> experiment = parse_experiment(json.toStdString());
    QVERIFY2(experiment.ok(), experiment.ok() ? "" : experiment.error().message.c_str());
    ExperimentPanel panel;
    panel.setExperiment(*experiment);
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    QCOMPARE(QString::fromStdString(to_json(panel.experiment())),
             QString::fromStdString(to_json(*experiment)));
    // Reading the whole form changes nothing either: only the setting that was touched is another one.
    auto* buffers = panel.findChild<LaneCard*>("lane1")->findChild<QComboBox*>("laneAllocation");
    const int before = buffers->currentIndex();
    buffers->setCurrentIndex(1 - before);
    QVERIFY(to_json(panel.experiment()) != to_json(*experiment));
    buffers->setCurrentIndex(before);
    QCOMPARE(QString::fromStdString(to_json(panel.experiment())),
             QString::fromStdString(to_json(*experiment)));
}

void LaneCardTest::fieldsOfTheKindAlone_data() {
    QTest::addColumn<QString>("word");
    QTest::addColumn<QStringList>("fields");
    const auto row = [](const char* word, const char* fields) {
        QTest::newRow(word) << QString(word) << QString(fields).split(' ');
    };
    row("naive", "laneWindow laneWeights laneKernels laneAllocation");
    row("naive-batch", "laneWindow lanePadding laneWeights laneKernels laneAllocation");
    row("concat", "laneDtype laneWindow lanePrefill laneWeights laneKernels laneAllocation");
    row("static", "laneDtype laneCapacity laneWindow lanePrefill laneWeights laneKernels laneAllocation");
    row("paged",
        "laneDtype laneCapacity laneBlock laneBlocks laneWindow lanePrefill laneWeights laneKernels "
        "laneAllocation");
    row("int8", "laneCapacity laneWindow lanePrefill laneWeights laneKernels laneAllocation");
    row("kivi4",
        "laneBits laneGroup laneResidual laneCapacity laneWindow lanePrefill laneWeights laneKernels "
        "laneAllocation");
    row("window",
        "laneDtype laneCapacity laneWindow laneSinks lanePrefill laneWeights laneKernels laneAllocation");
    row("batch",
        "laneCache laneDtype laneCapacity laneWindow lanePadding lanePrefill laneWeights laneKernels "
        "laneAllocation");
    row("continuous",
        "laneCache laneDtype laneCapacity laneBlock laneBlocks laneShare laneWindow "
        "laneMaxRows laneBudget lanePrefill laneWeights laneKernels laneAllocation");
    row("speculative",
        "laneCache laneDtype laneCapacity laneWindow laneDraftTokens laneDraftNgram "
        "laneAcceptance lanePrefill laneWeights laneKernels laneAllocation");
    row("speculative-layers",
        "laneCache laneDtype laneCapacity laneWindow laneDraftTokens laneDraftLayers "
        "laneAcceptance lanePrefill laneWeights laneKernels laneAllocation");
    row("speculative-model",
        "laneCache laneDtype laneCapacity laneWindow laneDraftTokens laneDraftModel "
        "laneAcceptance lanePrefill laneWeights laneKernels laneAllocation");
    row("beam",
        "laneCache laneDtype laneCapacity laneWindow laneBeams lanePrefill laneWeights laneKernels "
        "laneAllocation");
}

void LaneCardTest::fieldsOfTheKindAlone() {
    QFETCH(QString, word);
    QFETCH(QStringList, fields);
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.resize(400, 2000);
    panel.show();
    auto* card = panel.findChild<LaneCard*>("lane1");
    card->setFormVisible(true);
    chooseKind(card, word.toUtf8().constData());
    QStringList visible;
    for (const char* name :
         {"laneCache",      "laneDtype",       "laneBits",       "laneGroup",      "laneResidual",
          "laneCapacity",   "laneBlock",       "laneBlocks",     "laneShare",      "laneWindow",
          "laneSinks",      "lanePadding",     "laneMaxRows",    "laneBudget",     "laneDraftTokens",
          "laneDraftNgram", "laneDraftLayers", "laneDraftModel", "laneAcceptance", "laneBeams",
          "lanePrefill",    "laneAllocation",  "laneWeights",    "laneKernels"}) {
        const auto* field = card->findChild<QWidget*>(name);
        QVERIFY2(field != nullptr, name);
        QVERIFY2(!field->toolTip().isEmpty(), name);
        if (field->isVisible()) visible << name;
    }
    QStringList expected = fields;
    visible.sort();
    expected.sort();
    QCOMPARE(visible, expected);
}

void LaneCardTest::kindsKeepWhatTheyShare() {
    LaneSpec lane = *lane_from_name("paged");
    lane.name = "mine";
    lane.cache.capacity = 99;
    lane.prefill_chunk = 4;
    lane.window = {.size = 20, .sinks = 1};
    lane.allocation = AllocationPolicy::fresh;
    Experiment experiment = forAnyLane(lane);
    ExperimentPanel panel;
    panel.setExperiment(experiment);
    chooseKind(panel.findChild<LaneCard*>("lane1"), "int8");
    const LaneSpec made = panel.experiment().lanes[1];
    QCOMPARE(made.name, std::string("mine"));
    QCOMPARE(made.cache.kind, CacheKind::int8);
    QCOMPARE(made.cache.capacity, 99);
    QCOMPARE(made.prefill_chunk, 4);
    QCOMPARE(made.window.size, 20);
    QCOMPARE(made.allocation, AllocationPolicy::fresh);
}

// Weights and products are chosen from their lists with the keyboard; what they say goes into the name that
// only says the kind, and no other name.
void LaneCardTest::weightsAndProducts() {
    ExperimentPanel panel;
    Experiment experiment = base();
    experiment.lanes[1] = *lane_from_name("static");
    panel.setExperiment(experiment);
    panel.resize(400, 2000);
    panel.show();
    auto* card = panel.findChild<LaneCard*>("lane1");
    card->setFormVisible(true);
    auto* weights = card->findChild<QComboBox*>("laneWeights");
    auto* kernels = card->findChild<QComboBox*>("laneKernels");
    QCOMPARE(weights->count(), static_cast<int>(all_weight_types.size()));
    for (int i = 0; i < weights->count(); ++i)
        QVERIFY(!weights->itemData(i, Qt::ToolTipRole).toString().isEmpty());
    QVERIFY(weights->focusPolicy() & Qt::TabFocus);
    QVERIFY(kernels->focusPolicy() & Qt::TabFocus);
    QCOMPARE(weights->currentText(), QString("f32"));

    for (int i = 0; i < 3; ++i) QTest::keyClick(weights, Qt::Key_Down);
    QVERIFY(panel.experiment().lanes[1].weights == WeightType::int8);
    QCOMPARE(panel.experiment().lanes[1].name, std::string("static+weights-int8"));
    QVERIFY2(laneDescription(panel.experiment().lanes[1]).contains("int8"),
             qPrintable(laneDescription(panel.experiment().lanes[1])));
    chooseKind(card, "paged");
    QVERIFY(panel.experiment().lanes[1].weights == WeightType::int8);
    QCOMPARE(panel.experiment().lanes[1].name, std::string("paged+weights-int8"));

    // OpenBLAS has no other type than f32, so there is nothing to choose.
    QTest::keyClick(kernels, Qt::Key_Down);
    QVERIFY(panel.experiment().lanes[1].kernels == Kernels::openblas);
    QVERIFY(panel.experiment().lanes[1].weights == WeightType::f32);
    QCOMPARE(panel.experiment().lanes[1].name, std::string("paged+openblas"));
    QVERIFY(!weights->isVisible());
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    QTest::keyClick(kernels, Qt::Key_Up);
    QVERIFY(weights->isVisible());
    QCOMPARE(panel.experiment().lanes[1].name, std::string("paged"));

    experiment.lanes[1].name = "mine";
    panel.setExperiment(experiment);
    card = panel.findChild<LaneCard*>("lane1");
    QTest::keyClick(card->findChild<QComboBox*>("laneWeights"), Qt::Key_End);
    QVERIFY(panel.experiment().lanes[1].weights == WeightType::int4);
    QCOMPARE(panel.experiment().lanes[1].name, std::string("mine"));
}

// The experiment's device and a lane's own, from the lists; a lane is named after its own.
void LaneCardTest::devices() {
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.resize(400, 2000);
    panel.show();
    panel.setDevices(twoGpus());
    auto* device = panel.findChild<QComboBox*>("device");
    QCOMPARE(device->count(), 3);
    QVERIFY2(QString(device->itemText(1)).replace(QChar::Nbsp, ' ') == "cuda:0 · GPU A · 1.00 GiB free",
             qPrintable(device->itemText(1)));
    QVERIFY(device->itemData(1, Qt::ToolTipRole).toString().contains("9.0"));
    QVERIFY(!device->toolTip().contains("CPU only"));
    device->setCurrentIndex(2);
    QCOMPARE(panel.experiment().device.name(), std::string("cuda:1"));
    QVERIFY(panel.experiment().devices() == std::vector<Device>{panel.experiment().device});
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));

    auto* card = panel.findChild<LaneCard*>("lane1");
    card->setFormVisible(true);
    auto* own = card->findChild<QComboBox*>("laneDevice");
    QVERIFY(own->isVisible());
    QCOMPARE(own->count(), 4);
    QTest::keyClick(own, Qt::Key_Down);
    QVERIFY(panel.experiment().lanes[1].device == Device{});
    QCOMPARE(panel.experiment().lanes[1].name, std::string("static+cpu"));
    QVERIFY(laneDescription(panel.experiment().lanes[1]).contains("cpu"));
    QTest::keyClick(own, Qt::Key_Down);
    QCOMPARE(panel.experiment().lanes[1].name, std::string("static+cuda:0"));
    // Another kind of lane stays where it is; another look at the devices changes nothing.
    chooseKind(card, "paged");
    panel.setDevices(twoGpus());
    QCOMPARE(panel.experiment().lanes[1].name, std::string("paged+cuda:0"));
    QTest::keyClick(own, Qt::Key_Home);
    QVERIFY(!panel.experiment().lanes[1].device);
    QCOMPARE(panel.experiment().lanes[1].name, std::string("paged"));

    // What a GPU does not do is said under the lane.
    chooseKind(card, "kivi4");
    QVERIFY2(card->problem().contains("is stored on the CPU alone"), qPrintable(card->problem()));
}

// A graph is offered on a GPU alone, and where it cannot be captured it says why.
void LaneCardTest::graphs() {
    ExperimentPanel panel;
    LaneCard* card = showWithGpus(panel);
    auto* graph = card->findChild<QCheckBox*>("laneGraph");
    auto* why = card->findChild<QLabel*>("laneWhyNoGraph");
    QVERIFY(!graph->isVisible() && !why->isVisible());
    panel.findChild<QComboBox*>("device")->setCurrentIndex(1);
    QVERIFY(graph->isVisible() && graph->isEnabled() && !why->isVisible());
    graph->click();
    QVERIFY(panel.experiment().lanes[1].cuda_graph);
    QCOMPARE(panel.experiment().lanes[1].name, std::string("static+graph"));
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    // Of another kind there is none, and the box does not keep it for later.
    chooseKind(card, "concat");
    QVERIFY(!panel.experiment().lanes[1].cuda_graph);
    QVERIFY(graph->isVisible() && !graph->isEnabled() && why->isVisible());
    QVERIFY2(why->text().contains("would read freed memory"), qPrintable(why->text()));
    // Taking the GPU away leaves a graph that cannot be: it is said, and can be taken back.
    chooseKind(card, "static");
    graph->click();
    panel.findChild<QComboBox*>("device")->setCurrentIndex(0);
    QVERIFY(graph->isVisible() && graph->isEnabled() && why->isVisible());
    QVERIFY2(card->problem().contains("needs a GPU"), qPrintable(card->problem()));
    graph->click();
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    QVERIFY(!graph->isVisible());
}

// TF32 is offered on a GPU, where weights are f32, and says what it costs.
void LaneCardTest::tf32() {
    ExperimentPanel panel;
    LaneCard* card = showWithGpus(panel);
    auto* box = card->findChild<QCheckBox*>("laneTf32");
    QVERIFY(!box->isVisible());
    panel.findChild<QComboBox*>("device")->setCurrentIndex(1);
    QVERIFY(box->isVisible() && !box->isChecked());
    QVERIFY2(box->toolTip().contains("2e-2"), qPrintable(box->toolTip()));
    box->click();
    QVERIFY(panel.experiment().lanes[1].tf32);
    QCOMPARE(panel.experiment().lanes[1].name, std::string("static+tf32"));
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    // It goes with f32 weights.
    auto* weights = card->findChild<QComboBox*>("laneWeights");
    QTest::keyClick(weights, Qt::Key_Down);
    QVERIFY(!panel.experiment().lanes[1].tf32);
    QVERIFY(!box->isVisible());
    // Taking the GPU away leaves what cannot be: it is said, and can be taken back.
    QTest::keyClick(weights, Qt::Key_Up);
    box->click();
    panel.findChild<QComboBox*>("device")->setCurrentIndex(0);
    QVERIFY(box->isVisible());
    QVERIFY2(card->problem().contains("TF32 needs a GPU"), qPrintable(card->problem()));
    box->click();
    QVERIFY2(panel.problem().isEmpty(), qPrintable(panel.problem()));
    QVERIFY(!box->isVisible());
}

// Nothing but a word more is shown where there is no GPU; a file that wants one is kept as it is.
void LaneCardTest::withoutGpu() {
    CudaDevices none;
    none.why_none = "no CUDA driver";
    ExperimentPanel panel;
    panel.setExperiment(base());
    panel.resize(400, 2000);
    panel.show();
    panel.setDevices(none);
    auto* device = panel.findChild<QComboBox*>("device");
    QCOMPARE(device->count(), 1);
    QCOMPARE(device->currentText(), QString("CPU"));
    QVERIFY2(device->toolTip().contains("CPU only: no CUDA driver"), qPrintable(device->toolTip()));
    auto* card = panel.findChild<LaneCard*>("lane1");
    card->setFormVisible(true);
    QVERIFY(!card->findChild<QComboBox*>("laneDevice")->isVisible());

    Experiment elsewhere = base();
    elsewhere.device = {Device::Kind::cuda, 0};
    panel.setExperiment(elsewhere);
    QCOMPARE(device->currentText(), QString("cuda:0 · not here"));
    QCOMPARE(panel.problem(), QString("The device \"cuda:0\" cannot be used: no CUDA driver."));
    QCOMPARE(panel.experiment().device.name(), std::string("cuda:0"));
    QVERIFY(panel.findChild<QLabel*>("runProblem")->isVisible());
    device->setCurrentIndex(0);
    QVERIFY(panel.problem().isEmpty());
}

void LaneCardTest::prefillTexts_data() {
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

void LaneCardTest::prefillTexts() {
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

QTEST_MAIN(LaneCardTest)
#include "tst_lane_card.moc"
