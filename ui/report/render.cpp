// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/render.h"

#include <QDir>
#include <QFileInfo>

#include "engine/core/text_file.h"
#include "engine/experiment/chrome_trace.h"
#include "engine/experiment/report_text.h"
#include "ui/chart/export.h"
#include "ui/report/html_report.h"
#include "ui/report/markdown_report.h"
#include "ui/report/report_document.h"

namespace decodescope {

namespace {

Result<void> writeText(const QString& path, const std::string& text) {
    return write_file_atomically(QFileInfo(path).filesystemAbsoluteFilePath(), text);
}

Result<void> makeDirectory(const QString& directory) {
    if (QDir().mkpath(directory)) return {};
    return Error{ErrorKind::io, directory.toStdString() + ": this directory cannot be made."};
}

}  // namespace

RecordExport::RecordExport(std::shared_ptr<const Record> record, QString directory,
                           const RenderOptions& options)
    : m_record(std::move(record)),
      m_directory(std::move(directory)),
      m_content(options.content ? *options.content : contentOf(*m_record)),
      m_charts(makeReportCharts(*m_record, m_content)) {
    ExportOptions drawing;
    drawing.size = options.size;
    drawing.scale = options.scale;
    drawing.dark = options.dark;
    QList<ReportPicture> pictures;
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
                 [chart, drawing](const QString& path) { return exportChart(*chart, path, drawing); },
                 {}});
        }
        if (options.svg || options.png)
            pictures << ReportPicture{
                chart->title(), entry.name + (options.svg ? QStringLiteral(".svg") : QStringLiteral(".png"))};
    }
    // What is made apart takes with it all that it needs.
    const auto shared = m_record;
    const ReportContent content = m_content;
    if (options.steps) addText(QStringLiteral("steps.csv"), [shared] { return to_csv(*shared); });
    if (options.markdown)
        addText(QStringLiteral("summary.md"),
                [shared, content, pictures] { return markdownReport(*shared, content, pictures); });
    if (options.json)
        addText(QStringLiteral("record.json"), [shared, content] { return to_json(*shared, content.notes); });
    if (options.trace)
        addText(QStringLiteral("chrome_trace.json"), [shared] { return to_chrome_trace(*shared); });
    if (options.report)
        addDrawing(QStringLiteral("report.pdf"),
                   [this] { return pdfReport(*m_record, m_charts, m_content).toStdString(); });
    // Last, so that a report never stands beside missing files.
    if (options.html)
        addDrawing(QStringLiteral("report.html"),
                   [this] { return htmlReport(*m_record, m_charts, m_content).toStdString(); });
}

void RecordExport::addText(const QString& name, Content content) {
    m_steps.push_back({name, {}, std::move(content)});
}

void RecordExport::addDrawing(const QString& name, Content content) {
    m_steps.push_back(
        {name,
         [content = std::move(content)](const QString& path) { return writeText(path, content()); },
         {}});
}

QString RecordExport::nextName() const {
    return isDone() ? QString() : m_steps[static_cast<std::size_t>(m_done)].name;
}

QString RecordExport::nextPath() const {
    return QDir(m_directory).filePath(nextName());
}

bool RecordExport::canBeMadeApart() const {
    return !isDone() && m_steps[static_cast<std::size_t>(m_done)].content != nullptr;
}

std::function<Result<void>(const std::function<bool()>& go)> RecordExport::nextApart() {
    return [directory = m_directory, path = nextPath(),
            content = m_steps.at(static_cast<std::size_t>(m_done)).content](const auto& go) -> Result<void> {
        DS_TRY(makeDirectory(directory));
        const std::string text = content();
        return go() ? writeText(path, text) : Error{ErrorKind::cancelled, "Stopped on request."};
    };
}

Result<void> RecordExport::accept(const Result<void>& written) {
    if (!written) return written.error();
    const QString path = nextPath();
    if (nextName() == QLatin1String("report.html"))
        m_files.prepend(path);
    else
        m_files.append(path);
    ++m_done;
    return {};
}

Result<void> RecordExport::writeNext() {
    if (isDone()) return {};
    if (canBeMadeApart()) return accept(nextApart()([] { return true; }));
    DS_TRY(makeDirectory(m_directory));
    return accept(m_steps[static_cast<std::size_t>(m_done)].write(nextPath()));
}

Result<QStringList> renderRecord(std::shared_ptr<const Record> record, const QString& directory,
                                 const RenderOptions& options) {
    if (record->lanes.empty())
        return Error{ErrorKind::bad_input, "the record has no lanes, so there is nothing to draw."};
    if (options.content && options.content->charts) DS_TRY(checkCharts(*record, *options.content->charts));
    RecordExport files(std::move(record), directory, options);
    while (!files.isDone()) DS_TRY(files.writeNext());
    return files.files();
}

Result<QStringList> renderRecord(const Record& record, const QString& directory,
                                 const RenderOptions& options) {
    return renderRecord(std::make_shared<const Record>(record), directory, options);
}

}  // namespace decodescope
