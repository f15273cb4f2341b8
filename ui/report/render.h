// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

#include "engine/core/result.h"
#include "engine/experiment/record.h"

namespace decodescope {

struct RenderOptions {
    QSize size{960, 420};  ///< of each chart, in logical pixels
    double scale = 2;      ///< PNG: device pixels per logical pixel
    bool dark = false;     ///< theme of the chart files; the report follows its reader
};

/// Draws every chart of `record` to NAME.png, .svg, .pdf and .csv in `directory` (made if missing), and
/// writes steps.csv (every step) and report.html. Returns the paths written, the report first. Fails at the
/// first file that cannot be written. Needs a QApplication, but no display ("offscreen" will do).
Result<QStringList> renderRecord(const Record& record, const QString& directory,
                                 const RenderOptions& options = {});

}  // namespace decodescope
