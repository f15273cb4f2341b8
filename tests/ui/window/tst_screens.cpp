// SPDX-License-Identifier: GPL-3.0-or-later
// What the screens look like after a run of the demo: not blank, nothing cut off. With
// DECODESCOPE_SCREENSHOTS set to a folder, the pictures are kept there.
#include <QCheckBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QSet>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>

#include "tests/ui/window/window_fixture.h"
#include "ui/examples.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/lane_card.h"
#include "ui/inside/inside_page.h"
#include "ui/inside/inside_views.h"
#include "ui/widgets/plain_table.h"

using namespace decodescope;

class ScreensTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void looks_data();
    void looks();
    void insideLooks_data();
    void insideLooks();
    void looksOfExamples_data();
    void looksOfExamples();
    void panelFitsItsWidth_data();
    void panelFitsItsWidth();
    void cleanupTestCase() { m_fixture.reset(); }

private:
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
}

void ScreensTest::looks_data() {
    QTest::addColumn<int>("screen");
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QSize>("size");
    for (const bool dark : {false, true}) {
        for (const QSize size : {QSize(1440, 900), QSize(1100, 700)}) {
            for (int screen = 0; screen < 4; ++screen) {
                const char* const names[] = {"race", "memory", "inside", "exactness"};
                QTest::addRow("%s-%s-%d", names[screen], dark ? "dark" : "light", size.width())
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

void ScreensTest::looksOfExamples_data() {
    QTest::addColumn<QString>("example");
    QTest::addColumn<int>("screen");
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QSize>("size");
    int row = 0;
    for (const char* example : {"kshipra", "quantised", "speculative", "prefix_sharing", "allocator",
                                "chunk_partitions", "fault_positions", "fault_padding"}) {
        for (int screen = 0; screen < 4; ++screen, ++row) {
            const char* const names[] = {"race", "memory", "inside", "exactness"};
            QTest::addRow("%s-%s", example, names[screen])
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
                                     120'000);
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
    QTRY_VERIFY_WITH_TIMEOUT(!window.insidePage()->isWaiting(), 60'000);
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
    panel.resize(panel.minimumSizeHint().width(), 3000);
    panel.show();
    for (LaneCard* card : panel.findChildren<LaneCard*>()) card->setFormVisible(true);
    for (const char* fold : {"promptAdvanced", "generationMore"}) {
        for (QToolButton* button : panel.findChildren<QToolButton*>(QLatin1String(fold)))
            button->setChecked(true);
    }
    QTest::qWait(100);
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
            !window.insidePage()->isWaiting() && !window.insidePage()->views()->times()->isEmpty(), 60'000);
    QTest::qWait(100);
    // A table is as high as its rows, and its card no higher.
    for (const auto* table : window.findChildren<PlainTable*>()) {
        if (!table->isVisible()) continue;
        QTRY_COMPARE(table->height(), table->sizeHint().height());
        QTRY_VERIFY2(
            table->parentWidget()->height() <= table->height() + 5 * table->fontMetrics().height() / 2,
            qPrintable(table->objectName()));
    }
    const QImage picture = window.grab().toImage();
    QVERIFY2(picture.deviceIndependentSize() == QSizeF(size), "the window does not fit into this size");

    QSet<QRgb> colors;
    for (int y = 0; y < picture.height(); y += 3) {
        for (int x = 0; x < picture.width(); x += 3) colors.insert(picture.pixel(x, y));
    }
    QVERIFY2(colors.size() > 50, "the picture is as good as blank");
    const ThemeColors& theme = themeColors(dark);
    QVERIFY(colors.contains(theme.card.rgb()));
    QVERIFY(colors.contains(theme.window.rgb()));
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
        picture.save(QStringLiteral("%1/%2.png").arg(folder, QLatin1String(QTest::currentDataTag())));
}

QTEST_MAIN(ScreensTest)
#include "tst_screens.moc"
