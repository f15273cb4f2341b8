// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QSignalSpy>
#include <QStyle>
#include <QTest>
#include <QWidget>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/patience.h"
#include "ui/theme/theme.h"

using namespace decodescope;

namespace {

double luminance(const QColor& color) {
    const auto linear = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double high = std::max(luminance(a), luminance(b));
    const double low = std::min(luminance(a), luminance(b));
    return (high + 0.05) / (low + 0.05);
}

/// What is left of a colour for eyes without one kind of cone (Viénot, Brettel and Mollon 1999), linear
/// light.
QColor seenBy(const QColor& color, bool without_red_cones) {
    const auto linear = [](double c) { return std::pow(c, 2.2); };
    const auto gamma = [](double c) {
        return static_cast<float>(std::pow(std::clamp(c, 0.0, 1.0), 1 / 2.2));
    };
    const double r = linear(color.redF());
    const double g = linear(color.greenF());
    const double b = linear(color.blueF());
    const double rg = without_red_cones ? 0.11238 * r + 0.88762 * g : 0.29275 * r + 0.70725 * g;
    const double blue = without_red_cones ? 0.00401 * r - 0.00401 * g + b : -0.02234 * r + 0.02234 * g + b;
    return QColor::fromRgbF(gamma(rg), gamma(rg), gamma(blue));
}

double distance(const QColor& a, const QColor& b) {
    return std::hypot(a.red() - b.red(), a.green() - b.green(), a.blue() - b.blue());
}

}  // namespace

class ThemeTest : public QObject {
    Q_OBJECT

private slots:
    void contrastOfTexts_data();
    void contrastOfTexts();
    void lanesAreToldApart_data();
    void lanesAreToldApart();
    void everyLightColorHasOneDarkColor();
    void paletteChoosesTheTable();
    void changeReachesWidgets();
};

void ThemeTest::contrastOfTexts_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

void ThemeTest::contrastOfTexts() {
    QFETCH(bool, dark);
    const ThemeColors& c = themeColors(dark);
    for (const QColor& surface : {c.card, c.panel, c.window}) {
        QVERIFY(contrast(c.text, surface) >= 7);
        QVERIFY2(contrast(c.muted, surface) >= 4.5, qPrintable(QString::number(contrast(c.muted, surface))));
    }
    for (const QColor& color : {c.good, c.warn, c.bad, c.accent}) QVERIFY(contrast(color, c.card) >= 4.5);
    QVERIFY(contrast(c.on_accent, c.accent) >= 4.5);
    for (const QColor& soft : {c.accent_soft, c.good_soft, c.warn_soft, c.bad_soft})
        QVERIFY2(contrast(c.text, soft) >= 7, qPrintable(soft.name()));
    for (const auto& [color, soft] :
         {std::pair(c.good, c.good_soft), std::pair(c.warn, c.warn_soft), std::pair(c.bad, c.bad_soft)})
        QVERIFY2(contrast(color, soft) >= 4.5, qPrintable(color.name()));
    QVERIFY(contrast(c.dark ? c.text : c.accent.darker(120), c.accent_soft) >= 4.5);  // the chosen tab
    // Graphics need 3 : 1 (WCAG 1.4.11): curves, the ends of a gradient, the frame of what has the focus.
    for (const QColor& surface : {c.card, c.window}) {
        for (const QColor& lane : c.lanes)
            QVERIFY2(contrast(lane, surface) >= 3,
                     qPrintable(lane.name() + QString(" %1").arg(contrast(lane, surface))));
        QVERIFY(contrast(c.accent, surface) >= 3);
    }
    QVERIFY(contrast(c.heat_high, c.heat_low) >= 3);
    QVERIFY(contrast(c.cells[0], c.cells[1]) >= 3);  // what is seen beside what is not
}

void ThemeTest::lanesAreToldApart_data() {
    contrastOfTexts_data();
}

void ThemeTest::lanesAreToldApart() {
    QFETCH(bool, dark);
    const ThemeColors& c = themeColors(dark);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            for (const bool without_red : {true, false}) {
                const double d = distance(seenBy(c.lanes[i], without_red), seenBy(c.lanes[j], without_red));
                QVERIFY2(d > 24, qPrintable(QStringLiteral("lanes %1 and %2: %3").arg(i).arg(j).arg(d)));
            }
        }
    }
}

void ThemeTest::everyLightColorHasOneDarkColor() {
    const auto light = themeColors(false).all();
    const auto dark = themeColors(true).all();
    QCOMPARE(light.size(), dark.size());
    std::map<QString, QString> pairs;
    for (std::size_t i = 0; i < light.size(); ++i) {
        const auto [it, is_new] = pairs.emplace(light[i].name(), dark[i].name());
        QVERIFY2(is_new || it->second == dark[i].name(), qPrintable(light[i].name()));
    }
}

void ThemeTest::paletteChoosesTheTable() {
    QVERIFY(!themeColors(themePalette(false)).dark);
    QVERIFY(themeColors(themePalette(true)).dark);
    QCOMPARE(themeColors(false).color(ColorRef::lane(1)), themeColors(false).lanes[1]);
    QCOMPARE(themeColors(false).color(ColorRef::lane(8)), themeColors(false).lanes[0]);
    QCOMPARE(themeColors(false).color(ColorRef::lane(-1)), themeColors(false).lanes[7]);
}

void ThemeTest::changeReachesWidgets() {
    Theme theme;
    QCOMPARE(QApplication::style()->objectName().toLower(), QStringLiteral("fusion"));
    theme.setMode(Theme::Mode::Light);
    QWidget widget;
    widget.show();
    QSignalSpy spy(&theme, &Theme::changed);
    theme.setMode(Theme::Mode::Dark);
    QVERIFY(spy.wait(test::patience));  // after the widgets have the new palette
    QCOMPARE(spy.count(), 1);
    QVERIFY(theme.isDark());
    QCOMPARE(widget.palette().color(QPalette::Window), themeColors(true).window);
    theme.setMode(Theme::Mode::Light);
    QVERIFY(spy.wait(test::patience));
    QCOMPARE(widget.palette().color(QPalette::Window), themeColors(false).window);
}

QTEST_MAIN(ThemeTest)
#include "tst_theme.moc"
