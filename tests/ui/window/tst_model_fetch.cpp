// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QFile>
#include <QProgressDialog>
#include <QPushButton>
#include <QTest>

#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/fetch/model_fetch.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;
using namespace decodescope::test;

/// "Get a Small Real Model", with a script in the place of the program that fetches.
class TestModelFetch : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { theme_ = new Theme(this); }
    void init() {
        data_ = std::make_unique<QTemporaryDir>();
        qputenv("XDG_DATA_HOME", data_->path().toUtf8());
        fixture_ = std::make_unique<WindowFixture>(*theme_, MainWindow::Options{.autostart = false});
        QVERIFY(fixture_->awaitIdle());
    }
    void cleanup() { fixture_.reset(); }

    void opensWhatWasFetched() {
        script(
            "echo 'smollm2: 12 of 93 MB' >&2; while ! [ -e \"$XDG_DATA_HOME/go\" ]; do sleep 0.1; done\n"
            "echo 'smollm2: checking' >&2\n"
            "mkdir -p \"$XDG_DATA_HOME/decodescope/models\"\n"
            "cp -r '" DECODESCOPE_TEST_DATA
            "/gpt2/plain-f32' \"$XDG_DATA_HOME/decodescope/models/smollm2\"\n"
            "test \"$1 $2 $3\" = 'get smollm2 --progress'");
        action()->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 12, test::patience);
        QCOMPARE(dialog()->maximum(), 93);
        QVERIFY(dialog()->windowModality() == Qt::NonModal);
        action()->trigger();  // a second time: the same dialog
        QVERIFY(QFile(data_->filePath("go")).open(QFile::WriteOnly));
        QTRY_VERIFY_WITH_TIMEOUT(!fetch()->running(), test::patience);
        QTRY_VERIFY_WITH_TIMEOUT(dialog() == nullptr, test::patience);
        QVERIFY(QTest::qWaitFor(
            [this] {
                const auto model = fixture_->window->session()->model();
                return model != nullptr && model->weights->config.d_model != 192;
            },
            test::patience));
        QVERIFY2(fixture_->window->messages()->message().isEmpty(),
                 qPrintable(fixture_->window->messages()->message()));
    }

    void saysWhyNot() {
        script(
            "echo 'smollm2: 0 of 93 MB' >&2; echo 'decodescope-cli: Downloading failed (offline).' >&2; exit "
            "2");
        action()->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(fixture_->window->messages()->message(),
                                  QString("Downloading failed (offline)."), test::patience);
        QCOMPARE(fixture_->window->messages()->kind(), MessageBar::Kind::error);
        QTRY_VERIFY_WITH_TIMEOUT(dialog() == nullptr, test::patience);
    }

    void cancelled() {
        script("trap 'exit 130' TERM; echo 'smollm2: 1 of 93 MB' >&2; while :; do sleep 0.1; done");
        action()->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 1, test::patience);
        dialog()->findChild<QPushButton*>()->click();
        QTRY_VERIFY_WITH_TIMEOUT(!fetch()->running(), test::patience);
        QTRY_VERIFY_WITH_TIMEOUT(dialog() == nullptr, test::patience);
        QVERIFY(fixture_->window->messages()->message().isEmpty());
    }

    void programThatIsMissing() {
        fetch()->setProgram(data_->filePath("none"));
        action()->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(fixture_->window->messages()->message().endsWith("could not be started."),
                                 test::patience);
        QTRY_VERIFY_WITH_TIMEOUT(dialog() == nullptr, test::patience);
    }

    /// The window closes while something is being fetched: the program is asked to end.
    void closing() {
        const QString gone = data_->filePath("gone");
        script("trap 'touch \"" + gone.toUtf8() +
               "\"; exit 130' TERM; echo 'smollm2: 1 of 93 MB' >&2; while :; do sleep 0.1; done");
        action()->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(shown(), 1, test::patience);
        fixture_.reset();
        QVERIFY(QFile::exists(gone));
    }

private:
    void script(const QByteArray& text) {
        QFile file(data_->filePath("get"));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("#!/bin/sh\n" + text + "\n");
        file.close();
        QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
        fetch()->setProgram(file.fileName());
    }
    QAction* action() { return (*fixture_->window->actions())[ActionId::getModel]; }
    ModelFetch* fetch() { return fixture_->window->modelFetch(); }
    QProgressDialog* dialog() { return fixture_->window->findChild<QProgressDialog*>("fetchDialog"); }
    int shown() { return dialog() == nullptr ? -1 : dialog()->value(); }

    Theme* theme_ = nullptr;
    std::unique_ptr<QTemporaryDir> data_;
    std::unique_ptr<WindowFixture> fixture_;
};

QTEST_MAIN(TestModelFetch)
#include "tst_model_fetch.moc"
