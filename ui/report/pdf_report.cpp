// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/pdf_report.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QCoreApplication>
#include <QFontInfo>
#include <QGuiApplication>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextObjectInterface>

#include "ui/report/html_report.h"
#include "ui/theme/theme.h"

namespace decodescope {

namespace {

constexpr int pixelsPerInch = 96;
constexpr double margin = 48;
constexpr double footer = 24;
constexpr int chartFormat = QTextFormat::UserObject + 1;
constexpr int svgProperty = QTextFormat::UserProperty + 1;
// Stands for chart 0, 1, ... in the text until the chart takes its place.
constexpr char16_t firstMark = 0xE000;

/// Draws an SVG in a text, as wide as a line.
class ChartObject : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
public:
    QSizeF intrinsicSize(QTextDocument* document, int, const QTextFormat& format) override {
        const QSizeF size = QSvgRenderer(format.property(svgProperty).toByteArray()).defaultSize();
        const double width = document->pageSize().width();
        return {width, size.width() > 0 ? width * size.height() / size.width() : 0};
    }
    void drawObject(QPainter* painter, const QRectF& rect, QTextDocument*, int,
                    const QTextFormat& format) override {
        QSvgRenderer(format.property(svgProperty).toByteArray()).render(painter, rect);
    }
};

QString styleSheet() {
    const ThemeColors& c = themeColors(false);
    return QStringLiteral(
               "h1{font-size:15pt;margin:0}h2{font-size:10.5pt;margin:14px 0 4px 0}"
               "th{font-weight:normal;text-align:left;color:%1}"
               ".muted{color:%1}.small{color:%1;font-size:7pt}.good{color:%2}.warn{color:%3}.bad{color:%4}"
               ".big{font-weight:bold}dt{font-weight:bold;margin-top:6px}dd{margin:0}code{color:%1}"
               ".prose{white-space:pre-wrap;margin:2px 0 8px 0}")
        .arg(c.muted.name(), c.good.name(), c.warn.name(), c.bad.name());
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
        page.replace(at, length, QStringLiteral("<p>%1</p>").arg(mark));
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
    page.replace(QStringLiteral("<table class="),
                 QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"3\" class="));
    return page;
}

void placeCharts(QTextDocument& document, const QList<QByteArray>& charts) {
    for (qsizetype i = 0; i < charts.size(); ++i) {
        QTextCursor cursor = document.find(QString(QChar(static_cast<char16_t>(firstMark + i))));
        if (cursor.isNull()) continue;
        QTextCharFormat format;
        format.setObjectType(chartFormat);
        format.setProperty(svgProperty, charts[i]);
        cursor.insertText(QString(QChar::ObjectReplacementCharacter), format);
    }
}

}  // namespace

QByteArray pdfReport(const Record& record, const std::vector<RecordChart>& charts) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(pixelsPerInch);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF());
    writer.setTitle(QCoreApplication::translate("decodescope::pdf_report", "Decoding %1")
                        .arg(QString::fromStdString(record.model.name)));
    writer.setCreator(QStringLiteral("DecodeScope"));

    ChartObject object;
    QTextDocument document;
    document.documentLayout()->registerHandler(chartFormat, &object);
    document.documentLayout()->setPaintDevice(&writer);
    QFont font(QFontInfo(QGuiApplication::font()).family());
    font.setPointSizeF(8);
    font.setHintingPreference(QFont::PreferNoHinting);
    document.setDefaultFont(font);
    document.setDocumentMargin(0);
    document.setDefaultStyleSheet(styleSheet());
    const QSizeF page(writer.width() - 2 * margin, writer.height() - 2 * margin - footer);
    QList<QByteArray> drawings;
    document.setHtml(richText(QString::fromUtf8(htmlReport(record, charts)), drawings));
    placeCharts(document, drawings);
    // Last, so that all of it is laid out anew: what lies behind a chart that came later would be cut off.
    document.setPageSize(page);

    QPainter painter(&writer);
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette = themePalette(false);
    const int pages = document.pageCount();
    for (int i = 0; i < pages; ++i) {
        if (i > 0) writer.newPage();
        painter.save();
        painter.translate(margin, margin - i * page.height());
        context.clip = QRectF(QPointF(0, i * page.height()), page);
        painter.setClipRect(context.clip);
        document.documentLayout()->draw(&painter, context);
        painter.restore();
        painter.setFont(font);
        painter.setPen(themeColors(false).muted);
        painter.drawText(QRectF(margin, writer.height() - margin - footer / 2, page.width(), footer),
                         Qt::AlignRight | Qt::AlignTop, QStringLiteral("%1 / %2").arg(i + 1).arg(pages));
    }
    painter.end();
    return bytes;
}

}  // namespace decodescope

#include "pdf_report.moc"
