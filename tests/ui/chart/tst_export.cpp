// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPainter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>

#include "tests/ui/chart/chart_data.h"
#include "ui/chart/export.h"
#include "ui/chart/matrix_chart.h"

using namespace decodescope;

namespace {

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QImage drawnFrom(const QByteArray& svg, const QSize& size) {
    QSvgRenderer renderer(svg);
    QImage image(size, QImage::Format_ARGB32);
    image.fill(Qt::magenta);
    QPainter painter(&image);
    renderer.render(&painter);
    return image;
}

std::unique_ptr<Chart> makeChart(const QString& kind) {
    if (kind == QLatin1String("lines")) {
        auto chart = std::make_unique<LineChart>();
        test::fillRace(*chart, 200);
        return chart;
    }
    auto grid = std::make_unique<CellGrid>();
    grid->setTitle(QStringLiteral("Who sees whom"));
    grid->setKinds(
        {{QStringLiteral("visible"), ColorRef::lane(0)}, {QStringLiteral("future"), ColorRef::lane(1)}});
    const int n = kind == QLatin1String("cells") ? 12 : 200;
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(n * n));
    for (int i = 0; i < n * n; ++i) cells[static_cast<std::size_t>(i)] = i % n > i / n ? 1 : 0;
    grid->setCells(n, n, cells);
    return grid;
}

}  // namespace

class ExportTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void files_data();
    void files();
    void pngScales_data();
    void pngScales();
    void svgNamesRealFonts();
    void zoomedSvgStaysInsideThePlot();
    void darkThemeOnRequest();
    void csvOfTheVisibleRange();
    void failures_data();
    void failures();
    void failureLeavesTheOldFile();
    void anyWidget();
};

void ExportTest::initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    QApplication::setPalette(themePalette(false));
}

void ExportTest::files_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : {"lines", "cells", "image"}) QTest::newRow(kind) << QString::fromLatin1(kind);
}

void ExportTest::files() {
    QFETCH(QString, kind);
    QTemporaryDir dir;
    const auto chart = makeChart(kind);
    ExportOptions options;
    options.size = QSize(700, 400);
    const auto path = [&](const char* suffix) {
        return dir.filePath(QStringLiteral("chart.") + QLatin1String(suffix));
    };
    for (const char* suffix : {"png", "svg", "pdf", "csv", "PNG"}) {
        const Result<void> result = exportChart(*chart, path(suffix), options);
        QVERIFY2(result.ok(), result ? "" : result.error().message.c_str());
    }
    const QColor first = themeColors(false).lanes[0];
    const QColor second = themeColors(false).lanes[1];

    const QImage png(path("png"));
    QCOMPARE(png.size(), QSize(1400, 800));
    QVERIFY(test::countColor(png, first) > 300);
    QVERIFY(test::countColor(png, second) > 300);

    const QByteArray svg = contentOf(path("svg"));
    QSvgRenderer renderer(svg);
    QVERIFY(renderer.isValid());
    QCOMPARE(renderer.viewBox(), QRect(0, 0, 700, 400));
    const QImage drawn = drawnFrom(svg, QSize(1400, 800));
    QVERIFY(test::countColor(drawn, first) > 300);
    QVERIFY(test::countColor(drawn, second) > 300);
    QCOMPARE(test::countColor(drawn, Qt::magenta), 0);
    // Every line of text that is in the picture is in the SVG as text.
    QVERIFY(svg.contains(chart->title().toUtf8()));

    const QByteArray pdf = contentOf(path("pdf"));
    QVERIFY(pdf.startsWith("%PDF-1."));
    QVERIFY(pdf.trimmed().endsWith("%%EOF"));
    QVERIFY(pdf.contains("/Count 1"));
    // 700 x 400 at 96 per inch, in points.
    QVERIFY(QRegularExpression(QStringLiteral("/MediaBox \\[0 0 525(\\.0+)? 300(\\.0+)?\\]"))
                .match(QString::fromLatin1(pdf))
                .hasMatch());

    QCOMPARE(contentOf(path("csv")), toCsv(chart->table(DataRange::all)));
    QCOMPARE(QDir(dir.path()).entryList(QDir::Files).size(), 5);  // nothing temporary is left
}

void ExportTest::pngScales_data() {
    QTest::addColumn<double>("scale");
    QTest::addColumn<QSize>("size");
    QTest::newRow("1x") << 1.0 << QSize(640, 360);
    QTest::newRow("1.5x") << 1.5 << QSize(960, 540);
    QTest::newRow("4x") << 4.0 << QSize(2560, 1440);
    QTest::newRow("too large") << 9.0 << QSize(2560, 1440);
}

void ExportTest::pngScales() {
    QFETCH(double, scale);
    const auto chart = makeChart(QStringLiteral("lines"));
    chart->resize(100, 30);  // a hidden chart has no size of its own
    ExportOptions options;
    options.scale = scale;
    QTEST(toImage(*chart, options).size(), "size");
}

void ExportTest::svgNamesRealFonts() {
    const auto chart = makeChart(QStringLiteral("lines"));
    const QByteArray svg = toSvg(*chart);
    QVERIFY(svg.contains("sans-serif"));
    QVERIFY(!svg.contains("font-family=\"Sans"));
}

void ExportTest::zoomedSvgStaysInsideThePlot() {
    LineChart chart;
    chart.resize(700, 400);
    test::fillRace(chart, 200);
    chart.show();
    chart.flush();
    ExportOptions options;
    options.size = QSize(700, 400);
    const QColor lane = themeColors(false).lanes[0];
    chart.setVisibleX(80, 120);
    const QImage image = drawnFrom(toSvg(chart, options), options.size);
    // Where the plot begins is where tick labels end; further left there is no curve.
    QCOMPARE(test::countColor(image.copy(0, 60, 45, 300), lane), 0);
    QCOMPARE(test::countColor(image.copy(682, 60, 18, 300), lane), 0);
    QVERIFY(test::countColor(image.copy(60, 60, 600, 300), lane) > 100);
    // The chart itself is as before.
    chart.resetView();
    QVERIFY(test::countColor(chart.grab().toImage(), lane) > 200);
}

void ExportTest::darkThemeOnRequest() {
    const auto chart = makeChart(QStringLiteral("lines"));
    ExportOptions options;
    options.dark = true;
    const QImage dark = toImage(*chart, options);
    QCOMPARE(dark.pixelColor(2, 2), themeColors(true).card);
    QVERIFY(test::countColor(dark, themeColors(true).lanes[0]) > 300);
    options.dark = false;
    QCOMPARE(toImage(*chart, options).pixelColor(2, 2), themeColors(false).card);
}

void ExportTest::csvOfTheVisibleRange() {
    QTemporaryDir dir;
    LineChart chart;
    test::fillRace(chart, 100);
    chart.show();
    chart.setVisibleX(10, 19);
    ExportOptions options;
    options.range = DataRange::visible;
    QVERIFY(exportChart(chart, dir.filePath(QStringLiteral("a.csv")), options).ok());
    QCOMPARE(contentOf(dir.filePath(QStringLiteral("a.csv"))).count('\n'), 11);
}

void ExportTest::failures_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("fragment");
    QTest::newRow("unknown format") << "chart.bmp" << ErrorKind::bad_input
                                    << "must end with .png, .svg, .pdf or .csv";
    QTest::newRow("no format") << "chart" << ErrorKind::bad_input << "must end with";
    QTest::newRow("no such folder") << "nowhere/chart.png" << ErrorKind::io << "cannot be written";
    QTest::newRow("a folder") << "folder.csv" << ErrorKind::io << "cannot be written";
}

void ExportTest::failures() {
    QFETCH(QString, path);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, fragment);
    QTemporaryDir dir;
    QVERIFY(QDir(dir.path()).mkdir(QStringLiteral("folder.csv")));
    const auto chart = makeChart(QStringLiteral("lines"));
    const Result<void> result = exportChart(*chart, dir.filePath(path));
    QVERIFY(!result.ok());
    QCOMPARE(result.error().kind, kind);
    const QString message = QString::fromStdString(result.error().message);
    QVERIFY2(message.contains(path) && message.contains(fragment), qPrintable(message));
    QCOMPARE(message.count(QLatin1Char('\n')), 0);
    QVERIFY(message.endsWith(QLatin1Char('.')));
}

void ExportTest::failureLeavesTheOldFile() {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("chart.svg"));
    QFile old(path);
    QVERIFY(old.open(QIODevice::WriteOnly));
    old.write("old");
    old.close();
    // Root may write anywhere, so the directory that cannot be written to is one that is gone.
    QVERIFY(!exportChart(*makeChart(QStringLiteral("lines")), dir.filePath(QStringLiteral("gone/chart.svg")))
                 .ok());
    QCOMPARE(contentOf(path), QByteArray("old"));
    QVERIFY(exportChart(*makeChart(QStringLiteral("lines")), path).ok());
    QVERIFY(contentOf(path).startsWith("<?xml"));
}

void ExportTest::anyWidget() {
    QTemporaryDir dir;
    QLabel label(QStringLiteral("text"));
    label.resize(120, 40);
    label.setAutoFillBackground(true);
    QPalette palette = label.palette();
    palette.setColor(QPalette::Window, Qt::green);
    label.setPalette(palette);
    ExportOptions options;
    options.scale = 3;
    QVERIFY(exportWidget(label, dir.filePath(QStringLiteral("label.png")), options).ok());
    const QImage image(dir.filePath(QStringLiteral("label.png")));
    QCOMPARE(image.size(), QSize(360, 120));
    QVERIFY(test::countColor(image, Qt::green) > 5000);
    QVERIFY(exportWidget(label, dir.filePath(QStringLiteral("label.pdf")), options).ok());
    QVERIFY(exportWidget(label, dir.filePath(QStringLiteral("label.svg")), options).ok());
    const Result<void> csv = exportWidget(label, dir.filePath(QStringLiteral("label.csv")), options);
    QVERIFY(!csv.ok());
    QVERIFY(csv.error().message.find(".png, .svg or .pdf") != std::string::npos);
}

QTEST_MAIN(ExportTest)
#include "tst_export.moc"
