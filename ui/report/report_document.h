// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QFont>
#include <QSize>
#include <QString>

#include <functional>
#include <memory>
#include <vector>

#include "engine/experiment/record.h"
#include "ui/report/record_charts.h"
#include "ui/report/report_content.h"

class QBuffer;
class QPagedPaintDevice;
class QPainter;
class QPdfWriter;
class QTextDocument;

namespace decodescope {

/// The HTML report on A4 pages: the same numbers, texts, environment and definitions; the charts as vectors,
/// in the light theme. Screen, PDF and printer show the same pages. GUI thread.
class ReportDocument {
public:
    ReportDocument(const Record& record, const std::vector<RecordChart>& charts,
                   const ReportContent& content);
    ~ReportDocument();

    /// Of a page, in the units of `drawPage`: 1/96 inch.
    static QSize pageSize();
    int pageCount() const;
    /// Draws one page, from 0, with its margins and number, on white that is there already.
    void drawPage(QPainter& painter, int page) const;
    /// Everything that can be read, without the charts.
    QString text() const;
    QString title() const { return m_title; }

    /// All pages; `newPage` begins the next sheet of `device`.
    void print(QPagedPaintDevice& device, const std::function<void()>& newPage) const;
    QByteArray toPdf() const;

private:
    class ChartObject;

    QString m_title;
    QFont m_font;
    // What the text is measured with, whatever it is drawn on.
    std::unique_ptr<QBuffer> m_nowhere;
    std::unique_ptr<QPdfWriter> m_metrics;
    std::unique_ptr<ChartObject> m_charts;
    std::unique_ptr<QTextDocument> m_document;
};

/// The report as a PDF document.
QByteArray pdfReport(const Record& record, const std::vector<RecordChart>& charts,
                     const ReportContent& content);
inline QByteArray pdfReport(const Record& record, const std::vector<RecordChart>& charts) {
    return pdfReport(record, charts, contentOf(record));
}

}  // namespace decodescope
