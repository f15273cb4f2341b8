// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include "engine/experiment/record.h"
#include "ui/report/record_charts.h"

namespace decodescope {

/// The HTML report on A4 pages, as a PDF document: the same numbers, texts, environment and definitions; the
/// charts as vectors, in the light theme. GUI thread (draws `charts`).
QByteArray pdfReport(const Record& record, const std::vector<RecordChart>& charts);

}  // namespace decodescope
