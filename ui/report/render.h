// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QSize>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/experiment/record.h"
#include "ui/report/record_charts.h"
#include "ui/report/report_content.h"

namespace decodescope {

struct RenderOptions {
    QSize size{960, 420};  ///< of each chart, in logical pixels
    double scale = 2;      ///< PNG: device pixels per logical pixel, 1 to 4
    bool dark = false;     ///< theme of the chart files; reports follow their reader or are light

    // Each chart of the record.
    bool png = true;
    bool svg = true;
    bool pdf = true;
    bool csv = true;
    // The record itself.
    bool steps = true;     ///< steps.csv: every step
    bool json = true;      ///< record.json
    bool trace = true;     ///< chrome_trace.json, which Perfetto opens
    bool markdown = true;  ///< summary.md
    bool html = true;      ///< report.html
    bool report = true;    ///< report.pdf

    /// The part to draw and to write to each chart's CSV, by the name of the x axis; others show everything.
    QHash<QString, std::pair<double, double>> visible;

    /// Which charts, in which order, with which run dashed, and what else reports say; not set = everything.
    std::optional<ReportContent> content;
};

/// Writes a record to files, one `writeNext` after the other, so that whoever waits can show how far it is,
/// and leave it at any time: a file appears whole or not at all. Every way out of the program that makes more
/// than one file goes through it. GUI thread; needs a QApplication, but no display ("offscreen" will do).
class RecordExport {
public:
    /// `directory` is made by the first `writeNext` if it is missing.
    RecordExport(std::shared_ptr<const Record> record, QString directory, const RenderOptions& options = {});

    int count() const { return static_cast<int>(m_steps.size()); }
    int done() const { return m_done; }
    bool isDone() const { return m_done == count(); }
    /// Name of the file that comes next; empty at the end.
    QString nextName() const;
    /// Fails with one sentence when the file cannot be written; what was written before stays.
    Result<void> writeNext();
    /// Whether the next file may be made on another thread: it needs no drawing, and may be large.
    bool canBeMadeApart() const;
    /// Makes and writes the next file, on any thread, also when this object is gone by then. `go` is asked
    /// between the two, so that nothing is written for who has left. Then tell `accept` its answer.
    std::function<Result<void>(const std::function<bool()>& go)> nextApart();
    Result<void> accept(const Result<void>& written);
    /// Paths written so far; at the end the HTML report is the first of them.
    const QStringList& files() const { return m_files; }

private:
    struct Step {
        QString name;
        std::function<Result<void>(const QString& path)>
            write;                             ///< draws on the GUI thread; empty: `content`
        std::function<std::string()> content;  ///< any thread
    };
    using Content = std::function<std::string()>;
    void addText(const QString& name, Content content);
    void addDrawing(const QString& name, Content content);
    QString nextPath() const;

    std::shared_ptr<const Record> m_record;
    QString m_directory;
    ReportContent m_content;
    std::vector<RecordChart> m_charts;
    std::vector<Step> m_steps;
    int m_done = 0;
    QStringList m_files;
};

/// All of it at once: draws every chart of `record` to NAME.png, .svg, .pdf and .csv in `directory` (made if
/// missing), and writes the other files of `options`. Returns the paths written, the HTML report first. Fails
/// at the first file that cannot be written.
Result<QStringList> renderRecord(std::shared_ptr<const Record> record, const QString& directory,
                                 const RenderOptions& options = {});
Result<QStringList> renderRecord(const Record& record, const QString& directory,
                                 const RenderOptions& options = {});

}  // namespace decodescope
