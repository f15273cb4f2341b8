// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/render.h"

#include <QDir>
#include <QFileInfo>

#include "engine/core/text_file.h"
#include "engine/experiment/chrome_trace.h"
#include "engine/experiment/report_text.h"
#include "ui/chart/export.h"
#include "ui/report/html_report.h"
#include "ui/report/pdf_report.h"

namespace decodescope {

RecordExport::RecordExport(std::shared_ptr<const Record> record, QString directory,
                           const RenderOptions& options)
    : m_record(std::move(record)), m_directory(std::move(directory)), m_charts(makeRecordCharts(*m_record)) {
    ExportOptions drawing;
    drawing.size = options.size;
    drawing.scale = options.scale;
    drawing.dark = options.dark;
    for (const RecordChart& entry : m_charts) {
        LineChart* chart = entry.chart.get();
        if (const auto range = options.visible.constFind(chart->xAxis().name);
            range != options.visible.constEnd()) {
            chart->setVisibleX(range->first, range->second);
            drawing.range = DataRange::visible;
        } else {
            drawing.range = DataRange::all;
        }
        for (const auto& [suffix, wanted] : {std::pair("png", options.png), std::pair("svg", options.svg),
                                             std::pair("pdf", options.pdf), std::pair("csv", options.csv)}) {
            if (!wanted) continue;
            m_steps.push_back(
                {entry.name + QLatin1Char('.') + QLatin1String(suffix),
                 [chart, drawing](const QString& path) { return exportChart(*chart, path, drawing); }});
        }
    }
    if (options.steps) add(QStringLiteral("steps.csv"), [this] { return to_csv(*m_record); });
    if (options.markdown) add(QStringLiteral("summary.md"), [this] { return to_markdown(*m_record); });
    if (options.json) add(QStringLiteral("record.json"), [this] { return to_json(*m_record); });
    if (options.trace)
        add(QStringLiteral("chrome_trace.json"), [this] { return to_chrome_trace(*m_record); });
    if (options.report)
        add(QStringLiteral("report.pdf"), [this] { return pdfReport(*m_record, m_charts).toStdString(); });
    // Last, so that a report never stands beside missing files.
    if (options.html)
        add(QStringLiteral("report.html"), [this] { return htmlReport(*m_record, m_charts).toStdString(); });
}

void RecordExport::add(const QString& name, std::function<std::string()> content) {
    m_steps.push_back({name, [content = std::move(content)](const QString& path) {
                           return write_file_atomically(QFileInfo(path).filesystemAbsoluteFilePath(),
                                                        content());
                       }});
}

QString RecordExport::nextName() const {
    return isDone() ? QString() : m_steps[static_cast<std::size_t>(m_done)].name;
}

Result<void> RecordExport::writeNext() {
    if (isDone()) return {};
    if (m_done == 0 && !QDir().mkpath(m_directory))
        return Error{ErrorKind::io, m_directory.toStdString() + ": this directory cannot be made."};
    const Step& step = m_steps[static_cast<std::size_t>(m_done)];
    const QString path = QDir(m_directory).filePath(step.name);
    DS_TRY(step.write(path));
    ++m_done;
    if (step.name == QLatin1String("report.html"))
        m_files.prepend(path);
    else
        m_files.append(path);
    return {};
}

Result<QStringList> renderRecord(std::shared_ptr<const Record> record, const QString& directory,
                                 const RenderOptions& options) {
    if (record->lanes.empty())
        return Error{ErrorKind::bad_input, "the record has no lanes, so there is nothing to draw."};
    RecordExport files(std::move(record), directory, options);
    while (!files.isDone()) DS_TRY(files.writeNext());
    return files.files();
}

Result<QStringList> renderRecord(const Record& record, const QString& directory,
                                 const RenderOptions& options) {
    return renderRecord(std::make_shared<const Record>(record), directory, options);
}

}  // namespace decodescope
