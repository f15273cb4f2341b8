// SPDX-License-Identifier: GPL-3.0-or-later
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

#include "engine/formats/model_source.h"
#include "tests/engine/verify/foreign_decoder.h"
#include "tests/patience.h"

using namespace decodescope;
using namespace decodescope::test;

/// Runs of PyTorch and transformers that the recorder wrote down (tests/data/make_traces.py).
class TestDiagnoseTraces : public QObject {
    Q_OBJECT

    static void check(const std::filesystem::path& folder, const QString& word, const QString& kind,
                      const QString& found) {
        const auto trace = load_trace(folder);
        QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
        QVERIFY(trace->model);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto model = load_model(*trace->model, ledger);
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        const auto backend = make_cpu_backend(1);
        const auto verdict = diagnose(*trace, model->weights, *backend, ledger);
        QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
        const QByteArray said = told(*verdict).toUtf8();
        QVERIFY2(to_string(verdict->word) == word, said.constData());
        QVERIFY2(QString(verdict->kind ? to_string(*verdict->kind) : "") == kind, said.constData());
        QVERIFY2(QString::fromStdString(verdict->found).contains(found), said.constData());
        if (word == "fault") QVERIFY2(verdict->certainty == Certainty::certain, said.constData());
    }
    static void columns() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("word");
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("found");
        const auto row = [](const char* name, const char* word, const char* kind = "",
                            const char* found = "") { QTest::newRow(name) << name << word << kind << found; };
        for (const char* family : {"gpt2", "llama"}) {
            const std::string f = family;
            row((f + "-generate-f32").c_str(), "equal");
            row((f + "-generate-f16").c_str(), "precision", "dtype");
            row((f + "-batch").c_str(), "equal");
            row((f + "-beams").c_str(), "equal");
            row((f + "-restart").c_str(), "fault", "position", "position 0");
            row((f + "-no-mask").c_str(), "fault", "mask", "12 keys from 0 to 11 visible");
        }
        row("gpt2-left-pad", "fault", "padding", "position 4");
        // Rotary positions do not see a shift.
        row("llama-left-pad", "harmless", "padding", "position 4");
    }

private slots:
    void recordedRuns_data() { columns(); }
    void recordedRuns() {
        QFETCH(QString, name);
        QFETCH(QString, word);
        QFETCH(QString, kind);
        QFETCH(QString, found);
        check(std::filesystem::path(DECODESCOPE_TEST_DATA) / "traces" / name.toStdString(), word, kind,
              found);
    }

    /// The recorder as it is now, where PyTorch and transformers are there.
    void runsRecordedNow() {
        const QString python = qEnvironmentVariable("DECODESCOPE_PYTHON", "python3");
        QProcess probe;
        probe.start(python, {"-c", "import torch, transformers"});
        if (!probe.waitForFinished(test::patience) || probe.exitCode() != 0)
            QSKIP("needs Python with torch and transformers (DECODESCOPE_PYTHON names another one)");
        const QTemporaryDir folder;
        QProcess recorder;
        recorder.setProcessChannelMode(QProcess::MergedChannels);
        recorder.start(python, {DECODESCOPE_TEST_DATA "/make_traces.py", folder.path()});
        QVERIFY(recorder.waitForFinished(test::patience));
        QVERIFY2(recorder.exitCode() == 0, recorder.readAll().constData());
        const auto made = std::filesystem::path(folder.path().toStdString());
        check(made / "gpt2-generate-f32", "equal", "", "");
        check(made / "llama-generate-f16", "precision", "dtype", "");
        check(made / "gpt2-restart", "fault", "position", "position 0");
        check(made / "llama-no-mask", "fault", "mask", "12 keys");
        check(made / "gpt2-left-pad", "fault", "padding", "position 4");
    }
};

QTEST_APPLESS_MAIN(TestDiagnoseTraces)
#include "tst_diagnose_traces.moc"
