// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include "engine/experiment/record.h"
#include "ui/report/record_charts.h"

namespace decodescope {

/// A record as one self-contained HTML page (UTF-8) that needs no network and follows the reader's light or
/// dark setting: numbers of the lanes, charts as inline SVG, texts, what was run and where, and the
/// definition of every number. A run that was not finished says so first, with the reason. GUI thread (draws
/// `charts`).
QByteArray htmlReport(const Record& record, const std::vector<RecordChart>& charts);

}  // namespace decodescope
