// SPDX-License-Identifier: GPL-3.0-or-later
// The report in the real window: how one gets there, and how it gets out. With DECODESCOPE_SCREENSHOTS set to
// a folder, the pictures are kept there.
#include <QAbstractButton>
#include <QCheckBox>
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QTest>

#include "tests/file_content.h"
#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/exactness/exactness_page.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/report/chart_picker.h"
#include "ui/report/export_dialog.h"
#include "ui/report/report_document.h"
#include "ui/report/report_page.h"
#include "ui/report/report_preview.h"
#include "ui/widgets/message_bar.h"

using namespace decodescope;
using test::contentOf;

class ReportWindowTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void isASeventhScreen();
    void notesAreSavedAndOpened();
    void notesAreAskedAbout();
    void reportGoesToFiles();
    void exportHasWhatWasChosen();
    void comparisonIsDrawnOnScreenAndInFiles();
    void looks_data();
    void looks();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
    QTemporaryDir m_folder;
};

void ReportWindowTest::initTestCase() {
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    m_fixture->window->panel()->setExperiment(test::tinyExperiment(24));
}

void ReportWindowTest::isASeventhScreen() {
    MainWindow& window = *m_fixture->window;
    const auto* pages = window.findChild<QStackedWidget*>("pages");
    QTest::keyClick(&window, Qt::Key_7, Qt::ControlModifier);
    QCOMPARE(pages->currentWidget(), window.reportPage());
    QVERIFY((*window.actions())[ActionId::showReport]->isChecked());
    auto* empty = window.findChild<QWidget*>("reportEmpty");
    QVERIFY(empty->isVisible());
    window.resize(1100, 700);
    QTest::qWait(100);
    for (const QLabel* label : empty->findChildren<QLabel*>())
        QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
        window.grab().toImage().save(folder + "/report-empty.png");
    // From here the run begins, and its report is there when it ends.
    auto* run = window.findChild<QPushButton*>("reportRun");
    bool held = false;
    connect(window.session(), &Session::eventsArrived, this, [&] { held = held || !run->isEnabled(); });
    run->click();
    QVERIFY(m_fixture->awaitRecord());
    QVERIFY2(held, "while a run goes on, no other one can be begun from here");
    disconnect(window.session(), &Session::eventsArrived, this, nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(window.reportPage()->preview()->document() != nullptr, test::patience);
    QVERIFY(window.reportPage()->preview()->document()->text().contains("static"));
    // Remembered like the others.
    const QString settings = m_folder.filePath("settings.ini");
    {
        test::WindowFixture first(*m_theme, {.settingsPath = settings, .autostart = false});
        QVERIFY(first.awaitIdle());
        first.window->panel()->setExperiment(test::tinyExperiment());
        first.window->showScreen(6);
        first.window->close();
    }
    test::WindowFixture second(*m_theme, {.settingsPath = settings, .autostart = false});
    QCOMPARE(second.window->findChild<QStackedWidget*>("pages")->currentWidget(),
             second.window->reportPage());
    QVERIFY(second.awaitIdle());
}

void ReportWindowTest::notesAreSavedAndOpened() {
    MainWindow& window = *m_fixture->window;
    window.findChild<QLineEdit*>("reportTitle")->setText("With notes");
    window.findChild<QPlainTextEdit*>("reportNotes")->setPlainText("## Found\n\nNothing.");
    // Kept in case of a crash.
    const QDir unsaved(m_fixture->folder.filePath("unsaved"));
    QTRY_VERIFY_WITH_TIMEOUT(
        unsaved.entryList({"*.json"}).size() == 1 &&
            contentOf(unsaved.filePath(unsaved.entryList({"*.json"}).front())).contains("\"With notes\""),
        20'000);
    const QString path = m_folder.filePath("noted.json");
    QVERIFY(window.saveRecordTo(path));
    QVERIFY(unsaved.entryList({"*.json"}).isEmpty());
    window.findChild<QLineEdit*>("reportTitle")->setText("Other");
    QVERIFY(window.saveRecordTo(m_folder.filePath("other.json")));
    window.openRecord(path);
    QVERIFY(m_fixture->awaitIdle());
    QCOMPARE(window.findChild<QLineEdit*>("reportTitle")->text(), QString("With notes"));
    QCOMPARE(window.findChild<QPlainTextEdit*>("reportNotes")->toPlainText(),
             QString("## Found\n\nNothing."));
    QVERIFY(!window.data().notesChanged());
}

// Whoever closes the window is asked about words that are not saved, about a saved run not.
void ReportWindowTest::notesAreAskedAbout() {
    MainWindow& window = *m_fixture->window;
    window.close();
    QVERIFY(!window.isVisible());
    window.show();
    window.openRecord(m_folder.filePath("noted.json"));
    QVERIFY(m_fixture->awaitIdle());
    window.findChild<QPlainTextEdit*>("reportNotes")->setPlainText("Not saved.");
    window.close();
    QVERIFY(window.isVisible());
    auto* question = window.findChild<QMessageBox*>("askToSave");
    QVERIFY(question != nullptr);
    question->button(QMessageBox::Cancel)->click();
    window.findChild<QPlainTextEdit*>("reportNotes")->setPlainText("## Found\n\nNothing.");
    QVERIFY(window.saveRecordTo(m_folder.filePath("noted.json")));
}

void ReportWindowTest::reportGoesToFiles() {
    MainWindow& window = *m_fixture->window;
    const QString html = m_folder.filePath("report.html");
    const QString pdf = m_folder.filePath("report.PDF");
    QVERIFY(window.saveReportTo(html));
    QVERIFY(window.messages()->message().contains("report.html"));
    QVERIFY(window.saveReportTo(pdf));
    QVERIFY(contentOf(html).contains("<h1>With notes</h1>"));
    QVERIFY(contentOf(html).contains("<h3>Found</h3>"));
    QVERIFY(contentOf(pdf).startsWith("%PDF-1."));
    QVERIFY(!window.saveReportTo("/proc/report.html"));
    QVERIFY(window.messages()->kind() == MessageBar::Kind::error);
    QVERIFY(window.messages()->message().contains("/proc/report.html"));
    window.messages()->clear();
}

void ReportWindowTest::exportHasWhatWasChosen() {
    MainWindow& window = *m_fixture->window;
    auto* list = window.reportPage()->picker()->list();
    QVERIFY(list->count() >= 4);
    list->item(0)->setCheckState(Qt::Unchecked);
    window.findChild<QCheckBox*>("reportPart6")->setChecked(false);
    window.findChild<QPushButton*>("reportExport")->click();
    auto* dialog = window.findChild<ExportDialog*>();
    QVERIFY(dialog != nullptr);
    const QString folder = m_folder.filePath("out");
    dialog->findChild<QLineEdit*>("exportFolder")->setText(folder);
    QSignalSpy finished(dialog->job(), &ExportJob::finished);
    dialog->findChild<QPushButton*>("exportStart")->click();
    QVERIFY(finished.wait(test::patience));
    const QStringList files = QDir(folder).entryList(QDir::Files);
    QVERIFY(!files.contains("latency.png") && files.contains("total_time.png"));
    const QByteArray html = contentOf(folder + "/report.html");
    QVERIFY(html.contains("<h1>With notes</h1>") && !html.contains("What the numbers mean"));
    QVERIFY(!html.contains("aria-label=\"Latency per token\""));
    const QJsonObject record = QJsonDocument::fromJson(contentOf(folder + "/record.json")).object();
    QCOMPARE(record.value("title").toString(), QString("With notes"));
    dialog->close();
    list->item(0)->setCheckState(Qt::Checked);
    window.findChild<QCheckBox*>("reportPart6")->setChecked(true);
}

void ReportWindowTest::comparisonIsDrawnOnScreenAndInFiles() {
    MainWindow& window = *m_fixture->window;
    QVERIFY(window.compareWithFile(m_folder.filePath("noted.json")));
    window.showScreen(3);
    QVERIFY(m_fixture->awaitIdle());
    QVERIFY(window.exactnessPage()->errorChart()->table(DataRange::all).columns.join(' ').contains("noted"));
    window.showScreen(6);
    QTRY_VERIFY_WITH_TIMEOUT(
        window.reportPage()->preview()->document()->text().contains("Against noted (dashed)."),
        test::patience);
    QVERIFY(window.exportChartsTo(m_folder.filePath("compared")));
    QVERIFY(contentOf(m_folder.filePath("compared/report.html")).contains("Against noted (dashed)."));
    for (const char* name : {"latency", "total_time", "kv_cache", "logit_error"})
        QVERIFY2(contentOf(m_folder.filePath(QStringLiteral("compared/%1.csv").arg(name))).contains("noted"),
                 name);
    (*window.actions())[ActionId::endComparison]->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(!window.reportPage()->preview()->document()->text().contains("dashed"),
                             test::patience);
    window.messages()->clear();
}

void ReportWindowTest::looks_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QSize>("size");
    for (const bool dark : {false, true})
        for (const QSize size : {QSize(1440, 900), QSize(1100, 700)})
            QTest::addRow("report-%s-%d", dark ? "dark" : "light", size.width()) << dark << size;
}

void ReportWindowTest::looks() {
    QFETCH(bool, dark);
    QFETCH(QSize, size);
    MainWindow& window = *m_fixture->window;
    m_theme->setMode(dark ? Theme::Mode::Dark : Theme::Mode::Light);
    window.resize(size);
    window.showScreen(6);
    QTest::qWait(600);
    const QImage picture = window.grab().toImage();
    QVERIFY2(picture.deviceIndependentSize() == QSizeF(size), "the window does not fit into this size");
    const QWidget* page = window.reportPage();
    for (const QAbstractButton* button : page->findChildren<QAbstractButton*>()) {
        if (!button->isVisible() || button->text().isEmpty()) continue;
        QVERIFY2(button->width() >= button->minimumSizeHint().width(), qPrintable(button->objectName()));
        const QPoint end = button->mapTo(page, QPoint(button->width(), 0));
        QVERIFY2(end.x() <= page->width(), qPrintable(button->objectName()));
        QVERIFY2(!button->toolTip().isEmpty(), qPrintable(button->objectName()));
    }
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
        picture.save(QStringLiteral("%1/%2.png").arg(folder, QLatin1String(QTest::currentDataTag())));
}

QTEST_MAIN(ReportWindowTest)
#include "tst_report_window.moc"
