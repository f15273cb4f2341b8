// SPDX-License-Identifier: GPL-3.0-or-later
// What the screens and dialogs look like after a run of the demo and a small sweep: not blank, nothing cut
// off. With DECODESCOPE_SCREENSHOTS set to a folder, the pictures are kept there (`scripts/screens`).
#include <QCheckBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSet>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>

#include "tests/patience.h"
#include "tests/ui/experiment_panel/panel_fixture.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/examples.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/lane_card.h"
#include "ui/inside/inside_page.h"
#include "ui/inside/inside_views.h"
#include "ui/plan/plan_page.h"
#include "ui/sweep/sweep_form.h"
#include "ui/sweep/sweep_page.h"
#include "ui/tour/tour.h"
#include "ui/widgets/command_palette.h"
#include "ui/widgets/plain_table.h"

using namespace decodescope;

namespace {

constexpr const char* pageNames[] = {"race", "memory", "inside", "exactness", "sweep", "plan", "report"};
constexpr int pageCount = 7;
constexpr int runPages = 4;  // those that show the run

int colorCount(const QImage& picture) {
    QSet<QRgb> colors;
    for (int y = 0; y < picture.height(); y += 3) {
        for (int x = 0; x < picture.width(); x += 3) colors.insert(picture.pixel(x, y));
    }
    return static_cast<int>(colors.size());
}

}  // namespace

class ScreensTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void looks_data();
    void looks();
    void dialogLooks_data();
    void dialogLooks();
    void insideLooks_data();
    void insideLooks();
    void looksOfExamples_data();
    void looksOfExamples();
    void panelFitsItsWidth_data();
    void panelFitsItsWidth();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    void sweep();
    void check(int screen, bool dark, QSize size);

    QString m_example;
    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void ScreensTest::initTestCase() {
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    Experiment experiment = m_fixture->window->panel()->experiment();
    experiment.new_tokens = 150;
    m_fixture->window->panel()->setExperiment(experiment);
    m_fixture->window->startRun();
    QVERIFY(m_fixture->awaitRecord());
    sweep();
}

// A small one, so that the page has curves, a table and a test that could not run.
void ScreensTest::sweep() {
    const SweepPage& page = *m_fixture->window->sweepPage();
    const auto type = [&](const char* field, const char* text) {
        auto* edit = page.findChild<QLineEdit*>(QLatin1String(field));
        edit->clear();
        QTest::keyClicks(edit, QLatin1String(text));
    };
    m_fixture->window->showScreen(4);
    type("sweepPrompts", "16");
    type("sweepSteps", "4,8,16,32,100000");
    type("sweepDepths", "0,32");
    type("sweepRequests", "1");
    page.findChild<QSpinBox*>("sweepRepetitions")->setValue(2);
    page.findChild<QDoubleSpinBox*>("sweepSeconds")->setValue(0);
    page.form()->setFile(m_fixture->folder.filePath("sweep.jsonl"));
    page.findChild<QPushButton*>("sweepRun")->click();
    QTRY_VERIFY_WITH_TIMEOUT(page.findChild<QLabel*>("sweepText")->text().startsWith("Done: "),
                             test::patience);
    QVERIFY(m_fixture->awaitIdle());
}

void ScreensTest::looks_data() {
    QTest::addColumn<int>("screen");
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QSize>("size");
    for (const bool dark : {false, true}) {
        for (const QSize size : {QSize(1440, 900), QSize(1100, 700)}) {
            for (int screen = 0; screen < pageCount; ++screen) {
                QTest::addRow("%s-%s-%d", pageNames[screen], dark ? "dark" : "light", size.width())
                    << screen << dark << size;
            }
        }
    }
}

void ScreensTest::looks() {
    QFETCH(int, screen);
    QFETCH(bool, dark);
    QFETCH(QSize, size);
    check(screen, dark, size);
}

void ScreensTest::dialogLooks_data() {
    QTest::addColumn<int>("id");
    QTest::addColumn<bool>("dark");
    for (const bool dark : {false, true}) {
        const char* theme = dark ? "dark" : "light";
        QTest::addRow("export-%s", theme) << static_cast<int>(ActionId::exportCharts) << dark;
        QTest::addRow("shortcuts-%s", theme) << static_cast<int>(ActionId::shortcuts) << dark;
        QTest::addRow("faults-%s", theme) << static_cast<int>(ActionId::faultHelp) << dark;
        QTest::addRow("about-%s", theme) << static_cast<int>(ActionId::about) << dark;
        QTest::addRow("settings-%s", theme) << static_cast<int>(ActionId::settings) << dark;
        QTest::addRow("palette-%s", theme) << static_cast<int>(ActionId::palette) << dark;
        QTest::addRow("tour-%s", theme) << static_cast<int>(ActionId::tour) << dark;
    }
}

void ScreensTest::dialogLooks() {
    QFETCH(int, id);
    QFETCH(bool, dark);
    m_theme->setMode(dark ? Theme::Mode::Dark : Theme::Mode::Light);
    MainWindow& window = *m_fixture->window;
    window.resize(1440, 900);
    window.showScreen(0);
    (*window.actions())[static_cast<ActionId>(id)]->trigger();
    QTest::qWait(150);
    // Whatever has come up: a dialog of its own, or something that lies over the window.
    QWidget* shown = &window;
    for (auto* dialog : window.findChildren<QDialog*>())
        if (dialog->isVisible()) shown = dialog;
    const QImage picture = shown->grab().toImage();
    QVERIFY2(colorCount(picture) > 30, qPrintable(QString::number(colorCount(picture))));
    test::keepPicture(shown, QTest::currentDataTag());
    QVERIFY2(shown == &window || shown->height() <= 760, "higher than the screen of a laptop");
    if (shown != &window) shown->close();
    for (QWidget* over : {static_cast<QWidget*>(window.findChild<CommandPalette*>()),
                          static_cast<QWidget*>(window.findChild<Tour*>())}) {
        if (over != nullptr) QTest::keyClick(over, Qt::Key_Escape);
    }
    QTRY_VERIFY_WITH_TIMEOUT(
        window.findChild<CommandPalette*>() == nullptr && window.findChild<Tour*>() == nullptr,
        test::patience);
}

void ScreensTest::looksOfExamples_data() {
    QTest::addColumn<QString>("example");
    QTest::addColumn<int>("screen");
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QSize>("size");
    int row = 0;
    for (const char* example : {"kshipra", "quantised", "weights", "speculative", "prefix_sharing",
                                "allocator", "chunk_partitions", "fault_positions", "fault_padding"}) {
        for (int screen = 0; screen < runPages; ++screen, ++row) {
            QTest::addRow("%s-%s", example, pageNames[screen])
                << QString(example) << screen << (row % 2 == 1) << QSize(row % 3 == 2 ? 1100 : 1440, 900);
        }
    }
}

// Several requests, more columns, more lanes.
void ScreensTest::looksOfExamples() {
    QFETCH(QString, example);
    QFETCH(int, screen);
    QFETCH(bool, dark);
    QFETCH(QSize, size);
    if (example != m_example) {
        for (const Example& each : bundledExamples()) {
            if (QFileInfo(each.path).completeBaseName() != example) continue;
            const auto before = m_fixture->window->data().finishedRecord();
            m_fixture->window->openExample(each.path);
            QTRY_VERIFY_WITH_TIMEOUT(m_fixture->window->data().finishedRecord() != nullptr &&
                                         m_fixture->window->data().finishedRecord() != before,
                                     test::patience);
            QVERIFY(m_fixture->awaitIdle());
        }
        m_example = example;
    }
    check(screen, dark, size);
}

void ScreensTest::insideLooks_data() {
    QTest::addColumn<int>("lane");
    QTest::addColumn<int>("step");
    QTest::addColumn<bool>("allHeads");
    QTest::addColumn<bool>("dark");
    for (const bool dark : {false, true}) {
        const char* theme = dark ? "dark" : "light";
        QTest::addRow("inside-prefill-%s", theme) << 1 << 0 << false << dark;
        QTest::addRow("inside-naive-%s", theme) << 0 << 30 << false << dark;
        QTest::addRow("inside-heads-%s", theme) << 1 << 0 << true << dark;
        QTest::addRow("inside-decode-heads-%s", theme) << 1 << 20 << true << dark;
    }
}

void ScreensTest::insideLooks() {
    QFETCH(int, lane);
    QFETCH(int, step);
    QFETCH(bool, allHeads);
    QFETCH(bool, dark);
    MainWindow& window = *m_fixture->window;
    window.showScreen(2);
    window.insidePage()->setStep(lane, step);
    window.findChild<QCheckBox*>("insideAllHeads")->setChecked(allHeads);
    QTRY_VERIFY_WITH_TIMEOUT(!window.insidePage()->isWaiting(), test::patience);
    // A cell that is kept, so that the marks are in the picture.
    emit window.insidePage()->views()->mask()->cellSelected(0, 1);
    check(2, dark, {1440, 900});
    window.findChild<QCheckBox*>("insideAllHeads")->setChecked(false);
}

void ScreensTest::panelFitsItsWidth_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

// Every fold open, every kind of lane: nothing reaches out of the panel.
void ScreensTest::panelFitsItsWidth() {
    QFETCH(bool, dark);
    m_theme->setMode(dark ? Theme::Mode::Dark : Theme::Mode::Light);
    ExperimentPanel panel;
    Experiment experiment = m_fixture->window->panel()->experiment();
    experiment.drive = Drive::free;
    experiment.sampling = {.kind = SamplingKind::sample, .temperature = 0.8};
    experiment.prompts.resize(2, experiment.prompts.front());
    experiment.lanes.clear();
    for (const char* word : {"naive", "kivi4", "continuous", "speculative-layers"})
        experiment.lanes.push_back(*lane_from_name(word));
    experiment.lanes[1].name = "a lane with quite a long name";
    experiment.lanes[2].cache.block = 0;
    experiment.reference.clear();
    panel.setExperiment(experiment);
    test::showUnfolded(panel);
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
        panel.grab().toImage().save(
            QStringLiteral("%1/panel-%2.png").arg(folder, QLatin1String(QTest::currentDataTag())));
    for (const QWidget* widget : panel.findChildren<QWidget*>()) {
        if (!widget->isVisible() || widget->window() != &panel) continue;
        const int right = widget->mapTo(&panel, QPoint(widget->width(), 0)).x();
        QVERIFY2(right <= panel.width(), qPrintable(widget->objectName() + widget->metaObject()->className() +
                                                    widget->parentWidget()->objectName()));
        if (qobject_cast<const QSpinBox*>(widget) || qobject_cast<const QLineEdit*>(widget))
            QVERIFY2(widget->width() >= 4 * widget->fontMetrics().averageCharWidth(),
                     qPrintable(widget->objectName()));
    }
}

void ScreensTest::check(int screen, bool dark, QSize size) {
    m_theme->setMode(dark ? Theme::Mode::Dark : Theme::Mode::Light);
    MainWindow& window = *m_fixture->window;
    window.resize(size);
    window.showScreen(screen);
    QTest::qWait(100);
    // A verdict belongs into the picture.
    QVERIFY(m_fixture->awaitIdle());
    if (screen == 2)
        QTRY_VERIFY_WITH_TIMEOUT(
            !window.insidePage()->isWaiting() && !window.insidePage()->views()->times()->isEmpty(),
            test::patience);
    QTest::qWait(100);
    // A table is as high as its rows, and its card no higher.
    for (const auto* table : window.findChildren<PlainTable*>()) {
        if (!table->isVisible() || table->objectName() == "sweepTable") continue;  // that has notes below
        QTRY_COMPARE_WITH_TIMEOUT(table->height(), table->sizeHint().height(), test::patience);
        QTRY_VERIFY2(
            table->parentWidget()->height() <= table->height() + 5 * table->fontMetrics().height() / 2,
            qPrintable(table->objectName()));
    }
    const QImage picture = window.grab().toImage();
    QVERIFY2(picture.deviceIndependentSize() == QSizeF(size), "the window does not fit into this size");

    QVERIFY2(colorCount(picture) > 50, "the picture is as good as blank");
    const auto has = [&picture](const QColor& color) {
        for (int y = 0; y < picture.height(); y += 3) {
            for (int x = 0; x < picture.width(); x += 3)
                if (picture.pixel(x, y) == color.rgb()) return true;
        }
        return false;
    };
    const ThemeColors& theme = themeColors(dark);
    QVERIFY(has(theme.card));
    QVERIFY(has(theme.window));
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
        picture.save(QStringLiteral("%1/%2.png").arg(folder, QLatin1String(QTest::currentDataTag())));
}

QTEST_MAIN(ScreensTest)
#include "tst_screens.moc"
