// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/verify/diagnose.h"
#include "engine/verify/trace_recorder.h"
#include "tests/engine/verify/foreign_decoder.h"
#include "tests/engine/verify/healthy_lanes.h"

using namespace decodescope;
using namespace decodescope::test;

/// Lanes of ours without a fault: never a false alarm.
class TestDiagnoseLanes : public QObject {
    Q_OBJECT

private slots:
    void healthyLanesAreEqual_data() {
        add_healthy_lanes({"tiny", "tiny-llama", "tiny-window", "one-block"});
    }
    void healthyLanesAreEqual() {
        QFETCH(QString, preset);
        QFETCH(QString, name);
        QFETCH(int, chunk);
        LaneFixture fixture(64, preset.toStdString());
        const LaneSpec spec = healthy_lane(name, chunk);
        const auto trace = record_trace(spec, work_of({prompt_of_7, prompt_of_3, repeating, prompt_of_7}, 6),
                                        {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger});
        QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
        const auto verdict = diagnose(*trace, fixture.weights, *fixture.backend, fixture.ledger);
        QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
        QVERIFY2(verdict->word == VerdictWord::equal, qPrintable(told(*verdict)));
    }

    void narrowCachesArePrecision_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("name");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            for (const char* name : {"f16", "bf16", "int8", "kivi", "kivi-2"})
                QTest::addRow("%s, %s", preset, name) << preset << name;
        }
    }
    void narrowCachesArePrecision() {
        QFETCH(QString, preset);
        QFETCH(QString, name);
        LaneFixture fixture(64, preset.toStdString());
        LaneSpec spec = named("static");
        if (name == "f16") spec.cache.dtype = DType::f16;
        if (name == "bf16") spec.cache.dtype = DType::bf16;
        if (name == "int8") spec.cache.kind = CacheKind::int8;
        if (name.startsWith("kivi")) {
            spec.cache.kind = CacheKind::kivi;
            spec.cache.bits = name == "kivi" ? 4 : 2;
            spec.cache.group = 4;
            spec.cache.residual = 4;
        }
        const auto trace = record_trace(spec, work_of({prompt_of_7, prompt_of_3}, 9),
                                        {fixture.weights, nullptr, fixture.backend.get(), fixture.ledger});
        QVERIFY2(trace, trace ? "" : trace.error().message.c_str());
        const auto verdict = diagnose(*trace, fixture.weights, *fixture.backend, fixture.ledger);
        QVERIFY2(verdict, verdict ? "" : verdict.error().message.c_str());
        QVERIFY2(verdict->word == VerdictWord::precision, qPrintable(told(*verdict)));
    }
};

QTEST_APPLESS_MAIN(TestDiagnoseLanes)
#include "tst_diagnose_lanes.moc"
