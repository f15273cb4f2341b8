// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QImage>
#include <QSize>
#include <QString>

#include <optional>

#include "engine/core/result.h"
#include "ui/chart/chart.h"

class QMimeData;

namespace decodescope {

/// How a drawing is exported. Every way out of the program (menus, reports, `--render`, the clipboard) goes
/// through the functions below.
struct ExportOptions {
    QSize size;        ///< logical pixels; empty = the widget's size, at least 640 x 360 for charts
    double scale = 2;  ///< PNG: device pixels per logical pixel, 1 to 4
    DataRange range = DataRange::all;  ///< CSV
    std::optional<bool> dark;          ///< theme of the drawing; not set = the widget's
};

/// The chart as a picture, `size * scale` pixels, with its device pixel ratio set.
QImage toImage(Chart& chart, const ExportOptions& options = {});
/// The chart as an SVG document (UTF-8).
QByteArray toSvg(Chart& chart, const ExportOptions& options = {});
/// The chart as a PDF document with one page of the chart's size.
QByteArray toPdf(Chart& chart, const ExportOptions& options = {});

/// Writes `chart` to `path`; the extension (.png, .svg, .pdf, .csv) decides the format. The file appears
/// whole or not at all. Fails with `bad_input` for another extension and `io` when it cannot be written.
Result<void> exportChart(Chart& chart, const QString& path, const ExportOptions& options = {});
/// The same for any widget that is not a chart (.png, .svg, .pdf).
Result<void> exportWidget(QWidget& widget, const QString& path, const ExportOptions& options = {});

/// Puts the picture (PNG and SVG) or the data (CSV and tab-separated text) on the clipboard.
void copyImage(Chart& chart);
void copyData(Chart& chart, DataRange range = DataRange::all);

}  // namespace decodescope
