// SPDX-License-Identifier: GPL-3.0-or-later
// What the screens look like after a run of the demo: not blank, nothing cut off. With
// DECODESCOPE_SCREENSHOTS set to a folder, the pictures are kept there.
#include <QSet>
#include <QTest>

#include "tests/ui/window/window_fixture.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/inside/inside_page.h"

using namespace decodescope;

class ScreensTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void looks_data();
    void looks();
    void cleanupTestCase() { m_fixture.reset(); }

private:
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
            for (int screen = 0; screen < 3; ++screen) {
                const char* const names[] = {"race", "memory", "inside"};
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
    m_theme->setMode(dark ? Theme::Mode::Dark : Theme::Mode::Light);
    MainWindow& window = *m_fixture->window;
    window.resize(size);
    window.showScreen(screen);
    QTest::qWait(100);
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
