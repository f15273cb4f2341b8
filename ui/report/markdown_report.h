// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>

#include <string>

#include "engine/experiment/record.h"
#include "ui/report/report_content.h"

namespace decodescope {

/// A chart that a Markdown text points to.
struct ReportPicture {
    QString title;
    QString file;  ///< beside the text
};

/// The report as Markdown, to be pasted into an issue or a wiki: `to_markdown` of the record, then what
/// `content` has besides. Any thread.
std::string markdownReport(const Record& record, const ReportContent& content,
                           const QList<ReportPicture>& pictures = {});

}  // namespace decodescope
