// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/token_paragraph.h"

#include <algorithm>

#include "ui/theme/theme.h"

namespace decodescope {

namespace {

// A line was broken before: now it is only drawn.
constexpr qreal unlimited = 1e6;

}  // namespace

void TokenParagraph::appendToken(std::int32_t id, std::string_view bytes, bool drafted) {
    m_tokens.push_back({id, m_text.size(), false, drafted});
    appendText(QString::fromStdString(m_utf8.push(bytes)));
}

void TokenParagraph::appendNumber(std::int32_t id, bool drafted) {
    m_tokens.push_back({id, m_text.size(), false, drafted});
    appendText(QStringLiteral(" %1").arg(id));
}

void TokenParagraph::appendText(const QString& characters) {
    m_text += characters;
    m_pending = m_pending || !characters.isEmpty();
}

void TokenParagraph::markDifferent(int index) {
    if (index >= 0 && index < static_cast<int>(m_tokens.size()))
        m_tokens[static_cast<std::size_t>(index)].differs = true;
}

void TokenParagraph::finish() {
    appendText(QString::fromStdString(m_utf8.finish()));
}

const TokenParagraph::Token* TokenParagraph::tokenAt(qsizetype position) const {
    const auto next = std::upper_bound(m_tokens.begin(), m_tokens.end(), position,
                                       [](qsizetype at, const Token& t) { return at < t.begin; });
    return next == m_tokens.begin() || position >= m_text.size() ? nullptr : &*(next - 1);
}

qsizetype TokenParagraph::tokenEnd(const Token& token) const {
    return &token == &m_tokens.back() ? m_text.size() : (&token + 1)->begin;
}

bool TokenParagraph::breakNewLines(const QFont& font, int width) {
    if (!m_pending) return false;
    breakLinesFrom(m_lines.size() - 1, font, width);
    return true;
}

void TokenParagraph::breakAllLines(const QFont& font, int width) {
    m_lines.assign(1, 0);
    breakLinesFrom(0, font, width);
}

std::pair<qsizetype, qsizetype> TokenParagraph::line(int number) const {
    const auto at = static_cast<std::size_t>(number);
    return {m_lines[at], at + 1 < m_lines.size() ? m_lines[at + 1] : m_text.size()};
}

// Lays out everything from the beginning of `line`; earlier lines cannot change by appending.
void TokenParagraph::breakLinesFrom(std::size_t line, const QFont& font, int width) {
    m_pending = false;
    qsizetype begin = m_lines[line];
    m_lines.resize(line + 1);
    while (true) {
        const qsizetype newline = m_text.indexOf(QLatin1Char('\n'), begin);
        const qsizetype end = newline < 0 ? m_text.size() : newline;
        QTextLayout layout(m_text.mid(begin, end - begin), font);
        QTextOption option;
        option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
        layout.setTextOption(option);
        layout.beginLayout();
        for (int n = 0;; ++n) {
            QTextLine textLine = layout.createLine();
            if (!textLine.isValid()) break;
            textLine.setLineWidth(width);
            if (n > 0) m_lines.push_back(begin + textLine.textStart());
        }
        layout.endLayout();
        if (newline < 0) return;
        begin = newline + 1;
        m_lines.push_back(begin);
    }
}

QList<QTextLayout::FormatRange> TokenParagraph::lineFormats(int number, const QPalette& palette,
                                                            std::pair<qsizetype, qsizetype> selected) const {
    const ThemeColors& colors = themeColors(palette);
    const auto [begin, end] = line(number);
    QList<QTextLayout::FormatRange> ranges;
    const auto mark = [&ranges, first = begin, last = end](qsizetype from, qsizetype to,
                                                           const QTextCharFormat& format) {
        from = std::max(from, first);
        to = std::min(to, last);
        if (from < to) ranges.append({static_cast<int>(from - first), static_cast<int>(to - from), format});
    };
    QTextCharFormat muted;
    muted.setForeground(colors.muted);
    mark(0, m_prefixEnd, muted);
    QTextCharFormat drafted;
    drafted.setBackground(colors.accent_soft);
    QTextCharFormat different;
    different.setUnderlineStyle(QTextCharFormat::SingleUnderline);
    different.setUnderlineColor(colors.bad);
    different.setForeground(colors.bad);
    auto token = std::upper_bound(m_tokens.begin(), m_tokens.end(), begin,
                                  [](qsizetype at, const Token& t) { return at < t.begin; });
    if (token != m_tokens.begin()) --token;
    for (; token != m_tokens.end() && token->begin < end; ++token) {
        if (token->drafted) mark(token->begin, tokenEnd(*token), drafted);
        if (token->differs) mark(token->begin, tokenEnd(*token), different);
    }
    QTextCharFormat highlighted;
    highlighted.setBackground(palette.color(QPalette::Highlight));
    highlighted.setForeground(palette.color(QPalette::HighlightedText));
    mark(selected.first, selected.second, highlighted);
    return ranges;
}

// Formats come before the layout: setting them later would throw it away.
void TokenParagraph::layoutLine(QTextLayout& layout, int number, const QFont& font,
                                const QList<QTextLayout::FormatRange>& formats) const {
    const auto [begin, end] = line(number);
    QString characters = m_text.mid(begin, end - begin);
    if (characters.endsWith(QLatin1Char('\n'))) characters.chop(1);
    layout.setFont(font);
    layout.setText(characters);
    layout.setFormats(formats);
    QTextOption option;
    option.setWrapMode(QTextOption::NoWrap);
    layout.setTextOption(option);
    layout.beginLayout();
    QTextLine textLine = layout.createLine();
    if (textLine.isValid()) textLine.setLineWidth(unlimited);
    layout.endLayout();
}

}  // namespace decodescope
