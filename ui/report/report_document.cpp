// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/report_document.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QFontInfo>
#include <QGuiApplication>
#include <QPagedPaintDevice>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextObjectInterface>

#include <algorithm>
#include <utility>

#include "ui/report/html_report.h"
#include "ui/theme/theme.h"

namespace decodescope {

namespace {

constexpr int pixelsPerInch = 96;
constexpr QSize paper(794, 1123);  // A4 at that resolution
constexpr double margin = 48;
constexpr double footer = 24;
constexpr int chartFormat = QTextFormat::UserObject + 1;
constexpr int drawingProperty = QTextFormat::UserProperty + 1;
// Stands for chart 0, 1, ... in the text until the chart takes its place.
constexpr char16_t firstMark = 0xE000;

QString printedStyle() {
    const ThemeColors& c = themeColors(false);
    return QStringLiteral(
               "h1{font-size:15pt;margin:0}h2{font-size:10.5pt;margin:14px 0 4px 0}"
               "th{font-weight:normal;text-align:left;color:%1}"
               ".muted{color:%1}.small{color:%1;font-size:7pt}.good{color:%2}.warn{color:%3}.bad{color:%4}"
               ".big{font-weight:bold}dt{font-weight:bold;margin-top:6px}dd{margin:0}code{color:%1}"
               ".prose{white-space:pre-wrap;margin:2px 0 8px 0}a{color:%5}"
               "p{margin:4px 0 6px 0}.drawing{margin:6px 0 0 "
               "0}table{margin-top:6px;margin-bottom:2px}ul,ol{margin:2px 0}"
               "pre{margin:4px 0 4px 12px}blockquote{margin:4px 0 4px 16px;color:%1}")
        .arg(c.muted.name(), c.good.name(), c.warn.name(), c.bad.name(), c.accent.name());
}

/// The page for a reader of rich text, who knows neither variables nor blocks made of spans. `charts`
/// receives the drawings.
QString richText(QString page, QList<QByteArray>& charts) {
    page.remove(QRegularExpression(QStringLiteral("<style>.*?</style>"),
                                   QRegularExpression::DotMatchesEverythingOption));
    const QString end = QStringLiteral("</svg>");
    for (qsizetype at = page.indexOf(QStringLiteral("<svg")); at >= 0;
         at = page.indexOf(QStringLiteral("<svg"), at)) {
        const qsizetype length = page.indexOf(end, at) + end.size() - at;
        if (length < end.size()) break;
        const QChar mark(static_cast<char16_t>(firstMark + charts.size()));
        charts << page.mid(at, length).toUtf8();
        page.replace(at, length, QStringLiteral("<p class=\"drawing\">%1</p>").arg(mark));
    }
    static const QRegularExpression swatch(
        QStringLiteral("<span class=\"swatch\" style=\"background:var\\(--lane(\\d+)\\)\"></span>"));
    for (auto match = swatch.match(page); match.hasMatch(); match = swatch.match(page)) {
        const QColor color = themeColors(false).color(ColorRef::lane(match.captured(1).toInt()));
        page.replace(match.capturedStart(), match.capturedLength(),
                     QStringLiteral("<span style=\"color:%1\">■</span> ").arg(color.name()));
    }
    page.replace(QRegularExpression(QStringLiteral("(?<!</p>)<span class=\"small\">")),
                 QStringLiteral("<br><span class=\"small\">"));
    page.replace(QStringLiteral("<table>"), QStringLiteral("<table cellspacing=\"0\" cellpadding=\"4\">"));
    page.replace(QStringLiteral("<table class="),
                 QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"3\" class="));
    return page;
}

void placeCharts(QTextDocument& document, qsizetype count) {
    for (qsizetype i = 0; i < count; ++i) {
        QTextCursor cursor = document.find(QString(QChar(static_cast<char16_t>(firstMark + i))));
        if (cursor.isNull()) continue;
        QTextCharFormat format;
        format.setObjectType(chartFormat);
        format.setProperty(drawingProperty, static_cast<int>(i));
        cursor.insertText(QString(QChar::ObjectReplacementCharacter), format);
    }
}

}  // namespace

/// Draws an SVG in a text, as wide as a line.
class ReportDocument::ChartObject : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
public:
    void add(const QByteArray& svg) { m_drawings.push_back(std::make_unique<QSvgRenderer>(svg)); }

    QSizeF intrinsicSize(QTextDocument* document, int, const QTextFormat& format) override {
        const QSizeF size = drawing(format).defaultSize();
        const double width = document->pageSize().width();
        return {width, size.width() > 0 ? width * size.height() / size.width() : 0};
    }
    void drawObject(QPainter* painter, const QRectF& rect, QTextDocument*, int,
                    const QTextFormat& format) override {
        drawing(format).render(painter, rect);
    }

private:
    QSvgRenderer& drawing(const QTextFormat& format) {
        return *m_drawings.at(static_cast<std::size_t>(format.intProperty(drawingProperty)));
    }

    std::vector<std::unique_ptr<QSvgRenderer>> m_drawings;
};

ReportDocument::ReportDocument(const Record& record, const std::vector<RecordChart>& charts,
                               const ReportContent& content)
    : m_title(titleOf(record, content)),
      m_nowhere(std::make_unique<QBuffer>()),
      m_metrics(std::make_unique<QPdfWriter>(m_nowhere.get())),
      m_charts(std::make_unique<ChartObject>()),
      m_document(std::make_unique<QTextDocument>()) {
    m_metrics->setResolution(pixelsPerInch);
    m_document->documentLayout()->registerHandler(chartFormat, m_charts.get());
    m_document->documentLayout()->setPaintDevice(m_metrics.get());
    m_font = QFont(QFontInfo(QGuiApplication::font()).family());
    m_font.setPointSizeF(8);
    m_font.setHintingPreference(QFont::PreferNoHinting);
    m_document->setDefaultFont(m_font);
    m_document->setDocumentMargin(0);
    m_document->setDefaultStyleSheet(printedStyle());
    QList<QByteArray> drawings;
    m_document->setHtml(richText(QString::fromUtf8(htmlReport(record, charts, content)), drawings));
    for (const QByteArray& svg : drawings) m_charts->add(svg);
    placeCharts(*m_document, drawings.size());
    // Last, so that all of it is laid out anew: what lies behind a chart that came later would be cut off.
    m_document->setPageSize(QSizeF(paper.width() - 2 * margin, paper.height() - 2 * margin - footer));
}

ReportDocument::~ReportDocument() = default;

QSize ReportDocument::pageSize() {
    return paper;
}

int ReportDocument::pageCount() const {
    return m_document->pageCount();
}

QString ReportDocument::text() const {
    QString text = m_document->toPlainText();
    return text.remove(QChar::ObjectReplacementCharacter);
}

void ReportDocument::drawPage(QPainter& painter, int page) const {
    const QSizeF size = m_document->pageSize();
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette = themePalette(false);
    painter.save();
    painter.translate(margin, margin - page * size.height());
    context.clip = QRectF(QPointF(0, page * size.height()), size);
    painter.setClipRect(context.clip, Qt::IntersectClip);
    m_document->documentLayout()->draw(&painter, context);
    painter.restore();
    painter.save();
    painter.setFont(QFont(m_font, m_metrics.get()));
    painter.setPen(themeColors(false).muted);
    painter.drawText(QRectF(margin, paper.height() - margin - footer / 2, size.width(), footer),
                     Qt::AlignRight | Qt::AlignTop, QStringLiteral("%1 / %2").arg(page + 1).arg(pageCount()));
    painter.restore();
}

void ReportDocument::print(QPagedPaintDevice& device, const std::function<void()>& newPage) const {
    QPainter painter(&device);
    // The whole page, as large as it fits on whatever paper there is.
    const double scale = std::min(static_cast<double>(device.width()) / paper.width(),
                                  static_cast<double>(device.height()) / paper.height());
    painter.scale(scale, scale);
    for (int page = 0; page < pageCount(); ++page) {
        if (page > 0) newPage();
        drawPage(painter, page);
    }
}

QByteArray ReportDocument::toPdf() const {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(pixelsPerInch);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF());
    writer.setTitle(m_title);
    writer.setCreator(QStringLiteral("DecodeScope"));
    print(writer, [&] { writer.newPage(); });
    return bytes;
}

QByteArray pdfReport(const Record& record, const std::vector<RecordChart>& charts,
                     const ReportContent& content) {
    return ReportDocument(record, charts, content).toPdf();
}

}  // namespace decodescope

#include "report_document.moc"
