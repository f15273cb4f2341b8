// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/export.h"

#include <QBuffer>
#include <QClipboard>
#include <QFileInfo>
#include <QFontInfo>
#include <QGuiApplication>
#include <QMimeData>
#include <QPageLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <algorithm>
#include <functional>

namespace decodescope {

namespace {

// One logical pixel is 1/96 inch in files that have real sizes.
constexpr int pixelsPerInch = 96;

using Paint = std::function<void(QPaintDevice&, bool vectors)>;

QSize sizeOf(const QWidget& widget, const ExportOptions& options, QSize least) {
    return options.size.isEmpty() ? widget.size().expandedTo(least) : options.size;
}

QSize chartSize(const Chart& chart, const ExportOptions& options) {
    return sizeOf(chart, options, QSize(640, 360));
}

Paint painterOf(Chart& chart, const ExportOptions& options) {
    const QSize size = chartSize(chart, options);
    const ThemeColors& colors = options.dark ? themeColors(*options.dark) : themeColors(chart.palette());
    return [&chart, size, &colors](QPaintDevice& device, bool vectors) {
        chart.paintOn(device, size, vectors, colors);
    };
}

QImage drawImage(const Paint& paint, const QSize& size, double scale) {
    const double ratio = std::clamp(scale, 1.0, 4.0);
    QImage image(QSize(qRound(size.width() * ratio), qRound(size.height() * ratio)),
                 QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(ratio);
    image.fill(Qt::transparent);
    paint(image, false);
    return image;
}

/// Names real fonts in an SVG: "Sans Serif" and the like exist on this system only, and a viewer that does
/// not find a family falls back to one with serifs.
QByteArray withFontFallbacks(QByteArray svg) {
    const QByteArray attribute = "font-family=\"";
    const QByteArray family = QFontInfo(QGuiApplication::font()).family().toUtf8();
    QByteArray names = "'" + family + "', Verdana, sans-serif";
    QByteArray result;
    result.reserve(svg.size() + svg.size() / 8);
    qsizetype from = 0;
    for (qsizetype at = svg.indexOf(attribute); at >= 0; at = svg.indexOf(attribute, from)) {
        const qsizetype begin = at + attribute.size();
        const qsizetype end = svg.indexOf('"', begin);
        if (end < 0) break;
        result += svg.mid(from, begin - from) + names;
        from = end;
    }
    return result + svg.mid(from);
}

QByteArray drawSvg(const Paint& paint, const QSize& size, const QString& title) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(pixelsPerInch);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(0, 0), size));
    generator.setTitle(title);
    paint(generator, true);
    return withFontFallbacks(std::move(bytes));
}

QByteArray drawPdf(const Paint& paint, const QSize& size, const QString& title) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(pixelsPerInch);
    writer.setTitle(title);
    writer.setCreator(QStringLiteral("DecodeScope"));
    const QSizeF points = QSizeF(size) * 72.0 / pixelsPerInch;
    writer.setPageLayout(QPageLayout(QPageSize(points, QPageSize::Point, {}, QPageSize::ExactMatch),
                                     QPageLayout::Portrait, QMarginsF()));
    paint(writer, true);
    return bytes;
}

Error ioError(const QString& path, const QString& why) {
    return {ErrorKind::io, QStringLiteral("%1: cannot be written: %2.").arg(path, why).toStdString()};
}

Result<void> writeBytes(const QString& path, const QByteArray& bytes) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return ioError(path, file.errorString());
    if (file.write(bytes) != bytes.size() || !file.commit()) return ioError(path, file.errorString());
    return {};
}

QByteArray drawPng(const Paint& paint, const QSize& size, double scale) {
    QImage image = drawImage(paint, size, scale);
    const int dots_per_meter = qRound(pixelsPerInch * image.devicePixelRatio() / 0.0254);
    image.setDotsPerMeterX(dots_per_meter);
    image.setDotsPerMeterY(dots_per_meter);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return bytes;
}

/// The bytes of a drawing in the format of `suffix`; null for a format that is not a drawing.
QByteArray drawAs(const QString& suffix, const Paint& paint, const QSize& size, double scale,
                  const QString& title) {
    if (suffix == QLatin1String("png")) return drawPng(paint, size, scale);
    if (suffix == QLatin1String("svg")) return drawSvg(paint, size, title);
    if (suffix == QLatin1String("pdf")) return drawPdf(paint, size, title);
    return {};
}

Error unknownFormat(const QString& path, const char* expected) {
    return {ErrorKind::bad_input, QStringLiteral("%1: the file name must end with %2.")
                                      .arg(path, QLatin1String(expected))
                                      .toStdString()};
}

}  // namespace

QImage toImage(Chart& chart, const ExportOptions& options) {
    return drawImage(painterOf(chart, options), chartSize(chart, options), options.scale);
}

QByteArray toSvg(Chart& chart, const ExportOptions& options) {
    return drawSvg(painterOf(chart, options), chartSize(chart, options), chart.title());
}

QByteArray toPdf(Chart& chart, const ExportOptions& options) {
    return drawPdf(painterOf(chart, options), chartSize(chart, options), chart.title());
}

Result<void> exportChart(Chart& chart, const QString& path, const ExportOptions& options) {
    const QString suffix = QFileInfo(path).suffix().toLower();
    if (suffix == QLatin1String("csv")) return writeBytes(path, toCsv(chart.table(options.range)));
    const QByteArray bytes =
        drawAs(suffix, painterOf(chart, options), chartSize(chart, options), options.scale, chart.title());
    if (bytes.isNull()) return unknownFormat(path, ".png, .svg, .pdf or .csv");
    return writeBytes(path, bytes);
}

Result<void> exportWidget(QWidget& widget, const QString& path, const ExportOptions& options) {
    const QSize size = sizeOf(widget, options, QSize(1, 1));
    const Paint paint = [&](QPaintDevice& device, bool) {
        QPainter painter(&device);
        painter.scale(static_cast<double>(size.width()) / widget.width(),
                      static_cast<double>(size.height()) / widget.height());
        widget.render(&painter);
    };
    const QByteArray bytes =
        drawAs(QFileInfo(path).suffix().toLower(), paint, size, options.scale, widget.windowTitle());
    if (bytes.isNull()) return unknownFormat(path, ".png, .svg or .pdf");
    return writeBytes(path, bytes);
}

void copyImage(Chart& chart) {
    auto* data = new QMimeData;
    data->setImageData(toImage(chart));
    data->setData(QStringLiteral("image/svg+xml"), toSvg(chart));
    QGuiApplication::clipboard()->setMimeData(data);
}

void copyData(Chart& chart, DataRange range) {
    const Table table = chart.table(range);
    auto* data = new QMimeData;
    data->setText(toTabSeparated(table));
    data->setData(QStringLiteral("text/csv"), toCsv(table));
    QGuiApplication::clipboard()->setMimeData(data);
}

}  // namespace decodescope
