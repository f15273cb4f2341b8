// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/render.h"

#include <QDir>
#include <QFileInfo>

#include "engine/core/text_file.h"
#include "engine/experiment/report_text.h"
#include "ui/chart/export.h"
#include "ui/report/html_report.h"
#include "ui/report/record_charts.h"

namespace decodescope {

namespace {

Result<void> writeFile(const QString& path, std::string_view content) {
    return write_file_atomically(QFileInfo(path).filesystemAbsoluteFilePath(), content);
}

}  // namespace

Result<QStringList> renderRecord(const Record& record, const QString& directory,
                                 const RenderOptions& options) {
    if (record.lanes.empty())
        return Error{ErrorKind::bad_input, "the record has no lanes, so there is nothing to draw."};
    if (!QDir().mkpath(directory)) {
        return Error{ErrorKind::io, directory.toStdString() + ": this directory cannot be made."};
    }
    const QDir dir(directory);
    QStringList files;
    const std::vector<RecordChart> charts = makeRecordCharts(record);
    ExportOptions drawing;
    drawing.size = options.size;
    drawing.scale = options.scale;
    drawing.dark = options.dark;
    for (const RecordChart& entry : charts) {
        for (const char* suffix : {"png", "svg", "pdf", "csv"}) {
            files << dir.filePath(entry.name + QLatin1Char('.') + QLatin1String(suffix));
            DS_TRY(exportChart(*entry.chart, files.last(), drawing));
        }
    }
    files << dir.filePath(QStringLiteral("steps.csv"));
    DS_TRY(writeFile(files.last(), to_csv(record)));
    // Last, so that a report never stands beside missing files.
    files.prepend(dir.filePath(QStringLiteral("report.html")));
    DS_TRY(writeFile(files.first(), htmlReport(record, charts).toStdString()));
    return files;
}

}  // namespace decodescope
