// SPDX-License-Identifier: GPL-3.0-or-later
// The sweep page in a real window: it estimates, runs, stops, resumes and opens sweeps, and shows what the
// engine's functions say of the file. With DECODESCOPE_SCREENSHOTS set to a folder, pictures are kept there.
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include "engine/sweep/cell_text.h"
#include "engine/sweep/fits.h"
#include "engine/sweep/sweep.h"
#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/line_chart.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/sweep/sweep_form.h"
#include "ui/sweep/sweep_page.h"
#include "ui/widgets/plain_table.h"

using namespace decodescope;

class SweepPageTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void saysWhatIsWrong_data();
    void saysWhatIsWrong();
    void estimates();
    void runsAndShowsTheFile();
    void stopsAndResumes();
    void opensAFile();
    void everyControlHasANameAndAnExplanation();
    void looks_data();
    void looks();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    template <class Widget>
    Widget* find(const char* name) const {
        return m_fixture->window->sweepPage()->findChild<Widget*>(QLatin1String(name));
    }
    SweepPage& page() const { return *m_fixture->window->sweepPage(); }
    void type(const char* field, const QString& text) const;
    void setUp(const QString& steps, const QString& file) const;
    QString text() const { return find<QLabel>("sweepText")->text(); }
    bool awaitEnd() const {
        return QTest::qWaitFor([this] { return !find<QPushButton>("sweepStop")->isVisibleTo(&page()); },
                               test::patience) &&
               m_fixture->awaitIdle();
    }

    QTemporaryDir m_folder;
    QString m_file;
    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void SweepPageTest::initTestCase() {
    m_theme = new Theme(this);
    m_file = m_folder.filePath("sweep.jsonl");
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    m_fixture->window->resize(1440, 900);
    m_fixture->window->panel()->setExperiment(test::tinyExperiment());
    (*m_fixture->window->actions())[ActionId::showSweep]->trigger();
    QVERIFY(page().isVisible());
    QVERIFY2(find<QLabel>("sweepSubject")->text().contains("naive, static"),
             qPrintable(find<QLabel>("sweepSubject")->text()));
}

void SweepPageTest::type(const char* field, const QString& text) const {
    auto* edit = find<QLineEdit>(field);
    edit->clear();
    QTest::keyClicks(edit, text);
}

void SweepPageTest::setUp(const QString& steps, const QString& file) const {
    type("sweepPrompts", "4");
    type("sweepSteps", steps);
    type("sweepDepths", "0");
    type("sweepRequests", "1");
    type("sweepThreads", "1");
    find<QSpinBox>("sweepRepetitions")->setValue(2);
    find<QDoubleSpinBox>("sweepSeconds")->setValue(0);
    page().form()->setFile(file);
}

void SweepPageTest::saysWhatIsWrong_data() {
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("word") << "sweepSteps"
                          << "16,many"
                          << "n-gen: \"many\" is not a whole number from 0 to 16777216, nor a range";
    QTest::newRow("empty entry") << "sweepPrompts"
                                 << "16,,32"
                                 << "n-prompt: \"16,,32\" has an empty entry";
    QTest::newRow("backwards") << "sweepDepths"
                               << "64..16*2"
                               << "n-depth: \"64..16*2\" is not";
    QTest::newRow("no requests") << "sweepRequests"
                                 << "0"
                                 << "n-parallel: \"0\" is not";
}

void SweepPageTest::saysWhatIsWrong() {
    QFETCH(QString, field);
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    setUp("2,4", m_file);
    QVERIFY(find<QPushButton>("sweepRun")->isEnabled());
    type(qPrintable(field), text);
    QVERIFY2(this->text().startsWith(sentence), qPrintable(this->text()));
    QVERIFY(!find<QPushButton>("sweepRun")->isEnabled());
    QVERIFY(!find<QPushButton>("sweepEstimate")->isEnabled());
    setUp("0", m_file);
    type("sweepPrompts", "0");
    QVERIFY2(this->text().startsWith("There is nothing to measure"), qPrintable(this->text()));
    setUp("2,4", {});
    QVERIFY(!find<QPushButton>("sweepRun")->isEnabled());
    QVERIFY(find<QPushButton>("sweepEstimate")->isEnabled());
}

void SweepPageTest::estimates() {
    setUp("4,100000", m_file);
    find<QPushButton>("sweepEstimate")->click();
    QVERIFY(awaitEnd());
    QVERIFY2(text().startsWith("3 tests, in all about "), qPrintable(text()));
    QVERIFY2(text().contains("Will not run: pp4+tg100000, naive: "), qPrintable(text()));
    QVERIFY(!QFile::exists(m_file));
}

void SweepPageTest::runsAndShowsTheFile() {
    setUp("2,4,8,16,100000", m_file);
    find<QPushButton>("sweepRun")->click();
    QVERIFY(awaitEnd());
    QVERIFY2(text().startsWith("Done: 5 tests"), qPrintable(text()));
    const Result<std::vector<SweepRow>> rows = load_sweep(m_file.toStdString());
    QVERIFY(rows);
    std::vector<Cell> cells;
    for (const SweepRow& row : *rows) cells.push_back(row.cell);
    QCOMPARE(cells.size(), std::size_t{2 * (5 + 1)});  // two lanes, and the first test again
    const QString shown = find<PlainTable>("sweepTable")->toText();
    bool refused = false;
    for (const auto& row : cell_table(cells).rows) {
        QStringList parts;
        for (const std::string& part : row) parts << QString::fromStdString(part);
        QVERIFY2(shown.contains(parts.join('\t')), qPrintable(parts.join('|') + "\nnot in\n" + shown));
        refused = refused || row.back().find("capacity: ") == 0;
    }
    QVERIFY2(refused, "what could not run has lost its line");
    const std::vector<Growth> growth = fit_growth(cells);
    QCOMPARE(growth.size(), std::size_t{2});
    for (const Growth& one : growth) {
        const QString wanted =
            QStringLiteral("%1: n^%2 ± %3")
                .arg(QString::fromStdString(one.lane), QString::fromStdString(short_number(one.fit.slope)),
                     QString::fromStdString(short_number(one.fit.slope_error)));
        bool found = false;
        for (const LegendEntry& entry : page().growthChart()->legend()) found = found || entry.name == wanted;
        QVERIFY2(found, qPrintable(wanted));
        QCOMPARE(one.steps, (std::vector<double>{2, 4, 8, 16}));
    }
    QVERIFY(page().growthChart()->xAxis().log && page().growthChart()->yAxis().log);
    // Not over what is there.
    QVERIFY(!find<QPushButton>("sweepRun")->isEnabled());
    QVERIFY(find<QPushButton>("sweepResume")->isEnabled());
}

void SweepPageTest::stopsAndResumes() {
    const QString file = m_folder.filePath("stopped.jsonl");
    setUp("40,41,42,43,44,45", file);
    find<QSpinBox>("sweepRepetitions")->setValue(100);
    find<QPushButton>("sweepRun")->click();
    QTRY_VERIFY_WITH_TIMEOUT(page().cells().size() == 2 && page().cells().front().shape.n_gen == 40,
                             test::patience);
    QVERIFY(!(*m_fixture->window->actions())[ActionId::run]->isEnabled());
    QVERIFY(!find<QLineEdit>("sweepSteps")->isEnabled());
    find<QPushButton>("sweepStop")->click();
    QVERIFY(awaitEnd());
    QVERIFY2(text().startsWith("Stopped: "), qPrintable(text()));
    const Result<std::vector<SweepRow>> before = load_sweep(file.toStdString());
    QVERIFY(before);
    QVERIFY(before->size() < 12);
    QVERIFY(find<QPushButton>("sweepResume")->isEnabled());
    find<QPushButton>("sweepResume")->click();
    QVERIFY(awaitEnd());
    QVERIFY2(text().startsWith("Done: 6 tests"), qPrintable(text()));
    const Result<std::vector<SweepRow>> after = load_sweep(file.toStdString());
    QVERIFY(after);
    QCOMPARE(after->size(), std::size_t{2 * (6 + 1)});
    QCOMPARE(after->front().cell.test_time, before->front().cell.test_time);
    // Another sweep does not go on with it.
    setUp("3,5", file);
    find<QPushButton>("sweepResume")->click();
    QVERIFY(awaitEnd());
    QVERIFY2(text().contains("stopped.jsonl"), qPrintable(text()));
    QCOMPARE(load_sweep(file.toStdString())->size(), after->size());
}

void SweepPageTest::opensAFile() {
    m_fixture->window->showScreen(0);
    m_fixture->window->openPath(m_file);
    QVERIFY(page().isVisible());
    QCOMPARE(page().cells().size(), load_sweep(m_file.toStdString())->size());
    QVERIFY2(text().startsWith("12 results from "), qPrintable(text()));
    QFile broken(m_folder.filePath("broken.jsonl"));
    QVERIFY(broken.open(QIODevice::WriteOnly));
    broken.write("{\"no\": \"row\"}\n");
    broken.close();
    page().openFile(broken.fileName());
    QVERIFY2(text().contains("broken.jsonl"), qPrintable(text()));
    QCOMPARE(page().cells().size(), std::size_t{12});
}

void SweepPageTest::everyControlHasANameAndAnExplanation() {
    int seen = 0;
    for (const QWidget* widget : page().findChildren<QWidget*>()) {
        const auto* button = qobject_cast<const QPushButton*>(widget);
        const bool control = button || qobject_cast<const QAbstractSpinBox*>(widget) ||
                             (qobject_cast<const QLineEdit*>(widget) &&
                              !qobject_cast<const QAbstractSpinBox*>(widget->parentWidget()));
        if (!control) continue;
        ++seen;
        QVERIFY(!widget->objectName().isEmpty());
        QVERIFY2(!widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()),
                 qPrintable(widget->objectName()));
        QVERIFY2(!widget->toolTip().isEmpty(), qPrintable(widget->objectName()));
    }
    QVERIFY(seen >= 14);
}

void SweepPageTest::looks_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QSize>("size");
    QTest::newRow("sweep-light-1440") << false << QSize(1440, 900);
    QTest::newRow("sweep-dark-1100") << true << QSize(1100, 700);
}

void SweepPageTest::looks() {
    QFETCH(bool, dark);
    QFETCH(QSize, size);
    m_theme->setMode(dark ? Theme::Mode::Dark : Theme::Mode::Light);
    m_fixture->window->resize(size);
    page().openFile(m_file);
    QTest::qWait(200);
    const QImage picture = m_fixture->window->grab().toImage();
    QVERIFY2(picture.deviceIndependentSize() == QSizeF(size), "the window does not fit into this size");
    const auto* scroll = page().findChild<QScrollArea*>();
    QVERIFY2(scroll->widget()->minimumSizeHint().width() <= scroll->viewport()->width(),
             "the page is cut off at its right");
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty()) {
        const QString name = QString::fromLatin1(QTest::currentDataTag());
        picture.save(QStringLiteral("%1/%2.png").arg(folder, name));
        scroll->widget()->grab().toImage().save(QStringLiteral("%1/%2-all.png").arg(folder, name));
    }
}

QTEST_MAIN(SweepPageTest)
#include "tst_sweep_page.moc"
