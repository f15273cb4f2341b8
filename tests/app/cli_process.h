// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTest>

#include "tests/patience.h"

namespace decodescope::test {

struct Outcome {
    int exitCode = -1;
    QByteArray out;
    QByteArray err;
};

inline QString program() {
    return QStringLiteral(DECODESCOPE_BIN_DIR "/decodescope-cli");
}

/// Runs the program with these arguments and this standard input.
inline Outcome cli(const QStringList& arguments, const QByteArray& input = {}) {
    QProcess process;
    process.start(program(), arguments);
    process.write(input);
    process.closeWriteChannel();
    if (!process.waitForFinished(patience) || process.exitStatus() != QProcess::NormalExit) {
        process.kill();
        process.waitForFinished(test::patience);
        return {-1, process.readAllStandardOutput(), process.readAllStandardError()};
    }
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

/// The program refuses these words (separated by blanks): exit code 2, one sentence on standard error that
/// says `sentence`, nothing on standard output.
inline void expectRefusal(const QString& arguments, const QString& sentence) {
    const Outcome outcome = cli(arguments.isEmpty() ? QStringList() : arguments.split(' '));
    const QString err = QString::fromUtf8(outcome.err);
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(err.contains(sentence), qPrintable(err));
    QVERIFY2(err.startsWith("decodescope-cli: "), qPrintable(err));
    QCOMPARE(err.count('\n'), 1);
    QVERIFY(outcome.out.isEmpty());
}

inline QJsonValue jsonOf(const QByteArray& json) {
    return QJsonDocument::fromJson(json).object();
}

}  // namespace decodescope::test
