// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/notes_html.h"

#include <QTextBlock>
#include <QTextDocument>
#include <QTextFrame>
#include <QTextList>
#include <QTextTable>
#include <QUrl>

#include <algorithm>

namespace decodescope {

namespace {

bool isHarmless(const QString& link) {
    const QString scheme = QUrl(link).scheme().toLower();
    return scheme == QLatin1String("http") || scheme == QLatin1String("https") ||
           scheme == QLatin1String("mailto");
}

QString wrapped(const char* tag, const QString& content) {
    return QStringLiteral("<%1>").arg(QLatin1String(tag)) + content +
           QStringLiteral("</%1>").arg(QLatin1String(tag));
}

QString fragmentHtml(const QTextFragment& fragment, bool heading) {
    const QTextCharFormat format = fragment.charFormat();
    if (format.isImageFormat()) {
        const QTextImageFormat image = format.toImageFormat();
        const QString text = image.stringProperty(QTextFormat::ImageAltText);
        return (text.isEmpty() ? image.name() : text).toHtmlEscaped();
    }
    QString text = fragment.text().toHtmlEscaped();
    text.replace(QChar::LineSeparator, QStringLiteral("<br>"));
    text.replace(QChar::ParagraphSeparator, QStringLiteral("<br>"));
    if (format.fontFixedPitch()) text = wrapped("code", text);
    if (format.fontStrikeOut()) text = wrapped("s", text);
    if (format.fontItalic()) text = wrapped("em", text);
    if (format.fontWeight() >= QFont::DemiBold && !heading) text = wrapped("strong", text);
    if (format.isAnchor() && isHarmless(format.anchorHref()))
        text = QStringLiteral("<a href=\"") + format.anchorHref().toHtmlEscaped() + QStringLiteral("\">") +
               text + QStringLiteral("</a>");
    return text;
}

QString lineHtml(const QTextBlock& block, bool heading = false) {
    QString line;
    for (auto it = block.begin(); !it.atEnd(); ++it) line += fragmentHtml(it.fragment(), heading);
    return line;
}

/// Writes blocks one after the other and keeps what is open around them.
class Writer {
public:
    QString write(const QTextFrame* frame) {
        addFrame(frame);
        closeAll();
        return m_html;
    }

private:
    void addFrame(const QTextFrame* frame) {
        for (auto it = frame->begin(); !it.atEnd(); ++it) {
            if (const auto* table = qobject_cast<const QTextTable*>(it.currentFrame()))
                addTable(*table);
            else if (it.currentFrame() != nullptr)
                addFrame(it.currentFrame());
            else if (it.currentBlock().isValid())
                addBlock(it.currentBlock());
        }
    }

    void addTable(const QTextTable& table) {
        closeAll();
        m_html += QStringLiteral("<table>\n");
        for (int row = 0; row < table.rows(); ++row) {
            m_html += QStringLiteral("<tr>");
            for (int column = 0; column < table.columns(); ++column) {
                const QTextTableCell cell = table.cellAt(row, column);
                QString text;
                for (auto it = cell.begin(); !it.atEnd(); ++it) text += lineHtml(it.currentBlock(), row == 0);
                m_html += wrapped(row == 0 ? "th" : "td", text);
            }
            m_html += QStringLiteral("</tr>\n");
        }
        m_html += QStringLiteral("</table>\n");
    }

    void addBlock(const QTextBlock& block) {
        const QTextBlockFormat format = block.blockFormat();
        const bool code = format.nonBreakableLines();
        const bool quote = format.intProperty(QTextFormat::BlockQuoteLevel) > 0;
        if (m_code && !code) closeCode();
        if (m_quote != quote) {
            closeAll();
            m_quote = quote;
            if (quote) m_html += QStringLiteral("<blockquote>\n");
        }
        if (code) {
            closeLists(0);
            m_html += m_code ? QStringLiteral("\n") : QStringLiteral("<pre>");
            m_code = true;
            m_html += block.text().toHtmlEscaped();
            return;
        }
        if (const QTextList* list = block.textList()) {
            addItem(block, *list);
            return;
        }
        closeLists(0);
        if (format.hasProperty(QTextFormat::BlockTrailingHorizontalRulerWidth)) {
            m_html += QStringLiteral("<hr>\n");
            return;
        }
        const int level = format.headingLevel();
        const QString line = lineHtml(block, level > 0);
        if (line.isEmpty()) return;
        // A report has one heading of the first level, its title.
        const char* const tags[] = {"p", "h2", "h3", "h4"};
        m_html += wrapped(tags[std::clamp(level, 0, 3)], line) + QLatin1Char('\n');
    }

    void addItem(const QTextBlock& block, const QTextList& list) {
        const auto depth = static_cast<qsizetype>(std::max(1, list.format().indent()));
        const bool numbered = list.format().style() <= QTextListFormat::ListDecimal;
        const char* tag = numbered ? "ol" : "ul";
        closeLists(depth);
        if (m_lists.size() == depth && qstrcmp(m_lists.last(), tag) != 0) closeLists(depth - 1);
        if (m_lists.size() == depth) m_html += QStringLiteral("</li>\n");
        while (m_lists.size() < depth) {
            m_lists.append(tag);
            m_html += QStringLiteral("<%1>\n").arg(QLatin1String(tag));
            if (m_lists.size() < depth) m_html += QStringLiteral("<li>");
        }
        const auto marker = block.blockFormat().marker();
        const QString mark = marker == QTextBlockFormat::MarkerType::Checked     ? QStringLiteral("☑ ")
                             : marker == QTextBlockFormat::MarkerType::Unchecked ? QStringLiteral("☐ ")
                                                                                 : QString();
        // Stays open for a list below it.
        m_html += QStringLiteral("<li>") + mark + lineHtml(block);
    }

    void closeCode() {
        if (m_code) m_html += QStringLiteral("</pre>\n");
        m_code = false;
    }
    void closeLists(qsizetype depth) {
        while (m_lists.size() > depth)
            m_html += QStringLiteral("</li>\n</%1>\n").arg(QLatin1String(m_lists.takeLast()));
    }
    void closeAll() {
        closeCode();
        closeLists(0);
        if (m_quote) m_html += QStringLiteral("</blockquote>\n");
        m_quote = false;
    }

    QString m_html;
    QList<const char*> m_lists;  // tags of the open ones, outermost first
    bool m_code = false;
    bool m_quote = false;
};

}  // namespace

QString notesHtml(const QString& markdown) {
    if (markdown.trimmed().isEmpty()) return {};
    QTextDocument document;
    document.setMarkdown(markdown, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) |
                                       QTextDocument::MarkdownNoHTML);
    return Writer().write(document.rootFrame());
}

}  // namespace decodescope
