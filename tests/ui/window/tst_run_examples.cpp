// SPDX-License-Identifier: GPL-3.0-or-later
// Every bundled experiment runs to its end (with at most 64 new tokens), and every lane of it that should
// agree does, and every lane that is broken on purpose does not.
#include <QTest>

#include <algorithm>

#include "app/blas_core.h"
#include "engine/experiment/runner.h"
#include "ui/examples.h"

using namespace decodescope;

class RunExamplesTest : public QObject {
    Q_OBJECT

private slots:
    void runs_data();
    void runs();
};

void RunExamplesTest::runs_data() {
    QTest::addColumn<QString>("path");
    for (const Example& example : bundledExamples()) QTest::newRow(qPrintable(example.title)) << example.path;
}

void RunExamplesTest::runs() {
    QFETCH(QString, path);
    Result<Experiment> experiment = load_experiment(path.toStdString());
    QVERIFY(experiment.ok());
    // What more repetitions and tokens add is time.
    experiment->repetitions = 1;
    if (experiment->drive != Drive::fixed) experiment->new_tokens = std::min(experiment->new_tokens, 64);
    const auto ledger = std::make_shared<MemoryLedger>();
    const Result<LoadedModel> model = load_model(experiment->model, ledger, {});
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
    EventSink sink;
    const Result<Record> record = run_experiment(*experiment, *model, ledger, sink);
    QVERIFY2(record.ok(), record.ok() ? "" : record.error().message.c_str());
    QCOMPARE(record->status, FinishReason::length);
    for (std::size_t i = 0; i < record->lanes.size(); ++i) {
        const LaneRecord& lane = record->lanes[i];
        for (std::size_t request = 0; request < record->prompts.size(); ++request)
            QCOMPARE(lane.repetitions[0].tokens(static_cast<int>(request)).size(),
                     static_cast<std::size_t>(experiment->new_tokens));
        if (!lane.spec.faults.empty()) {
            QVERIFY2(lane.first_different_token(record->reference()) >= 0, lane.spec.name.c_str());
            continue;
        }
        if (&lane == &record->reference() || !approximation(*record, i).empty()) continue;
        QVERIFY2(lane.agrees_with(record->reference()), lane.spec.name.c_str());
    }
    QCOMPARE(ledger->total(), ledger->live(Owner::weights));
}

int main(int argc, char** argv) {
    restartWithBetterBlasCore(argv);  // as the program does
    QCoreApplication application(argc, argv);
    RunExamplesTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_run_examples.moc"
